r"""AUC over labellings: the paper's equation for AUC, read literally."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from smtl.metrics.auc import AUC
from smtl.metrics.contingency import ContingencyMetric

__all__ = ["AUCLabelling"]


class AUCLabelling(ContingencyMetric):
    r"""The area under the ROC curve, trained on labellings: :math:`\Delta = \frac{FP \cdot FN}{PN}`.

    A labelling swaps the pairs of a missed positive and a false positive. Unlike the pairwise loss it depends on the
    cut, and its score is the AUC all the same. For fixed TP it is linear in FP.

    Examples
    --------
    >>> AUCLabelling().oracle([0.5, -0.2, 0.1, -1.0], [1, 1, -1, -1])
    (0.25, array([ 0.,  2., -2.,  0.]))
    """

    name = "auc-labelling"
    has_cut = False
    judges_answers = False
    concave_in_fp = True
    convex_in_fn = True

    def delta(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        r"""Return :math:`\frac{FP \cdot FN}{PN}`.

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
        >>> AUCLabelling().delta(1.0, 2.0, 1.0, 2.0)
        0.25
        """
        return (fp * fn) / ((tp + fn) * (fp + tn))

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
        return AUC().score(y, s, weights)
