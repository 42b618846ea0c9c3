r"""Balanced error: the mean of the error rates of the two classes."""

from __future__ import annotations

from typing import Any

from smtl.metrics.contingency import ContingencyMetric

__all__ = ["BalancedError"]


class BalancedError(ContingencyMetric):
    r"""Balanced accuracy: :math:`\Delta = \frac12 \left( \frac{FN}{P} + \frac{FP}{N} \right)`.

    The score, one minus that, agrees with scikit-learn's ``balanced_accuracy_score``. For fixed TP it is linear in FP.

    Examples
    --------
    >>> BalancedError().score([1, 1, -1, -1], [0.5, -0.2, -0.1, -1.0])
    0.75
    """

    name = "balanced-error"
    concave_in_fp = True
    convex_in_fn = True

    def delta(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        r"""Return :math:`\frac12 \left( \frac{FN}{P} + \frac{FP}{N} \right)`.

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
        >>> BalancedError().delta(3, 2, 1, 8)
        0.225
        """
        return 0.5 * fn / (tp + fn) + 0.5 * fp / (fp + tn)
