r"""Log loss: multi-task logistic regression."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import entr, expit

from smtl.metrics.base import Float, Labels, Offsets, Planes
from smtl.metrics.pointwise import PointwiseMetric
from smtl.metrics.spread_sums import sums
from smtl.metrics.spreading import Ask, SpreadOracle

__all__ = ["Log"]


class Log(PointwiseMetric):
    r"""The log loss :math:`G(s) = \sum_k \log(1 + e^{-y_k s_k})`.

    Its planes are tangents. With the norms it is multi-task logistic regression, with ``penalty="ridge"``
    scikit-learn's ``LogisticRegression(C=C)``; `SMTLClassifier.predict_proba` is available.

    Examples
    --------
    >>> Log().oracle([0.0, 0.0], [1, -1])
    (1.3862943611198906, array([ 0.5, -0.5]))
    """

    name = "log"
    smooth = True

    @staticmethod
    def loss(margin: float) -> tuple[float, float]:
        r"""Return :math:`\log(1 + e^{-t})` and its slope.

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
        >>> Log.loss(0.0)
        (0.6931471805599453, -0.5)
        """
        # e^{-|t|} cannot overflow.
        small = math.exp(-abs(margin))
        value = math.log1p(small) + max(0.0, -margin)
        slope = -small / (1.0 + small) if margin > 0.0 else -1.0 / (1.0 + small)
        return value, slope

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
            What each row counts.

        Returns
        -------
        delta, c, value : ndarray
            As in `Metric.planes`.
        """
        from smtl.kernels.log_loss import BLOCK, log_planes

        m, longest = len(ptr) - 1, int(np.diff(ptr).max(initial=0))
        delta, value, c = np.empty(m), np.empty(m), np.empty(len(scores))
        each = np.empty(0) if weights is None else weights
        room, sides = np.empty((5, BLOCK)), np.empty((3, longest))
        bits = room[2].view(np.int64)
        log_planes(scores, y, each, ptr, with_intercept, shift, eps, c, delta, value, room, bits, sides)
        return delta, c, value

    def curvatures(self, scores: Float, y: Labels, ptr: Offsets, shift: Float) -> Float:  # noqa: D102
        scores = scores + np.repeat(shift, np.diff(ptr))
        right = expit(np.abs(scores))
        second: Float = right * (1.0 - right) * (y != 0)
        return second

    def highest_offsets(self, c: Float, y: Labels, ptr: Offsets, weights: Float | None = None) -> Float:
        r"""Return :math:`\sum_k -p_k\log p_k - (1-p_k)\log(1-p_k)` with :math:`p_k = y_k c_k`.

        Parameters
        ----------
        c, y, ptr, weights
            As in `Metric.highest_offsets`.

        Returns
        -------
        ndarray of shape (n_tasks,)
            Minus infinity where a coefficient is that of no plane.

        Examples
        --------
        >>> Log().highest_offsets(np.array([0.5, -0.5]), np.array([1, -1], dtype=np.int8), np.array([0, 2])).round(6)
        array([1.386294])
        """
        p = c * y if weights is None else c * y / np.where(y == 0, 1.0, weights)
        entropy = entr(p) + entr(1.0 - p)
        sums: Float = np.add.reduceat(entropy if weights is None else entropy * weights, ptr[:-1])
        return sums

    def spread(self, ask: Ask) -> SpreadOracle:  # noqa: D102
        return sums(self, ask)

    def score(self, y: npt.ArrayLike, s: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
        """Return the negative mean log loss.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels, +1 and -1.
        s : array-like of shape (n,)
            Scores, the log-odds of +1.
        weights : array-like of shape (n,), optional
            What each row counts.

        Returns
        -------
        float
            At most 0.
        """
        margins = np.asarray(y, dtype=np.float64) * np.asarray(s, dtype=np.float64)
        return -float(np.average(np.logaddexp(0.0, -margins), weights=None if weights is None else np.asarray(weights)))

    def probability(self, s: npt.ArrayLike) -> npt.NDArray[np.floating[Any]]:
        """Return the probability of +1.

        Parameters
        ----------
        s : array-like
            Scores, the log-odds of +1.

        Returns
        -------
        ndarray
            Of the shape of ``s``.

        Examples
        --------
        >>> Log().probability([0.0])
        array([0.5])
        """
        probability: npt.NDArray[np.floating[Any]] = expit(np.asarray(s))
        return probability
