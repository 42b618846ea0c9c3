"""More features than rows: the problem in the span of the rows is the same problem."""

import numpy as np
import pytest

from smtl.metrics import get_metric
from smtl.penalties import L21, Elastic, Ridge, Trace
from smtl.solvers import Problem, solve, solve_path
from smtl.tasks import SharedRows
from tests.seeds import new_rng


def wide_problem(rng, metric, penalty, n=25, d=120, m=3):
    X = rng.standard_normal((n, d))
    Y = np.where(X @ rng.standard_normal((d, m)) + rng.standard_normal((n, m)) > 0, 1, -1).astype(np.int8)
    Y[:2] = [[1], [-1]]
    Y[2:][rng.random((n - 2, m)) < 0.1] = 0
    return Problem(
        SharedRows(X, Y), get_metric(metric), penalty, with_intercept=True, offset=rng.standard_normal(n * m)
    )


def check(problem, C, solution, peer):
    found = solution.certificate
    seen = problem.one_pass(found.W, found.intercept.copy(), 1e-12)
    objective = problem.penalty.value(found.W) + C * seen.loss.sum()
    assert objective <= found.objective * (1 + 1e-9)
    assert found.objective - objective <= 1e-2 * found.objective  # the intercept is found to a part of the gap
    bound, _ = problem.penalty.lower_bound(C * found.G, C * float(found.delta.sum()))
    assert bound == pytest.approx(found.bound, rel=1e-6)
    assert found.bound <= peer.certificate.objective * (1 + 1e-9)
    assert peer.certificate.bound <= found.objective * (1 + 1e-9)


@pytest.mark.parametrize("penalty", [Ridge(), Trace(), Elastic(Trace(), 0.3)], ids=str)
@pytest.mark.parametrize("metric", ["auc", "f1", "log"])
def test_certificates_are_those_of_the_whole_problem(metric, penalty, monkeypatch):
    problem = wide_problem(new_rng(), metric, penalty)
    solutions = list(solve_path(problem, [0.05, 0.5], tol=1e-2, max_iter=3000))
    alone = solve(problem, 0.5, tol=1e-2, max_iter=3000)
    monkeypatch.setattr(Problem, "in_span", lambda self: None)
    for C, solution in zip([0.05, 0.5], solutions, strict=True):
        peer = solve(problem, C, tol=1e-2, max_iter=3000)
        assert solution.converged
        check(problem, C, solution, peer)
    check(problem, 0.5, alone, peer)


def test_only_what_may_be_rotated_is():
    rng = new_rng()
    assert wide_problem(rng, "auc", L21()).in_span() is None
    assert wide_problem(rng, "auc", Trace(), n=40, d=50).in_span() is None

    class Other(Trace):
        def value(self, W):
            return 2.0 * super().value(W)

    assert not Other().rotates
