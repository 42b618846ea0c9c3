"""Newton's steps on a path: fewer passes, the same certified optima, and a way back where they do not help."""

import numpy as np
import pytest
from scipy import sparse

from smtl import smtl_path
from smtl.metrics import AUC, FBeta
from smtl.penalties import L11, L21, Ridge, Trace, get_penalty
from smtl.solvers import Problem, critical_C, grid_of_Cs, solve, solve_path
from smtl.solvers.certificate import Certificate
from smtl.solvers.newton import Newton
from smtl.tasks import OwnRows, SharedRows

PENALTIES = {"l11": L11(), "l21": L21(), "trace": Trace(), "ridge": Ridge(), "elastic": get_penalty("l21", 0.1)}


def draw(rng, n=1500, d=10, m=4):
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    scores = X @ (rng.normal(size=(d, 1)) + 0.5 * rng.normal(size=(d, m))) + 2.0 * rng.normal(size=(n, m))
    Y = np.where(scores > np.quantile(scores, 0.8, axis=0), 1, -1).astype(np.int8)
    return X, Y


def passes(problem, Cs, tol=1e-3):
    return [solution.n_iter for solution in solve_path(problem, Cs, tol=tol, max_iter=2000)]


@pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
def test_the_optimum_of_a_cold_fit_with_fewer_passes(penalty, monkeypatch):
    X, Y = draw(np.random.default_rng())
    problem = Problem(SharedRows(X, Y), AUC(), penalty, 1.0)
    Cs = grid_of_Cs(12, critical_C(problem))
    looked, look = [], Newton.look
    monkeypatch.setattr(Newton, "look", lambda self, *arguments: looked.append(look(self, *arguments)) or looked[-1])
    total = 0
    for C, solution in zip(Cs, solve_path(problem, Cs, tol=1e-3, max_iter=2000), strict=True):
        cold = solve(Problem(problem.tasks, AUC(), penalty, float(C)), tol=1e-3, max_iter=2000).certificate
        assert solution.converged
        # Each bound is below the other's objective.
        assert solution.certificate.bound <= cold.objective * (1.0 + 1e-12)
        assert cold.bound <= solution.certificate.objective * (1.0 + 1e-12)
        total += solution.n_iter
    assert sum(point is not None for point in looked) >= 3
    monkeypatch.setattr(Newton, "pays", lambda *arguments: False)
    assert total < sum(passes(problem, Cs))


@pytest.mark.parametrize("kind", ["sparse", "float32", "own rows", "missing labels"])
def test_all_kinds_of_data(kind):
    rng = np.random.default_rng()
    X, Y = draw(rng, n=600, d=6, m=2)
    if kind == "missing labels":
        Y[rng.random(Y.shape) < 0.3] = 0
    if kind == "own rows":
        tasks = OwnRows(X, Y[:, 0], np.array([0, 250, 600]))
    else:
        tasks = SharedRows({"sparse": sparse.csr_array, "float32": np.float32}.get(kind, np.asarray)(X), Y)
    problem = Problem(tasks, AUC(), L21(), 1.0)
    for solution in solve_path(problem, grid_of_Cs(8, critical_C(problem)), tol=1e-3, max_iter=2000):
        assert solution.converged


