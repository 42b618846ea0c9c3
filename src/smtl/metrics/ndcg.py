r"""NDCG: the gain of a ranking that is discounted with the logarithm of the rank."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Offsets
from smtl.metrics.discounting import fill_discounted, gain_of_ranks, most_ranks
from smtl.metrics.ranking import RankingMetric, blocks

__all__ = ["NDCG"]


class NDCG(RankingMetric):
    r"""Normalised discounted cumulative gain of yes/no labels, trained on rankings.

    .. math:: G(s) = \max_\pi \; 1 - \mathrm{NDCG}(\pi) - \frac{1}{PN} \sum_{(p, q) \text{ swapped in } \pi} (s_p - s_q)

    as for `AveragePrecision`, with

    .. math:: \mathrm{NDCG} = \frac{\sum_{p} D(\text{rank of } p)}{\sum_{i=1}^{P} D(i)}, \qquad
              D(r) = \frac{1}{\log_2(1 + r)}.

    All ranks count. Cutting the sum off at some rank would leave D no longer convex, and the oracle no longer exact.

    Its score agrees with scikit-learn's ``ndcg_score`` of one list: rows of equal scores share their ranks' gains.

    References
    ----------
    S. Chakrabarti, R. Khanna, U. Sawant, C. Bhattacharyya, Structured learning for non-smooth ranking losses, KDD 2008.

    P. Mohapatra, M. Rolinek, C. V. Jawahar, V. Kolmogorov, M. P. Kumar, Efficient optimization for rank-based loss
    functions, CVPR 2018.

    Examples
    --------
    >>> NDCG().score([1, -1], [0.1, 0.9])
    0.6309297535714575
    >>> NDCG().oracle([0.0, 0.0], [1, -1])
    (0.36907024642854247, array([ 1., -1.]))
    """

    name = "ndcg"

    def score(self, y: npt.ArrayLike, s: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
        """Return the NDCG.

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
            The NDCG; NaN where there is no positive.
        """
        rows, positives = blocks(y, s, weights)
        if len(rows) == 0 or positives[-1] == 0:
            return float("nan")
        of_block, sizes = np.diff(gain_of_ranks(rows), prepend=0.0), np.diff(rows, prepend=0.0)
        ideal = gain_of_ranks(positives[-1:])[0]
        return float(np.diff(positives, prepend=0.0) @ (of_block / sizes) / ideal)

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
        discounts = np.concatenate([[0.0], 1.0 / np.log2(np.arange(2.0, most_ranks(y, ptr, weights) + 2.0))])
        fill_discounted(discounts, False, scores, y, ptr, c, delta, value, weights)
