r"""The small quadratic program of the W-step, over the simplex, by an active set.

The planes with weight are the active ones. On them alone, with the weights' sum at 1 and no other bound, the maximum is
two triangular solves away, with the Cholesky factor of :math:`K + t 11'` (the part :math:`t 11'` changes nothing where
the sum is fixed, and makes the factor exist). A weight that would fall below zero on the way stops the step there and
leaves the set; at the maximum, the plane of the largest gradient enters. Both cost a square, not a cube, of the set's
size. The answer has at most one plane more than there are features: what has no weight can be forgotten.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# A pivot is at least this part of its diagonal entry. A plane that is a mixture of active ones then gets a long step,
# which ends where one of them has lost its weight.
LEAST_PIVOT = 1e-10


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
def maximise(gram, scale, linear, alpha, n, tol, max_iter, work, t, L, active, n_active):
    r"""Maximise :math:`\ell'\alpha - \tfrac{1}{2} s\, \alpha' K \alpha` over the simplex, from ``alpha``, in place.

    It stops when no gradient exceeds that of a plane with weight by more than ``tol``, which bounds the distance to the
    maximum by ``tol``. ``work`` is room for three numbers a plane. The first ``n_active`` of ``active`` are the active
    planes, and ``L`` has their factor, as an earlier call with the same weights and the same ``t`` has left them;
    ``n_active`` is -1 to have them set up. ``t`` is of the size of the Gram matrix's diagonal. Returns the number of
    active planes.
    """
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
        lowest = np.inf
        for i in range(n_active):
            lowest = min(lowest, gradient[active[i]])
        up = 0
        for k in range(1, n):
            if gradient[k] > gradient[up]:
                up = k
        if gradient[up] - lowest <= tol or n_iter == max_iter:
            break
        if n_iter > 0 and blocked < 0:
            known = False
            for i in range(n_active):
                known = known or active[i] == up
            if not known:
                enter(up, gram, t, L, active, n_active)
                n_active += 1

        # The step to the maximum on the active planes: K step = (gradient - level) / scale, of sum 0.
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
        if blocked >= 0:
            leave(blocked, L, active, n_active)
            n_active -= 1
    return n_active
