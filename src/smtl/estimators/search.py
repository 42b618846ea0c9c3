"""Cross-validation along the path: every C on every fold, and what it scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from smtl import messages
from smtl.estimators.classifier import SMTLClassifier
from smtl.estimators.held_out import Fold, HeldOut, fold_problems, scores_of
from smtl.estimators.scoring import TaskScorer, columns_of_fold, judges_answers
from smtl.estimators.targets import Targets
from smtl.estimators.thresholds import Cuts, Judge, choose_cuts
from smtl.metrics import Metric
from smtl.penalties import Penalty
from smtl.solvers import Solution, solve_path

__all__ = ["Data", "Point", "choose", "forget_losers", "report_an_open_end", "search"]

Float: TypeAlias = npt.NDArray[np.float64]
Model: TypeAlias = tuple[Float, Float]


@dataclass
class Data:
    """What is cross-validated on.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    y : array-like
        Labels as the user gave them.
    targets : Targets
        The same labels.
    splits : list of (train, test)
        Rows of each split.
    """

    X: Any
    y: Any
    targets: Targets
    splits: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]


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

    def forget(self) -> None:
        """Empty what is only needed of the chosen point, and is by far the most memory."""
        self.coef, self.held, self.judge = np.zeros((0, 0)), None, None

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


def search(
    data: Data,
    candidate: int,
    metric: Metric,
    penalty: Penalty,
    Cs: Float,
    *,
    scorer: TaskScorer | Callable[..., float],
    threshold: str | float,
    target: Metric,
    cut_later: bool,
    guide: TaskScorer | None = None,
    with_intercept: bool,
    executor: Executor | None,
    **options: Any,
) -> Iterator[Point]:
    """Go up the path on all folds at once.

    All folds finish a C before the next begins. So the scores of one C are all that is held, thresholds can be chosen
    across the folds, and a search that is stopped has whole results for every C it came to.

    Parameters
    ----------
    data : Data
        The data.
    candidate : int
        The number that the points get.
    metric, penalty, with_intercept
        As in `Problem`.
    Cs : ndarray
        Ascending values of C.
    scorer : TaskScorer or callable
        What to score by; a callable is one of scikit-learn's scorers.
    threshold : str or float
        How cuts are chosen; see `choose_cuts`. A fold is scored with what the other folds choose. With ``"auto"`` it is
        the rule that is fastest for the score; whoever keeps a point can try the others.
    target : Metric
        What they are chosen for.
    cut_later : bool
        Whether to choose no cuts where the score does not need them, which takes long for many tasks.
    guide : TaskScorer or None
        A score of the order by which points are compared instead.
    executor : Executor or None
        To run folds side by side.
    **options
        For the solver.

    Yields
    ------
    Point
        One for each C.
    """
    X, targets = data.X, data.targets
    folds = fold_problems(X, targets, data.splits, metric, penalty, with_intercept=with_intercept)
    paths = [_path(fold, Cs, **options) for fold in folds]
    for C in Cs:
        started = time.perf_counter()
        solutions = list(map(next, paths) if executor is None else executor.map(next, paths))
        models = [_weights(solution, X.shape[1]) for solution in solutions]
        scores = [scores_of(X, targets, fold, *model) for fold, model in zip(folds, models, strict=True)]
        held = HeldOut(targets, folds, scores)
        judge = None if isinstance(scorer, TaskScorer) else _judge(scorer, data, metric, folds, models)
        cuts, values = _scored(held, scorer, judge, threshold, metric, target, cut_later=cut_later)
        coef, intercept, modelled = _mean_model(targets, folds, models, X.shape[1])
        yield Point(
            candidate,
            float(C),
            values,
            np.array([np.nan if s is None else s.certificate.gap for s in solutions]),
            np.array([0 if s is None else s.n_iter for s in solutions]),
            time.perf_counter() - started,
            cuts,
            held,
            coef,
            intercept,
            modelled,
            values if guide is None else _ranked(held, guide),
            judge,
        )


def _ranked(held: HeldOut, scorer: TaskScorer) -> Float:
    """Return what a score of the order says of each fold."""
    none = np.zeros(held.n_tasks)
    return np.array([scorer(columns_of_fold(held, k, none, answers=False)) for k in range(held.n_folds)])


def _scored(
    held: HeldOut,
    scorer: TaskScorer | Callable[..., float],
    judge: Judge | None,
    threshold: str | float,
    metric: Metric,
    target: Metric,
    *,
    cut_later: bool,
) -> tuple[Cuts | None, Float]:
    """Return the cuts, and the scores of the folds."""
    folds = range(held.n_folds)
    if threshold == "auto":
        threshold = "calibrated" if isinstance(scorer, TaskScorer) and scorer.pooled else "per-task"
    if judge is not None:
        cuts = choose_cuts(held, threshold, metric, target)
        return cuts, np.array([judge(k, cuts.by_fold[k]) for k in folds])
    assert isinstance(scorer, TaskScorer)
    if not judges_answers(scorer):
        ranked = _ranked(held, scorer)
        return None if cut_later else choose_cuts(held, threshold, metric, target), ranked
    cuts = choose_cuts(held, threshold, metric, target, scorer)
    return cuts, np.array([scorer(columns_of_fold(held, k, cuts.by_fold[k], answers=True)) for k in folds])


def _judge(
    scorer: Callable[..., float], data: Data, metric: Metric, folds: Sequence[Fold], models: Sequence[Model]
) -> Judge:
    """Return what one of scikit-learn's scorers says of a fold and its cuts."""

    def judge(k: int, cut: Float) -> float:
        test, targets = folds[k].test, data.targets
        if targets.Y.ndim == 2 and targets.kind != "multilabel":
            test = test[(targets.Y[test] != 0).any(axis=1)]  # scikit-learn's scorers know no NaN
        model = _model(data, metric, folds[k], *models[k], cut)
        return float(scorer(model, data.X[test], _safe_indexing(data.y, test)))

    return judge


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


