"""The compiled parts: plain numba functions on arrays, imported only when a model is fitted or numbers are read.

Conventions
-----------
- The rows of all tasks stand one after another in flat arrays: task ``i`` owns ``ptr[i]:ptr[i + 1]``.
- Labels ``y`` are int8: +1, -1, or 0 for a row that is not labelled for the task.
- Every function is compiled with ``cache=True`` (a new process loads it) and ``nogil=True`` (tasks may be spread
  over threads), works on float64, and treats each task by itself, so that its result does not depend on the others.
- Compiling takes most of a first fit. What is called from other kernels has a signature: without one, each constant
  that it is called with makes another function of it. Arrays are made by the caller, or once; slices are not assigned.
"""

from __future__ import annotations

import logging
from typing import Any

from numba.core import event


class _Told(event.Listener):
    """Says once in a process that something is compiled, as the first fit then takes some seconds longer."""

    told = False

    def on_start(self, started: Any) -> None:
        if not self.told and started.data["dispatcher"].py_func.__module__.startswith("smtl."):
            self.told = True
            logging.getLogger("smtl").info(
                "Compiling what is not in numba's cache yet: some seconds, once in an environment. Where the package's "
                "folder cannot be written to, NUMBA_CACHE_DIR says where the cache is kept."
            )

    def on_end(self, ended: Any) -> None:
        pass


event.register("numba:compile", _Told())
