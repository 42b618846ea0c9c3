r"""The data of squared-loss problems: residuals, gradients and Gram matrices, whatever holds the rows."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.tasks import OwnRows, SharedRows, Tasks

__all__ = ["Squares"]

Float: TypeAlias = npt.NDArray[np.float64]

# Entries of X that are centred at a time.
BLOCK = 2**20


class Squares:
    r"""The loss :math:`\frac{1}{2n} \sum_i |y_i - X_i w_i - b_i|^2` of all tasks, minimised over the intercepts b.

    n is the mean number of labels of a task; where all rows are labelled for all tasks, the number of rows. With an
    intercept everything is as if targets and features had been centred task by task, but X is not copied.

    Parameters
    ----------
    X : ndarray or sparse matrix of float64 of shape (n_samples, n_features)
        Features.
    Y : ndarray of float64 of shape (n_samples, n_tasks), or (n_samples,) where ``task`` is given
        Targets; NaN where there is none. Every task has one at least.
    task : ndarray of int64 of shape (n_samples,), optional
        The task of each row, from 0, where each task has its own rows.
    with_intercept : bool, default=True
        Whether each task has an intercept.

    Attributes
    ----------
    B : ndarray of shape (n_tasks, n_features)
        The negative gradient at W = 0.
    c : float
        Twice the loss at W = 0.
    n : float
        What the loss is divided by.

    Examples
    --------
    >>> squares = Squares(np.array([[0.0], [2.0]]), np.array([[1.0, 0.0], [3.0, np.nan]]))
    >>> squares.n, squares.c
    (1.5, 1.3333333333333333)
    >>> squares.residuals(np.array([[1.0], [0.0]]))
    array([0., 0., 0., 0.])
    """

    def __init__(
        self, X: Any, Y: Float, task: npt.NDArray[np.int64] | None = None, *, with_intercept: bool = True
    ) -> None:
        self.with_intercept = with_intercept
        if task is not None and np.any(np.diff(task) < 0):
            order = np.argsort(task, kind="stable")
            X, Y, task = X[order], Y[order], task[order]
        self.X, self.shared = X, task is None
        labelled = ~np.isnan(Y)
        self.tasks: Tasks
        if task is None:
            self.tasks = SharedRows(X, labelled.astype(np.int8))
        else:
            ptr = np.concatenate([[0], np.cumsum(np.bincount(task))]).astype(np.int64)
            self.tasks = OwnRows(X, labelled.astype(np.int8), ptr)
        self.known = self.tasks.y.astype(bool)
        self.complete = self.shared and bool(self.known.all())
        m = self.tasks.n_tasks
        counts = np.add.reduceat(self.known, self.tasks.ptr[:-1]).astype(np.float64)
        self.n = float(counts.sum()) / m
        y = (Y if self.complete else np.where(labelled, Y, 0.0)).T.flatten()
        self.y_mean, self.x_mean = np.zeros(m), np.zeros((1 if self.complete else m, self.tasks.n_features))
        if with_intercept:
            self.y_mean = np.add.reduceat(y, self.tasks.ptr[:-1]) / counts
            if self.complete:
                self.x_mean = np.asarray(X.mean(axis=0)).reshape(1, -1)
            else:
                self.x_mean = self.tasks.slopes(self.known.astype(np.float64), 0, m) / counts[:, np.newaxis]
            y -= self._spread(self.y_mean)
        self.y = y if self.complete else np.where(self.known, y, 0.0)
        self.c = float(self.y @ self.y) / self.n
        self.B = self.gradient(self.y)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (n_tasks, n_features) of W."""
        return self.tasks.n_tasks, self.tasks.n_features

    def _spread(self, values: Float) -> Float:
        """Return one entry a row, from one a task."""
        return np.repeat(values, np.diff(self.tasks.ptr))

    def residuals(self, W: Float) -> Float:
        """Return what W leaves of the targets: flat, zero where there is no target."""
        scores = self.tasks.scores(W, 0, self.tasks.n_tasks)
        if self.with_intercept:
            scores -= self._spread(self._at_means(W))
        np.subtract(self.y, scores, out=scores)
        return scores if self.complete else np.where(self.known, scores, 0.0)

    def gradient(self, residuals: Float) -> Float:
        """Return the negative gradient at the weights of these residuals."""
        Q = self.tasks.slopes(residuals, 0, self.tasks.n_tasks) / self.n
        if self.with_intercept:
            # The residuals of a task sum to zero but for rounding, which large means would blow up.
            Q -= self.x_mean * (np.add.reduceat(residuals, self.tasks.ptr[:-1]) / self.n)[:, np.newaxis]
        return Q

    def intercept(self, W: Float) -> Float:
        """Return the best intercepts."""
        return self.y_mean - self._at_means(W)

    def _at_means(self, W: Float) -> Float:
        """Return the scores of the mean features."""
        return np.asarray(W @ self.x_mean[0] if self.complete else np.einsum("ij,ij->i", self.x_mean, W))

    def gram(self, features: npt.NDArray[np.int64] | slice) -> Float:
        """Return the Gram matrices of some features.

        Parameters
        ----------
        features : ndarray of int64 or slice
            Their numbers.

        Returns
        -------
        ndarray of shape (n_chosen, n_chosen, n_tasks), or (n_chosen, n_chosen, 1) where all tasks have the same
            Divided by n.
        """
        X = self._columns[:, features]
        if self.complete:
            return np.ascontiguousarray(self._gram(X, self.x_mean[0, features])[:, :, np.newaxis])
        out = np.empty((X.shape[1], X.shape[1], self.tasks.n_tasks))
        for i, (first, last) in enumerate(zip(self.tasks.ptr[:-1], self.tasks.ptr[1:], strict=True)):
            rows = np.flatnonzero(self.known[first:last]) + (0 if self.shared else first)
            out[:, :, i] = self._gram(X[rows], self.x_mean[i, features])
        return out

    @cached_property
    def _columns(self) -> Any:
        """X in a form that gives columns quickly."""
        return self.X.tocsc() if sp.issparse(self.X) else self.X

    def _gram(self, X: Any, mean: Float) -> Float:
        if sp.issparse(X):
            G: Float = (X.T @ X).toarray() - X.shape[0] * np.outer(mean, mean)
            return G / self.n
        G = np.zeros((X.shape[1], X.shape[1]))
        step = max(1, BLOCK // X.shape[1])
        for start in range(0, X.shape[0], step):
            Z = X[start : start + step] - mean
            G += Z.T @ Z
        return G / self.n
