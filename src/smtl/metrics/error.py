r"""The error rate: the ordinary hinge loss."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float
from smtl.metrics.pointwise import PointwiseMetric

__all__ = ["Error"]


class Error(PointwiseMetric):
    r"""Accuracy, trained on the hinge loss: :math:`G(s) = \sum_k 2 \max(0, 1 - y_k s_k)`.

    As a structured loss it is :math:`\Delta = 2 \times` the number of errors, over all labellings. It is separable:
    the oracle takes :math:`O(n)`. With the norms it gives MTL-CLS, with ``penalty="ridge"`` the linear support vector
    machine: scikit-learn's ``LinearSVC(loss="hinge", C=2 * C)``.

    Examples
    --------
    >>> Error().oracle([2.0, 0.5, -0.2], [1, 1, -1])
    (4.0, array([ 0.,  2., -2.]))
    """

    name = "error"
    judges_answers = True

    @staticmethod
    def loss(margin: float) -> tuple[float, float]:
        r"""Return :math:`2\max(0, 1 - t)` and its slope.

        Parameters
        ----------
        margin : float
            The margin t.

        Returns
        -------
        value, slope : float
            The loss and its slope.

        Examples
        --------
        >>> Error.loss(0.25)
        (1.5, -2.0)
        """
        if margin < 1.0:
            return 2.0 - 2.0 * margin, -2.0
        return 0.0, 0.0

    @staticmethod
    def delta(tp: float, fp: float, fn: float, tn: float) -> float:
        """Return twice the number of errors.

        Parameters
        ----------
        tp, fp, fn, tn : float
            The contingency table.

        Returns
        -------
        float
            The loss of a labelling.

        Examples
        --------
        >>> Error.delta(4, 1, 2, 8)
        6
        """
        return 2 * (fp + fn)

    def losses(self, tp: Float, fp: Float, n_pos: float, n_neg: float) -> Float:
        """Return twice the number of errors of each of many contingency tables of one task.

        Parameters
        ----------
        tp, fp : ndarray of shape (n_tables,)
            Numbers of true and false positives.
        n_pos, n_neg : float
            Numbers of positives and negatives.

        Returns
        -------
        ndarray of shape (n_tables,)
            Losses.
        """
        return 2.0 * (n_pos - tp + fp)

    def score(self, y: npt.ArrayLike, s: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
        """Return the accuracy: one minus the error rate.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels, +1 and -1.
        s : array-like of shape (n,)
            Scores; above zero answers +1.
        weights : array-like of shape (n,), optional
            What each row counts.

        Returns
        -------
        float
            The fraction of right answers.
        """
        right = (np.asarray(y) > 0) == (np.asarray(s) > 0)
        return float(np.average(right, weights=None if weights is None else np.asarray(weights)))
