"""Whatever a proposer proposes, the certificate is true; who is asked, and when."""

import numpy as np
import pytest

from smtl.metrics import F1
from smtl.penalties import L21
from smtl.solvers import Problem, solve
from smtl.solvers.proposers import Proposer
from smtl.tasks import SharedRows
from tests.seeds import new_rng


@pytest.fixture
def registered():
    """Names that a test adds go when it ends."""
    before = dict(Proposer.known)
    yield
    Proposer.known.clear()
    Proposer.known.update(before)


def draw(rng):
    X = rng.standard_normal((60, 5))
    Y = np.where(X @ rng.standard_normal((5, 3)) + rng.standard_normal((60, 3)) > 0, 1, -1).astype(np.int8)
    Y[0], Y[1] = 1, -1
    return Problem(SharedRows(X, Y), F1(), L21(), with_intercept=True)


def test_wild_proposals_cost_time_and_not_truth(registered):
    rng = new_rng()
    problem = draw(rng)
    expected = solve(problem, 2.0, tol=1e-5, max_iter=5000).certificate
    asked = []

    class Wild(Proposer):
        name, order = "wild", 1

        @classmethod
        def suits(cls, problem, costs, tol):
            return tol == 1e-4

        def propose(self, state):
            asked.append(state.n_iter)
            if state.n_iter % 2:
                return None
            return state.point + 10.0 ** rng.uniform(-3, 2) * rng.standard_normal(state.problem.shape)

    found = solve(problem, 2.0, tol=1e-4, max_iter=5000)
    assert found.converged
    assert asked == list(range(1, found.n_iter + 1)) or asked == list(range(1, found.n_iter))
    assert found.certificate.bound <= expected.objective * (1 + 1e-9)
    assert expected.bound <= found.certificate.objective * (1 + 1e-9)
    assert found.certificate.objective <= expected.objective * (1 + 1.1e-4)
    asked.clear()
    solve(problem, 2.0, tol=1e-3)
    assert not asked


def test_they_are_asked_in_their_order():
    orders = [each.order for each in Proposer.known.values()]
    assert len(set(orders)) == len(orders)
    assert max(Proposer.known.values(), key=lambda each: each.order).name == "plain"  # which always has an answer


def test_an_order_is_abstract_until_it_can_propose():
    class Silent(Proposer):
        @classmethod
        def suits(cls, problem, costs, tol):
            return True

    with pytest.raises(TypeError, match="abstract"):
        Silent(None)
