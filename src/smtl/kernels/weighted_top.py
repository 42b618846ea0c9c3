"""The oracle of `smtl.kernels.top` for rows with weights: precision at k, and the break-even point.

A row of weight w is w equal rows, of which the top may take any part. A top that falls short of the best possible by
``e`` positives has that much more weight of negatives, the highest, and misses that much more of positives, the lowest.
At the break-even point any ``e`` will do, and the best is where either class goes on to its next row. At k, ``e`` is a
whole number, or the largest that there can be.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int8, int64, njit, void

from smtl.kernels.sorting import class_rows, sort_rows
from smtl.kernels.weighted_errors import NEAR, add_errors

# A class from one end on: how many rows are passed, what they weigh, the sum of their scores.
PASSED, MASS, SUM = range(3)


@njit(float64(float64[::1], float64[::1], int64[::1], int64, boolean, float64[::1], float64), cache=True, nogil=True)
def sum_up_to(place, values, rows, n, highest_first, weights, amount):
    """Return the sum of the scores of the first rows that weigh ``amount``; ``place`` goes on to where they end."""
    while place[PASSED] < n:
        j = int64(place[PASSED])
        k = n - 1 - j if highest_first else j
        if place[MASS] + weights[rows[k]] > amount:
            return place[SUM] + max(amount - place[MASS], 0.0) * values[k]
        place[MASS] += weights[rows[k]]
        place[SUM] += weights[rows[k]] * values[k]
        place[PASSED] += 1.0
    return place[SUM]


@njit(float64(float64[::1], int64[::1], int64, boolean, float64[::1]), cache=True, nogil=True)
def next_end(place, rows, n, highest_first, weights):
    """Return the weight of the rows up to the end of the one where ``place`` is."""
    j = int64(place[PASSED])
    if j >= n:
        return np.inf
    return place[MASS] + weights[rows[n - 1 - j if highest_first else j]]


@njit(
    void(int64, boolean, float64[::1], int8[::1], float64[::1], int64[::1], float64[::1], float64[::1], float64[::1]),
    cache=True,
    nogil=True,
)
def weighted_top_planes(k, labelling, scores, y, weights, ptr, c, delta, value):
    """Fill ``c``, which is zero before, and ``delta`` and ``value`` of every task; see `smtl.kernels.top`."""
    room = 0
    for i in range(len(ptr) - 1):
        room = max(room, ptr[i + 1] - ptr[i])
    values, rows = np.empty(room + 1), np.empty(room + 1, np.int64)
    counts = np.empty(room + 1, np.int32)
    pos, pos_rows = np.empty(room), np.empty(room, np.int64)
    neg, neg_rows = np.empty(room), np.empty(room, np.int64)
    lowest, highest = np.empty(3), np.empty(3)
    for i in range(len(ptr) - 1):
        start, stop = ptr[i], ptr[i + 1]
        n_pos = n_neg = 0.0
        for row in range(start, stop):
            n_pos += weights[row] if y[row] == 1 else 0.0
            n_neg += weights[row] if y[row] == -1 else 0.0
        k_pos = class_rows(scores, y, start, stop, 1, -np.inf, values, rows)
        sort_rows(values, rows, k_pos, pos, pos_rows, counts)
        k_neg = class_rows(scores, y, start, stop, -1, -np.inf, values, rows)
        sort_rows(values, rows, k_neg, neg, neg_rows, counts)
        size = min(float64(k) if k > 0 else n_pos, n_pos + n_neg)
        most = min(size, n_pos)
        last = most - max(size - n_neg, 0.0)
        lowest[:] = 0.0
        highest[:] = 0.0
        best, found, e = 0.0, 0.0, 0.0
        while e < last * (1.0 - 1e-12):
            if labelling:
                e = min(
                    next_end(lowest, pos_rows, k_pos, False, weights), next_end(highest, neg_rows, k_neg, True, weights)
                )
            else:
                e = e + 1.0
            e = min(e, last)
            of_neg, of_pos = size - most + e, n_pos - most + e
            missed = sum_up_to(lowest, pos, pos_rows, k_pos, False, weights, of_pos)
            flagged = sum_up_to(highest, neg, neg_rows, k_neg, True, weights, of_neg)
            loss = e / size
            seen = loss + (2.0 * (flagged - missed) if labelling else loss * (flagged / of_neg - missed / of_pos))
            if seen > best:
                best, found = seen, e
        delta[i] = found / size
        value[i] = best
        if found > 0.0:
            of_neg, of_pos = size - most + found, n_pos - most + found
            near = NEAR * found
            add_errors(c, pos, pos_rows, k_pos, False, weights, of_pos, near, 2.0 if labelling else delta[i] / of_pos)
            add_errors(c, neg, neg_rows, k_neg, True, weights, of_neg, near, -2.0 if labelling else -delta[i] / of_neg)
