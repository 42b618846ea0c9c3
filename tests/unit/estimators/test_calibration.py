"""Curves against logistic regression of scikit-learn's, and by brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from smtl.estimators.calibration import SHRINKAGE, logistic_curves
from smtl.estimators.held_out import Fold, HeldOut
from smtl.estimators.targets import read_targets
from tests.seeds import new_rng


def held_out(scores, Y, n_folds=1, tasks=None):
    """HeldOut of given scores, row k in fold k modulo n_folds."""
    none = np.zeros(0, dtype=np.int64)
    folds = [Fold(none, np.arange(k, len(Y), n_folds), none, None) for k in range(n_folds)]
    return HeldOut(read_targets(Y, Y, tasks), folds, [scores[fold.test] for fold in folds])


@pytest.fixture
def drawn():
    rng = new_rng()
    scores = rng.standard_normal((400, 4)) * [1.0, 2.0, 0.5, 1.0] + [0.0, 3.0, -1.0, 0.0]
    odds = (scores - [0.0, 3.0, -1.0, 0.0]) * [1.0, 0.3, 2.0, 0.5] - [0.0, 1.0, 1.0, 2.0]
    Y = (rng.random((400, 4)) < expit(odds)).astype(int)
    Y[0], Y[1] = 0, 1
    return scores, Y


def wanted(y):
    n_pos, n_neg = y.sum(), (1 - y).sum()
    return np.where(y > 0, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))


def loss(a, b, s, t):
    odds = a * s + b
    return np.sum(np.logaddexp(0.0, odds) - t * odds)


def best_slope(columns):
    """The slope of the greatest likelihood, each column with its own intercept, by a general optimiser."""
    parts = [(s - s.mean(), wanted(y)) for s, y in columns]
    found = minimize(lambda v: sum(loss(v[0], b, *part) for b, part in zip(v[1:], parts, strict=True)),
                     np.zeros(1 + len(parts)), method="BFGS", options={"gtol": 1e-8})  # fmt: skip
    return max(found.x[0], 0.0)


def test_slopes_are_mixed_as_the_formula_says(drawn):
    scores, Y = drawn
    curves = logistic_curves(held_out(scores, Y))
    shared = best_slope(list(zip(scores.T, Y.T, strict=True)))
    for i, (s, y) in enumerate(zip(scores.T, Y.T, strict=True)):
        rarer = min(y.sum(), (1 - y).sum())
        slope = (rarer * best_slope([(s, y)]) + SHRINKAGE * shared) / (rarer + SHRINKAGE)
        assert curves.slope[i] == pytest.approx(slope, rel=1e-3, abs=1e-5)
        t = wanted(y)
        around = [loss(curves.slope[i], curves.intercept[i] + step, s, t) for step in (-1e-3, 0.0, 1e-3)]
        assert around[1] == min(around)
        # The best intercept makes the expected number of positives what it is.
        assert expit(curves.slope[i] * s + curves.intercept[i]).sum() == pytest.approx(t.sum())


def test_many_rows_of_one_task_are_logistic_regression():
    rng = new_rng()
    s = rng.standard_normal(20_000)
    y = (rng.random(20_000) < expit(1.5 * s - 1.0)).astype(int)
    curves = logistic_curves(held_out(s[:, None], y))
    theirs = LogisticRegression(C=np.inf).fit(s[:, None], y)
    assert curves.slope[0] == pytest.approx(theirs.coef_[0, 0], rel=1e-2)
    assert curves.intercept[0] == pytest.approx(theirs.intercept_[0], rel=1e-2)


def test_no_slope_is_negative_and_none_is_infinite(drawn):
    scores, Y = drawn
    turned = logistic_curves(held_out(-scores * 10.0, Y))
    np.testing.assert_allclose(turned.slope, 0.0, atol=1e-12)
    separated = np.where(Y == 1, 1.0, -1.0) * (1.0 + np.abs(scores))
    curves = logistic_curves(held_out(separated, Y))
    assert np.all(np.isfinite(curves.slope))
    assert np.all((curves.log_odds(separated) > 0) == (Y == 1))


def test_own_rows_and_holes_are_the_same_entries(drawn):
    scores, Y = drawn
    rng = new_rng()
    holes = np.where(rng.random(Y.shape) < 0.5, np.nan, Y)
    holes[:2] = Y[:2]
    rows, tasks = np.nonzero(~np.isnan(holes))
    one = logistic_curves(held_out(scores, holes))
    other = logistic_curves(held_out(scores[rows, tasks], holes[rows, tasks].astype(int), tasks=tasks))
    np.testing.assert_allclose(one.slope, other.slope, rtol=1e-6)
    np.testing.assert_allclose(one.intercept, other.intercept, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(other.log_odds(scores[rows, tasks], tasks), one.log_odds(scores)[rows, tasks])


def test_a_fold_can_be_left_out(drawn):
    scores, Y = drawn
    held = held_out(scores, Y, n_folds=4)
    rest = np.arange(400) % 4 != 2
    one, other = logistic_curves(held, 2), logistic_curves(held_out(scores[rest], Y[rest]))
    np.testing.assert_allclose(one.slope, other.slope, rtol=1e-6)
    np.testing.assert_allclose(one.intercept, other.intercept, rtol=1e-6)


def test_tasks_with_one_class_or_no_row(drawn):
    scores, Y = drawn
    Y = Y.astype(float)
    Y[:, 1], Y[:, 2] = 0, np.nan
    scores[:, 3] = 7.0
    curves = logistic_curves(held_out(scores, Y))
    assert np.all(np.isfinite([*curves.slope, *curves.intercept]))
    for i in (1, 3):
        np.testing.assert_allclose(expit(curves.log_odds(scores)[:, i]).sum(), wanted(Y[:, i]).sum())
    empty = logistic_curves(held_out(np.full((4, 2), np.nan), [[0, 1], [1, 0], [0, 0], [1, 1]]))
    np.testing.assert_allclose(empty.intercept, 0.0)
