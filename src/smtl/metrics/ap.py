r"""Average precision: the area under the curve of precision and recall."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Offsets
from smtl.metrics.discounting import fill_discounted, most_ranks
from smtl.metrics.ranking import RankingMetric, blocks

__all__ = ["AveragePrecision"]


class AveragePrecision(RankingMetric):
    r"""Average precision, trained on rankings.

    .. math:: G(s) = \max_\pi \; 1 - \mathrm{AP}(\pi) - \frac{1}{PN} \sum_{(p, q) \text{ swapped in } \pi} (s_p - s_q)

    over all rankings :math:`\pi` of P positives and N negatives, where a pair of a positive p and a negative q is
    swapped if q stands above p. With the positives in descending order, and :math:`m_i` negatives above the i-th,

    .. math:: 1 - \mathrm{AP} = \frac1P \sum_{i=1}^P \frac{m_i}{i + m_i}.

    :math:`\Delta` is that, and :math:`c_k` is :math:`+1/(PN)` for each swapped pair of a positive k and
    :math:`-1/(PN)` for each of a negative k. Each negative has a best place among the positives, found by halving:
    exact, in two sorts and :math:`O((P + N) + P \log N)`.

    Its score agrees with scikit-learn's ``average_precision_score``: rows of equal scores count together.

    References
    ----------
    Y. Yue, T. Finley, F. Radlinski, T. Joachims, A support vector method for optimizing average precision, SIGIR 2007.

    P. Mohapatra, M. Rolinek, C. V. Jawahar, V. Kolmogorov, M. P. Kumar, Efficient optimization for rank-based loss
    functions, CVPR 2018.

    Examples
    --------
    >>> AveragePrecision().score([1, -1, 1, -1], [0.9, 0.8, 0.7, 0.1])
    0.8333333333333333
    >>> delta, c = AveragePrecision().oracle([2.0, -1.5, -1.0, -3.0], [1, 1, -1, -1])
    >>> float(delta), c
    (0.16666666666666669, array([ 0.  ,  0.25, -0.25,  0.  ]))
    """

    name = "ap"

    def score(self, y: npt.ArrayLike, s: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
        """Return the average precision.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels, +1 and -1.
        s : array-like of shape (n,)
            Scores.
        weights : array-like of shape (n,), optional
            What each row counts.

        Returns
        -------
        float
            The average precision; NaN where there is no positive.
        """
        rows, positives = blocks(y, s, weights)
        if len(rows) == 0 or positives[-1] == 0:
            return float("nan")
        return float(np.diff(positives, prepend=0) @ (positives / rows) / positives[-1])

    def fill(  # noqa: D102
        self,
        scores: Float,
        y: Labels,
        ptr: Offsets,
        c: Float,
        delta: Float,
        value: Float,
        weights: Float | None = None,
    ) -> None:
        ranks = np.arange(1.0, most_ranks(y, ptr, weights) + 1.0)
        fill_discounted(np.concatenate([[0.0], 1.0 / ranks]), True, scores, y, ptr, c, delta, value, weights)
