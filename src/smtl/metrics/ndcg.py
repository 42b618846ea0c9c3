r"""NDCG: the gain of a ranking that is discounted with the logarithm of the rank."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Offsets
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

    def score(self, y: npt.ArrayLike, s: npt.ArrayLike) -> float:
        """Return the NDCG.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels, +1 and -1.
        s : array-like of shape (n,)
            Scores.

        Returns
        -------
        float
            The NDCG; NaN where there is no positive.
        """
        rows, positives = (counts.astype(np.int64) for counts in blocks(y, s))
        if len(rows) == 0 or positives[-1] == 0:
            return float("nan")
        gain = np.cumsum(_discounts(int(rows[-1])))
        of_block, sizes = np.diff(gain[rows], prepend=0.0), np.diff(rows, prepend=0)
        return float(np.diff(positives, prepend=0) @ (of_block / sizes) / gain[positives[-1]])

    def fill(self, scores: Float, y: Labels, ptr: Offsets, c: Float, delta: Float, value: Float) -> None:  # noqa: D102
        from smtl.kernels.discounted import discounted_planes

        discounts = _discounts(int(np.diff(ptr).max(initial=0)))
        discounted_planes(discounts, False, scores, y, ptr, c, delta, value)


def _discounts(n: int) -> Float:
    """Return D of the ranks up to n, and zero for the rank 0 that there is not."""
    return np.concatenate([[0.0], 1.0 / np.log2(np.arange(2.0, n + 2.0))])
