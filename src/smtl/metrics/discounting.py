"""What average precision and NDCG share: a loss that discounts what comes late, with weights of rows or without."""

from __future__ import annotations

import numpy as np

from smtl.metrics.base import Float, Labels, Offsets

__all__ = ["fill_discounted", "gain_of_ranks", "graded_ndcg", "most_ranks"]

MOST_COPIES = 100.0  # weight of a row on average; beyond, ranks are too many to be told apart one by one


def gain_of_ranks(ranks: Float) -> Float:
    r"""Return the gain of positives at all ranks up to some, :math:`\sum_{r} 1 / \log_2(1 + r)`.

    Parameters
    ----------
    ranks : ndarray
        Ranks, not negative; between whole numbers the gain is linear.

    Returns
    -------
    ndarray
        Of the same shape.

    Examples
    --------
    >>> gain_of_ranks(np.array([0.0, 0.5, 1.0]))
    array([0. , 0.5, 1. ])
    """
    most = int(np.ceil(ranks.max(initial=0.0)))
    gains = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2.0, most + 2.0)))])
    return np.asarray(np.interp(ranks, np.arange(most + 1.0), gains))


def graded_ndcg(gains: Float, scores: Float, weights: Float | None = None) -> float:
    """Return the NDCG of rows with gains of any size; rows of equal scores share their ranks' discounts.

    Parameters
    ----------
    gains, scores : ndarray of shape (n,)
        Of each row.
    weights : ndarray of shape (n,), optional
        What each row counts.

    Returns
    -------
    float
        NaN where no row has a gain.

    Examples
    --------
    >>> from sklearn.metrics import ndcg_score
    >>> gains, scores = np.array([3.0, 0.0, 1.0]), np.array([0.5, 0.5, 2.0])
    >>> bool(np.isclose(graded_ndcg(gains, scores), ndcg_score([gains], [scores])))
    True
    """
    each = np.ones(len(gains)) if weights is None else weights
    ideal = _discounted(gains, gains, each)
    return _discounted(gains, scores, each) / ideal if ideal > 0.0 else float("nan")


def _discounted(gains: Float, scores: Float, weights: Float) -> float:
    """Return the discounted gain of rows in descending order of score."""
    order = np.argsort(-scores, kind="stable")
    first = np.flatnonzero(np.diff(scores[order], prepend=np.inf) != 0)
    of_block = np.add.reduceat((gains * weights)[order], first)
    mass = np.add.reduceat(weights[order], first)
    discounts = np.diff(gain_of_ranks(np.cumsum(mass)), prepend=0.0)
    return float(of_block @ (discounts / mass))


def most_ranks(y: Labels, ptr: Offsets, weights: Float | None) -> int:
    """Return how many ranks there are in the largest task, or raise ValueError where that is more than is feasible.

    Parameters
    ----------
    y, ptr : ndarray
        As in `Metric.planes`.
    weights : ndarray or None
        What each row counts.

    Returns
    -------
    int
        At least the number of rows, or their weight.

    Examples
    --------
    >>> most_ranks(np.array([1, -1, 1]), np.array([0, 3]), np.array([0.5, 2.0, 1.0]))
    7
    """
    if weights is None:
        return int(np.diff(ptr).max(initial=0))
    known = np.where(y != 0, weights, 0.0)
    if known.sum() > MOST_COPIES * len(y):
        raise ValueError(
            f"weights must be at most {MOST_COPIES:g} on average for metrics of ranks, got {known.sum() / len(y):.4g} "
            "instead; divide them by a common factor."
        )
    # Each class begins a line of its own, and a last place is divided between two ranks.
    masses = np.diff(np.append(0.0, np.cumsum(known))[ptr])
    return int(np.ceil(masses.max(initial=0.0))) + 3


def fill_discounted(
    discounts: Float,
    by_place: bool,
    scores: Float,
    y: Labels,
    ptr: Offsets,
    c: Float,
    delta: Float,
    value: Float,
    weights: Float | None,
) -> None:
    """Write the planes of all tasks.

    Parameters
    ----------
    discounts : ndarray
        E of the ranks from 0 on.
    by_place : bool
        Whether positives count by their place among themselves, as for average precision.
    scores, y, ptr, c, delta, value, weights
        As in `RankingMetric.fill`.
    """
    if weights is None:
        from smtl.kernels.discounted import discounted_planes

        discounted_planes(discounts, by_place, scores, y, ptr, c, delta, value)
    else:
        from smtl.kernels.weighted_ranks import weighted_discounted_planes

        weighted_discounted_planes(discounts, by_place, scores, y, weights, ptr, c, delta, value)
