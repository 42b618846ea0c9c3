"""Label powerset against its definition."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from smtl.baselines import LabelPowerset
from tests.seeds import new_rng


@pytest.fixture
def data():
    return make_multilabel_classification(150, 6, n_classes=4, random_state=int(new_rng().integers(2**31 - 1)))


def test_is_a_classifier_of_sets(data):
    X, Y = data
    names = np.array(["".join(map(str, row)) for row in Y])
    base = GaussianNB().fit(X, names)
    model = LabelPowerset(GaussianNB()).fit(X, Y)
    assert ["".join(map(str, row)) for row in model.predict(X)] == base.predict(X).tolist()
    for label in range(4):
        has = np.array([name[label] == "1" for name in base.classes_])
        np.testing.assert_allclose(model.predict_proba(X)[:, label], base.predict_proba(X)[:, has].sum(axis=1))


def test_answers_with_sets_it_has_seen(data):
    X, Y = data
    seen = {tuple(row) for row in Y[:50]}
    model = LabelPowerset(GaussianNB()).fit(X[:50], Y[:50])
    assert {tuple(row) for row in model.predict(X)} <= seen
    assert {tuple(row) for row in model.label_sets_} == seen


def test_jobs_go_to_the_base(data):
    assert LabelPowerset(RandomForestClassifier(3), n_jobs=2).fit(*data).estimator_.n_jobs == 2
    assert LabelPowerset(RandomForestClassifier(3, n_jobs=1), n_jobs=2).fit(*data).estimator_.n_jobs == 1
