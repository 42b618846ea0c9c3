"""ADMM on the planes alone; see `smtl.solvers.master` for the problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from smtl.kernels import formulas, residuals
from smtl.kernels.bundle import Float, w_step

balance = njit(cache=True, nogil=True)(residuals.balance)
is_due = njit(cache=True, nogil=True)(residuals.is_due)

RELAXATION = residuals.RELAXATION


class Goal(NamedTuple):
    """What is minimised, and how exactly."""

    shrink: int  # the address of the norm's prox
    ridge: float  # the weight of the ridge term beside the norm
    C: float
    centre: Float
    rho: float  # the weight of the distance from the centre
    near: float  # the iterations end where one moves S by no more than this part of its distance from the centre
    tol: float  # of the W-steps


class Admm(NamedTuple):
    """The variables of ADMM, a row a task, changed in place."""

    S: Float
    U: Float


@njit(cache=True, nogil=True, fastmath=True)
def distance(a, b):
    """Return the distance of two vectors."""
    total = 0.0
    for k in range(len(a)):
        total += (a[k] - b[k]) ** 2
    return np.sqrt(total)


@njit(cache=True, nogil=True)
def s_step(goal, mu, W, S, U):
    """Do what is left of an iteration after its W-step: over-relaxation, multipliers and prox, in ``S`` and ``U``.

    Returns how far S has moved, and the primal and dual residual (see `smtl.solvers.admm.relative_residuals`).
    """
    c, s, u, w = goal.centre.ravel(), S.ravel(), U.ravel(), W.ravel()
    s_old = np.empty(len(s))
    zero = np.zeros(len(s))
    step = 1.0 / (mu + goal.rho + goal.ridge)
    for k in range(len(s)):
        u[k] += RELAXATION * w[k] + (1.0 - RELAXATION) * s[k]
        s_old[k] = s[k]
        s[k] = (mu * u[k] + goal.rho * c[k]) * step
    formulas.shrink(goal.shrink, S, step)
    for k in range(len(s)):
        u[k] -= s[k]
    moved = distance(s, s_old)
    primal = distance(w, s) / max(distance(w, zero), distance(s, zero), 1e-300)
    return moved, primal, moved / max(distance(u, zero), 1e-300)


@njit(cache=True, nogil=True)
def steps(n_steps, goal, admm, mu, n_iter, answer, planes, mixture):
    """Do up to ``n_steps`` iterations, in place.

    Returns mu, the number of all iterations so far, and the primal and dual residual of the last.
    """
    S, U = admm
    B = np.empty(S.shape)
    b, c, s, u = B.ravel(), goal.centre.ravel(), S.ravel(), U.ravel()
    primal = dual = 0.0
    for _ in range(n_steps):
        for k in range(len(s)):
            b[k] = s[k] - u[k]
        w_step(B, goal.C, mu, goal.tol, answer, planes, mixture)
        moved, primal, dual = s_step(goal, mu, answer.W, S, U)
        n_iter += 1
        if is_due(n_iter):
            factor = balance(primal, dual)
            mu *= factor
            for k in range(len(s)):
                u[k] /= factor
        if moved <= goal.near * distance(s, c):
            break
    return mu, n_iter, primal, dual
