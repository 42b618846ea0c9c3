"""The bundle of planes against lists of planes, and its W-step against scipy."""

import numpy as np
import pytest
from scipy.optimize import minimize

from smtl.kernels import bundle
from tests.seeds import new_rng

M, D, ROOM = 3, 4, 30


def empty():
    """Arrays of a bundle that holds the true answer's plane only."""
    arrays = [np.zeros((M, ROOM, D)), np.zeros((M, ROOM)), np.zeros((M, ROOM, ROOM)), np.zeros((2, M, ROOM))]
    arrays.append(np.zeros((M, ROOM), dtype=np.int64))
    arrays[3][:, :, 0] = 1.0
    return arrays, np.ones(M, dtype=np.int64)


def assert_gram(arrays, size):
    G, _, gram, _, _ = arrays
    for i, n in enumerate(size):
        np.testing.assert_allclose(gram[i, :n, :n], G[i, :n] @ G[i, :n].T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("keep", [0, 1, 3, 100])
def test_add_and_forget_as_a_list_would(keep):
    rng = new_rng()
    arrays, size = empty()
    G, delta, _, alpha, age = arrays
    # The twin: for each task, planes as [offset, slope, weights, passes without weight].
    twin = [[[0.0, np.zeros(D), (1.0, 1.0), 0]] for _ in range(M)]
    dropped = 0
    active, n_active = np.zeros((2, M, ROOM), dtype=np.int64), np.full((2, M), -1)
    for _ in range(25):
        offsets = [[delta[i, active[a, i, : n_active[a, i]]] for i in range(M)] for a in range(2)]
        bundle.forget(keep, *arrays, size, active, n_active)
        for a, i in np.ndindex(2, M):
            # The active planes are the same ones, wherever they are now; unless one of them is gone.
            if set(offsets[a][i]) <= set(delta[i, : size[i]]):
                np.testing.assert_array_equal(delta[i, active[a, i, : n_active[a, i]]], offsets[a][i])
            else:
                assert n_active[a, i] == -1
        for i, planes in enumerate(twin):
            for plane in planes[1:]:
                plane[3] = 0 if max(plane[2]) > 0 else plane[3] + 1
            twin[i] = planes[:1] + [plane for plane in planes[1:] if plane[3] <= keep]
            dropped += len(planes) - len(twin[i])
        new_G, new_delta = rng.normal(size=(M, D)), rng.normal(size=M)
        # As the solver passes it: the transpose of an array in Fortran order.
        bundle.add(np.asfortranarray(new_G.T).T, new_delta, *arrays, size)
        for i, planes in enumerate(twin):
            planes.append([new_delta[i], new_G[i], (0.0, 0.0), 0])
            assert size[i] == len(planes)
            n = size[i]
            # Distinct offsets tell the planes apart; their order does not matter, but for the first.
            by_offset = {plane[0]: plane for plane in planes}
            assert sorted(delta[i, :n]) == sorted(by_offset)
            assert delta[i, 0] == 0.0
            for k in range(n):
                offset, slope, weights, passes = by_offset[delta[i, k]]
                np.testing.assert_array_equal(G[i, k], slope)
                assert (delta[i, k], *alpha[:, i, k]) == (offset, *weights)
                assert k == 0 or age[i, k] == passes
            alpha[:, i, :n] = rng.dirichlet(np.ones(n), size=2) * (rng.random((2, n)) < 0.2)
            for k in range(n):
                by_offset[delta[i, k]][2] = tuple(alpha[:, i, k])
            for a in range(2):
                chosen = rng.permutation(np.flatnonzero((alpha[a, i, :n] > 0) | (rng.random(n) < 0.05)))
                active[a, i, : len(chosen)], n_active[a, i] = chosen, len(chosen)
        assert_gram(arrays, size)
    assert dropped > 0 or keep == 100


def test_the_first_plane_and_those_with_weight_stay():
    arrays, size = empty()
    G, delta, gram, alpha, _ = arrays
    rng = new_rng()
    for offset in (1.0, 2.0, 3.0, 4.0):
        bundle.add(rng.normal(size=(M, D)), np.full(M, offset), *arrays, size)
    alpha[0, :, :5] = [0.0, 1.0, 0.0, 0.0, 0.0]
    alpha[1, :, :5] = [0.0, 0.5, 0.0, 0.5, 0.0]
    before = G.copy()
    bundle.forget(0, *arrays, size, np.empty((2, M, ROOM), dtype=np.int64), np.full((2, M), -1))
    assert size.tolist() == [3] * M
    for i in range(M):
        assert delta[i, 0] == 0.0
        assert sorted(delta[i, 1:3]) == [1.0, 3.0]
        np.testing.assert_array_equal(G[i, 1], before[i, int(delta[i, 1])])
        assert alpha[1, i, :3].tolist() == [0.0, 0.5, 0.5]
    assert_gram(arrays, size)
    assert np.isfinite(gram).all()


def random_bundle(rng, n):
    arrays, size = empty()
    for _ in range(n - 1):
        bundle.add(rng.normal(size=(M, D)), np.abs(rng.normal(size=M)), *arrays, size)
    return arrays, size


def run(rng, n, C, mu, tol):
    arrays, size = random_bundle(rng, n)
    G, delta, gram, alpha, _ = arrays
    B, W, mixed, mixed_delta = rng.normal(size=(M, D)), np.empty((M, D)), np.empty((M, D)), np.empty(M)
    alone = np.empty(M), np.empty((M, ROOM, ROOM)), np.empty((M, ROOM), dtype=np.int64), np.full(M, -1)
    bundle.w_step(B, C, mu, tol, W, mixed, mixed_delta, G, delta, gram, alpha[1], size, *alone)
    return arrays, B, W, mixed, mixed_delta


def primal(G, delta, w, b, C, mu):
    return C * np.max(delta - G @ w) + 0.5 * mu * np.sum((w - b) ** 2)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_w_step_minimises(n):
    rng = new_rng()
    for _ in range(8):
        C, mu = 10.0 ** rng.uniform(-1, 1, 2)
        arrays, B, W, mixed, mixed_delta = run(rng, n, C, mu, tol=1e-9 * C)
        G, delta, _, alpha, _ = arrays
        for i in range(M):
            planes, offsets, weights = G[i, :n], delta[i, :n], alpha[1, i, :n]
            assert weights.min() >= 0.0
            assert weights.sum() == pytest.approx(1.0, abs=1e-12)
            np.testing.assert_allclose(mixed[i], weights @ planes, atol=1e-12)
            assert mixed_delta[i] == pytest.approx(weights @ offsets, abs=1e-12)
            got = primal(planes, offsets, W[i], B[i], C, mu)
            # Another formulation, another solver: the least t + mu/2 |w - b|^2 with t above all planes.
            start = np.append(B[i], C * np.max(offsets - planes @ B[i]))
            found = minimize(
                lambda v, i=i, B=B, mu=mu: v[-1] + 0.5 * mu * np.sum((v[:-1] - B[i]) ** 2),
                start,
                jac=lambda v, i=i, B=B, mu=mu: np.append(mu * (v[:-1] - B[i]), 1.0),
                constraints={
                    "type": "ineq",
                    "fun": lambda v, p=planes, o=offsets, C=C: v[-1] - C * (o - p @ v[:-1]),
                    "jac": lambda v, p=planes, C=C: np.hstack([C * p, np.ones((len(p), 1))]),
                },
                method="SLSQP",
                options={"ftol": 1e-13, "maxiter": 500},
            )
            best = primal(planes, offsets, found.x[:-1], B[i], C, mu)
            assert got <= best + 1e-6 * (1.0 + best)
            # And from below: no mixture of planes is above the minimum.
            bound = C * (mixed_delta[i] - B[i] @ mixed[i]) - 0.5 * C * C / mu * mixed[i] @ mixed[i]
            assert bound == pytest.approx(got, abs=1e-6 * (1.0 + abs(got)))


@pytest.mark.parametrize("tol", [1e-1, 1e-3])
def test_w_step_is_within_its_tolerance(tol):
    rng = new_rng()
    for _ in range(20):
        C, mu = 10.0 ** rng.uniform(-1, 1, 2)
        arrays, B, W, mixed, mixed_delta = run(rng, 8, C, mu, tol)
        for i in range(M):
            G, delta = arrays[0][i, :8], arrays[1][i, :8]
            bound = C * (mixed_delta[i] - B[i] @ mixed[i]) - 0.5 * C * C / mu * mixed[i] @ mixed[i]
            assert -1e-9 <= primal(G, delta, W[i], B[i], C, mu) - bound <= tol + 1e-9


def test_highest():
    rng = new_rng()
    arrays, size = random_bundle(rng, 9)
    W = rng.normal(size=(M, D))
    expected = sum(np.max(arrays[1][i, :9] - arrays[0][i, :9] @ W[i]) for i in range(M))
    assert bundle.highest(W, *arrays[:2], size) == pytest.approx(expected)


def test_dot():
    rng = new_rng()
    for n in (0, 1, 7, 1000):
        a, b = rng.normal(size=(2, n))
        assert bundle.dot(a, b) == pytest.approx(a @ b, abs=1e-10)
