"""What a value of C of one candidate scores on all folds, and which point of a search is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl import messages
from smtl.estimators.held_out import Fold, HeldOut
from smtl.estimators.thresholds import Cuts, Judge

__all__ = ["Point", "choose", "forget_losers", "report_an_open_end"]

Float: TypeAlias = npt.NDArray[np.float64]


@dataclass
class Point:
    """One C of one candidate, on all folds.

    Attributes
    ----------
    candidate : int
        Which combination of metric, penalty and ridge.
    C : float
        The value of C.
    scores, gaps : ndarray of shape (n_folds,)
        Scores of the held-out parts, and certified gaps of the models.
    n_iters : ndarray of int of shape (n_folds,)
        Numbers of iterations.
    seconds : float
        Wall-clock time, all folds.
    cuts : Cuts or None
        The thresholds that the held-out scores give; None if they were not needed to score the point.
    held : HeldOut or None
        The held-out scores; None once they are forgotten.
    coef : ndarray of shape (n_tasks, n_features)
        Weights, averaged over the folds.
    intercept : ndarray of shape (n_tasks,)
        Intercepts, averaged over the folds.
    modelled : ndarray of bool of shape (n_tasks,)
        Whether any fold has a model of the task.
    guide : ndarray of shape (n_folds,)
        What points are compared by; the scores, unless a search has a guide.
    judge : callable or None
        What one of scikit-learn's scorers says of a fold and its cuts; None where the scorer is another.
    coarse : bool
        Whether the models stopped early, for a first look.
    folds : list of Fold
        The folds; empty once they are forgotten.
    models : list of (W, intercept)
        Their models; empty once they are forgotten.
    """

    candidate: int
    C: float
    scores: Float
    gaps: Float
    n_iters: npt.NDArray[np.int64]
    seconds: float
    cuts: Cuts | None
    held: HeldOut | None
    coef: Float
    intercept: Float
    modelled: npt.NDArray[np.bool_]
    guide: Float
    judge: Judge | None = None
    coarse: bool = False
    folds: Sequence[Fold] = ()
    models: Sequence[tuple[Float, Float]] = ()

    def forget(self) -> None:
        """Empty what is only needed of the chosen point, and is by far the most memory."""
        self.coef, self.held, self.judge = np.zeros((0, 0)), None, None
        self.folds, self.models = (), ()

    @property
    def known(self) -> Float:
        """What points are compared by, of the folds that have it."""
        return self.guide[~np.isnan(self.guide)]

    @property
    def mean(self) -> float:
        """The mean over the folds; minus infinity if none has a score."""
        return float(self.known.mean()) if len(self.known) else -np.inf

    @property
    def standard_error(self) -> float:
        """The standard error of the mean."""
        n = len(self.known)
        return float(self.known.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0


def choose(points: Sequence[Point], selection: str) -> Point:
    """Return the chosen point.

    Parameters
    ----------
    points : list of Point
        In ascending order of C for each candidate.
    selection : {"best", "1se"}
        The best mean of what points are compared by (the least such C); or the least C of the same candidate whose
        mean is within one standard error of it.

    Returns
    -------
    Point
        One of them.
    """
    closely = [point for point in points if not point.coarse]
    points = closely or points  # a first look decides only if there was no time for more
    best = max(points, key=lambda point: point.mean)  # the first of equals
    if selection == "best":
        return best
    return next(
        point for point in points if point.candidate == best.candidate and point.mean >= best.mean - best.standard_error
    )


def forget_losers(points: Sequence[Point], selection: str) -> None:
    """Empty the points that can no longer be chosen.

    Parameters
    ----------
    points : list of Point
        Those that are done.
    selection : {"best", "1se"}
        How one will be chosen.
    """
    leader = choose(points, "best")
    # With "1se" an earlier C of the leading candidate may be chosen, and the one being searched may lead yet.
    open_to = set() if selection == "best" else {leader.candidate, points[-1].candidate}
    for point in points:
        if point is not leader and point.candidate not in open_to:
            point.forget()


def report_an_open_end(C: float, Cs: Float, scores: Float, grid: Float) -> None:
    """Warn where the largest C is the best one, and scores still rise there by more than their standard error.

    Parameters
    ----------
    C : float
        The chosen one.
    Cs : ndarray of shape (n_Cs,)
        The values that were tried with the chosen metric and penalty.
    scores : ndarray of shape (n_folds, n_Cs)
        Their scores.
    grid : ndarray
        All values that there were to try.
    """
    if len(Cs) == 1 or grid[-1] > C:
        return
    rises = scores[:, -1] - scores[:, -2]
    rises = rises[np.isfinite(rises)]
    if len(rises) > 1 and np.mean(rises) > np.std(rises, ddof=1) / np.sqrt(len(rises)):
        messages.warn(
            f"The best C, {C:.4g}, is the largest of the {len(grid)} that were tried, and scores still "
            f"rise there: a larger one may be better. Give Cs as a list that goes on to {10 * C:.2g}, say."
        )
