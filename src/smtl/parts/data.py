"""What estimators know of rows in parts: counts of all rows, and a sample of them for what needs rows to look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.estimators.fitting import AUTO, Formula, LinearModel, Solving
from smtl.estimators.held_out import Fold as HeldOutFold
from smtl.estimators.search import Data
from smtl.estimators.targets import Targets
from smtl.parts.part import Fold, counts_and_sample
from smtl.parts.passes import Checkpoint
from smtl.parts.problem import PartsProblem, Scaling
from smtl.parts.raw import Reading, reading_of, survey
from smtl.parts.rows import Rows
from smtl.solvers import Solution, Start, critical_C, solve

__all__ = ["CountedTargets", "PartsData", "read_rows"]

Float: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[np.int64]

SAMPLE_ROWS, SAMPLE_BYTES = 200_000, 128 * 2**20  # the most of a sample
SAMPLE_SEED = 0  # of folds and sample, if none is given


@dataclass
class CountedTargets(Targets):
    """Labels of a sample, with the counts of all rows.

    Attributes
    ----------
    n_pos, n_neg : ndarray of int64 of shape (n_tasks,)
        Positives and negatives of all rows.
    """

    n_pos: Numbers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    n_neg: Numbers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def counts(self) -> tuple[Numbers, Numbers]:  # noqa: D102
        return self.n_pos, self.n_neg


@dataclass(kw_only=True)
class PartsData(Data):
    """Rows in parts for a search: models are trained on all rows, and scored on a sample of them.

    Attributes
    ----------
    X, y, targets, splits
        As in `smtl.estimators.search.Data`, of the sample.
    rows : Rows
        Who holds the parts.
    reading : Reading
        How they are read.
    by_fold : ndarray of int64 of shape (2, n_folds, n_tasks)
        Positives and negatives of each fold, in all rows.
    seed : int
        What divides the rows into folds.
    scaling : Scaling or None
        What the features are brought to one scale by.
    checkpoint : Checkpoint or None
        Where passes are kept.
    watch : callable or None
        Called after each pass with the seconds that it took.
    """

    rows: Rows
    reading: Reading
    by_fold: Numbers
    seed: int
    scaling: Scaling | None
    checkpoint: Checkpoint | None = None
    watch: Callable[[float], None] | None = None

    def problem(self, formula: Formula, fold: int | None = None) -> PartsProblem | None:
        """Return a training problem of all rows, or of all but those of a fold; None if no task has both classes.

        Parameters
        ----------
        formula : Formula
            What is minimised.
        fold : int, optional
            The fold to leave out.

        Returns
        -------
        PartsProblem or None
            Of the tasks that have both classes.
        """
        counts = self.by_fold.sum(axis=1) - (0 if fold is None else self.by_fold[:, fold])
        chosen = np.flatnonzero((counts > 0).all(axis=0))
        if len(chosen) == 0:
            return None
        n_folds = self.by_fold.shape[1]
        log = None
        if self.checkpoint is not None:
            log = self.checkpoint.log(f"{formula.metric!r}, {formula.with_intercept}, fold {fold} of {n_folds}")
        return PartsProblem(
            self.rows,
            (counts[0], counts[1]),
            self.reading.n_features,
            formula,
            n_products=self.reading.n_entries,
            chosen=chosen,
            fold=None if fold is None else Fold(fold, n_folds, self.seed),
            weighted=self.reading.weighted,
            scaling=self.scaling,
            means=self.reading.mean,
            log=log,
            watch=self.watch,
        )

    def folds(self, formula: Formula) -> list[HeldOutFold]:  # noqa: D102
        out = []
        for k, (train, test) in enumerate(self.splits):
            problem = self.problem(formula, k)
            usable = np.zeros(0, dtype=np.int64) if problem is None else problem.chosen
            out.append(HeldOutFold(train, test, usable, problem))
        return out

    def natural_C(self, formula: Formula) -> float:  # noqa: D102
        problem = self.problem(formula)
        assert problem is not None
        C = critical_C(problem)
        return C if C * self.largest < 1e12 else 1.0 / AUTO  # as for data in memory

    def weights(self, solution: Solution | None) -> tuple[Float, Float]:  # noqa: D102
        if solution is None:
            return np.zeros((0, self.X.shape[1])), np.zeros(0)
        W, intercept = solution.certificate.W, solution.certificate.intercept
        if self.scaling is None:
            return W, intercept
        V, at_zero = self.scaling.unscaled(W)
        return V, intercept + at_zero

    def fit(
        self, formula: Formula, C: float | str, solving: Solving, start: Start | None, threading: Any = None
    ) -> LinearModel:
        """Fit a model to all rows.

        Parameters
        ----------
        formula, C, solving
            As in `smtl.estimators.fitting.fit_linear`.
        start : Start, optional
            Weights and intercepts to start from, of the features as they are.
        threading : object
            Not used: the parts are worked on side by side.

        Returns
        -------
        LinearModel
            Weights and intercepts for the features as they are.
        """
        learnable = self.targets.learnable()
        coef, intercept = np.zeros((len(self.targets.names), self.X.shape[1])), self.targets.constants()
        problem = self.problem(formula)
        if problem is None:
            return LinearModel(coef, intercept, np.nan, None)
        C = AUTO * self.natural_C(formula) if isinstance(C, str) else float(C)
        if start is not None and start.S.shape != problem.shape:
            start = None
        if start is not None and self.scaling is not None:
            start = self.scaling.scaled(start)
        solution = solve(problem, C, solving.solver, tol=solving.tol, max_iter=solving.max_iter, start=start)
        coef[learnable], intercept[learnable] = self.weights(solution)
        return LinearModel(coef, intercept, C, solution)

    @property
    def largest(self) -> float:
        """About the largest absolute value of the features as the solver sees them."""
        return self.reading.largest if self.scaling is None else 1.0


def read_rows(rows: Rows, *, n_folds: int, seed: int | None, scale: bool) -> PartsData:
    """Read what has to be known of all rows, and a sample of them: two rounds over the parts.

    Parameters
    ----------
    rows : Rows
        Who holds the parts.
    n_folds : int
        How many folds there are to be.
    seed : int or None
        What divides the rows.
    scale : bool
        Whether to bring the features to one scale.

    Returns
    -------
    PartsData
        What a fit starts from.
    """
    seed = SAMPLE_SEED if seed is None else seed
    reading = reading_of(rows.each_raw(survey))
    rows.prepare(reading)
    m = reading.n_tasks
    n, entries = int(reading.n_rows.sum()), max(reading.n_entries, 1)
    share = min(1.0, SAMPLE_ROWS / n, SAMPLE_BYTES / (8.0 * entries))
    counts, samples = zip(*rows.each(counts_and_sample, m, n_folds, seed, share), strict=True)
    by_fold = np.sum(counts, axis=0)
    X, Y, task, fold = zip(*samples, strict=True)
    whole = sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X)
    labels = np.concatenate(Y)
    if reading.kind == "tasks":
        task_of_row = np.concatenate(task)
    else:
        task_of_row = None
        labels = labels.reshape(len(labels), -1)
    n_pos, n_neg = by_fold.sum(axis=1)
    targets = CountedTargets(
        reading.kind, reading.classes, reading.names, labels, task_of_row, reading.title, n_pos=n_pos, n_neg=n_neg
    )
    numbers = np.concatenate(fold)
    splits = [(np.flatnonzero(numbers != k), np.flatnonzero(numbers == k)) for k in range(n_folds)]
    scaling = Scaling(reading.mean, reading.deviation) if scale else None
    X_sample = whole.astype(reading.dtype, copy=False)
    return PartsData(
        X_sample,
        _as_given(targets),
        targets,
        splits,
        rows=rows,
        reading=reading,
        by_fold=by_fold,
        seed=seed,
        scaling=scaling,
    )


def _as_given(targets: Targets) -> npt.NDArray[Any]:
    """Return labels in the form that users give."""
    if targets.kind == "multilabel":
        return (
            np.where(targets.Y == 0, np.nan, targets.Y > 0) if (targets.Y == 0).any() else (targets.Y > 0).astype(int)
        )
    if targets.kind == "multiclass":
        return np.asarray(targets.classes[targets.Y.argmax(axis=1)])
    return np.asarray(targets.classes[np.where(targets.Y.ravel() > 0, len(targets.classes) - 1, 0)])
