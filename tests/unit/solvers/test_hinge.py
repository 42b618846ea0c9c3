"""Paths by way of hinge losses: the same certified optima, with few passes, and a way back where they do not help."""

import numpy as np
import pytest
from scipy import sparse

from smtl import smtl_path
from smtl.metrics import AUC, Error, FBeta, Jaccard
from smtl.penalties import L11, L21, Ridge, Trace, get_penalty
from smtl.solvers import Problem, critical_C, grid_of_Cs, solve, solve_path
from smtl.solvers.hinge import Hinge
from smtl.tasks import OwnRows, SharedRows

PENALTIES = {"l11": L11(), "l21": L21(), "trace": Trace(), "ridge": Ridge(), "elastic": get_penalty("l21", 0.01)}


def draw(rng, n=1500, d=8, m=3, noise=0.1):
    """Classes that can nearly be told apart."""
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.2 * rng.normal(size=(d, d)))
    scores = X @ rng.normal(size=(d, m)) + noise * rng.normal(size=(n, m))
    return X, np.where(scores > np.quantile(scores, 0.7, axis=0), 1, -1).astype(np.int8)


def by_hinge(monkeypatch):
    """Return a list that receives, for each C of a path, whether the hinge problem has solved it."""
    solved, solve_ = [], Hinge.solve
    monkeypatch.setattr(Hinge, "solve", lambda *a: solved.append((end := solve_(*a)) is not None) or end)
    return solved


def objective(problem, W):
    """The objective at W, with the best intercepts."""
    return problem.objective(W, problem.planes(np.asfortranarray(W), np.zeros(W.shape[1]), eps=1e-12)[2])


@pytest.mark.parametrize("metric", [FBeta(), FBeta(beta=2.0), Error()], ids=repr)
@pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
def test_the_optimum_of_a_cold_fit(metric, penalty, monkeypatch):
    X, Y = draw(np.random.default_rng())
    problem = Problem(SharedRows(X, Y), metric, penalty, 1.0, with_intercept=True)
    Cs = grid_of_Cs(15, critical_C(problem))
    solved, total = by_hinge(monkeypatch), 0
    for C, solution in zip(Cs, solve_path(problem, Cs, tol=1e-2, max_iter=2000), strict=True):
        best = solution.certificate
        cold = solve(Problem(problem.tasks, metric, penalty, float(C), with_intercept=True), tol=1e-2, max_iter=2000)
        assert solution.converged
        assert best.bound <= objective(problem, best.W) * (1.0 + 1e-9)
        assert objective(problem, best.W) <= best.objective * (1.0 + 1e-9)
        # Each bound is below the other's objective.
        assert best.bound <= cold.certificate.objective * (1.0 + 1e-9)
        assert cold.certificate.bound <= best.objective * (1.0 + 1e-9)
        total += solution.n_iter
    assert any(solved)
    monkeypatch.setattr(Hinge, "is_for", lambda problem: False)
    assert total < sum(solution.n_iter for solution in solve_path(problem, Cs, tol=1e-2, max_iter=2000))


@pytest.mark.parametrize("metric", [FBeta(), FBeta(beta=0.5), FBeta(beta=2.0), Error()], ids=repr)
def test_every_mixture_of_rows_is_a_plane(metric):
    rng = np.random.default_rng()
    for _ in range(30):
        y = rng.permutation(np.repeat(np.array([1, -1], dtype=np.int8), rng.integers(1, 12, 2)))
        n_pos, n_neg = int(np.sum(y == 1)), int(np.sum(y == -1))
        a = metric.hinge_margin(n_pos, n_neg)
        v = rng.random(len(y)) * (rng.random(len(y)) < 0.7)
        pos, neg = v[y == 1].sum(), v[y == -1].sum()
        v *= np.where(y == 1, min(pos, neg) / (pos or 1.0), min(pos, neg) / (neg or 1.0))
        s = a * rng.normal(size=len(y)) * 10.0 ** rng.uniform(-1, 1.5)
        least = metric.planes(s, y, np.array([0, len(y)]), shift=np.zeros(1), with_intercept=True, eps=1e-12)[2][0]
        assert 2.0 * a * v.sum() - s @ (2.0 * y * v) <= least + 1e-9 * (1.0 + np.abs(s).sum())


