"""A metric's spread oracle against its plain one, on rows divided at random."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Metric
from smtl.metrics.spreading import Ask, Scored, planes_of_parts

__all__ = ["check_spread"]

Offsets: TypeAlias = npt.NDArray[np.int64]
Fail: TypeAlias = Callable[[str], object]

MOST_PARTS = 20
_RTOL = 1e-9  # of the size of the terms: sums over parts are rounded in another order


def check_spread(
    metric: Metric,
    tasks: tuple[Float, Labels, Offsets],
    with_intercept: bool,
    eps: float,
    rng: np.random.Generator,
    fail: Fail,
) -> None:
    """Fail unless the spread oracle finds a plane as good as the plain one, whatever the parts are.

    Parameters
    ----------
    metric : Metric
        What to check.
    tasks : (scores, y, ptr)
        As in `Metric.planes`.
    with_intercept : bool
        Whether to minimise over a constant added to the scores.
    eps : float
        How far from the minimum over it the value may be.
    rng : numpy.random.Generator
        What divides the rows; some parts are empty, and some have one class.
    fail : callable
        What to call with what is wrong.
    """
    scores, y, ptr = tasks
    m = len(ptr) - 1
    n_pos, n_neg = (np.array([(y[a:b] == sign).sum() for a, b in pairwise(ptr)]) for sign in (1, -1))
    n_parts = int(rng.integers(1, MOST_PARTS + 1))
    number = rng.integers(n_parts, size=len(y))
    if rng.random() < 0.3:
        number = np.where(y > 0, 0, number)
    task = np.repeat(np.arange(m), np.diff(ptr))
    places = [np.flatnonzero(number == p) for p in range(n_parts)]
    parts = [Scored(scores[r], y[r], np.searchsorted(task[r], np.arange(m + 1)).astype(np.int64)) for r in places]
    guess = rng.normal(size=m)
    plain, spread = guess.copy(), guess.copy()
    _, _, wanted = metric.planes(scores.copy(), y, ptr, shift=plain, with_intercept=with_intercept, eps=eps)
    delta, by_part, value = planes_of_parts(metric, parts, Ask(n_pos, n_neg, spread, with_intercept, eps, {}))
    c = np.zeros(len(scores))
    for rows, of_part in zip(places, by_part, strict=True):
        c[rows] = of_part
    for i, (a, b) in enumerate(pairwise(ptr)):
        own, s = c[a:b], scores[a:b]
        reach = 1.0 + np.abs(s).max(initial=0.0) + abs(spread[i])
        slack = (eps if with_intercept else 0.0) + _RTOL * (1.0 + reach * (np.abs(own).sum() + 4.0 * (b - a)))
        height = delta[i] - s @ own
        told = f"got {value[i]!r} and {height!r} instead of {wanted[i]!r} in {n_parts} parts, s = {s!r}, y = {y[a:b]!r}"
        if not abs(value[i] - wanted[i]) <= slack:
            fail(f"the value of the spread oracle must be that of planes, {told}.")
        if not value[i] - slack <= height <= value[i] + slack:
            fail(f"the plane of the spread oracle must attain its value, {told}.")
        if with_intercept and not abs(own.sum()) <= slack:
            fail(
                f"with an intercept, c of the spread oracle must sum to zero over each task, got {own.sum()!r}; {told}."
            )
        if np.any(own[y[a:b] == 0] != 0.0):
            fail("the spread oracle must return c = 0 on rows with y = 0.")
