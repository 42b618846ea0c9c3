r"""Partial AUC: the area under the ROC curve where few negatives are above the positives."""

from __future__ import annotations

import functools
import numbers

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Metric, Offsets, Planes, plane_of_one
from smtl.metrics.ranking import blocks

__all__ = ["PartialAUC"]


class PartialAUC(Metric):
    r"""The area under the ROC curve up to a false-positive rate :math:`\beta`, trained on pairs.

    .. math:: G(s) = \frac{1}{P \beta N} \sum_p \sum_{q \in T} v_q \max(0, 1 - (s_p - s_q))

    over the pairs of all P positives with the set T of the :math:`\beta N` highest of the N negatives. :math:`v_q` is
    1, but for the last of them, which counts by the fraction that is left. No other set of negatives gives more, so
    :math:`G` is the largest over all such sets: convex, and at least :math:`1 - \mathrm{A}/\beta` for the area A.
    With :math:`\beta = 1` it is the loss of `AUC`. Only the negatives of T are sorted.

    Its score is the standardised area of scikit-learn's ``roc_auc_score(max_fpr=...)``,
    :math:`\frac12\left(1 + \frac{A - \beta^2/2}{\beta - \beta^2/2}\right)`: 1 is perfect, 0.5 is chance. That is
    linear in A, so training for one is training for the other.

    Parameters
    ----------
    max_fpr : float, default=0.1
        The false-positive rate :math:`\beta`, above 0 and at most 1.

    References
    ----------
    H. Narasimhan, S. Agarwal, SVM_pAUC^tight: a new support vector method for optimizing partial AUC based on a tight
    convex upper bound, KDD 2013.

    Examples
    --------
    >>> PartialAUC(max_fpr=0.5).oracle([0.0, 0.5, 0.2, -3.0], [1, -1, -1, -1])
    (1.0, array([ 1.        , -0.66666667, -0.33333333,  0.        ]))
    """

    name = "pauc"
    has_cut = False
    uses_intercept = False
    max_fpr: float

    def __init__(self, max_fpr: float = 0.1) -> None:
        if not (isinstance(max_fpr, numbers.Real) and 0.0 < max_fpr <= 1.0):
            raise ValueError(f"max_fpr must be a number above 0 and at most 1, got {max_fpr!r} instead.")
        self.max_fpr = max_fpr

    def score(self, y: npt.ArrayLike, s: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
        """Return the standardised partial area under the ROC curve.

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
            1 for a perfect order, about 0.5 for chance; NaN where the labels are of one class only.
        """
        rows, positives = blocks(y, s, weights)
        if len(rows) == 0 or positives[-1] in (0, rows[-1]):
            return float("nan")
        fpr = np.append(0.0, (rows - positives) / (rows[-1] - positives[-1]))
        tpr = np.append(0.0, positives / positives[-1])
        inside = fpr <= self.max_fpr
        across = np.append(fpr[inside], self.max_fpr)
        up = np.append(tpr[inside], np.interp(self.max_fpr, fpr, tpr))
        area = 0.5 * np.diff(across) @ (up[1:] + up[:-1])
        least = 0.5 * self.max_fpr**2
        return float(0.5 * (1.0 + (area - least) / (self.max_fpr - least)))

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
            What each row counts; a pair counts the product, and the share of the negatives is one of their weight.

        Returns
        -------
        delta, c, value : ndarray
            As in `Metric.planes`.
        """
        from smtl.kernels.top_pairs import top_pairs_planes

        m = len(ptr) - 1
        delta, value, c = np.empty(m), np.empty(m), np.zeros(len(scores))
        each = np.empty(0) if weights is None else weights
        top_pairs_planes(float(self.max_fpr), scores, y, each, ptr, c, delta, value)
        return delta, c, value

    def oracle(self, scores: npt.ArrayLike, y: npt.ArrayLike) -> tuple[float, Float]:  # noqa: D102
        return plane_of_one(functools.partial(PartialAUC.planes, self), scores, y)
