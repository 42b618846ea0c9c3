r"""Scores as log odds: a logistic curve a task, its slope shrunk to the slope that all tasks share."""

from __future__ import annotations

from dataclasses import dataclass
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


class _Entries(NamedTuple):
    """What is fitted to: labelled and scored entries of all tasks."""

    task: npt.NDArray[np.int64]
    scores: Float
    wanted: Float
    n_tasks: int

    def sums(self, values: Float) -> Float:
        return np.asarray(np.bincount(self.task, weights=values, minlength=self.n_tasks), dtype=np.float64)


def logistic_curves(held: HeldOut, without: int | None = None) -> Curves:
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
    entries, centre, scale, rarer = _entries(held, without)
    m = held.n_tasks
    start = np.zeros(m), np.log((entries.sums(entries.wanted) + 1e-9) / (entries.sums(1.0 - entries.wanted) + 1e-9))
    start = _newton(entries, *start, slopes="shared")
    shared = np.maximum(start[0], 0.0)
    start = _newton(entries, *start, slopes="own")
    own = np.maximum(start[0], 0.0)
    slope = (rarer * own + SHRINKAGE * shared) / (rarer + SHRINKAGE)
    _, intercept = _newton(entries, slope, start[1], slopes="fixed")
    slope = slope / scale
    unseen = entries.sums(np.ones(len(entries.task))) == 0.0
    return Curves(slope, np.where(unseen, held.targets.constants(), intercept - slope * centre))


def _entries(held: HeldOut, without: int | None) -> tuple[_Entries, Float, float, Float]:
    """Return the entries with centred scores of one scale, the centres, the scale, and rows of the rarer classes."""
    kept = None if without is None else held.without(without)
    m, centre, rarer = held.n_tasks, np.zeros(held.n_tasks), np.zeros(held.n_tasks)
    tasks, scores, wanted = [], [], []
    for i, (places, y, s) in enumerate(held.columns()):
        if kept is not None:
            mine = kept[places]
            y, s = y[mine], s[mine]
        if len(s) == 0:
            continue
        n_pos, n_neg = np.count_nonzero(y > 0), np.count_nonzero(y < 0)
        centre[i], rarer[i] = s.mean(), min(n_pos, n_neg)
        tasks.append(np.full(len(s), i))
        scores.append(s - centre[i])
        wanted.append(np.where(y > 0, (n_pos + 1.0) / (n_pos + 2.0), 1.0 / (n_neg + 2.0)))
    if not tasks:
        return _Entries(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), m), centre, 1.0, rarer
    everything = np.concatenate(scores)
    scale = float(np.sqrt(np.mean(everything**2))) or 1.0
    return _Entries(np.concatenate(tasks), everything / scale, np.concatenate(wanted), m), centre, scale, rarer


def _newton(entries: _Entries, slope: Float, intercept: Float, *, slopes: str) -> tuple[Float, Float]:
    """Return slopes and intercepts of the greatest likelihood; slopes are "own", "shared" or "fixed"."""
    a, b = slope, intercept
    loss = _losses(entries, a, b)
    for _ in range(N_STEPS):
        da, db = _step(entries, a, b, slopes)
        size = np.ones(entries.n_tasks)
        for _ in range(N_STEPS):
            new = _losses(entries, a + size * da, b + size * db)
            # Sums over many rows have rounding errors. Near the optimum they must not look like a step too long.
            worse = new > loss + ROUNDING * (1.0 + loss)
            if slopes == "shared":
                worse = np.full(len(worse), new.sum() > loss.sum() + ROUNDING * (1.0 + loss.sum()))
            if not worse.any():
                break
            size = np.where(worse, 0.5 * size, size)
        a, b, loss = a + size * da, b + size * db, new
        if max(np.abs(size * da).max(initial=0.0), np.abs(size * db).max(initial=0.0)) < TOLERANCE:
            break
    return a, b


def _losses(entries: _Entries, a: Float, b: Float) -> Float:
    """Return the negative log likelihood of each task."""
    odds = a[entries.task] * entries.scores + b[entries.task]
    return entries.sums(np.logaddexp(0.0, odds) - entries.wanted * odds)


def _step(entries: _Entries, a: Float, b: Float, slopes: str) -> tuple[Float, Float]:
    """Return Newton's step of slopes and intercepts."""
    s = entries.scores
    p = expit(a[entries.task] * s + b[entries.task])
    rest, weight = entries.wanted - p, p * (1.0 - p)
    g_b, h_bb = entries.sums(rest), np.maximum(entries.sums(weight), 1e-12)
    if slopes == "fixed":
        return np.zeros_like(a), g_b / h_bb
    g_a, h_ab, h_aa = entries.sums(rest * s), entries.sums(weight * s), entries.sums(weight * s * s)
    # The intercepts are eliminated: what is left of the slope's equation when they follow.
    gain, curvature = g_a - h_ab * g_b / h_bb, h_aa - h_ab**2 / h_bb
    if slopes == "shared":
        gain, curvature = np.full_like(a, gain.sum()), np.full_like(a, curvature.sum())
    # Where scores are all the same, any slope will do.
    da = np.where(curvature > 1e-12, gain / np.maximum(curvature, 1e-12), 0.0)
    return da, (g_b - h_ab * da) / h_bb