def _path(fold: Fold, Cs: Float, **options: Any) -> Iterator[Solution | None]:
    if fold.problem is None:
        yield from (None for _ in Cs)
    else:
        yield from solve_path(fold.problem, Cs, warn=False, **options)


def _weights(solution: Solution | None, n_features: int) -> tuple[Float, Float]:
    """Return weights and intercepts of the usable tasks."""
    if solution is None:
        return np.zeros((n_features, 0)), np.zeros(0)
    return solution.certificate.W, solution.certificate.intercept


def _model(data: Data, metric: Metric, fold: Fold, W: Float, intercept: Float, cut: Float) -> SMTLClassifier:
    """Return a fold's model as an estimator, for scikit-learn's scorers."""
    coef, b, modelled = _mean_model(data.targets, [fold], [(W, intercept)], data.X.shape[1])
    cut = np.where(modelled, cut, 0.0)
    model = SMTLClassifier(metric)
    model.coef_, model.intercept_, model.thresholds_ = coef, b - cut, cut
    model.classes_, model.task_names_, model._kind = data.targets.classes, data.targets.names, data.targets.kind
    model.n_features_in_ = data.X.shape[1]
    return model


def _mean_model(
    targets: Targets, folds: Sequence[Fold], models: Sequence[tuple[Float, Float]], n_features: int
) -> tuple[Float, Float, npt.NDArray[np.bool_]]:
    """Return weights and intercepts averaged over the folds that have a model of the task, and which tasks have one."""
    m = len(targets.names)
    coef, intercept, count = np.zeros((m, n_features)), np.zeros(m), np.zeros(m)
    for fold, (W, b) in zip(folds, models, strict=True):
        coef[fold.usable] += W.T
        intercept[fold.usable] += b
        count[fold.usable] += 1.0
    coef /= np.maximum(count, 1.0)[:, None]
    modelled = count > 0.0
    return coef, np.where(modelled, intercept / np.maximum(count, 1.0), targets.constants()), modelled
