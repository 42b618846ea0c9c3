"""One part of the rows, and what is done with it: everything here runs where the part is."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.metrics.spreading import Round, Scored
from smtl.parts.errors import SourceChangedError
from smtl.tasks import OwnRows, SharedRows, Tasks

__all__ = ["Fold", "Part", "Sample", "Sums", "Where", "counts_and_sample", "fold_of_rows", "scored", "slopes"]

Float: TypeAlias = npt.NDArray[np.float64]
Labels: TypeAlias = npt.NDArray[np.int8]
Numbers: TypeAlias = npt.NDArray[np.int64]


class Part(NamedTuple):
    """Rows with their labels.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n_rows, n_features)
        Features, float32 or float64.
    Y : ndarray of int8
        +1, -1 and 0: of shape (n_rows, n_tasks), or (n_rows,) where each task has its own rows.
    task : ndarray of int64 of shape (n_rows,) or None
        The task of each row, ascending, where each task has its own rows.
    number : int
        The number of the part.
    mark : int
        A checksum of all that, by which a source that has changed is found out.
    weight : ndarray of shape (n_rows,) or None
        Weights of the rows.
    """

    X: Any
    Y: Labels
    task: Numbers | None
    number: int
    mark: int
    weight: Float | None = None


class Fold(NamedTuple):
    """The rows that are left out of training.

    Attributes
    ----------
    number, n_folds : int
        Which of how many folds.
    seed : int
        What divides the rows.
    """

    number: int
    n_folds: int
    seed: int


class Where(NamedTuple):
    """At which weights of which tasks, and on which rows, a pass is.

    Attributes
    ----------
    W : ndarray of shape (n_chosen, n_features)
        Weights, for the features as they are.
    at_zero : ndarray of shape (n_chosen,)
        What is added to the scores.
    n_tasks : int
        The number of all tasks.
    chosen : ndarray of int64
        The tasks.
    fold : Fold or None
        The rows that are left out.
    """

    W: Float
    at_zero: Float
    n_tasks: int
    chosen: Numbers
    fold: Fold | None


class Sums(NamedTuple):
    """What parts add up to at the end of a pass.

    Attributes
    ----------
    slope : ndarray of shape (n_chosen, n_features)
        The sum of X'c.
    total : ndarray of shape (n_chosen,)
        The sum of c.
    sent : tuple of ndarray
        What the metric has asked for.
    """

    slope: Float
    total: Float
    sent: tuple[Any, ...]


class Sample(NamedTuple):
    """Some rows of a part, with the fold of each: features, labels, tasks and folds."""

    X: Any
    Y: Labels
    task: Numbers | None
    fold: Numbers


def ordered(X: Any, Y: Labels, task: Numbers | None, weight: Float | None, number: int) -> Part:
    """Return a part without a checksum; rows of tasks of their own are brought into order."""
    if task is not None and np.any(np.diff(task) < 0):
        order = np.argsort(task, kind="stable")
        X, Y, task, weight = X[order], Y[order], task[order], None if weight is None else weight[order]
    return Part(X, Y, task, number, 0, weight)


def marked(X: Any, Y: Labels, task: Numbers | None, weight: Float | None, number: int) -> Part:
    """Return a part with its checksum; rows of tasks of their own are brought into order."""
    part = ordered(X, Y, task, weight, number)
    X, Y, task, weight, mark = part.X, part.Y, part.task, part.weight, part.X.shape[0]
    for values in (Y, *((X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)), *(() if task is None else (task,))):
        mark = zlib.adler32(_bytes(values), mark)
    return part._replace(mark=mark if weight is None else zlib.adler32(_bytes(weight), mark))


def _bytes(values: npt.NDArray[Any]) -> memoryview:
    """Return an array as it lies in memory, whichever axis comes first."""
    return np.ascontiguousarray(values.T if values.flags.f_contiguous else values).reshape(-1).view(np.uint8).data


def check_mark(part: Part, mark: int | None) -> None:
    """Raise SourceChangedError if a part is not what it was before."""
    if mark is not None and part.mark != mark:
        raise SourceChangedError(
            f"The rows of part {part.number} have changed under way: they were read again, and are not what they were "
            "before. The source (files, a database, a random function without a seed) must give the same rows each "
            "time; keep it still, or persist the collection, and fit again."
        )


def tasks_of(part: Part, where: Where) -> tuple[Tasks, Float | None]:
    """Return the rows and labels that a pass is on, and the weights of these."""
    Y = part.Y
    if where.fold is not None:
        left_out = fold_of_rows(part, where.fold) == where.fold.number
        Y = np.where(left_out[:, None] if Y.ndim == 2 else left_out, np.int8(0), Y)
    whole = len(where.chosen) == where.n_tasks
    if part.task is None:
        shared = None if part.weight is None else np.tile(part.weight, len(where.chosen))
        return SharedRows(part.X, Y if whole else Y[:, where.chosen]), shared
    X, task, weight = part.X, part.task, part.weight
    if not whole:
        number = np.full(where.n_tasks, -1)
        number[where.chosen] = np.arange(len(where.chosen))
        rows = np.flatnonzero(number[task] >= 0)
        X, Y, task, weight = X[rows], Y[rows], number[task[rows]], None if weight is None else weight[rows]
    return OwnRows(X, Y, np.searchsorted(task, np.arange(len(where.chosen) + 1)).astype(np.int64)), weight


def scored(part: Part, where: Where) -> Scored:
    """Return the scores of a part's rows."""
    tasks, weights = tasks_of(part, where)
    scores = tasks.scores(where.W, 0, len(where.chosen))
    if where.at_zero.any():
        scores += np.repeat(where.at_zero, np.diff(tasks.ptr))
    return Scored(scores, tasks.y, tasks.ptr, weights)


