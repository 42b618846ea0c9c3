"""The oracle of the pairwise AUC loss, for all tasks.

A pair is inverted when the positive's score is not above the negative's by 1. Only the class with fewer rows is sorted:
the place of every row of the other class among them tells all pairs that are inverted. With the signs of all scores
changed, negatives take the place of positives, so that the few may as well be the negatives.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from smtl.kernels.sorting import class_rows, sort_rows

# Buckets a value: so many that few buckets have more than one.
BUCKETS = 4
# Where more than so many values share a bucket, the place is searched by halving.
CROWDED = 8


@njit(cache=True, nogil=True)
def count_buckets(values, n, first):
    """Divide n sorted values into buckets; return the lowest value and the number of buckets a unit.

    ``first[b]`` receives the number of values in the buckets before b, for b up to ``BUCKETS * n + 1``.
    """
    low, n_buckets = values[0], BUCKETS * n
    scale = (n_buckets - 1) / (values[n - 1] - low) if values[n - 1] > low else 0.0
    if not np.isfinite(scale * (values[n - 1] - low)):
        scale = 0.0
    b = 0
    for k in range(n):
        bucket = int((values[k] - low) * scale) if scale > 0.0 else 0
        while b <= bucket:
            first[b] = k
            b += 1
    while b <= n_buckets + 1:
        first[b] = n
        b += 1
    return low, scale


@njit(cache=True, nogil=True)
def place(x, values, n, first, low, scale):
    """Return how many of the sorted values are below ``x``; ``values[n]`` is infinite."""
    b = (x - low) * scale
    b = b if b > 0.0 else 0.0  # NaN, too
    b = b if b < BUCKETS * n else BUCKETS * n
    bucket = int(b)
    k, end = first[bucket], first[bucket + 1]
    while end - k > CROWDED:
        middle = (k + end) // 2
        if values[middle] < x:
            k = middle + 1
        else:
            end = middle
    # A branch that is not taken as foreseen costs more than a comparison too many.
    k += values[k] < x
    while k < end and values[k] < x:
        k += 1
    return k


@njit(cache=True, nogil=True)
def pairwise_planes(scores, y, ptr, c, delta, value):
    """Fill ``c``, and ``delta`` and ``value`` of every task; see `smtl.metrics.AUC` for the formula.

    Rows without a label have ``c = 0`` before and after.
    """
    m = len(ptr) - 1
    room = 0
    for i in range(m):
        room = max(room, ptr[i + 1] - ptr[i])
    values = np.empty(room)
    rows = np.empty(room, np.int64)
    counts = np.empty(BUCKETS * room + 2, np.int64)
    few = np.empty(room + 1)
    few_rows = np.empty(room, np.int64)
    at_most = np.empty(room + 1, np.int64)
    for i in range(m):
        start, stop = ptr[i], ptr[i + 1]
        n_pos = n_neg = 0
        for k in range(start, stop):
            n_pos += y[k] == 1
            n_neg += y[k] == -1
        sign = 1 if n_pos <= n_neg else -1
        n = class_rows(scores, y, start, stop, sign, -np.inf, values, rows)
        for k in range(n):
            values[k] = sign * values[k] - 1.0
        sort_rows(values, rows, n, few, few_rows, counts)
        few[n] = np.inf
        low, scale = count_buckets(few, n, counts)
        for k in range(n + 1):
            at_most[k] = 0
        weight = 1.0 / (n_pos * n_neg)
        margin = 0.0
        for k in range(start, stop):
            x = sign * scores[k]
            other = np.int64(y[k] == -sign)  # a factor instead of a branch, for the same reason
            inverted = place(x, few, n, counts, low, scale)
            at_most[inverted] += other
            inverted *= other
            c[k] = -sign * inverted * weight
            margin -= inverted * x
        pairs = 0.0
        inverted = 0
        for k in range(n - 1, -1, -1):
            inverted += at_most[k + 1]
            c[few_rows[k]] = sign * inverted * weight
            pairs += inverted
            margin += inverted * (sign * scores[few_rows[k]])
        delta[i] = pairs * weight
        value[i] = (pairs - margin) * weight
