"""The oracle of the log loss, for all tasks: one exponential a row, in loops that the compiler turns into vectors.

Rows are treated block by block, so that what is kept between the loops stays in the nearest cache. The mathematical
library's exponential and logarithm are calls, which no compiler turns into vectors; here they are polynomials, right to
rounding for the arguments that occur.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int8, int64, njit, types

from smtl.kernels import intercept

BLOCK = 512  # rows
LEAST = -708.0  # the exponential of what is below would be no normal number
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # their sum is ln 2; products with the first are exact
# Added to a number below 2^51, it leaves the nearest integer in the last bits.
TO_INTEGER = 6755399441055744.0
STEP, OVER = 1.0, 1.25  # longest first step of the search in log odds; how far to go beyond Newton's step
SHORTEST = 1e-4  # shortest first step; both limits grow fourfold a step, so that the other side is always reached


@njit(types.void(float64[::1], float64[::1], float64[::1], int64[::1], int64), cache=True, nogil=True)
def exponentials(t, rest, power, bits, n):
    """Overwrite ``rest`` by exp(-|t|); ``bits`` is the memory of ``power`` as integers."""
    for j in range(n):
        v = max(-abs(t[j]), LEAST)
        shifted = v * LOG2_E + TO_INTEGER
        k = shifted - TO_INTEGER
        power[j] = shifted
        rest[j] = (v - k * LN2_HIGH) - k * LN2_LOW
    for j in range(n):
        bits[j] = (bits[j] + 1023) << 52  # 2^k
    for j in range(n):
        r = rest[j]
        q = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0)
        q = 1.0 / 3628800.0 + r * (1.0 / 39916800.0 + r * q)
        q = 1.0 / 40320.0 + r * (1.0 / 362880.0 + r * q)
        q = 1.0 / 720.0 + r * (1.0 / 5040.0 + r * q)
        q = 1.0 / 24.0 + r * (1.0 / 120.0 + r * q)
        q = 0.5 + r * (1.0 / 6.0 + r * q)
        rest[j] = (1.0 + r * (1.0 + r * q)) * power[j]


@njit(
    types.UniTuple(float64, 2)(float64[::1], float64[::1], float64[::1], int64, float64[::1]),
    cache=True,
    nogil=True,
    fastmath={"reassoc"},
    error_model="numpy",  # no look for divisors of zero, which would keep vectors out
)
def sums(t, e, weight, n, late):
    """Return the loss and its curvature; ``late`` receives the probability of the wrong answer times the weight."""
    loss = 0.0
    curvature = 0.0
    for j in range(n):
        below = 1.0 / ((1.0 + e[j]) * (2.0 + e[j]))
        right = (2.0 + e[j]) * below
        wrong = e[j] * right
        z = e[j] * (1.0 + e[j]) * below
        u = z * z
        # log(1 + e) = 2 artanh(z) with z = e / (2 + e), at most 1/3.
        q = 1.0 / 27.0 + u * (1.0 / 29.0 + u * (1.0 / 31.0))
        q = 1.0 / 21.0 + u * (1.0 / 23.0 + u * (1.0 / 25.0 + u * q))
        q = 1.0 / 15.0 + u * (1.0 / 17.0 + u * (1.0 / 19.0 + u * q))
        q = 1.0 / 9.0 + u * (1.0 / 11.0 + u * (1.0 / 13.0 + u * q))
        q = 1.0 / 3.0 + u * (1.0 / 5.0 + u * (1.0 / 7.0 + u * q))
        w = weight[j]
        loss += w * (2.0 * z * (1.0 + u * q) + 0.5 * (abs(t[j]) - t[j]))
        curvature += w * right * wrong
        late[j] = w * (wrong if t[j] > 0.0 else right)
    return loss, curvature


@njit(
    types.UniTuple(float64, 3)(
        float64[::1], int8[::1], float64[::1], int64, int64, float64, float64[:, ::1], int64[::1], float64[::1]
    ),
    cache=True,
    nogil=True,
    fastmath={"reassoc"},
    error_model="numpy",  # no look for divisors of zero, which would keep vectors out
)
def loss_at(scores, y, weights, start, stop, x, room, bits, c):
    """Return a task's loss, slope and curvature at scores raised by ``x``; ``c`` receives the plane's coefficients.

    ``room`` has five rows of a block's length; ``bits`` is its third row as integers.
    """
    t, e, power, weight, late = room[0], room[1], room[2], room[3], room[4]
    loss = slope = curvature = 0.0
    for first in range(start, stop, BLOCK):
        n = min(BLOCK, stop - first)
        for j in range(n):
            label = float(y[first + j])
            t[j] = label * (scores[first + j] + x)
            weight[j] = abs(label)
        if len(weights) > 0:
            for j in range(n):
                weight[j] *= weights[first + j]
        exponentials(t, e, power, bits, n)
        part, curved = sums(t, e, weight, n, late)
        loss += part
        curvature += curved
        for j in range(n):
            pulled = float(y[first + j]) * late[j]
            c[first - start + j] = pulled
            slope -= pulled
    return loss, slope, curvature


@njit(
    types.void(
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
        float64[:, ::1],
        int64[::1],
        float64[:, ::1],
    ),
    cache=True,
    nogil=True,
    fastmath={"reassoc"},
    error_model="numpy",  # no look for divisors of zero, which would keep vectors out
)
def log_planes(scores, y, weights, ptr, with_intercept, shift, eps, c, delta, value, room, bits, sides):
    """Fill ``c``, and ``delta`` and ``value`` of every task; arguments as in `labelling_planes` and `loss_at`.

    ``sides`` has three rows of a task's length: the coefficients left and right of the minimum, and newer ones.
    """
    state = np.empty(intercept.SIZE)
    for i in range(len(ptr) - 1):
        left, right, newest = 0, 1, 2
        shortest, longest, newton = SHORTEST, STEP, np.nan
        intercept.begin(state, STEP)
        while True:
            x = intercept.propose(state, shift[i] if with_intercept else 0.0, eps)
            if np.isnan(x):
                break
            # Newton's point is nearly the minimum; every third time not, so that the bracket shrinks whatever the rows.
            if (
                -np.inf < state[intercept.LEFT_X] < newton < state[intercept.RIGHT_X] < np.inf
                and state[intercept.EVALUATIONS] % 3.0 != 2.0
            ):
                x = newton
            total, slope, curvature = loss_at(scores, y, weights, ptr[i], ptr[i + 1], x, room, bits, sides[newest])
            side = intercept.take(state, x, total, slope if with_intercept else 0.0)
            newton = x - slope / curvature  # no number where the curvature is zero
            step = OVER * abs(newton - x)
            step = step if step < longest else longest  # the longest, too, where it is no number
            state[intercept.STEP] = max(step, shortest)
            shortest, longest = 4.0 * shortest, 4.0 * longest
            if side < 0:
                left, newest = newest, left
            elif side > 0:
                right, newest = newest, right
            else:
                left = newest
        theta = intercept.left_weight(state)
        if with_intercept:
            shift[i] = state[intercept.BEST_X]
        value[i] = state[intercept.BEST_VALUE]
        # The mixed plane is worth `lowest` at these scores, whatever the intercept: its slope in it is zero.
        product = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            j = k - ptr[i]
            mixed = sides[left, j] if theta == 1.0 else theta * sides[left, j] + (1.0 - theta) * sides[right, j]
            c[k] = mixed
            product += mixed * scores[k]
        delta[i] = intercept.lowest(state) + product
