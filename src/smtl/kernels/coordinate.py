r"""Block coordinate descent on a quadratic with an l11 or l21 norm, one feature after another.

It minimises :math:`\tfrac{c}{2} - \langle B, W\rangle + \tfrac12 \sum_i w_i' H_i w_i + \alpha\,\Omega(W)`, with
``H[j, k, i]`` the entry (j, k) of task i's Gram matrix, or ``H[j, k, 0]`` where all tasks have the same. ``Q`` is
:math:`B - HW`, the negative gradient, kept up to date: a feature that stays zero costs nothing but a look at its row.
"""

from __future__ import annotations

import numpy as np
from numba import njit

TRAIL = 5  # cycles that Anderson acceleration combines


@njit(cache=True, nogil=True)
def descend(H, B, c, alpha, by_rows, W, Q, tol, relative, max_iter):
    """Go over the features until the gap is at most ``tol``, or ``relative`` times the objective; W changes in place.

    After every few cycles it tries the combination of them that Anderson acceleration proposes, and takes it if it is
    better. It costs nothing: Q is linear in W. Returns the number of cycles.
    """
    p, m = W.shape
    trail_W, trail_Q = np.empty((TRAIL + 1, p, m)), np.empty((TRAIL + 1, p, m))
    n_iter = 0
    while n_iter < max_iter:
        n = min(TRAIL, max_iter - n_iter)
        copy(W, trail_W[0])
        copy(Q, trail_Q[0])
        cycles(H, alpha, by_rows, W, Q, trail_W[1 : n + 1], trail_Q[1 : n + 1])
        n_iter += n
        objective, bound = objective_and_bound(B, alpha, by_rows, c, W, Q)
        if objective - bound <= max(tol, relative * objective):
            break
        combine(trail_W[: n + 1], trail_Q[: n + 1])
        better, bound = objective_and_bound(B, alpha, by_rows, c, trail_W[0], trail_Q[0])
        if better < objective:
            copy(trail_W[0], W)
            copy(trail_Q[0], Q)
            if better - bound <= max(tol, relative * better):
                break
    return n_iter


@njit(cache=True, nogil=True)
def copy(source, target):
    """Copy a matrix. An assignment to a slice does so too, but takes seconds to compile."""
    for j in range(source.shape[0]):
        for i in range(source.shape[1]):
            target[j, i] = source[j, i]


@njit(cache=True, nogil=True)
def gram_of_steps(trail_W):
    """Return the Gram matrix of the steps of a trail, with a little added to its diagonal."""
    n, p, m = len(trail_W) - 1, trail_W.shape[1], trail_W.shape[2]
    A = np.zeros((n, n))
    for j in range(p):
        for i in range(m):
            for k in range(n):
                step = trail_W[k + 1, j, i] - trail_W[k, j, i]
                for other in range(k + 1):
                    A[k, other] += step * (trail_W[other + 1, j, i] - trail_W[other, j, i])
    trace = 0.0
    for k in range(n):
        trace += A[k, k]
    for k in range(n):
        A[k, k] += 1e-12 * trace + 1e-300
        for other in range(k):
            A[other, k] = A[k, other]
    return A


@njit(cache=True, nogil=True)
def weights_of_steps(A):
    """Return the solution of A x = 1, scaled to the sum 1. A is positive definite: no pivots are needed.

    It has a handful of rows; NumPy's solver would take ten times as long to compile as all else here.
    """
    n = len(A)
    x = np.ones(n)
    for k in range(n):
        for row in range(k + 1, n):
            factor = A[row, k] / A[k, k]
            x[row] -= factor * x[k]
            for column in range(k, n):
                A[row, column] -= factor * A[k, column]
    total = 0.0
    for k in range(n - 1, -1, -1):
        for column in range(k + 1, n):
            x[k] -= A[k, column] * x[column]
        x[k] /= A[k, k]
        total += x[k]
    return x / total


@njit(cache=True, nogil=True)
def combine(trail_W, trail_Q):
    """Put into the first entry of each trail the combination of the others, of sum 1, whose step is the shortest."""
    weights = weights_of_steps(gram_of_steps(trail_W))
    for j in range(trail_W.shape[1]):
        for i in range(trail_W.shape[2]):
            w = q = 0.0
            for k in range(len(weights)):
                w += weights[k] * trail_W[k + 1, j, i]
                q += weights[k] * trail_Q[k + 1, j, i]
            trail_W[0, j, i], trail_Q[0, j, i] = w, q


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
        copy(W, trail_W[cycle])
        copy(Q, trail_Q[cycle])


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
