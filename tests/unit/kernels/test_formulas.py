"""The formulas of penalties in compiled loops, against a penalty that has to be called each time."""

import numpy as np
import pytest

from smtl.kernels import formulas
from smtl.metrics import AUC, F1
from smtl.penalties import L11, L21, Elastic, Kernel, Ridge, Trace
from smtl.solvers import Problem, solve
from smtl.solvers.certificate import Certificate
from smtl.solvers.master import Master
from smtl.solvers.planes import Bundle
from smtl.tasks import SharedRows
from smtl.testing import check_penalty
from tests.seeds import new_rng


def draw(rng, metric, penalty):
    X = rng.normal(size=(40, 6))
    Y = np.where(X @ rng.normal(size=(6, 3)) + rng.normal(size=(40, 3)) > 0, 1, -1).astype(np.int8)
    Y[0], Y[1] = 1, -1
    return Problem(SharedRows(X, Y), metric, penalty, with_intercept=True), 10.0 ** rng.uniform(0, 2)


def own(penalty):
    """The same penalty, of which the solver cannot know that it is."""

    class Own(type(penalty)):
        pass

    twin = Own.__new__(Own)
    twin.__dict__.update(vars(penalty))
    return twin


PENALTIES = [L11(), L21(), Trace(), Ridge(), Elastic(L21(), 0.3), Elastic(Trace(), 2.0), Elastic(Ridge(), 0.5)]


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_compiled_iterations_are_those_of_any_penalty(penalty):
    rng = new_rng()
    assert penalty.kernel is not None
    assert own(penalty).kernel is None
    assert Elastic(own(penalty), 0.5).kernel is None
    problem, C = draw(rng, AUC(), penalty)
    masters = []
    passes = [problem.one_pass(rng.normal(size=problem.shape), np.zeros(problem.shape[0])) for _ in range(8)]
    centre, S, Z = (rng.normal(size=problem.shape) for _ in range(3))
    for twin in (penalty, own(penalty)):
        bundle = Bundle(problem.shape)
        for _, delta, G, _ in passes:
            bundle.add(G, delta)
        master = Master(twin, C, bundle, 0, S, Z, 3.0)
        masters.append((master, master.steps(12, 1e-10)))
        masters.append((master, master.steps(40, 1e-10, centre, 0.7, 1e-3)))
    for (one, mixed), (other, expected) in zip(masters[:2], masters[2:], strict=True):
        assert one.n_iter == other.n_iter
        assert one.mu == pytest.approx(other.mu)
        np.testing.assert_allclose(mixed.G, expected.G, atol=1e-6)
        np.testing.assert_allclose(one.S, other.S, atol=1e-6)
        np.testing.assert_allclose(one.Z, other.Z, atol=1e-6 * (1 + np.abs(other.Z).max()))
        np.testing.assert_allclose(one.residuals, other.residuals, atol=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_the_same_optimum_either_way(penalty):
    rng = new_rng()
    problem, C = draw(rng, F1(), penalty)
    compiled = solve(problem, C, tol=1e-6, max_iter=5000).certificate
    problem.penalty = own(penalty)
    called = solve(problem, C, tol=1e-6, max_iter=5000).certificate
    assert compiled.objective == pytest.approx(called.objective, rel=2e-6)
    assert max(compiled.bound, called.bound) <= min(compiled.objective, called.objective) * (1 + 1e-12)


def half_shrink(W, step):
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            W[i, j] -= min(max(W[i, j], -0.5 * step), 0.5 * step)


def half_dual_norm(Z):
    return 2.0 * np.abs(Z).max()


class Half(L11):
    """Half of the entrywise norm, with formulas of its own."""

    kernel = Kernel(half_shrink, half_dual_norm)

    def spectrum(self, W):
        return 0.5 * super().spectrum(W)

    def prox(self, M, step):
        return L11().prox(M, 0.5 * step)

    def dual_norm(self, Z):
        return 2.0 * L11().dual_norm(Z)


def test_formulas_of_ones_own_are_compiled():
    check_penalty(Half())
    problem, C = draw(new_rng(), F1(), Half())
    best = solve(problem, C, tol=1e-6, max_iter=5000).certificate
    problem.penalty = L11()
    other = solve(problem, 2.0 * C, tol=1e-6, max_iter=5000).certificate
    assert 2.0 * best.objective == pytest.approx(other.objective, rel=2e-6)


def raising(Z):
    if Z[0, 0] > 0.0:
        raise ValueError("a formula must not raise")
    return 1.0


class Raises(L11):
    kernel = Kernel(L11.kernel.shrink, raising)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_dual_norm_that_fails_gives_no_bound():
    certificate = Certificate()
    certificate.see_planes(Raises(), 1.0, np.ones(2), np.ones((2, 3)))
    assert certificate.bound == 0.0


def test_a_formula_is_compiled_once():
    first = formulas.address(half_dual_norm, formulas.SIZE)
    assert formulas.address(half_dual_norm, formulas.SIZE) == first != 0
    assert formulas.address(None, formulas.SIZE) == 0
    assert formulas.apply_size(first, np.array([[3.0, -4.0]])) == 8.0
