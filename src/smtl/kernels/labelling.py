"""The oracle of a loss that is a function of the contingency table, for all tasks.

With both classes sorted, a labelling that finds ``a`` positives and flags ``b`` negatives is worst when it takes the
``a`` highest positives and the ``b`` highest negatives. What is left is to search over ``(a, b)``:

    value(a, b) = Delta(a, b) - 2 sum(missed positives' scores) + 2 sum(flagged negatives' scores)

Where Delta is concave in ``b``, so is the value, and for each ``a`` the best ``b`` is found by walking uphill from the
last one, in either direction. Otherwise every ``b`` is tried.

Concavity also tells which negatives can be flagged at all: flagging one more raises Delta by no more than flagging the
first does, so it pays only if twice its score makes up for that. On imbalanced tasks few negatives are left to sort.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int8, int64, njit, types

from smtl.kernels import intercept
from smtl.kernels.sorting import class_rows, sort_rows
from smtl.kernels.tables import FORMULA


@njit(
    types.Tuple((int64, int64, float64))(FORMULA, boolean, float64[::1], int64, float64[::1], int64, int64, float64),
    cache=True,
    nogil=True,
)
def worst_labelling(formula, concave, pos, n_pos, neg, n_top, n_neg, shift):
    """Return ``(a, b, value)`` of the labelling that attains the maximum at scores raised by ``shift``.

    ``neg`` holds the ``n_top`` highest of the ``n_neg`` negatives' scores.
    """
    missed = 0.0
    for k in range(n_pos):
        missed += pos[k] + shift
    flagged = 0.0
    b = 0
    best_a, best_b, best = 0, 0, -np.inf
    for a in range(n_pos + 1):
        if a == n_pos:
            missed = 0.0  # exactly, so that the true answer is worth exactly zero
        elif a > 0:
            missed -= pos[n_pos - a] + shift
        fn = float(n_pos - a)
        if not concave:
            b = 0
            flagged = 0.0
        current = formula(float(a), float(b), fn, float(n_neg - b)) + 2.0 * flagged
        if concave:
            climbed = False
            while b < n_top:
                raised = flagged + (neg[n_top - 1 - b] + shift)
                ahead = formula(float(a), b + 1.0, fn, n_neg - b - 1.0) + 2.0 * raised
                if ahead <= current:
                    break
                b += 1
                flagged = raised
                current = ahead
                climbed = True
            while b > 0 and not climbed:
                lowered = flagged - (neg[n_top - b] + shift)
                if b == 1:
                    lowered = 0.0
                behind = formula(float(a), b - 1.0, fn, n_neg - b + 1.0) + 2.0 * lowered
                if behind <= current:
                    break
                b -= 1
                flagged = lowered
                current = behind
            if current - 2.0 * missed > best:
                best_a, best_b, best = a, b, current - 2.0 * missed
        else:
            while True:
                if current - 2.0 * missed > best:
                    best_a, best_b, best = a, b, current - 2.0 * missed
                if b == n_top:
                    break
                flagged += neg[n_top - 1 - b] + shift
                b += 1
                current = formula(float(a), float(b), fn, float(n_neg - b)) + 2.0 * flagged
    return best_a, best_b, best


@njit(types.void(float64[::1], float64[::1], int64[::1], int64, int64, float64), cache=True, nogil=True)
def write_top(c, values, rows, n, count, amount):
    """Add ``amount`` to ``c`` at the ``count`` highest of ``n`` sorted rows.

    Where the cut falls among equal scores, the rows that are taken are spread evenly over the tied ones: at W = 0
    all scores are tied, and the first rows of a file are rarely a fair sample of it.
    """
    if count <= 0:
        return
    cut = values[n - count]
    first = n - count
    while first > 0 and values[first - 1] == cut:
        first -= 1
    last = n - count
    while last + 1 < n and values[last + 1] == cut:
        last += 1
    tied = last - first + 1
    taken = last - (n - count) + 1
    for j in range(tied):
        if ((j + 1) * taken) // tied > (j * taken) // tied:
            c[rows[first + j]] += amount
    for k in range(last + 1, n):
        c[rows[k]] += amount


@njit(
    types.void(float64[::1], float64[::1], int64[::1], int64, float64[::1], int64[::1], int64, int64, int64, float64),
    cache=True,
    nogil=True,
)
def write_labelling(c, pos, pos_rows, n_pos, neg, neg_rows, n_top, a, b, weight):
    """Add ``weight * (y - y')`` to ``c`` for the labelling ``(a, b)``."""
    for k in range(n_pos):
        c[pos_rows[k]] += 2.0 * weight
    write_top(c, pos, pos_rows, n_pos, a, -2.0 * weight)
    write_top(c, neg, neg_rows, n_top, b, -2.0 * weight)


@njit(float64(FORMULA, int64, int64), cache=True, nogil=True)
def most_for_a_flag(formula, n_pos, n_neg):
    """Return the most that flagging a first negative can raise Delta by, whatever the number of positives found."""
    most = -np.inf
    for a in range(n_pos + 1):
        fn = float(n_pos - a)
        before = formula(float(a), 0.0, fn, float(n_neg))
        most = max(most, formula(float(a), 1.0, fn, n_neg - 1.0) - before)
    return most


@njit(
    types.void(
        FORMULA,
        boolean,
        float64[::1],
        int8[::1],
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
def labelling_planes(formula, concave, scores, y, ptr, with_intercept, shift, eps, c, delta, value):
    """Fill ``c``, and ``delta`` and ``value`` of every task.

    With an intercept, ``shift`` holds a first guess per task and receives the best one; ``value`` is then the least
    over the intercept to within ``eps``.
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
    state = np.empty(intercept.SIZE)
    for i in range(m):
        start, stop = ptr[i], ptr[i + 1]
        n_pos = class_rows(scores, y, start, stop, 1, -np.inf, values, rows)
        sort_rows(values, rows, n_pos, pos, pos_rows, counts)
        n_neg = 0
        for k in range(start, stop):
            c[k] = 0.0
            n_neg += y[k] == -1
        # Half of what one flag can raise Delta by: a negative pays for its flag with a score above minus that.
        price = max(0.5 * most_for_a_flag(formula, n_pos, n_neg), 1e-6)
        spread = pos[(3 * n_pos) // 4] - pos[n_pos // 4]
        scale = min(spread, price) if spread > 0.0 else price
        n_top = 0
        x_most = -np.inf  # the negatives in `neg` suffice for intercepts up to here
        left_a = left_b = right_a = right_b = 0
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
            a, b, seen = worst_labelling(formula, concave, pos, n_pos, neg, n_top, n_neg, x)
            side = intercept.take(state, x, seen, 2.0 * (b - (n_pos - a)) if with_intercept else 0.0)
            if side <= 0:
                left_a, left_b = a, b
            if side >= 0:
                right_a, right_b = a, b
        theta = intercept.left_weight(state)
        if with_intercept:
            shift[i] = state[intercept.BEST_X]
        value[i] = state[intercept.BEST_VALUE]
        left_delta = formula(float(left_a), float(left_b), float(n_pos - left_a), float(n_neg - left_b))
        right_delta = formula(float(right_a), float(right_b), float(n_pos - right_a), float(n_neg - right_b))
        delta[i] = theta * left_delta + (1.0 - theta) * right_delta
        write_labelling(c, pos, pos_rows, n_pos, neg, neg_rows, n_top, left_a, left_b, theta)
        if theta < 1.0:
            write_labelling(c, pos, pos_rows, n_pos, neg, neg_rows, n_top, right_a, right_b, 1.0 - theta)