def test_threads_change_nothing():
    X, Y = draw(np.random.default_rng())
    one, two = (smtl_path(X, (Y + 1) // 2, metric="auc", Cs=8, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.n_iters, two.n_iters)
    np.testing.assert_allclose(one.coefs, two.coefs, atol=1e-6)


def test_whether_it_pays():
    X, Y = draw(np.random.default_rng())
    tasks = SharedRows(X, Y)
    assert Newton.pays(Problem(tasks, AUC(), L21(), 1.0), 1e-3, 6e5)
    assert Newton.pays(Problem(tasks, AUC(), L21(), 1.0), 1e-2, 6e5)
    assert not Newton.pays(Problem(tasks, AUC(), L21(), 1.0), 2e-2, 6e5)  # a few passes are enough anyhow
    assert not Newton.pays(Problem(tasks, FBeta(), L21(), 1.0), 1e-3, 6e5)  # no curvature
    wide = SharedRows(sparse.random_array((100, 3000), density=0.01, format="csr", rng=0), Y[:100])
    assert not Newton.pays(Problem(wide, AUC(), L21(), 1.0), 1e-3, 6e5)
    # So many rows would make up for so many features, but not for the memory.
    large = SharedRows(np.broadcast_to(0.0, (2_000_000, 3000)), np.resize(Y, (2_000_000, 8)))
    assert not Newton.pays(Problem(large, AUC(), L21(), 1.0), 1e-3, 6e5)
    fewer = SharedRows(np.broadcast_to(0.0, (2_000_000, 2000)), np.resize(Y, (2_000_000, 8)))
    assert Newton.pays(Problem(fewer, AUC(), L21(), 1.0), 1e-3, 6e5)


def test_no_model_at_zero_and_none_that_brings_too_little():
    X, Y = draw(np.random.default_rng())
    problem = Problem(SharedRows(X, Y), AUC(), L21(), 1.0)
    problem.C = 10.0 * critical_C(problem)
    W = np.zeros(problem.shape, order="F")
    _, G, _ = problem.planes(W, np.zeros(W.shape[1]))
    assert Newton(problem).look(W, G, 0.0 * W, Certificate(objective=2.0, bound=1.0)) is None  # all margins are 0

    W = np.asfortranarray(solve(problem, tol=1e-2).certificate.W)
    _, G, _ = problem.planes(W, np.zeros(W.shape[1]))
    newton = Newton(problem)
    newton.begin(moved=0.0, tol=1e-3)
    first = newton.look(W, G, 0.0 * W, Certificate(objective=2.0, bound=1.0))
    assert first is not None
    assert newton.look(first, G, 0.0 * W, Certificate(objective=2.0, bound=1.4)) is None
    assert newton.look(first, G, 0.0 * W, Certificate(objective=2.0, bound=1.9)) is None  # it is over


def test_a_curvature_serves_the_next_C_until_it_brings_too_little(monkeypatch):
    X, Y = draw(np.random.default_rng())
    problem = Problem(SharedRows(X, Y), AUC(), L21(), 1.0)
    problem.C = 10.0 * critical_C(problem)
    W = np.asfortranarray(solve(problem, tol=1e-2).certificate.W)
    _, G, _ = problem.planes(W, np.zeros(W.shape[1]))
    measured, curvature = [], Problem.curvature
    monkeypatch.setattr(Problem, "curvature", lambda *arguments: measured.append(1) or curvature(*arguments))
    newton = Newton(problem)
    newton.begin(moved=0.0, tol=1e-3)
    assert newton.look(W, G, 0.0 * W, Certificate(objective=2.0, bound=1.0)) is not None
    problem.C *= 1.4
    newton.begin(moved=0.0, tol=1e-3)
    assert newton.look(W, G, 0.0 * W, Certificate(objective=2.0, bound=1.0)) is not None
    assert len(measured) == 1
    newton.look(W, G, 0.0 * W, Certificate(objective=2.0, bound=1.1))
    assert len(measured) == 2
    newton.begin(moved=0.9, tol=1e-2)  # so far that no model is of use
    assert newton.look(W, G, 0.0 * W, Certificate(objective=2.0, bound=1.0)) is None


def test_no_more_steps_after_many_passes_twice():
    X, Y = draw(np.random.default_rng())
    problem = Problem(SharedRows(X, Y), AUC(), L21(), 1.0)
    problem.C = 10.0 * critical_C(problem)
    W = np.asfortranarray(solve(problem, tol=1e-2).certificate.W)
    _, G, _ = problem.planes(W, np.zeros(W.shape[1]))
    newton = Newton(problem)
    for n_iter, steps in [(50, True), (5, True), (50, True), (50, True), (5, False)]:
        newton.begin(moved=0.0, tol=1e-3)
        assert (newton.look(W, G, 0.0 * W, Certificate(objective=2.0, bound=1.0)) is not None) == steps
        newton.end(n_iter, 1e-3, rho=None)
