"""Tasks that are judged within groups of rows: the mean over the groups, as each of them by itself has it."""

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from smtl.groups import graded_groups, groups_of_tasks
from smtl.metrics import NDCG, get_metric
from smtl.penalties import L21
from smtl.solvers import Problem, solve
from smtl.tasks import OwnRows, SharedRows
from tests.candidates import candidates
from tests.seeds import new_rng


def draw(rng, n=60, m=3):
    """Labels with gaps, and groups some of which have one class or one row."""
    Y = rng.choice([-1, -1, 1, 0], size=(n, m)).astype(np.int8)
    group = rng.integers(0, 12, n)
    Y[group == 3] = 1
    group[0] = 99
    return Y, group


def one_by_one(metric, scores, y, group):
    """The mean of the oracle over the groups with both classes."""
    plane, losses = np.zeros(len(y)), []
    used = [k for k in np.unique(group) if {1, -1} <= set(y[group == k])]
    for k in used:
        rows = np.flatnonzero((group == k) & (y != 0))
        delta, c = metric.oracle(scores[rows], y[rows])
        plane[rows] = c / len(used)
        losses.append((delta, delta - scores[rows] @ c))
    return *np.mean(losses, axis=0), plane, len(used)


@pytest.mark.parametrize("name", ["ap", "ndcg", "auc", "pauc", "precision@k", "prbep", "f1"])
@pytest.mark.parametrize("shared", [True, False])
def test_the_mean_over_groups(name, shared):
    rng = new_rng()
    for _ in range(3):
        metric, (Y, group) = get_metric(name), draw(rng)
        m, n = Y.shape[1], len(Y)
        X, W = rng.normal(size=(n, 4)), rng.normal(size=(m, 4))
        if shared:
            tasks = SharedRows(X, Y)
            places = [np.arange(n)] * m
        else:
            task = np.sort(rng.integers(0, m, n))
            places = [np.flatnonzero(task == i) for i in range(m)]
            y = Y[np.arange(n), task]
            tasks = OwnRows(X, y, np.concatenate([[0], np.cumsum(np.bincount(task, minlength=m))]))
        flat = np.concatenate([group[rows] for rows in places])
        tasks.groups = groups_of_tasks(tasks.y, tasks.ptr, flat)
        if not tasks.groups.n_used.all():
            continue
        got = Problem(tasks, metric, L21()).one_pass(W, np.zeros(m))
        for i, rows in enumerate(places):
            labels = tasks.y[tasks.ptr[i] : tasks.ptr[i + 1]]
            delta, loss, c, used = one_by_one(metric, X[rows] @ W[i], labels, group[rows])
            assert got.delta[i] == pytest.approx(delta)
            assert got.loss[i] == pytest.approx(loss)
            np.testing.assert_allclose(got.slope[i], c @ X[rows], atol=1e-9)
            labelled = [set(labels[group[rows] == k]) - {0} for k in np.unique(group[rows])]
            assert tasks.groups.n_used[i] == used
            assert tasks.groups.n_left_out[i] == sum(len(classes) == 1 for classes in labelled)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_a_pass_in_parts_is_the_same(n_threads):
    rng = new_rng()
    Y, group = draw(rng, 200, 5)
    tasks = SharedRows(rng.normal(size=(200, 3)), Y)
    tasks.groups = groups_of_tasks(tasks.y, tasks.ptr, np.tile(group, 5))
    W = rng.normal(size=(5, 3))
    whole, parts = (
        Problem(tasks, get_metric("ap"), L21(), n_threads=k).one_pass(W, np.zeros(5)) for k in (1, n_threads)
    )
    for name in ("loss", "delta", "slope"):
        np.testing.assert_allclose(getattr(whole, name), getattr(parts, name), atol=1e-12)


def test_one_group_is_no_group():
    rng = new_rng()
    X, Y = rng.normal(size=(80, 4)), rng.choice([-1, 1], size=(80, 2)).astype(np.int8)
    within = SharedRows(X, Y)
    within.groups = groups_of_tasks(within.y, within.ptr, np.zeros(160, np.int64))
    one, other = (
        solve(Problem(tasks, get_metric("auc"), L21()), 5.0, tol=1e-6) for tasks in (SharedRows(X, Y), within)
    )
    assert one.certificate.objective == pytest.approx(other.certificate.objective, rel=1e-5)


def test_an_intercept_for_all_groups_is_refused():
    tasks = SharedRows(np.eye(2), np.array([[1], [-1]], dtype=np.int8))
    tasks.groups = groups_of_tasks(tasks.y, tasks.ptr, np.zeros(2, np.int64))
    with pytest.raises(
        ValueError, match=r"metric must be one of the order, .* got F1\(\) instead: .* fit_intercept=False"
    ):
        Problem(tasks, get_metric("f1"), L21(), with_intercept=True)
    assert not Problem(tasks, get_metric("ap"), L21(), with_intercept=True).with_intercept


def graded_loss(s, grades, gains):
    """The mean over the questions "at least t" of the worst ranking of each, by their share of the ideal gain."""
    total = ideal = 0.0
    for t in range(1, max(grades) + 1):
        yes = grades >= t
        step, part = gains[t] - gains[t - 1], np.sum(1.0 / np.log2(np.arange(yes.sum()) + 2.0))
        ideal += step * part
        if yes.all() or not yes.any():
            continue
        delta, c = candidates(NDCG(), int(yes.sum()), int((~yes).sum()))
        total += step * part * np.max(delta - c @ np.concatenate([s[yes], s[~yes]]))
    return total / ideal


@pytest.mark.parametrize("linear", [True, False])
def test_graded_relevance(linear):
    rng = new_rng()
    for _ in range(60):
        sizes = rng.integers(2, 6, 3)
        group, grades = np.repeat([2, 0, 7], sizes), rng.integers(0, 4, sizes.sum())
        grades[:2] = 0, 3  # a group at least that counts
        gains = np.arange(4.0) if linear else 2.0 ** np.arange(4) - 1
        s = rng.normal(size=len(grades)) * rng.choice([0.05, 1.0]) if rng.random() < 0.8 else np.zeros(len(grades))
        found = graded_groups(grades, group, gains)
        delta, c, value = found.planes(NDCG(), s, 0, 1, 0)
        rows = [np.flatnonzero(group == k) for k in np.unique(group)]
        rows = [part for part in rows if np.ptp(grades[part]) > 0]
        assert found.n_used[0] == len(rows)
        assert found.n_left_out[0] == 3 - len(rows)
        wanted = np.mean([graded_loss(s[part], grades[part], gains) for part in rows])
        assert value[0] == pytest.approx(wanted)
        assert delta[0] - s @ c == pytest.approx(wanted)
        short = np.mean([1 - ndcg_score([gains[grades[part]]], [s[part]]) for part in rows])
        assert value[0] >= short - 1e-9
