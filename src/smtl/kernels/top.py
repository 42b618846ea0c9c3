"""The oracle of losses of the rows with the highest scores, for all tasks: precision at k and the break-even point.

A wrong answer puts t positives and ``size - t`` negatives at the top, the highest of each class. All t are tried, from
the most positives on, so that sums only grow.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int8, int64, njit, types, void

from smtl.kernels.selection import add_to_highest, highest_rows


@njit(
    types.Tuple((int64, float64))(boolean, float64[::1], int64, int64, float64[::1], int64, int64, int64, float64),
    cache=True,
    nogil=True,
)
def worst_top(labelling, pos, top_pos, n_pos, neg, top_neg, n_neg, size, missed):
    """Return how many positives the worst top of ``size`` rows has, and what it is worth.

    Of the positives and the negatives ``pos`` and ``neg`` hold the highest; ``missed`` is the sum of the positives that
    are not among as many as may be at the top.
    """
    most = min(size, n_pos)
    flagged = 0.0
    for j in range(size - most):
        flagged += neg[top_neg - 1 - j]
    best = 0.0
    found = most
    for t in range(most - 1, max(size - n_neg, 0) - 1, -1):
        missed += pos[top_pos - 1 - t]
        flagged += neg[top_neg - (size - t)]
        loss = float(most - t) / size
        gain = 2.0 * (flagged - missed) if labelling else loss * (flagged / (size - t) - missed / (n_pos - t))
        if loss + gain > best:
            best = loss + gain
            found = t
    return found, best


@njit(
    void(int64, boolean, float64[::1], int8[::1], int64[::1], float64[::1], float64[::1], float64[::1]),
    cache=True,
    nogil=True,
)
def top_planes(k, labelling, scores, y, ptr, c, delta, value):
    """Fill ``c``, and ``delta`` and ``value`` of every task; ``c`` is zero before.

    The top has ``k`` rows, or, where k is 0, as many as there are positives. With ``labelling`` the plane is that of a
    labelling, 2 for each wrong answer; otherwise it compares means, see `smtl.metrics.PrecisionAtK`.
    """
    m = len(ptr) - 1
    room = 0
    for i in range(m):
        room = max(room, ptr[i + 1] - ptr[i])
    values = np.empty(room + 1)
    rows = np.empty(room + 1, np.int64)
    counts = np.empty(room + 1, np.int32)
    pos = np.empty(room)
    pos_rows = np.empty(room, np.int64)
    neg = np.empty(room)
    neg_rows = np.empty(room, np.int64)
    for i in range(m):
        start, stop = ptr[i], ptr[i + 1]
        n_pos = n_neg = 0
        for row in range(start, stop):
            n_pos += y[row] == 1
            n_neg += y[row] == -1
        size = min(k if k > 0 else n_pos, n_pos + n_neg)
        most = min(size, n_pos)
        top_pos = highest_rows(scores, y, start, stop, 1, most, values, rows, pos, pos_rows, counts)
        top_neg = highest_rows(scores, y, start, stop, -1, size, values, rows, neg, neg_rows, counts)
        missed = 0.0
        if most < n_pos:
            for row in range(start, stop):
                missed += scores[row] if y[row] == 1 else 0.0
            for j in range(most):
                missed -= pos[top_pos - 1 - j]
        found, best = worst_top(labelling, pos, top_pos, n_pos, neg, top_neg, n_neg, size, missed)
        delta[i] = float(most - found) / size
        value[i] = best
        if found < most:
            on_pos = 2.0 if labelling else delta[i] / (n_pos - found)
            on_neg = 2.0 if labelling else delta[i] / (size - found)
            for row in range(start, stop):
                if y[row] == 1:
                    c[row] = on_pos
            add_to_highest(c, pos, pos_rows, top_pos, found, -on_pos)
            add_to_highest(c, neg, neg_rows, top_neg, size - found, -on_neg)
