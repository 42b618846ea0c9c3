r"""Matthews' correlation coefficient of the answers and the truth."""

from __future__ import annotations

import math
from typing import Any

from smtl.metrics.contingency import ContingencyMetric

__all__ = ["MCC"]


class MCC(ContingencyMetric):
    r"""Matthews' correlation coefficient.

    .. math:: \mathrm{MCC} = \frac{TP \cdot TN - FP \cdot FN}{\sqrt{(TP + FP)(TP + FN)(TN + FP)(TN + FN)}},
              \qquad \Delta = 1 - \mathrm{MCC},

    and 0 where all answers are the same, as in scikit-learn's ``matthews_corrcoef``.

    For fixed TP it is neither concave nor convex in FP: the oracle tries all tables, :math:`O(PN)`.

    Examples
    --------
    >>> MCC().score([1, 1, -1, -1], [0.5, -0.2, -0.1, -1.0])
    0.5773502691896258
    """

    name = "mcc"

    def delta(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        r"""Return :math:`1 - \mathrm{MCC}`.

        Parameters
        ----------
        tp, fp, fn, tn : float
            The contingency table.

        Returns
        -------
        float
            The loss, between 0 and 2.

        Examples
        --------
        >>> MCC().delta(1, 1, 1, 1), MCC().delta(0, 2, 2, 0)
        (1.0, 2.0)
        """
        same = (tp + fp) * (tn + fn)
        if same == 0.0:
            return 1.0
        if fp + fn == 0.0:
            return 0.0  # exactly, whatever the square roots are rounded to
        return 1.0 - (tp * tn - fp * fn) / math.sqrt(same * ((tp + fn) * (tn + fp)))
