"""How much to take of a new combination of planes; see `smtl.solvers.certificate`. One row a task."""

from __future__ import annotations

import numpy as np
from numba import njit

from smtl.kernels.norms import dual_norm

GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)


@njit(cache=True, nogil=True)
def mixed_bound(kind, with_values, C, roundoff, part, delta, G, new_delta, new_G, Z):
    """Return the bound with this part of the new combination, whose slopes are left in ``Z``."""
    d = 0.0
    for i in range(len(delta)):
        d += (1.0 - part) * delta[i] + part * new_delta[i]
    g, new_g, z = G.ravel(), new_G.ravel(), Z.ravel()
    for k in range(len(z)):
        z[k] = (1.0 - part) * g[k] + part * new_g[k]
    return C * max(d, 0.0) / max(C * dual_norm(kind, with_values, Z) * (1.0 + roundoff), 1.0)


@njit(cache=True, nogil=True)
def mix(n, kind, with_values, C, roundoff, bound, delta, G, new_delta, new_G):
    """Mix a part of the new combination into ``delta`` and ``G``, in place, and return the bound, which never falls.

    With the part, bounds rise and then fall, so that its best value is found by golden section, of ``n`` steps.
    """
    Z = np.empty(G.shape)
    best, part = mixed_bound(kind, with_values, C, roundoff, 1.0, delta, G, new_delta, new_G, Z), 1.0
    low, high = 0.0, 1.0
    left = right = 0.0
    at_left = at_right = -1.0
    for _ in range(n):
        if at_left < 0.0:
            left = high - GOLDEN * (high - low)
            at_left = mixed_bound(kind, with_values, C, roundoff, left, delta, G, new_delta, new_G, Z)
            if at_left > best:
                best, part = at_left, left
        if at_right < 0.0:
            right = low + GOLDEN * (high - low)
            at_right = mixed_bound(kind, with_values, C, roundoff, right, delta, G, new_delta, new_G, Z)
            if at_right > best:
                best, part = at_right, right
        if at_left < at_right:
            low, left, at_left, at_right = left, right, at_right, -1.0
        else:
            high, right, at_right, at_left = right, left, at_left, -1.0
    if best <= bound:
        return bound
    mixed_bound(kind, with_values, C, roundoff, part, delta, G, new_delta, new_G, Z)
    for i in range(len(delta)):
        delta[i] = (1.0 - part) * delta[i] + part * new_delta[i]
    G[:] = Z
    return best
