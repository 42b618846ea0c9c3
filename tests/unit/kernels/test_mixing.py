"""The bound of a mixture, against `smtl.penalties` and against all mixtures."""

import numpy as np
import pytest

from smtl.metrics import AUC
from smtl.penalties import L11, L21, Trace
from smtl.solvers import Certificate, Problem
from smtl.tasks import SharedRows
from tests.seeds import new_rng


def draw(rng, penalty):
    X = rng.normal(size=(40, 6))
    Y = np.where(X @ rng.normal(size=(6, 3)) + rng.normal(size=(40, 3)) > 0, 1, -1).astype(np.int8)
    Y[0], Y[1] = 1, -1
    return Problem(SharedRows(X, Y), AUC(), penalty), 10.0 ** rng.uniform(-1, 2)


def planes(rng, problem):
    _, delta, G, _ = problem.one_pass(0.3 * rng.normal(size=problem.shape), np.zeros(problem.shape[0]))
    return delta, G


def bound_of(penalty, C, delta, G):
    return penalty.lower_bound(C * G, C * delta.sum())[0]


@pytest.mark.parametrize("penalty", [L11(), L21(), Trace()], ids=repr)
def test_the_best_mixture_of_two(penalty):
    rng = new_rng()
    for _ in range(20):
        problem, C = draw(rng, penalty)
        (old_delta, old_G), (delta, G) = planes(rng, problem), planes(rng, problem)
        given = delta.copy(), G.copy()
        certificate = Certificate()
        certificate.see_planes(penalty, C, old_delta, old_G)
        assert certificate.bound == pytest.approx(bound_of(penalty, C, old_delta, old_G), rel=1e-12)
        certificate.see_planes(penalty, C, delta, G)
        np.testing.assert_array_equal(given[0], delta)
        np.testing.assert_array_equal(given[1], G)
        # What is kept is what the bound is from.
        assert certificate.bound == pytest.approx(bound_of(penalty, C, certificate.delta, certificate.G), rel=1e-12)
        part = np.sum((certificate.G - old_G) * (G - old_G)) / np.sum((G - old_G) ** 2)
        assert -1e-12 <= part <= 1 + 1e-12
        np.testing.assert_allclose(certificate.G, (1 - part) * old_G + part * G, atol=1e-12)
        np.testing.assert_allclose(certificate.delta, (1 - part) * old_delta + part * delta, atol=1e-12)
        parts = np.linspace(0.0, 1.0, 301)
        bounds = [bound_of(penalty, C, (1 - p) * old_delta + p * delta, (1 - p) * old_G + p * G) for p in parts]
        # Bounds rise and then fall, and three golden sections leave less than a quarter of the parts.
        best = int(np.argmax(bounds))
        near = min(bounds[max(best - 75, 0)], bounds[min(best + 75, 300)])
        assert certificate.bound >= max(near, bounds[0], bounds[-1]) * (1 - 1e-12)


@pytest.mark.parametrize("penalty", [L11(), L21(), Trace()], ids=repr)
def test_a_worse_combination_changes_nothing(penalty):
    rng = new_rng()
    problem, C = draw(rng, penalty)
    certificate = Certificate()
    certificate.see_planes(penalty, C, *planes(rng, problem))
    bound, G = certificate.bound, certificate.G.copy()
    certificate.see_planes(penalty, C, np.full(3, -1.0), 1e3 * G)
    assert certificate.bound == bound
    np.testing.assert_array_equal(certificate.G, G)
