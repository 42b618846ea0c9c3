"""Cross-validation along the path: every C on every fold, and what it scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from smtl.estimators.fitting import Formula, LinearModel, Solving, fit_linear, natural_C, problem_of
from smtl.estimators.fold_model import FoldModel
from smtl.estimators.held_out import Fold, HeldOut, fold_problems, scores_of
from smtl.estimators.points import Point
from smtl.estimators.rules import CutRule
from smtl.estimators.scoring import TaskScorer, columns_of_fold, given_weights, judges_answers
from smtl.estimators.targets import Targets
from smtl.estimators.thresholds import Cuts, Judge, choose_cuts
from smtl.metrics import Metric
from smtl.solvers import Solution, Start, solve_path

__all__ = ["Data", "Scoring", "search"]

Float: TypeAlias = npt.NDArray[np.float64]
Model: TypeAlias = tuple[Float, Float]
Threading: TypeAlias = tuple[ThreadPoolExecutor | None, int]


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
    _parts: dict[int, tuple[Any, Any, npt.NDArray[np.int64]]] = field(default_factory=dict, repr=False, kw_only=True)

    def test_part(self, k: int) -> tuple[Any, Any, npt.NDArray[np.int64]]:
        """Return what scikit-learn's scorers are given of a test part, taken out once and kept for the next call.

        Parameters
        ----------
        k : int
            The number of the split.

        Returns
        -------
        X, y
            Features and labels of the rows that are labelled: those scorers know no NaN.
        places : ndarray of int64
            Which rows of the test part these are.
        """
        if k not in self._parts:
            test, Y = self.splits[k][1], self.targets.Y
            labelled = np.ones(len(test), dtype=bool)
            if Y.ndim == 2 and self.targets.kind != "multilabel":
                labelled = (Y[test] != 0).any(axis=1)
            rows = test[labelled]
            self._parts[k] = self.X[rows], _safe_indexing(self.y, rows), np.flatnonzero(labelled)
        return self._parts[k]

    def folds(self, formula: Formula) -> list[Fold]:
        """Return the training problem of each split.

        Parameters
        ----------
        formula : Formula
            What is minimised.

        Returns
        -------
        list of Fold
            One a split.
        """
        return fold_problems(self.X, self.targets, self.splits, formula)

    def natural_C(self, formula: Formula) -> float:
        """Return the data's own scale for C.

        Parameters
        ----------
        formula : Formula
            What is minimised; some task has both classes.

        Returns
        -------
        float
            See `smtl.estimators.fitting.natural_C`.
        """
        return natural_C(problem_of(self.X, self.targets, formula), self.X)

    def weights(self, solution: Solution | None) -> Model:
        """Return weights and intercepts for X as it is.

        Parameters
        ----------
        solution : Solution or None
            The solution of a problem of these data; None where there is nothing to train.

        Returns
        -------
        W, intercept : ndarray
            A row a task that is trained.
        """
        if solution is None:
            return np.zeros((0, self.X.shape[1])), np.zeros(0)
        return solution.certificate.W, solution.certificate.intercept

    def fit(
        self, formula: Formula, C: float, solving: Solving, start: Start | None, threading: Threading
    ) -> LinearModel:
        """Fit a model to all rows.

        Parameters
        ----------
        formula, C, solving, start, threading
            As in `smtl.estimators.fitting.fit_linear`.

        Returns
        -------
        LinearModel
            Weights and intercepts.
        """
        return fit_linear(self.X, self.targets, formula, C, solving, start=start, threading=threading)


@dataclass(frozen=True)
class Scoring:
    """What the points of a search are scored by.

    Attributes
    ----------
    scorer : TaskScorer or callable
        What to score by; a callable is one of scikit-learn's scorers.
    threshold : str, float or CutRule
        How cuts are chosen; see `choose_cuts`. A fold is scored with what the other folds choose. With ``"auto"`` it is
        the rule that is fastest for the score; whoever keeps a point can try the others.
    target : Metric
        What they are chosen for.
    cut_later : bool
        Whether to choose no cuts where the score does not need them, which takes long for many tasks.
    guide : TaskScorer or None
        A score of the order by which points are compared instead.
    """

    scorer: TaskScorer | Callable[..., float]
    threshold: str | float | CutRule
    target: Metric
    cut_later: bool
    guide: TaskScorer | None = None


def search(
    data: Data,
    candidate: int,
    formula: Formula,
    Cs: Float,
    scoring: Scoring,
    solving: Solving,
    executor: Executor | None,
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
    formula : Formula
        What is minimised.
    Cs : ndarray
        Ascending values of C.
    scoring : Scoring
        What the points are scored by.
    solving : Solving
        How the problems of the folds are solved.
    executor : Executor or None
        To run folds side by side.

    Yields
    ------
    Point
        One for each C.
    """
    X, targets = data.X, data.targets
    folds = data.folds(formula)
    paths = [_path(fold, Cs, solving) for fold in folds]
    for C in Cs:
        started = time.perf_counter()
        solutions = list(map(next, paths) if executor is None else executor.map(next, paths))
        models = [data.weights(solution) for solution in solutions]
        scores = [scores_of(X, targets, fold, *model) for fold, model in zip(folds, models, strict=True)]
        held = HeldOut(targets, folds, scores).weighed()
        judge = None
        if not isinstance(scoring.scorer, TaskScorer):
            judge = _judge(scoring.scorer, data, formula.metric, folds, models, scores)
        cuts, values = _scored(held, judge, formula.metric, scoring)
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
            values if scoring.guide is None else _ranked(held, scoring.guide),
            judge,
            folds=folds,
            models=models,
        )


