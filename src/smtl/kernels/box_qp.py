r"""The quadratic program of a W-step whose loss is a hinge loss with an intercept, by an active set.

For rows :math:`x_r` with labels :math:`y_r`, a margin a, and b the point to stay near,

.. math:: \min_{w, \beta} \; C \sum_r 2 (a - y_r (w'x_r + \beta))_+ + \tfrac{\mu}{2} |w - b|^2,
    \qquad w = b + \tfrac{2C}{\mu} \sum_r v_r x_r,

where :math:`v_r` lies between 0 and :math:`y_r` and :math:`\sum_r v_r = 0`. Rows beyond their margin have
:math:`v_r = 0`, those that fall short of it :math:`v_r = y_r`, and those at it, the *free* ones, are the active set.
Its factor is that of `smtl.kernels.simplex_qp`, of which this is the twin for bounds on either side. It depends on the
rows alone, so that it holds for the next b, mu and C as well.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from smtl.kernels.bundle import dot
from smtl.kernels.simplex_qp import LEAST_PIVOT, leave, solve_lower, solve_upper

# Entering and leaving rows in one solution, at most.
MOST_CHANGES = 500
# A row is a mixture of others if this part of its square or less is not theirs. Rounding leaves so much.
MIXTURE = 1e-7


@njit(cache=True, nogil=True)
def enter(k, X, t, L, free, n_free):
    """Add row ``k`` to the free ones and their factor; return whether it is a mixture of the others."""
    row = L[n_free]
    for i in range(n_free):
        row[i] = dot(X[free[i]], X[k]) + t
    solve_lower(L, n_free, row)
    diagonal = dot(X[k], X[k]) + t
    pivot = diagonal
    for i in range(n_free):
        pivot -= row[i] * row[i]
    row[n_free] = np.sqrt(max(pivot, LEAST_PIVOT * diagonal))
    free[n_free] = k
    return pivot <= MIXTURE * diagonal or n_free > X.shape[1]


@njit(cache=True, nogil=True, fastmath=True)
def add_row(g, amount, x):
    """Add a multiple of a row to ``g``."""
    for f in range(len(g)):
        g[f] += amount * x[f]


@njit(cache=True, nogil=True)
def worst_row(X, y, a, w, level, tol, v, is_free, lacking, n):
    """Return which of the first ``n`` of ``lacking`` lacks most of its margin, and how many lack any.

    Those are then the first. It is -1 where none lacks more than ``tol``.
    """
    worst, k, kept = tol, -1, 0
    for j in range(n):
        r = lacking[j]
        if not is_free[r]:
            above = a * y[r] - dot(X[r], w) - level
            if v[r] > min(float(y[r]), 0.0):
                above = -above
            if above > tol:
                lacking[kept] = r
                kept += 1
            if above > worst:
                worst = above
                k = r
    return k, kept


@njit(cache=True, nogil=True)
def maximise(X, y, a, b, C, mu, tol, v, is_free, t, L, free, n_free, w, g, work, lacking):
    """Solve the program of one task, from ``v``, in place, and return the number of free rows.

    The rows' margins are then right to ``tol``. ``w`` receives the weights and ``g`` the sum of ``v_r x_r``. ``L`` and
    ``free`` have room for three rows more than there are features, and ``work`` for two numbers each, ``lacking`` for
    one number a row of the data. ``t`` is of the size of the squares of the rows' lengths.
    """
    n, d = X.shape
    step, ones = work[0], work[1]
    n_lacking = 0
    is_mixture = False
    for f in range(d):
        g[f] = 0.0
    for r in range(n):
        if v[r] != 0.0:
            add_row(g, v[r], X[r])
    for _ in range(MOST_CHANGES):
        for f in range(d):
            w[f] = b[f] + 2.0 * C / mu * g[f]
        lowest, highest = np.inf, -np.inf
        for i in range(n_free):
            r = free[i]
            step[i] = a * y[r] - dot(X[r], w)  # minus the intercept, if the row is at its margin
            ones[i] = 1.0
            lowest, highest = min(lowest, step[i]), max(highest, step[i])
        if n_free > 1 and highest - lowest > 0.3 * tol:
            # To where all free rows are at their margins: 2 C / mu K step = what they lack, of sum 0.
            solve_lower(L, n_free, step)
            solve_lower(L, n_free, ones)
            mixed = total = 0.0
            for i in range(n_free):
                mixed += step[i] * ones[i]
                total += ones[i] * ones[i]
            for i in range(n_free):
                step[i] = (step[i] - mixed / total * ones[i]) * mu / (2.0 * C)
            solve_upper(L, n_free, step)
            length = np.inf if is_mixture else 1.0
            blocked = -1
            for i in range(n_free):
                r = free[i]
                low = min(float(y[r]), 0.0)
                if step[i] < 0.0 and (low - v[r]) / step[i] < length:
                    length, blocked = (low - v[r]) / step[i], i
                elif step[i] > 0.0 and (low + 1.0 - v[r]) / step[i] < length:
                    length, blocked = (low + 1.0 - v[r]) / step[i], i
            if blocked < 0:
                length = 1.0  # a mixture that moves nothing
            for i in range(n_free):
                r = free[i]
                low = min(float(y[r]), 0.0)
                new = min(max(v[r] + length * step[i], low), low + 1.0)
                if i == blocked:
                    new = low if step[i] < 0.0 else low + 1.0
                add_row(g, new - v[r], X[r])
                v[r] = new
            is_mixture = False
            if blocked >= 0:
                is_free[free[blocked]] = False
                leave(blocked, L, free, n_free)
                n_free -= 1
                continue
            for f in range(d):
                w[f] = b[f] + 2.0 * C / mu * g[f]
        level = 0.0
        for i in range(n_free):
            level += (a * y[free[i]] - dot(X[free[i]], w)) / n_free
        if n_free == 0:
            level = np.inf  # from which any row that can rise is the first to enter
            for r in range(n):
                if v[r] > min(float(y[r]), 0.0):
                    level = min(level, a * y[r] - dot(X[r], w))
        # Rows that lacked their margin at the last look at all rows come first; all are looked at when none still does.
        k, n_lacking = worst_row(X, y, a, w, level, tol, v, is_free, lacking, n_lacking)
        if k < 0:
            for r in range(n):
                lacking[r] = r
            k, n_lacking = worst_row(X, y, a, w, level, tol, v, is_free, lacking, n)
        if k < 0 or n_free == len(free) - 1:
            break
        # Along a mixture there is no curvature, and the step goes on until a row is at a bound.
        is_mixture = enter(k, X, t, L, free, n_free)
        is_free[k] = True
        n_free += 1
    return n_free
