r"""Precision at k: how many of the k rows with the highest scores are positives."""

from __future__ import annotations

import numbers

import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Offsets
from smtl.metrics.ranking import RankingMetric
from smtl.metrics.top import fill_top, precision_of_top

__all__ = ["PrecisionAtK"]


class PrecisionAtK(RankingMetric):
    r"""The share of positives among the k rows with the highest scores.

    A wrong answer puts t positives and k - t negatives at the top, where :math:`q = \min(k, P)` positives would have
    been possible. With T the negatives that it takes and M the positives that it misses,

    .. math:: G(s) = \max_{t, T, M} \; \frac{q - t}{k} \bigl( 1 + \bar s_T - \bar s_M \bigr)

    with mean scores :math:`\bar s`: the plane has :math:`c = \frac{q - t}{k |M|}` on M and
    :math:`-\frac{q - t}{k |T|}` on T. The highest negatives and the lowest positives attain it. At the t of the scores'
    own top, T is above M, so G is at least what precision falls short of the best possible. That is the average form
    of Kar et al., with the positives that there are where they are fewer than k. (The labelling of the top k, compared
    with the true one, is no upper bound unless k = P; for that case see `PRBEP`.) A task of fewer than k rows has all
    of them at the top.

    Parameters
    ----------
    k : int, default=10
        The number of rows at the top.

    References
    ----------
    P. Kar, H. Narasimhan, P. Jain, Surrogate functions for maximizing precision at the top, ICML 2015.

    Examples
    --------
    >>> PrecisionAtK(k=2).score([1, 1, -1, -1], [0.9, 0.1, 0.5, 0.0])
    0.5
    >>> PrecisionAtK(k=1).oracle([0.0, 1.0, 0.5, -3.0], [1, 1, -1, -1])
    (1.0, array([ 0.5,  0.5, -1. ,  0. ]))
    """

    name = "precision@k"
    k: int

    def __init__(self, k: int = 10) -> None:
        if not (isinstance(k, numbers.Integral) and not isinstance(k, bool) and k >= 1):
            raise ValueError(f"k must be a whole number, at least 1, got {k!r} instead.")
        self.k = k

    def score(self, y: npt.ArrayLike, s: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
        """Return the share of positives among the k rows with the highest scores.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels, +1 and -1.
        s : array-like of shape (n,)
            Scores.
        weights : array-like of shape (n,), optional
            What each row counts: the top is of rows that weigh k together.

        Returns
        -------
        float
            The share; where the k-th score is that of several rows, the mean over all choices among them. Of fewer
            than k rows all are taken; NaN for none.
        """
        return precision_of_top(float(self.k), y, s, weights)

    def fill(  # noqa: D102
        self,
        scores: Float,
        y: Labels,
        ptr: Offsets,
        c: Float,
        delta: Float,
        value: Float,
        weights: Float | None = None,
    ) -> None:
        fill_top(int(self.k), False, scores, y, ptr, c, delta, value, weights)
