"""The oracle of the pairwise AUC loss, for all tasks."""

from __future__ import annotations

import numpy as np
from numba import njit

from smtl.kernels.sorting import class_rows, sort_rows


@njit(cache=True, nogil=True)
def pairwise_planes(scores, y, ptr, c, delta, value):
    """Fill ``c``, and ``delta`` and ``value`` of every task; see `smtl.metrics.AUC` for the formula."""
    m = len(ptr) - 1
    room = 0
    for i in range(m):
        room = max(room, ptr[i + 1] - ptr[i])
    values = np.empty(room)
    rows = np.empty(room, np.int64)
    counts = np.empty(room + 1, np.int64)
    pos = np.empty(room)
    pos_rows = np.empty(room, np.int64)
    neg = np.empty(room)
    neg_rows = np.empty(room, np.int64)
    for i in range(m):
        start, stop = ptr[i], ptr[i + 1]
        n_pos = class_rows(scores, y, start, stop, 1, -np.inf, values, rows)
        sort_rows(values, rows, n_pos, pos, pos_rows, counts)
        n_neg = class_rows(scores, y, start, stop, -1, -np.inf, values, rows)
        sort_rows(values, rows, n_neg, neg, neg_rows, counts)
        # A pair is inverted when s_neg > s_pos - 1. As the positive's score grows, ever more negatives are clear of it.
        weight = 1.0 / (n_pos * n_neg)
        inverted = 0.0
        margin = 0.0
        clear = 0
        for k in range(n_pos):
            limit = pos[k] - 1.0
            while clear < n_neg and neg[clear] <= limit:
                clear += 1
            count = n_neg - clear
            c[pos_rows[k]] = count * weight
            inverted += count
            margin += count * pos[k]
        hit = 0
        for k in range(n_neg):
            while hit < n_pos and pos[hit] - 1.0 < neg[k]:
                hit += 1
            c[neg_rows[k]] = -hit * weight
            margin -= hit * neg[k]
        delta[i] = inverted * weight
        value[i] = (inverted - margin) * weight
