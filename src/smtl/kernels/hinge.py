"""Losses as hinge losses of few rows; see `smtl.solvers.hinge`. Weights have one row a task here."""

from __future__ import annotations

import numpy as np
from numba import njit

from smtl.kernels import box_qp
from smtl.kernels.bundle import dot
from smtl.kernels.master import balance, is_due, s_step


@njit(cache=True, nogil=True)
def smallest(values, n, count):
    """Return the ``count``-th smallest of the first ``n`` values, which it reorders."""
    low, high, k = 0, n - 1, count - 1
    while low < high:
        middle = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < middle:
                i += 1
            while values[j] > middle:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return values[k]


@njit(cache=True, nogil=True)
def choose_rows(scores, y, ptr, c, factor, more, rows):
    """Choose the rows of each task that are answered wrong or nearly so; return how many there are in all.

    Of either class those of the worst scores: ``factor`` times as many as have a coefficient in ``c``, and so many
    ``more``. ``rows`` receives where they are in ``scores``, in ascending order.
    """
    room = 0
    for i in range(len(ptr) - 1):
        room = max(room, ptr[i + 1] - ptr[i])
    values = np.empty(room)
    worst = np.empty(2)
    at = 0
    for i in range(len(ptr) - 1):
        for side in range(2):
            sign = 1 - 2 * side
            n = wrong = 0
            for k in range(ptr[i], ptr[i + 1]):
                if y[k] == sign:
                    values[n] = sign * scores[k]
                    n += 1
                    wrong += c[k] != 0.0
            count = int(factor * wrong) + more
            worst[side] = smallest(values, n, count) if count < n else np.inf
        for k in range(ptr[i], ptr[i + 1]):
            if (y[k] == 1 and scores[k] <= worst[0]) or (y[k] == -1 and -scores[k] <= worst[1]):
                rows[at] = k
                at += 1
    return at


@njit(cache=True, nogil=True)
def trim(v, ptr):
    """Make the sum of each task's ``v``, of entries 1, 0 and -1, zero by leaving out the last of the side with more."""
    for i in range(len(ptr) - 1):
        total = 0.0
        for r in range(ptr[i], ptr[i + 1]):
            total += v[r]
        for r in range(ptr[i + 1] - 1, ptr[i] - 1, -1):
            if v[r] * total > 0.0:
                total -= v[r]
                v[r] = 0.0


@njit(cache=True, nogil=True)
def factorise(X, ptr, v, is_free, t, L, free, n_free):
    """Find the free rows of each task, those whose ``v`` is at no bound, and set up their factor.

    Returns whether there is room for them.
    """
    for i in range(len(ptr) - 1):
        t[i] = 0.0
        n_free[i] = 0
        for r in range(ptr[i], ptr[i + 1]):
            t[i] = max(t[i], dot(X[r], X[r]))
        for r in range(ptr[i], ptr[i + 1]):
            is_free[r] = 0.0 < abs(v[r]) < 1.0
            if is_free[r]:
                if n_free[i] == free.shape[1] - 1:
                    return False
                box_qp.enter(r - ptr[i], X[ptr[i] : ptr[i + 1]], t[i], L[i], free[i], n_free[i])
                n_free[i] += 1
    return True


@njit(cache=True, nogil=True)
def steps(
    n_steps, kind, with_values, ridge, C, tol, mu, n_iter, S, U, mixed, mixed_delta,
    X, y, ptr, margin, v, is_free, t, L, free, n_free,
):  # fmt: skip
    """Do ``n_steps`` iterations of ADMM from ``S`` and ``U``, in place; return mu and the number of all so far.

    As `smtl.kernels.master.steps`, but with hinge losses of the rows in the place of planes; margins are right to
    ``tol`` times what they should be. ``mixed`` and ``mixed_delta`` receive the planes of the last W-step.
    """
    m, d = S.shape
    B = np.empty(S.shape)
    W = np.empty(S.shape)
    centre = np.zeros(S.shape)
    work = np.empty((2, free.shape[1]))
    lacking = np.empty(len(v), np.int64)
    b, s, u = B.ravel(), S.ravel(), U.ravel()
    for _ in range(n_steps):
        for k in range(len(s)):
            b[k] = s[k] - u[k]
        for i in range(m):
            p, q = ptr[i], ptr[i + 1]
            n_free[i] = box_qp.maximise(
                X[p:q], y[p:q], margin[i], B[i], C, mu, tol * margin[i], v[p:q], is_free[p:q], t[i], L[i], free[i],
                n_free[i], W[i], mixed[i], work, lacking,
            )  # fmt: skip
        _, primal, dual = s_step(kind, with_values, ridge, mu, 0.0, centre, W, S, U)
        n_iter += 1
        if is_due(n_iter):
            factor = balance(primal, dual)
            mu *= factor
            for k in range(len(s)):
                u[k] /= factor
    for i in range(m):
        balance_rows(v[ptr[i] : ptr[i + 1]])
        mixed_delta[i] = 0.0
        for f in range(d):
            mixed[i, f] = 0.0
        for r in range(ptr[i], ptr[i + 1]):
            mixed_delta[i] += 2.0 * margin[i] * abs(v[r])
            box_qp.add_row(mixed[i], 2.0 * v[r], X[r])
    return mu, n_iter


@njit(cache=True, nogil=True)
def balance_rows(v):
    """Make the sum of ``v`` zero but for rounding: by the row that is farthest from its bounds, or by shrinking all."""
    total = above = 0.0
    k = 0
    for r in range(len(v)):
        total += v[r]
        above += max(v[r], 0.0)
        if min(abs(v[r]), 1.0 - abs(v[r])) > min(abs(v[k]), 1.0 - abs(v[k])):
            k = r
    if abs(total) < min(abs(v[k]), 1.0 - abs(v[k])):
        v[k] -= total
        return
    below = above - total
    for r in range(len(v)):
        if v[r] > 0.0 and above > below:
            v[r] *= below / above
        if v[r] < 0.0 and below > above:
            v[r] *= above / below


@njit(cache=True, nogil=True)
def few_scores(S, X, ptr):
    """Return the scores of the rows at the weights ``S``."""
    scores = np.empty(len(X))
    for i in range(len(ptr) - 1):
        for r in range(ptr[i], ptr[i + 1]):
            scores[r] = dot(X[r], S[i])
    return scores


@njit(cache=True, nogil=True)
def losses(scores, y, ptr, margin):
    """Return the sum of all hinge losses, each with its best intercept.

    Along the intercept the slope of a task's loss rises by 2 wherever a row passes its margin, from minus twice the
    number of positives: the best one is where as many rows as there are positives have passed.
    """
    room = 0
    for i in range(len(ptr) - 1):
        room = max(room, ptr[i + 1] - ptr[i])
    passes = np.empty(room)
    total = 0.0
    for i in range(len(ptr) - 1):
        n = n_pos = 0
        for r in range(ptr[i], ptr[i + 1]):
            if y[r] != 0:
                passes[n] = margin[i] * y[r] - scores[r]
                n += 1
                n_pos += y[r] == 1
        intercept = smallest(passes, n, n_pos)
        for r in range(ptr[i], ptr[i + 1]):
            total += 2.0 * max(margin[i] * abs(y[r]) - y[r] * (scores[r] + intercept), 0.0)
    return total
