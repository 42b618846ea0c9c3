r"""Log loss: multi-task logistic regression."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from smtl.metrics.pointwise import PointwiseMetric

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

    def score(self, y: npt.ArrayLike, s: npt.ArrayLike) -> float:
        """Return the negative mean log loss.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels, +1 and -1.
        s : array-like of shape (n,)
            Scores, the log-odds of +1.

        Returns
        -------
        float
            At most 0.
        """
        margins = np.asarray(y, dtype=np.float64) * np.asarray(s, dtype=np.float64)
        return -float(np.mean(np.logaddexp(0.0, -margins)))

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
