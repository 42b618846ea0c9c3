r"""Is the difference real? Paired tests on one data set, and ranks over several (Demsar 2006)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special, stats

__all__ = [
    "Paired",
    "Ranks",
    "cliques",
    "critical_difference",
    "holm",
    "iman_davenport_f",
    "mean_ranks",
    "paired_tests",
]

Float: TypeAlias = npt.NDArray[np.float64]

# Up to so many splits the signed-rank test counts all signs that the differences could have.
MOST_COUNTED = 13


@dataclass(frozen=True)
class Paired:
    """Two methods on the same splits of one data set.

    Attributes
    ----------
    difference : float
        The mean of ours less theirs.
    standard_error : float
        Of that mean.
    t_test, wilcoxon : float
        Two-sided p-values of the paired t-test and of Wilcoxon's signed-rank test.
    wins, ties, losses : int
        Splits on which ours is better, equal, worse.
    corrected : float
        The p-value of the t-test corrected for splits that share rows (Nadeau and Bengio 2003); NaN where it is not
        known how large their parts are.

    Examples
    --------
    >>> paired_tests([0.8, 0.9, 0.7], [0.7, 0.7, 0.7]).wins
    2
    """

    difference: float
    standard_error: float
    t_test: float
    wilcoxon: float
    wins: int
    ties: int
    losses: int
    corrected: float = math.nan


def paired_tests(ours: npt.ArrayLike, theirs: npt.ArrayLike, test_to_train: float = math.nan) -> Paired:
    r"""Compare two methods on the same splits; more is better.

    The paired t-test and Wilcoxon's take the splits for independent. Random splits of the same rows are not: two equal
    methods then differ "significantly" far more often than the p-value says. The corrected resampled t-test puts

    .. math:: t = \frac{\bar d}{\sqrt{(1/k + n_\text{test} / n_\text{train})\, s_d^2}}

    in place of :math:`\bar d / \sqrt{s_d^2 / k}`, for k splits.

    Parameters
    ----------
    ours, theirs : array-like of shape (n_splits,)
        A measure, split by split.
    test_to_train : float, optional
        How many rows are tested for each that is trained on.

    Returns
    -------
    Paired
        Difference and p-values. With no difference at all these are 1; with one split they are NaN.

    References
    ----------
    C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52, 2003.

    Examples
    --------
    >>> result = paired_tests([0.61, 0.64, 0.60, 0.66, 0.62], [0.60, 0.62, 0.61, 0.62, 0.60])
    >>> round(result.difference, 3), round(result.t_test, 3), round(result.wilcoxon, 3)
    (0.016, 0.12, 0.188)
    """
    a, b = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or len(a) == 0:
        raise ValueError(f"ours and theirs must be of the same splits, got shapes {a.shape} and {b.shape} instead.")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("ours and theirs must be finite: leave out the splits where a method failed.")
    difference = a - b
    n = len(difference)
    error = float(difference.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    if n == 1:
        t_test = wilcoxon = corrected = np.nan
    elif not difference.any():
        t_test = wilcoxon = corrected = 1.0
    else:
        t_test = _t_test(difference, error)
        corrected = _t_test(difference, error * math.sqrt(1.0 + n * test_to_train))
        wilcoxon = _wilcoxon(difference[difference != 0.0])
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    return Paired(float(difference.mean()), error, t_test, wilcoxon, wins, n - wins - losses, losses, corrected)


def _t_test(difference: Float, error: float) -> float:
    """Return the two-sided p-value of a mean with this standard error."""
    # Equal differences have no spread: no chance could have made them.
    return 2.0 * float(special.stdtr(len(difference) - 1, -abs(difference.mean()) / error)) if error != 0.0 else 0.0


def _wilcoxon(difference: Float) -> float:
    """Return the p-value of the signed-rank test; no difference is zero.

    With few splits it is counted over all signs. scipy does the same, but where ranks are shared it takes a second.
    """
    if len(difference) > MOST_COUNTED:
        return float(stats.wilcoxon(difference).pvalue)
    ranks = stats.rankdata(np.abs(difference))
    sums = np.zeros(1)
    for rank in ranks:
        sums = np.concatenate([sums, sums + rank])
    less = min(ranks[difference > 0].sum(), ranks[difference < 0].sum())
    return min(1.0, 2.0 * float(np.mean(sums <= less + 1e-9)))


def holm(p: npt.ArrayLike) -> Float:
    r"""Return p-values corrected for how many there are (Holm 1979).

    The i-th smallest of k becomes :math:`\max_{j \le i} \min(1, (k - j + 1)\, p_{(j)})`.

    Parameters
    ----------
    p : array-like of shape (n_tests,)
        Raw p-values. NaN stays NaN, and does not count.

    Returns
    -------
    ndarray of shape (n_tests,)
        Corrected ones, in the same order.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p, dtype=np.float64)
    out = np.full(values.shape, np.nan)
    known = np.flatnonzero(np.isfinite(values))
    order = known[np.argsort(values[known], kind="stable")]
    steps = np.arange(len(order), 0, -1)
    out[order] = np.minimum(1.0, np.maximum.accumulate(steps * values[order]))
    return out


