"""Threads for a fit."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from threading import Lock
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

__all__ = ["threads"]


@contextmanager
def threads(n_jobs: int | None) -> Iterator[tuple[ThreadPoolExecutor | None, int]]:
    """Yield an executor and its number of threads; None where there is one thread only.

    BLAS keeps to one thread meanwhile: the work is spread already, and the many small products of a fit lose more by
    waiting for one another than they gain, many times over on a busy machine.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn: -1 for all cores, None for 1 unless a joblib context says otherwise.

    Yields
    ------
    executor : ThreadPoolExecutor or None
        The threads.
    n_threads : int
        How many.

    Examples
    --------
    >>> with threads(None) as (executor, n_threads):
    ...     print(executor, n_threads)
    None 1
    """
    if not (n_jobs is None or isinstance(n_jobs, Integral)) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a whole number other than 0, or None, got {n_jobs!r} instead.")
    n_threads = effective_n_jobs(n_jobs)
    with _ONE_BLAS_THREAD:
        if n_threads == 1:
            yield None, 1
            return
        with ThreadPoolExecutor(n_threads) as executor:
            yield executor, n_threads


class _OneBlasThread:
    """Keep BLAS to one thread while any fit is under way.

    The limit is the whole process's. If each fit set it back by itself, one that began during another, in a thread
    beside it, would find it set and leave it so for good.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_fits = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._n_fits == 0:
                self._limit = _thread_pools().limit(limits=1, user_api="blas")
            self._n_fits += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_fits -= 1
            if self._n_fits == 0:
                self._limit.restore_original_limits()


_ONE_BLAS_THREAD = _OneBlasThread()


@cache
def _thread_pools() -> ThreadpoolController:
    """Return the handle on BLAS; finding it takes longer than a small fit."""
    return ThreadpoolController()
