r"""The best intercept of one task, by a search on a line.

With an unpenalised intercept :math:`\beta` the loss of a task is :math:`\min_\beta \varphi(\beta)` where
:math:`\varphi(\beta) = G(s + \beta)` is convex. Each evaluation gives a plane of slope :math:`\varphi' = -\sum_k c_k`.
Two planes of opposite slopes, mixed so that the slopes cancel, are a plane of the partially minimised loss: it
holds for *every* intercept. So the solver never sees an intercept, and its certificate needs no bound on it.

`propose` and `take` are one search, shared by the compiled oracles and the plain Python one: `propose` says where to
look next (or that the search is over), `take` takes what was seen there. The search ends when the best value seen is
within ``eps`` of the lowest value that the two planes allow.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Fields of the state of a search.
LEFT_X, LEFT_VALUE, LEFT_SLOPE = 0, 1, 2  # nearest point on the left, where the slope is negative
RIGHT_X, RIGHT_VALUE, RIGHT_SLOPE = 3, 4, 5  # nearest point on the right, where the slope is positive
BEST_X, BEST_VALUE = 6, 7
STEP, EVALUATIONS, FLAT = 8, 9, 10  # FLAT: 1 when a point of slope zero was met
SIZE = 11

# What `take` says of the point it was given.
IS_LEFT, IS_RIGHT, IS_BOTH = -1, 1, 0

MAX_EVALUATIONS = 200


@njit(cache=True, nogil=True)
def begin(state, step):
    """Start a search whose first moves outward are of length ``step``."""
    state[LEFT_X] = -np.inf
    state[RIGHT_X] = np.inf
    state[BEST_X] = 0.0
    state[BEST_VALUE] = np.inf
    state[STEP] = step
    state[EVALUATIONS] = 0.0
    state[FLAT] = 0.0


@njit(cache=True, nogil=True)
def lowest(state):
    """Return the lowest value that the planes seen so far allow."""
    if state[FLAT] == 1.0:
        return state[BEST_VALUE]
    if state[LEFT_X] == -np.inf or state[RIGHT_X] == np.inf:
        return -np.inf
    theta = state[RIGHT_SLOPE] / (state[RIGHT_SLOPE] - state[LEFT_SLOPE])
    left_at_zero = state[LEFT_VALUE] - state[LEFT_SLOPE] * state[LEFT_X]
    right_at_zero = state[RIGHT_VALUE] - state[RIGHT_SLOPE] * state[RIGHT_X]
    return theta * left_at_zero + (1.0 - theta) * right_at_zero


@njit(cache=True, nogil=True)
def propose(state, start, eps):
    """Return the next point to look at, or NaN when the search is over."""
    count = state[EVALUATIONS]
    if count == 0.0:
        return start
    if state[FLAT] == 1.0 or count >= MAX_EVALUATIONS:
        return np.nan
    left = state[LEFT_X]
    right = state[RIGHT_X]
    if right == np.inf:
        return left + state[STEP]
    if left == -np.inf:
        return right - state[STEP]
    low = lowest(state)
    if state[BEST_VALUE] - low <= eps:
        return np.nan
    # Where the two planes meet; every third time the middle, so that the bracket shrinks whatever the pieces are.
    x = left + (low - state[LEFT_VALUE]) / state[LEFT_SLOPE]
    if count % 3.0 == 2.0 or not (left < x < right):
        x = 0.5 * (left + right)
    if not (left < x < right):
        return np.nan
    return x


@njit(cache=True, nogil=True)
def take(state, x, value, slope):
    """Take in what was seen at ``x``; say on which side of the minimum it is, `IS_BOTH` if it is the minimum."""
    state[EVALUATIONS] += 1.0
    if state[EVALUATIONS] > 1.0:
        state[STEP] *= 4.0
    if value < state[BEST_VALUE]:
        state[BEST_VALUE] = value
        state[BEST_X] = x
    if slope == 0.0:
        state[FLAT] = 1.0
        state[BEST_VALUE] = value
        state[BEST_X] = x
        return IS_BOTH
    if slope < 0.0:
        state[LEFT_X] = x
        state[LEFT_VALUE] = value
        state[LEFT_SLOPE] = slope
        return IS_LEFT
    state[RIGHT_X] = x
    state[RIGHT_VALUE] = value
    state[RIGHT_SLOPE] = slope
    return IS_RIGHT


@njit(cache=True, nogil=True)
def left_weight(state):
    """Return the weight of the left plane in the mixture whose slope is zero."""
    if state[FLAT] == 1.0:
        return 1.0
    return state[RIGHT_SLOPE] / (state[RIGHT_SLOPE] - state[LEFT_SLOPE])
