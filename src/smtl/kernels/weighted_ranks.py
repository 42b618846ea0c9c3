"""The oracle of `smtl.kernels.discounted` for rows with weights: average precision and NDCG.

A row of weight w is w equal rows. Rows of one class in descending order of score take up a line, each as much of it as
it weighs. What swapping a positive with a negative costs is known for whole rows, from one whole number to the next on
either line; of a part of a row it is that part. So lines are divided at the whole numbers and between rows, and each
piece of the negatives has a best place among the pieces of the positives. Where all weights are whole numbers, pieces
are whole rows, and this is the loss of the repeated rows.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int8, int64, njit, void

from smtl.kernels.sorting import class_rows, sort_rows

NEAR = 1e-9  # a piece that is shorter is none


@njit(
    int64(float64[::1], int64[::1], int64, float64[::1], float64[::1], int64[::1], float64[::1], int64[::1]),
    cache=True,
    nogil=True,
)
def find_pieces(values, rows, n, weights, score, row, width, cell):
    """Divide n sorted rows into pieces, from the highest score on; return how many there are.

    ``cell`` receives how many whole numbers are before each piece.
    """
    end = 0.0
    count = 0
    for j in range(n - 1, -1, -1):
        start = end
        end = start + weights[rows[j]]
        while end - start > NEAR or count == 0 or row[count - 1] != rows[j]:
            whole = np.floor(start + NEAR)
            following = min(end, whole + 1.0)
            if end - following <= NEAR:
                following = end
            score[count] = values[j]
            row[count] = rows[j]
            width[count] = following - start
            cell[count] = int64(whole)
            count += 1
            start = following
    return count


@njit(
    int64(
        float64[::1], boolean, float64, float64, float64[::1], float64[::1], int64[::1], int64, float64, int64, int64
    ),
    cache=True,
    nogil=True,
)
def best_place(drops, by_place, norm, pair, pos, width, cell, of_neg, score, low, high):
    """Return how many pieces of the positives stay above a piece of the negatives, between ``low`` and ``high``."""
    total = 0.0
    best = 0.0
    place = high
    for i in range(high - 1, low - 1, -1):
        drop = norm * drops[cell[i] + of_neg + 2]
        if by_place:
            drop *= cell[i] + 1.0
        total += width[i] * (drop - pair * (pos[i] - score))
        if total > best:
            best = total
            place = i
    return place


@njit(
    void(
        float64[::1],
        boolean,
        float64,
        float64,
        float64[::1],
        float64[::1],
        int64[::1],
        int64,
        float64[::1],
        int64[::1],
        int64,
        int64[::1],
        int64[:, ::1],
    ),
    cache=True,
    nogil=True,
)
def find_places(drops, by_place, norm, pair, pos, width, cell, n_pos, neg, neg_cell, n_neg, places, stack):
    """Write the best place of each piece of the negatives."""
    depth = 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n_neg, 0, n_pos
    while depth > 0:
        depth -= 1
        first, last, low, high = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        while first < last and low < high:
            j = (first + last) // 2
            place = best_place(drops, by_place, norm, pair, pos, width, cell, neg_cell[j], neg[j], low, high)
            places[j] = place
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = j + 1, last, place, high
            depth += 1
            last, high = j, place
        for j in range(first, last):
            places[j] = low


@njit(void(float64[::1], int64[::1], float64[::1], int64, float64[::1], float64[::1]), cache=True, nogil=True)
def add_even(score, row, width, n, amounts, c):
    """Add the amounts of pieces to ``c``; rows of equal scores get them in proportion to their weights.

    In whatever order these come, the ranking attains the same value, so the mean of its planes does.
    """
    j = 0
    while j < n:
        end = j
        total = 0.0
        mass = 0.0
        while end < n and score[end] == score[j]:
            total += amounts[end]
            mass += width[end]
            end += 1
        for k in range(j, end):
            c[row[k]] += total / mass * width[k]
        j = end


@njit(
    void(
        float64[::1],
        boolean,
        float64[::1],
        int8[::1],
        float64[::1],
        int64[::1],
        float64[::1],
        float64[::1],
        float64[::1],
    ),
    cache=True,
    nogil=True,
)
def weighted_discounted_planes(discounts, by_place, scores, y, weights, ptr, c, delta, value):
    """Fill ``c``, which is zero before, and ``delta`` and ``value`` of every task.

    ``discounts[r]`` is E(r), for r from 1 up to the weight of the largest task, and two more.
    """
    drops = np.zeros(len(discounts))
    for r in range(2, len(discounts)):
        drops[r] = discounts[r - 1] - discounts[r]
    stack = np.empty((70, 4), np.int64)
    for task in range(len(ptr) - 1):
        start, stop = ptr[task], ptr[task + 1]
        room = stop - start
        n_pos = n_neg = 0.0
        for k in range(start, stop):
            n_pos += weights[k] if y[k] == 1 else 0.0
            n_neg += weights[k] if y[k] == -1 else 0.0
        values, in_order = np.empty(room + 1), np.empty(room)
        rows, rows_in_order = np.empty(room + 1, np.int64), np.empty(room, np.int64)
        counts = np.empty(room + 1, np.int32)
        most = room + int64(max(n_pos, n_neg)) + 2
        pos, neg = np.empty(most), np.empty(most)
        pos_row, neg_row = np.empty(most, np.int64), np.empty(most, np.int64)
        pos_width, neg_width = np.empty(most), np.empty(most)
        pos_cell, neg_cell = np.empty(most, np.int64), np.empty(most, np.int64)
        places = np.empty(most, np.int64)
        amounts = np.empty(most)
        n = class_rows(scores, y, start, stop, 1, -np.inf, values, rows)
        sort_rows(values, rows, n, in_order, rows_in_order, counts)
        k_pos = find_pieces(in_order, rows_in_order, n, weights, pos, pos_row, pos_width, pos_cell)
        n = class_rows(scores, y, start, stop, -1, -np.inf, values, rows)
        sort_rows(values, rows, n, in_order, rows_in_order, counts)
        k_neg = find_pieces(in_order, rows_in_order, n, weights, neg, neg_row, neg_width, neg_cell)
        ideal = 0.0
        for i in range(k_pos):
            ideal += pos_width[i] * discounts[pos_cell[i] + 1] * (pos_cell[i] + 1.0 if by_place else 1.0)
        norm = 1.0 / ideal
        pair = 1.0 / (n_pos * n_neg)
        find_places(drops, by_place, norm, pair, pos, pos_width, pos_cell, k_pos, neg, neg_cell, k_neg, places, stack)
        loss = 0.0
        margin = 0.0
        above = 0.0
        j = 0
        for i in range(k_pos):
            while j < k_neg and places[j] <= i:
                above += neg_width[j]
                j += 1
            rank = pos_cell[i] + 1
            whole = int64(np.floor(above + NEAR))
            late = discounts[rank + whole]
            late += (above - whole) * (discounts[rank + whole + 1] - late)
            loss += pos_width[i] * (discounts[rank] - late) * (rank * 1.0 if by_place else 1.0)
            amounts[i] = pos_width[i] * above * pair
            margin += amounts[i] * pos[i]
        add_even(pos, pos_row, pos_width, k_pos, amounts, c)
        below = 0.0
        i = k_pos
        for j in range(k_neg - 1, -1, -1):
            while i > places[j]:
                i -= 1
                below += pos_width[i]
            amounts[j] = -below * neg_width[j] * pair
            margin += amounts[j] * neg[j]
        add_even(neg, neg_row, neg_width, k_neg, amounts, c)
        delta[task] = loss * norm
        value[task] = delta[task] - margin
