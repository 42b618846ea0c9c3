r"""F-beta: the harmonic mean of precision and recall, recall weighted by beta squared."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from smtl.metrics.contingency import ContingencyMetric

__all__ = ["F1", "F2", "FBeta", "FHalf"]


class FBeta(ContingencyMetric):
    r"""The F-beta score.

    .. math:: F_\beta = \frac{(1 + \beta^2)\,TP}{(1 + \beta^2)\,TP + \beta^2\,FN + FP}, \qquad \Delta = 1 - F_\beta,

    with :math:`F_\beta = 0` where TP = 0, unless there is no positive in the truth and none in the answers: that is
    right, and worth 1. Otherwise it agrees with scikit-learn's ``fbeta_score``.

    For fixed TP = a the denominator is :math:`\beta^2 P + a + b` with b = FP, so :math:`\Delta` is concave in b, and
    the oracle takes :math:`O(n \log n)`. The best b never falls as a grows where :math:`\beta \ge 1`, but rises and
    then falls where :math:`\beta < 1`; walking in both directions is exact for either.

    Parameters
    ----------
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    References
    ----------
    T. Joachims, A support vector method for multivariate performance measures, ICML 2005.

    Examples
    --------
    >>> FBeta(beta=2).score([1, 1, -1, -1], [0.5, -0.2, 0.1, -1.0])
    0.5
    >>> delta, c = FBeta().oracle([0.5, -0.2, 0.1, -1.0], [1, 1, -1, -1])
    >>> delta, c
    (0.5, array([ 0.,  2., -2.,  0.]))
    """

    concave_in_fp = True
    convex_in_fn = True
    beta: float

    def __init__(self, beta: float = 1.0) -> None:
        if not (isinstance(beta, numbers.Real) and np.isfinite(beta) and beta > 0):
            raise ValueError(f"beta must be a positive number, got {beta!r} instead.")
        self.beta = beta

    def delta(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        r"""Return :math:`1 - F_\beta`.

        Parameters
        ----------
        tp, fp, fn, tn : float
            The contingency table.

        Returns
        -------
        float
            The loss.

        Examples
        --------
        >>> FBeta(beta=1).delta(1, 1, 1, 0)
        0.5
        """
        if tp == 0.0:
            return 1.0 if fn + fp > 0.0 else 0.0
        weight = self.beta * self.beta
        return (weight * fn + fp) / ((1.0 + weight) * tp + weight * fn + fp)


class F1(FBeta):
    """F-beta with beta = 1: precision and recall count the same.

    Examples
    --------
    >>> F1().score([1, 1, -1], [1.0, -1.0, -1.0])
    0.6666666666666667
    """

    name = "f1"

    def __init__(self) -> None:
        super().__init__(1.0)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class F2(FBeta):
    """F-beta with beta = 2: recall counts more.

    Examples
    --------
    >>> F2().beta
    2.0
    """

    name = "f2"

    def __init__(self) -> None:
        super().__init__(2.0)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class FHalf(FBeta):
    """F-beta with beta = 0.5: precision counts more.

    Examples
    --------
    >>> FHalf().beta
    0.5
    """

    name = "f0.5"

    def __init__(self) -> None:
        super().__init__(0.5)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
