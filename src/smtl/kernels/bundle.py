"""The planes kept for each task, and the W-step on them, for all tasks.

Plane ``k`` of task ``i`` is ``delta[i, k] - w' G[i, k]``. Plane 0 is the true answer's: zero everywhere, never dropped.
Elements are copied in loops, not slices, which take numba several times as long to compile.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from smtl.kernels.simplex_qp import Face, Program, maximise

Float: TypeAlias = npt.NDArray[np.float64]
Int: TypeAlias = npt.NDArray[np.int64]

STEEPER = 1e4  # times the largest squared slope at the time when a factor was set up; beyond, it is set up anew
STEPS_A_PLANE = 20  # of the quadratic program, at most


class Planes(NamedTuple):
    """The planes of all tasks. ``room`` planes have a place in each task; behind the last one, nothing is read."""

    G: Float  # slopes (n_tasks, room, n_features)
    delta: Float  # offsets (n_tasks, room)
    gram: Float  # products of a task's slopes (n_tasks, room, room)
    age: Int  # passes for which a plane has had no weight in any mixture (n_tasks, room)
    size: Int  # planes a task (n_tasks,)


class Mixture(NamedTuple):
    """Weights of the planes in one master problem, and what its W-steps leave for the next (see `simplex_qp.Face`)."""

    alpha: Float  # weights, of sum 1 (n_tasks, room)
    t: Float  # (n_tasks,)
    L: Float  # (n_tasks, room, room)
    active: Int  # (n_tasks, room)
    n_active: Int  # -1 where there is nothing to go on from (n_tasks,)


class Answer(NamedTuple):
    """Where a W-step writes to: the weights, and the planes mixed as they have it. Arrays a row a task."""

    W: Float
    mixed: Float
    mixed_delta: Float


@njit(cache=True, nogil=True, fastmath=True)
def dot(a, b):
    """Return the product of two vectors, in whatever order of summation is fastest."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@njit(cache=True, nogil=True)
def w_step(B, C, mu, tol, answer, planes, mixture):
    """Minimise ``C max_k (delta_k - w' G_k) + mu/2 |w - b|^2`` for each task (a row of ``B``), into ``answer``."""
    m, d = B.shape
    G, delta, gram, size = planes.G, planes.delta, planes.gram, planes.size
    W, mixed, mixed_delta = answer
    alpha, t, L, active, n_active = mixture
    room = delta.shape[1]
    linear = np.empty(room)
    work = np.empty((3, room))
    scale = C * C / mu
    for i in range(m):
        n = size[i]
        for k in range(n):
            linear[k] = C * (delta[i, k] - dot(B[i], G[i, k]))
        largest = 0.0
        for k in range(n):
            largest = max(largest, gram[i, k, k])
        # Planes may have come that are far steeper than all before: the factor is of no use then.
        if n_active[i] < 0 or largest > STEEPER * t[i]:
            n_active[i] = -1
            t[i] = largest if largest > 0.0 else 1.0 / scale
        program = Program(gram[i], scale, linear, n, tol, STEPS_A_PLANE * room)
        n_active[i] = maximise(program, Face(alpha[i], t[i], L[i], active[i]), n_active[i], work)
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
def forget(keep, planes, mixtures):
    """Drop the planes that have been without weight in all mixtures for more than ``keep`` passes."""
    G, delta, gram, age, size = planes
    for i in range(len(size)):
        n = size[i]
        for k in range(1, n):
            age[i, k] += 1
            for mixture in mixtures:
                if mixture.alpha[i, k] > 0.0:
                    age[i, k] = 0
        k = 1
        while k < n:
            if age[i, k] <= keep:
                k += 1
                continue
            n -= 1  # the last plane takes its place
            for mixture in mixtures:
                mixture.n_active[i] = rename(mixture.active[i], mixture.n_active[i], k, n)
                mixture.alpha[i, k] = mixture.alpha[i, n]
            for f in range(G.shape[2]):
                G[i, k, f] = G[i, n, f]
            delta[i, k] = delta[i, n]
            age[i, k] = age[i, n]
            for j in range(n):
                gram[i, k, j] = gram[i, n, j]
            gram[i, k, k] = gram[i, n, n]
            for j in range(n):
                gram[i, j, k] = gram[i, k, j]
        size[i] = n


@njit(cache=True, nogil=True)
def add(new_G, new_delta, planes, mixtures):
    """Add one plane to each task; there must be room for it."""
    G, delta, gram, age, size = planes
    for i in range(len(size)):
        n = size[i]
        for f in range(new_G.shape[1]):
            G[i, n, f] = new_G[i, f]
        delta[i, n] = new_delta[i]
        for mixture in mixtures:
            mixture.alpha[i, n] = 0.0
        age[i, n] = 0
        size[i] = n + 1
        for k in range(n + 1):
            product = dot(G[i, k], new_G[i])
            gram[i, k, n] = product
            gram[i, n, k] = product


@njit(cache=True, nogil=True)
def highest(W, planes):
    """Return the sum over the tasks of the value of the highest plane at ``W``."""
    total = 0.0
    for i in range(len(planes.size)):
        best = 0.0
        for k in range(1, planes.size[i]):
            best = max(best, planes.delta[i, k] - dot(W[i], planes.G[i, k]))
        total += best
    return total
