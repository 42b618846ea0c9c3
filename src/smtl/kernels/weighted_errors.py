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

# Rows of the stops: the weight of the errors, the sum of their scores, the numbers of errors below and above at which
# the formula is asked, and the part of the way from one to the other.
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
    stops[AMOUNT, k] = amount
    stops[SCORES, k] = scores
    stops[BELOW, k] = amount
    stops[ABOVE, k] = amount
    stops[PART, k] = 0.0
    near = NEAR * cell
    whole = cell * np.floor(amount / cell + 0.5)
    if abs(amount - whole) > near and total - amount > near:
        low = cell * np.floor(amount / cell)
        high = min(low + cell, total)
        stops[BELOW, k] = low
        stops[ABOVE, k] = high
        stops[PART, k] = (amount - low) / (high - low)


@njit(
    int64(float64[::1], int64[::1], int64, boolean, float64[::1], boolean, boolean, float64, float64, float64[:, ::1]),
    cache=True,
    nogil=True,
)
def find_stops(values, rows, n, highest_first, weights, inside, whole_class, total, cell, stops):
    """Write the stops of n sorted rows, from no error on; return how many there are.

    ``inside`` says that there are stops inside rows, too; ``whole_class`` that there are no other rows: they then weigh
    ``total`` together.
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
        while inside and following < end - near:
            if following > amount + near:
                put_stop(stops, count, following, scores + (following - amount) * values[k], cell, total)
                count += 1
            following += cell
        scores += (end - amount) * values[k]
        amount = end
        put_stop(stops, count, amount, scores, cell, total)
        count += 1
    return count


@njit(inline="always")
def loss_at(formula, missed, i, n_pos, flagged, k, n_neg):
    """Return Delta where the i-th stop of the missed and the k-th of the flagged are."""
    m, m_part = missed[BELOW, i], missed[PART, i]
    f, f_part = flagged[BELOW, k], flagged[PART, k]
    loss = formula(n_pos - m, f, m, n_neg - f)
    if f_part > 0.0:
        f_above = flagged[ABOVE, k]
        loss += f_part * (formula(n_pos - m, f_above, m, n_neg - f_above) - loss)
    if m_part > 0.0:
        m_above = missed[ABOVE, i]
        other = formula(n_pos - m_above, f, m_above, n_neg - f)
        if f_part > 0.0:
            f_above = flagged[ABOVE, k]
            other += f_part * (formula(n_pos - m_above, f_above, m_above, n_neg - f_above) - other)
        loss += m_part * (other - loss)
    return loss


@njit(
    boolean(FORMULA, float64[:, ::1], int64, float64, float64[:, ::1], int64, int64, float64, float64),
    cache=True,
    nogil=True,
)
def rises(formula, missed, i, n_pos, flagged, n_flagged, k, n_neg, shift):
    """Return whether the value rises from the k-th stop of the flagged on, where it is concave in them.

    Stops may be so near that the next one differs by no more than rounding. Then those farther away tell.
    """
    loss = loss_at(formula, missed, i, n_pos, flagged, k, n_neg)
    noise = ROUNDING * (1.0 + abs(loss) + 2.0 * abs(flagged[SCORES, k] + flagged[AMOUNT, k] * shift))
    step = 1
    while k < n_flagged - 1:
        ahead = min(k + step, n_flagged - 1)
        rise = loss_at(formula, missed, i, n_pos, flagged, ahead, n_neg) - loss
        rise += 2.0 * (
            flagged[SCORES, ahead] - flagged[SCORES, k] + (flagged[AMOUNT, ahead] - flagged[AMOUNT, k]) * shift
        )
        if abs(rise) > noise or ahead == n_flagged - 1:
            return rise > noise
        step *= 2
    return False


@njit(
    int64(FORMULA, float64[:, ::1], int64, float64, float64[:, ::1], int64, int64, float64, float64),
    cache=True,
    nogil=True,
)
def summit(formula, missed, i, n_pos, flagged, n_flagged, start, n_neg, shift):
    """Return the stop of the flagged that is worth most, where the value is concave in them.

    From ``start`` on in steps that double, which are then halved again.
    """
    step = 1
    if rises(formula, missed, i, n_pos, flagged, n_flagged, start, n_neg, shift):
        low, high = start, start + 1  # it rises from `low` on, and not from `high` on
        while high < n_flagged - 1 and rises(formula, missed, i, n_pos, flagged, n_flagged, high, n_neg, shift):
            low = high
            step *= 2
            high = min(low + step, n_flagged - 1)
    else:
        low, high = start - 1, start
        while low >= 0 and not rises(formula, missed, i, n_pos, flagged, n_flagged, low, n_neg, shift):
            high = low
            step *= 2
            low = max(high - step, -1)
    while high - low > 1:
        middle = (low + high) // 2
        if rises(formula, missed, i, n_pos, flagged, n_flagged, middle, n_neg, shift):
            low = middle
        else:
            high = middle
    return high


@njit(
    types.Tuple((int64, float64, float64))(
        FORMULA, boolean, float64[:, ::1], int64, float64, float64[:, ::1], int64, int64, float64, float64
    ),
    cache=True,
    nogil=True,
)
def worst_flags(formula, concave, missed, i, n_pos, flagged, n_flagged, start, n_neg, shift):
    """Return the stop of the flagged that is worth most at the i-th of the missed, Delta, and what both are worth."""
    first, last = 0, n_flagged - 1
    if concave:
        first = last = summit(formula, missed, i, n_pos, flagged, n_flagged, start, n_neg, shift)
    best_k, best_loss, best = 0, 0.0, -np.inf
    for k in range(first, last + 1):
        loss = loss_at(formula, missed, i, n_pos, flagged, k, n_neg)
        value = loss + 2.0 * (flagged[SCORES, k] + flagged[AMOUNT, k] * shift)
        if value > best:
            best_k, best_loss, best = k, loss, value
    return best_k, best_loss, best


@njit(int64(float64[:, ::1], int64, float64, int64, float64, float64[::1], float64, float64), cache=True, nogil=True)
def most_promising(missed, low, u_low, high, u_high, pos, shift, best):
    """Return the stop between two that may be worth most, -1 if none of them can be worth more than ``best``.

    U is at most on the line through both. The sum of the missed scores is convex, and rises from stop to stop by the
    positives in ascending order.
    """
    length = missed[AMOUNT, high] - missed[AMOUNT, low]
    if length <= 0.0:
        return -1
    slope = (u_high - u_low) / length
    first, last = low, high
    while first < last:
        middle = (first + last) // 2
        if 2.0 * (pos[middle] + shift) < slope:
            first = middle + 1
        else:
            last = middle
    bound = u_low + slope * (missed[AMOUNT, first] - missed[AMOUNT, low])
    lost = 2.0 * (missed[SCORES, first] + missed[AMOUNT, first] * shift)
    return -1 if bound - lost <= best + ROUNDING * (1.0 + abs(bound) + abs(lost)) else first


@njit(
    types.Tuple((int64, int64, float64, float64))(
        FORMULA,
        boolean,
        boolean,
        float64[:, ::1],
        int64,
        float64,
        float64[:, ::1],
        int64,
        float64,
        float64,
        float64[::1],
        int64[::1],
        float64[::1],
    ),
    cache=True,
    nogil=True,
)
def worst_stops(formula, concave, convex, missed, n_missed, n_pos, flagged, n_flagged, n_neg, shift, pos, todo, most):
    """Return the stops of both classes, Delta and the value that attain the maximum at scores raised by ``shift``.

    Let U(m) be the most that a labelling is worth which misses m, but for the scores of the missed. Where Delta is
    convex in m, so is U, and between two stops it is at most on the line through both. What is then not worth more
    than the best is not looked at, and the most promising stop between them is next. Elsewhere all stops are, from the
    last one down, as in `smtl.kernels.labelling`: of equals the same one is found. ``todo`` and ``most`` are room for
    numbers of stops, and for U there.
    """
    best_i, best_j, best_loss, best = 0, 0, 0.0, -np.inf
    k, size = 0, 0  # stops yet to come, the next one last; all have been looked at
    i, high, u_high = n_missed - 1, -1, 0.0
    while True:
        k, loss, u = worst_flags(formula, concave, missed, i, n_pos, flagged, n_flagged, k, n_neg, shift)
        value = u - 2.0 * (missed[SCORES, i] + missed[AMOUNT, i] * shift)
        if value > best:
            best_i, best_j, best_loss, best = i, k, loss, value
        if high < 0:
            high, u_high, i = i, u, 0
        else:
            todo[size], most[size] = i, u
            size += 1
            i = -1
        while i < 0 and size > 0:
            low, u_low = todo[size - 1], most[size - 1]
            between = high - 1
            if convex:
                between = most_promising(missed, low, u_low, high, u_high, pos, shift, best)
            if low < between < high:
                i = between
            else:
                high, u_high = low, u_low
                size -= 1
        if i < 0 or n_missed == 1:
            return best_i, best_j, best_loss, best


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
def weighted_labelling_planes(
    formula, concave, convex, scores, y, weights, ptr, with_intercept, shift, eps, c, delta, value
):
    """Fill ``c``, and ``delta`` and ``value`` of every task; see `smtl.kernels.labelling.labelling_planes`.

    ``convex`` says that Delta is convex in the missed positives: so is then the value from one row to the next, and it
    is largest at an end.
    """
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
        missed = np.empty((5, most_stops(n_pos, cell_pos, k_pos)))
        n_missed = find_stops(pos, pos_rows, k_pos, False, weights, not convex, True, n_pos, cell_pos, missed)
        flagged = np.empty((5, most_stops(n_neg, cell_neg, k_neg)))
        todo, most = np.empty(n_missed, np.int64), np.empty(n_missed)
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
                n_flagged = find_stops(
                    neg, neg_rows, n_top, True, weights, True, n_top == k_neg, n_neg, cell_neg, flagged
                )
            a, b, loss, seen = worst_stops(
                formula, concave, convex, missed, n_missed, n_pos, flagged, n_flagged, n_neg, x, pos, todo, most
            )
            m, f = missed[AMOUNT, a], flagged[AMOUNT, b]
            slope = 2.0 * (f - m) if with_intercept else 0.0
            if abs(slope) <= 1e-12 * (n_pos + n_neg):
                slope = 0.0  # nothing but rounding
            side = intercept.take(state, x, seen, slope)
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
