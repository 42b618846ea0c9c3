"""The quadratic program over the simplex against all its possible supports."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from smtl.kernels.simplex_qp import Face, Program, maximise
from tests.seeds import new_rng


def objective(K, scale, linear, alpha):
    return linear @ alpha - 0.5 * scale * alpha @ K @ alpha


def by_supports(K, scale, linear):
    """The largest objective, from the stationary point on every face of the simplex."""
    n, best = len(linear), -np.inf
    for size in range(1, n + 1):
        for support in map(list, itertools.combinations(range(n), size)):
            system = np.block([[scale * K[np.ix_(support, support)], np.ones((size, 1))], [np.ones((1, size)), 0.0]])
            solution = np.linalg.lstsq(system, np.append(linear[support], 1.0), rcond=1e-12)[0]
            alpha = np.zeros(n)
            alpha[support] = solution[:size]
            if alpha.min() >= -1e-12 and abs(alpha.sum() - 1.0) < 1e-9:
                best = max(best, objective(K, scale, linear, alpha))
    return best


def draw(rng, n):
    """Planes as in a bundle: the zero plane first, some twice, few features or many."""
    G = rng.normal(size=(n, int(rng.integers(1, 6)))) * 10.0 ** rng.choice([rng.uniform(-1, 1), -8.0])
    G[0] = 0.0
    if n > 2 and rng.random() < 0.3:
        G[-1] = G[1]
    linear = rng.normal(size=n) * 10.0 ** rng.uniform(-1, 1)
    linear[0] = 0.0
    alpha = rng.dirichlet(np.ones(n)) * (rng.random(n) < 0.7)
    alpha = alpha / alpha.sum() if alpha.sum() else np.eye(n)[0]
    return G @ G.T, 10.0 ** rng.uniform(-1, 1), linear, alpha


def lift(K, scale):
    """A number of the size of the diagonal."""
    return np.diag(K).max() or 1.0 / scale


def solve(K, scale, linear, alpha, tol, max_iter=100_000):
    """Solve in arrays with room to spare, as in a bundle; return weights and gradient."""
    n, room = len(linear), len(linear) + 3
    wide, weights, work = np.full((room, room), np.nan), np.full(room, np.nan), np.full((3, room), np.nan)
    wide[:n, :n], weights[:n] = K, alpha
    factor = np.full((room, room), np.nan)
    active = np.full(room, -1)
    program = Program(wide, scale, np.append(linear, [np.nan] * 3), n, tol, max_iter)
    n_active = maximise(program, Face(weights, lift(K, scale), factor, active), -1, work)
    assert np.isnan(weights[n:]).all()
    assert set(np.flatnonzero(weights[:n])) <= set(active[:n_active].tolist())
    return weights[:n], work[0, :n]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_as_large_as_on_any_face(n):
    rng = new_rng()
    for _ in range(100):
        K, scale, linear, start = draw(rng, n)
        size = 1.0 + np.abs(linear).max() + scale * np.abs(K).max()
        alpha, _ = solve(K, scale, linear, start, tol=1e-9 * size)
        assert alpha.min() >= 0.0
        assert alpha.sum() == pytest.approx(1.0, abs=1e-12)
        assert objective(K, scale, linear, alpha) == pytest.approx(by_supports(K, scale, linear), abs=1e-7 * size)


def test_as_good_as_scipy_with_more_planes():
    rng = new_rng()
    for _ in range(10):
        K, scale, linear, start = draw(rng, 12)
        size = 1.0 + np.abs(linear).max() + scale * np.abs(K).max()
        alpha, _ = solve(K, scale, linear, start, tol=1e-8 * size)
        found = minimize(
            lambda a, K=K, scale=scale, linear=linear, size=size: -objective(K, scale, linear, a) / size,
            np.full(12, 1 / 12),
            jac=lambda a, K=K, scale=scale, linear=linear, size=size: (scale * K @ a - linear) / size,
            bounds=[(0.0, 1.0)] * 12,
            constraints={"type": "eq", "fun": lambda a: a.sum() - 1.0, "jac": np.ones_like},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert objective(K, scale, linear, alpha) >= -size * found.fun - 1e-7 * size


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_the_tolerance_bounds_the_distance_to_the_maximum(tol):
    rng = new_rng()
    for _ in range(100):
        K, scale, linear, start = draw(rng, 4)
        alpha, gradient = solve(K, scale, linear, start, tol)
        size = 1.0 + np.abs(linear).max() + scale * np.abs(K).max()
        np.testing.assert_allclose(gradient, linear - scale * K @ alpha, atol=1e-9 * size)
        assert gradient.max() - gradient[alpha > 0].min() <= tol + 1e-9 * size
        assert objective(K, scale, linear, alpha) >= by_supports(K, scale, linear) - tol - 1e-9 * size


def test_a_call_that_goes_on_from_the_last_one():
    rng = new_rng()
    for _ in range(50):
        n = 8
        K, scale, linear, alpha = draw(rng, n)
        work, factor, active, n_active = np.empty((3, n)), np.empty((n, n)), np.empty(n, dtype=np.int64), -1
        t = lift(K, scale)
        for _ in range(6):  # the same planes, other offsets and another scale
            size = 1.0 + np.abs(linear).max() + scale * np.abs(K).max()
            afresh, _ = solve(K, scale, linear, alpha, tol=1e-9 * size)
            program = Program(K, scale, linear, n, 1e-9 * size, 100_000)
            n_active = maximise(program, Face(alpha, t, factor, active), n_active, work)
            np.testing.assert_allclose(
                objective(K, scale, linear, alpha), objective(K, scale, linear, afresh), atol=1e-7 * size
            )
            linear, scale = linear + 0.3 * rng.normal(size=n), scale * 2.0 ** rng.normal()


def test_never_worse_than_the_start_however_few_the_steps():
    rng = new_rng()
    for steps in (0, 1, 2, 5):
        for _ in range(20):
            K, scale, linear, start = draw(rng, 6)
            alpha, _ = solve(K, scale, linear, start, 0.0, max_iter=steps)
            size = 1.0 + np.abs(linear).max() + scale * np.abs(K).max()
            assert objective(K, scale, linear, alpha) >= objective(K, scale, linear, start) - 1e-12 * size
            if steps == 0:
                np.testing.assert_array_equal(alpha, start)


def test_one_step_between_two_planes_by_hand():
    # max 3 a - a^2/2 over a in [0, 1] clips; max a/2 - a^2/2 does not.
    K = np.diag([0.0, 1.0])
    assert solve(K, 1.0, np.array([0.0, 3.0]), np.array([1.0, 0.0]), 0.0)[0].tolist() == [0.0, 1.0]
    assert solve(K, 1.0, np.array([0.0, 0.5]), np.array([1.0, 0.0]), 0.0)[0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("scale", [1e-34, 1.0, 1e34])
def test_planes_without_slope(scale):
    # A linear program: all weight to the highest plane, at any scale of what is not there.
    assert solve(np.zeros((3, 3)), scale, np.array([0.0, 0.5, 0.2]), np.eye(3)[0], 1e-9)[0].tolist() == [0.0, 1.0, 0.0]
