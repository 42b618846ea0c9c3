"""The decision stump that is best for all labels at once, for AdaBoost.MH."""

from __future__ import annotations

import numpy as np
from numba import njit

# What two equally good splits may differ by. Rounding must not choose between them, or the stump would depend on the
# order of the labels, on whether X is sparse, and on the number of threads. A root of a rounding error is no smaller.
TIE = 1e-8


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def quality(left, left_sign, total, total_sign, real):
    """Return how good a split into two blocks is; less is better.

    ``left`` and ``left_sign`` are the sums over the left block of the weights and of the weights times labels, one
    entry a label; ``total`` and ``total_sign`` those over all rows. With the weights W+ and W- of a block it is twice
    the sum over blocks and labels of sqrt(W+ W-), the normaliser of real AdaBoost.MH; or minus the sum of |W+ - W-|,
    the discrete one's edge.
    """
    value = 0.0
    if real:
        for i in range(len(total)):
            s = left[i]
            r = left_sign[i]
            value += np.sqrt(max(0.0, (s - r) * (s + r)))
            s = total[i] - s
            r = total_sign[i] - r
            value += np.sqrt(max(0.0, (s - r) * (s + r)))
    else:
        for i in range(len(total)):
            value -= abs(left_sign[i]) + abs(total_sign[i] - left_sign[i])
    return value


@njit(cache=True, nogil=True)
def best_stump(start, rows, values, first, last, D, G, total, total_sign, real):
    """Return the best value, feature, and the two values of the feature between which to split, among some features.

    The entries of feature ``j`` are ``rows`` and ``values``, ascending, from ``start[j]`` to ``start[j + 1]``; rows
    that do not occur have the value zero. ``D`` has the weights, of shape (n, m), and ``G`` the weights times labels.
    The first among those that are equal but for rounding is kept; the feature is -1 if none can be split.
    """
    n, m = D.shape
    left = np.empty(m)
    left_sign = np.empty(m)
    zero = np.empty(m)
    zero_sign = np.empty(m)
    best = np.inf
    feature = -1
    low = 0.0
    high = 0.0
    for j in range(first, last):
        begin = start[j]
        end = start[j + 1]
        absent = n - (end - begin) > 0
        if absent:
            zero[:] = total
            zero_sign[:] = total_sign
            for e in range(begin, end):
                for i in range(m):
                    zero[i] -= D[rows[e], i]
                    zero_sign[i] -= G[rows[e], i]
        left[:] = 0.0
        left_sign[:] = 0.0
        e = begin
        while e < end or absent:
            if absent and (e == end or values[e] >= 0.0):
                value = 0.0
                absent = False
                for i in range(m):
                    left[i] += zero[i]
                    left_sign[i] += zero_sign[i]
            else:
                value = values[e]
            while e < end and values[e] == value:
                for i in range(m):
                    left[i] += D[rows[e], i]
                    left_sign[i] += G[rows[e], i]
                e += 1
            if e < end or absent:
                candidate = quality(left, left_sign, total, total_sign, real)
                if candidate < best - TIE:
                    best = candidate
                    feature = j
                    low = value
                    high = 0.0 if absent and (e == end or values[e] >= 0.0) else values[e]
    return best, feature, low, high
