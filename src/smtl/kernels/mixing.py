"""How much to take of a new combination of planes; see `smtl.solvers.certificate`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from smtl.kernels import formulas
from smtl.kernels.bundle import Float

GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)


class Ball(NamedTuple):
    """The dual unit ball of a norm, in which C times the slopes must be."""

    dual_norm: int  # its address
    C: float
    roundoff: float  # the part of the dual norm that rounding may have taken away


class Combination(NamedTuple):
    """One convex combination of planes per task."""

    delta: Float  # (n_tasks,)
    G: Float  # (n_tasks, n_features)


@njit(cache=True, nogil=True)
def mixed_bound(part, ball, old, new, Z):
    """Return the bound with this part of the new combination, whose slopes are left in ``Z``."""
    d = 0.0
    for i in range(len(old.delta)):
        d += (1.0 - part) * old.delta[i] + part * new.delta[i]
    g, new_g, z = old.G.ravel(), new.G.ravel(), Z.ravel()
    largest = 0.0
    for k in range(len(z)):
        z[k] = (1.0 - part) * g[k] + part * new_g[k]
        largest = max(largest, abs(z[k]))
    dual_norm = formulas.size(ball.dual_norm, Z)
    if not (dual_norm > 0.0 or largest == 0.0):
        return 0.0  # the formula has failed: nothing is known
    return ball.C * max(d, 0.0) / max(ball.C * dual_norm * (1.0 + ball.roundoff), 1.0)


@njit(cache=True, nogil=True)
def mix(n, ball, bound, old, new):
    """Mix a part of the new combination into the old one, in place, and return the bound, which never falls.

    With the part, bounds rise and then fall, so that its best value is found by golden section, of ``n`` steps.
    """
    Z = np.empty(old.G.shape)
    best, part = mixed_bound(1.0, ball, old, new, Z), 1.0
    low, high = 0.0, 1.0
    left = right = 0.0
    at_left = at_right = -1.0
    for _ in range(n):
        if at_left < 0.0:
            left = high - GOLDEN * (high - low)
            at_left = mixed_bound(left, ball, old, new, Z)
            if at_left > best:
                best, part = at_left, left
        if at_right < 0.0:
            right = low + GOLDEN * (high - low)
            at_right = mixed_bound(right, ball, old, new, Z)
            if at_right > best:
                best, part = at_right, right
        if at_left < at_right:
            low, left, at_left, at_right = left, right, at_right, -1.0
        else:
            high, right, at_right, at_left = right, left, at_left, -1.0
    if best <= bound:
        return bound
    mixed_bound(part, ball, old, new, Z)
    for i in range(len(old.delta)):
        old.delta[i] = (1.0 - part) * old.delta[i] + part * new.delta[i]
    g, z = old.G.ravel(), Z.ravel()
    for k in range(len(z)):  # an assignment to a slice takes seconds to compile
        g[k] = z[k]
    return best