def slopes(part: Part, where: Where, c: Float, sent: tuple[Any, ...]) -> Sums:
    """Return a part's share of the slopes."""
    tasks, _ = tasks_of(part, where)
    total = np.array([c[a:b].sum() for a, b in zip(tasks.ptr[:-1], tasks.ptr[1:], strict=True)])
    return Sums(tasks.slopes(c, 0, len(where.chosen)), total, sent)


def answered(state: Scored, todo: Round, own: Any) -> tuple[Scored, Any]:
    """Return the state of a part after a round, and what it sends."""
    kept, sent = todo.function(state, todo.common, own)
    return state._replace(kept=kept), sent


def fold_of_rows(part: Part, fold: Fold) -> npt.NDArray[np.int64]:
    """Return the fold of each row: at random, but rows with the same rarest label are spread evenly."""
    n = len(part.Y)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    rng = np.random.default_rng([fold.seed, part.number])
    if part.task is not None:
        key = 2 * part.task + (part.Y > 0)
    else:
        rarity = np.argsort((part.Y > 0).sum(axis=0), kind="stable")
        positive = part.Y[:, rarity] > 0
        key = np.where(positive.any(axis=1), positive.argmax(axis=1), part.Y.shape[1])
    shuffled = rng.permutation(n)
    order = shuffled[np.argsort(key[shuffled].astype(np.min_scalar_type(int(key.max()))), kind="stable")]
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    place = np.arange(n) - np.repeat(first, np.diff(np.append(first, n)))
    start = np.repeat(rng.integers(fold.n_folds, size=len(first)), np.diff(np.append(first, n)))
    folds = np.empty(n, dtype=np.int64)
    folds[order] = (place + start) % fold.n_folds
    return folds


def counts_and_sample(part: Part, n_tasks: int, n_folds: int, seed: int, share: float) -> tuple[Numbers, Sample]:
    """Return how many labels each fold has, and a share of the rows at random.

    The counts are those of the positives and negatives of each task in each fold, of shape (2, n_folds, n_tasks).
    """
    folds = fold_of_rows(part, Fold(0, n_folds, seed))
    return _labels_by_fold(part, folds, n_tasks, n_folds), _sample(part, folds, seed, share)


def _labels_by_fold(part: Part, folds: Numbers, n_tasks: int, n_folds: int) -> Numbers:
    counts = np.zeros((n_tasks, n_folds, 3), dtype=np.int64)
    if part.task is None:
        for i, y in enumerate(part.Y.T):
            counts[i] = np.bincount(3 * folds + y + 1, minlength=3 * n_folds).reshape(n_folds, 3)
    else:
        place = 3 * (n_folds * part.task + folds) + part.Y + 1
        counts[:] = np.bincount(place, minlength=counts.size).reshape(counts.shape)
    return counts.transpose(2, 1, 0)[[2, 0]]


def _sample(part: Part, folds: Numbers, seed: int, share: float) -> Sample:
    n = len(part.Y)
    rng = np.random.default_rng([seed, part.number, 1])
    rows = np.flatnonzero(rng.random(n) < share) if share < 1.0 else np.arange(n)
    return Sample(part.X[rows], part.Y[rows], None if part.task is None else part.task[rows], folds[rows])
