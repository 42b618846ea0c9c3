r"""The training data as a solver sees it: two operations, :math:`s_i = X_i w_i` and :math:`g_i = X_i' c_i`.

Nothing else touches X. What holds the data (dense or sparse, one X for all tasks or rows of its own for each, float32
or float64) is known here and nowhere else. Both operations are done in float64: float32 features are widened block by
block on the way, so that planes made of them are true to rounding, and no copy of X is held.

Conventions
-----------
- W and the planes' slopes are float64 arrays of shape (n_tasks, n_features) in C order: row i is task i's.
- Scores and coefficients are flat float64 arrays, one task after another: task i owns ``ptr[i]:ptr[i + 1]``.
- Labels ``y`` are flat int8: +1, -1, and 0 for a row that is not labelled for the task.
- Both operations take a range of tasks ``first:last``, so that tasks can be spread over threads, and so that scores
  of a thousand tasks need not be held at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import qr

from smtl.groups import Groups

__all__ = ["OwnRows", "SharedRows", "Tasks"]

Float: TypeAlias = npt.NDArray[np.float64]
Single: TypeAlias = npt.NDArray[np.float32]

# With so many features a row, a rotation into the span of the rows pays within a few passes.
FEATURES_A_ROW = 2.0
BLOCK_BYTES = 2**20  # float32 rows widened at once, in bytes; measured: 0.25 to 4 MiB are equally fast


class Tasks(ABC):
    """Rows and labels of all tasks.

    Attributes
    ----------
    y : ndarray of int8 of shape (n_labels,)
        All labels, one task after another.
    ptr : ndarray of int64 of shape (n_tasks + 1,)
        Where each task's labels begin.
    n_tasks, n_features : int
        The shape of W.
    n_products : int
        How many multiplications the scores of all tasks take.
    groups : Groups or None
        The groups of rows within which the tasks are judged; None where all rows of a task are judged together.
    weights : ndarray of shape (n_labels,) or None
        What each label counts, in the order of ``y``: positive where there is a label. A weight of k is k equal rows.
        None: all count the same.
    task_weight : ndarray of shape (n_tasks,) or None
        What each task's loss is multiplied by; positive.
    shared : bool
        Whether all tasks have the same rows.

    Examples
    --------
    >>> tasks: Tasks = SharedRows(np.eye(2), np.array([[1, -1], [-1, 1]], dtype=np.int8))
    >>> tasks.n_features, tasks.n_tasks
    (2, 2)
    """

    y: npt.NDArray[np.int8]
    ptr: npt.NDArray[np.int64]
    n_features: int
    n_products: int
    groups: Groups | None = None
    weights: Float | None = None
    task_weight: Float | None = None
    shared: bool = False

    @property
    def n_tasks(self) -> int:
        """The number of tasks."""
        return len(self.ptr) - 1

    @abstractmethod
    def scores(self, W: Float, first: int, last: int) -> Float:
        """Return the scores of the tasks ``first:last``.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            The weights of all tasks.
        first, last : int
            The range of tasks.

        Returns
        -------
        ndarray of shape (ptr[last] - ptr[first],)
            Flat scores.
        """

    @abstractmethod
    def slopes(self, c: Float, first: int, last: int) -> Float:
        """Return the slopes g of the planes with coefficients ``c``, for the tasks ``first:last``.

        Parameters
        ----------
        c : ndarray of shape (ptr[last] - ptr[first],)
            Flat coefficients.
        first, last : int
            The range of tasks.

        Returns
        -------
        ndarray of shape (last - first, n_features)
            One row a task.
        """

    @abstractmethod
    def squares(self, i: int, weights: Float, centre: Float) -> Single:
        r"""Return :math:`\sum_k v_k (x_k - c)(x_k - c)'` over the rows of one task.

        It is a guess for solvers, not a part of any certificate: float32 takes half the time.

        Parameters
        ----------
        i : int
            The task.
        weights : ndarray of shape (ptr[i + 1] - ptr[i],)
            The weights v of its rows, not negative.
        centre : ndarray of shape (n_features,)
            The centre c.

        Returns
        -------
        ndarray of float32 of shape (n_features, n_features)
            A symmetric matrix.
        """

    def principal_axes(self) -> tuple[Float, Float, Float] | None:
        r"""Return the eigenvalues and eigenvectors of the rows' squares about their mean, where the rows are `shared`.

        A row of weight k counts k times. As `squares`, they are a guess for solvers. They are computed once. None
        where float32 cannot hold the squares.

        Returns
        -------
        values : ndarray of shape (n_features,)
            Ascending.
        axes : ndarray of shape (n_features, n_features)
            In columns.
        mean : ndarray of shape (n_features,)
            The mean of the rows.
        """
        raise NotImplementedError(f"{type(self).__name__} has rows that its tasks do not share.")

    def in_span(self) -> tuple[Tasks, Float] | None:
        r"""Return the tasks in the span of their rows where these are far fewer than the features.

        Returns
        -------
        tasks : Tasks
            The same tasks with R for X, where :math:`X = RQ'`. None, without Q, where that is not worth it.
        Q : ndarray of shape (n_features, n_samples)
            Orthonormal columns.
        """
        return None


class SharedRows(Tasks):
    """All tasks have the same rows: one matrix product serves all of them.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features, float32 or float64, not copied.
    Y : ndarray of int8 of shape (n_samples, n_tasks)
        Labels +1, -1, or 0 where there is none.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> tasks = SharedRows(X, np.array([[1, -1], [-1, 1], [0, 1]], dtype=np.int8))
    >>> tasks.scores(np.eye(2), 0, 2)
    array([1., 0., 1., 0., 2., 1.])
    >>> tasks.slopes(np.array([1.0, 0.0, 0.0, 0.0, 0.0, 1.0]), 0, 2)
    array([[1., 0.],
           [1., 1.]])
    """

    shared = True

    def __init__(self, X: Any, Y: npt.NDArray[np.int8]) -> None:
        self.X = X
        self._axes: tuple[Float, Float, Float] | None = None
        self.n_samples, self.n_features = X.shape
        self.y = np.ascontiguousarray(Y.T).ravel()
        self.ptr = np.arange(Y.shape[1] + 1, dtype=np.int64) * self.n_samples
        self.n_products = (X.nnz if sp.issparse(X) else X.size) * self.n_tasks

    def scores(self, W: Float, first: int, last: int) -> Float:  # noqa: D102
        return _scores(self.X, W[first:last]).ravel()

    def slopes(self, c: Float, first: int, last: int) -> Float:  # noqa: D102
        return _slopes(self.X, c.reshape(last - first, self.n_samples))

    def squares(self, i: int, weights: Float, centre: Float) -> Single:  # noqa: D102
        return _squares(self.X, weights, centre)

    def principal_axes(self) -> tuple[Float, Float, Float] | None:  # noqa: D102
        if self._axes is None:
            counts = np.ones(self.n_samples)
            if self.weights is not None:  # all tasks together
                counts = self.weights.reshape(self.n_tasks, -1).mean(axis=0)
            mean = _slopes(self.X, counts / counts.sum())
            with np.errstate(over="ignore", invalid="ignore"):
                squares = _squares(self.X, counts, mean).astype(np.float64)
            if not np.isfinite(squares).all():
                return None
            values, axes = np.linalg.eigh(squares)
            self._axes = values, axes, mean
        return self._axes

    def in_span(self) -> tuple[Tasks, Float] | None:  # noqa: D102
        if sp.issparse(self.X) or self.n_features < FEATURES_A_ROW * self.n_samples:
            return None
        Q, R = qr(np.asarray(self.X, dtype=np.float64).T, mode="economic", check_finite=False)
        tasks = copy(self)
        tasks._axes = None
        tasks.X = np.ascontiguousarray(R.T)
        tasks.n_features, tasks.n_products = self.n_samples, R.size * self.n_tasks
        return tasks, Q


class OwnRows(Tasks):
    """Each task has rows of its own.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_rows, n_features)
        Features, float32 or float64, the rows of each task together, in the order of the tasks. Not copied.
    y : ndarray of int8 of shape (n_rows,)
        Labels +1, -1, or 0 where there is none.
    ptr : ndarray of int64 of shape (n_tasks + 1,)
        Task i owns the rows ``ptr[i]:ptr[i + 1]``.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> tasks = OwnRows(X, np.array([1, -1, 1], dtype=np.int8), np.array([0, 2, 3]))
    >>> tasks.scores(np.array([[1.0, 1.0], [5.0, 0.0]]), 0, 2)
    array([1., 2., 5.])
    >>> tasks.slopes(np.array([1.0, 1.0, 1.0]), 0, 2)
    array([[1., 2.],
           [1., 1.]])
    """

    def __init__(self, X: Any, y: npt.NDArray[np.int8], ptr: npt.NDArray[np.int64]) -> None:
        self.n_features = X.shape[1]
        self.n_products = X.nnz if sp.issparse(X) else X.size
        self.y = np.ascontiguousarray(y)
        self.ptr = ptr
        self.X = X.tocsr() if sp.issparse(X) else X
        self._parts = [self.X[a:b] for a, b in pairwise(ptr)]

    def scores(self, W: Float, first: int, last: int) -> Float:  # noqa: D102
        return np.concatenate([_scores(self._parts[i], W[i]) for i in range(first, last)])

    def slopes(self, c: Float, first: int, last: int) -> Float:  # noqa: D102
        g = np.empty((last - first, self.n_features))
        before = self.ptr[first]
        for i in range(first, last):
            g[i - first] = _slopes(self._parts[i], c[self.ptr[i] - before : self.ptr[i + 1] - before])
        return g

    def squares(self, i: int, weights: Float, centre: Float) -> Single:  # noqa: D102
        return _squares(self._parts[i], weights, centre)


def _blocks(X: Any) -> Iterator[tuple[slice, Any]]:
    """Yield rows of X and what they hold, in float64; a float32 array is widened block by block."""
    if X.dtype == np.float64 or sp.issparse(X):
        yield slice(None), X  # SciPy widens a sparse array by itself
        return
    n = max(BLOCK_BYTES // (8 * max(X.shape[1], 1)), 1)
    wide = np.empty((min(n, X.shape[0]), X.shape[1]))
    for start in range(0, X.shape[0], n):
        rows = X[start : start + n]
        wide[: len(rows)] = rows
        yield slice(start, start + n), wide[: len(rows)]


def _scores(X: Any, w: Float) -> Float:
    """Return the scores of one task's weights, or of several, a row a task."""
    out = np.empty((*w.shape[:-1], X.shape[0]))
    for rows, block in _blocks(X):
        if sp.issparse(block):
            out[..., rows] = (block @ w.T).T
        else:
            np.matmul(w, block.T, out=out[..., rows])
    return out


def _slopes(X: Any, c: Float) -> Float:
    """Return the slopes of one task's coefficients, or of several, a row a task."""
    out = np.zeros((*c.shape[:-1], X.shape[1]))
    for rows, block in _blocks(X):
        part = c[..., rows]
        out += (block.T @ part.T).T if sp.issparse(block) else np.dot(part, block)
    return out


def _squares(X: Any, weights: Float, centre: Float) -> Single:
    """Return the weighted squares of X about a centre."""
    out = np.zeros((X.shape[1], X.shape[1]), dtype=np.float32)
    roots, middle = np.sqrt(weights).astype(np.float32), centre.astype(np.float32)
    n = max(BLOCK_BYTES // (4 * max(X.shape[1], 1)), 1)
    room = np.empty((min(n, X.shape[0]), X.shape[1]), dtype=np.float32)
    for start in range(0, X.shape[0], n):
        rows = X[start : start + n]
        block = room[: rows.shape[0]]
        np.subtract(rows.toarray() if sp.issparse(rows) else rows, middle, out=block, casting="same_kind")
        block *= roots[start : start + n, np.newaxis]
        out += block.T @ block
    return out
