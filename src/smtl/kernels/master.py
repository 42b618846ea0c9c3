"""ADMM on the planes alone; see `smtl.solvers.master` for the problem. Weights have one row a task here."""

from __future__ import annotations

import numpy as np
from numba import njit

from smtl.kernels.bundle import highest, w_step
from smtl.kernels.norms import shrink, value
from smtl.solvers import admm

balance = njit(cache=True, nogil=True)(admm.balance)
is_due = njit(cache=True, nogil=True)(admm.is_due)

RELAXATION = admm.RELAXATION


@njit(cache=True, nogil=True, fastmath=True)
def distance(a, b):
    """Return the distance of two vectors."""
    total = 0.0
    for k in range(len(a)):
        total += (a[k] - b[k]) ** 2
    return np.sqrt(total)


@njit(cache=True, nogil=True)
def s_step(kind, with_values, ridge, mu, rho, centre, W, S, U):
    """Do what is left of an iteration after its W-step: over-relaxation, multipliers and prox, in ``S`` and ``U``.

    Returns how far S has moved, and the primal and dual residual (see `smtl.solvers.admm.residuals`).
    """
    c, s, u, w = centre.ravel(), S.ravel(), U.ravel(), W.ravel()
    s_old = np.empty(len(s))
    zero = np.zeros(len(s))
    step = 1.0 / (mu + rho + ridge)
    for k in range(len(s)):
        u[k] += RELAXATION * w[k] + (1.0 - RELAXATION) * s[k]
        s_old[k] = s[k]
        s[k] = (mu * u[k] + rho * c[k]) * step
    shrink(kind, with_values, S, step)
    for k in range(len(s)):
        u[k] -= s[k]
    moved = distance(s, s_old)
    primal = distance(w, s) / max(distance(w, zero), distance(s, zero), 1e-300)
    return moved, primal, moved / max(distance(u, zero), 1e-300)


@njit(cache=True, nogil=True)
def steps(
    n_steps, kind, with_values, ridge, C, rho, centre, near, tol, mu, n_iter, S, U, mixed, mixed_delta,
    G, delta, gram, alpha, size, t, L, active, n_active,
):  # fmt: skip
    """Do up to ``n_steps`` iterations from ``S`` and ``U``, in place.

    Returns mu, the number of all iterations so far, and the primal and dual residual of the last.

    The penalty is that of the prox ``kind`` plus ``ridge / 2 |W|^2``. The iterations end early where the last one has
    moved S by no more than ``near`` times its distance from ``centre``. The rest is as in `w_step`.
    """
    B = np.empty(S.shape)
    W = np.empty(S.shape)
    b, c, s, u = B.ravel(), centre.ravel(), S.ravel(), U.ravel()
    primal = dual = 0.0
    for _ in range(n_steps):
        for k in range(len(s)):
            b[k] = s[k] - u[k]
        w_step(B, C, mu, tol, W, mixed, mixed_delta, G, delta, gram, alpha, size, t, L, active, n_active)
        moved, primal, dual = s_step(kind, with_values, ridge, mu, rho, centre, W, S, U)
        n_iter += 1
        if is_due(n_iter):
            factor = balance(primal, dual)
            mu *= factor
            for k in range(len(s)):
                u[k] /= factor
        if moved <= near * distance(s, c):
            break
    return mu, n_iter, primal, dual


@njit(cache=True, nogil=True)
def promised(kind, with_values, ridge, C, S, G, delta, size):
    """Return the objective at ``S`` with the highest planes for the losses."""
    s = S.ravel()
    squares = 0.0
    for k in range(len(s)):
        squares += s[k] * s[k]
    return value(kind, with_values, S) + 0.5 * ridge * squares + C * highest(S, G, delta, size)
