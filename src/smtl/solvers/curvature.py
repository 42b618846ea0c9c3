r"""Second derivatives of smooth losses, one matrix a task: guesses that say where to pass next, never what is true.

With the second derivatives :math:`v_k` of the rows' losses, that of a task's loss is :math:`\sum_k v_k x_k x_k'`. With
an intercept the loss is :math:`\min_b G_i(w, b)`, whose second derivative is that about the weighted mean,
:math:`\sum_k v_k (x_k - \bar x)(x_k - \bar x)'`, and the best intercept falls by :math:`\bar x'` times the change of w.

Where tasks share their rows, at W = 0 the matrices are multiples of one: `CommonMatrices`, of which one is taken apart
for all tasks, whatever C. `OwnMatrices` cost as much for every task.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf, dpotri

from smtl.metrics import Metric
from smtl.tasks import Tasks

__all__ = ["CommonMatrices", "Curvature", "Matrices", "OwnMatrices", "RowCurvature"]

Float: TypeAlias = npt.NDArray[np.float64]

LEAST = 1e-30  # second derivatives below it, and above its inverse, are beyond the single precision they are made in
FLOOR = 1e-6  # the least eigenvalue of a common matrix, as a part of its largest: more digits are not in it


class Matrices(ABC):
    r"""A symmetric matrix :math:`H_i` for each task, in a frame of the features in which products are cheap.

    Vectors stand in rows, in the frame: arrays of shape (n_tasks, n, n_features) hold n of them for each task.
    """

    mu: float = 0.0

    @abstractmethod
    def into_frame(self, V: Float) -> Float:
        """Return V, of shape (n_tasks, n_features), in the frame: a rotation of the features."""

    @abstractmethod
    def out_of_frame(self, V: Float) -> Float:
        """Return V, which is in the frame, as it is outside."""

    @abstractmethod
    def times(self, vectors: Float) -> Float:
        r"""Return :math:`H_i` times each vector."""

    @abstractmethod
    def set_mu(self, mu: float) -> bool:
        r"""Make ready for :math:`(H_i + \mu I)^{-1}`; return whether all of these are positive."""

    @abstractmethod
    def inverse_times(self, vectors: Float) -> Float:
        r"""Return :math:`(H_i + \mu I)^{-1}` times each vector."""

    @abstractmethod
    def rescale(self, step: Float, change: Float) -> None:
        """Bring the size of the matrices near to what a step and the gradient's change show, where that is known."""

    @abstractmethod
    def trace(self) -> float:
        """Return the sum of the diagonals."""


class CommonMatrices(Matrices):
    r"""Multiples of one matrix :math:`Q \operatorname{diag}(\lambda) Q'`. The frame is that of its eigenvectors.

    Parameters
    ----------
    values : ndarray of shape (n_features,)
        The eigenvalues, ascending.
    Q : ndarray of shape (n_features, n_features)
        The eigenvectors, in columns.
    scale : ndarray of shape (n_tasks,)
        The multiples.
    """

    def __init__(self, values: Float, Q: Float, scale: Float) -> None:
        self.values, self.Q, self.scale = np.maximum(values, FLOOR * values[-1]), Q, scale

    def into_frame(self, V: Float) -> Float:  # noqa: D102
        return V @ self.Q

    def out_of_frame(self, V: Float) -> Float:  # noqa: D102
        return V @ self.Q.T

    def times(self, vectors: Float) -> Float:  # noqa: D102
        products: Float = vectors * (self.scale[:, np.newaxis] * self.values)[:, np.newaxis]
        return products

    def set_mu(self, mu: float) -> bool:  # noqa: D102
        self.mu = mu
        self._inverse: Float = 1.0 / (self.scale[:, np.newaxis] * self.values + mu)[:, np.newaxis]
        return bool(np.isfinite(self._inverse).all())

    def inverse_times(self, vectors: Float) -> Float:  # noqa: D102
        products: Float = vectors * self._inverse
        return products

    def rescale(self, step: Float, change: Float) -> None:  # noqa: D102
        product = np.einsum("ij,ij->i", step, change)
        square = change**2 @ (1.0 / self.values)
        self.scale = np.where(product > 0.0, square / np.where(product > 0.0, product, 1.0), self.scale)

    def trace(self) -> float:  # noqa: D102
        return float(self.scale.sum() * self.values.sum())


class OwnMatrices(Matrices):
    """A matrix for each task, and its inverse; in no other frame.

    Parameters
    ----------
    H : ndarray of shape (n_tasks, n_features, n_features)
        The matrices.
    room : ndarray of the same shape
        Memory for the inverses. They are in double precision: mu may be 1e-7 of H.
    """

    def __init__(self, H: Float, room: Float) -> None:
        self.H, self._inverse = H, room

    def into_frame(self, V: Float) -> Float:  # noqa: D102
        return V

    def out_of_frame(self, V: Float) -> Float:  # noqa: D102
        return V

    def times(self, vectors: Float) -> Float:  # noqa: D102
        products: Float = np.matmul(vectors, self.H)
        return products

    def set_mu(self, mu: float) -> bool:  # noqa: D102
        if mu == self.mu:
            return True
        self.mu = mu
        for H, inverse in zip(self.H, self._inverse, strict=True):
            inverse[:] = H
            inverse.flat[:: len(H) + 1] += mu
            factor, singular = dpotrf(inverse.T, lower=0, clean=1, overwrite_a=1)
            if singular:
                return False
            half, _ = dpotri(factor, lower=0, overwrite_c=1)
            np.add(half, half.T, out=inverse)
            inverse.flat[:: len(H) + 1] *= 0.5
        return True

    def inverse_times(self, vectors: Float) -> Float:  # noqa: D102
        products: Float = np.matmul(vectors, self._inverse)
        return products

    def rescale(self, step: Float, change: Float) -> None:  # noqa: D102
        pass  # they are made where the steps begin

    def trace(self) -> float:  # noqa: D102
        return float(np.einsum("ijj->", self.H))


