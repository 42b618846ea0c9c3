"""Smooth losses by their curvature, against planes, exact optima and brute force."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from smtl.metrics import F1, Log, PointwiseMetric, get_metric
from smtl.penalties import L21, Elastic, Penalty, Ridge, get_penalty
from smtl.solvers import Problem, newton, smooth, solve, solve_path
from smtl.solvers.curvature import OwnMatrices, RowCurvature
from smtl.solvers.secant import Secant
from smtl.tasks import OwnRows, SharedRows
from tests.seeds import new_rng


class SquaredHinge(PointwiseMetric):
    """Its second derivative jumps."""

    smooth = True

    @staticmethod
    def loss(margin):
        short = max(0.0, 1.0 - margin)
        return short * short, -2.0 * short

    def score(self, y, s):
        return float(np.mean((np.asarray(y) > 0) == (np.asarray(s) > 0)))


class Negative(Penalty):
    """A penalty that compiled code does not know."""

    def value(self, W):
        return 0.5 * float(np.sum(np.minimum(W, 0.0) ** 2)) + float(np.sum(np.abs(W)))

    def prox(self, M, step):
        shrunk = np.sign(M) * np.maximum(np.abs(M) - step, 0.0)
        return np.where(shrunk < 0.0, shrunk / (1.0 + step), shrunk)

    def conjugate(self, Z):
        over = np.maximum(np.abs(Z) - 1.0, 0.0)
        return 0.5 * float(np.sum(over[Z < 0.0] ** 2)) if not over[Z > 0.0].any() else np.inf


def draw(rng, n=60, d=5, m=3, form="shared", metric=None, penalty=None, offset=False, with_intercept=True):
    X = rng.standard_normal((n, d)) * rng.choice([0.3, 1.0, 3.0], d) + rng.standard_normal(d)
    Y = np.where(X @ rng.standard_normal((d, m)) + rng.standard_normal((n, m)) > 0, 1, -1).astype(np.int8)
    Y[:2] = [[1], [-1]]
    if form == "missing":
        Y[2:][rng.random((n - 2, m)) < 0.3] = 0
    if form == "own":
        ptr = np.array([0, n // 3, n // 2, n])
        y = Y[:, 0].copy()
        y[ptr[:-1]], y[ptr[:-1] + 1] = 1, -1
        tasks = OwnRows(X, y, ptr)
    else:
        tasks = SharedRows({"sparse": sp.csr_array, "single": np.float32}.get(form, np.asarray)(X), Y)
    shift = rng.standard_normal(len(tasks.y)) if offset else None
    return Problem(tasks, metric or Log(), penalty or get_penalty("l21"), with_intercept=with_intercept, offset=shift)


@pytest.mark.parametrize("penalty", ["ridge", "l11", "l21", "trace", Elastic(L21(), 0.5), Negative()], ids=str)
@pytest.mark.parametrize("form", ["shared", "own", "sparse", "missing", "single"])
def test_the_optimum_is_that_of_the_planes_and_both_bounds_hold(form, penalty):
    rng = new_rng()
    metric = [Log(), SquaredHinge()][rng.integers(2)]
    penalty = get_penalty(penalty) if isinstance(penalty, str) else penalty
    problem = draw(rng, form=form, metric=metric, penalty=penalty, offset=bool(rng.integers(2)))
    C = 10.0 ** rng.uniform(-1.5, 1.0)
    ours = solve(problem, C, tol=1e-6, max_iter=3000)
    planes = solve(problem, C, "bundle", tol=1e-2, max_iter=3000)
    assert ours.converged
    assert ours.certificate.bound <= planes.certificate.objective * (1 + 1e-9)
    assert planes.certificate.bound <= ours.certificate.objective * (1 + 1e-9)
    assert np.isnan(ours.history["primal_residual"][0])  # not by planes


def test_ridge_is_what_a_general_minimiser_finds():
    rng = new_rng()
    problem = draw(rng, m=1, metric=Log(), penalty=Ridge())
    X, y = problem.tasks.X, problem.tasks.y
    C = 10.0 ** rng.uniform(-1.0, 2.0)

    def objective(v):
        return 0.5 * v[:-1] @ v[:-1] + C * np.logaddexp(0.0, -y * (X @ v[:-1] + v[-1])).sum()

    peer = minimize(objective, np.zeros(6), method="BFGS", options={"gtol": 1e-5})
    ours = solve(problem, C, tol=1e-9).certificate
    assert ours.bound <= peer.fun * (1 + 1e-9)
    assert ours.objective <= peer.fun * (1 + 1e-7)
    assert objective(np.append(ours.W[0], ours.intercept)) == pytest.approx(ours.objective, rel=1e-9)


@pytest.mark.parametrize("penalty", ["ridge", "l21", "trace"])
def test_a_path_is_as_true_as_cold_solutions(penalty):
    problem = draw(new_rng(), penalty=get_penalty(penalty))
    Cs = [0.01, 0.1, 1.0, 10.0]
    for C, warm in zip(Cs, solve_path(problem, Cs, tol=1e-5), strict=True):
        cold = solve(problem, C, tol=1e-5)
        assert warm.converged
        assert cold.converged
        assert warm.certificate.bound <= cold.certificate.objective * (1 + 1e-9)
        assert cold.certificate.bound <= warm.certificate.objective * (1 + 1e-9)


def test_the_matrices_are_second_derivatives_of_the_partially_minimised_loss():
    rng = new_rng()
    problem = draw(rng, m=2, d=3, offset=True)
    W, intercept = 0.3 * rng.standard_normal(problem.shape), np.zeros(2)
    problem.one_pass(W, intercept, 1e-12)
    curvature = problem.curvature()
    assert isinstance(curvature, RowCurvature)
    matrices = curvature.own(W, intercept, 1.0)
    assert matrices is not None
    H = matrices.times(np.tile(np.eye(3), (2, 1, 1)))
    step = 1e-4
    for k in range(3):
        ahead, behind = W.copy(), W.copy()
        ahead[:, k] += step
        behind[:, k] -= step
        there, b = problem.one_pass(ahead, intercept.copy(), 1e-14), intercept.copy()
        here = problem.one_pass(behind, b, 1e-14)
        np.testing.assert_allclose(
            (here.slope - there.slope) / (2 * step), H[:, k], rtol=2e-2, atol=2e-2 * np.abs(H).max()
        )


def test_at_zero_weights_one_matrix_serves_all_tasks():
    problem = draw(new_rng(), n=80, d=4)
    W, intercept = np.zeros(problem.shape), np.zeros(3)
    problem.one_pass(W, intercept, 1e-14)
    curvature = problem.curvature()
    assert curvature is not None
    common, own = curvature.common(W, intercept, 2.0), curvature.own(W, intercept, 2.0)
    assert common is not None
    assert own is not None
    V = np.random.default_rng(0).standard_normal(problem.shape)
    seen = common.out_of_frame(common.times(common.into_frame(V)[:, np.newaxis])[:, 0])
    expected = own.times(V[:, np.newaxis])[:, 0]
    np.testing.assert_allclose(seen, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def bfgs(B, step, change):
    """The textbook formula."""
    Bs = B @ step
    return B - np.outer(Bs, Bs) / (step @ Bs) + np.outer(change, change) / (step @ change)


def test_a_secant_model_is_bfgs_and_its_inverse_is_one():
    rng = new_rng()
    m, d, memory = 3, 6, 4
    A = rng.standard_normal((m, d, d))
    H = A @ A.transpose(0, 2, 1) + np.eye(d)
    model, expected = Secant(OwnMatrices(H.copy(), np.empty(H.shape)), memory), H.copy()
    true = rng.standard_normal((m, d, d))
    true = true @ true.transpose(0, 2, 1) + 0.1 * np.eye(d)
    for k in range(memory):
        step = rng.standard_normal((m, d))
        change = np.einsum("ijk,ik->ij", true, step)
        if k == 1:
            change[0] = -step[0]  # does not count
        model.learn(step, change)
        for i in range(m):
            if step[i] @ change[i] > 0:
                expected[i] = bfgs(expected[i], step[i], change[i])
    V, mu = rng.standard_normal((m, d)), 10.0 ** rng.uniform(-3, 3)
    assert model.set_mu(mu)
    B = np.einsum("ijk,ik->ij", expected, V)
    np.testing.assert_allclose(model.times(V), B, rtol=1e-7, atol=1e-7 * np.abs(B).max())
    np.testing.assert_allclose(model.inverse_times(B + mu * V), V, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("form", ["shared", "own", "missing"])
def test_offsets_of_scaled_planes_are_the_highest(form):
    rng = new_rng()
    problem = draw(rng, n=40, m=2, form=form, offset=True)
    problem.tasks.weights = rng.uniform(0.5, 3.0, len(problem.tasks.y))
    problem.tasks.task_weight = rng.uniform(0.5, 2.0, problem.shape[0])
    W, intercept, part = rng.standard_normal(problem.shape), np.zeros(problem.shape[0]), rng.uniform(0.2, 1.0)
    told = problem.one_pass(W, intercept, 1e-13)
    assert told.scaled is not None
    np.testing.assert_allclose(told.scaled(1.0), told.delta, rtol=1e-6)
    delta = told.scaled(part)
    assert np.all(delta >= part * told.delta - 1e-9 * np.abs(told.delta))

    def above(v):
        V, b = v[:-n_tasks].reshape(problem.shape), v[-n_tasks:]
        loss, slope = losses_at(problem, V, b)
        return loss.sum() - delta.sum() + part * np.vdot(V, told.slope), slope + np.append(part * told.slope, 0 * b)

    # No weights, with any intercepts, have a loss below the plane, and some touch it: by another minimiser.
    n_tasks = problem.shape[0]
    least = minimize(above, np.append(W, intercept), jac=True, method="BFGS", options={"gtol": 1e-9})
    assert least.fun >= -1e-8 * problem.tasks.weights.sum()
    for _ in range(20):
        v = rng.standard_normal(W.size + n_tasks) * 10.0 ** rng.uniform(-1, 1)
        assert above(v)[0] >= -1e-8 * problem.tasks.weights.sum()


def losses_at(problem, V, b):
    """The losses at any intercepts, and the slope of their sum, by the definition."""
    tasks, m = problem.tasks, len(b)
    which = np.repeat(np.arange(m), np.diff(tasks.ptr))
    scores = tasks.scores(V, 0, m) + problem.offset + b[which]
    each = tasks.weights * tasks.task_weight[which] * (tasks.y != 0)
    loss = np.bincount(which, each * np.logaddexp(0.0, -tasks.y * scores), m)
    pull = -each * tasks.y / (1.0 + np.exp(tasks.y * scores))
    return loss, np.append(tasks.slopes(pull, 0, m), np.bincount(which, pull, m))


def test_a_loss_that_is_not_smooth_goes_by_planes():
    problem = draw(new_rng(), metric=F1())
    assert smooth.model_for(problem, 1.0, None) is None
    solution, planes = solve(problem, 0.1, tol=1e-2), solve(problem, 0.1, "bundle", tol=1e-2)
    np.testing.assert_array_equal(solution.certificate.W, planes.certificate.W)
    assert get_metric("log").smooth
    assert not get_metric("error").smooth


def test_a_subclass_with_another_loss_is_not_smooth_unless_it_says_so():
    class Hinge(Log):
        @staticmethod
        def loss(margin):
            return max(0.0, 1.0 - margin), -1.0 if margin < 1.0 else 0.0

    assert not Hinge().smooth


def test_where_the_model_leads_nowhere_planes_go_on(monkeypatch):
    problem = draw(new_rng())
    calls = []

    def none_after_two(self, place):
        calls.append(place)
        return (place.W + 0.01, place.intercept) if len(calls) < 3 else None

    monkeypatch.setattr(newton.Newton, "propose", none_after_two)
    solution = solve(problem, 1.0, tol=1e-3)
    assert solution.converged
    assert len(calls) == 3
    assert len(solution.history["objective"]) == solution.n_iter > 3
    assert np.all(np.diff(solution.history["passes"]) == 1)
    assert np.all(np.diff(solution.history["seconds"]) >= 0)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_features_that_single_precision_cannot_square_go_by_planes(scale):
    problem = draw(new_rng())
    problem.tasks.X = problem.tasks.X * scale
    solution = solve(problem, 1.0 / scale, tol=1e-2, max_iter=200, warn=False)
    assert solution.certificate.bound <= solution.certificate.objective
    assert np.isfinite(solution.certificate.W).all()