@dataclass(frozen=True)
class Ranks:
    """Several methods over several data sets.

    Attributes
    ----------
    ranks : ndarray of shape (n_methods,)
        Mean ranks; 1 is best.
    friedman : float
        The p-value of Friedman's test that all methods are alike.
    iman_davenport : float
        That of its less conservative correction.
    critical_difference : float
        Mean ranks further apart than this differ (Nemenyi).
    nemenyi : ndarray of shape (n_methods, n_methods)
        The p-values of all pairs.

    Examples
    --------
    >>> mean_ranks([[0.9, 0.8, 0.7], [0.8, 0.7, 0.9], [0.6, 0.5, 0.4]]).ranks.round(2)
    array([1.33, 2.33, 2.33])
    """

    ranks: Float
    friedman: float
    iman_davenport: float
    critical_difference: float
    nemenyi: Float


def mean_ranks(values: npt.ArrayLike, alpha: float = 0.05) -> Ranks:
    r"""Rank methods on each data set, and test whether their mean ranks differ.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        More is better. Equal values share their ranks.
    alpha : float, default=0.05
        The level of the critical difference.

    Returns
    -------
    Ranks
        Mean ranks and tests. With fewer than three methods, or two data sets, the tests are NaN.

    References
    ----------
    J. Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006.

    Examples
    --------
    >>> result = mean_ranks([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.6, 0.5, 0.4], [0.7, 0.6, 0.5]])
    >>> result.ranks, round(result.friedman, 4)
    (array([1., 2., 3.]), 0.0183)
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ValueError("values must be a finite table, a row a data set: leave out what is not complete.")
    n, k = table.shape
    ranks = stats.rankdata(-table, axis=1).mean(axis=0)
    difference = critical_difference(n, k, alpha) if k > 1 and n > 0 else np.nan
    if n < 2 or k < 3:
        return Ranks(ranks, np.nan, np.nan, difference, np.full((k, k), np.nan))
    if np.all(table == table[:, :1]):
        return Ranks(ranks, 1.0, 1.0, difference, np.ones((k, k)))
    test = stats.friedmanchisquare(*table.T)
    f = iman_davenport_f(float(test.statistic), n, k)
    iman_davenport = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    return Ranks(ranks, float(test.pvalue), iman_davenport, difference, _nemenyi(ranks, n))


def iman_davenport_f(chi2: float, n_datasets: int, n_methods: int) -> float:
    r"""Return Iman and Davenport's statistic, :math:`\frac{(n - 1) \chi^2}{n (k - 1) - \chi^2}`.

    Parameters
    ----------
    chi2 : float
        Friedman's statistic.
    n_datasets, n_methods : int
        n and k.

    Returns
    -------
    float
        Infinite where all data sets rank the methods alike.

    Examples
    --------
    >>> round(iman_davenport_f(9.28, 14, 4), 2)
    3.69
    """
    room = n_datasets * (n_methods - 1) - chi2
    return (n_datasets - 1) * chi2 / room if room > 1e-9 else math.inf


def _nemenyi(ranks: Float, n: int) -> Float:
    """Return the p-values of all pairs: the range of k normal variables, as for the critical difference."""
    k = len(ranks)
    q = np.abs(ranks[:, None] - ranks[None, :]) / np.sqrt(k * (k + 1) / (6.0 * n)) * np.sqrt(2.0)
    p: Float = np.clip(stats.studentized_range.sf(q, k, np.inf), 0.0, 1.0)
    return p


def critical_difference(n_datasets: int, n_methods: int, alpha: float = 0.05) -> float:
    r"""Return by how much two mean ranks must differ: :math:`q_\alpha \sqrt{k(k+1) / 6N}`.

    Parameters
    ----------
    n_datasets, n_methods : int
        N and k.
    alpha : float, default=0.05
        The level.

    Returns
    -------
    float
        Nemenyi's critical difference.

    Examples
    --------
    >>> round(critical_difference(14, 4), 2)  # the example of Demsar 2006
    1.25
    """
    q = float(stats.studentized_range.ppf(1.0 - alpha, n_methods, np.inf)) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_datasets)))


def cliques(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Return the groups of methods that do not differ, as first and last place in order of rank.

    Parameters
    ----------
    ranks : sequence of float
        Mean ranks in ascending order.
    difference : float
        The critical difference.

    Returns
    -------
    list of (int, int)
        Groups of at least two, none inside another.

    Examples
    --------
    >>> cliques([1.964, 2.0, 2.893, 3.143], 1.25)
    [(0, 3)]
    >>> cliques([1.0, 1.5, 3.0, 3.2], 0.7)
    [(0, 1), (2, 3)]
    """
    groups: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(place for place, other in enumerate(ranks) if other - rank <= difference)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups
