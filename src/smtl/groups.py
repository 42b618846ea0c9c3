r"""Groups of rows within which a task is judged: the rows of a query, of a visit, of a customer.

The loss of a task is then the mean of the metric's loss over its groups,
:math:`G_i = \frac{1}{K_i} \sum_k G_{ik}`, with one :math:`w_i` for all of them. Its plane is the mean of the groups'
planes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Metric, Planes
from smtl.metrics.discounting import gain_of_ranks
from smtl.metrics.weighting import weighted_planes

__all__ = ["Groups", "graded_groups", "groups_of_tasks", "rows_of_groups"]

Float: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[np.int64]


@dataclass
class Groups:
    """The groups of all tasks that have both classes; the others say nothing of the order, and are left out.

    Attributes
    ----------
    rows : ndarray of int64 of shape (n_rows,)
        Where the labels of each group's rows are, one group after another.
    y : ndarray of int8 of shape (n_rows,)
        Their labels, +1 and -1.
    ptr : ndarray of int64 of shape (n_groups + 1,)
        Where each group begins in ``rows``.
    share : ndarray of shape (n_groups,)
        What each group's loss counts in its task's.
    first : ndarray of int64 of shape (n_tasks + 1,)
        The first group of each task.
    n_used, n_left_out : ndarray of int64 of shape (n_tasks,)
        How many of each task's groups count, and how many do not.

    Examples
    --------
    >>> y = np.array([1, -1, 1, -1, -1, 1], dtype=np.int8)
    >>> groups = groups_of_tasks(y, np.array([0, 6]), np.array([0, 0, 1, 1, 1, 2]))
    >>> groups.ptr, groups.share
    (array([0, 2, 5]), array([0.5, 0.5]))
    """

    rows: Numbers
    y: npt.NDArray[np.int8]
    ptr: Numbers
    share: Float
    first: Numbers
    n_used: Numbers
    n_left_out: Numbers

    def planes(
        self, metric: Metric, scores: Float, first: int, last: int, start: int, weights: Float | None = None
    ) -> Planes:
        """Return the planes of the tasks ``first:last``, each of which has a group that counts.

        Parameters
        ----------
        metric : Metric
            What each group is judged by; without an intercept.
        scores : ndarray
            The scores of these tasks, one task after another.
        first, last : int
            The range of tasks.
        start : int
            Where the labels of the first of them begin.
        weights : ndarray, optional
            What each of the scores counts in its group. Groups count the same, whatever their rows weigh.

        Returns
        -------
        delta, c, value : ndarray
            As in `Metric.planes`.

        Examples
        --------
        >>> from smtl.metrics import AUC
        >>> y = np.array([1, -1, 1, -1], dtype=np.int8)
        >>> groups = groups_of_tasks(y, np.array([0, 4]), np.array([0, 0, 1, 1]))
        >>> groups.planes(AUC(), np.array([0.0, 2.0, 9.0, 5.0]), 0, 1, 0)
        (array([0.5]), array([ 0.5, -0.5,  0. ,  0. ]), array([1.5]))
        """
        a, b = self.first[first], self.first[last]
        begin, end = self.ptr[a], self.ptr[b]
        rows, ptr, share = self.rows[begin:end] - start, self.ptr[a : b + 1] - begin, self.share[a:b]
        each = None if weights is None else weights[rows]
        no = np.zeros(b - a)
        delta, part, value = weighted_planes(
            metric, scores[rows], self.y[begin:end], ptr, each, shift=no, with_intercept=False, eps=0.0
        )
        shared = part * np.repeat(share, np.diff(ptr))
        c = np.asarray(np.bincount(rows, weights=shared, minlength=len(scores)), dtype=np.float64)
        tasks = self.first[first:last] - a
        return np.add.reduceat(share * delta, tasks), c, np.add.reduceat(share * value, tasks)

    def sizes(self) -> list[tuple[int, int]]:
        """Return the numbers of positives and negatives that groups have.

        Returns
        -------
        list of (n_pos, n_neg)
            Each pair once.
        """
        positives = np.add.reduceat((self.y > 0).astype(np.int64), self.ptr[:-1])
        pairs = np.unique(np.column_stack([positives, np.diff(self.ptr) - positives]), axis=0)
        return [(int(n_pos), int(n_neg)) for n_pos, n_neg in pairs]


def groups_of_tasks(y: npt.NDArray[np.int8], ptr: Numbers, group: Numbers) -> Groups:
    """Return the groups of tasks, each of which counts the same in its task.

    Parameters
    ----------
    y : ndarray of int8 of shape (n_labels,)
        All labels, one task after another: +1, -1, or 0 where there is none. There is at least one.
    ptr : ndarray of int64 of shape (n_tasks + 1,)
        Where each task's labels begin.
    group : ndarray of int64 of shape (n_labels,)
        The group of each label.

    Returns
    -------
    Groups
        Those with both classes.

    Examples
    --------
    >>> y = np.array([1, -1, 1, -1, -1, 1], dtype=np.int8)
    >>> groups = groups_of_tasks(y, np.array([0, 6]), np.array([0, 0, 1, 1, 1, 2]))
    >>> groups.n_used, groups.n_left_out
    (array([2]), array([1]))
    """
    m = len(ptr) - 1
    rows = np.flatnonzero(y)
    task = np.repeat(np.arange(m), np.diff(ptr))[rows]
    order = np.lexsort((group[rows], task))
    rows, task, number = rows[order], task[order], group[rows[order]]
    starts = np.flatnonzero(np.append(True, (np.diff(task) != 0) | (np.diff(number) != 0)))
    sizes = np.diff(np.append(starts, len(rows)))
    positives = np.add.reduceat((y[rows] > 0).astype(np.int64), starts)
    both = (positives > 0) & (positives < sizes)
    rows = rows[np.repeat(both, sizes)]
    used = np.bincount(task[starts][both], minlength=m)
    return Groups(
        rows,
        y[rows],
        np.concatenate([[0], np.cumsum(sizes[both])]),
        np.repeat(1.0 / np.maximum(used, 1), used),
        np.concatenate([[0], np.cumsum(used)]),
        used,
        np.bincount(task[starts], minlength=m) - used,
    )


def graded_groups(grades: Numbers, group: Numbers, gains: Float, weights: Float | None = None) -> Groups:
    r"""Return the groups of one task whose rows have grades of relevance, for NDCG.

    With grades, :math:`1 - \mathrm{NDCG}` of a ranking is a mean of that of questions, "is the grade at least t":

    .. math:: 1 - \mathrm{NDCG} = \sum_{t \ge 1} \frac{(\gamma_t - \gamma_{t-1}) I_t}{I} (1 - \mathrm{NDCG}_t),
              \qquad I_t = \sum_{i \le n_t} D(i), \quad I = \sum_{t \ge 1} (\gamma_t - \gamma_{t-1}) I_t

    with the gain :math:`\gamma_t` of the grade t, and :math:`n_t` rows of at least that grade. Each question is a group
    here, and its share is its weight. So the loss is the same mean of the questions' losses: convex, and at least
    :math:`1 - \mathrm{NDCG}`. It is the largest over rankings for each question by itself, not for all at once.

    Parameters
    ----------
    grades : ndarray of int64 of shape (n_rows,)
        Grades, 0 and more.
    group : ndarray of int64 of shape (n_rows,)
        The group of each row.
    gains : ndarray of shape (n_grades,)
        The gain of each grade, ascending.
    weights : ndarray of shape (n_rows,), optional
        What each row counts, positive; :math:`n_t` is then the weight of the rows of at least that grade.

    Returns
    -------
    Groups
        Those of more than one grade.

    Examples
    --------
    >>> groups = graded_groups(np.array([0, 2, 1, 1, 1]), np.array([0, 0, 0, 1, 1]), np.array([0.0, 1.0, 3.0]))
    >>> groups.y
    array([-1,  1,  1, -1,  1, -1], dtype=int8)
    >>> groups.share.sum().round(6), groups.n_left_out
    (np.float64(1.0), array([1]))
    """
    parts = rows_of_groups(group)
    each = np.ones(len(grades)) if weights is None else weights
    rows: list[Numbers] = []
    y, share = [], []
    used = 0
    for part in parts:
        found = grades[part]
        if found.min() == found.max():
            continue
        used += 1
        levels = np.unique(found[found > 0])
        steps = np.diff(gains[levels], prepend=gains[0])
        worth = steps * gain_of_ranks((found >= levels[:, None]) @ each[part])
        for level, weight in zip(levels, worth / worth.sum(), strict=True):
            if level > found.min():  # or all rows are of at least that grade
                rows.append(part)
                y.append(np.where(found >= level, 1, -1).astype(np.int8))
                share.append(weight)
    n = len(rows)
    return Groups(
        np.concatenate([*rows, np.zeros(0, np.int64)]).astype(np.int64),
        np.concatenate([*y, np.zeros(0, np.int8)]),
        np.concatenate([[0], np.cumsum([len(part) for part in rows], dtype=np.int64)]),
        np.array(share) / max(used, 1),
        np.array([0, n]),
        np.array([used]),
        np.array([len(parts) - used]),
    )


def rows_of_groups(group: Numbers) -> list[Numbers]:
    """Return the rows of each group, in the order of the groups.

    Parameters
    ----------
    group : ndarray of int64 of shape (n,)
        The group of each row.

    Returns
    -------
    list of ndarray of int64
        Row numbers.

    Examples
    --------
    >>> rows_of_groups(np.array([0, 1, 0]))
    [array([0, 2]), array([1])]
    """
    order = np.argsort(group, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
