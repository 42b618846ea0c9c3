"""The planes kept for each task, and the W-step on them, for all tasks.

Plane ``k`` of task ``i`` is ``delta[i, k] - w' G[i, k]``. Plane 0 is the true answer's: zero everywhere, never dropped.
Elements are copied in loops, not slices, which take numba several times as long to compile.

``gram[i]`` holds the products of task ``i``'s planes, ``alpha[a, i]`` their weights (on the simplex) in the problem
``a`` of those that share the planes, ``age[i]`` for how many passes each has had no weight in any, and ``size[i]`` how
many there are.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from smtl.kernels.simplex_qp import maximise

STEEPER = 1e4  # times the largest squared slope at the time when a factor was set up; beyond, it is set up anew


@njit(cache=True, nogil=True, fastmath=True)
def dot(a, b):
    """Return the product of two vectors, in whatever order of summation is fastest."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@njit(cache=True, nogil=True)
def w_step(B, C, mu, tol, W, mixed, mixed_delta, G, delta, gram, alpha, size, t, L, active, n_active):
    """Minimise ``C max_k (delta_k - w' G_k) + mu/2 |w - b|^2`` for each task (a row of ``B``) into ``W``.

    ``alpha`` has the weights of one problem, a row a task; ``mixed`` and ``mixed_delta`` receive the planes mixed with
    the optimal ones. ``t``, ``L``, ``active`` and ``n_active`` are what `maximise` leaves for the next time, a row a
    task; ``n_active`` is -1 where they are to be set up.
    """
    m, d = B.shape
    room = delta.shape[1]
    max_iter = 20 * room
    linear = np.empty(room)
    work = np.empty((3, room))
    for i in range(m):
        n = size[i]
        for k in range(n):
            linear[k] = C * (delta[i, k] - dot(B[i], G[i, k]))
        scale = C * C / mu
        largest = 0.0
        for k in range(n):
            largest = max(largest, gram[i, k, k])
        # Planes may have come that are far steeper than all before: the factor is of no use then.
        if n_active[i] < 0 or largest > STEEPER * t[i]:
            n_active[i] = -1
            t[i] = largest if largest > 0.0 else 1.0 / scale
        n_active[i] = maximise(
            gram[i], scale, linear, alpha[i], n, tol, max_iter, work, t[i], L[i], active[i], n_active[i]
        )
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
def rename(active, n_active, k, last):
    """Plane ``k`` is dropped and the last one takes its place; return how many active ones there are, -1 if unknown."""
    for j in range(n_active):
        if active[j] == k:
            return -1  # active with a weight of zero, which rounding brings about
        if active[j] == last:
            active[j] = k
    return n_active


@njit(cache=True, nogil=True)
def forget(keep, G, delta, gram, alpha, age, size, active, n_active):
    """Drop the planes that have been without weight for more than ``keep`` passes.

    ``active`` and ``n_active`` are those of `w_step`, for each of the problems.
    """
    for i in range(len(size)):
        n = size[i]
        for k in range(1, n):
            age[i, k] += 1
            for a in range(len(alpha)):
                if alpha[a, i, k] > 0.0:
                    age[i, k] = 0
        k = 1
        while k < n:
            if age[i, k] <= keep:
                k += 1
                continue
            n -= 1  # the last plane takes its place
            for a in range(len(alpha)):
                n_active[a, i] = rename(active[a, i], n_active[a, i], k, n)
            for f in range(G.shape[2]):
                G[i, k, f] = G[i, n, f]
            delta[i, k] = delta[i, n]
            for a in range(len(alpha)):
                alpha[a, i, k] = alpha[a, i, n]
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
        for a in range(len(alpha)):
            alpha[a, i, n] = 0.0
        age[i, n] = 0
        size[i] = n + 1
        for k in range(n + 1):
            product = dot(G[i, k], new_G[i])
            gram[i, k, n] = product
            gram[i, n, k] = product


@njit(cache=True, nogil=True)
def highest(W, G, delta, size):
    """Return the sum over the tasks of the value of the highest plane at ``W``, of which task ``i`` has row ``i``."""
    total = 0.0
    for i in range(len(size)):
        best = 0.0
        for k in range(1, size[i]):
            best = max(best, delta[i, k] - dot(W[i], G[i, k]))
        total += best
    return total