@pytest.mark.parametrize("kind", ["Fortran order", "float32", "own rows", "missing labels"])
def test_all_kinds_of_dense_data(kind, monkeypatch):
    rng = np.random.default_rng()
    X, Y = draw(rng)
    if kind == "missing labels":
        Y[rng.random(Y.shape) < 0.3] = 0
    if kind == "own rows":
        tasks = OwnRows(X, Y[:, 0], np.array([0, 700, 1500]))
    else:
        tasks = SharedRows({"Fortran order": np.asfortranarray, "float32": np.float32}.get(kind, np.asarray)(X), Y)
    problem = Problem(tasks, Error(), L21(), 1.0, with_intercept=True)
    solved = by_hinge(monkeypatch)
    for solution in solve_path(problem, grid_of_Cs(8, critical_C(problem)), tol=1e-3, max_iter=2000):
        best = solution.certificate
        assert solution.converged
        assert best.bound <= objective(problem, best.W) * (1.0 + 1e-6)
        assert objective(problem, best.W) <= best.objective * (1.0 + 1e-6)
    assert any(solved)


def test_threads_change_nothing():
    X, Y = draw(np.random.default_rng())
    one, two = (smtl_path(X, (Y + 1) // 2, metric="error", Cs=8, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.n_iters, two.n_iters)
    np.testing.assert_allclose(one.coefs, two.coefs, atol=1e-4 * np.abs(one.coefs).max())  # but for rounding


def test_what_it_is_for():
    X, Y = draw(np.random.default_rng())
    assert Hinge.is_for(Problem(SharedRows(X, Y), FBeta(), L21(), 1.0, with_intercept=True))
    assert not Hinge.is_for(Problem(SharedRows(X, Y), FBeta(), L21(), 1.0))
    assert not Hinge.is_for(Problem(SharedRows(X, Y), Jaccard(), L21(), 1.0, with_intercept=True))
    sparse_rows = SharedRows(sparse.csr_array(X), Y)
    assert not Hinge.is_for(Problem(sparse_rows, FBeta(), L21(), 1.0, with_intercept=True))
    wide = SharedRows(np.broadcast_to(0.0, (len(X), 4000)), Y)
    assert not Hinge.is_for(Problem(wide, FBeta(), L21(), 1.0, with_intercept=True))


class Hopeful(FBeta):
    """It takes the hinge for close where it is not."""

    name = None

    def hinge_lack(self, loss, n_pos, n_features):
        return 0.0


def test_where_the_hinge_is_not_close_the_bundle_goes_on(monkeypatch):
    X, Y = draw(np.random.default_rng(), noise=3.0)
    problem = Problem(SharedRows(X, Y), Hopeful(), L21(), 1.0, with_intercept=True)
    solved = by_hinge(monkeypatch)
    for solution in solve_path(problem, grid_of_Cs(10, critical_C(problem)), tol=1e-3, max_iter=2000):
        best = solution.certificate
        cold = solve(
            Problem(problem.tasks, FBeta(), L21(), problem.C, with_intercept=True), tol=1e-3, max_iter=2000
        ).certificate
        assert solution.converged
        assert best.bound <= cold.objective * (1.0 + 1e-9)
        assert cold.bound <= best.objective * (1.0 + 1e-9)
    assert not all(solved)


@pytest.mark.parametrize("metric", [Error(), AUC()], ids=repr)
def test_another_problem_on_the_same_data_goes_on_from_a_path(metric):
    X, Y = draw(np.random.default_rng())
    tasks = SharedRows(X, Y)
    problem = Problem(tasks, metric, L21(), 1.0, with_intercept=True)
    *_, last = solve_path(problem, grid_of_Cs(8, critical_C(problem)), tol=1e-3, max_iter=2000)
    C = 0.3 * problem.C
    other, cold = (
        solve(Problem(tasks, metric, L21(), C, with_intercept=True), tol=1e-3, max_iter=2000, start=start).certificate
        for start in (last.start, None)
    )
    assert other.bound <= cold.objective * (1.0 + 1e-9)
    assert cold.bound <= other.objective * (1.0 + 1e-9)


@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_few_passes_and_still_a_valid_gap(max_iter):
    X, Y = draw(np.random.default_rng())
    problem = Problem(SharedRows(X, Y), Error(), L21(), 1.0, with_intercept=True)
    for solution in solve_path(problem, grid_of_Cs(8, critical_C(problem)), tol=1e-6, max_iter=max_iter, warn=False):
        assert solution.n_iter <= max_iter
        best = solution.certificate
        cold = solve(Problem(problem.tasks, Error(), L21(), problem.C, with_intercept=True), tol=1e-3, max_iter=3000)
        assert objective(problem, best.W) <= best.objective * (1.0 + 1e-9)
        assert best.bound <= cold.certificate.objective * (1.0 + 1e-9)
