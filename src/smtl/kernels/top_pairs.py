"""The oracle of the pairwise loss of the highest negatives, for all tasks: partial AUC.

As in `smtl.kernels.pairwise`, the place of every positive among the sorted negatives tells all inverted pairs. Here
only the highest negatives are there to be sorted.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int8, int64, njit, types, void

from smtl.kernels.pairwise import BUCKETS, count_buckets, place
from smtl.kernels.selection import highest_rows


@njit(
    types.Tuple((int64, float64))(float64, float64[::1], int64[::1], int64, float64[::1], float64[::1]),
    cache=True,
    nogil=True,
)
def weigh_highest(size, values, rows, n, weights, mass):
    """Keep the highest of n sorted rows that weigh ``size`` together; return how many, and what the lowest count by.

    ``mass[j]`` receives the weight of the kept rows from j on. Of the lowest score all rows are kept.
    """
    weighted = len(weights) > 0
    above = 0.0
    last = n
    first = n - 1
    while True:
        block = weights[rows[first]] if weighted else 1.0
        while first > 0 and values[first - 1] == values[last - 1]:
            first -= 1
            block += weights[rows[first]] if weighted else 1.0
        if first == 0 or above + block >= size * (1.0 - 1e-12):
            break
        above += block
        last = first
        first -= 1
    share = min((size - above) / block, 1.0)
    kept = n - first
    for j in range(kept):
        values[j] = values[first + j]
        rows[j] = rows[first + j]
    mass[kept] = 0.0
    for j in range(kept - 1, -1, -1):
        weight = weights[rows[j]] if weighted else 1.0
        mass[j] = mass[j + 1] + (weight if j >= last - first else share * weight)
    return kept, share


@njit(
    void(float64, float64[::1], int8[::1], float64[::1], int64[::1], float64[::1], float64[::1], float64[::1]),
    cache=True,
    nogil=True,
)
def top_pairs_planes(share, scores, y, weights, ptr, c, delta, value):
    """Fill ``c``, and ``delta`` and ``value`` of every task; ``c`` is zero before.

    The pairs are those with the highest ``share`` of the negatives. The last of them counts by the fraction that is
    left; where it is one of several with equal scores, these share what is left evenly. ``weights`` is empty where all
    rows weigh the same; otherwise the share is one of the negatives' weight, and a pair weighs as much as the product
    of its rows.
    """
    m = len(ptr) - 1
    room = 0
    for i in range(m):
        room = max(room, ptr[i + 1] - ptr[i])
    values = np.empty(room + 1)
    rows = np.empty(room + 1, np.int64)
    counts = np.empty(BUCKETS * room + 2, np.int32)
    neg = np.empty(room + 1)
    neg_rows = np.empty(room, np.int64)
    lower = np.empty(room + 1)
    mass = np.empty(room + 1)
    weighted = len(weights) > 0
    for i in range(m):
        start, stop = ptr[i], ptr[i + 1]
        n_neg = 0
        of_pos = of_neg = 0.0
        for row in range(start, stop):
            weight = weights[row] if weighted else 1.0
            n_neg += y[row] == -1
            of_pos += weight * (y[row] == 1)
            of_neg += weight * (y[row] == -1)
        size = share * of_neg  # what the highest negatives weigh
        k = n_neg if weighted else min(int(np.ceil(size * (1.0 - 1e-12))), n_neg)
        n = highest_rows(scores, y, start, stop, -1, k, values, rows, neg, neg_rows, counts)
        n, tied = weigh_highest(size, neg, neg_rows, n, weights, mass)
        neg[n] = np.inf
        low, scale = count_buckets(neg, n, counts)
        for j in range(n + 1):
            lower[j] = 0.0
        unit = 1.0 / (of_pos * size)
        pairs = 0.0
        margin = 0.0
        for row in range(start, stop):
            if y[row] == 1:
                weight = weights[row] if weighted else 1.0
                j = place(scores[row] - 1.0, neg, n, counts, low, scale)
                lower[j] += weight
                inverted = weight * mass[j]
                c[row] = inverted * unit
                pairs += inverted
                margin += inverted * scores[row]
        inverted = 0.0
        for j in range(n):
            inverted += lower[j]
            # Equal rows of equal weight count the same, though sums of the masses differ by rounding.
            count = inverted * (weights[neg_rows[j]] if weighted else 1.0) * (tied if neg[j] == neg[0] else 1.0)
            c[neg_rows[j]] = -count * unit
            margin -= count * neg[j]
        delta[i] = pairs * unit
        value[i] = (pairs - margin) * unit
