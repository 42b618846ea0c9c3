"""The norms against hand computations, known formulas and a numerical minimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.optimize import minimize

from smtl.penalties import L11, L21, Trace
from tests.seeds import new_rng

NORMS = [L11(), L21(), Trace()]


def matrices(largest=1e3):
    shapes = array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6)
    return arrays(np.float64, shapes, elements=st.floats(-largest, largest, allow_subnormal=False))


def prox_by_svd(M, step):
    U, values, Vt = np.linalg.svd(M, full_matrices=False)
    return (U * np.maximum(values - step, 0.0)) @ Vt


def with_singular_values(rng, shape, values):
    k = min(shape)
    U = np.linalg.qr(rng.standard_normal((shape[0], k)))[0]
    V = np.linalg.qr(rng.standard_normal((shape[1], k)))[0]
    return (U * values) @ V.T


@pytest.mark.parametrize(
    ("norm", "value", "dual"),
    [(L11(), 11.2, 4.0), (L21(), 8.0, 5.0), (Trace(), 8.0, 5.0)],
    ids=repr,
)
def test_by_hand(norm, value, dual):
    # The columns are orthogonal, so that their norms 5, 3 and 0 are the singular values too.
    W = np.array([[3.0, -2.4, 0.0], [4.0, 1.8, 0.0]])
    assert norm.value(W) == pytest.approx(value)
    assert norm.dual_norm(W) == pytest.approx(dual)
    assert norm.conjugate(W / (1.001 * dual)) == 0.0
    assert norm.conjugate(W / (0.999 * dual)) == np.inf


@pytest.mark.parametrize(
    ("norm", "expected"),
    [
        (L11(), [[1.0, 2.0], [-0.4, 0.0], [0.0, 0.0]]),
        (L21(), [[1.8, 2.4], [-0.8, 0.6], [0.0, 0.0]]),
        (Trace(), [[1.8, 2.4], [-0.8, 0.6], [0.0, 0.0]]),
    ],
    ids=repr,
)
def test_prox_by_hand(norm, expected):
    M = np.array([[3.0, -2.4, 0.0], [4.0, 1.8, 0.0]])
    np.testing.assert_allclose(norm.prox(M, 2.0), np.transpose(expected), atol=1e-14)


@pytest.mark.parametrize("norm", NORMS, ids=repr)
@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (4, 1), (1, 4)])
def test_prox_is_not_beaten_by_a_numerical_minimiser(norm, shape):
    rng = np.random.default_rng(0)
    M = rng.standard_normal(shape)
    step = 0.6

    def objective(w):
        W = w.reshape(shape)
        return step * norm.value(W) + 0.5 * np.sum((W - M) ** 2)

    p = norm.prox(M, step)
    found = minimize(objective, M.ravel(), method="Powell", options={"xtol": 1e-6, "ftol": 1e-12})
    assert objective(p.ravel()) <= found.fun + 1e-9
    # And it is the minimiser, not only a point as good: the objective is strongly convex.
    assert 0.5 * np.sum((found.x.reshape(shape) - p) ** 2) <= found.fun - objective(p.ravel()) + 1e-9


@pytest.mark.parametrize("norm", NORMS, ids=repr)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_is_a_norm(norm, data):
    A = data.draw(matrices())
    B = data.draw(arrays(np.float64, A.shape, elements=st.floats(-1e3, 1e3, allow_subnormal=False)))
    tolerance = 1e-9 * (1.0 + np.abs(A).sum() + np.abs(B).sum())
    assert norm.value(A + B) <= norm.value(A) + norm.value(B) + tolerance
    assert norm.value(-3.0 * A) == pytest.approx(3.0 * norm.value(A), abs=tolerance)
    assert np.sum(A * B) <= norm.value(A) * norm.dual_norm(B) + tolerance * (1.0 + np.abs(B).max())
    assert (norm.value(A) > 0.0) == bool(A.any()) or np.abs(A).max() < 1e-100


@pytest.mark.parametrize("norm", NORMS, ids=repr)
@settings(max_examples=30, deadline=None)
@given(M=matrices(), step=st.floats(1e-3, 1e3))
def test_prox_shrinks_the_spectrum_by_the_step(norm, M, step):
    got = np.sort(norm.spectrum(norm.prox(M, step)))
    expected = np.sort(np.maximum(norm.spectrum(M) - step, 0.0))
    np.testing.assert_allclose(got, expected, atol=1e-9 * (1.0 + np.abs(M).max()))


@pytest.mark.parametrize("norm", NORMS, ids=repr)
def test_bound_is_feasible_despite_rounding(norm):
    # Without the allowance, s = 1 / dual_norm leaves the ball in 3 % (l21) and 17 % (trace) of such draws.
    rng = new_rng()
    for _ in range(200):
        Z = rng.standard_normal((5, 3)) * 10.0 ** rng.uniform(0.5, 6.0)
        bound, s = norm.lower_bound(Z, 2.0)
        assert norm.dual_norm(s * Z) <= 1.0
        assert bound <= 2.0 / norm.dual_norm(Z)
        assert bound == pytest.approx(min(2.0, 2.0 / norm.dual_norm(Z)), rel=1e-12)


@pytest.mark.parametrize("norm", NORMS, ids=repr)
def test_bound_inside_the_ball_and_at_its_edges(norm):
    Z = np.full((3, 2), 0.1)
    assert norm.lower_bound(Z, 2.0) == (2.0, 1.0)
    assert norm.lower_bound(Z, -2.0) == (0.0, 0.0)
    assert norm.lower_bound(np.zeros((3, 2)), 2.0) == (2.0, 1.0)


@pytest.mark.parametrize("norm", NORMS, ids=repr)
@pytest.mark.parametrize("shape", [(7, 3), (3, 7)])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("step", [1e-9, 0.5, 1e3, np.float64(0.5)])
def test_prox_is_a_new_array_in_c_order(norm, shape, order, step):
    M = np.array(np.random.default_rng(0).standard_normal(shape), order=order)
    p = norm.prox(M, step)
    assert p.dtype == np.float64
    assert p.flags.c_contiguous
    assert not np.shares_memory(p, M)


@pytest.mark.parametrize("norm", NORMS, ids=repr)
@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (4, 9), (9, 4), (5, 5)])
@pytest.mark.parametrize("size", [1e-150, 1e-3, 1.0, 1e150])
def test_dual_norm_is_the_largest_of_the_spectrum(norm, shape, size):
    Z = size * new_rng().normal(size=shape)
    assert norm.dual_norm(Z) == pytest.approx(norm.spectrum(Z).max(), rel=1e-12)


@pytest.mark.parametrize("norm", NORMS, ids=repr)
def test_zero_matrix_and_zero_step(norm):
    zero = np.zeros((4, 3))
    with np.errstate(all="raise"):
        assert not norm.prox(zero, 1.0).any()
        assert not norm.prox(zero, 0.0).any()
        assert norm.dual_norm(zero) == 0.0
    M = np.random.default_rng(0).standard_normal((4, 3))
    np.testing.assert_allclose(norm.prox(M, 0.0), M, atol=1e-14)


@pytest.mark.parametrize("shape", [(103, 14), (14, 103), (20, 20)])
@pytest.mark.parametrize("smallest", [0.5, 1e-4, 1e-8, 1e-14])
@pytest.mark.parametrize("step", [0.3, 1e-2, 2e-4, 1e-5, 1e-9])
def test_trace_prox_agrees_with_svd(shape, smallest, step):
    rng = np.random.default_rng(0)
    M = with_singular_values(rng, shape, np.geomspace(1.0, smallest, min(shape)))
    np.testing.assert_allclose(Trace().prox(M, step), prox_by_svd(M, step), rtol=0.0, atol=2e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e-120, 1e-6, 1e6, 1e120, 1e149])
def test_trace_prox_at_any_scale(scale):
    M = np.random.default_rng(0).standard_normal((9, 4)) * scale
    np.testing.assert_allclose(Trace().prox(M, scale), prox_by_svd(M, scale), rtol=0.0, atol=1e-13 * scale)
    assert Trace().dual_norm(M) == pytest.approx(np.linalg.norm(M / scale, 2) * scale, rel=1e-13)


def test_trace_value_of_low_rank_weights_is_exact():
    # A Gram matrix gives 1e-8 for each of the eleven zeros.
    values = np.r_[1.0, 1.0, 1.0, np.zeros(11)]
    W = with_singular_values(np.random.default_rng(0), (103, 14), values)
    assert Trace().value(W) == pytest.approx(3.0, rel=1e-13)
