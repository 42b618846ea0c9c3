"""What the parts of the rows, and the driver that they answer to, do for an oracle that is spread over them.

Each function here is a piece of an oracle in `smtl.kernels.pairwise` or `pointwise`, in the same order of operations,
so that the spread oracle finds the same plane.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, njit, types

from smtl.kernels.pairwise import BUCKETS, count_buckets, place
from smtl.kernels.pointwise import LOSS
from smtl.kernels.sorting import sort_rows


@njit(cache=True, nogil=True)
def count_inverted(scores, y, ptr, sign, few, few_ptr, inverted, at_most, margin):
    """Count the inverted pairs of each row with the sorted scores of the other, rarer class.

    ``few[few_ptr[i]:few_ptr[i + 1]]`` are task i's; row k's count is added to ``at_most`` at that place, and its score
    times the count to ``margin``.
    """
    m = len(ptr) - 1
    room = 0
    for i in range(m):
        room = max(room, few_ptr[i + 1] - few_ptr[i])
    counts = np.empty(BUCKETS * room + 2, np.int32)
    values = np.empty(room + 1)
    for i in range(m):
        n = few_ptr[i + 1] - few_ptr[i]
        for k in range(n):
            values[k] = few[few_ptr[i] + k]
        values[n] = np.inf
        low, scale = count_buckets(values, n, counts)
        first = few_ptr[i] + i  # one more entry a task than there are scores
        total = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            inverted[k] = 0
            if y[k] == -sign[i]:
                x = sign[i] * scores[k]
                number = place(x, values, n, counts, low, scale)
                inverted[k] = number
                at_most[first + number] += 1
                total += number * x
        margin[i] -= total


@njit(cache=True, nogil=True)
def sorted_rows(values):
    """Return values in ascending order and where they were; equal ones in the order they had."""
    n = len(values)
    rows = np.arange(n)
    out, out_rows, counts = np.empty(n), np.empty(n, np.int64), np.empty(n + 1, np.int32)
    sort_rows(values.copy(), rows, n, out, out_rows, counts)
    return out, out_rows


@njit(
    types.void(
        LOSS,
        float64[::1],
        types.int8[::1],
        float64[::1],
        int64[::1],
        float64[:, ::1],
        float64[:, ::1],
        float64[:, ::1],
    ),
    cache=True,
    nogil=True,
)
def pointwise_sums(loss, scores, y, weights, ptr, at, value, slope):
    """Add each task's loss, and its slope, at each of the intercepts ``at``; those that are NaN are left out.

    ``weights`` is empty where all rows weigh the same.
    """
    weighted = len(weights) > 0
    for i in range(len(ptr) - 1):
        for j in range(at.shape[1]):
            x = at[i, j]
            if np.isnan(x):
                continue
            total = 0.0
            slopes = 0.0
            for k in range(ptr[i], ptr[i + 1]):
                label = float(y[k])
                if label != 0.0:
                    row_value, row_slope = loss(label * (scores[k] + x))
                    weight = weights[k] if weighted else 1.0
                    total += weight * row_value
                    slopes += weight * label * row_slope
            value[i, j] += total
            slope[i, j] += slopes


@njit(
    types.void(
        LOSS,
        float64[::1],
        types.int8[::1],
        float64[::1],
        int64[::1],
        float64[:, ::1],
        float64[:, ::1],
        float64[::1],
        float64[::1],
        float64[::1],
    ),
    cache=True,
    nogil=True,
)
def pointwise_mixed(loss, scores, y, weights, ptr, at, part, c, product, value):
    """Fill ``c`` of the mixture of the tangents at two intercepts; add c's product with the scores, and the loss.

    ``at`` and ``part`` have two columns: the intercepts, and the parts of their tangents. What is missing to 1 is the
    part of the zero plane. The loss is that at the first. ``weights`` is empty where all rows weigh the same.
    """
    weighted = len(weights) > 0
    for i in range(len(ptr) - 1):
        total = 0.0
        losses = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            label = float(y[k])
            c[k] = 0.0
            if label == 0.0:
                continue
            row_value, row_slope = loss(label * (scores[k] + at[i, 0]))
            weight = weights[k] if weighted else 1.0
            losses += weight * row_value
            c[k] = 0.0 - part[i, 0] * weight * label * row_slope
            if part[i, 1] > 0.0:
                c[k] -= part[i, 1] * weight * label * loss(label * (scores[k] + at[i, 1]))[1]
            total += c[k] * scores[k]
        product[i] += total
        value[i] += losses
