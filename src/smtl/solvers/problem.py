r"""The problem :math:`\min_W \Omega(W) + C \sum_i G_i(w_i)`, as all solvers see it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from smtl.metrics import Metric
from smtl.penalties import Penalty
from smtl.tasks import Tasks

__all__ = ["Losses", "Problem"]

Float: TypeAlias = npt.NDArray[np.float64]
T = TypeVar("T")

# Scores and coefficients of a group of tasks are held at once; more tasks than fit are treated group by group.
GROUP_BYTES = 256 * 2**20


class Losses(NamedTuple):
    """What planes depend on: everything of a problem but the penalty and C.

    Attributes
    ----------
    tasks : Tasks
        The data.
    metric : Metric
        The metric.
    parameters : dict
        Its parameters, in case they are changed later.
    with_intercept : bool
        Whether each task has an intercept.
    offset : ndarray of shape (n_labels,) or None
        Scores to start from.
    """

    tasks: Tasks
    metric: Metric
    parameters: dict[str, Any]
    with_intercept: bool
    offset: Float | None

    def are(self, other: Losses | None) -> bool:
        """Return whether planes of the other losses hold for these: data, metric and offset are the same objects.

        Parameters
        ----------
        other : Losses or None
            The other losses.

        Returns
        -------
        bool
            False for data that are equal but not the same: to find that out would cost as much as a pass.
        """
        return other is not None and (
            self.tasks is other.tasks
            and self.metric is other.metric
            and self.parameters == other.parameters
            and self.with_intercept == other.with_intercept
            and self.offset is other.offset
        )


class Problem:
    r"""Tasks, a metric, a penalty and C, with an intercept or without.

    Parameters
    ----------
    tasks : Tasks
        The data; every task has both classes.
    metric : Metric
        The metric.
    penalty : Penalty
        The penalty.
    C : float
        The weight of the loss.
    with_intercept : bool, default=False
        Whether each task has an unpenalised intercept. The loss is then partially minimised over it,
        :math:`G_i(w) = \min_b G_i(w, b)`, so that W remains the only variable.
    offset : ndarray of shape (n_labels,), optional
        Scores to start from, in the order of ``tasks.y``: those of a model to correct. The scores of a task are then
        :math:`X_i w_i + o_i`, and its planes :math:`\Delta - o_i'c - w'g`. By default there are none.
    executor : ThreadPoolExecutor, optional
        Threads to spread the tasks over. The result does not depend on them.
    n_threads : int, default=1
        How many groups to make of the tasks.

    Examples
    --------
    >>> from smtl.metrics import AUC
    >>> from smtl.penalties import L21
    >>> from smtl.tasks import SharedRows
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> tasks = SharedRows(X, np.array([[1], [-1], [1]], dtype=np.int8))
    >>> problem = Problem(tasks, AUC(), L21(), C=1.0)
    >>> delta, G, value = problem.planes(np.zeros((2, 1)), np.zeros(1))
    >>> delta, value
    (array([1.]), array([1.]))
    >>> G
    array([[ 1. ],
           [-1.5]])
    """

    def __init__(
        self,
        tasks: Tasks,
        metric: Metric,
        penalty: Penalty,
        C: float,
        *,
        with_intercept: bool = False,
        offset: Float | None = None,
        executor: ThreadPoolExecutor | None = None,
        n_threads: int = 1,
    ) -> None:
        self.tasks = tasks
        self.metric = metric
        self.penalty = penalty
        self.C = C
        self.with_intercept = with_intercept and metric.uses_intercept
        self.offset = None if offset is None else _check_offset(offset, len(tasks.y))
        self._executor = executor
        self.groups = _groups(tasks.ptr, n_threads)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (n_features, n_tasks) of W."""
        return self.tasks.n_features, self.tasks.n_tasks

    def for_each_group(self, work: Callable[[int, int], T]) -> list[T]:
        """Return ``work(first, last)`` for each group of tasks, in the order of the groups.

        Parameters
        ----------
        work : callable
            What to do for the tasks ``first:last``.

        Returns
        -------
        list
            One result a group.
        """
        if self._executor is None or len(self.groups) == 1:
            return [work(first, last) for first, last in self.groups]
        return list(self._executor.map(lambda group: work(*group), self.groups))

    def planes(
        self,
        W: Float,
        shift: Float,
        eps: float = 0.0,
    ) -> tuple[Float, Float, Float]:
        r"""Ask the oracle of every task at W: one pass over the data.

        Parameters
        ----------
        W : ndarray of shape (n_features, n_tasks)
            Where to ask.
        shift : ndarray of shape (n_tasks,)
            With an intercept: a first guess for each task, overwritten by the best one.
        eps : float, default=0.0
            How far from its minimum over the intercept a loss may be.

        Returns
        -------
        delta : ndarray of shape (n_tasks,)
            The planes' offsets.
        G : ndarray of shape (n_features, n_tasks)
            The planes' slopes.
        value : ndarray of shape (n_tasks,)
            The losses :math:`G_i(w_i)`.
        """
        tasks, ptr = self.tasks, self.tasks.ptr

        def work(first: int, last: int) -> tuple[Float, Float, Float]:
            rows, starts = slice(ptr[first], ptr[last]), ptr[first : last + 1] - ptr[first]
            scores = tasks.scores(W, first, last)
            if self.offset is not None:
                scores += self.offset[rows]
            delta, c, value = self.metric.planes(
                scores,
                tasks.y[rows],
                starts,
                shift=shift[first:last],
                with_intercept=self.with_intercept,
                eps=eps,
            )
            if self.offset is not None:
                delta = delta - np.add.reduceat(self.offset[rows] * c, starts[:-1])
            return delta, tasks.slopes(c, first, last), value

        parts = self.for_each_group(work)
        if len(parts) == 1:
            return parts[0]
        delta, G, value = zip(*parts, strict=True)
        return np.concatenate(delta), np.concatenate([g.T for g in G]).T, np.concatenate(value)

    @property
    def losses(self) -> Losses:
        """What the planes of this problem hold for."""
        return Losses(self.tasks, self.metric, dict(vars(self.metric)), self.with_intercept, self.offset)

    def work(self) -> float:
        """Return about how many multiplications a pass over the data takes.

        Returns
        -------
        float
            The products with X, and 50 for each label, of which most are the sort's.
        """
        return float(self.tasks.n_products + 50 * len(self.tasks.y))

    def prox(self, M: Float, step: float) -> Float:
        """Return the prox of the penalty.

        Parameters
        ----------
        M : ndarray of shape (n_features, n_tasks)
            The point to start from.
        step : float
            The step.

        Returns
        -------
        ndarray of shape (n_features, n_tasks)
            In float64 and Fortran order.
        """
        return np.asfortranarray(self.penalty.prox(M, step), dtype=np.float64)

    def like(self, M: Float, S: Float) -> Float:
        """Return M with the zeros of S, as the penalty has them.

        Parameters
        ----------
        M, S : ndarray of shape (n_features, n_tasks)
            Weights.

        Returns
        -------
        ndarray of shape (n_features, n_tasks)
            In float64 and Fortran order.
        """
        return np.asfortranarray(self.penalty.like(M, S), dtype=np.float64)

    def objective(self, W: Float, value: Float | float) -> float:
        r"""Return :math:`\Omega(W) + C \sum_i G_i`.

        Parameters
        ----------
        W : ndarray of shape (n_features, n_tasks)
            Weights.
        value : ndarray of shape (n_tasks,), or float
            The losses at W, or their sum.

        Returns
        -------
        float
            The objective.
        """
        return self.penalty.value(W) + self.C * float(np.sum(value))


def _check_offset(offset: Float, n_labels: int) -> Float:
    """Return the offset as flat float64, or raise."""
    checked = np.ascontiguousarray(offset, dtype=np.float64)
    if checked.shape != (n_labels,) or not np.isfinite(checked).all():
        raise ValueError(
            f"offset must be {n_labels} finite numbers, one for each label of each task, got shape {checked.shape} "
            f"with {int(np.sum(~np.isfinite(checked)))} that are not finite instead."
        )
    return checked


def _groups(ptr: npt.NDArray[np.int64], n_threads: int) -> list[tuple[int, int]]:
    """Divide the tasks into groups of about equal numbers of rows, one a thread or as many as memory asks for."""
    rows = int(ptr[-1])
    n_groups = max(n_threads, -(-16 * rows // GROUP_BYTES))
    if n_groups == 1:
        return [(0, len(ptr) - 1)]
    cuts = np.searchsorted(ptr, np.linspace(0, rows, n_groups + 1))
    cuts[0], cuts[-1] = 0, len(ptr) - 1
    cuts = np.unique(cuts)
    return [(int(a), int(b)) for a, b in pairwise(cuts)]