class Curvature(Protocol):
    """What a solver may ask of second derivatives, at weights and intercepts of its choice.

    Attributes
    ----------
    mean : ndarray of shape (n_tasks, n_features)
        By how much the best intercepts fall with the weights, near where matrices were last asked for.
    """

    mean: Float

    def costs(self) -> tuple[float, float]:
        """Return about how many multiplications `common` and `own` take; infinity for what is not to be had."""

    def common(self, W: Float, intercept: Float, C: float) -> Matrices | None:
        """Return multiples of one matrix, about C times the second derivatives; None where numbers overflow."""

    def own(self, W: Float, intercept: Float, C: float) -> Matrices | None:
        """Return C times the second derivatives; None where numbers overflow. They end those returned before."""


class RowCurvature:
    """Second derivatives of losses that are sums over rows in memory.

    Parameters
    ----------
    tasks : Tasks
        The data.
    metric : Metric
        A metric that knows its `curvatures`.
    with_intercept : bool
        Whether each task has an intercept.
    offset : ndarray of shape (n_labels,) or None
        Scores to start from.

    Examples
    --------
    >>> from smtl.metrics import Log
    >>> from smtl.tasks import SharedRows
    >>> tasks = SharedRows(np.array([[2.0], [0.0]]), np.array([[1], [-1]], dtype=np.int8))
    >>> matrices = RowCurvature(tasks, Log(), True, None).own(np.zeros((1, 1)), np.zeros(1), 1.0)
    >>> matrices.times(np.ones((1, 1, 1))).round(6)
    array([[[0.5]]])
    """

    def __init__(self, tasks: Tasks, metric: Metric, with_intercept: bool, offset: Float | None) -> None:
        self.tasks, self.metric = tasks, metric
        self.with_intercept, self.offset = with_intercept, offset
        self.mean: Float = np.zeros((tasks.n_tasks, tasks.n_features))
        self._room: Float | None = None  # for the matrices of all tasks and their inverses

    def costs(self) -> tuple[float, float]:  # noqa: D102
        d = self.tasks.n_features
        own = 0.5 * len(self.tasks.y) * d**2
        # An eigendecomposition takes about ten times the cube, at a lower speed than products.
        return own / self.tasks.n_tasks + 10.0 * d**3 if self.tasks.shared else np.inf, own

    def common(self, W: Float, intercept: Float, C: float) -> Matrices | None:  # noqa: D102
        found = self.tasks.principal_axes()
        if found is None or not LEAST < found[0][-1] < 1.0 / LEAST:
            return None
        values, Q, mean = found
        tasks, second = self.tasks, self._second(W, intercept)
        n = (len(tasks.y) if tasks.weights is None else tasks.weights.sum()) / tasks.n_tasks
        if self.with_intercept:
            self.mean[:] = mean
        return CommonMatrices(values, Q, C * self._sums(second) / n)

    def own(self, W: Float, intercept: Float, C: float) -> Matrices | None:  # noqa: D102
        tasks, ptr = self.tasks, self.tasks.ptr
        second = self._second(W, intercept)
        if self.with_intercept:
            totals = tasks.slopes(second, 0, tasks.n_tasks)
            self.mean[:] = totals / np.maximum(self._sums(second), 1e-300)[:, np.newaxis]
        if self._room is None:
            self._room = np.empty((2, *self.mean.shape, tasks.n_features))
        H, inverse = self._room
        second *= C
        with np.errstate(over="ignore", invalid="ignore"):
            for i in range(tasks.n_tasks):
                H[i] = tasks.squares(i, second[ptr[i] : ptr[i + 1]], self.mean[i])
        largest = np.einsum("ijj->ij", H).max(initial=0.0)  # of a positive matrix it is on the diagonal
        return OwnMatrices(H, inverse) if LEAST < largest < 1.0 / LEAST else None

    def _second(self, W: Float, intercept: Float) -> Float:
        """Return the second derivatives of all rows."""
        tasks = self.tasks
        scores = tasks.scores(W, 0, tasks.n_tasks)
        if self.offset is not None:
            scores += self.offset
        second = self.metric.curvatures(scores, tasks.y, tasks.ptr, intercept)
        assert second is not None
        if tasks.weights is not None:
            second = second * tasks.weights
        return second if tasks.task_weight is None else second * np.repeat(tasks.task_weight, np.diff(tasks.ptr))

    def _sums(self, second: Float) -> Float:
        """Return the sum over the rows of each task."""
        sums: Float = np.add.reduceat(second, self.tasks.ptr[:-1])
        return sums
