r"""Check that a weight of k is k equal rows, for a metric that knows weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Metric, Planes
from smtl.metrics.weighting import knows_weights, weighted_planes, weighted_score

__all__ = ["check_weights"]

Flat: TypeAlias = tuple[Float, Labels, npt.NDArray[np.int64]]
Fail: TypeAlias = Callable[[str], NoReturn]

# Relative to the size of the terms that are compared.
_RTOL = 1e-10
_NEAR = 1e-8  # of two sums whose parts are rounded in different ways


def check_weights(metric: Metric, flat: Flat, others: Sequence[Float], rng: np.random.Generator, fail: Fail) -> None:
    """Fail unless planes and score of weighted rows are those of repeated rows.

    Parameters
    ----------
    metric : Metric
        What to check.
    flat : (scores, y, ptr)
        Some tasks, one after another, with rows that are not labelled in between.
    others : list of ndarray
        Other scores of the same rows, at which a wrong plane would show.
    rng : numpy.random.Generator
        For the weights.
    fail : callable
        What raises.
    """
    scores, y, ptr = flat
    weights = rng.integers(1, 4, len(y)).astype(np.float64)
    if _refused(metric, y, ptr, weights):
        return
    repeated = np.repeat(np.arange(len(y)), weights.astype(np.int64))
    ends = np.concatenate([[0], np.cumsum(weights.astype(np.int64))])[ptr]

    def of_copies(s: Float) -> Planes:
        return metric.planes(s[repeated], y[repeated], ends, **_plain(len(ptr) - 1))

    if knows_weights(metric, "planes"):
        _check_planes(metric, flat, weights, of_copies, others, fail)
        _check_parts(metric, flat, rng, fail)
    for i in range(len(ptr) - 1 if knows_weights(metric, "score") else 0):
        rows = ptr[i] + np.flatnonzero(y[ptr[i] : ptr[i + 1]])
        copies = np.repeat(rows, weights[rows].astype(np.int64))
        got, wanted = (
            weighted_score(metric, y[rows], scores[rows], weights[rows]),
            metric.score(y[copies], scores[copies]),
        )
        if not abs(got - wanted) <= _NEAR * (1.0 + abs(wanted)):
            fail(
                f"score of weighted rows must be that of repeated rows, got {got!r} instead of {wanted!r} at s = "
                f"{scores[rows]!r}, y = {y[rows]!r}, weights = {weights[rows]!r}."
            )


def _check_planes(
    metric: Metric,
    flat: Flat,
    weights: Float,
    of_copies: Callable[[Float], Planes],
    others: Sequence[Float],
    fail: Fail,
) -> None:
    """Fail unless the weighted planes attain the loss of repeated rows, and bound it elsewhere."""
    scores, y, ptr = flat
    delta, c, value = weighted_planes(metric, scores, y, ptr, weights, **_plain(len(ptr) - 1))
    wanted = of_copies(scores)[2]
    if (wrong := np.flatnonzero((y == 0) & (c != 0))).size:
        fail(f"planes of weighted rows must return c = 0 on rows with y = 0, got {float(c[wrong[0]])!r} instead.")
    for i in range(len(ptr) - 1):
        rows = slice(ptr[i], ptr[i + 1])
        at = f"s = {scores[rows]!r}, y = {y[rows]!r}, weights = {weights[rows]!r}"
        size = _size(scores[rows], weights[rows], delta[i], c[rows])
        if not abs(value[i] - wanted[i]) <= _RTOL * size:
            fail(
                f"planes of weighted rows must have the value of repeated rows, got {float(value[i])!r} instead of "
                f"{float(wanted[i])!r} at {at}."
            )
        if not abs(delta[i] - scores[rows] @ c[rows] - value[i]) <= _RTOL * size:
            fail(f"delta - s'c of planes of weighted rows must be the value, {float(value[i])!r}, at {at}.")
    for other in others:
        below = of_copies(other)[2]
        for i in range(len(ptr) - 1):
            rows = slice(ptr[i], ptr[i + 1])
            size = sum(_size(s[rows], weights[rows], delta[i], c[rows]) for s in (scores, other))
            if not delta[i] - other[rows] @ c[rows] <= below[i] + _RTOL * size:
                fail(
                    "a plane of weighted rows must bound the loss of repeated rows from below, got "
                    f"{float(delta[i] - other[rows] @ c[rows])!r} > {float(below[i])!r} at s = {scores[rows]!r}, "
                    f"u = {other[rows]!r}, y = {y[rows]!r}, weights = {weights[rows]!r} instead."
                )


def _check_parts(metric: Metric, flat: Flat, rng: np.random.Generator, fail: Fail) -> None:
    """Fail unless a row of any weight is two equal rows whose weights add up to it."""
    scores, y, ptr = flat
    weights, part = 3.0 * rng.random(len(y)) + 0.1, rng.uniform(0.1, 0.9, len(y))
    delta, c, whole = weighted_planes(metric, scores, y, ptr, weights, **_plain(len(ptr) - 1))
    twice = np.repeat(np.arange(len(y)), 2)
    divided = np.column_stack([part * weights, (1.0 - part) * weights]).ravel()
    parts = weighted_planes(metric, scores[twice], y[twice], 2 * ptr, divided, **_plain(len(ptr) - 1))[2]
    for i in range(len(ptr) - 1):
        rows = slice(ptr[i], ptr[i + 1])
        if not abs(whole[i] - parts[i]) <= _NEAR * _size(scores[rows], weights[rows], delta[i], c[rows]):
            fail(
                "a row must count as two equal rows whose weights add up to its own, got a value of "
                f"{float(whole[i])!r} and one of {float(parts[i])!r} at s = {scores[rows]!r}, y = {y[rows]!r}, "
                f"weights = {weights[rows]!r} instead."
            )


def _size(s: Float, weights: Float, delta: float, c: Float) -> float:
    """Return the size of the terms of a plane at s; sums of scores count even where c is 0, as oracles add them up."""
    return 1.0 + abs(delta) + float(np.abs(s) @ (weights + np.abs(c)))


def _refused(metric: Metric, y: Labels, ptr: npt.NDArray[np.int64], weights: Float) -> bool:
    """Return whether the metric is not defined on one of the tasks with repeated rows."""
    for a, b in pairwise(ptr):
        n_pos, n_neg = (int(weights[a:b][y[a:b] == sign].sum()) for sign in (1, -1))
        try:
            metric.check_task(n_pos, n_neg)
        except ValueError:
            return True
    return False


def _plain(m: int) -> dict[str, Any]:
    """Return how planes are asked for without an intercept."""
    return {"shift": np.zeros(m), "with_intercept": False, "eps": 0.0}
