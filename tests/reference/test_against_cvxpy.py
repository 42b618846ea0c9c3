"""Every metric and penalty, with and without intercept and offset, against an independent convex solver."""

from itertools import product

import cvxpy as cp
import numpy as np
import pytest

from smtl.metrics import ContingencyMetric, PartialAUC, RankingMetric, get_metric, metric_names
from smtl.penalties import get_penalty, penalty_names
from smtl.solvers import Problem, critical_C, solve
from smtl.tasks import SharedRows
from tests.candidates import candidates
from tests.seeds import new_rng


def loss_of(metric, s, y):
    """The loss of one task as an expression of its scores, from its definition: all labellings, pairs or rows."""
    if isinstance(metric, ContingencyMetric):
        answers = np.array(list(product([-1, 1], repeat=len(y))))
        tables = [
            [np.sum((answer == a) & (y == b)) for a, b in [(1, 1), (1, -1), (-1, 1), (-1, -1)]] for answer in answers
        ]
        delta = np.array([metric.delta(*map(float, table)) for table in tables])
        return cp.max(delta - (y - answers) @ s)
    if metric.name == "auc":
        pairs = [(p, q) for p in np.flatnonzero(y > 0) for q in np.flatnonzero(y < 0)]
        return sum(cp.pos(1 - s[p] + s[q]) for p, q in pairs) / len(pairs)
    if isinstance(metric, RankingMetric | PartialAUC):
        order = np.argsort(-y, kind="stable")
        delta, c = candidates(metric, int(np.sum(y > 0)), int(np.sum(y < 0)))
        return cp.max(delta - c @ s[order])
    margins = cp.multiply(y, s)
    return {"error": 2 * cp.sum(cp.pos(1 - margins)), "log": cp.sum(cp.logistic(-margins))}[metric.name]


def norm_of(name, W):
    return {
        "l11": lambda: cp.sum(cp.abs(W)),
        "l21": lambda: cp.sum(cp.norm(W, axis=1)),
        "trace": lambda: cp.normNuc(W),
        "ridge": lambda: 0.5 * cp.sum_squares(W),
    }[name]()


def optimum(metric, penalty, ridge, C, X, Y, offset, with_intercept):
    W, b = cp.Variable((X.shape[1], Y.shape[1])), cp.Variable(Y.shape[1])
    total = norm_of(penalty, W) + 0.5 * ridge * cp.sum_squares(W)
    for i in range(Y.shape[1]):
        s = X @ W[:, i] + offset[:, i] + (b[i] if with_intercept else 0.0)
        total += C * loss_of(metric, s, Y[:, i])
    problem = cp.Problem(cp.Minimize(total))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    if problem.status == "optimal_inaccurate":  # that was more than it could do: once more, to its usual 1e-8
        problem.solve(solver=cp.CLARABEL)
    assert problem.status == "optimal"
    return problem.value


# Without an intercept to train, a problem is the same with it.
WITH_OR_WITHOUT = [
    (name, with_intercept)
    for name, with_intercept in product(metric_names(), [False, True])
    if get_metric(name).uses_intercept or not with_intercept
]


@pytest.mark.parametrize("with_offset", [False, True])
@pytest.mark.parametrize("penalty", penalty_names())
@pytest.mark.parametrize(("name", "with_intercept"), WITH_OR_WITHOUT)
def test_the_optimum_is_that_of_a_convex_solver(name, penalty, with_intercept, with_offset):
    rng = new_rng()
    metric, ridge = get_metric(name), float(rng.choice([0.0, 0.0, 0.5]))
    X, Y = rng.standard_normal((6, 3)), np.ones((6, 2), dtype=np.int8)
    for i in range(2):
        Y[rng.permutation(6)[: rng.integers(1, 6)], i] = -1
    offset = rng.standard_normal((6, 2)) if with_offset else np.zeros((6, 2))
    problem = Problem(
        SharedRows(X, Y),
        metric,
        get_penalty(penalty, ridge),
        with_intercept=with_intercept,
        offset=offset.T.ravel() if with_offset else None,
    )
    critical = critical_C(problem)
    C = (critical if np.isfinite(critical) else 1.0) * 10.0 ** rng.uniform(-0.3, 1.5)
    best = solve(problem, C, tol=1e-7, max_iter=5000).certificate
    expected = optimum(metric, penalty, ridge, C, X, Y, offset, problem.with_intercept)
    size = max(abs(expected), 1e-3 * C)
    assert best.objective == pytest.approx(expected, abs=1e-5 * size)
    assert best.bound <= expected + 1e-6 * size
