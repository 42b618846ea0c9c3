"""Waiting for a cluster that may never answer."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from smtl.parts.errors import ClusterError

__all__ = ["holders", "results", "sending", "workers_of"]

LOOK_EVERY = 1.0  # seconds between looks at the cluster
ANSWER_WITHIN = 10.0  # seconds that the scheduler may take to say which workers there are


@contextmanager
def sending(client: Any) -> Iterator[None]:
    """Send tasks to a cluster; raise ClusterError if its client is closed by now.

    There is no advice to scatter what is large: scattered data are lost with the worker that has them.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            yield
    except Exception as error:  # which kind it is differs between versions
        if client.status == "closed":
            raise ClusterError(_LOST) from error
        raise


def results(client: Any, futures: Sequence[Any], patience: float) -> list[Any]:
    """Return the results of futures, or raise ClusterError once they cannot come any more.

    Workers may leave and come: what they held is computed again. It is over where a task has killed several workers,
    where futures have been cancelled (a restart, a scheduler that is gone), and where no worker could take a task, or
    the scheduler did not answer, for as long as patience lasts.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    futures : list of Future
        What is waited for.
    patience : float
        Seconds.

    Returns
    -------
    list
        The results, in the order of the futures.
    """
    from distributed import KilledWorker

    gone = _gone()
    futures = list(futures)
    # A worker may die with a result that was done, so that fetching it needs the same eye on the cluster as waiting.
    with sending(client):
        gathering = asyncio.run_coroutine_threadsafe(
            client.gather(futures, asynchronous=True), client.loop.asyncio_loop
        )
    try:
        return list(_result(client, gathering, futures, patience))
    except KilledWorker as error:
        raise ClusterError(
            f"A task was lost with every worker that tried it, {error.task}: its worker was killed, most often for "
            "want of memory. Make partitions smaller (rechunk, repartition), or give workers more memory; partitions "
            "of 64 to 256 MB suit most clusters."
        ) from error
    except gone as error:
        raise ClusterError(_LOST) from error
    finally:
        gathering.cancel()


def _result(client: Any, gathering: Any, futures: Sequence[Any], patience: float) -> Any:
    """Return what is being fetched, or raise ClusterError once nothing can come."""
    healthy = time.monotonic()
    while True:
        concurrent.futures.wait([gathering], timeout=LOOK_EVERY)
        if gathering.done():
            return gathering.result()
        if any(future.cancelled() for future in futures):  # not those that are lost: they are computed again
            raise ClusterError(_LOST)
        why_not = _trouble(client)
        if not why_not:
            healthy = time.monotonic()
        elif time.monotonic() - healthy > patience:
            raise ClusterError(
                f"The fit cannot go on: for {patience:g} s there has been {why_not}. Start workers (or the cluster) "
                "again and fit again; with a checkpoint, it goes on where it was."
            )


def workers_of(client: Any) -> list[dict[str, Any]]:
    """Return what the scheduler tells of each worker, or raise ClusterError if it does not answer.

    Parameters
    ----------
    client : distributed.Client
        The cluster.

    Returns
    -------
    list of dict
        As `distributed.Client.scheduler_info` has them.
    """
    try:
        told = client.sync(client.scheduler.identity, callback_timeout=ANSWER_WITHIN)
    except TimeoutError as error:
        raise ClusterError(f"The scheduler must answer within {ANSWER_WITHIN:g} s, got nothing instead.") from error
    return list(told["workers"].values())


def holders(client: Any, futures: Sequence[Any]) -> list[str]:
    """Return the worker that has the result of each future; no name where that is not known.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    futures : list of Future
        Whose results.

    Returns
    -------
    list of str
        Addresses.
    """
    keys = [future.key for future in futures]
    try:
        found = client.sync(client.scheduler.who_has, keys=keys, callback_timeout=ANSWER_WITHIN)
    except Exception:  # a scheduler that is going away: whoever waits for results will tell
        found = {}
    return [next(iter(found.get(key, ())), "") for key in keys]


_LOST = (
    "The fit cannot go on: the client was closed or restarted, or the scheduler is gone, and with it all that was "
    "under way; or data that were scattered are lost with their worker, and cannot be computed again. Fit again; with "
    "a checkpoint, it goes on where it was."
)


def _gone() -> tuple[type[BaseException], ...]:
    """Return what is raised where futures are cancelled, or a connection is closed."""
    from distributed.comm.core import CommClosedError

    return asyncio.CancelledError, concurrent.futures.CancelledError, CommClosedError


def _trouble(client: Any) -> str:
    """Return what is missing of the cluster; empty if nothing is."""
    if client.status == "closed":
        raise ClusterError(_LOST)
    if client.status != "running":
        return "no connection to the scheduler"
    try:
        workers = workers_of(client)
    except Exception:  # whatever a scheduler that is going away leads to
        return "no answer from the scheduler"
    if not workers:
        return "no worker"
    paused = [worker for worker in workers if worker.get("status") == "paused"]
    if len(paused) == len(workers):
        return "no worker that takes tasks: all have paused for want of memory"
    return "a worker that has paused for want of memory, and has tasks" if any(map(_stuck, paused)) else ""


def _stuck(paused: dict[str, Any]) -> bool:
    """Return whether a paused worker has tasks but none under way: these stay with it."""
    counts = paused.get("metrics", {}).get("task_counts", {})
    return bool(counts.get("ready")) and not counts.get("executing")
