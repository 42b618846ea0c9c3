r"""AUC over pairs: the area under the ROC curve."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Metric, Offsets, Planes, plane_of_one
from smtl.metrics.spread_pairs import pairs
from smtl.metrics.spreading import Ask, SpreadOracle, gathered

__all__ = ["AUC"]


class AUC(Metric):
    r"""The area under the ROC curve, trained on pairs.

    .. math:: G(s) = \frac{1}{PN} \sum_{p, q} \max(0, 1 - (s_p - s_q))

    over all pairs of a positive p and a negative q. With the pairs that come short of the margin called inverted,
    :math:`\Delta` is their fraction, and :math:`c_k` is :math:`+1/(PN)` for each inverted pair of a positive k and
    :math:`-1/(PN)` for each of a negative k. Both classes sorted, two merges count them: :math:`O(n \log n)`.

    A constant added to all scores changes nothing, so there is no intercept to train and no natural cut.

    References
    ----------
    T. Joachims, A support vector method for multivariate performance measures, ICML 2005.

    Examples
    --------
    >>> AUC().oracle([2.0, 0.0, 0.5, -3.0], [1, 1, -1, -1])
    (0.25, array([ 0.  ,  0.25, -0.25,  0.  ]))
    """

    name = "auc"
    has_cut = False
    uses_intercept = False

    @staticmethod
    def delta(inverted: float, n_pos: int, n_neg: int) -> float:
        r"""Return the fraction of inverted pairs.

        Parameters
        ----------
        inverted : float
            The number of inverted pairs.
        n_pos, n_neg : int
            The numbers of positives and negatives.

        Returns
        -------
        float
            The loss.

        Examples
        --------
        >>> AUC.delta(3, 2, 6)
        0.25
        """
        return inverted / (n_pos * n_neg)

    def score(self, y: npt.ArrayLike, s: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
        """Return the area under the ROC curve.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels, +1 and -1.
        s : array-like of shape (n,)
            Scores.
        weights : array-like of shape (n,), optional
            What each row counts; a pair counts the product.

        Returns
        -------
        float
            The area; NaN where the labels are of one class only.
        """
        positive, scores = np.asarray(y) > 0, np.asarray(s)
        if positive.all() or not positive.any():
            return float("nan")
        pos, order = scores[positive], np.argsort(scores[~positive])
        neg = scores[~positive][order]
        # Pairs in the right order, those of equal scores by half.
        below, up_to = np.searchsorted(neg, pos, side="left"), np.searchsorted(neg, pos, side="right")
        if weights is None:
            return float(0.5 * (below.sum() + up_to.sum()) / (len(pos) * len(neg)))
        each = np.asarray(weights, dtype=np.float64)
        mass = np.concatenate([[0.0], np.cumsum(each[~positive][order])])
        return float(0.5 * np.average(mass[below] + mass[up_to], weights=each[positive]) / mass[-1])

    def oracle(self, scores: npt.ArrayLike, y: npt.ArrayLike) -> tuple[float, Float]:
        """Return the plane of the inverted pairs.

        Parameters
        ----------
        scores : array-like of shape (n,)
            The scores s.
        y : array-like of shape (n,)
            Labels, +1 and -1, at least one of each.

        Returns
        -------
        Delta : float
            The fraction of inverted pairs.
        c : ndarray of shape (n,)
            The signed number of inverted pairs of each row, over P N.
        """
        return plane_of_one(functools.partial(AUC.planes, self), scores, y)

    def planes(
        self,
        scores: Float,
        y: Labels,
        ptr: Offsets,
        *,
        shift: Float,
        with_intercept: bool,
        eps: float,
        weights: Float | None = None,
    ) -> Planes:
        """Return the planes of all tasks; see `Metric.planes`.

        Parameters
        ----------
        scores, y, ptr, shift, with_intercept, eps
            As in `Metric.planes`.
        weights : ndarray of shape (n_rows,), optional
            What each row counts; a pair counts the product.

        Returns
        -------
        delta, c, value : ndarray
            As in `Metric.planes`.
        """
        from smtl.kernels.pairwise import pairwise_planes

        m = len(ptr) - 1
        delta, value, c = np.empty(m), np.empty(m), np.zeros(len(scores))
        pairwise_planes(scores, y, np.empty(0) if weights is None else weights, ptr, c, delta, value)
        return delta, c, value

    def spread(self, ask: Ask) -> SpreadOracle:  # noqa: D102
        return gathered(self, ask) if ask.weighted else pairs(ask)
