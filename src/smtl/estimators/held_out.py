"""Scores of rows by models that have not seen them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.estimators.fitting import Formula, problem_of
from smtl.estimators.targets import Targets
from smtl.estimators.weights import in_copies, weights_of_labels
from smtl.solvers import Trainable

__all__ = ["Fold", "HeldOut", "fold_problems", "own_scores", "row_scores", "scores_of"]

Float: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]

BLOCK = 2**18  # entries of X that are taken out at a time, to be multiplied while they are in the cache


@dataclass
class Fold:
    """A part of the rows to train on, and the rest to test on.

    Attributes
    ----------
    train, test : ndarray of int64
        Rows.
    usable : ndarray of int64
        The tasks that have both classes in the training part.
    problem : Trainable or None
        Those tasks' problem; None if there are none. It works on all of X, with no labels outside the training part:
        where tasks share rows, or the rows of each task stand together, X is not copied.
    """

    train: Rows
    test: Rows
    usable: npt.NDArray[np.int64]
    problem: Trainable | None


def fold_problems(X: Any, targets: Targets, folds: Sequence[tuple[Rows, Rows]], formula: Formula) -> list[Fold]:
    """Return the training problem of each fold.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    targets : Targets
        Labels.
    folds : list of (train, test)
        Rows to train and to test on.
    formula : Formula
        What is minimised.

    Returns
    -------
    list of Fold
        One for each pair.
    """
    out = []
    for train, test in folds:
        part = targets.only(train)
        usable = part.learnable()
        out.append(Fold(train, test, usable, problem_of(X, part, formula) if len(usable) else None))
    return out


def own_scores(
    X: Any, coef: npt.NDArray[Any], task: npt.NDArray[np.int64], chosen: Rows | None = None
) -> npt.NDArray[Any]:
    """Return the product of each row with its own task's weights.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    coef : ndarray of shape (n_tasks, n_features)
        Weights.
    task : ndarray of int64 of shape (n_chosen,)
        The task of each row.
    chosen : ndarray of int64 of shape (n_chosen,), optional
        Row numbers; by default all rows.

    Returns
    -------
    ndarray of shape (n_chosen,)
        Scores, without intercept.

    Examples
    --------
    >>> own_scores(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0]))
    array([3., 2.])
    """
    X = X.tocsr() if sp.issparse(X) else X
    out = np.empty(len(task), dtype=np.result_type(X.dtype, coef.dtype))
    order = np.argsort(task, kind="stable")
    # Task by task: the weights of all rows at once would be as large as a dense X.
    for places in np.split(order, np.flatnonzero(np.diff(task[order])) + 1):
        if len(places):
            out[places] = X[places if chosen is None else chosen[places]] @ coef[task[places[0]]]
    return out


def row_scores(X: Any, coef: npt.NDArray[Any], chosen: Rows) -> npt.NDArray[Any]:
    """Return the product of some rows with the weights of all tasks, without a copy of these rows as a whole.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    coef : ndarray of shape (n_tasks, n_features)
        Weights.
    chosen : ndarray of int64 of shape (n_chosen,)
        Row numbers.

    Returns
    -------
    ndarray of shape (n_chosen, n_tasks)
        Scores, without intercept.

    Examples
    --------
    >>> row_scores(np.array([[1.0], [2.0], [3.0]]), np.array([[10.0]]), np.array([2, 0]))
    array([[30.],
           [10.]])
    """
    if sp.issparse(X) and X.format != "csr":
        return np.asarray((X @ coef.T)[chosen])  # rows cannot be taken out of columns but by a search through all
    out = np.empty((len(chosen), len(coef)), dtype=np.result_type(X.dtype, coef.dtype))
    step = max(1, BLOCK // max(X.shape[1], 1))
    for start in range(0, len(chosen), step):
        out[start : start + step] = X[chosen[start : start + step]] @ coef.T
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
    W : ndarray of shape (n_usable, n_features)
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
    coef[fold.usable] = W
    offset = 0.0 if targets.offset is None else targets.offset[fold.test]
    if targets.task is None:
        return np.asarray(row_scores(X, coef, fold.test) + b + offset, dtype=np.float64)
    task = targets.task[fold.test]
    return np.asarray(own_scores(X, coef, task, fold.test) + b[task] + offset, dtype=np.float64)


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

    def in_copies(self, rows: Rows) -> HeldOut:
        """Return entries in another number of copies.

        Parameters
        ----------
        rows : ndarray of int64
            The places of the entries to take, each as often as it occurs.

        Returns
        -------
        HeldOut
            With the same folds.
        """
        other = copy(self)
        labels = weights_of_labels(self.targets)
        other.targets = replace(
            self.targets.part(rows), row_weight=None, weights=None if labels is None else labels[rows]
        )
        other.fold, other.scores = self.fold[rows], self.scores[rows]
        other._rows = None if self._rows is None else self._rows[rows]
        return other

    def weighed(self) -> HeldOut:
        """Return entries in as many copies as their rows weigh.

        Returns
        -------
        HeldOut
            The same object where all rows count the same.
        """
        weights = self.targets.row_weight
        return self if weights is None else self.in_copies(in_copies(weights))

    def by_row(self, rows: Rows, n: int) -> Float:
        """Return the mean of each row's scores.

        Parameters
        ----------
        rows : ndarray of int64 of shape (n_entries,)
            The row of each entry: the test rows, fold after fold.
        n : int
            How many rows there are.

        Returns
        -------
        ndarray of shape (n, n_tasks) or (n,)
            NaN where a row has no score.
        """
        sums, counts = (np.zeros((n, *self.scores.shape[1:])) for _ in range(2))
        np.add.at(sums, rows, np.nan_to_num(self.scores))
        np.add.at(counts, rows, np.isfinite(self.scores))
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

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
