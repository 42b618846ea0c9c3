"""Shared weights against brute force and another optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from smtl.ensemble.combination import combine, shared_weights, standardise
from smtl.estimators.held_out import Fold, HeldOut
from smtl.estimators.targets import read_targets
from tests.seeds import new_rng


@pytest.fixture
def drawn():
    """Scores of three learners for two tasks: a good one, a copy of it with noise, and one that is always wrong."""
    rng = new_rng()
    task = rng.integers(0, 2, 400)
    truth = rng.standard_normal(400)
    y = np.where(rng.random(400) < expit(1.5 * truth - np.array([0.0, 1.0])[task]), 1, -1)
    y[:4], task[:4] = [1, -1, 1, -1], [0, 0, 1, 1]
    noise = rng.standard_normal((400, 2))
    return np.column_stack([truth, truth + noise[:, 0], -truth + noise[:, 1]]), y, task


def loss(weights, intercept, scores, y, task):
    return np.sum(np.logaddexp(0.0, -y * (scores @ weights + intercept[task])))


def test_scores_are_standardised_task_by_task(drawn):
    scores, _, task = drawn
    scores = scores * np.array([1.0, 30.0])[task][:, None] + 5.0 * task[:, None]
    out, standard = standardise(scores, task, 3)
    for i in range(2):
        np.testing.assert_allclose(out[task == i].mean(axis=0), 0.0, atol=1e-9)
        np.testing.assert_allclose(out[task == i].std(axis=0), 1.0)
        for k in range(3):
            np.testing.assert_allclose(standard.apply(k, scores[:, k], task)[task == i], out[task == i, k], atol=1e-9)


def test_constant_scores_become_zero():
    scores = np.full((10, 1), 0.1) + np.array([0.0, 1e-17] * 5)[:, None]
    assert not standardise(scores, np.zeros(10, dtype=int), 1)[0].any()


def test_weights_are_the_optimum(drawn):
    scores, y, task = drawn
    weights, intercept = shared_weights(scores, y, task, 2)
    assert np.all(weights >= 0)
    found = loss(weights, intercept, scores, y, task)
    # Squares of free variables are not negative: another way to the same optimum.
    other = minimize(
        lambda x: loss(x[:3] ** 2, x[3:], scores, y, task), np.full(5, 0.5), method="BFGS", options={"gtol": 1e-6}
    )
    assert found <= other.fun + 1e-2
    assert other.fun <= found + 0.5  # from some starts BFGS ends a little above
    rng = new_rng()
    for _ in range(200):
        step = rng.standard_normal(5) * 0.05
        around = np.maximum(weights + step[:3], 0.0)
        assert found <= loss(around, intercept + step[3:], scores, y, task) + 1e-3


def test_one_good_learner_is_logistic_regression(drawn):
    scores, y, task = drawn
    weights, intercept = shared_weights(scores[:, :1], y, task, 2)
    features = np.column_stack([scores[:, :1], task == 0, task == 1])
    theirs = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(features, y)
    np.testing.assert_allclose([*weights, *intercept], theirs.coef_[0], atol=2e-3)


def test_a_learner_that_is_always_wrong_has_no_weight(drawn):
    scores, y, task = drawn
    weights, _ = shared_weights(scores[:, [0, 2]], y, task, 2)
    assert weights[1] < 0.5 * weights[0]  # about 0; its standard error is 0.1 of the other
    np.testing.assert_allclose(shared_weights(-np.abs(scores[:, :1]) * y[:, None], y, task, 2)[0], 0.0)


def test_weights_are_finite_where_classes_are_told_apart():
    y = np.array([1, -1] * 20)
    weights, intercept = shared_weights(2.0 * y[:, None], y, np.zeros(40, dtype=int), 1)
    assert np.isfinite(weights).all()
    assert np.isfinite(intercept).all()


def held_out(scores, Y):
    none = np.zeros(0, dtype=np.int64)
    folds = [Fold(none, np.arange(k, len(Y), 2), none, None) for k in range(2)]
    return HeldOut(read_targets(Y, Y), folds, [scores[fold.test] for fold in folds])


def test_a_combination_gives_log_odds_with_the_right_mean():
    rng = new_rng()
    S = rng.standard_normal((600, 3))
    Y = (rng.random((600, 3)) < expit(2 * S - [0.0, 1.0, 2.0])).astype(int)
    Y[0], Y[1] = 0, 1
    helds = [
        held_out(values, Y) for values in (S, S + 2.0 * rng.standard_normal(S.shape), rng.standard_normal(S.shape))
    ]
    combination = combine(helds)
    assert combination.weights.argmax() == 0
    odds = combination.log_odds([held.scores for held in helds])
    np.testing.assert_allclose(expit(odds).mean(axis=0), (helds[0].targets.Y > 0).mean(axis=0), atol=0.01)
    loss_of = [
        np.logaddexp(0, -helds[0].targets.Y * values).mean()
        for values in (odds, combine(helds[2:]).log_odds([helds[2].scores]))
    ]
    assert loss_of[0] < loss_of[1]


def test_a_learner_that_says_the_same_of_all_rows_has_no_weight(drawn):
    scores, y, task = drawn
    weights, _ = shared_weights(np.column_stack([scores, np.zeros(len(y))]), y, task, 2)
    assert weights[3] == 0.0
    np.testing.assert_allclose(weights[:3], shared_weights(scores, y, task, 2)[0], atol=1e-3)
