"""The minimum of a penalty and a quadratic model of the losses; weights have one row a task here."""

from __future__ import annotations

import numpy as np
from numba import njit

from smtl.kernels.norms import shrink

RELAXATION = 1.6


@njit(cache=True, nogil=True)
def mirror(A):
    """Copy what is below the diagonal to above it."""
    for f in range(len(A)):
        for g in range(f):
            A[g, f] = A[f, g]


@njit(cache=True, nogil=True)
def minimum(n_steps, near, kind, with_values, ridge, C, W, G, inverse, nu, S, U):
    """Do up to ``n_steps`` iterations of ADMM on the model around ``W`` from ``S`` and ``U``, in place.

    The losses have the slopes ``-G`` at W, and ``inverse`` is that of their second derivatives plus ``nu``. The penalty
    is as in `smtl.kernels.master.steps`. The iterations end where the last one has moved S by no more than ``near``
    times its distance from W.
    """
    m, d = S.shape
    r = np.empty(d, inverse.dtype)
    w = np.empty(d, inverse.dtype)
    old = np.empty(S.shape)
    step = 1.0 / (C * nu + ridge)
    for _ in range(n_steps):
        for i in range(m):
            for f in range(d):
                r[f] = G[i, f] + nu * (S[i, f] - U[i, f] - W[i, f])
            np.dot(inverse[i], r, w)
            for f in range(d):
                old[i, f] = S[i, f]
                U[i, f] += RELAXATION * (W[i, f] + w[f]) + (1.0 - RELAXATION) * S[i, f]
                S[i, f] = C * nu * step * U[i, f]
        shrink(kind, with_values, S, step)
        moved = size = 0.0
        for i in range(m):
            for f in range(d):
                U[i, f] -= S[i, f]
                moved += (S[i, f] - old[i, f]) ** 2
                size += (S[i, f] - W[i, f]) ** 2
        if moved <= near * near * size:
            break
