"""The oracle of `smtl.kernels.discounted` for rows with weights: average precision and NDCG.

A row of weight w is w equal rows. Rows of one class in descending order of score take up a line, each as much of it as
it weighs. What swapping a positive with a negative costs is known for whole rows, from one whole number to the next on
either line; of a part of a row it is that part. So lines are divided at the whole numbers and between rows, and each
piece of the negatives has a best place among the pieces of the positives. Where all weights are whole numbers, pieces
are whole rows, and this is the loss of the repeated rows.

Pieces of the positives are written down. Those of the negatives are not: where a range of them has one place, their
rows are taken as a whole.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int8, int64, njit, types, void

from smtl.kernels.discounted import turn_around
from smtl.kernels.sorting import class_rows, sort_rows

NEAR = 1e-9  # a piece that is shorter is none
DEPTH = 200  # of the halving of rows, and of pieces of a row, at most
# Columns of a line, one row of them for each row of a class: where it begins and ends on the line.
START, END = 0, 1


@njit(float64(int64[::1], int64, float64[::1], float64[:, ::1], int64[::1]), cache=True, nogil=True)
def lay_out(rows, n, weights, line, first):
    """Write where n sorted rows are on their line, and the number of each one's first piece; return what they weigh."""
    end = 0.0
    first[0] = 0
    for j in range(n):
        line[j, START] = end
        end += weights[rows[j]]
        line[j, END] = end
        first[j + 1] = first[j] + max(1, int64(np.ceil(end - NEAR - np.floor(line[j, START] + NEAR))))
    return end


@njit(types.Tuple((int64, float64))(float64[:, ::1], int64[::1], int64, int64), cache=True, nogil=True)
def piece(line, first, j, k):
    """Return how many whole numbers are before the k-th piece, which is of row j, and how long it is."""
    cell = int64(np.floor(line[j, START] + NEAR)) + k - first[j]
    low = line[j, START] if k == first[j] else cell * 1.0
    high = line[j, END] if k == first[j + 1] - 1 else cell + 1.0
    return cell, high - low


@njit(
    int64(float64[::1], float64[::1], float64[::1], float64[::1], int64[::1], int64, float64, int64, int64),
    cache=True,
    nogil=True,
)
def best_place(drops, cost, gain, width, cell, of_neg, score, low, high):
    """Return how many pieces of the positives stay above a piece of the negatives, between ``low`` and ``high``.

    ``cost`` and ``gain`` are what a piece of the positives is worth by a drop, and by its score; ``width`` what it is
    by the score of the negative.
    """
    total = 0.0
    best = 0.0
    place = high
    for i in range(high - 1, low - 1, -1):
        total += cost[i] * drops[cell[i] + of_neg + 2] - (gain[i] - width[i] * score)
        if total > best:
            best = total
            place = i
    return place


@njit(
    void(float64[:, ::1], int64[::1], int64, int64, int64, int64, float64, float64[::1], float64[::1]),
    cache=True,
    nogil=True,
)
def place_range(line, first, begin, end, row, place, below, amounts, taken):
    """Give one place to the pieces of the negatives ``begin:end``, the first of which is of ``row``."""
    k = begin
    j = row
    while k < end:
        if k == first[j] and first[j + 1] <= end:
            mass = line[j, END] - line[j, START]
            k = first[j + 1]
        else:
            mass = 0.0
            while k < min(first[j + 1], end):
                mass += piece(line, first, j, k)[1]
                k += 1
        amounts[j] -= mass * below
        taken[place] += mass
        j += 1


