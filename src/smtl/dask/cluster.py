"""Rows on a Dask cluster: pure tasks over partitions, and nothing else.

There are no actors, no collectives, no data that are bound to a worker. What a task needs is in its arguments, so that
Dask itself computes again what a lost worker held: from the collection's own graph, which goes back to the source. The
driver holds the weights, and waits with an eye on the cluster: where nothing can come any more, it says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from smtl.dask.waiting import holders, results, sending, workers_of
from smtl.metrics.spreading import Round, Scored, added
from smtl.parts.part import Part, Sums, Where, answered, check_mark, marked, scored, slopes
from smtl.parts.raw import Raw, Reading, encoded
from smtl.parts.rows import Pass, Rows, sum_of

__all__ = ["ClusterRows"]

SUMMED_AT_ONCE = 8  # parts, in the tree of sums
OVERHEAD = 1.5e8  # of a pass, in multiplications: about 0.1 s for tasks and their messages
KEPT_SHARE = 0.4  # of the workers' memory that parts may take, for them to be kept instead of read in every pass


class ClusterRows(Rows):
    """Rows on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    raws : list of Delayed
        The partitions, each a `Raw`.
    n_bytes : float or None
        Bytes of all features; None where that is not known before they are read.
    patience : float
        Seconds to wait for workers, or for the scheduler, when there are none.
    """

    overhead = OVERHEAD

    def __init__(self, client: Any, raws: Sequence[Any], n_bytes: float | None, patience: float) -> None:
        self.client, self.raws, self.patience = client, list(raws), patience
        self.n_parts, self.n_bytes = len(self.raws), n_bytes
        self.parts: list[Any] = []
        self.kept = False
        self.marks: list[int | None] = [None] * self.n_parts

    def each_raw(self, function: Callable[..., Any], *common: Any) -> list[Any]:  # noqa: D102
        return self.results(self.apply(function, self.raws, [common] * self.n_parts))

    def prepare(self, reading: Reading) -> None:  # noqa: D102
        width = 4 if reading.dtype.__name__ == "float32" else 8
        n_bytes = max(self.n_bytes or 0.0, width * float(reading.n_entries))
        lazy = self.lazy(_prepared, self.raws, [(reading,)] * self.n_parts)
        memory = sum(worker["memory_limit"] or float("inf") for worker in workers_of(self.client))
        self.kept = n_bytes <= KEPT_SHARE * memory
        self.parts = self.compute(lazy) if self.kept else lazy
        self.marks = [None] * self.n_parts  # what is asked first of each part tells its mark, too

    def each(self, function: Callable[..., Any], *common: Any) -> list[Any]:  # noqa: D102
        # What was found stays with a worker until it is fetched, and may be rows: some parts at a time.
        found = []
        at_once = max(2 * sum(worker["nthreads"] for worker in workers_of(self.client)), SUMMED_AT_ONCE)
        for first in range(0, self.n_parts, at_once):
            some = slice(first, first + at_once)
            arguments = [(mark, function, common) for mark in self.marks[some]]
            found += self.results(self.apply(_on_part_marked, self.parts[some], arguments))
        self.marks = [mark for _, mark in found]
        return [one for one, _ in found]

    def summed(self, function: Callable[..., Any], *common: Any) -> Any:  # noqa: D102
        shared = self.shared(common)
        arguments = [(mark, function, shared) for mark in self.marks]
        return self.total(self.apply(_on_part, self.parts, arguments), added)

    def begin(self, where: Where) -> Pass:  # noqa: D102
        return _PassOnCluster(self, where)

    def lazy(self, function: Callable[..., Any], handles: Sequence[Any], arguments: Sequence[tuple[Any, ...]]) -> Any:
        """Return a Delayed a handle, each of a Delayed and further arguments."""
        from dask import delayed

        call = delayed(function, pure=False)
        return [call(handle, *rest) for handle, rest in zip(handles, arguments, strict=True)]

    def compute(self, lazy: Sequence[Any]) -> list[Any]:
        """Return a future a Delayed."""
        with sending(self.client):
            return list(self.client.compute(list(lazy)))

    def apply(self, function: Callable[..., Any], handles: Sequence[Any], arguments: Sequence[tuple[Any, ...]]) -> Any:
        """Return futures of ``function(handle, *arguments)``; handles are futures, or what has to be read again."""
        if handles and hasattr(handles[0], "dask"):
            return self.compute(self.lazy(function, handles, arguments))
        columns = list(zip(*arguments, strict=True)) if arguments and arguments[0] else []
        with sending(self.client):
            return self.client.map(function, handles, *columns, pure=False, key=_kind(function))

    def results(self, futures: Sequence[Any]) -> list[Any]:
        """Return the results of futures, in bounded time if the cluster is gone."""
        return results(self.client, futures, self.patience)

    def shared(self, value: Any) -> Any:
        """Return a future of a value, so that it goes to each worker once.

        It is the result of a task and no scattered data: where a worker that has it is lost, it is made again.
        """
        with sending(self.client):
            return self.client.submit(_itself, value, pure=False, key=None)

    def total(self, futures: Sequence[Any], add: Callable[[Sequence[Any]], Any], *, by_worker: bool = False) -> Any:
        """Return the sum of the results of futures, one a part, added up where they are.

        By worker, each worker's own are added up first, so that only sums are sent; rounding then depends on which
        worker has which part. Otherwise the same parts are always added up together.
        """
        groups = self._by_worker(futures) if by_worker else []
        return self.results([self._added_up([self._added_up(group, add) for group in groups] or futures, add)])[0]

    def _added_up(self, futures: Sequence[Any], add: Callable[[Sequence[Any]], Any]) -> Any:
        """Return a future of the sum of some results, by a tree."""
        level = list(futures)
        while len(level) > 1:
            groups = [level[k : k + SUMMED_AT_ONCE] for k in range(0, len(level), SUMMED_AT_ONCE)]
            with sending(self.client):
                level = self.client.map(add, groups, pure=False, key=_kind(add))
        return level[0]

    def _by_worker(self, futures: Sequence[Any]) -> list[list[Any]]:
        """Return the futures in groups, by the worker that has the part; none where parts are not kept."""
        groups: dict[str, list[Any]] = {}
        if self.kept:
            for future, worker in zip(futures, holders(self.client, self.parts), strict=True):
                groups.setdefault(worker, []).append(future)
        return list(groups.values())


class _PassOnCluster(Pass):
    """A pass whose scores, and whatever else is kept, stay with the workers."""

    def __init__(self, rows: ClusterRows, where: Where) -> None:
        self.rows, self.where = rows, rows.shared(where)
        self.states: list[Any] = []
        # A task that has a part among its arguments stays with it: the scores are not sent to a worker that is idle.
        self.beside = [(part,) for part in rows.parts] if rows.kept else [()] * rows.n_parts

    def _round(self, todo: Round) -> list[Any]:
        """Return futures of what the parts send."""
        rows, common = self.rows, self.rows.shared(todo._replace(own=None))
        own = [None] * rows.n_parts if todo.own is None else list(todo.own)
        if self.states:
            arguments = [(common, mine, *part) for mine, part in zip(own, self.beside, strict=True)]
            self.states = rows.apply(_later, self.states, arguments)
        else:
            arguments = [(mark, self.where, common, mine) for mark, mine in zip(rows.marks, own, strict=True)]
            self.states = rows.apply(_first, rows.parts, arguments)
        return list(rows.apply(_sent, self.states, self.beside))

    def answer(self, todo: Round) -> Any:
        sent = self._round(todo)
        return (
            self.rows.results(sent) if todo.joined is None else self.rows.total(sent, todo.joined, by_worker=todo.exact)
        )

    def sums(self, todo: Round) -> Sums:
        rows, common = self.rows, self.rows.shared(todo._replace(own=None))
        own = [None] * rows.n_parts if todo.own is None else list(todo.own)
        states = self.states or [None] * rows.n_parts
        arguments = [
            (mark, self.where, state, common, mine) for mark, state, mine in zip(rows.marks, states, own, strict=True)
        ]
        total: Sums = rows.total(rows.apply(_last, rows.parts, arguments), sum_of)
        self.states = []
        return total


def _prepared(raw: Raw, reading: Reading) -> Part:
    return marked(*encoded(raw, reading), raw.number)


def _on_part(part: Part, mark: int | None, function: Callable[..., Any], common: tuple[Any, ...]) -> Any:
    check_mark(part, mark)
    return function(part, *common)


def _on_part_marked(part: Part, mark: int | None, function: Callable[..., Any], common: Any) -> tuple[Any, int]:
    return _on_part(part, mark, function, common), part.mark


def _itself(value: Any) -> Any:
    return value


def _first(part: Part, mark: int | None, where: Where, todo: Round, own: Any) -> tuple[Scored, Any]:
    check_mark(part, mark)
    return answered(scored(part, where), todo, own)


def _later(state: tuple[Scored, Any], todo: Round, own: Any, part: Part | None = None) -> tuple[Scored, Any]:
    return answered(state[0], todo, own)


def _sent(state: tuple[Scored, Any], part: Part | None = None) -> Any:
    return state[1]


def _last(part: Part, mark: int | None, where: Where, state: tuple[Scored, Any] | None, todo: Round, own: Any) -> Sums:
    check_mark(part, mark)
    after, sent = answered(scored(part, where) if state is None else state[0], todo, own)
    return slopes(part, where, after.kept, sent or ())


def _kind(function: Callable[..., Any]) -> str:
    """Return what the keys of a function's tasks begin with; letters only, so that Dask learns how long each takes."""
    return "smtl-" + function.__name__.replace("_", "")
