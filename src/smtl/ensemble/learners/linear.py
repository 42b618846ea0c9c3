"""The joint linear model, its penalty and C chosen on the folds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from smtl.ensemble.learners.base import Float, Learner, Rows, Splits
from smtl.ensemble.learners.features import Features
from smtl.estimators.fitting import Formula, Solving, fit_linear, natural_C, problem_of
from smtl.estimators.held_out import own_scores, scores_of
from smtl.estimators.points import Point
from smtl.estimators.scoring import TaskScorer
from smtl.estimators.search import Data, Scoring, search
from smtl.estimators.targets import Targets
from smtl.estimators.threads import threads
from smtl.metrics import F1, Log
from smtl.penalties import get_penalty
from smtl.solvers import grid_of_Cs

__all__ = ["LinearLearner"]

N_CS = 7  # values of C a penalty, over three decades
TOL = 5e-2  # relative gap of the models of the folds
MAX_ITER = 50  # passes for each C
FINAL_TOL = 1e-2  # relative gap of the final model
FINAL_ITER = 500  # passes for it
N_CHOOSING = 5_000  # rows on which penalty and C are chosen, at most


class LinearLearner(Learner):
    r"""Multi-task logistic regression: `SMTLClassifier` with ``metric="log"`` on standardised features.

    Penalty and C are those of the least log loss on held-out rows. Where rows are many, they are chosen on some of
    them; C then shrinks as rows become more, since the loss is a sum over the rows.

    Parameters
    ----------
    penalties : tuple of str, default=("ridge", "trace", "l21")
        The penalties to choose among.
    random_state : int, default=0
        The seed of the choice of rows.
    n_jobs : int, optional
        Threads, for folds side by side.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl.estimators.targets import read_targets
    >>> X, Y = make_multilabel_classification(100, n_classes=3, random_state=0)
    >>> rows, targets = np.arange(100), read_targets(X, Y)
    >>> learner = LinearLearner(penalties=("ridge",))
    >>> scores = learner.held_out_scores(X, targets, [(rows[:50], rows[50:]), (rows[50:], rows[:50])])
    >>> learner.fit(X, targets)
    >>> learner.decision_function(X).shape
    (100, 3)
    """

    name = "linear"
    takes_own_rows = True

    def __init__(
        self,
        *,
        penalties: tuple[str, ...] = ("ridge", "trace", "l21"),
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(random_state=random_state, n_jobs=n_jobs)
        self.penalties = penalties
        self.penalty, self.C = penalties[0], np.nan
        self._features = Features(scale=True, dense=False)

    @property
    def knows_weights(self) -> bool:  # noqa: D102
        return True

    def held_out_scores(self, X: Any, targets: Targets, folds: Splits) -> list[Float]:  # noqa: D102
        X = self._features.fit_transform(X, targets.row_weight)
        n_rows = len(targets.Y)
        if len(targets.learnable()) == 0:
            shape = targets.Y.shape[1:]
            return [np.zeros((len(test), *shape)) for _, test in folds]
        best: Point | None = None
        some = self._some_of(folds, n_rows)
        part, labels, splits = _only_rows_of(some, X, targets) if some is not folds else (X, targets, folds)
        for number, penalty in enumerate(self.penalties):
            for point in self._path(part, labels, splits, number, self._grid(X, targets, penalty)):
                if best is None or point.mean > best.mean:
                    best, self.penalty, self.C = point, penalty, point.C
        assert best is not None
        if some is not folds:
            [best] = self._path(X, targets, folds, 0, np.array([self.C * N_CHOOSING / n_rows]))
            self.C = best.C
        return [scores_of(X, targets, fold, *model) for fold, model in zip(best.folds, best.models, strict=True)]

    def fit(self, X: Any, targets: Targets) -> None:  # noqa: D102
        X = self._features.fit_transform(X, targets.row_weight)
        formula, solving = Formula(Log(), get_penalty(self.penalty, 0.0)), Solving(tol=FINAL_TOL, max_iter=FINAL_ITER)
        with threads(self.n_jobs) as threading:
            model = fit_linear(X, targets, formula, self.C, solving, threading=threading, warn=False)
        self.coef, self.intercept = model.coef, model.intercept

    def decision_function(self, X: Any, task: Rows | None = None) -> Float:  # noqa: D102
        X = self._features.transform(X)
        if task is not None:
            return np.asarray(own_scores(X, self.coef, task) + self.intercept[task])
        return np.asarray(X @ self.coef.T) + self.intercept

    def _some_of(self, folds: Splits, n_rows: int) -> Splits:
        """Return the folds, each with its share of the rows on which penalty and C are chosen."""
        if n_rows <= N_CHOOSING:
            return folds
        kept = np.random.RandomState(self.random_state).random_sample(n_rows) < N_CHOOSING / n_rows
        return [(train[kept[train]], test[kept[test]]) for train, test in folds]

    def _grid(self, X: Any, targets: Targets, penalty: str) -> Float:
        """Return the values of C to try."""
        n_rows = len(targets.Y)
        problem = problem_of(X, targets, Formula(Log(), get_penalty(penalty, 0.0)))
        # The critical C of all rows is smaller than that of a part of them by the share of the part.
        return grid_of_Cs(N_CS, natural_C(problem, X) * max(1.0, n_rows / N_CHOOSING))

    def _path(self, X: Any, targets: Targets, folds: Splits, number: int, Cs: Float) -> Iterator[Point]:
        """Go up the values of C, and stop where the score has fallen twice in a row."""
        last, falls = -np.inf, 0
        with threads(self.n_jobs) as (executor, _):
            for point in search(
                Data(X, None, targets, folds),
                number,
                Formula(Log(), get_penalty(self.penalties[number] if len(Cs) > 1 else self.penalty, 0.0)),
                Cs,
                Scoring(TaskScorer(Log()), threshold=0.0, target=F1(), cut_later=True),
                Solving(tol=TOL, max_iter=MAX_ITER),
                executor,
            ):
                yield point
                falls = falls + 1 if point.mean < last else 0
                last = point.mean
                if falls == 2:
                    return


def _only_rows_of(folds: Splits, X: Any, targets: Targets) -> tuple[Any, Targets, Splits]:
    """Return the rows that are in any of the folds, their labels, and the folds by their new numbers."""
    rows = np.unique(np.concatenate([part for fold in folds for part in fold]))
    renumbered = [(np.searchsorted(rows, train), np.searchsorted(rows, test)) for train, test in folds]
    return X[rows], targets.part(rows), renumbered
