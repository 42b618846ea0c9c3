"""Forests against scikit-learn's classifier, and with missing labels."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import roc_auc_score

from smtl.ensemble.learners.forest import FLOOR, CoarseForestLearner, ForestLearner
from smtl.estimators.targets import read_targets
from tests.seeds import new_rng


@pytest.fixture
def drawn():
    rng = new_rng()
    X = rng.standard_normal((400, 5))
    Y = np.column_stack([X[:, 0] * X[:, 1] > 0, X[:, 2] > 0.5, X[:, 0] + X[:, 3] > 1]).astype(float)
    Y[0], Y[1] = 0, 1
    return X, Y


def test_it_is_as_good_as_a_forest_of_classifiers(drawn):
    X, Y = drawn
    learner = ForestLearner(n_trees=50)
    learner.fit(X[:250], read_targets(X[:250], Y[:250]))
    theirs = ExtraTreesClassifier(100, min_samples_leaf=2).fit(X[:250], Y[:250])
    shares = np.column_stack([p[:, 1] for p in theirs.predict_proba(X[250:])])
    ours = roc_auc_score(Y[250:], learner.decision_function(X[250:]))
    assert ours > roc_auc_score(Y[250:], shares) - 0.06


@pytest.mark.parametrize("kind", [ForestLearner, CoarseForestLearner])
def test_leaves_count_labelled_rows_only(drawn, kind):
    X, Y = drawn
    rng = new_rng()
    holes = np.where(rng.random(Y.shape) < 0.5, np.nan, Y)
    holes[0], holes[1] = 0, 1
    learner = kind(n_trees=5)
    learner.fit(X, read_targets(X, holes))
    leaves = learner._forest.apply(X)
    share = np.nanmean(holes, axis=0)
    wanted = np.zeros((10, 3))
    for row in range(10):
        for tree in range(leaves.shape[1]):
            inside = holes[leaves[:, tree] == leaves[row, tree]]
            n = (~np.isnan(inside)).sum(axis=0)
            wanted[row] += (np.nansum(inside, axis=0) + 0.5 * share) / (n + 0.5) / leaves.shape[1]
    found = expit(learner.decision_function(X[:10]))
    np.testing.assert_allclose(found, np.clip(wanted, FLOOR, 1 - FLOOR), atol=1e-9)


def test_missing_labels_cost_little(drawn):
    X, Y = drawn
    rng = new_rng()
    holes = np.where(rng.random((250, 3)) < 0.4, np.nan, Y[:250])
    holes[0], holes[1] = 0, 1
    learner = ForestLearner(n_trees=50)
    learner.fit(X[:250], read_targets(X[:250], holes))
    scores = learner.decision_function(X[250:])
    for i in range(3):
        known = ~np.isnan(holes[:, i])
        alone = ExtraTreesClassifier(100, min_samples_leaf=2).fit(X[:250][known], holes[known, i])
        theirs = roc_auc_score(Y[250:, i], alone.predict_proba(X[250:])[:, 1])
        assert roc_auc_score(Y[250:, i], scores[:, i]) > theirs - 0.15


def test_rows_of_a_tree_are_bounded(drawn, monkeypatch):
    import smtl.ensemble.learners.forest as module

    monkeypatch.setattr(module, "N_ROWS", 400)
    monkeypatch.setattr(module, "FEWEST", 50)
    X, Y = drawn
    learner = ForestLearner(n_trees=4)
    learner.fit(X, read_targets(X, Y))
    assert max(tree.tree_.n_node_samples[0] for tree in learner._forest.estimators_) <= 50


def test_holes_in_features(drawn):
    X, Y = drawn
    X[::5, 0] = np.nan
    learner = ForestLearner(n_trees=10)
    learner.fit(X, read_targets(X, Y))
    assert np.isfinite(learner.decision_function(X)).all()
