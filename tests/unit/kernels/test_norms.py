"""The compiled norms and the compiled iterations against those of `smtl.penalties`."""

import numpy as np
import pytest

from smtl.kernels import norms
from smtl.metrics import AUC, F1
from smtl.penalties import L11, L21, Elastic, Ridge, Trace
from smtl.solvers import Problem, solve
from smtl.solvers.compiled import compiled_penalty, with_values
from smtl.solvers.master import Master
from smtl.solvers.planes import Bundle
from smtl.tasks import SharedRows
from tests.seeds import new_rng

SHRINK = {L11: norms.shrink_entries, L21: norms.shrink_features, Trace: norms.shrink_values}


@pytest.mark.parametrize("penalty", SHRINK)
@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (4, 9), (9, 4), (5, 5)])
def test_as_the_penalty_has_it(penalty, shape):
    rng = new_rng()
    for size in (1e-170, 1e-3, 1.0, 1e150):
        for step in (1e-3, 0.3, 1.0, 30.0):
            # Of low rank but for a little, with a feature and a task of zeros.
            W = np.outer(rng.normal(size=shape[0]), rng.normal(size=shape[1])) + 0.1 * rng.normal(size=shape)
            W[rng.integers(shape[0])] = 0.0
            W[:, rng.integers(shape[1])] = 0.0
            W *= size
            expected = penalty().prox(W.T, step * size).T
            SHRINK[penalty](W, step * size)
            np.testing.assert_allclose(W, expected, rtol=0, atol=1e-9 * size)
            if not expected.any():
                assert not W.any()  # zeros are exact


@pytest.mark.parametrize("penalty", SHRINK)
@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (4, 9), (9, 4), (5, 5)])
def test_norm_and_dual_norm(penalty, shape):
    rng = new_rng()
    kind, _ = compiled_penalty(penalty())
    for size in (0.0, 1e-170, 1e-3, 1.0, 1e150):
        W = size * rng.normal(size=shape)
        if penalty is L21 and size in (1e-170, 1e150):
            continue  # squares that vanish or overflow, here as there
        expected = penalty().value(W.T), penalty().dual_norm(W.T)
        found = norms.value(kind, with_values(kind), W), norms.dual_norm(kind, with_values(kind), W)
        # A square has no digits for singular values below the square root of the precision.
        np.testing.assert_allclose(found, expected, rtol=1e-7 if penalty is Trace else 1e-13)
        assert found[1] == pytest.approx(expected[1], rel=1e-12)


def draw(rng, metric, penalty):
    X = rng.normal(size=(40, 6))
    Y = np.where(X @ rng.normal(size=(6, 3)) + rng.normal(size=(40, 3)) > 0, 1, -1).astype(np.int8)
    Y[0], Y[1] = 1, -1
    return Problem(SharedRows(X, Y), metric, penalty, C=10.0 ** rng.uniform(0, 2), with_intercept=True)


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
    assert compiled_penalty(penalty) is not None
    assert compiled_penalty(own(penalty)) is None
    assert compiled_penalty(Elastic(own(penalty), 0.5)) is None
    problem = draw(rng, AUC(), penalty)
    d, m = problem.shape
    masters, promised = [], []
    planes = [problem.planes(np.asfortranarray(rng.normal(size=(d, m))), np.zeros(m)) for _ in range(8)]
    centre, S, Z = (np.asfortranarray(rng.normal(size=(d, m))) for _ in range(3))
    for twin in (penalty, own(penalty)):
        bundle = Bundle(d, m)
        for delta, G, _ in planes:
            bundle.add(G, delta)
        problem.penalty = twin
        master = Master(problem, bundle, 0, S, Z, 3.0)
        masters.append((master, master.steps(12, 1e-10)))
        promised.append(master.promised())
        masters.append((master, master.steps(40, 1e-10, centre, 0.7, 1e-3)))
    assert promised[0] == pytest.approx(promised[1], rel=1e-6)
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
    problem = draw(rng, F1(), penalty)
    compiled = solve(problem, tol=1e-6, max_iter=5000).certificate
    problem.penalty = own(penalty)
    called = solve(problem, tol=1e-6, max_iter=5000).certificate
    assert compiled.objective == pytest.approx(called.objective, rel=2e-6)
    assert max(compiled.bound, called.bound) <= min(compiled.objective, called.objective) * (1 + 1e-12)


def test_a_kernel_that_is_not_known():
    class Rows(L21):
        kernel = ("rows", 0.0)

    with pytest.raises(ValueError, match=r"the kernel of Rows\(\) must be one of 'entries', .* got 'rows' instead"):
        compiled_penalty(Rows())
