r"""The training data as a solver sees it: two operations, :math:`s_i = X_i w_i` and :math:`g_i = X_i' c_i`.

Nothing else touches X. What holds the data (dense or sparse, one X for all tasks or rows of its own for each, float32
or float64) is known here and nowhere else.

Conventions
-----------
- W and the planes' slopes are float64 arrays of shape (n_features, n_tasks) in Fortran order: column i is task i's,
  and contiguous.
- Scores and coefficients are flat float64 arrays, one task after another: task i owns ``ptr[i]:ptr[i + 1]``.
- Labels ``y`` are flat int8: +1, -1, and 0 for a row that is not labelled for the task.
- Both operations take a range of tasks ``first:last``, so that tasks can be spread over threads, and so that scores
  of a thousand tasks need not be held at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["OwnRows", "SharedRows", "Tasks"]

Float: TypeAlias = npt.NDArray[np.float64]


class Tasks(ABC):
    """Rows and labels of all tasks.

    Attributes
    ----------
    y : ndarray of int8 of shape (n_labels,)
        All labels, one task after another.
    ptr : ndarray of int64 of shape (n_tasks + 1,)
        Where each task's labels begin.
    n_features, n_tasks : int
        The shape of W.
    n_products : int
        How many multiplications the scores of all tasks take.
    is_dense : bool
        Whether the features are a dense array.

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
    is_dense: bool

    @property
    def n_tasks(self) -> int:
        """The number of tasks."""
        return len(self.ptr) - 1

    @abstractmethod
    def scores(self, W: Float, first: int, last: int) -> Float:
        """Return the scores of the tasks ``first:last``.

        Parameters
        ----------
        W : ndarray of shape (n_features, n_tasks)
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
        ndarray of shape (n_features, last - first)
            One column a task.
        """

    @abstractmethod
    def differences(self, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64], i: int) -> npt.NDArray[np.float32]:
        """Return the rows ``a`` of task i minus its rows ``b``.

        Parameters
        ----------
        a, b : ndarray of int64 of shape (n,)
            Rows, counted from the task's first.
        i : int
            The task.

        Returns
        -------
        ndarray of shape (n, n_features)
            Dense, in single precision.
        """

    @abstractmethod
    def rows(self, labels: npt.NDArray[np.int64]) -> Float:
        """Return the features of some rows, where they are dense.

        Parameters
        ----------
        labels : ndarray of int64 of shape (n,)
            The rows, by where their labels are in ``y``.

        Returns
        -------
        ndarray of shape (n, n_features)
            A copy, in double precision.
        """


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
    array([[1., 1.],
           [0., 1.]])
    """

    def __init__(self, X: Any, Y: npt.NDArray[np.int8]) -> None:
        self.X = X
        self.n_samples, self.n_features = X.shape
        self.y = np.ascontiguousarray(Y.T).ravel()
        self.ptr = np.arange(Y.shape[1] + 1, dtype=np.int64) * self.n_samples
        self.is_dense = not sp.issparse(X)
        self.n_products = (X.size if self.is_dense else X.nnz) * self.n_tasks

    def scores(self, W: Float, first: int, last: int) -> Float:  # noqa: D102
        part = W[:, first:last].astype(self.X.dtype, copy=False)
        flat = np.dot(part.T, self.X.T) if self.is_dense else (self.X @ part).T
        return np.ascontiguousarray(flat, dtype=np.float64).ravel()

    def slopes(self, c: Float, first: int, last: int) -> Float:  # noqa: D102
        rows = c.reshape(last - first, self.n_samples).astype(self.X.dtype, copy=False)
        g = np.dot(rows, self.X).T if self.is_dense else (self.X.T @ rows.T)
        return np.asfortranarray(g, dtype=np.float64)

    def differences(  # noqa: D102
        self, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64], i: int
    ) -> npt.NDArray[np.float32]:
        return _differences(self.X, a, b)

    def rows(self, labels: npt.NDArray[np.int64]) -> Float:  # noqa: D102
        return np.ascontiguousarray(self.X[labels % self.n_samples], dtype=np.float64)


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
    >>> tasks.scores(np.array([[1.0, 5.0], [1.0, 0.0]]), 0, 2)
    array([1., 2., 5.])
    >>> tasks.slopes(np.array([1.0, 1.0, 1.0]), 0, 2)
    array([[1., 1.],
           [2., 1.]])
    """

    def __init__(self, X: Any, y: npt.NDArray[np.int8], ptr: npt.NDArray[np.int64]) -> None:
        self.n_features = X.shape[1]
        self.is_dense = not sp.issparse(X)
        self.n_products = X.size if self.is_dense else X.nnz
        self.y = np.ascontiguousarray(y)
        self.ptr = ptr
        self.X = X if self.is_dense else X.tocsr()
        self._parts = [self.X[a:b] for a, b in pairwise(ptr)]

    def scores(self, W: Float, first: int, last: int) -> Float:  # noqa: D102
        part = W.astype(self.X.dtype, copy=False)
        flat = [self._parts[i] @ part[:, i] for i in range(first, last)]
        return np.concatenate(flat).astype(np.float64, copy=False)

    def slopes(self, c: Float, first: int, last: int) -> Float:  # noqa: D102
        g = np.empty((self.n_features, last - first), order="F")
        offset = self.ptr[first]
        for i in range(first, last):
            rows = c[self.ptr[i] - offset : self.ptr[i + 1] - offset].astype(self.X.dtype, copy=False)
            g[:, i - first] = self._parts[i].T @ rows
        return g

    def differences(  # noqa: D102
        self, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64], i: int
    ) -> npt.NDArray[np.float32]:
        return _differences(self._parts[i], a, b)

    def rows(self, labels: npt.NDArray[np.int64]) -> Float:  # noqa: D102
        return np.ascontiguousarray(self.X[labels], dtype=np.float64)


def _differences(X: Any, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Return ``X[a] - X[b]`` for a dense or sparse X."""
    if sp.issparse(X):
        dense: npt.NDArray[np.float32] = (X[a] - X[b]).toarray().astype(np.float32, copy=False)
        return dense
    from smtl.kernels import curvature

    D = np.empty((len(a), X.shape[1]), dtype=np.float32)
    curvature.differences(X, a, b, D)
    return D
