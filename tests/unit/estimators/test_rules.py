"""Cuts with conditions: what they promise holds on new rows; and answers that count the labels of a row."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, binomtest

from smtl import SMTLClassifier, SMTLClassifierCV, SMTLEnsemble, load_model, save_model
from smtl.datasets import Dataset
from smtl.estimators.held_out import Fold, HeldOut
from smtl.estimators.rules import parse_rule
from smtl.estimators.rules.costs import Costs
from smtl.estimators.rules.precision_floor import PrecisionFloor
from smtl.estimators.rules.recall_floor import RecallFloor
from smtl.estimators.targets import read_targets
from smtl.model.described import described
from smtl.model.report import write_report
from smtl.model.scores import answers_of, task_scores
from tests.seeds import new_rng

pytestmark = pytest.mark.filterwarnings("ignore:Task", "ignore:The best C")
RISK = 1e-6  # that a test fails by chance


def held_out(scores, y, n_folds=4):
    """Scores as those of folds, rows in turn."""
    scores, y = np.reshape(scores, (len(y), -1)), np.reshape(y, (len(y), -1))
    none = np.zeros(0, dtype=np.int64)
    folds = [Fold(none, np.arange(k, len(y), n_folds), none, None) for k in range(n_folds)]
    return HeldOut(read_targets(y, y.squeeze()), folds, [scores[fold.test] for fold in folds])


def draw(n, m=4, d=8):
    """Rows of one kind, as many as wanted."""
    rng = new_rng()
    W, shift = rng.standard_normal((m, d)), rng.normal(-0.5, 0.5, m)

    def more(n):
        X = rng.standard_normal((n, d))
        return X, (rng.random((n, m)) < expit(X @ W.T + shift)).astype(int)

    return (*more(n), more)


def test_the_recall_floor_holds_for_any_scores():
    """Many draws of positives of one distribution, whose recall above a cut is known exactly."""
    rng, kept = new_rng(), 0
    floor, trials = 0.85, 300
    for _ in range(trials):
        n = int(rng.integers(40, 200))
        scores = np.concatenate([rng.standard_exponential(n), rng.standard_exponential(n) - 0.5])
        y = np.repeat([1, 0], n)
        mixed = rng.permutation(2 * n)
        cut = RecallFloor(floor).cuts(held_out(scores[mixed], y[mixed]), 4)[0]
        kept += np.exp(-max(cut, 0.0)) >= floor
    assert binom.cdf(kept, trials, 0.95) > RISK


def test_the_precision_floor_holds_for_any_scores():
    """Scores are uniform, and the chance of yes is the score: precision above a cut is (1 + cut) / 2."""
    rng, kept, told = new_rng(), 0, 0
    floor, trials = 0.8, 300
    for _ in range(trials):
        scores = rng.random(int(rng.integers(60, 400)))
        y = (rng.random(len(scores)) < scores).astype(int)
        y[:2] = 0, 1
        held = held_out(scores, y)
        if len(PrecisionFloor(floor).broken(held)[0]) == 0:
            cut = PrecisionFloor(floor).cuts(held, 4)[0]
            told += 1
            kept += (1.0 + min(cut, 1.0)) / 2.0 >= floor
    assert told > 50
    assert binom.cdf(kept, told, 0.95) > RISK


@pytest.mark.parametrize(("metric", "C"), [("log", 0.01), ("auc", 5.0)])
def test_the_recall_floor_holds_for_models_on_new_rows(metric, C):
    """A small C has smaller weights in the folds than in the final model, and must not lead the cut astray."""
    kept = []
    for _ in range(3):
        X, Y, more = draw(400)
        new, truth = more(8000)
        said = SMTLClassifier(metric, "ridge", C=C, threshold="recall>=0.9").fit(X, Y).predict(new)
        kept += [said[truth[:, i] > 0, i].mean() >= 0.9 for i in range(4)]
    assert binom.cdf(np.sum(kept), len(kept), 0.95) > RISK


def test_a_floor_is_kept_with_the_best_precision_and_not_by_saying_yes_to_all():
    X, Y, more = draw(1500, m=2)
    new, truth = more(8000)
    model = SMTLClassifierCV("log", "ridge", Cs=3, cv=4, threshold="recall>=0.8").fit(X, Y)
    assert model.threshold_rule_ == "recall>=0.8"
    assert model.threshold_spread_.shape == (2,)
    said = model.predict(new)
    recall = [said[truth[:, i] > 0, i].mean() for i in range(2)]
    assert np.all(np.array(recall) < 0.93)
    assert np.all(said.mean(axis=0) < 0.9)
    ensemble = SMTLEnsemble(preset="fast", cv=3, threshold="precision>=0.6").fit(X, Y)
    said = ensemble.predict(new)
    assert np.all(truth[said > 0].mean() > 0.55)


def test_too_few_positives_are_told():
    X, Y, _ = draw(200)
    Y[:, 0] = np.arange(200) < 12
    with pytest.warns(UserWarning, match="Task 0 has too few labels for a promise: it takes 29 labelled positives"):
        SMTLClassifier("log", threshold="recall>=0.9").fit(X, Y)
    with pytest.warns(UserWarning, match="no cut has precision>=0.99 on held-out rows"):
        SMTLClassifier("log", threshold="precision>=0.99").fit(X[:60], Y[:60])


def test_costs_are_least_on_new_rows(tmp_path: Path):
    """Against the same cut moved up and down, and against other costs."""
    X, Y, more = draw(2000, m=2)
    new, truth = more(20000)
    model = SMTLClassifier("auc", "ridge", C=5.0, costs=[(8, 1), (1, 3)]).fit(X, Y)
    scores, spread = model.decision_function(new), model.decision_function(new).std(axis=0)
    misses, alarms = np.array([8, 1]), np.array([1, 3])

    def cost(cut):
        yes = scores > cut
        return (misses * (~yes & (truth > 0)) + alarms * (yes & (truth == 0))).mean(axis=0)

    assert np.all(cost(0.0) <= cost(0.5 * spread) * 1.02)
    assert np.all(cost(0.0) <= cost(-0.5 * spread) * 1.02)
    save_model(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "model.skops").predict(new), model.predict(new))
    named = SMTLClassifier("auc", "ridge", C=5.0, costs={1: (1, 3), 0: (8, 1)}).fit(X, Y)
    np.testing.assert_array_equal(named.thresholds_, model.thresholds_)


def test_equal_costs_ask_for_even_odds():
    rng = new_rng()
    s = rng.normal(size=400)
    y = (rng.random(400) < expit(2 * s - 1)).astype(int)
    cut = Costs(np.ones(1), np.ones(1)).cuts(held_out(s, y), 4)[0]
    assert abs(cut - 0.5) < 0.4


@pytest.mark.parametrize(
    ("threshold", "least", "most"), [("at-least-one", 1, 4), ("at-most-1", 0, 1), ("top-2", 2, 2), ("top-9", 4, 4)]
)
@pytest.mark.parametrize("kind", ["linear", "calibrated", "ensemble"])
def test_rows_have_so_many_labels(threshold, least, most, kind, tmp_path: Path):
    X, Y, more = draw(200)
    model = {
        "linear": lambda: SMTLClassifier("auc", threshold=threshold),
        "calibrated": lambda: SMTLClassifierCV("f1", Cs=2, cv=3, threshold=threshold, calibration="logistic"),
        "ensemble": lambda: SMTLEnsemble(learners=["linear"], cv=3, threshold=threshold),
    }[kind]().fit(X, Y)
    new = more(300)[0]
    said = model.predict(new)
    assert said.sum(axis=1).min() >= least
    assert said.sum(axis=1).max() <= most
    ranking = model.predict_proba(new) if hasattr(model, "predict_proba") else model.decision_function(new)
    for row, place in zip(said, ranking, strict=True):  # what is left out is nowhere likelier than what is kept
        if 0 < row.sum() < 4 and threshold.startswith("top"):
            assert place[row > 0].min() >= place[row == 0].max()
    np.testing.assert_array_equal(answers_of(task_scores(model, new), model), said)
    save_model(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "model.skops").predict(new), said)
    with pytest.raises(ValueError, match=re.escape(f"got '{threshold}' instead: it looks at all answers of a row")):
        described(model)


def test_rules_for_rows_keep_other_answers():
    X, Y, _ = draw(200)
    plain = SMTLClassifier("auc").fit(X, Y).predict(X)
    some = SMTLClassifier("auc", threshold="at-least-one").fit(X, Y).predict(X)
    np.testing.assert_array_equal(some[plain.any(axis=1)], plain[plain.any(axis=1)])
    few = SMTLClassifier("auc", threshold="at-most-2").fit(X, Y).predict(X)
    np.testing.assert_array_equal(few[plain.sum(axis=1) <= 2], plain[plain.sum(axis=1) <= 2])
    assert np.all(few <= plain)


def test_tasks_with_rows_of_their_own_and_single_questions_have_floors():
    X, Y, _ = draw(600, m=1)
    site = np.repeat(["north", "south"], 300)
    for model in (
        SMTLClassifier("log", threshold="recall>=0.8").fit(X, Y[:, 0], tasks=site),
        SMTLClassifierCV("log", "ridge", Cs=2, cv=3, threshold="recall>=0.8").fit(X, Y[:, 0], tasks=site),
    ):
        assert model.predict(X, tasks=site)[Y[:, 0] > 0].mean() > 0.8
    assert SMTLClassifier("auc", threshold="recall>=0.8").fit(X, Y[:, 0]).predict(X)[Y[:, 0] > 0].mean() > 0.75


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"threshold": "recall>=0.8"}, {"measure": "recall", "floor": 0.8}),
        ({"costs": (5, 1)}, {"costs": [[5.0, 1.0], [5.0, 1.0]]}),
        ({"threshold": "top-1"}, {"rows": "top-1"}),
    ],
)
def test_the_report_knows_the_condition(options, found, tmp_path: Path):
    X, Y, _ = draw(200, m=2)
    model = SMTLClassifier("log", **options).fit(X, Y)
    write_report(model, Dataset(X, Y), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f'"condition":{json.dumps(found, separators=(",", ":"))}' in text.replace(": ", ":").replace(", ", ",")


@pytest.mark.parametrize(
    ("text", "rule"),
    [("recall >= 0.9", "recall>=0.9"), ("Precision>=.75", "precision>=0.75"), ("AT-MOST-3", "at-most-3")],
)
def test_rules_as_they_are_written(text, rule):
    assert parse_rule(text).text == rule


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": "recall>=1"}, "threshold must have a recall between 0 and 1, got recall>=1 instead."),
        ({"threshold": "recall>0.9"}, "threshold must be one of .* got 'recall>0.9' instead."),
        ({"threshold": "top-0"}, "threshold must be one of"),
        ({"costs": (5, -1)}, "costs must be a pair of positive numbers"),
        ({"costs": {"fraud": (1, 2)}}, "costs must name tasks of the data"),
        ({"costs": (5, 1), "threshold": 0.0}, "threshold must be 'auto' where costs are given, got 0.0 instead."),
    ],
)
@pytest.mark.parametrize("kind", [SMTLClassifier, SMTLClassifierCV, SMTLEnsemble])
def test_errors(kind, options, message):
    X, Y, _ = draw(40)
    with pytest.raises(ValueError, match=message):
        kind(**options).fit(X, Y)


@pytest.mark.parametrize("threshold", ["recall>=0.8", "top-1"])
def test_of_several_classes_one_is_the_answer_and_no_condition_makes_sense(threshold):
    X, Y, _ = draw(60)
    with pytest.raises(ValueError, match="threshold must be something else for one of several classes a row"):
        SMTLClassifier(threshold=threshold).fit(X, Y.sum(axis=1) % 3)


def test_the_share_of_splits_in_which_it_holds_is_tested_rightly():
    """That the binomial tests here would notice a floor that holds in 80 % of all cases."""
    assert binomtest(240, 300, 0.95, alternative="less").pvalue < RISK
