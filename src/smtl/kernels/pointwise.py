"""The oracle of a loss that is a sum of a convex function of each row's margin, for all tasks."""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int8, int64, njit, types

from smtl.kernels import intercept

HALF_STEP = 1e-4  # of margins, on either side of where a second derivative is asked for

# loss(margin) -> (value, slope), called through a pointer, so that one compiled pass serves every loss.
LOSS = types.FunctionType(types.UniTuple(float64, 2)(float64))


@njit(
    types.void(
        LOSS,
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
def pointwise_planes(loss, scores, y, weights, ptr, with_intercept, shift, eps, c, delta, value):
    """Fill ``c``, and ``delta`` and ``value`` of every task; arguments as in `labelling_planes`.

    ``weights`` is empty where all rows weigh the same.
    """
    m = len(ptr) - 1
    room = 0
    for i in range(m):
        room = max(room, ptr[i + 1] - ptr[i])
    left = np.zeros(room)
    right = np.zeros(room)
    current = np.zeros(room)
    state = np.empty(intercept.SIZE)
    for i in range(m):
        start = ptr[i]
        n = ptr[i + 1] - start
        intercept.begin(state, 0.01)
        while True:
            x = intercept.propose(state, shift[i] if with_intercept else 0.0, eps)
            if np.isnan(x):
                break
            total = 0.0
            slope = 0.0
            for k in range(n):
                label = float(y[start + k])
                current[k] = 0.0
                if label != 0.0:
                    row_value, row_slope = loss(label * (scores[start + k] + x))
                    if len(weights) > 0:
                        row_value *= weights[start + k]
                        row_slope *= weights[start + k]
                    total += row_value
                    current[k] = 0.0 - label * row_slope  # not -0.0
                    slope -= current[k]
            side = intercept.take(state, x, total, slope if with_intercept else 0.0)
            for k in range(n):
                if side <= 0:
                    left[k] = current[k]
                if side >= 0:
                    right[k] = current[k]
        theta = intercept.left_weight(state)
        if with_intercept:
            shift[i] = state[intercept.BEST_X]
        value[i] = state[intercept.BEST_VALUE]
        # The mixed plane is worth `lowest` at these scores, whatever the intercept: its slope in it is zero.
        product = 0.0
        for k in range(n):
            c[start + k] = theta * left[k] + (1.0 - theta) * right[k]
            product += c[start + k] * scores[start + k]
        delta[i] = intercept.lowest(state) + product


@njit(
    types.void(LOSS, float64[::1], int8[::1], int64[::1], float64[::1], float64[::1]),
    cache=True,
    nogil=True,
)
def pointwise_curvatures(loss, scores, y, ptr, shift, second):
    """Fill ``second`` with the second derivative of each row's loss: the slope's difference on either side."""
    for i in range(len(ptr) - 1):
        for k in range(ptr[i], ptr[i + 1]):
            second[k] = 0.0
            label = float(y[k])
            if label != 0.0:
                margin = label * (scores[k] + shift[i])
                _, before = loss(margin - HALF_STEP)
                _, behind = loss(margin + HALF_STEP)
                second[k] = max(behind - before, 0.0) / (2.0 * HALF_STEP)
