r"""The Jaccard index, intersection over union."""

from __future__ import annotations

from typing import Any

from smtl.metrics.contingency import ContingencyMetric

__all__ = ["Jaccard"]


class Jaccard(ContingencyMetric):
    r"""The Jaccard index :math:`TP / (TP + FP + FN)`; :math:`\Delta = (FP + FN) / (TP + FP + FN)`.

    It agrees with scikit-learn's ``jaccard_score``, but is 1 where there is no positive in the truth and none in the
    answers. For fixed TP it is concave in FP.

    Examples
    --------
    >>> Jaccard().score([1, 1, -1, -1], [1.0, -1.0, 1.0, -1.0])
    0.33333333333333337
    """

    name = "jaccard"
    concave_in_fp = True
    convex_in_fn = True

    def delta(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        r"""Return :math:`1 - TP / (TP + FP + FN)`.

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
        >>> Jaccard().delta(2.0, 1.0, 1.0, 5.0)
        0.5
        """
        wrong = fp + fn
        return wrong / (tp + wrong) if wrong > 0.0 else 0.0
