"""Sums of the logistic loss against NumPy and SciPy, row by row."""

import numpy as np
import pytest
from scipy.special import expit

from smtl.kernels.logistic import N_FACTORS, curve_sums, weighted_loss
from tests.seeds import new_rng


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_curves(weighted):
    rng = new_rng()
    count = [0, 1, N_FACTORS, 3 * N_FACTORS + 5]
    ptr = np.concatenate([[0], np.cumsum(count)])
    s, wanted = 3.0 * rng.standard_normal(ptr[-1]), rng.random(ptr[-1])
    s[-1] = 2000.0  # e to this power is not finite
    a, b = rng.standard_normal(4), rng.standard_normal(4)
    out = np.full((4, 6), np.nan)
    each = 3.0 * rng.random(ptr[-1]) if weighted else np.zeros(0)
    curve_sums(s, wanted, each, ptr, a, b, out)
    odds = np.repeat(a, count) * s + np.repeat(b, count)
    p = expit(odds)
    rest, weight = wanted - p, p * (1 - p)
    rows = np.column_stack([np.logaddexp(0, odds) - wanted * odds, rest, weight, rest * s, weight * s, weight * s * s])
    rows *= each[:, None] if weighted else 1.0
    for i in range(4):
        np.testing.assert_allclose(out[i], rows[ptr[i] : ptr[i + 1]].sum(axis=0), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_loss_of_weighted_scores(weighted):
    rng = new_rng()
    n = 2 * N_FACTORS + 7
    scores, task = 5.0 * rng.standard_normal((n, 3)), rng.integers(0, 2, n)
    yes, v, b = rng.integers(0, 2, n).astype(float), rng.random(3), rng.standard_normal(2)
    by_weight, by_intercept = np.full(3, np.nan), np.full(2, np.nan)
    each = 3.0 * rng.random(n) if weighted else np.zeros(0)
    found = weighted_loss(scores, yes, each, task, v, b, by_weight, by_intercept)
    odds = scores @ v + b[task]
    counted = each if weighted else np.ones(n)
    rest = counted * (expit(odds) - yes)
    np.testing.assert_allclose(found, np.sum(counted * (np.logaddexp(0, odds) - yes * odds)), rtol=1e-10)
    np.testing.assert_allclose(by_weight, scores.T @ rest, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(by_intercept, np.bincount(task, rest, 2), rtol=1e-10, atol=1e-10)
