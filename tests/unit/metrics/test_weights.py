"""A weight of k is k equal rows, for every metric."""

import numpy as np
import pytest

from smtl.metrics import Metric, get_metric, metric_names
from smtl.metrics.weighting import weighted_planes, weighted_score
from tests.seeds import new_rng

WITHOUT_NUMBERS = ["auc", "error", "log", "pauc"]  # losses for which a number of rows means nothing


def draw(rng, n_tasks=3):
    """Tasks with both classes, rows without a label, and weights of whole numbers; and the same with repeated rows."""
    sizes = rng.integers(4, 12, n_tasks)
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    y = rng.choice([-1, 0, 1, 1], ptr[-1]).astype(np.int8)
    y[ptr[:-1]], y[ptr[:-1] + 1] = 1, -1
    scores = rng.choice([0.3, 1.0, 3.0]) * rng.standard_normal(ptr[-1])
    scores = np.where(rng.random(ptr[-1]) < 0.3, np.round(scores), scores)
    weights = rng.integers(1, 5, ptr[-1]).astype(np.float64)
    repeated = np.repeat(np.arange(ptr[-1]), weights.astype(int))
    return scores, y, ptr, weights, repeated, np.concatenate([[0], np.cumsum(weights.astype(int))])[ptr]


@pytest.mark.parametrize("with_intercept", [False, True])
@pytest.mark.parametrize("name", metric_names())
def test_a_weight_is_so_many_rows(name, with_intercept):
    rng, metric = new_rng(), get_metric(name)
    with_intercept = with_intercept and metric.uses_intercept
    for _ in range(10):
        scores, y, ptr, weights, repeated, wide = draw(rng)
        eps = 1e-9
        delta, c, value = weighted_planes(
            metric, scores, y, ptr, weights, shift=np.zeros(3), with_intercept=with_intercept, eps=eps
        )
        _, _, wanted = metric.planes(
            scores[repeated], y[repeated], wide, shift=np.zeros(3), with_intercept=with_intercept, eps=eps
        )
        np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-8)
        # The plane attains it, and is nowhere above the loss of the repeated rows.
        for i in range(3):
            rows = slice(ptr[i], ptr[i + 1])
            assert delta[i] - scores[rows] @ c[rows] == pytest.approx(value[i], abs=1e-7)
            assert not c[rows][y[rows] == 0].any()
            other = 2.0 * rng.standard_normal(ptr[-1])
            _, _, loss = metric.planes(
                other[repeated], y[repeated], wide, shift=np.zeros(3), with_intercept=with_intercept, eps=eps
            )
            assert delta[i] - other[rows] @ c[rows] <= loss[i] + 1e-8 * (1.0 + abs(loss[i]))


@pytest.mark.parametrize("name", metric_names())
def test_weighted_scores(name):
    rng, metric = new_rng(), get_metric(name)
    for _ in range(20):
        scores, y, _ptr, weights, _repeated, _ = draw(rng, 1)
        known = y != 0
        weights[rng.random(len(weights)) < 0.2] = 0.0
        if not ((y > 0) & (weights > 0)).any() or not ((y < 0) & (weights > 0)).any():
            continue
        copies = np.repeat(np.flatnonzero(known), weights[known].astype(int))
        got = weighted_score(metric, y[known], scores[known], weights[known])
        assert got == pytest.approx(metric.score(y[copies], scores[copies]), abs=1e-12)


@pytest.mark.parametrize("name", WITHOUT_NUMBERS)
def test_where_only_the_scale_differs(name):
    rng, metric = new_rng(), get_metric(name)
    scores, y, ptr, weights, _, _ = draw(rng)
    no = {"shift": np.zeros(3), "with_intercept": False, "eps": 0.0}
    delta, c, value = weighted_planes(metric, scores, y, ptr, weights / 100.0, **no)
    other = weighted_planes(metric, scores, y, ptr, weights, **no)
    scale = 1.0 if name in ("auc", "pauc") else 100.0
    for got, wanted in zip((delta, c, value), other, strict=True):
        np.testing.assert_allclose(scale * got, wanted, rtol=1e-9, atol=1e-12)


class WorstRow(Metric):
    """A metric as a user may write it, which has never heard of weights."""

    def score(self, y, s):
        return float(np.min(y * s))

    def oracle(self, scores, y):
        k, c = np.argmin(y * scores), np.zeros(len(y))
        if y[k] * scores[k] >= 1:
            return 0.0, c
        c[k] = y[k]
        return 1.0, c


def test_a_metric_without_weights_gets_repeated_rows_or_an_error():
    s, y, ptr = np.array([2.0, -0.5]), np.array([1, -1], dtype=np.int8), np.array([0, 2])
    no = {"shift": np.zeros(1), "with_intercept": False, "eps": 0.0}
    delta, c, value = weighted_planes(WorstRow(), s, y, ptr, np.array([1.0, 3.0]), **no)
    assert (delta, value, c.tolist()) == (1.0, 0.5, [0.0, -1.0])
    assert weighted_score(WorstRow(), y, s, [1, 3]) == 0.5
    with pytest.raises(ValueError, match=r"weights must be whole numbers for WorstRow.*got 1\.5 instead"):
        weighted_planes(WorstRow(), s, y, ptr, np.array([1.0, 1.5]), **no)
    with pytest.raises(ValueError, match=r"weights must be whole numbers for WorstRow.*got 0\.25 instead"):
        weighted_score(WorstRow(), y, s, [0.25, 1])
    with pytest.raises(ValueError, match="weights must be at most 100 on average"):
        weighted_planes(WorstRow(), s, y, ptr, np.array([1.0, 1e9]), **no)
