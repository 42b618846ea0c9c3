"""The minimum of a penalty and a quadratic model, against a general solver."""

import cvxpy as cp
import numpy as np
import pytest

from smtl.kernels import newton, norms
from smtl.solvers.compiled import with_values

PENALTIES = {
    "nothing": lambda W: 0.0,
    "entries": lambda W: cp.sum(cp.abs(W)),
    "features": lambda W: cp.sum(cp.norm(W, axis=0)),
    "values": lambda W: cp.normNuc(W),
}


@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_the_minimum(name, ridge):
    rng = np.random.default_rng()
    m, d, C, nu = 3, 4, 2.0, 1.0
    roots = rng.normal(size=(m, 8, d))
    H = np.einsum("ikf,ikg->ifg", roots, roots) / 8.0
    W, G = rng.normal(size=(2, m, d))
    S, U = W.copy(), np.zeros((m, d))
    kind = norms.NUMBERS[name]
    inverse = np.linalg.inv(H + nu * np.eye(d))
    newton.minimum(5000, 0.0, kind, with_values(kind), ridge, C, W.copy(), G, inverse, nu, S, U)

    V = cp.Variable((m, d))
    objective = PENALTIES[name](V) + 0.5 * ridge * cp.sum_squares(V)
    for i in range(m):
        move = V[i] - W[i]
        objective += C * (0.5 * cp.sum_squares(roots[i] / np.sqrt(8.0) @ move) - G[i] @ move)
    best = cp.Problem(cp.Minimize(objective)).solve()
    V.value = S
    assert float(objective.value) == pytest.approx(best, rel=1e-4, abs=1e-4)
