"""The planes kept for each task, and the W-step on them, for all tasks.

Plane ``k`` of task ``i`` is ``delta[i, k] - w' G[i, k]``. Plane 0 is the true answer's: zero everywhere, never dropped.
Elements are copied in loops, not slices, which take numba several times as long to compile.

``gram[i]`` holds the products of task ``i``'s planes, ``alpha[i]`` their weights (on the simplex), ``age[i]`` for how
many passes each has had no weight, and ``size[i]`` how many there are.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from smtl.kernels.simplex_qp import maximise


@njit(cache=True, nogil=True, fastmath=True)
def dot(a, b):
    """Return the product of two vectors, in whatever order of summation is fastest."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@njit(cache=True, nogil=True)
def w_step(B, C, mu, tol, max_iter, G, delta, gram, alpha, size, W, mixed, mixed_delta):
    """Minimise ``C max_k (delta_k - w' G_k) + mu/2 |w - b|^2`` for each task (a row of ``B``) into ``W``.

    ``mixed`` and ``mixed_delta`` receive the planes mixed with the optimal weights.
    """
    m, d = B.shape
    room = delta.shape[1]
    linear = np.empty(room)
    gradient = np.empty(room)
    factor = np.empty((room, room))
    for i in range(m):
        n = size[i]
        for k in range(n):
            linear[k] = C * (delta[i, k] - dot(B[i], G[i, k]))
        maximise(gram[i], C * C / mu, linear, alpha[i], n, tol, max_iter, gradient, factor)
        mixed_delta[i] = 0.0
        for f in range(d):
            mixed[i, f] = 0.0
        for k in range(n):
            if alpha[i, k] > 0.0:
                mixed_delta[i] += alpha[i, k] * delta[i, k]
                for f in range(d):
                    mixed[i, f] += alpha[i, k] * G[i, k, f]
        for f in range(d):
            W[i, f] = B[i, f] + (C / mu) * mixed[i, f]


@njit(cache=True, nogil=True)
def forget(keep, G, delta, gram, alpha, age, size):
    """Drop the planes that have been without weight for more than ``keep`` passes."""
    for i in range(len(size)):
        n = size[i]
        for k in range(1, n):
            age[i, k] = 0 if alpha[i, k] > 0.0 else age[i, k] + 1
        k = 1
        while k < n:
            if age[i, k] <= keep:
                k += 1
                continue
            n -= 1  # the last plane takes its place
            for f in range(G.shape[2]):
                G[i, k, f] = G[i, n, f]
            delta[i, k] = delta[i, n]
            alpha[i, k] = alpha[i, n]
            age[i, k] = age[i, n]
            for j in range(n):
                gram[i, k, j] = gram[i, n, j]
            gram[i, k, k] = gram[i, n, n]
            for j in range(n):
                gram[i, j, k] = gram[i, k, j]
        size[i] = n


@njit(cache=True, nogil=True)
def add(new_G, new_delta, G, delta, gram, alpha, age, size):
    """Add one plane to each task; there must be room for it."""
    for i in range(len(size)):
        n = size[i]
        for f in range(new_G.shape[1]):
            G[i, n, f] = new_G[i, f]
        delta[i, n] = new_delta[i]
        alpha[i, n] = 0.0
        age[i, n] = 0
        size[i] = n + 1
        for k in range(n + 1):
            product = dot(G[i, k], new_G[i])
            gram[i, k, n] = product
            gram[i, n, k] = product
