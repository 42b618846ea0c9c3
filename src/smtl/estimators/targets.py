"""What the user asks: labels in any of the accepted forms, turned into tasks of +1, -1 and 0."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from smtl.groups import Groups, groups_of_tasks
from smtl.tasks import OwnRows, SharedRows, Tasks

__all__ = ["Kind", "Targets", "read_labels", "read_offset", "read_targets", "task_numbers", "tasks_in_words"]

Kind: TypeAlias = Literal["binary", "multiclass", "multilabel", "tasks"]


@dataclass
class Targets:
    """Labels of all tasks.

    Attributes
    ----------
    kind : {"binary", "multiclass", "multilabel", "tasks"}
        What the labels were: one yes/no question, one of several classes (a task each), several yes/no questions about
        the same rows, or one yes/no question per task about the task's own rows.
    classes : ndarray
        The two classes, the classes, or 0 to n_tasks - 1 for multi-label.
    names : ndarray of shape (n_tasks,)
        The tasks' names, for messages and tables.
    Y : ndarray of int8
        +1, -1, or 0 where there is no label: of shape (n_samples, n_tasks), or (n_samples,) where each task has its
        own rows.
    task : ndarray of int64 of shape (n_samples,) or None
        The task of each row, if each task has its own rows.
    title : str or None
        What a single yes/no question is called, where its labels have a name.
    offset : ndarray of the shape of Y or None
        Scores to start from; see `smtl.solvers.Problem`.
    group : ndarray of int64 of shape (n_samples,) or None
        The group of each row, where the tasks are judged within groups.
    row_weight : ndarray of shape (n_samples,) or None
        What each row counts, positive; None: all the same.
    weights : ndarray of the shape of Y or None
        What each label counts, the weight of its row included; positive where there is a label.
    task_weight : ndarray of shape (n_tasks,) or None
        What each task's loss is multiplied by.
    """

    kind: Kind
    classes: npt.NDArray[Any]
    names: npt.NDArray[Any]
    Y: npt.NDArray[np.int8]
    task: npt.NDArray[np.int64] | None = None
    title: str | None = None
    offset: npt.NDArray[np.float64] | None = None
    group: npt.NDArray[np.int64] | None = None
    row_weight: npt.NDArray[np.float64] | None = None
    weights: npt.NDArray[np.float64] | None = None
    task_weight: npt.NDArray[np.float64] | None = None

    def counts(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the numbers of positives and negatives of each task.

        Returns
        -------
        n_pos, n_neg : ndarray of shape (n_tasks,)
            Counts.
        """
        if self.task is None:
            return (self.Y > 0).sum(axis=0), (self.Y < 0).sum(axis=0)
        m = len(self.names)
        return np.bincount(self.task[self.Y > 0], minlength=m), np.bincount(self.task[self.Y < 0], minlength=m)

    def masses(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the weights of each task's positives and of its negatives; their numbers where there are no weights.

        Returns
        -------
        n_pos, n_neg : ndarray of shape (n_tasks,)
            Sums.
        """
        if self.weights is None:
            n_pos, n_neg = self.counts()
            return n_pos.astype(np.float64), n_neg.astype(np.float64)
        pos, neg = np.where(self.Y > 0, self.weights, 0.0), np.where(self.Y < 0, self.weights, 0.0)
        if self.task is None:
            return pos.sum(axis=0), neg.sum(axis=0)
        m = len(self.names)
        by_task = [np.bincount(self.task, part, minlength=m).astype(np.float64) for part in (pos, neg)]
        return by_task[0], by_task[1]

    def learnable(self) -> npt.NDArray[np.int64]:
        """Return the numbers of the tasks that have both classes, in one group where there are groups.

        Returns
        -------
        ndarray of int64
            Ascending.
        """
        n_pos, n_neg = self.counts()
        learnable = np.flatnonzero((n_pos > 0) & (n_neg > 0))
        groups = self.groups_of(learnable)
        return learnable if groups is None else learnable[groups.n_used > 0]

    def groups_of(self, chosen: npt.NDArray[np.int64]) -> Groups | None:
        """Return the groups within which some tasks are judged.

        Parameters
        ----------
        chosen : ndarray of int64
            The numbers of the tasks, each of which has labels.

        Returns
        -------
        Groups or None
            None where there are no groups, or no tasks.
        """
        return None if self.group is None else self.tasks(np.empty((len(self.Y), 0)), chosen).groups

    def constants(self) -> npt.NDArray[np.float64]:
        r"""Return the score of each task if it is not learnt: yes where most of its labels are, otherwise no.

        Returns
        -------
        ndarray of shape (n_tasks,)
            The logit of the share of positives, with half a label more of each class:
            :math:`\log \frac{n_+ + 1/2}{n_- + 1/2}`. So a model of probabilities is nearly sure, and a task without any
            label has a half.
        """
        n_pos, n_neg = self.masses()
        return np.log((n_pos + 0.5) / (n_neg + 0.5))

    def in_words(self, which: npt.NDArray[Any]) -> str:
        """Return the beginning of a sentence about some of the tasks, by the names that the user knows.

        Parameters
        ----------
        which : ndarray of int64 or bool
            Which tasks, at least one.

        Returns
        -------
        str
            See `tasks_in_words`.
        """
        return tasks_in_words(self.names[which] if self.title is None else np.array([self.title]))

    def part(self, rows: npt.NDArray[np.int64]) -> Targets:
        """Return the labels of some of the rows.

        Parameters
        ----------
        rows : ndarray of int64
            Row numbers.

        Returns
        -------
        Targets
            The same tasks on these rows.
        """
        return replace(
            self,
            Y=self.Y[rows],
            task=None if self.task is None else self.task[rows],
            offset=None if self.offset is None else self.offset[rows],
            group=None if self.group is None else self.group[rows],
            row_weight=None if self.row_weight is None else self.row_weight[rows],
            weights=None if self.weights is None else self.weights[rows],
        )

    def only(self, rows: npt.NDArray[np.int64]) -> Targets:
        """Return the labels of some of the rows, all others not labelled.

        Parameters
        ----------
        rows : ndarray of int64
            Row numbers.

        Returns
        -------
        Targets
            The same tasks and rows.
        """
        Y = np.zeros_like(self.Y)
        Y[rows] = self.Y[rows]
        return replace(self, Y=Y)

    def column(self, i: int) -> npt.NDArray[np.int8]:
        """Return the labels of one task, 0 for rows that are not its own.

        Parameters
        ----------
        i : int
            The number of the task.

        Returns
        -------
        ndarray of int8 of shape (n_samples,)
            Labels.
        """
        return self.Y[:, i] if self.task is None else np.where(self.task == i, self.Y, 0).astype(np.int8)

    def tasks(self, X: Any, chosen: npt.NDArray[np.int64]) -> Tasks:
        """Return the data of some tasks, for a solver.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
            Features; copied only if each task has its own rows and they do not stand together.
        chosen : ndarray of int64
            The numbers of the tasks.

        Returns
        -------
        Tasks
            Rows and labels of these tasks.
        """
        data: Tasks
        weights = self.weights
        if self.task is None:
            weights = None if weights is None else np.ascontiguousarray(weights[:, chosen].T).ravel()
            data = SharedRows(X, self.Y if len(chosen) == self.Y.shape[1] else self.Y[:, chosen])
            group = None if self.group is None else np.tile(self.group, len(chosen))
        else:
            order = self._order(chosen)
            counts = np.bincount(self.task, minlength=len(self.names))[chosen]
            ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
            data = OwnRows(X if isinstance(order, slice) else X[order], self.Y[order], ptr)
            group = None if self.group is None else self.group[order]
            weights = None if weights is None else weights[order]
        data.weights = weights
        data.task_weight = None if self.task_weight is None else self.task_weight[chosen]
        if group is not None and len(chosen):
            data.groups = groups_of_tasks(data.y, data.ptr, group)
        return data

    def flat_offset(self, chosen: npt.NDArray[np.int64]) -> npt.NDArray[np.float64] | None:
        """Return the offset of some tasks, in the order of the labels in `tasks`.

        Parameters
        ----------
        chosen : ndarray of int64
            The numbers of the tasks.

        Returns
        -------
        ndarray or None
            One task after another; None where there is no offset.
        """
        if self.offset is None:
            return None
        if self.task is None:
            return np.ascontiguousarray(self.offset[:, chosen].T).ravel()
        return self.offset[self._order(chosen)]

    def _order(self, chosen: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | slice:
        """Return the rows of some tasks, one task after another, where each has its own; a slice if all stand so."""
        assert self.task is not None
        number = np.full(len(self.names), -1)
        number[chosen] = np.arange(len(chosen))
        task = number[self.task]
        if np.all(task >= 0) and np.all(np.diff(task) >= 0):
            return slice(None)
        order = np.argsort(task, kind="stable")
        return order[task[order] >= 0]


def read_offset(offset: Any, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Return given scores to start from as an array, or raise ValueError.

    Parameters
    ----------
    offset : array-like
        Scores.
    shape : tuple of int
        The shape that they must have; a single column may be a vector, and a vector a single column.

    Returns
    -------
    ndarray
        Of that shape.

    Examples
    --------
    >>> read_offset([0.5, -1.0], (2, 1))
    array([[ 0.5],
           [-1. ]])
    """
    values = np.asarray(offset, dtype=np.float64)
    if values.size == np.prod(shape) and 1 in (*values.shape[1:], *shape[1:]):
        values = values.reshape(shape)
    if values.shape != shape or not np.isfinite(values).all():
        raise ValueError(
            f"offset must be finite scores of shape {shape}, one for each row and task, got shape {values.shape} with "
            f"{int(np.sum(~np.isfinite(values)))} that are not finite instead."
        )
    return values


def read_targets(X: Any, y: Any, tasks: Any = None) -> Targets:
    """Turn labels of any accepted form into tasks.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Only its length is looked at.
    y : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Classes; or a matrix of 0 and 1 (or -1 and 1), NaN where a row is not labelled.
    tasks : array-like of shape (n_samples,), optional
        The task of each row.

    Returns
    -------
    Targets
        The tasks' labels.

    Examples
    --------
    >>> read_targets([[0], [0], [0]], ["a", "b", "c"]).Y.tolist()
    [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    >>> read_targets([[0], [0]], [[0, 1], [np.nan, 1]]).Y.tolist()
    [[-1, 1], [0, 1]]
    """
    columns = getattr(y, "columns", None)
    given = getattr(y, "name", None) if columns is None else columns[0] if len(columns) == 1 else None
    title = given if isinstance(given, str) else None
    if sp.issparse(y):
        y = y.toarray()
    values, labelled = read_labels(y)
    check_consistent_length(X, values)
    if values.ndim == 2 and values.shape[1] == 0:
        raise ValueError(f"y must have a column for each task, got shape {values.shape} instead.")
    if values.ndim == 2 and values.shape[1] != 1:
        if tasks is not None:
            raise ValueError(
                f"y must have shape (n_samples,) where tasks is given, got shape {values.shape} instead: each row "
                "belongs to one task and has one label."
            )
        names = np.arange(values.shape[1]) if columns is None else np.asarray(columns)
        return Targets("multilabel", np.arange(values.shape[1]), names, _signs(values, labelled))
    classes, codes = _classes(column_or_1d(values, warn=True), labelled.ravel())
    labelled = codes >= 0
    if tasks is not None:
        return _own_rows(X, tasks, classes, codes)
    if len(classes) > 2:
        Y = np.where(codes[:, None] == np.arange(len(classes)), 1, -1).astype(np.int8)
        Y[~labelled] = 0
        return Targets("multiclass", classes, classes, Y)
    Y = np.where(labelled, np.where(codes == len(classes) - 1, 1, -1), 0).astype(np.int8)[:, None]
    return Targets("binary", classes, classes[-1:], Y, title=title)


def tasks_in_words(names: npt.NDArray[Any]) -> str:
    """Return the beginning of a sentence about tasks.

    Parameters
    ----------
    names : ndarray
        Their names, at least one.

    Returns
    -------
    str
        "Task 3 has" or "Tasks 1, 2, ... (17 in all) have".

    Examples
    --------
    >>> tasks_in_words(np.array(["jazz", "rock"]))
    'Tasks jazz, rock (2 in all) have'
    """
    shown = ", ".join(str(name) for name in names[:8])
    if len(names) == 1:
        return f"Task {shown} has"
    return f"Tasks {shown}{', ...' if len(names) > 8 else ''} ({len(names)} in all) have"


def read_labels(y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return labels as an array, and which of them are there.

    Parameters
    ----------
    y : array-like
        Labels. What is not there is NaN, or, among texts and other objects, None or what pandas has for it.

    Returns
    -------
    values : ndarray
        The labels.
    labelled : ndarray of bool
        Of the same shape.

    Examples
    --------
    >>> read_labels(["yes", np.nan, "no", None])[1]
    array([ True, False,  True, False])
    """
    values = np.asarray(y)
    if values.dtype.kind == "f":
        return values, ~np.isnan(values)
    labelled = np.ones(values.shape, dtype=bool)
    if values.dtype.kind == "O" or (values.dtype.kind == "U" and not isinstance(y, np.ndarray)):
        objects = np.asarray(y, dtype=object)
        labelled = ~np.frompyfunc(_is_missing, 1, 1)(objects).astype(bool)
        if not labelled.all():
            values = objects  # as texts, NaN would be "nan"
    return values, labelled


def _is_missing(label: Any) -> bool:
    if label is None:
        return True
    differs = label != label
    # NaN and NaT differ from themselves; for pandas.NA that is unknown, and the answer is no boolean.
    return not isinstance(differs, bool | np.bool_) or bool(differs)


def task_numbers(tasks: Any, kind: str, known: npt.NDArray[Any], n_samples: int) -> npt.NDArray[np.int64]:
    """Return the number of each row's task, for a fitted model.

    Parameters
    ----------
    tasks : array-like of shape (n_samples,)
        The task of each row.
    kind : str
        What the model's targets were; only with ``"tasks"`` can rows have one.
    known : ndarray of shape (n_tasks,)
        The names of its tasks, in ascending order.
    n_samples : int
        How many rows there are.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Places in ``known``.

    Examples
    --------
    >>> task_numbers(["b", "a", "b"], "tasks", np.array(["a", "b"]), 3)
    array([1, 0, 1])
    """
    if kind != "tasks":
        raise ValueError("tasks must be None for a model that was fitted without tasks.")
    names = np.asarray(tasks).ravel()
    if len(names) != n_samples:
        raise ValueError(f"tasks must have one entry a row of X ({n_samples}), got {len(names)} instead.")
    place = np.minimum(np.searchsorted(known, names), len(known) - 1)
    wrong = known[place] != names
    if wrong.any():
        raise ValueError(
            f"tasks must be among the {len(known)} tasks of the training data, got {names[wrong][0]!r} instead."
        )
    return place


def _classes(y: npt.NDArray[Any], labelled: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Return the classes and the class number of each row, -1 where it is not labelled."""
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise ValueError("Input y contains infinity; labels must be classes, or NaN where a row is not labelled.")
    if not labelled.any():
        raise ValueError("y must have at least one label, got only NaN instead.")
    known = y[labelled]
    if known.dtype.kind == "O" and not any(isinstance(label, str) for label in known):
        known = np.array(known.tolist())  # numbers or booleans, which had to be objects for the sake of what is missing
    codes = np.full(len(y), -1)
    try:
        check_classification_targets(known)
        classes, codes[labelled] = np.unique(known, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in known})
        raise ValueError(f"y must hold labels of one kind, got {' and '.join(kinds)} instead.") from error
    return classes, codes


def _signs(Y: npt.NDArray[Any], labelled: npt.NDArray[np.bool_]) -> npt.NDArray[np.int8]:
    """Return 0/1 labels, or -1/+1 labels, as -1/+1, with 0 for those that are missing."""
    try:
        numbers = (Y if labelled.all() else np.where(labelled, Y, np.nan)).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Y of shape {Y.shape} must hold 0 and 1 (NaN: not labelled), got {Y.dtype} values."
        ) from error
    no = -1.0 if (numbers == -1).any() else 0.0
    known = (numbers == no) | (numbers == 1) | np.isnan(numbers)
    if not known.all():
        row, column = np.argwhere(~known)[0]
        raise ValueError(
            f"Y of shape {Y.shape} must hold 0 and 1 (NaN: not labelled), got {numbers[row, column]:g} in row {row}, "
            f"column {column} instead. For several classes in one column, fit on that column by itself."
        )
    return np.where(np.isnan(numbers), 0, np.where(numbers == 1, 1, -1)).astype(np.int8)


def _own_rows(X: Any, tasks: Any, classes: npt.NDArray[Any], codes: npt.NDArray[np.int64]) -> Targets:
    """Return the targets of rows that belong to one task each."""
    check_consistent_length(X, tasks)
    given, there = read_labels(tasks)
    if not there.all():
        row = int(np.argmin(column_or_1d(there)))
        raise ValueError(f"tasks must name a task for every row, got {np.ravel(given)[row]!r} in row {row} instead.")
    if len(classes) > 2:
        raise ValueError(f"y must have two classes where tasks is given, got {len(classes)} instead: {classes[:5]}.")
    names, task = np.unique(column_or_1d(given), return_inverse=True)
    signs = np.where(codes < 0, 0, np.where(codes == len(classes) - 1, 1, -1)).astype(np.int8)
    return Targets("tasks", classes, names, signs, task)
