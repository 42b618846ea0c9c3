r"""The small quadratic program of the W-step, over the simplex, by an active set.

The planes with weight are the active ones. On them alone, with the weights' sum at 1 and no other bound, the maximum is
two triangular solves away, with the Cholesky factor of :math:`K + t 11'` (the part :math:`t 11'` changes nothing where
the sum is fixed, and makes the factor exist). A weight that would fall below zero on the way stops the step there and
leaves the set; at the maximum, the plane of the largest gradient enters. Both cost a square, not a cube, of the set's
size. The answer has at most one plane more than there are features: what has no weight can be forgotten.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

# A pivot is at least this part of its diagonal entry. A plane that is a mixture of active ones then gets a long step,
# which ends where one of them has lost its weight.
LEAST_PIVOT = 1e-10


class Program(NamedTuple):
    """The program of one task: its numbers are K, s and l, how many planes there are, and when to stop."""

    gram: Any  # (room, room), of which n x n are read
    scale: float
    linear: Any  # (room,)
    n: int
    tol: float  # of the gradients
    max_iter: int


class Face(NamedTuple):
    """Where the last call has stopped: weights, the active planes, and the factor of their Gram matrix."""

    alpha: Any  # (room,)
    t: float  # what is added to all entries of the matrix; of the size of its diagonal
    L: Any  # (room, room)
    active: Any  # (room,), numbers of planes


@njit(cache=True, nogil=True, fastmath=True)
def solve_lower(L, n, x):
    """Overwrite ``x`` by the solution of ``L x = b``."""
    for i in range(n):
        total = x[i]
        for j in range(i):
            total -= L[i, j] * x[j]
        x[i] = total / L[i, i]


@njit(cache=True, nogil=True, fastmath=True)
def solve_upper(L, n, x):
    """Overwrite ``x`` by the solution of ``L' x = b``."""
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]


@njit(cache=True, nogil=True)
def enter(k, gram, t, L, active, n_active):
    """Add plane ``k`` to the active set and its factor."""
    row = L[n_active]
    for i in range(n_active):
        row[i] = gram[active[i], k] + t
    solve_lower(L, n_active, row)
    diagonal = gram[k, k] + t
    pivot = diagonal
    for i in range(n_active):
        pivot -= row[i] * row[i]
    row[n_active] = np.sqrt(max(pivot, LEAST_PIVOT * diagonal))
    active[n_active] = k


@njit(cache=True, nogil=True)
def leave(j, L, active, n_active):
    """Take the ``j``-th plane out of the active set and its factor."""
    for i in range(j, n_active - 1):
        active[i] = active[i + 1]
        for k in range(i + 2):
            L[i, k] = L[i + 1, k]
    # Each row below now has one entry beyond the diagonal; rotations of two columns bring it back.
    for i in range(j, n_active - 1):
        length = np.hypot(L[i, i], L[i, i + 1])
        c = L[i, i] / length
        s = L[i, i + 1] / length
        L[i, i] = length
        for k in range(i + 1, n_active - 1):
            left = L[k, i]
            right = L[k, i + 1]
            L[k, i] = c * left + s * right
            L[k, i + 1] = c * right - s * left


@njit(cache=True, nogil=True, fastmath=True)
def slopes(gram, scale, linear, alpha, active, n_active, n, gradient):
    """Overwrite ``gradient`` by that of the objective, for all planes."""
    for k in range(n):
        gradient[k] = 0.0
    for i in range(n_active):
        j = active[i]
        for k in range(n):
            gradient[k] += alpha[j] * gram[j, k]
    for k in range(n):
        gradient[k] = linear[k] - scale * gradient[k]


@njit(cache=True, nogil=True)
def extremes(gradient, n, active, n_active):
    """Return the plane of the largest gradient, and the least gradient of an active one."""
    lowest = np.inf
    for i in range(n_active):
        lowest = min(lowest, gradient[active[i]])
    up = 0
    for k in range(1, n):
        if gradient[k] > gradient[up]:
            up = k
    return up, lowest


@njit(cache=True, nogil=True)
def is_active(k, active, n_active):
    """Return whether plane ``k`` is active."""
    known = False
    for i in range(n_active):
        known = known or active[i] == k
    return known


@njit(cache=True, nogil=True)
def direction(L, active, n_active, gradient, scale, step, ones):
    """Overwrite ``step`` by the way to the maximum on the active planes: K step = (gradient - level) / scale."""
    for i in range(n_active):
        step[i] = gradient[active[i]]
        ones[i] = 1.0
    solve_lower(L, n_active, step)
    solve_lower(L, n_active, ones)
    mixed = 0.0
    total = 0.0
    for i in range(n_active):
        mixed += step[i] * ones[i]
        total += ones[i] * ones[i]
    for i in range(n_active):
        step[i] = (step[i] - mixed / total * ones[i]) / scale
    solve_upper(L, n_active, step)
    if n_active == 1:
        step[0] = 0.0  # all the weight is there, and stays; rounding might say otherwise


@njit(cache=True, nogil=True)
def walk(alpha, active, n_active, step):
    """Take the step as far as no weight falls below zero; return the place of the plane that stopped it, or -1."""
    length = 1.0
    blocked = -1
    for i in range(n_active):
        if alpha[active[i]] < -length * step[i]:
            length = alpha[active[i]] / -step[i]
            blocked = i
    total = 0.0
    for i in range(n_active):
        k = active[i]
        alpha[k] = 0.0 if i == blocked else max(alpha[k] + length * step[i], 0.0)
        total += alpha[k]
    for i in range(n_active):
        alpha[active[i]] /= total  # the sum stays at 1 but for rounding
    return blocked


@njit(cache=True, nogil=True)
def maximise(program, face, n_active, work):
    r"""Maximise :math:`\ell'\alpha - \tfrac{1}{2} s\, \alpha' K \alpha` over the simplex, in place.

    It starts from ``face.alpha``, and stops when no gradient exceeds that of a plane with weight by more than the
    tolerance, which bounds the distance to the maximum. ``n_active`` says how many active planes ``face`` has; -1 to
    have them and their factor set up. ``work`` is room for three numbers a plane, and receives the gradient. Returns
    the number of active planes.
    """
    gram, scale, linear, n, tol, max_iter = program
    alpha, t, L, active = face
    gradient, step, ones = work[0], work[1], work[2]
    if n_active < 0:
        n_active = 0
        for k in range(n):
            if alpha[k] > 0.0:
                enter(k, gram, t, L, active, n_active)
                n_active += 1
    blocked = -1
    for n_iter in range(max_iter + 1):
        slopes(gram, scale, linear, alpha, active, n_active, n, gradient)
        up, lowest = extremes(gradient, n, active, n_active)
        if gradient[up] - lowest <= tol or n_iter == max_iter:
            break
        if n_iter > 0 and blocked < 0 and not is_active(up, active, n_active):
            enter(up, gram, t, L, active, n_active)
            n_active += 1
        direction(L, active, n_active, gradient, scale, step, ones)
        blocked = walk(alpha, active, n_active, step)
        if blocked >= 0:
            leave(blocked, L, active, n_active)
            n_active -= 1
    return n_active
