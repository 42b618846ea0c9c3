r"""How an oracle spreads over parts of the rows that are never in one place: batches from disk, or a cluster.

A metric says it by a generator, `Metric.spread`. It runs where the solver is and yields what every part is to do next
with the scores of its own rows; what the parts answer is sent back to it. It never sees X, and knows nothing of who
runs the parts. In the end each part holds the coefficients c of its own rows, so that :math:`X'c` is a sum over parts.

There are four ways, from the one that sends least to the one that works for every oracle:

- *separable* (`smtl.metrics.PointwiseMetric`): sums over rows;
- *pairs* (`smtl.metrics.AUC`): the scores of the rarer class go to the driver and, sorted, to all parts, which count;
- *two cut-offs* (`smtl.metrics.ContingencyMetric` that is concave in fp): the driver gets counts and sums of scores by
  buckets, finer ones round by round where the cut-offs are;
- *gathered* (`gathered`, any other metric): all scores go to the driver, and the coefficients back.

Each finds the same plane as `Metric.planes` does with all rows in one place, but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from smtl.metrics.base import Metric

__all__ = ["Ask", "Round", "Scored", "SpreadOracle", "by_part", "by_task", "gathered", "planes_of_parts"]

Float: TypeAlias = npt.NDArray[np.float64]
Offsets: TypeAlias = npt.NDArray[np.int64]


class Scored(NamedTuple):
    """The rows of one part, at the weights of one pass.

    Attributes
    ----------
    scores : ndarray of shape (n_rows,)
        Scores, one task after another.
    y : ndarray of int8 of shape (n_rows,)
        Labels +1 and -1; 0 for rows that are not labelled for the task.
    ptr : ndarray of int64 of shape (n_tasks + 1,)
        Task i owns the rows ``ptr[i]:ptr[i + 1]``; there may be none.
    weights : ndarray of shape (n_rows,) or None
        Weights of the rows; None where all weigh the same.
    kept : object
        What the last round left with the part; None in the first.
    """

    scores: Float
    y: npt.NDArray[np.int8]
    ptr: Offsets
    weights: Float | None = None
    kept: Any = None


class Ask(NamedTuple):
    """What is asked of an oracle.

    Attributes
    ----------
    n_pos, n_neg : ndarray of int64 of shape (n_tasks,)
        Numbers of positives and negatives of all parts together.
    shift : ndarray of shape (n_tasks,)
        With an intercept: a first guess of it for each task, overwritten by the best one.
    with_intercept : bool
        Whether to minimise over a constant added to the task's scores.
    eps : float
        How far from the minimum over the intercept the value may be.
    memory : dict
        Arrays that the metric wants to remember for the next pass, by name. They may save time, and change no result by
        more than ``eps`` allows.
    weighted : bool
        Whether rows have weights.
    """

    n_pos: npt.NDArray[np.int64]
    n_neg: npt.NDArray[np.int64]
    shift: Float
    with_intercept: bool
    eps: float
    memory: dict[str, Any]
    weighted: bool = False


class Round(NamedTuple):
    """What every part is to do next.

    Attributes
    ----------
    function : callable
        ``function(scored, common, own)`` returns what is to be kept with the part, and what is to be sent. A function
        of a module, so that it can be sent to other processes.
    common : object
        What all parts get.
    own : list or None
        What each part gets for itself, in the order of the parts.
    joined : callable or None
        What makes one answer of several parts' answers, in whatever groups these come, such as `added`. It is done
        where the answers are. None if they are wanted one by one, as a list.
    exact : bool
        Whether the joined answer is the same to the last bit in whatever groups and order the answers come. They may
        then be joined by the place where they are.
    last : bool
        Whether what is kept are the coefficients c of all rows of the part, a flat array. What is sent is added.
    """

    function: Callable[[Scored, Any, Any], tuple[Any, Any]]
    common: Any = None
    own: Sequence[Any] | None = None
    joined: Callable[[Sequence[Any]], Any] | None = None
    exact: bool = False
    last: bool = False


# It returns the planes' offsets Delta and the losses.
SpreadOracle: TypeAlias = Generator[Round, Any, tuple[Float, Float]]


def gathered(metric: Metric, ask: Ask) -> SpreadOracle:
    """Send all scores to the driver, and the coefficients back: right for every oracle.

    Parameters
    ----------
    metric : Metric
        Whose `planes` is asked.
    ask : Ask
        What is asked.

    Yields
    ------
    Round
        See `Round`.

    Returns
    -------
    delta, value : ndarray of shape (n_tasks,)
        The planes' offsets, and the losses.
    """
    from smtl.metrics.weighting import weighted_planes

    sent = yield Round(_labelled)
    lengths = [part[2] for part in sent]
    weights = by_task([part[3] for part in sent], lengths)[0] if ask.weighted else None
    (scores, ptr), (y, _) = by_task([part[0] for part in sent], lengths), by_task([part[1] for part in sent], lengths)
    delta, c, value = weighted_planes(
        metric, scores, y, ptr, weights, shift=ask.shift, with_intercept=ask.with_intercept, eps=ask.eps
    )
    yield Round(_place, own=by_part(c, lengths), last=True)
    return delta, value


def _labelled(scored: Scored, common: Any, own: Any) -> tuple[Any, Any]:
    """Send the scores, labels and weights of all rows that are labelled."""
    known = scored.y != 0
    weights = None if scored.weights is None else scored.weights[known]
    return None, (scored.scores[known], scored.y[known], counts_of(known, scored.ptr), weights)


def _place(scored: Scored, common: Any, own: Float) -> tuple[Float, Any]:
    """Keep the coefficients that the driver has found."""
    c = np.zeros(len(scored.scores))
    c[scored.y != 0] = own
    return c, None


def counts_of(chosen: npt.NDArray[np.bool_], ptr: Offsets) -> npt.NDArray[np.int64]:
    """Return how many rows of each task are chosen.

    Examples
    --------
    >>> counts_of(np.array([True, False, True]), np.array([0, 2, 2, 3]))
    array([1, 0, 1])
    """
    return np.diff(np.concatenate([[0], np.cumsum(chosen)])[ptr])


def by_task(pieces: Sequence[npt.NDArray[Any]], lengths: Sequence[npt.NDArray[np.int64]]) -> tuple[Any, Offsets]:
    """Put together what the parts have sent: task after task, and within a task part after part.

    Parameters
    ----------
    pieces : list of ndarray
        What each part has sent, task after task.
    lengths : list of ndarray of int64 of shape (n_tasks,)
        How much of it is of each task.

    Returns
    -------
    flat : ndarray
        All of it.
    ptr : ndarray of int64 of shape (n_tasks + 1,)
        Where each task begins.

    Examples
    --------
    >>> flat, ptr = by_task([np.array([1, 2, 3]), np.array([4, 5])], [np.array([2, 1]), np.array([1, 1])])
    >>> flat, ptr
    (array([1, 2, 4, 3, 5]), array([0, 3, 5]))
    """
    table = np.array(lengths)
    ends = np.cumsum(table, axis=1)
    flat = np.concatenate(
        [pieces[p][ends[p, i] - table[p, i] : ends[p, i]] for i in range(table.shape[1]) for p in range(len(table))]
    )
    return flat, np.concatenate([[0], np.cumsum(table.sum(axis=0))]).astype(np.int64)


def by_part(flat: npt.NDArray[Any], lengths: Sequence[npt.NDArray[np.int64]]) -> list[npt.NDArray[Any]]:
    """Undo `by_task`.

    Parameters
    ----------
    flat : ndarray
        Task after task, and within a task part after part.
    lengths : list of ndarray of int64 of shape (n_tasks,)
        How much is each part's of each task.

    Returns
    -------
    list of ndarray
        One a part.

    Examples
    --------
    >>> by_part(np.array([1, 2, 4, 3, 5]), [np.array([2, 1]), np.array([1, 1])])
    [array([1, 2, 3]), array([4, 5])]
    """
    table = np.array(lengths)
    ends = np.cumsum(table.T).reshape(table.T.shape).T
    return [
        np.concatenate([flat[ends[p, i] - table[p, i] : ends[p, i]] for i in range(table.shape[1])])
        for p in range(len(table))
    ]


def planes_of_parts(metric: Metric, parts: Sequence[Scored], ask: Ask) -> tuple[Float, list[Float], Float]:
    """Run a spread oracle on parts that are in memory: what `check_metric` compares with `Metric.planes`.

    Parameters
    ----------
    metric : Metric
        The metric.
    parts : list of Scored
        The parts.
    ask : Ask
        What is asked; the numbers of positives and negatives are those of these parts.

    Returns
    -------
    delta : ndarray of shape (n_tasks,)
        The planes' offsets.
    c : list of ndarray
        The coefficients of each part's rows.
    value : ndarray of shape (n_tasks,)
        The losses.

    Examples
    --------
    >>> from smtl.metrics import AUC
    >>> y, ptr = np.array([1, -1], dtype=np.int8), np.array([0, 2])
    >>> parts = [Scored(np.array([0.0, 0.5]), y, ptr), Scored(np.array([2.0, 0.0]), y, ptr)]
    >>> ask = Ask(np.array([2]), np.array([2]), np.zeros(1), False, 0.0, {})
    >>> delta, c, value = planes_of_parts(AUC(), parts, ask)
    >>> delta, c[0]
    (array([0.5]), array([ 0.5 , -0.25]))
    """
    oracle = metric.spread(ask)
    answer: Any = None
    kept: list[Any] = [None] * len(parts)
    while True:
        try:
            todo = oracle.send(answer)
        except StopIteration as end:
            delta, value = end.value
            return delta, kept, value
        done = [
            todo.function(part._replace(kept=before), todo.common, None if todo.own is None else todo.own[p])
            for p, (part, before) in enumerate(zip(parts, kept, strict=True))
        ]
        kept, answer = [one[0] for one in done], [one[1] for one in done]
        if todo.last:
            answer = added([() if one is None else one for one in answer])
        elif todo.joined is not None:
            answer = todo.joined(answer)


def added(sent: Sequence[tuple[npt.NDArray[Any], ...]]) -> tuple[npt.NDArray[Any], ...]:
    """Return the sums of what parts have sent, entry by entry.

    Examples
    --------
    >>> added([(np.array([1, 2]), np.array([0.5])), (np.array([3, 4]), np.array([1.5]))])
    (array([4, 6]), array([2.]))
    """
    total = sent[0]
    for part in sent[1:]:
        total = tuple(a + b for a, b in zip(total, part, strict=True))
    return total
