"""Multi-task regression against scikit-learn's MultiTaskLasso and against a general convex solver."""

import numpy as np
import pytest
from sklearn.linear_model import MultiTaskLasso

from smtl.baselines import MTLRegressor
from smtl.penalties import get_penalty
from tests.seeds import new_rng

SEED = int(new_rng().integers(2**32))


def data(n, d, m):
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, d)) + rng.standard_normal((n, 1)) + 2.0
    W = np.where(rng.random((d, 1)) < 0.3, rng.standard_normal((d, m)), 0.0)
    return X, X @ W + rng.standard_normal((n, m)) - 1.0


@pytest.mark.parametrize("shape", [(100, 10, 3), (60, 40, 5), (30, 200, 4), (500, 60, 10)], ids=str)
@pytest.mark.parametrize("part", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_l21_is_the_multi_task_lasso(shape, part, fit_intercept):
    X, Y = data(*shape)
    alpha = part * MTLRegressor("l21", fit_intercept=fit_intercept, max_iter=1, tol=1.0).fit(X, Y).alpha_max_
    ours = MTLRegressor("l21", alpha=alpha, tol=1e-8, fit_intercept=fit_intercept, max_iter=100_000).fit(X, Y)
    peer = MultiTaskLasso(alpha=alpha, tol=1e-10, fit_intercept=fit_intercept, max_iter=200_000).fit(X, Y)
    residual = Y - peer.predict(X)
    theirs = np.sum(residual**2) / (2 * len(X)) + alpha * np.linalg.norm(peer.coef_, axis=0).sum()
    assert ours.objective_ == pytest.approx(theirs, rel=1e-6), f"seed {SEED}"
    assert ours.dual_bound_ <= theirs


@pytest.mark.parametrize("penalty", ["l11", "l21", "trace"])
@pytest.mark.parametrize("own_rows", [False, True])
def test_a_general_convex_solver_agrees(penalty, own_rows):
    cvxpy = pytest.importorskip("cvxpy")
    X, Y = data(45, 6, 3)
    n, (d, m) = len(X), (6, 3)
    task = np.arange(n) % m
    W, b = cvxpy.Variable((d, m)), cvxpy.Variable((1, m))
    fit = {"X": X, "y": Y}
    residual = cvxpy.sum_squares(Y - X @ W - np.ones((n, 1)) @ b)
    if own_rows:
        fit = {"X": X, "y": Y[np.arange(n), task], "tasks": task}
        rows = [task == i for i in range(m)]
        residual = sum(cvxpy.sum_squares(Y[r, i] - X[r] @ W[:, i] - b[0, i]) for i, r in enumerate(rows))
        n /= m
    norm = {
        "l11": lambda: cvxpy.sum(cvxpy.abs(W)),
        "l21": lambda: cvxpy.sum(cvxpy.norm(W, 2, axis=1)),
        "trace": lambda: cvxpy.normNuc(W),
    }[penalty]()
    model = MTLRegressor(penalty, tol=1e-8).fit(**fit)
    exact = cvxpy.Problem(cvxpy.Minimize(residual / (2 * n) + model.alpha_ * norm)).solve(solver=cvxpy.CLARABEL)
    assert model.objective_ == pytest.approx(exact, rel=1e-5), f"seed {SEED}"
    assert get_penalty(penalty).value(model.coef_) == pytest.approx(norm.value, rel=1e-2)
