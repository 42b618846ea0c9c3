r"""Block coordinate descent on a quadratic with an l11 or l21 norm, one feature after another.

It minimises :math:`\tfrac{c}{2} - \langle B, W\rangle + \tfrac12 \sum_i w_i' H_i w_i + \alpha\,\Omega(W)`, with
``H[j, k, i]`` the entry (j, k) of task i's Gram matrix, or ``H[j, k, 0]`` where all tasks have the same. ``Q`` is
:math:`B - HW`, the negative gradient, kept up to date: a feature that stays zero costs nothing but a look at its row.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def cycles(H, alpha, by_rows, W, Q, trail_W, trail_Q):
    """Go once over the features for each entry of the trails, which receive ``W`` and ``Q`` after each cycle."""
    p, m = W.shape
    step = np.empty(m)
    v = np.empty(m)
    h = np.empty(m)
    for cycle in range(len(trail_W)):
        for j in range(p):
            largest = 0.0
            for i in range(m):
                h[i] = H[j, j, i if H.shape[2] > 1 else 0]
                largest = max(largest, h[i])
                v[i] = Q[j, i] + h[i] * W[j, i]
            if largest <= 0.0:
                continue  # the feature is constant
            if by_rows:
                shrink_row(v, h, largest, alpha, step)
            else:
                for i in range(m):
                    excess = abs(v[i]) - alpha
                    step[i] = np.sign(v[i]) * excess / h[i] if excess > 0.0 and h[i] > 0.0 else 0.0
            moved = False
            for i in range(m):
                step[i] -= W[j, i]
                moved = moved or step[i] != 0.0
            if moved:
                move(H, j, step, W, Q)
        trail_W[cycle] = W
        trail_Q[cycle] = Q


@njit(cache=True, nogil=True)
def shrink_row(v, h, largest, alpha, u):
    r"""Minimise :math:`\sum_i \tfrac12 h_i u_i^2 - v_i u_i + \alpha |u|` into ``u``.

    At the minimum :math:`u_i = v_i t / (h_i t + \alpha)` with :math:`t = |u|`, so that t is the root of
    :math:`\sum_i v_i^2 / (h_i t + \alpha)^2 = 1`. The sum is convex and falls, so that Newton's method from below never
    overshoots; where all h are the same it starts at the root.
    """
    m = len(v)
    norm = 0.0
    for i in range(m):
        norm += v[i] * v[i]
    norm = np.sqrt(norm)
    if norm <= alpha:
        for i in range(m):
            u[i] = 0.0
        return
    t = (norm - alpha) / largest
    for _ in range(50):
        value = 0.0
        slope = 0.0
        for i in range(m):
            below = 1.0 / (h[i] * t + alpha)
            square = v[i] * v[i] * below * below
            value += square
            slope -= 2.0 * square * h[i] * below
        if value <= 1.0 + 1e-14 or slope == 0.0:
            break
        t -= (value - 1.0) / slope
    for i in range(m):
        u[i] = v[i] * t / (h[i] * t + alpha)


@njit(cache=True, nogil=True)
def move(H, j, step, W, Q):
    """Add ``step`` to row ``j`` of ``W``."""
    p, m = Q.shape
    for i in range(m):
        W[j, i] += step[i]
    if H.shape[2] == 1:
        for k in range(p):
            h = H[j, k, 0]
            for i in range(m):
                Q[k, i] -= h * step[i]
    else:
        for k in range(p):
            for i in range(m):
                Q[k, i] -= H[j, k, i] * step[i]


@njit(cache=True, nogil=True)
def objective_and_bound(B, alpha, by_rows, c, W, Q):
    """Return the objective and a lower bound; see `smtl.solvers.squared.lower_bound`."""
    p, m = W.shape
    fitted = 0.0
    left = 0.0
    omega = 0.0
    dual = 0.0
    for j in range(p):
        row = 0.0
        q_row = 0.0
        for i in range(m):
            fitted += W[j, i] * B[j, i]
            left += W[j, i] * Q[j, i]
            if by_rows:
                row += W[j, i] * W[j, i]
                q_row += Q[j, i] * Q[j, i]
            else:
                row += abs(W[j, i])
                q_row = max(q_row, abs(Q[j, i]))
        omega += np.sqrt(row) if by_rows else row
        dual = max(dual, np.sqrt(q_row) if by_rows else q_row)
    square = max(c - fitted - left, 0.0)
    inner = c - fitted
    scale = 0.0
    if square > 0.0 and inner > 0.0:
        scale = inner / square
        if scale * dual > alpha:
            scale = alpha / dual
    return 0.5 * square + alpha * omega, scale * inner - 0.5 * scale * scale * square
