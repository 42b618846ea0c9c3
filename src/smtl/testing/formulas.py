"""Check what a metric's author writes as a formula: the loss of a table, or of a margin."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels
from smtl.metrics.contingency import ContingencyMetric
from smtl.metrics.pointwise import PointwiseMetric

__all__ = ["check_loss", "check_table", "exhaustive", "near_ties", "tabulate", "worst_tables"]

# Relative to the size of the terms that are compared.
_RTOL = 1e-10
_MARGINS = [sign * float(t) for t in (0.0, *np.geomspace(1e-3, 1e3, 13), 1e6) for sign in (-1.0, 1.0)]


def tabulate(metric: ContingencyMetric, n_pos: int, n_neg: int) -> Float:
    """Return delta of every table, by tp and fp; NaN where it raises."""
    table = np.full((n_pos + 1, n_neg + 1), np.nan)
    for tp in range(n_pos + 1):
        for fp in range(n_neg + 1):
            try:
                table[tp, fp] = metric.delta(float(tp), float(fp), float(n_pos - tp), float(n_neg - fp))
            except (ArithmeticError, ValueError):  # division by zero, or the logarithm of zero
                continue
    return table


def exhaustive(table: Float, s: Float, y: Labels) -> float:
    """Return the largest Delta - s'(y - y') over all labellings y', one after the other."""
    others = _labellings(len(y))
    tp, fp = np.sum((others > 0) & (y > 0), axis=1), np.sum((others > 0) & (y < 0), axis=1)
    return float(np.max(table[tp, fp] - (y - others) @ s))


def worst_tables(table: Float, s: Float, y: Labels) -> float:
    """Return the same for any number of rows: of the labellings of a table, that of the highest scores is largest."""
    pos, neg = (np.concatenate([[0.0], np.cumsum(-np.sort(-s[y == sign]))]) for sign in (1, -1))
    return float(np.max(table - 2.0 * (pos[-1] - pos)[:, None] + 2.0 * neg))


def near_ties(table: Float, rng: np.random.Generator) -> tuple[Float, Labels]:
    """Draw a task where many labellings are almost as bad as the worst: there a search that is not exact errs."""
    tp = int(rng.integers(len(table)))
    neg = -0.5 * np.diff(table[tp])  # flagging one negative more makes no difference at this tp
    reached = np.max(table + 2.0 * np.concatenate([[0.0], np.cumsum(-np.sort(-neg))]), axis=1)
    pos = -0.5 * np.diff(reached)  # nor does finding one positive more
    s: Float = np.concatenate([pos, neg])
    s *= 1.0 + float(rng.choice([0.0, 0.1, 0.3])) * rng.standard_normal(len(s))
    order = rng.permutation(len(s))
    return s[order], np.repeat(np.array([1, -1], dtype=np.int8), [len(pos), len(neg)])[order]


@cache
def _labellings(n: int) -> npt.NDArray[np.int8]:
    return np.array(np.meshgrid(*[[-1, 1]] * n), dtype=np.int8).reshape(n, -1).T


def check_table(metric: ContingencyMetric, n_pos: int, n_neg: int, fail: Callable[[str], NoReturn]) -> None:
    """Fail unless delta is a loss on every table of so many positives and negatives, and concave if it says so."""
    table = tabulate(metric, n_pos, n_neg)
    for (tp, fp), loss in np.ndenumerate(table):
        where = f"delta(tp={tp}, fp={fp}, fn={n_pos - tp}, tn={n_neg - fp})"
        if not np.isfinite(loss):
            fail(f"delta must be finite, got {where} = {loss} instead.")
        if loss < 0.0:
            fail(f"delta must be non-negative, got {where} = {loss} instead.")
        if (tp, fp) == (n_pos, 0) and loss != 0.0:
            fail(f"delta must be 0 at the true answer, got {where} = {loss} instead.")
    for (tp, fp), bend in np.ndenumerate(np.diff(table, 2, axis=0) if metric.convex_in_fn else np.zeros((0, 0))):
        if bend < -_RTOL * table[:, fp].max():
            fail(
                f"delta must be convex in fn, or convex_in_fn be False, got {table[tp : tp + 3, fp].tolist()} for "
                f"tp = {tp}, {tp + 1}, {tp + 2} at fp = {fp} of {n_pos} positives and {n_neg} negatives instead."
            )
    for (tp, fp), bend in np.ndenumerate(np.diff(table, 2, axis=1) if metric.concave_in_fp else np.zeros((0, 0))):
        if bend > _RTOL * table[tp].max():
            fail(
                f"delta must be concave in fp, or concave_in_fp be False, got {table[tp, fp : fp + 3].tolist()} for "
                f"fp = {fp}, {fp + 1}, {fp + 2} at tp = {tp} of {n_pos} positives and {n_neg} negatives instead."
            )


def check_loss(metric: PointwiseMetric, fail: Callable[[str], NoReturn]) -> None:
    """Fail unless loss is finite, non-negative, convex and non-increasing, and its slope is a subgradient."""

    def loss(t: float) -> tuple[float, float]:
        try:
            value, slope = metric.loss(t)
        except (ArithmeticError, ValueError):
            value = slope = float("nan")
        if not (np.isfinite(value) and np.isfinite(slope)):
            fail(f"loss must be finite, got {(value, slope)!r} at a margin of {t!r} instead.")
        if value < 0.0:
            fail(f"loss must be non-negative, got {value!r} at a margin of {t!r} instead.")
        return value, slope

    pairs = [(t, u) for t in _MARGINS for u in (*_MARGINS, t - 0.1, t + 0.1, t - 1e-3, t + 1e-3)]
    for t, u in pairs:
        middle, mean = loss(0.5 * t + 0.5 * u)[0], 0.5 * loss(t)[0] + 0.5 * loss(u)[0]
        if not middle <= mean + _RTOL * mean:
            fail(
                f"loss must be convex, at most the mean of its ends halfway between margins {t!r} and {u!r}, got "
                f"{middle!r} > {mean!r} instead."
            )
    for t, u in pairs:
        (at_t, slope), (at_u, _) = loss(t), loss(u)
        if u > t and not at_u <= at_t + _RTOL * at_t:
            fail(f"loss must not increase, got {at_t!r} at a margin of {t!r} and {at_u!r} at {u!r} instead.")
        tangent, size = at_t + slope * (u - t), at_t + at_u + abs(slope) * (abs(t) + abs(u))
        if not tangent <= at_u + _RTOL * size:
            fail(
                "slope of loss must satisfy loss(t) + slope(t) (u - t) <= loss(u), got "
                f"{at_t!r} + {slope!r} ({u!r} - {t!r}) = {tangent!r} > {at_u!r} instead."
            )
