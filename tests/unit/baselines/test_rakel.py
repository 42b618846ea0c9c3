"""RAkEL: its sets, its votes, and what it becomes at the ends."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from smtl.baselines import BinaryRelevance, LabelPowerset, RAkEL
from tests.seeds import new_rng


@pytest.fixture
def seed():
    return int(new_rng().integers(2**31 - 1))


@pytest.fixture
def data(seed):
    X, Y = make_multilabel_classification(120, 6, n_classes=5, random_state=seed)
    return StandardScaler().fit_transform(X), Y


@pytest.mark.parametrize("overlapping", [True, False])
@pytest.mark.parametrize("k", [5, 9])
def test_with_all_labels_in_a_set_it_is_label_powerset(data, overlapping, k):
    X, Y = data
    base = DecisionTreeClassifier(min_samples_leaf=4, random_state=0)
    model, powerset = RAkEL(base, k=k, overlapping=overlapping).fit(X, Y), LabelPowerset(base).fit(X, Y)
    assert model.label_sets_ == [(0, 1, 2, 3, 4)]
    np.testing.assert_array_equal(model.predict(X), powerset.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), powerset.predict_proba(X))


@pytest.mark.parametrize("overlapping", [True, False])
def test_with_one_label_in_a_set_it_is_binary_relevance(data, overlapping):
    X, Y = data
    base = LogisticRegression(max_iter=1000)
    model, relevance = RAkEL(base, k=1, overlapping=overlapping).fit(X, Y), BinaryRelevance(base).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), relevance.predict(X))


def test_sets_are_different(data, seed):
    X, Y = data
    sets = RAkEL(random_state=seed, n_estimators=9).fit(X, Y).label_sets_
    assert len(set(sets)) == len(sets) == 9
    assert all(len(set(labels)) == 3 and labels == tuple(sorted(labels)) for labels in sets)
    assert RAkEL().fit(X, Y).label_sets_ == list(combinations(range(5), 3))  # 2 m = 10, and there are no more
    assert len(RAkEL(k=2, random_state=seed, n_estimators=4).fit(X, Y).label_sets_) == 4


def test_disjoint_sets_are_a_partition(data, seed):
    sets = RAkEL(overlapping=False, k=2, random_state=seed).fit(*data).label_sets_
    assert sorted(map(len, sets)) == [1, 2, 2]
    assert sorted(sum(sets, ())) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.9])
def test_votes(data, seed, threshold):
    X, Y = data
    base = DecisionTreeClassifier(max_depth=3)
    model = RAkEL(base, k=2, n_estimators=8, threshold=threshold, random_state=seed).fit(X, Y)
    for label in range(5):
        members = [(s, m) for s, m in zip(model.label_sets_, model.estimators_, strict=True) if label in s]
        votes = sum(m.predict(X)[:, s.index(label)] for s, m in members)
        np.testing.assert_array_equal(model.predict(X)[:, label], votes >= threshold * len(members) - 1e-9)
        mean = np.mean([m.predict_proba(X)[:, s.index(label)] for s, m in members], axis=0)
        np.testing.assert_allclose(model.predict_proba(X)[:, label], mean)


def test_a_label_in_no_set(data, seed):
    X, Y = data
    Y = Y.copy()
    Y[:, :] = (np.arange(120) % 4 == 0)[:, None]
    with pytest.warns(UserWarning, match=r"2 labels are in none of the 1 sets of 3, e\.g\. label"):
        model = RAkEL(n_estimators=1, random_state=seed).fit(X, Y)
    left_out = np.setdiff1d(np.arange(5), model.label_sets_[0])
    assert (model.predict_proba(X)[:, left_out] == 0.25).all()
    assert not model.predict(X)[:, left_out].any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "k must be a positive integer, got 0 instead"),
        ({"n_estimators": 1.5}, "n_estimators must be a positive integer, got 1.5 instead"),
        ({"threshold": 50}, "threshold must be a number from 0 to 1, got 50 instead"),
    ],
)
def test_wrong_parameters(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        RAkEL(**parameters).fit(*data)
