"""The oracle of a loss that is a function of the contingency table, for rows with weights.

A row of weight w is w equal rows, of which a labelling may take any part. With ``m`` the weight of the missed
positives and ``f`` that of the flagged negatives, the worst labelling misses the lowest positives and flags the highest
negatives, and what is left is to search over ``(m, f)``:

    value(m, f) = Delta(m, f) - 2 sum(missed positives' scores) + 2 sum(flagged negatives' scores)

Delta is what the formula says where ``m`` and ``f`` are whole numbers, and linear in each of them in between. So the
value is piecewise linear in each of them, and largest at a *stop*: a whole number, or a place between two rows. Where
all weights are whole numbers, all stops are, and this is the loss of the repeated rows.

Weights far above 1 would make whole numbers of errors too many. Then Delta is read off at every so many of them: see
`cell_of`.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int8, int64, njit, types

from smtl.kernels import intercept
from smtl.kernels.sorting import class_rows, sort_rows
from smtl.kernels.tables import FORMULA

# Columns of the stops: the weight of the errors, the sum of their scores, the numbers of errors below and above at
# which the formula is asked, and the part of the way from one to the other.
AMOUNT, SCORES, BELOW, ABOVE, PART = range(5)
# Up to so many errors, or so many a row, the formula is asked at every whole number.
FEW_ERRORS, ERRORS_A_ROW = 1000.0, 100.0
NEAR = 1e-9  # of a cell: two stops that are nearer are one
ROUNDING = 1e-13  # of the size of a value: a smaller fall may be nothing but rounding


@njit(float64(float64, int64), cache=True, nogil=True)
def cell_of(total, n):
    """Return the distance of the numbers of errors at which the formula is asked, for n rows of this weight."""
    return max(1.0, total / max(FEW_ERRORS, ERRORS_A_ROW * n))


@njit(int64(float64, float64, int64), cache=True, nogil=True)
def most_stops(total, cell, n):
    """Return how many stops there are at most."""
    return int64(total / cell) + n + 3


@njit(types.void(float64[:, ::1], int64, float64, float64, float64, float64), cache=True, nogil=True)
def put_stop(stops, k, amount, scores, cell, total):
    """Write a stop."""
    stops[k, AMOUNT] = amount
    stops[k, SCORES] = scores
    stops[k, BELOW] = amount
    stops[k, ABOVE] = amount
    stops[k, PART] = 0.0
    near = NEAR * cell
    whole = cell * np.floor(amount / cell + 0.5)
    if abs(amount - whole) > near and total - amount > near:
        low = cell * np.floor(amount / cell)
        high = min(low + cell, total)
        stops[k, BELOW] = low
        stops[k, ABOVE] = high
        stops[k, PART] = (amount - low) / (high - low)


@njit(
    int64(float64[::1], int64[::1], int64, boolean, float64[::1], boolean, float64, float64, float64[:, ::1]),
    cache=True,
    nogil=True,
)
def find_stops(values, rows, n, highest_first, weights, whole_class, total, cell, stops):
    """Write the stops of n sorted rows, from no error on; return how many there are.

    ``whole_class`` says that there are no other rows: they then weigh ``total`` together.
    """
    near = NEAR * cell
    amount = 0.0
    scores = 0.0
    put_stop(stops, 0, 0.0, 0.0, cell, total)
    count = 1
    following = cell  # the next number at which the formula is asked
    for j in range(n):
        k = n - 1 - j if highest_first else j
        end = min(amount + weights[rows[k]], total)
        if whole_class and j == n - 1:
            end = total
        while following < end - near:
            if following > amount + near:
                put_stop(stops, count, following, scores + (following - amount) * values[k], cell, total)
                count += 1
            following += cell
        scores += (end - amount) * values[k]
        amount = end
        put_stop(stops, count, amount, scores, cell, total)
        count += 1
    return count


@njit(float64(FORMULA, float64[::1], float64[::1], float64, float64), cache=True, nogil=True)
def loss_of_stops(formula, missed, flagged, n_pos, n_neg):
    """Return Delta of a stop of either class."""
    m, m_above, m_part = missed[BELOW], missed[ABOVE], missed[PART]
    f, f_above, f_part = flagged[BELOW], flagged[ABOVE], flagged[PART]
    loss = formula(n_pos - m, f, m, n_neg - f)
    if f_part > 0.0:
        loss += f_part * (formula(n_pos - m, f_above, m, n_neg - f_above) - loss)
    if m_part > 0.0:
        other = formula(n_pos - m_above, f, m_above, n_neg - f)
        if f_part > 0.0:
            other += f_part * (formula(n_pos - m_above, f_above, m_above, n_neg - f_above) - other)
        loss += m_part * (other - loss)
    return loss


@njit(
    types.Tuple((int64, int64, float64))(
        FORMULA, boolean, float64[:, ::1], int64, float64, float64[:, ::1], int64, float64, float64
    ),
    cache=True,
    nogil=True,
)
def worst_stops(formula, concave, missed, n_missed, n_pos, flagged, n_flagged, n_neg, shift):
    """Return the stops of both classes, and the value, that attain the maximum at scores raised by ``shift``.

    Where Delta is concave in the flagged negatives, so is the value, and the best stop is found by walking uphill from
    the last one, in either direction. A step that is no more than rounding is no step, and does not end the walk.
    """
    best_i, best_j, best = 0, 0, -np.inf
    j = 0
    for i in range(n_missed - 1, -1, -1):  # in the order of `smtl.kernels.labelling`: of equals the same one is found
        lost = 2.0 * (missed[i, SCORES] + missed[i, AMOUNT] * shift)
        if concave:
            gained = 2.0 * (flagged[j, SCORES] + flagged[j, AMOUNT] * shift)
            current = loss_of_stops(formula, missed[i], flagged[j], n_pos, n_neg) + gained
            start = j
            for step in (1, -1):
                if step == -1 and j != start:
                    break
                k = j + step
                while 0 <= k < n_flagged:
                    gained = 2.0 * (flagged[k, SCORES] + flagged[k, AMOUNT] * shift)
                    loss = loss_of_stops(formula, missed[i], flagged[k], n_pos, n_neg)
                    noise = ROUNDING * (1.0 + abs(loss) + abs(gained))
                    if loss + gained > current + noise:
                        j = k
                        current = loss + gained
                    elif loss + gained < current - noise:
                        break
                    k += step
            if current - lost > best:
                best_i, best_j, best = i, j, current - lost
        else:
            for k in range(n_flagged):
                gained = 2.0 * (flagged[k, SCORES] + flagged[k, AMOUNT] * shift)
                value = loss_of_stops(formula, missed[i], flagged[k], n_pos, n_neg) + gained - lost
                if value > best:
                    best_i, best_j, best = i, k, value
    return best_i, best_j, best


@njit(
    types.void(float64[::1], float64[::1], int64[::1], int64, boolean, float64[::1], float64, float64, float64),
    cache=True,
    nogil=True,
)
def add_errors(c, values, rows, n, highest_first, weights, amount, near, factor):
    """Add ``factor`` times the part of its weight to ``c`` at each row, of the first rows that weigh ``amount``.

    Where the end falls among equal scores, these are taken in proportion to their weights.
    """
    taken = 0.0
    j = 0
    while j < n and amount - taken > near:
        first = j
        value = values[n - 1 - j] if highest_first else values[j]
        block = 0.0
        while j < n and (values[n - 1 - j] if highest_first else values[j]) == value:
            block += weights[rows[n - 1 - j] if highest_first else rows[j]]
            j += 1
        share = min((amount - taken) / block, 1.0)
        if block - (amount - taken) <= near:
            share = 1.0
        for k in range(first, j):
            row = rows[n - 1 - k] if highest_first else rows[k]
            c[row] += factor * share * weights[row]
        taken += block


@njit(float64(float64[::1], int64[::1], int64, float64[::1], float64), cache=True, nogil=True)
def value_at(values, rows, n, weights, mass):
    """Return the value of sorted rows that comes after so much weight."""
    taken = 0.0
    for k in range(n):
        taken += weights[rows[k]]
        if taken > mass:
            return values[k]
    return values[n - 1]


@njit(float64(FORMULA, float64, float64, float64, float64), cache=True, nogil=True)
def price_of_a_flag(formula, n_pos, n_neg, cell_pos, cell_neg):
    """Return the steepest rise of Delta with the first flagged negatives, whatever the weight of those missed."""
    first = min(cell_neg, n_neg)
    most = -np.inf
    m = 0.0
    while True:
        before = formula(n_pos - m, 0.0, m, n_neg)
        most = max(most, (formula(n_pos - m, first, m, n_neg - first) - before) / first)
        if m == n_pos:
            return most
        m = min(m + cell_pos, n_pos)


@njit(
    types.void(
        FORMULA,
        boolean,
        float64[::1],
        int8[::1],
        float64[::1],
        int64[::1],
        boolean,
        float64[::1],
        float64,
        float64[::1],
        float64[::1],
        float64[::1],
    ),
    cache=True,
    nogil=True,
)
def weighted_labelling_planes(formula, concave, scores, y, weights, ptr, with_intercept, shift, eps, c, delta, value):
    """Fill ``c``, and ``delta`` and ``value`` of every task; see `smtl.kernels.labelling.labelling_planes`."""
    room = 0
    for i in range(len(ptr) - 1):
        room = max(room, ptr[i + 1] - ptr[i])
    values = np.empty(room + 1)
    rows = np.empty(room + 1, np.int64)
    counts = np.empty(room + 1, np.int32)
    pos = np.empty(room)
    pos_rows = np.empty(room, np.int64)
    neg = np.empty(room)
    neg_rows = np.empty(room, np.int64)
    state = np.empty(intercept.SIZE)
    for i in range(len(ptr) - 1):
        start, stop = ptr[i], ptr[i + 1]
        k_pos = class_rows(scores, y, start, stop, 1, -np.inf, values, rows)
        sort_rows(values, rows, k_pos, pos, pos_rows, counts)
        k_neg = 0
        n_pos = n_neg = 0.0
        for k in range(start, stop):
            c[k] = 0.0
            k_neg += y[k] == -1
            n_pos += weights[k] if y[k] == 1 else 0.0
            n_neg += weights[k] if y[k] == -1 else 0.0
        cell_pos, cell_neg = cell_of(n_pos, k_pos), cell_of(n_neg, k_neg)
        missed = np.empty((most_stops(n_pos, cell_pos, k_pos), 5))
        n_missed = find_stops(pos, pos_rows, k_pos, False, weights, True, n_pos, cell_pos, missed)
        flagged = np.empty((most_stops(n_neg, cell_neg, k_neg), 5))
        # Half of what a flag can raise Delta by: a negative pays for its flag with a score above minus that.
        price = max(0.5 * price_of_a_flag(formula, n_pos, n_neg, cell_pos, cell_neg), 1e-6)
        spread = value_at(pos, pos_rows, k_pos, weights, np.floor(0.75 * n_pos))
        spread -= value_at(pos, pos_rows, k_pos, weights, np.floor(0.25 * n_pos))
        scale = min(spread, price) if spread > 0.0 else price
        n_top = 0
        n_flagged = 0
        x_most = -np.inf  # the negatives in `neg` suffice for intercepts up to here
        left_m = left_f = right_m = right_f = left_delta = right_delta = 0.0
        intercept.begin(state, 0.05 * scale)
        while True:
            x = intercept.propose(state, shift[i] if with_intercept else 0.0, eps)
            if np.isnan(x):
                break
            if x > x_most:
                x_most = x + (scale if with_intercept else 0.0)
                # With a little to spare for rounding.
                floor = -x_most - price - 1e-9 * (1.0 + abs(x_most)) if concave else -np.inf
                n_top = class_rows(scores, y, start, stop, -1, floor, values, rows)
                sort_rows(values, rows, n_top, neg, neg_rows, counts)
                n_flagged = find_stops(neg, neg_rows, n_top, True, weights, n_top == k_neg, n_neg, cell_neg, flagged)
            a, b, seen = worst_stops(formula, concave, missed, n_missed, n_pos, flagged, n_flagged, n_neg, x)
            m, f = missed[a, AMOUNT], flagged[b, AMOUNT]
            slope = 2.0 * (f - m) if with_intercept else 0.0
            if abs(slope) <= 1e-12 * (n_pos + n_neg):
                slope = 0.0  # nothing but rounding
            side = intercept.take(state, x, seen, slope)
            loss = loss_of_stops(formula, missed[a], flagged[b], n_pos, n_neg)
            if side <= 0:
                left_m, left_f, left_delta = m, f, loss
            if side >= 0:
                right_m, right_f, right_delta = m, f, loss
        theta = intercept.left_weight(state)
        if with_intercept:
            shift[i] = state[intercept.BEST_X]
        value[i] = state[intercept.BEST_VALUE]
        delta[i] = theta * left_delta + (1.0 - theta) * right_delta
        for part, m, f in ((theta, left_m, left_f), (1.0 - theta, right_m, right_f)):
            if part > 0.0:
                add_errors(c, pos, pos_rows, k_pos, False, weights, m, NEAR * cell_pos, 2.0 * part)
                add_errors(c, neg, neg_rows, n_top, True, weights, f, NEAR * cell_neg, -2.0 * part)
