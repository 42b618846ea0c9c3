"""The compiled parts: plain numba functions on arrays, imported only when a model is fitted or numbers are read.

Conventions
-----------
- The rows of all tasks stand one after another in flat arrays: task ``i`` owns ``ptr[i]:ptr[i + 1]``.
- Labels ``y`` are int8: +1, -1, or 0 for a row that is not labelled for the task.
- Every function is compiled with ``cache=True`` (a new process loads it) and ``nogil=True`` (tasks may be spread
  over threads), works on float64, and treats each task by itself, so that its result does not depend on the others.
"""
