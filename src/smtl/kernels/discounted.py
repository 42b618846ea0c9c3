"""The oracle of a loss of rankings that discounts what comes late, for all tasks: average precision and NDCG.

With positives and negatives each in descending order of score, the loss of a ranking is

    norm * sum over positives i of u(i) * (E(i) - E(rank of i)),      u(i) = i or 1,

with a convex falling E. Moving the j-th negative from just below the i-th positive to just above it costs
``norm * u(i) * (E(i + j - 1) - E(i + j))``, whatever else the ranking is, and gains the difference of their scores over
``P N``. So each negative has a best place of its own. Because E is convex, the cost falls with j, and so the best place
of a negative is never above that of the one before it: the places of all are found by halving, and form a ranking.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int8, int64, njit, void

from smtl.kernels.sorting import class_rows, sort_rows


@njit(
    int64(float64[::1], boolean, float64, float64, float64[::1], int64, float64, int64, int64), cache=True, nogil=True
)
def best_place(drops, by_place, norm, pair, pos, j, score, low, high):
    """Return how many positives stay above the j-th negative (from 0), between ``low`` and ``high``."""
    total = 0.0
    best = 0.0
    place = high
    for i in range(high - 1, low - 1, -1):
        drop = norm * drops[i + j + 2]
        if by_place:
            drop *= i + 1.0
        total += drop - pair * (pos[i] - score)
        if total > best:
            best = total
            place = i
    return place


@njit(
    void(float64[::1], boolean, float64, float64, float64[::1], int64, float64[::1], int64, int64[::1], int64[:, ::1]),
    cache=True,
    nogil=True,
)
def find_places(drops, by_place, norm, pair, pos, n_pos, neg, n_neg, places, stack):
    """Write the best place of each negative; both classes are in descending order."""
    depth = 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n_neg, 0, n_pos
    while depth > 0:
        depth -= 1
        first, last, low, high = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        while first < last and low < high:
            j = (first + last) // 2
            place = best_place(drops, by_place, norm, pair, pos, j, neg[j], low, high)
            places[j] = place
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = j + 1, last, place, high
            depth += 1
            last, high = j, place
        for j in range(first, last):
            places[j] = low


@njit(void(float64[::1], int64[::1], int64, float64[::1], float64[::1]), cache=True, nogil=True)
def write_even(values, rows, n, amounts, c):
    """Write each row's amount into ``c``; rows of equal values get the mean of theirs.

    In whatever order they come, the ranking attains the same value, so the mean of its planes does.
    """
    j = 0
    while j < n:
        end = j + 1
        total = amounts[j]
        while end < n and values[end] == values[j]:
            total += amounts[end]
            end += 1
        total /= end - j
        for tied in range(j, end):
            c[rows[tied]] = total
        j = end


@njit(int64(float64[::1], int64[::1], int64), cache=True, nogil=True)
def turn_around(values, rows, n):
    """Reverse the order of n values and their rows; return n."""
    for j in range(n // 2):
        values[j], values[n - 1 - j] = values[n - 1 - j], values[j]
        rows[j], rows[n - 1 - j] = rows[n - 1 - j], rows[j]
    return n


@njit(
    void(
        float64[::1],
        boolean,
        float64[::1],
        int8[::1],
        int64[::1],
        float64[::1],
        float64[::1],
        float64[::1],
    ),
    cache=True,
    nogil=True,
)
def discounted_planes(discounts, by_place, scores, y, ptr, c, delta, value):
    """Fill ``c``, and ``delta`` and ``value`` of every task.

    ``discounts[r]`` is E(r), for r from 1 up to the rows of the largest task; the norm is one over the sum of
    ``u(i) E(i)``. Rows without a label have ``c = 0`` before and after.
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
    places = np.empty(room, np.int64)
    amounts = np.empty(room)
    stack = np.empty((70, 4), np.int64)
    drops = np.zeros(room + 1)
    for r in range(2, room + 1):
        drops[r] = discounts[r - 1] - discounts[r]
    for task in range(m):
        start, stop = ptr[task], ptr[task + 1]
        n_pos = class_rows(scores, y, start, stop, 1, -np.inf, values, rows)
        sort_rows(values, rows, n_pos, pos, pos_rows, counts)
        turn_around(pos, pos_rows, n_pos)
        n_neg = class_rows(scores, y, start, stop, -1, -np.inf, values, rows)
        sort_rows(values, rows, n_neg, neg, neg_rows, counts)
        turn_around(neg, neg_rows, n_neg)
        ideal = 0.0
        for i in range(n_pos):
            ideal += discounts[i + 1] * (i + 1.0 if by_place else 1.0)
        norm = 1.0 / ideal
        pair = 1.0 / (float(n_pos) * float(n_neg))
        find_places(drops, by_place, norm, pair, pos, n_pos, neg, n_neg, places, stack)
        loss = 0.0
        margin = 0.0
        above = 0
        for i in range(n_pos):
            while above < n_neg and places[above] <= i:
                above += 1
            loss += (discounts[i + 1] - discounts[i + 1 + above]) * (i + 1.0 if by_place else 1.0)
            amounts[i] = above * pair
            margin += amounts[i] * pos[i]
        write_even(pos, pos_rows, n_pos, amounts, c)
        for j in range(n_neg):
            amounts[j] = (places[j] - n_pos) * pair
            margin += amounts[j] * neg[j]
        write_even(neg, neg_rows, n_neg, amounts, c)
        delta[task] = loss * norm
        value[task] = delta[task] - margin
