"""Scores of rows by models that have not seen them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.estimators.targets import Targets
from smtl.metrics import Metric
from smtl.penalties import Penalty
from smtl.solvers import Problem

__all__ = ["Fold", "HeldOut", "fold_problems", "own_scores", "scores_of"]

Float: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]


@dataclass
class Fold:
    """A part of the rows to train on, and the rest to test on.

    Attributes
    ----------
    train, test : ndarray of int64
        Rows.
    usable : ndarray of int64
        The tasks that have both classes in the training part.
    problem : Problem or None
        Those tasks' problem; None if there are none. It works on all of X, with no labels outside the training part:
        where tasks share rows, or the rows of each task stand together, X is not copied.
    """

    train: Rows
    test: Rows
    usable: npt.NDArray[np.int64]
    problem: Problem | None


def fold_problems(
    X: Any,
    targets: Targets,
    folds: Sequence[tuple[Rows, Rows]],
    metric: Metric,
    penalty: Penalty,
    *,
    with_intercept: bool,
) -> list[Fold]:
    """Return the training problem of each fold.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    targets : Targets
        Labels.
    folds : list of (train, test)
        Rows to train and to test on.
    metric, penalty, with_intercept
        As in `Problem`. C is 1.

    Returns
    -------
    list of Fold
        One for each pair.
    """
    out = []
    for train, test in folds:
        part = targets.only(train)
        usable = part.learnable()
        problem = None
        if len(usable):
            problem = Problem(
                part.tasks(X, usable),
                metric,
                penalty,
                1.0,
                with_intercept=with_intercept,
                offset=part.flat_offset(usable),
            )
        out.append(Fold(train, test, usable, problem))
    return out


def own_scores(X: Any, coef: npt.NDArray[Any], task: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Return the product of each row with its own task's weights.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    coef : ndarray of shape (n_tasks, n_features)
        Weights.
    task : ndarray of int64 of shape (n_samples,)
        The task of each row.

    Returns
    -------
    ndarray of shape (n_samples,)
        Scores, without intercept.

    Examples
    --------
    >>> own_scores(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0]))
    array([3., 2.])
    """
    X = X.tocsr() if sp.issparse(X) else X
    out = np.empty(X.shape[0], dtype=np.result_type(X.dtype, coef.dtype))
    order = np.argsort(task, kind="stable")
    # Task by task: the weights of all rows at once would be as large as a dense X.
    for rows in np.split(order, np.flatnonzero(np.diff(task[order])) + 1):
        if len(rows):
            out[rows] = X[rows] @ coef[task[rows[0]]]
    return out


def scores_of(X: Any, targets: Targets, fold: Fold, W: Float, intercept: Float) -> Float:
    """Return the scores of a fold's test part.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    targets : Targets
        Labels.
    fold : Fold
        Whose rows.
    W : ndarray of shape (n_features, n_usable)
        Weights of the usable tasks.
    intercept : ndarray of shape (n_usable,)
        Their intercepts.

    Returns
    -------
    ndarray of shape (n_test, n_tasks) or (n_test,)
        A column a task, or, where tasks have their own rows, each row's score for its own; NaN for tasks that are not
        usable.
    """
    m = len(targets.names)
    b = np.full(m, np.nan)
    b[fold.usable] = intercept
    coef = np.zeros((m, X.shape[1]), dtype=X.dtype)
    coef[fold.usable] = W.T
    rows = X[fold.test]
    offset = 0.0 if targets.offset is None else targets.offset[fold.test]
    if targets.task is None:
        return np.asarray(rows @ coef.T + b + offset, dtype=np.float64)
    task = targets.task[fold.test]
    return np.asarray(own_scores(rows, coef, task) + b[task] + offset, dtype=np.float64)


class HeldOut:
    """Labels and held-out scores, fold after fold.

    Parameters
    ----------
    targets : Targets
        Labels of all rows.
    folds : list of Fold
        The folds.
    scores : list of ndarray
        What `scores_of` returned for each.
    """

    def __init__(self, targets: Targets, folds: Sequence[Fold], scores: Sequence[Float]) -> None:
        self.n_folds, self.n_tasks = len(folds), len(targets.names)
        rows = np.concatenate([fold.test for fold in folds])
        self.targets = targets.part(rows)
        self.fold = np.repeat(np.arange(len(folds)), [len(fold.test) for fold in folds])
        self.scores = np.concatenate(scores)
        self._rows = rows if len(np.unique(rows)) < len(rows) else None

    def columns(self) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int8], Float]]:
        """Return places, labels and scores of each task, where it has both a label and a score.

        Returns
        -------
        list of (places, y, s)
            One for each task; the places are those of its entries in ``fold`` and in what `without` returns.
        """
        out = []
        for i in range(self.n_tasks):
            y = self.targets.column(i)
            s = self.scores if self.scores.ndim == 1 else self.scores[:, i]
            places = np.flatnonzero((y != 0) & np.isfinite(s))
            out.append((places, y[places], s[places]))
        return out

    def with_scores(self, scores: Float) -> HeldOut:
        """Return other scores of the same rows.

        Parameters
        ----------
        scores : ndarray of shape (n_entries, n_tasks) or (n_entries,)
            Scores in the order of ``self.scores``.

        Returns
        -------
        HeldOut
            With the same labels and folds.
        """
        other = copy(self)
        other.scores = scores
        return other

    def without(self, k: int) -> npt.NDArray[np.bool_]:
        """Return which entries are of rows that fold ``k`` does not test.

        Parameters
        ----------
        k : int
            The number of the fold; ``n_folds`` for none.

        Returns
        -------
        ndarray of bool
            One for each entry. Folds may share rows, as those of repeated cross-validation do.
        """
        if self._rows is None:
            return np.asarray(self.fold != k)
        return np.asarray(np.isin(self._rows, self._rows[self.fold == k], invert=True))
