"""Measures and their intervals, compared with scikit-learn and with a bootstrap written out row by row."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

from smtl.estimators.targets import read_targets
from smtl.model.evaluation import evaluate
from tests.seeds import new_seed


def made_up(seed, n=120, m=3):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, m)) < [0.5, 0.2, 0.1][:m]).astype(float)
    Y[0], Y[1] = 0, 1
    scores = np.round(Y + rng.normal(size=(n, m)), 1)  # with ties
    return rng, Y, scores


@pytest.mark.parametrize("seed", range(3))
def test_figures_are_scikit_learns(seed):
    rng, Y, scores = made_up(new_seed() + seed)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[0], Y[1] = 0, 1
    answers = (scores > 0.7).astype(np.int8)
    result = evaluate(read_targets(Y, Y), scores, answers, draws=0)
    for i, task in enumerate(result["tasks"]):
        known = ~np.isnan(Y[:, i])
        y, a, s = Y[known, i], answers[known, i], scores[known, i]
        assert (task["rows"], task["positives"], task["predicted"]) == (known.sum(), y.sum(), a.sum())
        assert task["precision"] == pytest.approx(precision_score(y, a, zero_division=0))
        assert task["recall"] == pytest.approx(recall_score(y, a))
        assert task["f1"] == pytest.approx(f1_score(y, a))
        assert task["auc"] == pytest.approx(roc_auc_score(y, s))
        assert "f1_interval" not in task
    known = ~np.isnan(Y)
    assert result["micro"]["f1"] == pytest.approx(f1_score(Y[known], answers[known]))


def test_intervals_are_those_of_the_bootstrap():
    _, Y, scores = made_up(new_seed())
    answers = (scores > 0.7).astype(np.int8)
    n, draws = len(Y), 60
    result = evaluate(read_targets(Y, Y), scores, answers, draws=draws, seed=5)
    rng = np.random.default_rng(5)
    values = {"f1": [], "auc": [], "micro": []}
    for _ in range(draws):
        rows = rng.integers(n, size=n)
        y, a, s = Y[rows], answers[rows], scores[rows]
        some, both = y.sum(axis=0) > 0, (y.sum(axis=0) > 0) & (y.sum(axis=0) < n)
        values["f1"].append([f1_score(y[:, i], a[:, i]) if some[i] else np.nan for i in range(3)])
        values["auc"].append([roc_auc_score(y[:, i], s[:, i]) if both[i] else np.nan for i in range(3)])
        values["micro"].append(f1_score(y.ravel(), a.ravel()))
    for measure in ("f1", "auc"):
        table = np.array(values[measure])
        for i, task in enumerate(result["tasks"]):
            expected = np.nanquantile(table[:, i], [0.025, 0.975])
            assert task[f"{measure}_interval"] == pytest.approx(expected)
        expected = np.quantile(np.nanmean(table, axis=1), [0.025, 0.975])
        assert result["macro"][f"{measure}_interval"] == pytest.approx(expected)
    assert result["micro"]["f1_interval"] == pytest.approx(np.quantile(values["micro"], [0.025, 0.975]))


def test_blocks_of_draws_make_no_difference(monkeypatch):
    _, Y, scores = made_up(0)
    answers = (scores > 0.7).astype(np.int8)
    whole = evaluate(read_targets(Y, Y), scores, answers, draws=40)
    monkeypatch.setattr("smtl.model.evaluation._ENTRIES", 7 * len(Y))
    assert evaluate(read_targets(Y, Y), scores, answers, draws=40) == whole


def test_intervals_cover_as_often_as_they_say():
    covered = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], 60)
        s = 1.0 * y + rng.normal(size=120)
        Y = np.column_stack([y, y])
        scores = np.column_stack([s, s])
        result = evaluate(read_targets(Y, Y), scores, (scores > 0).astype(np.int8), draws=200, seed=seed)
        low, high = result["tasks"][0]["auc_interval"]
        covered.append(low <= 0.7602 <= high)  # P(N(1, 1) > N(0, 1)) is Phi(1 / sqrt 2)
    # 95 % of 200, less four standard deviations of the count.
    assert np.mean(covered) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 200)


def test_what_is_not_defined_is_none():
    Y = np.array([[0, 1, 1], [0, 1, 0], [0, 1, np.nan]])
    scores = np.ones((3, 3))
    result = evaluate(read_targets(Y, Y), scores, np.ones((3, 3), dtype=np.int8), draws=10)
    none, all_yes, mixed = result["tasks"]
    assert none["f1"] is none["auc"] is none["f1_interval"] is None
    assert (all_yes["f1"], all_yes["auc"]) == (1.0, None)
    assert mixed["auc"] == 0.5
    assert result["macro"]["f1"] == mixed["f1"]


def test_tasks_with_their_own_rows():
    rng = np.random.default_rng(1)
    y, task = rng.integers(2, size=90), np.repeat([4, 2, 9], 30)
    s = y + rng.normal(size=90)
    result = evaluate(read_targets(y, y, task), s[:, None], (s > 0.5).astype(np.int8)[:, None], draws=20)
    for i, name in enumerate([2, 4, 9]):
        rows = task == name
        assert result["tasks"][i]["rows"] == 30
        assert result["tasks"][i]["auc"] == pytest.approx(roc_auc_score(y[rows], s[rows]))
