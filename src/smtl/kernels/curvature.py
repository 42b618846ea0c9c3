"""Rows that tell the curvature of a loss, chosen so that few of them do."""

from __future__ import annotations

import numpy as np
from numba import njit

from smtl.kernels.pairwise import BUCKETS, count_buckets
from smtl.kernels.sorting import class_rows, sort_rows

GOLDEN = 0.6180339887498949


@njit(cache=True, nogil=True)
def bucket_of(x, n, low, scale):
    """Return the bucket of ``x``; see `count_buckets`."""
    b = (x - low) * scale
    b = b if b > 0.0 else 0.0  # NaN, too
    return int(b if b < BUCKETS * n else BUCKETS * n)


@njit(cache=True, nogil=True)
def pairs_at_margin(scores, y, ptr, width, positives, negatives, weight):
    """Choose pairs of each task evenly from all whose difference of scores is within ``width`` of the margin 1.

    ``positives`` and ``negatives`` have a row a task and receive the pairs' rows, counted from the task's first.
    ``weight`` receives the factor of a pair's outer square in the second derivative: 0 for a task without such pairs,
    whose rows are then all 0.
    """
    m, T = positives.shape
    room = 0
    for i in range(m):
        room = max(room, ptr[i + 1] - ptr[i])
    values = np.empty(room)
    rows = np.empty(room, np.int64)
    counts = np.empty(BUCKETS * room + 2, np.int64)
    few = np.empty(room + 1)
    few_rows = np.empty(room, np.int64)
    firsts = np.empty(room, np.int64)
    ends = np.empty(room, np.int64)
    for i in range(m):
        start, stop = ptr[i], ptr[i + 1]
        n_pos = n_neg = 0
        for k in range(start, stop):
            n_pos += y[k] == 1
            n_neg += y[k] == -1
        # Only the class with fewer rows is sorted, as in `pairwise_planes`.
        sign = 1 if n_pos <= n_neg else -1
        n = class_rows(scores, y, start, stop, sign, -np.inf, values, rows)
        for k in range(n):
            values[k] = sign * values[k] - 1.0
        sort_rows(values, rows, n, few, few_rows, counts)
        low, scale = count_buckets(few, n, counts)
        least, most = few[0] - width, few[n - 1] + width
        n_rows = total = 0
        for k in range(start, stop):
            x = sign * scores[k]
            if y[k] == -sign and least <= x <= most:
                # The width is no more than a guess, so that its ends may as well be those of buckets.
                first = counts[bucket_of(x - width, n, low, scale)]
                last = counts[bucket_of(x + width, n, low, scale) + 1]
                if last > first:
                    total += last - first
                    rows[n_rows], firsts[n_rows], ends[n_rows] = k, first, total
                    n_rows += 1
        weight[i] = total / (2.0 * width * T * n_pos * n_neg)
        if total == 0:
            positives[i], negatives[i] = 0, 0
            continue
        a, b = (positives, negatives) if sign == 1 else (negatives, positives)
        j = 0
        part = 0.5
        for t in range(T):
            number = int((t + 0.5) / T * total)
            while ends[j] <= number:
                j += 1
            # Evenly over the rows of the one class in proportion to their pairs, and over the pairs of each.
            part = (part + GOLDEN) % 1.0
            size = ends[j] - (ends[j - 1] if j > 0 else 0)
            a[i, t] = few_rows[firsts[j] + int(part * size)] - start
            b[i, t] = rows[j] - start


@njit(cache=True, nogil=True)
def differences(X, a, b, D):
    """Fill ``D`` with ``X[a] - X[b]``."""
    for t in range(len(a)):
        p, q = a[t], b[t]
        for f in range(X.shape[1]):
            D[t, f] = X[p, f] - X[q, f]
