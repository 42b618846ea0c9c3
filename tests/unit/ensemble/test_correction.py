"""The joint correction against a problem that can be solved otherwise."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

import smtl.ensemble.correction as module
from smtl.ensemble.combination import combine
from smtl.ensemble.correction import Correction, fit_correction, score_features
from smtl.estimators.held_out import Fold, HeldOut
from smtl.estimators.targets import read_targets
from tests.seeds import new_rng


def held_out(scores, Y, tasks=None, n_folds=4):
    fold = new_rng().permutation(np.arange(len(Y)) % n_folds)
    none = np.zeros(0, dtype=np.int64)
    folds = [Fold(none, np.flatnonzero(fold == k), none, None) for k in range(n_folds)]
    return HeldOut(read_targets(Y, Y, tasks), folds, [scores[one.test] for one in folds])


@pytest.fixture
def tied():
    """Two tasks with the same labels: the scores of the first are good, those of the second say nothing."""
    rng = new_rng()
    S = rng.standard_normal((800, 2))
    y = (rng.random(800) < expit(3.0 * S[:, 0])).astype(int)
    return S, np.column_stack([y, y])


def test_a_task_learns_from_another(tied):
    S, Y = tied
    held = held_out(S, Y)
    combination = combine([held])
    odds = held.with_scores(combination.log_odds([held.scores]))
    correction, corrected = fit_correction(odds, score_features(combination, [held.scores]))
    assert correction.gain > 2 * correction.standard_error > 0
    assert correction.certified_gap <= 1e-3
    assert correction.coef[1, 0] > 0.5
    y = odds.targets.Y
    gain = np.logaddexp(0, -y * odds.scores).mean() - np.logaddexp(0, -y * corrected.scores).mean()
    assert gain == pytest.approx(correction.gain, rel=0.2)


def test_noise_is_not_corrected():
    rng = new_rng()
    kept = 0
    for _ in range(10):
        S = rng.standard_normal((200, 3))
        Y = (rng.random((200, 3)) < expit(S)).astype(int)
        held = held_out(S, Y)
        combination = combine([held])
        found = fit_correction(
            held.with_scores(combination.log_odds([held.scores])), score_features(combination, [held.scores])
        )
        kept += found is not None
    assert kept <= 3  # one in six by chance, if the gain were as often above zero as below


def test_the_final_model_is_the_optimum(tied, monkeypatch):
    """With the ridge penalty and no offset it is logistic regression, task by task."""
    monkeypatch.setattr(module, "PENALTIES", ("ridge",))
    monkeypatch.setattr(module, "TOL", 1e-8)
    S, Y = tied
    held = held_out(S, Y)
    Z = held.scores
    # No offset: then scikit-learn can solve it.
    correction, _ = fit_correction(held.with_scores(np.zeros_like(Z)), Z, always=True)
    for i in range(2):
        theirs = LogisticRegression(C=correction.C, tol=1e-10, max_iter=10_000).fit(Z, held.targets.Y[:, i])
        np.testing.assert_allclose(correction.coef[i], theirs.coef_[0], atol=1e-2)
        np.testing.assert_allclose(correction.intercept[i], theirs.intercept_[0], atol=1e-2)


def test_an_offset_is_what_was_there_before():
    """Scores that are log odds already leave nothing to add."""
    rng = new_rng()
    p = rng.uniform(0.1, 0.9, (4000, 2))
    Y = (rng.random((4000, 2)) < p).astype(int)
    held = held_out(logit(p), Y)
    correction, _ = fit_correction(held, rng.standard_normal((4000, 2)), always=True)
    assert np.abs(correction.coef).max() < 0.3
    assert np.abs(correction.intercept).max() < 0.3
    assert correction.gain < 1e-3


def test_own_rows_have_the_offset_of_their_own_task():
    rng = new_rng()
    n = 600
    site = rng.permutation(np.repeat(["a", "b", "c"], n // 3))
    s = rng.standard_normal((n, 2))
    shift = {"a": -2.0, "b": 0.0, "c": 2.0}
    odds = s[:, 0] + np.array([shift[name] for name in site])
    y = (rng.random(n) < expit(odds)).astype(int)
    held = held_out(odds, y, tasks=site)
    Z = np.column_stack([held.scores, rng.standard_normal(n)])
    correction, corrected = fit_correction(held, Z, always=True)
    # The log odds were right: were they given to the wrong rows, intercepts of two would be needed.
    assert np.abs(correction.intercept).max() < 1.0
    assert corrected.scores.shape == (n,)


def test_holes_and_tasks_that_cannot_be_corrected(tied):
    S, Y = tied
    Y = np.column_stack([Y, np.ones(len(Y)), np.full(len(Y), np.nan)])
    Y[::3, 0] = np.nan
    S = np.column_stack([S, np.full((len(Y), 2), np.nan)])
    held = held_out(S, Y)
    correction, corrected = fit_correction(held, np.nan_to_num(held.scores), always=True)
    assert np.isnan(corrected.scores[:, 2:]).all()
    assert np.isfinite(corrected.scores[:, :2]).all()
    assert not correction.coef[2:].any()
    assert fit_correction(held_out(S[:, :1], Y[:, 1].astype(int)), S[:, :1], always=True) is None


def test_rows_of_tasks():
    model = Correction(np.array([[1.0], [2.0]]), np.array([0.0, 5.0]), "l21", 1.0, 0.0, 0.0, 0.0)
    np.testing.assert_allclose(model.log_odds(np.array([[1.0], [1.0]]), np.array([0, 1])), [1.0, 7.0])
