"""Weights of labels: a label of weight k counts as k equal rows would, for every metric.

A metric whose `planes` and `score` have a parameter ``weights`` does that by itself, for whole numbers and for others.
For any other metric the rows are repeated, which whole numbers allow only.
"""

from __future__ import annotations

import inspect
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Metric, Offsets, Planes

__all__ = ["knows_weights", "weighted_planes", "weighted_score"]

Copies: TypeAlias = npt.NDArray[np.int64]

# So many rows at most are made of one by repeating, on average: beyond, memory is the first to end.
MOST_COPIES = 100


def weighted_planes(
    metric: Metric,
    scores: Float,
    y: Labels,
    ptr: Offsets,
    weights: Float | None,
    *,
    shift: Float,
    with_intercept: bool,
    eps: float,
) -> Planes:
    """Return the planes of all tasks where each label has a weight.

    Parameters
    ----------
    metric : Metric
        The metric.
    scores, y, ptr, shift, with_intercept, eps
        As in `Metric.planes`.
    weights : ndarray of shape (n_rows,) or None
        Positive where there is a label. None: all are 1.

    Returns
    -------
    delta, c, value : ndarray
        As in `Metric.planes`; the coefficient of a row is the sum of those of its copies.

    Examples
    --------
    >>> from smtl.metrics import F1
    >>> y, ptr, no = np.array([1, -1], dtype=np.int8), np.array([0, 2]), np.zeros(1)
    >>> scores, weights = np.array([0.0, 0.5]), np.array([1.0, 3.0])
    >>> weighted_planes(F1(), scores, y, ptr, weights, shift=no, with_intercept=False, eps=0.0)
    (array([1.]), array([ 2., -6.]), array([4.]))
    """
    if weights is None:
        return metric.planes(scores, y, ptr, shift=shift, with_intercept=with_intercept, eps=eps)
    if knows_weights(metric, "planes"):
        return metric.planes(  # type: ignore[call-arg]
            scores, y, ptr, shift=shift, with_intercept=with_intercept, eps=eps, weights=weights
        )
    copies = _copies(metric, np.where(y != 0, weights, 1.0))
    starts = np.concatenate([[0], np.cumsum(copies)])
    delta, c, value = metric.planes(
        np.repeat(scores, copies),
        np.repeat(y, copies),
        starts[ptr],
        shift=shift,
        with_intercept=with_intercept,
        eps=eps,
    )
    return delta, np.add.reduceat(c, starts[:-1]), value


def weighted_score(metric: Metric, y: npt.ArrayLike, s: npt.ArrayLike, weights: npt.ArrayLike | None) -> float:
    """Return the metric of the scores of one task where each label has a weight.

    Parameters
    ----------
    metric : Metric
        The metric.
    y, s : array-like of shape (n,)
        As in `Metric.score`.
    weights : array-like of shape (n,) or None
        Non-negative. None: all are 1.

    Returns
    -------
    float
        The metric.

    Examples
    --------
    >>> from smtl.metrics import Error, PRBEP
    >>> weighted_score(Error(), [1, -1], [1.0, 1.0], [3, 1]), weighted_score(PRBEP(), [1, -1], [1.0, 1.0], [3, 1])
    (0.75, 0.75)
    """
    if weights is None:
        return metric.score(y, s)
    known = np.asarray(weights, dtype=np.float64) > 0
    y, s, weights = np.asarray(y)[known], np.asarray(s)[known], np.asarray(weights, dtype=np.float64)[known]
    if knows_weights(metric, "score"):
        return metric.score(y, s, weights)  # type: ignore[call-arg]
    copies = _copies(metric, weights)
    return metric.score(np.repeat(y, copies), np.repeat(s, copies))


def knows_weights(metric: Metric, method: str) -> bool:
    """Return whether a method of the metric takes weights.

    Parameters
    ----------
    metric : Metric
        The metric.
    method : {"planes", "score"}
        The method.

    Returns
    -------
    bool
        Where it is False, rows are repeated.

    Examples
    --------
    >>> from smtl.metrics import AUC, F1
    >>> knows_weights(AUC(), "planes"), knows_weights(F1(), "score")
    (True, True)
    """
    does_the_work = getattr(metric, "fill", metric.planes) if method == "planes" else metric.score
    return "weights" in inspect.signature(does_the_work).parameters


def _copies(metric: Metric, weights: Float) -> Copies:
    """Return weights as numbers of copies, or raise ValueError where they are none."""
    copies = weights.astype(np.int64)
    wrong = copies != weights
    if wrong.any():
        raise ValueError(
            f"weights must be whole numbers for {metric!r}, whose oracle knows no others (it repeats rows), got "
            f"{float(weights[wrong][0])!r} instead; round them, or take a metric such as 'log', 'error' or 'auc'."
        )
    if copies.sum() > MOST_COPIES * len(copies):
        raise ValueError(
            f"weights must be at most {MOST_COPIES} on average for {metric!r}, whose oracle repeats rows, got "
            f"{copies.sum() / len(copies):.4g} instead; divide them by a common factor."
        )
    return copies
