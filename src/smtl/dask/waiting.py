"""Waiting for a cluster that may never answer."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from smtl.parts.errors import ClusterError

__all__ = ["results", "sending"]

LOOK_EVERY = 1.0  # seconds between looks at the cluster


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
    where futures have been cancelled (a restart, a scheduler that is gone), and where there has been no worker, or no
    connection to the scheduler, for as long as patience lasts.

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
    import asyncio
    import concurrent.futures

    from distributed import KilledWorker, wait
    from distributed.comm.core import CommClosedError

    gone = (asyncio.CancelledError, concurrent.futures.CancelledError, CommClosedError)
    futures = list(futures)
    healthy = time.monotonic()
    while any(not future.done() for future in futures):
        try:
            wait(futures, timeout=LOOK_EVERY, return_when="ALL_COMPLETED")
        except TimeoutError:
            pass
        except gone as error:
            raise ClusterError(_LOST) from error
        _check_not_lost(futures)
        if any(future.status == "error" for future in futures):
            break  # what went wrong is told by the result
        why_not = _trouble(client)
        if not why_not:
            healthy = time.monotonic()
        elif time.monotonic() - healthy > patience:
            raise ClusterError(
                f"The fit cannot go on: for {patience:g} s there has been {why_not}. Start workers (or the cluster) "
                "again and fit again; with a checkpoint, it goes on where it was."
            )
    _check_not_lost(futures)
    try:
        for future in futures:
            if future.status == "error":
                future.result()
        return list(client.gather(futures))
    except KilledWorker as error:
        raise ClusterError(
            f"A task was lost with every worker that tried it, {error.task}: its worker was killed, most often for "
            "want of memory. Make partitions smaller (rechunk, repartition), or give workers more memory; partitions "
            "of 64 to 256 MB suit most clusters."
        ) from error
    except gone as error:
        raise ClusterError(_LOST) from error


_LOST = (
    "The fit cannot go on: the client was closed or restarted, or the scheduler is gone, and with it all that was "
    "under way. Fit again; with a checkpoint, it goes on where it was."
)


def _check_not_lost(futures: Sequence[Any]) -> None:
    """Raise ClusterError if a future has been cancelled."""
    if any(future.status in ("cancelled", "lost") for future in futures):
        raise ClusterError(_LOST)


def _trouble(client: Any) -> str:
    """Return what is missing of the cluster; empty if nothing is."""
    if client.status == "closed":
        raise ClusterError(_LOST)
    if client.status != "running":
        return "no connection to the scheduler"
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"]
    except Exception:  # whatever a scheduler that is going away leads to
        return "no answer from the scheduler"
    return "" if workers else "no worker"
