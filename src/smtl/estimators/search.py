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

from smtl.estimators.classifier import SMTLClassifier
from smtl.estimators.held_out import Fold, HeldOut, fold_problems, scores_of
from smtl.estimators.scoring import Column, TaskScorer, as_answers
from smtl.estimators.targets import Targets
from smtl.estimators.thresholds import Cuts, choose_cuts
from smtl.metrics import Metric
from smtl.penalties import Penalty
from smtl.solvers import Solution, solve_path

__all__ = ["Data", "Point", "choose", "columns_of_fold", "search"]

Float: TypeAlias = npt.NDArray[np.float64]


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
        The held-out scores, where thresholds have still to be chosen on them.
    coef : ndarray of shape (n_tasks, n_features)
        Weights, averaged over the folds.
    intercept : ndarray of shape (n_tasks,)
        Intercepts, averaged over the folds.
    modelled : ndarray of bool of shape (n_tasks,)
        Whether any fold has a model of the task.
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

    def forget(self) -> None:
        """Empty what is only needed of the chosen point, and is by far the most memory."""
        self.coef, self.held = np.zeros((0, 0)), None

    @property
    def known(self) -> Float:
        """The scores of the folds that have one."""
        return self.scores[~np.isnan(self.scores)]

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
    threshold : {"per-task", "shared", "smoothed"} or float
        How cuts are chosen. A fold is scored with what the other folds choose.
    target : Metric
        What they are chosen for.
    cut_later : bool
        Whether to choose no cuts where the score does not need them, which takes long for many tasks. The points then
        hold their scores, for whoever keeps a point to choose them.
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
        ranks = isinstance(scorer, TaskScorer) and not scorer.metric.judges_answers
        cuts = None if ranks and cut_later else choose_cuts(held, threshold, metric, target)
        values = []
        for k, fold in enumerate(folds):
            if isinstance(scorer, TaskScorer):
                cut = np.zeros(held.n_tasks) if ranks or cuts is None else cuts.by_fold[k]
                values.append(scorer(columns_of_fold(held, k, cut, answers=not ranks)))
            else:
                assert cuts is not None
                model = _model(data, metric, fold, *models[k], cuts.by_fold[k])
                test = fold.test
                if targets.Y.ndim == 2 and targets.kind != "multilabel":
                    test = test[(targets.Y[test] != 0).any(axis=1)]  # scikit-learn's scorers know no NaN
                values.append(float(scorer(model, X[test], _safe_indexing(data.y, test))))
        coef, intercept, modelled = _mean_model(targets, folds, models, X.shape[1])
        yield Point(
            candidate,
            float(C),
            np.array(values),
            np.array([np.nan if s is None else s.certificate.gap for s in solutions]),
            np.array([0 if s is None else s.n_iter for s in solutions]),
            time.perf_counter() - started,
            cuts,
            held if cuts is None else None,
            coef,
            intercept,
            modelled,
        )


def choose(points: Sequence[Point], selection: str) -> Point:
    """Return the chosen point.

    Parameters
    ----------
    points : list of Point
        In ascending order of C for each candidate.
    selection : {"best", "1se"}
        The best mean score (the least such C), or the least C of the same candidate whose mean score is within one
        standard error of it.

    Returns
    -------
    Point
        One of them.
    """
    best = max(points, key=lambda point: point.mean)  # the first of equals
    if selection == "best":
        return best
    return next(
        point for point in points if point.candidate == best.candidate and point.mean >= best.mean - best.standard_error
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


def columns_of_fold(held: HeldOut, k: int, cut: Float, *, answers: bool) -> list[Column]:
    """Return what a `TaskScorer` judges of one fold.

    Parameters
    ----------
    held : HeldOut
        Held-out scores.
    k : int
        The fold.
    cut : ndarray of shape (n_tasks,)
        What is taken off the scores, so that the cut is at zero.
    answers : bool
        Whether answers are judged: of several classes only the one with the highest score is answered yes.

    Returns
    -------
    list of (labels, scores)
        One pair a task.
    """
    rows = np.flatnonzero(held.fold == k)
    part = held.targets.part(rows)
    if part.task is not None:
        scores = held.scores[rows] - cut[part.task]
        return [(part.column(i), scores) for i in range(held.n_tasks)]
    scores = held.scores[rows] - cut
    if part.kind == "multiclass" and answers:
        scores = as_answers(np.where(np.isnan(scores), -np.inf, scores))
    return list(zip(part.Y.T, scores.T, strict=True))


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
