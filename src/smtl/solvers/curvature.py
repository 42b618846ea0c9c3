r"""Second derivatives of smooth losses, one matrix a task: guesses that say where to pass next, never what is true.

With the second derivatives :math:`v_k` of the rows' losses, that of a task's loss is :math:`\sum_k v_k x_k x_k'`. With
an intercept the loss is :math:`\min_b G_i(w, b)`, whose second derivative is that about the weighted mean,
:math:`\sum_k v_k (x_k - \bar x)(x_k - \bar x)'`, and the best intercept falls by :math:`\bar x'` times the change of w.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.metrics import Metric
from smtl.tasks import Tasks

__all__ = ["Curvature", "RowCurvature"]

Float: TypeAlias = npt.NDArray[np.float64]
Single: TypeAlias = npt.NDArray[np.float32]
Indices: TypeAlias = npt.NDArray[np.intp]


class Curvature(Protocol):
    """What a solver may ask of second derivatives.

    Attributes
    ----------
    H : ndarray of float32 of shape (n_tasks, n_features, n_features)
        One matrix a task.
    mean : ndarray of shape (n_tasks, n_features)
        By how much the best intercepts fall with the weights; zero without intercepts.
    """

    H: Single
    mean: Float

    def cost(self) -> float:
        """Return about how many multiplications the matrices of all tasks take."""

    def move(self, W: Float, intercept: Float, reuse: float) -> Indices:
        """Bring the matrices to other weights.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            The weights.
        intercept : ndarray of shape (n_tasks,)
            Their intercepts.
        reuse : float
            A task's matrix is used again while its rows' derivatives have changed by no more than this part.

        Returns
        -------
        ndarray of int
            The tasks whose matrices have changed.
        """


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
    >>> curvature = RowCurvature(tasks, Log(), True, None)
    >>> curvature.move(np.zeros((1, 1)), np.zeros(1), 0.1), curvature.H.round(6)
    (array([0]), array([[[0.5]]], dtype=float32))
    """

    def __init__(self, tasks: Tasks, metric: Metric, with_intercept: bool, offset: Float | None) -> None:
        self.tasks, self.metric = tasks, metric
        self.with_intercept, self.offset = with_intercept, offset
        self.H: Single = np.zeros((0, 0, 0), dtype=np.float32)
        self.mean: Float = np.zeros((tasks.n_tasks, tasks.n_features))
        self._second: Float = np.zeros(len(tasks.y))

    def cost(self) -> float:  # noqa: D102
        return 0.5 * len(self.tasks.y) * self.tasks.n_features**2

    def move(self, W: Float, intercept: Float, reuse: float) -> Indices:  # noqa: D102
        tasks, ptr = self.tasks, self.tasks.ptr
        if not len(self.H):
            self.H = np.zeros((*self.mean.shape, tasks.n_features), dtype=np.float32)
        scores = tasks.scores(W, 0, tasks.n_tasks)
        if self.offset is not None:
            scores += self.offset
        second = self.metric.curvatures(scores, tasks.y, ptr, intercept)
        assert second is not None
        if tasks.weights is not None:
            second = second * tasks.weights
        if tasks.task_weight is not None:
            second = second * np.repeat(tasks.task_weight, np.diff(ptr))
        sums = np.add.reduceat(second, ptr[:-1])
        changed = np.flatnonzero(np.add.reduceat(np.abs(second - self._second), ptr[:-1]) > reuse * sums)
        if self.with_intercept and len(changed):
            totals = tasks.slopes(second, 0, tasks.n_tasks)
            self.mean[changed] = (totals / np.maximum(sums, 1e-300)[:, np.newaxis])[changed]
        for i in map(int, changed):
            rows = slice(ptr[i], ptr[i + 1])
            self.H[i] = tasks.squares(i, second[rows], self.mean[i])
            self._second[rows] = second[rows]
        return changed
