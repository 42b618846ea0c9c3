"""Learners of shared rows, made to learn tasks that have rows of their own: all together, or each by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from smtl.ensemble.learners.base import Float, Learner, Rows, Splits
from smtl.ensemble.learners.features import Features
from smtl.estimators.targets import Targets

__all__ = ["PerTask", "Pooled"]


class Pooled(Learner):
    """One model of the rows of all tasks, with the task as further features: a column a task, 1 in its own rows.

    Parameters
    ----------
    learner : Learner
        What is fitted; it must not scale the features, because the columns of rare tasks would become large.
    scale : bool
        Whether to scale the features beforehand.

    Examples
    --------
    >>> from smtl.ensemble.learners.kernel import KernelLearner
    >>> Pooled(KernelLearner(scaled=False), scale=True).n_tasks
    0
    """

    def __init__(self, learner: Learner, *, scale: bool) -> None:
        super().__init__(random_state=learner.random_state, n_jobs=learner.n_jobs)
        self.learner = learner
        self.n_tasks = 0
        self._features = Features(scale=scale, dense=True, random_state=learner.random_state)

    @property
    def knows_weights(self) -> bool:  # noqa: D102
        return self.learner.knows_weights

    def held_out_scores(self, X: Any, targets: Targets, folds: Splits) -> list[Float]:  # noqa: D102
        X, pooled = self._pool(X, targets)
        return [scores[:, 0] for scores in self.learner.held_out_scores(X, pooled, folds)]

    def fit(self, X: Any, targets: Targets) -> None:  # noqa: D102
        self.learner.fit(*self._pool(X, targets))

    def decision_function(self, X: Any, task: Rows | None = None) -> Float:  # noqa: D102
        X = self._features.transform(X)
        if task is not None:
            return self.learner.decision_function(_with_task(X, task, self.n_tasks))[:, 0]
        columns = [np.full(X.shape[0], i) for i in range(self.n_tasks)]
        return np.column_stack(
            [self.learner.decision_function(_with_task(X, column, self.n_tasks))[:, 0] for column in columns]
        )

    def _pool(self, X: Any, targets: Targets) -> tuple[Any, Targets]:
        """Return features with the task among them, and one binary target."""
        assert targets.task is not None
        self.n_tasks = len(targets.names)
        X = _with_task(self._features.fit_transform(X, targets.row_weight), targets.task, self.n_tasks)
        pooled = _as_column(targets)
        if targets.task_weight is not None:  # the weight of a task is one of its rows where they are all together
            of_task = targets.task_weight[targets.task]
            pooled.row_weight = of_task if pooled.row_weight is None else of_task * pooled.row_weight
            pooled.weights = pooled.row_weight[:, None]
        return X, replace(pooled, kind="binary", names=np.array(["all"]))


class PerTask(Learner):
    """A model of its own for each task.

    Parameters
    ----------
    kind : type
        The class of the learners.
    options : dict
        What they are made with.

    Examples
    --------
    >>> from smtl.ensemble.learners.kernel import KernelLearner
    >>> PerTask(KernelLearner, {}).learners
    []
    """

    def __init__(self, kind: type[Learner], options: dict[str, Any]) -> None:
        super().__init__(random_state=options.get("random_state", 0), n_jobs=options.get("n_jobs"))
        self.kind = kind
        self.options = options
        self.learners: list[Learner | None] = []

    def __getstate__(self) -> dict[str, Any]:
        """Return what is kept of it: its learners, not how they were made."""
        return {**self.__dict__, "kind": None, "options": None}

    @property
    def knows_weights(self) -> bool:  # noqa: D102
        return self.kind(**self.options).knows_weights

    def held_out_scores(self, X: Any, targets: Targets, folds: Splits) -> list[Float]:  # noqa: D102
        assert targets.task is not None
        scores = [np.full(len(test), np.nan) for _, test in folds]
        self.learners = []
        for i in range(len(targets.names)):
            rows = np.flatnonzero(targets.task == i)
            place = np.full(len(targets.task), -1)
            place[rows] = np.arange(len(rows))
            own, usable = _own(targets, rows, i), []
            for k, (train, test) in enumerate(folds):
                mine = place[train][place[train] >= 0], place[test][place[test] >= 0]
                if len(mine[1]) and len(own.part(mine[0]).learnable()):
                    usable.append((k, mine))
            learner = self.kind(**self.options) if usable else None
            self.learners.append(learner)
            if learner is None:
                continue
            found = learner.held_out_scores(X[rows], own, [split for _, split in usable])
            for (k, _), values in zip(usable, found, strict=True):
                scores[k][place[folds[k][1]] >= 0] = values[:, 0]
        return scores

    def fit(self, X: Any, targets: Targets) -> None:  # noqa: D102
        assert targets.task is not None
        for i, learner in enumerate(self.learners):
            if learner is not None:
                rows = np.flatnonzero(targets.task == i)
                learner.fit(X[rows], _own(targets, rows, i))

    def decision_function(self, X: Any, task: Rows | None = None) -> Float:  # noqa: D102
        if task is None:
            columns = [
                np.zeros(X.shape[0]) if learner is None else learner.decision_function(X)[:, 0]
                for learner in self.learners
            ]
            return np.column_stack(columns)
        scores = np.zeros(X.shape[0])
        for i, learner in enumerate(self.learners):
            rows = np.flatnonzero(task == i)
            if len(rows) and learner is not None:
                scores[rows] = learner.decision_function(X[rows])[:, 0]
        return scores


def _own(targets: Targets, rows: Rows, i: int) -> Targets:
    """Return the labels of one task's rows, as one binary target."""
    return replace(_as_column(targets.part(rows)), kind="binary", names=targets.names[i : i + 1])


def _as_column(targets: Targets) -> Targets:
    """Return labels of rows that belong to one task each in a column."""
    weights = None if targets.weights is None else targets.weights[:, None]
    return replace(targets, Y=targets.Y[:, None], weights=weights, task=None, task_weight=None)


def _with_task(X: Any, task: Rows, n_tasks: int) -> Any:
    """Return X with a column a task."""
    columns = np.zeros((X.shape[0], n_tasks))
    columns[np.arange(X.shape[0]), task] = 1.0
    return sp.csr_array(sp.hstack([X, columns])) if sp.issparse(X) else np.hstack([X, columns])
