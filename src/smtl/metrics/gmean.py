r"""The geometric mean of the two classes' recalls."""

from __future__ import annotations

from typing import Any

from smtl.metrics.contingency import ContingencyMetric

__all__ = ["GMean"]


class GMean(ContingencyMetric):
    r"""The G-mean :math:`\sqrt{\mathrm{TPR} \cdot \mathrm{TNR}}`, with one minus it as :math:`\Delta`.

    For fixed TP the loss is *convex* in FP, so no shorter way is known than to try all tables: :math:`O(PN)`.

    Examples
    --------
    >>> GMean().score([1, 1, -1, -1], [1.0, -1.0, 1.0, -1.0])
    0.5
    """

    name = "gmean"
    convex_in_fn = True

    def delta(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        r"""Return :math:`1 - \sqrt{\frac{TP}{TP + FN} \frac{TN}{TN + FP}}`.

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
        >>> GMean().delta(1.0, 0.0, 3.0, 4.0)
        0.5
        """
        return 1.0 - ((tp / (tp + fn)) * (tn / (tn + fp))) ** 0.5
