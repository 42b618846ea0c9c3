"""The oracle of the pairwise AUC loss, for all tasks.

A pair is inverted when the positive's score is not above the negative's by 1. Only the class with fewer rows is sorted:
the place of every row of the other class among them tells all pairs that are inverted. With the signs of all scores
changed, negatives take the place of positives, so that the few may as well be the negatives.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int8, int32, int64, njit, types

from smtl.kernels.sorting import class_rows, sort_rows

# Buckets a value: so many that few buckets have more than one.
BUCKETS = 4
# Where more than so many values share a bucket, the place is searched by halving.
CROWDED = 8


@njit(types.UniTuple(float64, 2)(float64[::1], int64, int32[::1]), cache=True, nogil=True)
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
    k, end = np.int64(first[bucket]), np.int64(first[bucket + 1])
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


@njit(
    types.void(float64[::1], int8[::1], float64[::1], int64[::1], float64[::1], float64[::1], float64[::1]),
    cache=True,
    nogil=True,
)
def pairwise_planes(scores, y, weights, ptr, c, delta, value):
    """Fill ``c``, and ``delta`` and ``value`` of every task; see `smtl.metrics.AUC` for the formula.

    Rows without a label have ``c = 0`` before and after. ``weights`` is empty where all rows weigh the same; otherwise
    a pair weighs as much as the product of its rows.
    """
    m = len(ptr) - 1
    room = 0
    for i in range(m):
        room = max(room, ptr[i + 1] - ptr[i])
    values = np.empty(room + 1)
    rows = np.empty(room + 1, np.int64)
    counts = np.empty(BUCKETS * room + 2, np.int32)
    in_order = np.empty(room)
    few_rows = np.empty(room, np.int64)
    # A value, and the weight of the rows of the other class that have this place: they are asked for together.
    few = np.empty((room + 1, 2))
    mass = np.empty(room + 1)  # the weight of the rows of the rarer class up to one
    weighted = len(weights) > 0
    for i in range(m):
        start, stop = ptr[i], ptr[i + 1]
        n_pos = n_neg = 0
        for k in range(start, stop):
            n_pos += y[k] == 1
            n_neg += y[k] == -1
        others = float(max(n_pos, n_neg))
        sign = 1 if n_pos <= n_neg else -1
        n = class_rows(scores, y, start, stop, sign, -np.inf, values, rows)
        for k in range(n):
            values[k] = sign * values[k] - 1.0
        sort_rows(values, rows, n, in_order, few_rows, counts)
        low, scale = count_buckets(in_order, n, counts)
        mass[0] = few[n, 1] = 0.0
        few[n, 0] = np.inf
        for k in range(n):
            mass[k + 1] = mass[k] + (weights[few_rows[k]] if weighted else 1.0)
            few[k, 0], few[k, 1] = in_order[k], 0.0
        if weighted:
            others = 0.0
            for k in range(start, stop):
                others += weights[k] * (y[k] == -sign)
        share = 1.0 / (mass[n] * others)
        margin = 0.0
        for k in range(start, stop):
            x = sign * scores[k]
            weight = 1.0 * (y[k] == -sign)  # a factor instead of a branch, for the same reason as in `class_rows`
            if weighted:
                weight *= weights[k]
            below = place(x, few[:, 0], n, counts, low, scale)
            few[below, 1] += weight
            inverted = weight * (mass[below] if weighted else float(below))
            c[k] = 0.0 - sign * inverted * share  # not -0.0
            margin -= inverted * x
        pairs = inverted = 0.0
        for k in range(n - 1, -1, -1):
            inverted += few[k + 1, 1]
            row = few_rows[k]
            pulled = inverted * (weights[row] if weighted else 1.0)
            c[row] = sign * pulled * share
            pairs += pulled
            margin += pulled * (in_order[k] + 1.0)
        delta[i] = pairs * share
        value[i] = (pairs - margin) * share
