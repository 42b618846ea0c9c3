"""The ridge and elastic penalties against closed forms and numerical optimisation."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

from smtl.penalties import L11, L21, Elastic, Norm, Penalty, Ridge, Trace

BASES = [L11(), L21(), Trace(), Ridge()]


class NotANorm(Penalty):
    """The row norm with nothing to show that it is one: every general formula is used."""

    def value(self, W):
        return L21().value(W)

    def prox(self, M, step):
        return L21().prox(M, step)

    def conjugate(self, Z):
        return L21().conjugate(Z)


def best_by_search(penalty, Z, d):
    found = minimize_scalar(
        lambda s: penalty.conjugate(s * Z) - s * d,
        bounds=(0.0, 1.0),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return max(0.0, -found.fun, d - penalty.conjugate(Z))


def test_ridge_by_hand():
    W = np.array([[1.0, -2.0], [2.0, 0.0]])
    assert Ridge().value(W) == 4.5
    assert Ridge().conjugate(W) == 4.5
    np.testing.assert_array_equal(Ridge().prox(W, 1.0), W / 2.0)


@pytest.mark.parametrize(("d", "bound", "s"), [(-1.0, 0.0, 0.0), (4.5, 1.125, 0.5), (9.0, 4.5, 1.0), (20.0, 15.5, 1.0)])
def test_ridge_bound_by_hand(d, bound, s):
    got = Ridge().lower_bound(np.array([[1.0, -2.0], [2.0, 0.0]]), d)
    assert got == pytest.approx((bound, s), rel=1e-12)
    assert got[0] <= bound


@pytest.mark.parametrize("base", BASES, ids=repr)
@pytest.mark.parametrize("ridge", [0.1, 3.0])
def test_prox_is_not_beaten_by_a_numerical_minimiser(base, ridge):
    penalty = Elastic(base, ridge)
    M = np.random.default_rng(0).standard_normal((3, 2))

    def objective(w):
        W = w.reshape(M.shape)
        return 0.5 * base.value(W) + 0.25 * ridge * np.sum(W**2) + 0.5 * np.sum((W - M) ** 2)

    p = penalty.prox(M, 0.5)
    found = minimize(objective, M.ravel(), method="Powell", options={"xtol": 1e-6, "ftol": 1e-12})
    assert objective(p.ravel()) <= found.fun + 1e-9


@pytest.mark.parametrize("base", BASES, ids=repr)
@pytest.mark.parametrize("ridge", [0.1, 3.0])
def test_conjugate_is_the_largest_that_a_numerical_maximiser_finds(base, ridge):
    penalty = Elastic(base, ridge)
    Z = 2.0 * np.random.default_rng(1).standard_normal((3, 2))

    def negative(w):
        W = w.reshape(Z.shape)
        return base.value(W) + 0.5 * ridge * np.sum(W**2) - np.sum(Z * W)

    found = minimize(negative, Z.ravel(), method="Powell", options={"xtol": 1e-7, "ftol": 1e-13, "maxfev": 20000})
    assert penalty.conjugate(Z) == pytest.approx(-found.fun, rel=1e-5)
    assert penalty.conjugate(Z) >= -found.fun - 1e-9


@pytest.mark.parametrize("ridge", [1e-3, 1.0, 50.0])
def test_conjugates_in_closed_form(ridge):
    Z = 3.0 * np.random.default_rng(2).standard_normal((5, 4))
    assert Elastic(Ridge(), ridge).conjugate(Z) == pytest.approx(np.sum(Z**2) / (2.0 * (1.0 + ridge)))
    for norm in (L11(), L21(), Trace()):
        p = norm.prox(Z / ridge, 1.0 / ridge)
        assert Elastic(norm, ridge).conjugate(Z) == pytest.approx(0.5 * ridge * np.sum(p**2))
    assert Elastic(NotANorm(), ridge).conjugate(Z) == pytest.approx(Elastic(L21(), ridge).conjugate(Z))


@pytest.mark.parametrize("base", [*BASES, NotANorm()], ids=repr)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    scale=st.floats(-2.0, 3.0).map(lambda e: 10.0**e),
    d=st.floats(-3.0, 4.0).map(lambda e: 10.0**e),
    ridge=st.floats(-3.0, 2.0).map(lambda e: 10.0**e),
)
def test_bound_is_the_maximum_over_s(base, seed, scale, d, ridge):
    penalty = Elastic(base, ridge)
    Z = scale * np.random.default_rng(seed).standard_normal((4, 3))
    bound, s = penalty.lower_bound(Z, d)
    assert 0.0 <= s <= 1.0
    assert bound <= s * d - penalty.conjugate(s * Z)
    assert bound >= best_by_search(penalty, Z, d) * (1.0 - 1e-9)


@pytest.mark.parametrize("d", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e9])
def test_general_bound_agrees_with_that_of_a_norm(d, scale):
    Z = scale * np.random.default_rng(3).standard_normal((4, 3))
    general, s = NotANorm().lower_bound(Z, d)
    exact, s_exact = L21().lower_bound(Z, d)
    assert not isinstance(NotANorm(), Norm)
    assert (general, s) == pytest.approx((exact, s_exact), rel=1e-11)
    assert L21().conjugate(s * Z) == 0.0
    assert NotANorm().lower_bound(Z, -d) == (0.0, 0.0)


def test_general_bound_is_zero_where_no_scale_is_feasible():
    class Free(NotANorm):
        def conjugate(self, Z):
            return np.inf if Z.any() else 0.0

    assert Free().lower_bound(np.ones((2, 2)), 1.0) == (0.0, 0.0)


@pytest.mark.parametrize("base", BASES, ids=repr)
def test_prox_is_in_c_order(base):
    M = np.random.default_rng(0).standard_normal((3, 7))
    for penalty in (base, Elastic(base, 0.5), Elastic(base, np.float64(0.5))):
        assert penalty.prox(M, np.float64(0.5)).flags.c_contiguous


@pytest.mark.parametrize("ridge", [0.0, -1.0, np.nan, np.inf, "1", None])
def test_ridge_must_be_positive_and_finite(ridge):
    with pytest.raises(ValueError, match=r"ridge must be a finite number > 0, got .* instead\."):
        Elastic(L21(), ridge)


def test_base_must_be_a_penalty():
    with pytest.raises(TypeError, match=r"penalty must be an instance of smtl.penalties.Penalty, got 'l21' instead"):
        Elastic("l21", 1.0)


@pytest.mark.parametrize("penalty", [*BASES, Elastic(Trace(), 0.5), Elastic(Elastic(L11(), 1.0), 2.0)], ids=repr)
def test_copies_are_the_same_penalty(penalty):
    W = np.random.default_rng(0).standard_normal((4, 3))
    for other in (pickle.loads(pickle.dumps(penalty)), copy.deepcopy(penalty), eval(repr(penalty))):
        assert repr(other) == repr(penalty)
        assert other.value(W) == penalty.value(W)
