"""Both solvers against exact optima."""

from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from smtl import SMTLClassifier
from smtl.metrics import get_metric
from smtl.penalties import get_penalty
from smtl.solvers import Problem, solve
from smtl.solvers.proposers.level import Level
from smtl.solvers.settings import SETTINGS
from smtl.tasks import OwnRows
from tests.reference.ground_truth import instances
from tests.seeds import new_rng

INSTANCES = instances()


def problem_of(instance):
    tasks = OwnRows(instance.X, instance.y, instance.ptr)
    return Problem(tasks, get_metric(instance.metric), get_penalty(instance.penalty))


def test_there_are_147_instances():
    assert len(INSTANCES) == 147


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda i: f"{i.number}-{i.metric}-{i.penalty}")
def test_bundle_reaches_the_optimum_with_a_true_bound(instance):
    solution = solve(problem_of(instance), instance.C, "bundle", tol=1e-7, max_iter=5000)
    best = solution.certificate
    assert solution.converged
    assert best.gap <= 1e-7
    assert best.objective <= instance.optimum * (1 + 1e-6)
    assert best.objective >= instance.optimum * (1 - 1e-8)
    assert best.bound <= instance.optimum + 1e-9


@pytest.mark.parametrize("instance", INSTANCES[1::4], ids=lambda i: f"{i.number}-{i.metric}-{i.penalty}")
def test_so_does_the_level_method(instance, monkeypatch):
    # On problems as small as these, passes are not dear: they must be made to be.
    settings = replace(SETTINGS, steps_a_pass=1e-9, first_passes=2)
    proposed = []
    monkeypatch.setattr(Level, "_next_centre", lambda *args, go=Level._next_centre: proposed.append(1) or go(*args))
    solution = solve(problem_of(instance), instance.C, "bundle", tol=1e-7, max_iter=5000, settings=settings)
    best = solution.certificate
    assert solution.converged
    assert solution.n_iter - 2 <= len(proposed) <= solution.n_iter - 1
    assert instance.optimum * (1 - 1e-8) <= best.objective <= instance.optimum * (1 + 1e-6)
    assert best.bound <= instance.optimum + 1e-9


def test_so_does_the_level_method_given_up_half_way(monkeypatch):
    events, courses = [], []
    monkeypatch.setattr(Level, "_next_centre", lambda *args, go=Level._next_centre: events.append("l") or go(*args))
    monkeypatch.setattr(Level, "_give_up", lambda *args, go=Level._give_up: events.append("g") or go(*args))
    for instance in INSTANCES[2::4]:
        events.clear()
        problem = problem_of(instance)
        m, d = problem.shape
        # Planes may be five a task: fewer than most of these problems need.
        a_step = m * 5 * (d + 15)
        settings = replace(
            SETTINGS, first_passes=2, around_values=0.0, cube=0.0,
            steps_a_pass=(problem.cost() + SETTINGS.around_a_pass) / a_step,
        )  # fmt: skip
        solution = solve(problem, instance.C, "bundle", tol=1e-7, max_iter=5000, settings=settings)
        best = solution.certificate
        assert solution.converged
        assert instance.optimum * (1 - 1e-8) <= best.objective <= instance.optimum * (1 + 1e-6)
        assert best.bound <= instance.optimum + 1e-9
        courses.append("".join(kind for kind, _ in groupby(events)))
    assert sum(course == "lg" for course in courses) > 10
    assert all("lg".startswith(course) for course in courses)


@pytest.mark.parametrize("instance", INSTANCES[3::8], ids=lambda i: f"{i.number}-{i.metric}-{i.penalty}")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_paper_reaches_the_optimum_roughly(instance):
    best = solve(problem_of(instance), instance.C, "paper", tol=1e-3, max_iter=1500).certificate
    assert best.objective <= instance.optimum * (1 + 1e-3)
    assert best.bound <= instance.optimum + 1e-9


@pytest.mark.parametrize("instance", [i for i in INSTANCES[::5] if i.has_both_classes], ids=lambda i: str(i.number))
@pytest.mark.filterwarnings("ignore:Task")
def test_the_classifier_solves_the_same_problem(instance):
    model = SMTLClassifier(
        instance.metric, instance.penalty, C=instance.C, fit_intercept=False, tol=1e-7, threshold=0.0
    )
    model.fit(instance.X, instance.y, tasks=instance.task)
    assert model.gap_ <= 1e-7
    assert model.objective_ == pytest.approx(instance.optimum, rel=1e-6)
    assert model.dual_bound_ <= instance.optimum + 1e-9
    # The objective is that of the weights that are kept.
    losses = 0.0
    for i in range(instance.n_tasks):
        rows = instance.task == i
        scores = instance.X[rows] @ model.coef_[i]
        delta, c = get_metric(instance.metric).oracle(scores, instance.y[rows])
        losses += delta - scores @ c
    objective = get_penalty(instance.penalty).value(model.coef_) + instance.C * losses
    assert objective == pytest.approx(model.objective_, rel=1e-9)


def test_an_unfinished_run_warns_with_its_gap():
    hard = max(INSTANCES, key=lambda i: solve(problem_of(i), i.C, tol=1e-5).n_iter)
    with pytest.warns(
        ConvergenceWarning, match=r"stopped after 3 iterations at a certified relative gap of .* max_iter"
    ):
        solution = solve(problem_of(hard), hard.C, tol=1e-7, max_iter=3)
    assert not solution.converged
    assert solution.certificate.gap > 1e-7
    assert solution.certificate.bound <= hard.optimum + 1e-9 <= solution.certificate.objective + 2e-9


@pytest.mark.parametrize("penalty", ["l11", "l21", "trace", "ridge"])
@pytest.mark.parametrize("metric", ["f1", "auc", "log", "error"])
@pytest.mark.parametrize("with_intercept", [False, True])
def test_history_and_bounds_are_consistent(metric, penalty, with_intercept):
    rng = new_rng()
    X, y = rng.standard_normal((40, 4)), np.where(rng.random(40) < 0.3, 1, -1).astype(np.int8)
    y[:2], y[20:22] = [1, -1], [1, -1]
    tasks = OwnRows(X, y, np.array([0, 20, 40]))
    problem = Problem(tasks, get_metric(metric), get_penalty(penalty), with_intercept=with_intercept)
    solution = solve(problem, 0.5, tol=1e-5)
    history, best = solution.history, solution.certificate
    assert {len(column) for column in history.values()} == {solution.n_iter}
    assert np.all(np.diff(history["bound"]) >= 0)
    assert np.all(history["bound"] <= history["objective"].min() * (1 + 1e-12))
    assert best.objective == history["objective"].min()
    assert np.all(np.diff(history["seconds"]) >= 0)
    # No other weights and intercepts do better than the bound says.
    for _ in range(20):
        W = best.W + rng.standard_normal(best.W.shape) * 10.0 ** rng.uniform(-4, 0)
        b = best.intercept + (rng.standard_normal(2) if with_intercept else 0.0)
        total = problem.penalty.value(W)
        for i, rows in enumerate([slice(0, 20), slice(20, 40)]):
            scores = X[rows] @ W[i] + b[i]
            delta, c = problem.metric.oracle(scores, y[rows])
            total += 0.5 * (delta - scores @ c)
        assert total >= best.bound * (1 - 1e-9)
