r"""Scores as log odds: a logistic curve a task, its slope shrunk to the slope that all tasks share."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from smtl.estimators.held_out import HeldOut

__all__ = ["SHRINKAGE", "Curves", "logistic_curves"]

Float: TypeAlias = npt.NDArray[np.float64]

SHRINKAGE = 20.0  # weight of the shared slope, in rows of the rarer class
N_STEPS = 50  # the most Newton steps of a fit; five to ten are usual
ROUNDING = 1e-12  # relative error of a sum over rows
TOLERANCE = 1e-6  # a fit ends when no log odds of a typical row move by more


@dataclass
class Curves:
    r"""A curve for each task: the log odds of yes are :math:`a_i s + b_i`.

    Attributes
    ----------
    slope : ndarray of shape (n_tasks,)
        :math:`a_i`, never negative.
    intercept : ndarray of shape (n_tasks,)
        :math:`b_i`.

    Examples
    --------
    >>> Curves(np.array([2.0]), np.array([-1.0])).log_odds(np.array([[0.5], [1.0]]))
    array([[0.],
           [1.]])
    """

    slope: Float
    intercept: Float

    def log_odds(self, scores: Float, task: npt.NDArray[np.int64] | None = None) -> Float:
        """Return scores as log odds.

        Parameters
        ----------
        scores : ndarray of shape (n, n_tasks) or (n,)
            Scores, a column a task; or a vector where each row has a task of its own.
        task : ndarray of int64 of shape (n,), optional
            The task of each row, for a vector.

        Returns
        -------
        ndarray
            Of the shape of ``scores``.
        """
        if task is None:
            return scores * self.slope + self.intercept
        return scores * self.slope[task] + self.intercept[task]

    def probability(self, scores: Float, task: npt.NDArray[np.int64] | None = None) -> Float:
        """Return the probability of yes.

        Parameters
        ----------
        scores, task
            As in `log_odds`.

        Returns
        -------
        ndarray
            Of the shape of ``scores``.
        """
        return np.asarray(expit(self.log_odds(scores, task)))


class _Entries(NamedTuple):
    """What is fitted to: labelled and scored entries, those of task i at ``ptr[i]:ptr[i + 1]``."""

    ptr: npt.NDArray[np.int64]
    scores: Float
    wanted: Float
    each: Float  # what each counts; empty where all count the same

    @property
    def n_tasks(self) -> int:
        return len(self.ptr) - 1


class _Sums(NamedTuple):
    """The negative log likelihood of each task, its slope and its curvature, by intercept (b) and slope (a)."""

    loss: Float
    g_b: Float
    h_bb: Float
    g_a: Float
    h_ab: Float
    h_aa: Float


def logistic_curves(held: HeldOut, without: int | None = None, *, weighted: bool = False) -> Curves:
    r"""Fit a logistic curve to each task's held-out scores.

    With :math:`p_i` rows of the rarer class, a task's slope is

    .. math:: a_i = \frac{p_i\, a_i^{\text{own}} + 20\, a^{\text{shared}}}{p_i + 20},

    where both slopes maximise the likelihood among those that are not negative. The shared one is for scores as they
    are: tasks whose scores mean different things should be brought to one scale first. The intercept is the best for
    the slope.

    Parameters
    ----------
    held : HeldOut
        Held-out scores.
    without : int, optional
        The fold whose rows are left out.
    weighted : bool, default=False
        Whether labels count what ``held.targets.weights`` says, where that is given.

    Returns
    -------
    Curves
        A slope and an intercept for each task. A task without rows has the shared slope, and the log odds of its
        labels at score zero.

    Notes
    -----
    A free slope is negative by chance where a task is rare, and turns its ranking round. Labels count as
    :math:`(p + 1)/(p + 2)` and :math:`1/(n + 2)` instead of 1 and 0 (p positives, n negatives): so slopes are finite
    where scores separate the classes.

    References
    ----------
    J. Platt, Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods, 1999.

    Examples
    --------
    >>> from smtl.estimators.held_out import Fold
    >>> from smtl.estimators.targets import read_targets
    >>> X, none = np.array([[2.0], [1.0], [-1.0], [-2.0]]), np.zeros(0, dtype=np.int64)
    >>> fold = Fold(none, np.arange(4), none, None)
    >>> curves = logistic_curves(HeldOut(read_targets(X, [1, 0, 1, 0]), [fold], [X]))
    >>> curves.slope.round(2), abs(curves.intercept.round(2))
    (array([0.2]), array([0.]))
    """
    entries, centre, scale, rarer = _entries(held, without, held.targets.weights if weighted else None)
    n_entries = np.diff(entries.ptr)
    n_wanted = np.array([entries.wanted[a:b].sum() for a, b in pairwise(entries.ptr)])
    start = np.zeros(held.n_tasks), np.log((n_wanted + 1e-9) / (n_entries - n_wanted + 1e-9))
    start = _newton(entries, *start, slopes="shared")
    shared = np.maximum(start[0], 0.0)
    start = _newton(entries, *start, slopes="own")
    own = np.maximum(start[0], 0.0)
    slope = (rarer * own + SHRINKAGE * shared) / (rarer + SHRINKAGE)
    _, intercept = _newton(entries, slope, start[1], slopes="fixed")
    slope = slope / scale
    return Curves(slope, np.where(n_entries == 0, held.targets.constants(), intercept - slope * centre))


def _entries(held: HeldOut, without: int | None, weights: Float | None) -> tuple[_Entries, Float, float, Float]:
    """Return the entries with centred scores of one scale, the centres, the scale, and rows of the rarer classes."""
    kept = None if without is None else held.without(without)
    centre, rarer, count = np.zeros(held.n_tasks), np.zeros(held.n_tasks), np.zeros(held.n_tasks, dtype=np.int64)
    scores, wanted, each = [np.zeros(0)], [np.zeros(0)], [np.zeros(0)]
    for i, (places, y, s) in enumerate(held.columns()):
        if kept is not None:
            mine = kept[places]
            places, y, s = places[mine], y[mine], s[mine]
        if len(s) == 0:
            continue
        if weights is not None:
            each.append(weights[places] if weights.ndim == 1 else weights[places, i])
        n_pos, n_neg = np.count_nonzero(y > 0), np.count_nonzero(y < 0)
        centre[i], rarer[i], count[i] = s.mean(), min(n_pos, n_neg), len(s)
        scores.append(s - centre[i])
        wanted.append(np.where(y > 0, (n_pos + 1.0) / (n_pos + 2.0), 1.0 / (n_neg + 2.0)))
    everything = np.concatenate(scores)
    scale = (float(np.sqrt(np.mean(everything**2))) if len(everything) else 0.0) or 1.0
    ptr = np.concatenate([[0], np.cumsum(count)])
    return _Entries(ptr, everything / scale, np.concatenate(wanted), np.concatenate(each)), centre, scale, rarer


def _newton(entries: _Entries, slope: Float, intercept: Float, *, slopes: str) -> tuple[Float, Float]:
    """Return slopes and intercepts of the greatest likelihood; slopes are "own", "shared" or "fixed"."""
    a, b = slope, intercept
    sums = _sums(entries, a, b)
    for _ in range(N_STEPS):
        da, db = _step(sums, slopes)
        size = np.ones(entries.n_tasks)
        for _ in range(N_STEPS):
            new = _sums(entries, a + size * da, b + size * db)
            # Sums over many rows have rounding errors. Near the optimum they must not look like a step too long.
            worse = new.loss > sums.loss + ROUNDING * (1.0 + sums.loss)
            if slopes == "shared":
                before = sums.loss.sum()
                worse = np.full(len(worse), new.loss.sum() > before + ROUNDING * (1.0 + before))
            if not worse.any():
                break
            size = np.where(worse, 0.5 * size, size)
        a, b, sums = a + size * da, b + size * db, new
        if max(np.abs(size * da).max(initial=0.0), np.abs(size * db).max(initial=0.0)) < TOLERANCE:
            break
    return a, b


def _sums(entries: _Entries, a: Float, b: Float) -> _Sums:
    """Return the sums at some slopes and intercepts."""
    from smtl.kernels.logistic import curve_sums  # predicting imports no numba

    out = np.empty((entries.n_tasks, len(_Sums._fields)))
    curve_sums(entries.scores, entries.wanted, entries.each, entries.ptr, a, b, out)
    return _Sums(*out.T)


def _step(sums: _Sums, slopes: str) -> tuple[Float, Float]:
    """Return Newton's step of slopes and intercepts."""
    g_b, h_bb = sums.g_b, np.maximum(sums.h_bb, 1e-12)
    if slopes == "fixed":
        return np.zeros_like(g_b), g_b / h_bb
    # The intercepts are eliminated: what is left of the slope's equation when they follow.
    gain, curvature = sums.g_a - sums.h_ab * g_b / h_bb, sums.h_aa - sums.h_ab**2 / h_bb
    if slopes == "shared":
        gain, curvature = np.full_like(g_b, gain.sum()), np.full_like(g_b, curvature.sum())
    # Where scores are all the same, any slope will do.
    da = np.where(curvature > 1e-12, gain / np.maximum(curvature, 1e-12), 0.0)
    return da, (g_b - sums.h_ab * da) / h_bb