@njit(
    void(
        float64[::1],
        float64[::1],
        float64[::1],
        float64[::1],
        int64[::1],
        float64[::1],
        int64,
        float64[::1],
        float64[:, ::1],
        int64[::1],
        int64,
        float64[::1],
        float64[::1],
        int64[:, ::1],
    ),
    cache=True,
    nogil=True,
)
def find_places(drops, cost, gain, width, cell, below, k_pos, neg, line, first, n_neg, amounts, taken, stack):
    """Find the best place of each piece of the negatives.

    ``taken[i]`` receives what the negatives of place i weigh, and ``amounts[j]`` minus the weight of the positives
    below row j, all its pieces together; both are zero before. ``below[i]`` is what weighs in the positives from piece
    i on.
    """
    depth = 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, first[n_neg], 0, k_pos
    stack[0, 4], stack[0, 5] = 0, n_neg
    while depth > 0:
        depth -= 1
        begin, end, low, high = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        row, last = stack[depth, 4], stack[depth, 5]  # the row of the first piece, and the one after that of the last
        while begin < end and low < high:
            j = (row + last) // 2
            k = max(begin, (first[j] + min(first[j + 1], end)) // 2)
            whole, length = piece(line, first, j, k)
            place = best_place(drops, cost, gain, width, cell, whole, neg[j], low, high)
            amounts[j] -= length * below[place]
            taken[place] += length
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = k + 1, end, place, high
            stack[depth, 4], stack[depth, 5] = (j if k + 1 < first[j + 1] else j + 1), last
            depth += 1
            end, high = k, place
            last = j + 1 if k > first[j] else j
        if begin < end:
            place_range(line, first, begin, end, row, low, below[low], amounts, taken)


@njit(void(float64[::1], int64[::1], int64, float64[:, ::1], float64[::1], float64[::1]), cache=True, nogil=True)
def write_even(values, rows, n, line, amounts, c):
    """Write the amounts of rows into ``c``; rows of equal scores get them in proportion to their weights.

    In whatever order these come, the ranking attains the same value, so the mean of its planes does.
    """
    j = 0
    while j < n:
        end = j + 1
        if end == n or values[end] != values[j]:
            c[rows[j]] = amounts[j]
            j = end
            continue
        total = amounts[j]
        while end < n and values[end] == values[j]:
            total += amounts[end]
            end += 1
        mass = line[end - 1, END] - line[j, START]
        total = total / mass if mass > 0.0 else 0.0  # a weight may be lost in the rounding of the line
        for k in range(j, end):
            c[rows[k]] = total * (line[k, END] - line[k, START])
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
    room = 0
    for task in range(len(ptr) - 1):
        room = max(room, ptr[task + 1] - ptr[task])
    stack = np.empty((DEPTH, 6), np.int64)
    values, rows, counts = np.empty(room + 1), np.empty(room + 1, np.int64), np.empty(room + 1, np.int32)
    pos, neg = np.empty(room), np.empty(room)
    pos_rows, neg_rows = np.empty(room, np.int64), np.empty(room, np.int64)
    pos_line, neg_line = np.empty((room, 2)), np.empty((room, 2))
    pos_first, neg_first = np.empty(room + 1, np.int64), np.empty(room + 1, np.int64)
    amounts = np.empty(room)
    for task in range(len(ptr) - 1):
        start, stop = ptr[task], ptr[task + 1]
        n_pos = class_rows(scores, y, start, stop, 1, -np.inf, values, rows)
        sort_rows(values, rows, n_pos, pos, pos_rows, counts)
        turn_around(pos, pos_rows, n_pos)
        n_neg = class_rows(scores, y, start, stop, -1, -np.inf, values, rows)
        sort_rows(values, rows, n_neg, neg, neg_rows, counts)
        turn_around(neg, neg_rows, n_neg)
        of_pos = lay_out(pos_rows, n_pos, weights, pos_line, pos_first)
        of_neg = lay_out(neg_rows, n_neg, weights, neg_line, neg_first)
        pair = 1.0 / (of_pos * of_neg)
        k_pos = pos_first[n_pos]
        cell, width = np.empty(k_pos, np.int64), np.empty(k_pos)
        cost, gain, below = np.empty(k_pos), np.empty(k_pos), np.empty(k_pos + 1)
        ideal = 0.0
        for j in range(n_pos):
            for k in range(pos_first[j], pos_first[j + 1]):
                cell[k], length = piece(pos_line, pos_first, j, k)
                cost[k] = length * (cell[k] + 1.0 if by_place else 1.0)
                width[k] = length * pair
                gain[k] = width[k] * pos[j]
                ideal += cost[k] * discounts[cell[k] + 1]
        norm = 1.0 / ideal
        below[k_pos] = 0.0
        for k in range(k_pos - 1, -1, -1):
            cost[k] *= norm
            below[k] = below[k + 1] + width[k]
        taken = np.zeros(k_pos + 1)
        amounts[:n_neg] = 0.0
        find_places(
            drops, cost, gain, width, cell, below, k_pos, neg, neg_line, neg_first, n_neg, amounts, taken, stack
        )
        margin = 0.0
        for j in range(n_neg):
            margin += amounts[j] * neg[j]
        write_even(neg, neg_rows, n_neg, neg_line, amounts, c)
        loss = 0.0
        above = 0.0
        for j in range(n_pos):
            amounts[j] = 0.0
            for k in range(pos_first[j], pos_first[j + 1]):
                above += taken[k]
                rank = cell[k] + 1
                whole = int64(np.floor(above + NEAR))
                late = discounts[rank + whole]
                late += (above - whole) * (discounts[rank + whole + 1] - late)
                loss += cost[k] * (discounts[rank] - late)
                amounts[j] += width[k] * above
            margin += amounts[j] * pos[j]
        write_even(pos, pos_rows, n_pos, pos_line, amounts, c)
        delta[task] = loss
        value[task] = loss - margin
