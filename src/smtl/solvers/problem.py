r"""The problem :math:`\min_W \Omega(W) + C \sum_i G_i(w_i)` of data in memory, for every C."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.metrics import Metric
from smtl.metrics.weighting import weighted_planes
from smtl.penalties import Penalty
from smtl.solvers.curvature import Curvature, RowCurvature
from smtl.solvers.seam import Losses, Pass, Span
from smtl.tasks import Tasks

__all__ = ["Problem"]

Float: TypeAlias = npt.NDArray[np.float64]

# Scores and coefficients of a group of tasks are held at once; more tasks than fit are treated group by group.
GROUP_BYTES = 256 * 2**20


class Problem:
    r"""Tasks, a metric and a penalty, with an intercept or without.

    Parameters
    ----------
    tasks : Tasks
        The data; every task has both classes. Where they have groups, the loss of a task is the mean over its groups,
        and there is no intercept.
    metric : Metric
        The metric.
    penalty : Penalty
        The penalty.
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
    >>> problem = Problem(tasks, AUC(), L21())
    >>> problem.one_pass(np.zeros((1, 2)), np.zeros(1))
    Pass(loss=array([1.]), delta=array([1.]), slope=array([[ 1. , -1.5]]), scaled=None)
    """

    def __init__(
        self,
        tasks: Tasks,
        metric: Metric,
        penalty: Penalty,
        *,
        with_intercept: bool = False,
        offset: Float | None = None,
        executor: ThreadPoolExecutor | None = None,
        n_threads: int = 1,
    ) -> None:
        self.tasks = tasks
        self.metric = metric
        self.penalty = penalty
        self.with_intercept = with_intercept and metric.uses_intercept
        if self.with_intercept and tasks.groups is not None:
            raise ValueError(
                f"metric must be one of the order, such as 'ap', 'ndcg' or 'auc', where groups are given, got "
                f"{metric!r} instead: its intercept would have to suit all groups at once. Or use fit_intercept=False."
            )
        self.offset = None if offset is None else _check_offset(offset, len(tasks.y))
        # The coefficients of all labels are kept for it until the next pass.
        known = type(metric).highest_offsets is not Metric.highest_offsets
        self._knows_offsets = known and tasks.groups is None and 8 * len(tasks.y) <= GROUP_BYTES
        self._executor = executor
        self.groups = _groups(tasks.ptr, n_threads)

    def __repr__(self) -> str:
        return (
            f"Problem(metric={self.metric!r}, penalty={self.penalty!r}, {type(self.tasks).__name__} of "
            f"{len(self.tasks.y)} labels, (n_tasks, n_features)={self.shape}, with_intercept={self.with_intercept}, "
            f"offset={'none' if self.offset is None else 'given'})"
        )

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (n_tasks, n_features) of W."""
        return self.tasks.n_tasks, self.tasks.n_features

    @property
    def losses(self) -> Losses:
        """What the planes of this problem hold for."""
        return Losses(self.tasks, self.metric, dict(vars(self.metric)), self.with_intercept, self.offset)

    def cost(self) -> float:
        """Return about how many multiplications a pass over the data takes.

        Returns
        -------
        float
            The products with X, and 50 for each label, of which most are the sort's.
        """
        return float(self.tasks.n_products + 50 * len(self.tasks.y))

    def one_pass(self, W: Float, intercept: Float, eps: float = 0.0) -> Pass:
        r"""Ask the oracle of every task at W.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            Where to ask.
        intercept : ndarray of shape (n_tasks,)
            With an intercept: a first guess for each task, overwritten by the best one.
        eps : float, default=0.0
            How far from its minimum over the intercept a loss may be.

        Returns
        -------
        Pass
            Losses and planes.
        """
        if self._executor is None or len(self.groups) == 1:
            parts = [self._pass_of(group, W, intercept, eps) for group in self.groups]
        else:
            parts = list(self._executor.map(lambda group: self._pass_of(group, W, intercept, eps), self.groups))
        if len(parts) == 1:
            return parts[0]
        return _joined(parts)

    def curvature(self) -> Curvature | None:
        """Return the losses' second derivatives, or None where they are not known.

        Returns
        -------
        Curvature or None
            Nothing is computed yet.
        """
        unknown = type(self.metric).curvatures is Metric.curvatures
        if not self.metric.smooth or unknown or self.tasks.groups is not None:
            return None
        return RowCurvature(self.tasks, self.metric, self.with_intercept, self.offset)

    def in_span(self) -> Span | None:
        """Return the problem in the span of its rows, where the penalty allows it and the rows are few.

        Returns
        -------
        Span or None
            The rotation is done here, each time.
        """
        found = self.tasks.in_span() if self.penalty.rotates else None
        if found is None:
            return None
        problem = copy(self)
        problem.tasks = found[0]
        return Span(problem, found[1])

    def _pass_of(self, group: tuple[int, int], W: Float, intercept: Float, eps: float) -> Pass:
        """Return the part of a pass that belongs to the tasks ``first:last``."""
        first, last = group
        tasks, ptr = self.tasks, self.tasks.ptr
        rows, starts = slice(ptr[first], ptr[last]), ptr[first : last + 1] - ptr[first]
        scores = tasks.scores(W, first, last)
        if self.offset is not None:
            scores += self.offset[rows]
        if tasks.groups is not None:
            weights = None if tasks.weights is None else tasks.weights[rows]
            delta, c, loss = tasks.groups.planes(self.metric, scores, first, last, int(ptr[first]), weights)
        else:
            delta, c, loss = weighted_planes(
                self.metric,
                scores,
                tasks.y[rows],
                starts,
                None if tasks.weights is None else tasks.weights[rows],
                shift=intercept[first:last],
                with_intercept=self.with_intercept,
                eps=eps,
            )
        if self.offset is not None:
            delta = delta - np.add.reduceat(self.offset[rows] * c, starts[:-1])
        slope = tasks.slopes(c, first, last)
        scaled = self._offsets_of_parts(group, c) if self._knows_offsets else None
        if tasks.task_weight is not None:
            factor = tasks.task_weight[first:last]
            return Pass(factor * loss, factor * delta, factor[:, None] * slope, scaled)
        return Pass(loss, delta, slope, scaled)

    def _offsets_of_parts(self, group: tuple[int, int], c: Float) -> Callable[[float], Float]:
        """Return what returns the offsets of planes with a part of these coefficients; see `Pass.scaled`."""
        tasks, (first, last) = self.tasks, group
        rows, starts = slice(tasks.ptr[first], tasks.ptr[last]), tasks.ptr[first : last + 1] - tasks.ptr[first]
        weights = None if tasks.weights is None else tasks.weights[rows]

        def scaled(part: float) -> Float:
            delta = self.metric.highest_offsets(part * c, tasks.y[rows], starts, weights)
            assert delta is not None
            if self.offset is not None:
                delta = delta - part * np.add.reduceat(self.offset[rows] * c, starts[:-1])
            return delta if tasks.task_weight is None else tasks.task_weight[first:last] * delta

        return scaled


def _joined(parts: list[Pass]) -> Pass:
    """Return the passes of groups of tasks as one."""
    loss, delta, slope = (np.concatenate([part[k] for part in parts]) for k in range(3))
    each = [part.scaled for part in parts]
    if None in each:
        return Pass(loss, delta, slope)
    return Pass(loss, delta, slope, lambda s: np.concatenate([scaled(s) for scaled in each if scaled is not None]))


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