def _ranked(held: HeldOut, scorer: TaskScorer) -> Float:
    """Return what a score of the order says of each fold."""
    none = np.zeros(held.n_tasks)
    return np.array([scorer(columns_of_fold(held, k, none, answers=False)) for k in range(held.n_folds)])


def _scored(held: HeldOut, judge: Judge | None, metric: Metric, scoring: Scoring) -> tuple[Cuts | None, Float]:
    """Return the cuts, and the scores of the folds."""
    folds, scorer, target, threshold = range(held.n_folds), scoring.scorer, scoring.target, scoring.threshold
    if threshold == "auto":
        threshold = "calibrated" if isinstance(scorer, TaskScorer) and scorer.pooled else "per-task"
    if judge is not None:
        cuts = choose_cuts(held, threshold, metric, target)
        return cuts, np.array([judge(k, cuts.by_fold[k]) for k in folds])
    assert isinstance(scorer, TaskScorer)
    if not judges_answers(scorer):
        ranked = _ranked(held, scorer)
        return None if scoring.cut_later else choose_cuts(held, threshold, metric, target), ranked
    cuts = choose_cuts(held, threshold, metric, target, scorer)
    return cuts, np.array([scorer(columns_of_fold(held, k, cuts.by_fold[k], answers=True)) for k in folds])


def _judge(
    scorer: Callable[..., float],
    data: Data,
    metric: Metric,
    folds: Sequence[Fold],
    models: Sequence[Model],
    scores: Sequence[Float],
) -> Judge:
    """Return what one of scikit-learn's scorers says of a fold and its cuts."""

    def judge(k: int, cut: Float) -> float:
        targets = data.targets
        X, y, places = data.test_part(k)
        weights = None if targets.row_weight is None else targets.row_weight[folds[k].test[places]]
        coef, b, modelled = _mean_model(targets, [folds[k]], [models[k]], data.X.shape[1])
        known = np.where(modelled, scores[k][places], b)
        model = FoldModel(metric, targets, (coef, b), np.where(modelled, cut, 0.0), (X, known))
        return float(scorer(model, X, y, **given_weights(scorer, weights)))

    return judge


def _path(fold: Fold, Cs: Float, solving: Solving) -> Iterator[Solution | None]:
    if fold.problem is None:
        yield from (None for _ in Cs)
    else:
        yield from solve_path(fold.problem, Cs, solving.solver, tol=solving.tol, max_iter=solving.max_iter, warn=False)


def _mean_model(
    targets: Targets, folds: Sequence[Fold], models: Sequence[tuple[Float, Float]], n_features: int
) -> tuple[Float, Float, npt.NDArray[np.bool_]]:
    """Return weights and intercepts averaged over the folds that have a model of the task, and which tasks have one."""
    m = len(targets.names)
    coef, intercept, count = np.zeros((m, n_features)), np.zeros(m), np.zeros(m)
    for fold, (W, b) in zip(folds, models, strict=True):
        coef[fold.usable] += W
        intercept[fold.usable] += b
        count[fold.usable] += 1.0
    coef /= np.maximum(count, 1.0)[:, None]
    modelled = count > 0.0
    return coef, np.where(modelled, intercept / np.maximum(count, 1.0), targets.constants()), modelled
