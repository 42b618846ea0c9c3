r"""The break-even point of precision and recall: the precision of as many answers as there are positives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Offsets
from smtl.metrics.ranking import RankingMetric
from smtl.metrics.top import fill_top, precision_of_top

__all__ = ["PRBEP"]


class PRBEP(RankingMetric):
    r"""Precision where it equals recall, trained on labellings that answer yes as often as there are positives.

    .. math:: G(s) = \max_{y' :\, TP + FP = P} \; \frac{FP}{P} - s'(y - y')

    Of the labellings with TP = t the worst takes the t highest positives and the P - t highest negatives; all t are
    tried. Where the highest negatives or lowest positives have equal scores, the plane is the mean of all choices.

    Its score is the precision of the P rows with the highest scores, which is their recall.

    References
    ----------
    T. Joachims, A support vector method for multivariate performance measures, ICML 2005.

    Examples
    --------
    >>> PRBEP().score([1, 1, -1, -1], [0.9, 0.1, 0.5, 0.0])
    0.5
    >>> PRBEP().oracle([0.9, 0.1, 0.5, 0.0], [1, 1, -1, -1])
    (0.5, array([ 0.,  2., -2.,  0.]))
    """

    name = "prbep"

    def score(self, y: npt.ArrayLike, s: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
        """Return the precision of as many rows as there are positives, those with the highest scores.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels, +1 and -1.
        s : array-like of shape (n,)
            Scores.
        weights : array-like of shape (n,), optional
            What each row counts.

        Returns
        -------
        float
            The precision, a mean over all choices among equal scores; NaN where there is no positive.
        """
        each = np.ones(len(np.asarray(y))) if weights is None else np.asarray(weights, dtype=np.float64)
        return precision_of_top(float(each @ (np.asarray(y) > 0)), y, s, weights)

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
        fill_top(0, True, scores, y, ptr, c, delta, value, weights)
