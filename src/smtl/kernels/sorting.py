"""Sorting the scores of one class of one task: the cost that dominates an oracle."""

from __future__ import annotations

import numpy as np
from numba import float64, int8, int32, int64, njit, types

# A bucket with more rows than this is not sorted by insertion.
CROWDED = 48


@njit(int64(float64[::1], int8[::1], int64, int64, int64, float64, float64[::1], int64[::1]), cache=True, nogil=True)
def class_rows(scores, y, start, stop, sign, floor, values, rows):
    """Copy scores above ``floor`` and row numbers of one class into ``values`` and ``rows``; return how many.

    Both need room for one row more than that.
    """
    n = 0
    for k in range(start, stop):
        # Written in any case: a branch that is not taken as foreseen costs more.
        values[n] = scores[k]
        rows[n] = k
        n += (y[k] == sign) & (scores[k] > floor)
    return n


@njit(types.void(float64[::1], int64[::1], int64, float64[::1], int64[::1]), cache=True, nogil=True)
def merge_sort(values, rows, n, sorted_values, sorted_rows):
    """Sort ``n`` values and their row numbers in O(n log n) whatever they are; ``values`` and ``rows`` are overwritten.

    NaN counts as greater than everything. numba's own argsort would do as well, but takes seconds to compile.
    """
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle = min(start + width, n)
            stop = min(start + 2 * width, n)
            i, j = start, middle
            for k in range(start, stop):
                if i < middle and (j >= stop or values[i] <= values[j] or values[j] != values[j]):
                    sorted_values[k] = values[i]
                    sorted_rows[k] = rows[i]
                    i += 1
                else:
                    sorted_values[k] = values[j]
                    sorted_rows[k] = rows[j]
                    j += 1
        for k in range(n):
            values[k] = sorted_values[k]
            rows[k] = sorted_rows[k]
        width *= 2


@njit(types.void(float64[::1], int64[::1], int64, float64[::1], int64[::1], int32[::1]), cache=True, nogil=True)
def sort_rows(values, rows, n, sorted_values, sorted_rows, counts):
    """Sort ``n`` values in ascending order, their row numbers along with them.

    One bucket per value on average, then insertion: linear time for scores that are spread out as scores are. Where
    some bucket is crowded, which skewed or nearly tied scores bring about, it is a merge sort. ``values`` and ``rows``
    may be overwritten.
    Equal values keep the order of their rows. ``counts`` is room for ``n + 1`` integers, of 32 bits: they are read at
    random, and what is smaller stays in a nearer cache.
    """
    if n == 0:
        return
    low = values[0]
    high = values[0]
    total = 0.0  # NaN where any value is
    for k in range(n):
        low = min(low, values[k])
        high = max(high, values[k])
        total += values[k]
    width = high - low
    if width == 0.0:
        for k in range(n):
            sorted_values[k] = values[k]
            sorted_rows[k] = rows[k]
        return
    scale = (n - 1) / width
    crowded = not (np.isfinite(width) and np.isfinite(scale) and np.isfinite(total))
    if not crowded:
        for b in range(n + 1):
            counts[b] = 0
        for k in range(n):
            counts[int((values[k] - low) * scale) + 1] += 1
        for b in range(n):
            if counts[b + 1] > CROWDED:
                crowded = True
            counts[b + 1] += counts[b]
    if crowded:
        merge_sort(values, rows, n, sorted_values, sorted_rows)
        return
    for k in range(n):
        b = int((values[k] - low) * scale)
        place = counts[b]
        counts[b] = place + 1
        sorted_values[place] = values[k]
        sorted_rows[place] = rows[k]
    for k in range(1, n):
        value = sorted_values[k]
        if value < sorted_values[k - 1]:
            row = sorted_rows[k]
            j = k - 1
            while j >= 0 and sorted_values[j] > value:
                sorted_values[j + 1] = sorted_values[j]
                sorted_rows[j + 1] = sorted_rows[j]
                j -= 1
            sorted_values[j + 1] = value
            sorted_rows[j + 1] = row
