"""Ensembles of scikit-learn's ClassifierChain."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain
from sklearn.tree import DecisionTreeClassifier

from smtl.baselines import EnsembleOfClassifierChains
from tests.seeds import new_rng


@pytest.fixture
def data():
    return make_multilabel_classification(120, 6, n_classes=5, random_state=int(new_rng().integers(2**31 - 1)))


@pytest.mark.parametrize("order", [None, [3, 0, 4, 2, 1]])
@pytest.mark.parametrize("base", [LogisticRegression(max_iter=1000), DecisionTreeClassifier(random_state=1)], ids=repr)
def test_one_chain_without_bootstrap_is_a_classifier_chain(data, base, order):
    X, Y = data
    ours = EnsembleOfClassifierChains(base, n_estimators=1, bootstrap=False, order=order).fit(X, Y)
    theirs = ClassifierChain(base, order=order).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))


def test_chains_vote(data):
    X, Y = data
    model = EnsembleOfClassifierChains(DecisionTreeClassifier(max_depth=3), n_estimators=4).fit(X, Y)
    votes = sum(chain.predict(X) for chain in model.estimators_)
    np.testing.assert_array_equal(model.predict(X), votes >= 2)
    np.testing.assert_allclose(model.predict_proba(X), np.mean([c.predict_proba(X) for c in model.estimators_], axis=0))


def test_orders_and_samples_are_random(data):
    X, Y = data
    chains = EnsembleOfClassifierChains(DecisionTreeClassifier(), n_estimators=20).fit(X, Y).estimators_
    assert len({tuple(chain.order_) for chain in chains}) > 1
    same_order = EnsembleOfClassifierChains(DecisionTreeClassifier(random_state=0), n_estimators=5, order=None)
    trees = [chain.estimators_[0].estimator_ for chain in same_order.fit(X, Y).estimators_]
    assert len({tree.tree_.threshold.tobytes() for tree in trees}) > 1


def test_a_label_may_be_constant_in_a_sample():
    rng = new_rng()
    X, Y = rng.normal(size=(40, 3)), np.zeros((40, 3), dtype=int)
    Y[0, 0] = 1  # in about a third of the samples it is not
    Y[:20, 1] = Y[10:30, 2] = 1
    model = EnsembleOfClassifierChains(n_estimators=20).fit(X, Y)
    constants = [chain.estimators_[chain.order_.index(0)].constant_ for chain in model.estimators_]
    assert set(constants) == {None, 0}
    assert model.predict(X).shape == Y.shape


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be a positive integer, got 0 instead"),
        ({"order": "sorted"}, "order must be one of 'random', got 'sorted' instead"),
        ({"order": [0, 1, 1, 2, 3]}, "order must have each of the labels 0 to 4 once"),
    ],
)
def test_wrong_parameters(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        EnsembleOfClassifierChains(**parameters).fit(*data)
