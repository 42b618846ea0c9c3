"""Weights of classes and tasks in an ensemble, and tasks that are judged within groups."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import average_precision_score

from smtl import SMTLEnsemble
from smtl.ensemble.combination import shared_weights
from smtl.ensemble.correction import _within_groups
from smtl.ensemble.learners import Learner
from smtl.ensemble.learners.wrapped import WrappedLearner
from smtl.estimators.targets import read_targets
from smtl.estimators.weights import weigh
from tests.seeds import new_rng

pytestmark = pytest.mark.filterwarnings("ignore")


def draw(rng, n=120, m=3):
    X = rng.standard_normal((n, 4))
    Y = (X @ rng.standard_normal((4, m)) + rng.standard_normal((n, m)) > 1.0).astype(float)
    Y[:2] = np.array([[0.0], [1.0]])
    return X, Y


def labels_of(X, Y, class_weight, weights=None, task_weight=None):
    targets = read_targets(X, Y)
    weigh(targets, weights, class_weight, task_weight)
    return targets


def test_one_answer_a_row_is_weighted_by_its_class():
    rng = new_rng()
    X, Y = draw(rng)
    y = Y[:, 0].astype(int)
    made = {"learners": ["linear", "kernel", ("logistic", LogisticRegression())], "cv": 3}
    by_class = SMTLEnsemble(class_weight={1: 3.0}, **made).fit(X, y)
    by_row = SMTLEnsemble(**made).fit(X, y, sample_weight=np.where(y, 3.0, 1.0))
    np.testing.assert_allclose(by_class.held_out_scores_[y == 0], by_row.held_out_scores_[y == 0], atol=1.0)
    share = [np.mean(model.predict(X)) for model in (by_class, SMTLEnsemble(threshold=0.0, **made).fit(X, y))]
    assert share[0] >= share[1]


@pytest.mark.parametrize("learner", ["auto", "linear", "kernel", "forest", "boosting", LogisticRegression()])
def test_weights_of_positives_ask_for_more_of_them(learner):
    """Of the label whose positives count more, and of no other."""
    X, Y = draw(new_rng(), 300)
    Y[:, 0] = new_rng().random(300) < 0.3  # nothing to be learnt: the answer follows the weights alone
    learners = learner if learner == "auto" else [learner]
    made = {"learners": learners, "preset": "fast", "cv": 3, "threshold": 0.0, "correction": False}
    held = [
        SMTLEnsemble(class_weight=given, **made).fit(X, Y).held_out_scores_ > 0
        for given in (None, [{1: 20.0}, None, None])
    ]
    assert held[0][:, 0].mean() < 0.2
    assert held[1][:, 0].mean() > 0.8
    assert np.mean(held[0][:, 1:] == held[1][:, 1:]) > 0.9


def test_a_kernel_model_of_weighted_labels_is_that_of_each_task_by_itself():
    rng = new_rng()
    X, Y = draw(rng, 60)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    weights = rng.uniform(0.5, 2.0, 60)
    targets = labels_of(X, Y, [{0: 0.5, 1: 4.0}, {1: 2.0}, None], weights)
    learner = Learner.known["kernel"]()
    learner.held_out_scores(X, targets, [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))])
    learner.fit(X, targets)
    found = learner.decision_function(X)
    Z, _ = learner._map(learner._features.transform(X), learner.gamma)
    for i in range(3):
        known = np.flatnonzero(targets.Y[:, i])
        ridge = Ridge(alpha=learner.penalty, solver="cholesky")
        ridge.fit(Z[known], targets.Y[known, i] > 0, sample_weight=targets.weights[known, i])
        np.testing.assert_allclose(found[:, i], ridge.predict(Z), atol=1e-6)


def test_the_leaves_of_a_forest_count_labels_by_their_weights():
    rng = new_rng()
    X = np.repeat([0.0, 1.0], 100)[:, None]  # two leaves
    Y = (rng.random((200, 2)) < [0.2, 0.5]).astype(float)
    for task_weight in (None, [1.0, 9.0]):
        learner = Learner.known["forest"](n_trees=3)
        targets = labels_of(X, Y, [{1: 4.0}, None], task_weight=task_weight)
        learner.fit(X, targets)
        share = 1.0 / (1.0 + np.exp(-learner.decision_function(X)))
        for rows in (slice(100), slice(100, 200)):
            each = targets.weights[rows]
            # With half a row of the share of all.
            n_pos, n_neg = targets.masses()
            wanted = ((each * Y[rows]).sum(axis=0) + 0.5 * n_pos / (n_pos + n_neg)) / (each.sum(axis=0) + 0.5)
            np.testing.assert_allclose(share[rows][0], wanted, atol=1e-6)


def test_a_classifier_is_told_of_the_weights_of_labels():
    rng = new_rng()
    X, Y = draw(rng)
    targets = labels_of(X, Y, "balanced", rng.integers(1, 3, len(X)).astype(float))
    learner = WrappedLearner(LogisticRegression())
    learner.fit(X, targets)
    for i in range(3):
        alone = LogisticRegression().fit(X, Y[:, i], targets.weights[:, i])
        np.testing.assert_allclose(learner.decision_function(X)[:, i], alone.decision_function(X), atol=1e-9)


def test_weights_of_labels_in_the_combination_are_repetition():
    rng = new_rng()
    scores, task = rng.standard_normal((90, 2)), rng.integers(0, 3, 90)
    y = np.where(scores @ [1.0, 0.5] + rng.standard_normal(90) > 0, 1, -1)
    times = rng.integers(0, 4, 90)
    rows = np.repeat(np.arange(90), times)
    got = shared_weights(scores, y, task, 3, times.astype(float))
    wanted = shared_weights(scores[rows], y[rows], task[rows], 3)
    np.testing.assert_allclose(got[0], wanted[0], atol=1e-5)
    np.testing.assert_allclose(got[1], wanted[1], atol=1e-4)


def test_a_task_of_more_weight_decides_more_about_the_learners():
    """Two learners, each of which knows one of two tasks."""
    rng = new_rng()
    X = rng.standard_normal((300, 2))
    Y = (X + 0.5 * rng.standard_normal((300, 2)) > 0).astype(int)

    class Sees(LogisticRegression):
        def __init__(self, column=0):
            super().__init__()
            self.column = column

        def fit(self, X, y, sample_weight=None):
            return super().fit(X[:, [self.column]], y, sample_weight)

        def decision_function(self, X):
            return super().decision_function(X[:, [self.column]])

    made = {"learners": [("first", Sees(0)), ("second", Sees(1))], "cv": 3, "correction": False}
    shares = [
        SMTLEnsemble(task_weight=given, **made).fit(X, Y).weights_["first"] for given in ([9.0, 1.0], None, [1.0, 9.0])
    ]
    assert shares[0] > shares[1] > shares[2]


@pytest.mark.parametrize("own_rows", [False, True])
def test_the_loss_of_the_correction_is_the_mean_over_groups(own_rows):
    rng = new_rng()
    X, Y = draw(rng, 50)
    group, task = rng.integers(0, 7, 50), rng.integers(0, 3, 50)
    if own_rows:
        targets = read_targets(X, Y[:, 0].astype(int), task)
    else:
        Y[rng.random(Y.shape) < 0.2] = np.nan
        targets = read_targets(X, Y)
    targets = replace(targets, group=group)
    losses, each = rng.random(targets.Y.shape), _within_groups(targets)
    for i in range(3):
        mine = np.flatnonzero(task == i) if own_rows else np.flatnonzero(targets.Y[:, i])
        of_task, counted = (losses[mine], each[mine]) if own_rows else (losses[mine, i], each[mine, i])
        means = [of_task[group[mine] == k].mean() for k in np.unique(group[mine])]
        assert np.average(of_task, weights=counted) == pytest.approx(np.mean(means))
        assert counted.sum() == pytest.approx(len(mine))


def test_an_ensemble_that_is_judged_within_groups():
    rng = new_rng()
    X, Y = draw(rng, 200)
    visit = np.floor(20 * rng.random(200) ** 2).astype(int)  # of very different sizes
    made = {"learners": ["linear", "kernel"], "cv": 3, "correction": True}
    model = SMTLEnsemble("ap", within_groups=True, **made).fit(X, Y, groups=visit)
    scores = model.decision_function(X)
    means = []
    for i in range(3):
        both = [visit == k for k in range(20) if 0 < Y[visit == k, i].sum() < np.sum(visit == k)]
        means.append(np.mean([average_precision_score(Y[rows, i], scores[rows, i]) for rows in both]))
    assert model.score(X, Y, groups=visit) == pytest.approx(np.mean(means))
    assert 0.5 < model.score_ <= 1.0
    with pytest.raises(ValueError, match="groups must be given to score a model that was trained within groups"):
        model.score(X, Y)
    with pytest.raises(ValueError, match="groups must name a group for every row, got None"):
        SMTLEnsemble("ap", within_groups=True, **made).fit(X, Y)
    together = SMTLEnsemble("ap", **made).fit(X, Y, groups=visit)
    assert together.correction_.gain != model.correction_.gain
