"""The highest scores of one class of one task, without a sort of the others."""

from __future__ import annotations

import numpy as np
from numba import float64, int8, int32, int64, njit, void

from smtl.kernels.sorting import class_rows, sort_rows

# Divisions of the range of the scores; they fit in the fastest cache.
BINS = 1024


@njit(int64(float64[::1], int64[::1], int64, int64, int32[::1]), cache=True, nogil=True)
def keep_highest(values, rows, n, k, counts):
    """Move the k highest of n values to the front, with their rows; return how many were moved, at least k.

    Those that share a division with the k-th highest are moved as well, so all that are equal to it are.
    """
    while n > 2 * k:
        low = values[0]
        high = values[0]
        total = 0.0  # NaN where any value is
        for j in range(n):
            low = min(low, values[j])
            high = max(high, values[j])
            total += values[j]
        bins = min(n, BINS)
        scale = (bins - 1) / (high - low) if high > low else 0.0
        if scale == 0.0 or not (np.isfinite(scale) and np.isfinite(high - low) and np.isfinite(total)):
            return n
        for b in range(bins):
            counts[b] = 0
        for j in range(n):
            counts[int((values[j] - low) * scale)] += 1
        b = bins - 1
        kept = counts[b]
        while kept < k:
            b -= 1
            kept += counts[b]
        kept = 0
        for j in range(n):
            if int((values[j] - low) * scale) >= b:
                values[kept] = values[j]
                rows[kept] = rows[j]
                kept += 1
        if 2 * kept > n:
            return kept
        n = kept
    return n


@njit(
    int64(
        float64[::1],
        int8[::1],
        int64,
        int64,
        int64,
        int64,
        float64[::1],
        int64[::1],
        float64[::1],
        int64[::1],
        int32[::1],
    ),
    cache=True,
    nogil=True,
)
def highest_rows(scores, y, start, stop, sign, k, values, rows, sorted_values, sorted_rows, counts):
    """Sort the k highest rows of a class in ascending order, and all that are equal to the k-th; return how many.

    ``values``, ``rows`` and ``counts`` are room to work in, as for `class_rows` and `sort_rows`. Of fewer than k rows
    all are sorted.
    """
    n = class_rows(scores, y, start, stop, sign, -np.inf, values, rows)
    kept = keep_highest(values, rows, n, k, counts)
    sort_rows(values, rows, kept, sorted_values, sorted_rows, counts)
    first = max(kept - k, 0)
    while first > 0 and sorted_values[first - 1] == sorted_values[first]:
        first -= 1
    for j in range(first, kept):
        sorted_values[j - first] = sorted_values[j]
        sorted_rows[j - first] = sorted_rows[j]
    return kept - first


@njit(void(float64[::1], float64[::1], int64[::1], int64, int64, float64), cache=True, nogil=True)
def add_to_highest(c, values, rows, n, count, amount):
    """Add ``amount`` to ``c`` at the ``count`` highest of n sorted rows.

    Where the cut falls among equal scores, these share what is left evenly: the mean of the planes of all choices
    among them, each of which attains the same value.
    """
    if count <= 0:
        return
    cut = values[n - count]
    j = n - 1
    while j >= 0 and values[j] > cut:
        c[rows[j]] += amount
        j -= 1
    first = j
    while first >= 0 and values[first] == cut:
        first -= 1
    share = amount * (count - (n - 1 - j)) / (j - first)
    for tied in range(first + 1, j + 1):
        c[rows[tied]] += share
