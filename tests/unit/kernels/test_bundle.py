"""The bundle of planes against lists of planes, and its W-step against scipy."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from smtl.kernels import bundle
from tests.seeds import new_rng

M, D, ROOM = 3, 4, 30


def empty():
    """A bundle that holds the true answer's plane only, and two mixtures of it."""
    planes = bundle.Planes(
        np.zeros((M, ROOM, D)),
        np.zeros((M, ROOM)),
        np.zeros((M, ROOM, ROOM)),
        np.zeros((M, ROOM), dtype=np.int64),
        np.ones(M, dtype=np.int64),
    )
    mixtures = tuple(
        bundle.Mixture(
            np.eye(ROOM)[:1].repeat(M, axis=0),
            np.empty(M),
            np.empty((M, ROOM, ROOM)),
            np.zeros((M, ROOM), dtype=np.int64),
            np.full(M, -1),
        )
        for _ in range(2)
    )
    return planes, mixtures


def assert_gram(planes):
    G, gram = planes.G, planes.gram
    for i, n in enumerate(planes.size):
        np.testing.assert_allclose(gram[i, :n, :n], G[i, :n] @ G[i, :n].T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("keep", [0, 1, 3, 100])
def test_add_and_forget_as_a_list_would(keep):
    rng = new_rng()
    kept, mixtures = empty()
    G, delta, _, age, size = kept
    # The twin: for each task, planes as [offset, slope, weights, passes without weight].
    twin = [[[0.0, np.zeros(D), (1.0, 1.0), 0]] for _ in range(M)]
    dropped = 0
    for _ in range(25):
        offsets = [[delta[i, each.active[i, : each.n_active[i]]] for i in range(M)] for each in mixtures]
        bundle.forget(keep, kept, mixtures)
        for (a, each), i in product(enumerate(mixtures), range(M)):
            # The active planes are the same ones, wherever they are now; unless one of them is gone.
            if set(offsets[a][i]) <= set(delta[i, : size[i]]):
                np.testing.assert_array_equal(delta[i, each.active[i, : each.n_active[i]]], offsets[a][i])
            else:
                assert each.n_active[i] == -1
        for i, planes in enumerate(twin):
            for plane in planes[1:]:
                plane[3] = 0 if max(plane[2]) > 0 else plane[3] + 1
            twin[i] = planes[:1] + [plane for plane in planes[1:] if plane[3] <= keep]
            dropped += len(planes) - len(twin[i])
        new_G, new_delta = rng.normal(size=(M, D)), rng.normal(size=M)
        bundle.add(new_G, new_delta, kept, mixtures)
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
                assert (delta[i, k], *(each.alpha[i, k] for each in mixtures)) == (offset, *weights)
                assert k == 0 or age[i, k] == passes
            for each in mixtures:
                each.alpha[i, :n] = rng.dirichlet(np.ones(n)) * (rng.random(n) < 0.2)
                chosen = rng.permutation(np.flatnonzero((each.alpha[i, :n] > 0) | (rng.random(n) < 0.05)))
                each.active[i, : len(chosen)], each.n_active[i] = chosen, len(chosen)
            for k in range(n):
                by_offset[delta[i, k]][2] = tuple(each.alpha[i, k] for each in mixtures)
        assert_gram(kept)
    assert dropped > 0 or keep == 100


def test_the_first_plane_and_those_with_weight_stay():
    kept, mixtures = empty()
    G, delta, gram, _, size = kept
    rng = new_rng()
    for offset in (1.0, 2.0, 3.0, 4.0):
        bundle.add(rng.normal(size=(M, D)), np.full(M, offset), kept, mixtures)
    mixtures[0].alpha[:, :5] = [0.0, 1.0, 0.0, 0.0, 0.0]
    mixtures[1].alpha[:, :5] = [0.0, 0.5, 0.0, 0.5, 0.0]
    before = G.copy()
    bundle.forget(0, kept, mixtures)
    assert size.tolist() == [3] * M
    for i in range(M):
        assert delta[i, 0] == 0.0
        assert sorted(delta[i, 1:3]) == [1.0, 3.0]
        np.testing.assert_array_equal(G[i, 1], before[i, int(delta[i, 1])])
        assert mixtures[1].alpha[i, :3].tolist() == [0.0, 0.5, 0.5]
    assert_gram(kept)
    assert np.isfinite(gram).all()


def random_bundle(rng, n):
    planes, mixtures = empty()
    for _ in range(n - 1):
        bundle.add(rng.normal(size=(M, D)), np.abs(rng.normal(size=M)), planes, mixtures)
    return planes, mixtures


def run(rng, n, C, mu, tol):
    planes, mixtures = random_bundle(rng, n)
    B, answer = rng.normal(size=(M, D)), bundle.Answer(np.empty((M, D)), np.empty((M, D)), np.empty(M))
    bundle.w_step(B, C, mu, tol, answer, planes, mixtures[1])
    return planes, mixtures[1].alpha, B, *answer


def primal(G, delta, w, b, C, mu):
    return C * np.max(delta - G @ w) + 0.5 * mu * np.sum((w - b) ** 2)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_w_step_minimises(n):
    rng = new_rng()
    for _ in range(8):
        C, mu = 10.0 ** rng.uniform(-1, 1, 2)
        kept, alpha, B, W, mixed, mixed_delta = run(rng, n, C, mu, tol=1e-9 * C)
        for i in range(M):
            planes, offsets, weights = kept.G[i, :n], kept.delta[i, :n], alpha[i, :n]
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
        kept, _, B, W, mixed, mixed_delta = run(rng, 8, C, mu, tol)
        for i in range(M):
            G, delta = kept.G[i, :8], kept.delta[i, :8]
            bound = C * (mixed_delta[i] - B[i] @ mixed[i]) - 0.5 * C * C / mu * mixed[i] @ mixed[i]
            assert -1e-9 <= primal(G, delta, W[i], B[i], C, mu) - bound <= tol + 1e-9


def test_highest():
    rng = new_rng()
    planes, _ = random_bundle(rng, 9)
    W = rng.normal(size=(M, D))
    expected = sum(np.max(planes.delta[i, :9] - planes.G[i, :9] @ W[i]) for i in range(M))
    assert bundle.highest(W, planes) == pytest.approx(expected)


def test_dot():
    rng = new_rng()
    for n in (0, 1, 7, 1000):
        a, b = rng.normal(size=(2, n))
        assert bundle.dot(a, b) == pytest.approx(a @ b, abs=1e-10)
