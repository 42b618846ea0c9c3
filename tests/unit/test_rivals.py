"""`benchmarks/rivals.py`: cuts against brute force, and a store that goes on after an interruption."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

import rival_cuts
import rival_tables
import rivals
from smtl.baselines import BinaryRelevance
from smtl.experiments.study_data import load_for_study
from tests.seeds import new_rng


def labels_and_probabilities(rng, n=40, m=4):
    Z = rng.normal(size=(n, m)) - 1.0
    Y = (rng.random((n, m)) < expit(2.0 * Z)).astype(int)
    Y[0], Y[1] = 1, 0  # both classes
    return Y, np.round(expit(Z), 2)  # with ties


def all_cuts(P):
    values = np.unique(P)
    return [values[0] - 1.0, *(0.5 * (values[1:] + values[:-1])), values[-1] + 1.0]


def test_cuts_of_labels_are_the_best_there_are():
    Y, P = labels_and_probabilities(new_rng())
    for y, p, cut in zip(Y.T, P.T, rival_cuts.cuts_of_labels(Y, P), strict=True):
        best = max(f1_score(y, p > c) for c in all_cuts(p))
        assert f1_score(y, p > cut) == pytest.approx(best)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_the_shared_cut_is_the_best_there_is(average):
    Y, P = labels_and_probabilities(new_rng())
    cut = rival_cuts.cut_of_all(Y, P, f"{average}_f1")
    best = max(f1_score(Y, c < P, average=average, zero_division=0) for c in all_cuts(P))
    assert f1_score(Y, cut < P, average=average, zero_division=0) == pytest.approx(best)


def test_a_label_without_positives_is_never_answered_yes():
    Y, P = labels_and_probabilities(new_rng())
    Y[:, 2] = 0
    assert rival_cuts.cuts_of_labels(Y, P)[2] == np.inf


def test_curves_undo_overconfidence():
    rng = new_rng()
    Z = rng.normal(size=(4000, 3)) - np.array([0.0, 1.0, 2.0])
    Y = (rng.random(Z.shape) < expit(Z)).astype(int)
    curves = rival_cuts.LogisticCurves(Y, expit(3.0 * Z + 1.0))
    assert curves.slope == pytest.approx(1.0 / 3.0, abs=0.08)
    assert curves(expit(3.0 * Z + 1.0)).mean(axis=0) == pytest.approx(Y.mean(axis=0), abs=1e-6)
    assert rival_cuts.calibration_error(Y, curves(expit(3.0 * Z + 1.0))) < 0.03
    assert rival_cuts.calibration_error(Y, expit(3.0 * Z + 1.0)) > 0.1


def test_slopes_are_not_negative():
    Y, P = labels_and_probabilities(new_rng(), n=400)
    curves = rival_cuts.LogisticCurves(Y, 1.0 - P)
    assert (curves.slope == 0.0).all()
    assert expit(curves.intercept) == pytest.approx(Y.mean(axis=0))


@pytest.mark.parametrize("share", [0, 1])
def test_a_label_of_one_class_has_a_curve(share):
    Y, P = labels_and_probabilities(new_rng())
    Y[:, 0] = share
    assert rival_cuts.LogisticCurves(Y, P)(P)[:, 0] == pytest.approx(share, abs=1e-3)


def test_calibration_error_by_hand():
    # Bins: 0.1 with shares 1/2, 0.8 with 1, and 1.0 in the last one with 0.
    Y, P = np.array([[1, 0], [1, 0]]), np.array([[0.1, 0.1], [0.8, 1.0]])
    assert rival_cuts.calibration_error(Y, P) == pytest.approx(0.5 * 0.4 + 0.25 * 0.2 + 0.25 * 1.0)


def test_ranks_by_hand():
    values = {("a", "x"): {0: 0.9, 1: 0.7}, ("a", "y"): {0: 0.8, 1: 0.8}, ("a", "z"): {0: 0.1, 1: 0.2}}
    values |= {("b", "x"): {0: 0.5}, ("b", "y"): {0: 0.6}, ("b", "z"): {0: 0.7}}
    assert rival_tables.mean_ranks(values, ["a", "b"], ["x", "y", "z"]) == [2.25, 1.75, 2.0]
    values["b", "z"] = {}
    assert rival_tables.complete(values, ["a", "b"], ["x", "y", "z"]) == ["a"]


def small_forest(seed):
    return [ExtraTreesClassifier(5, random_state=seed)]


def small_logistic(seed):
    return [BinaryRelevance(LogisticRegression(C=C)) for C in (0.01, 1.0)]


def needs_more(seed):
    raise ImportError("needs a package that is not there")


@pytest.fixture
def toy(monkeypatch):
    X, Y = load_for_study("digits")
    monkeypatch.setattr(rivals, "load_for_study", lambda name: (X[:250], Y[:250, :3]))
    methods = {"extra-trees": small_forest, "logistic": small_logistic, "lightgbm": needs_more}
    for name, make in methods.items():
        monkeypatch.setitem(rivals.METHODS, name, rivals.Method(rivals.judge_rival, make))
    return ["--sets", "toy", "--splits", "2", "--methods", *methods]


def table_without_seconds(store, capsys):
    capsys.readouterr()
    assert rivals.main(["table", str(store)]) == 0
    return capsys.readouterr().out.partition("### CPU seconds")[0]


def test_an_interrupted_run_goes_on(toy, tmp_path, monkeypatch, capsys):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert rivals.main(["run", str(whole), *toy]) == 0
    assert "lightgbm is left out: needs a package that is not there." in capsys.readouterr().err
    run_one, runs = rivals.run_one, []

    def interrupted(run):
        if len(runs) == 2:
            raise KeyboardInterrupt
        runs.append(run)
        return run_one(run)

    monkeypatch.setattr(rivals, "run_one", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rivals.main(["run", str(broken), *toy])
    with broken.open("a") as file:
        file.write('{"dataset": "toy", "meth')  # a kill while a line is written
    monkeypatch.setattr(rivals, "run_one", lambda run: runs.append(run) or run_one(run))
    assert rivals.main(["run", str(broken), *toy]) == 0
    assert len(runs) == len(set(runs)) == 4
    assert table_without_seconds(broken, capsys) == table_without_seconds(whole, capsys) != ""


def test_a_run_that_fails_is_not_stored(toy, tmp_path, monkeypatch, capsys):
    def fails(run):
        raise ValueError("no such set")

    monkeypatch.setattr(rivals, "run_one", fails)
    assert rivals.main(["run", str(tmp_path / "store"), *toy]) == 1
    assert "toy, logistic, split 1: failed, ValueError: no such set" in capsys.readouterr().err
    assert not (tmp_path / "store").exists()


def test_a_rival_counts_with_its_better_cuts(toy, tmp_path):
    store = tmp_path / "store"
    rivals.main(["run", str(store), *toy])
    rows = [json.loads(line) for line in store.read_text().splitlines()]
    for row in rows:
        for measure in ("macro_f1", "micro_f1"):
            assert row[measure] == max(row[f"{measure}_per_label"], row[f"{measure}_shared"])
    assert {row["versions"]["scikit-learn"] for row in rows} != {""}
    assert all(row["auc"] > 0.9 and 0.0 <= row["ece"] < 0.5 and row["seconds"] > 0.0 for row in rows)


def test_the_ensemble_of_a_measure_is_compared_with_the_best_rival():
    rows = []
    for split, value in enumerate([0.70, 0.72]):
        for method, gain in [("extra-trees", 0.0), ("boomer", -0.01), ("ensemble", 0.02 + 0.02 * split)]:
            rows.append({"dataset": "toy", "method": method, "split": split, "seconds": 1.0, "auc": value + gain})
    text = rival_tables.behind(rows, ["toy"], ["extra-trees", "boomer", "ensemble"])
    assert text.splitlines()[2:] == ["| toy | Mean AUC | extra trees | 71.0 | 74.0 | +3.0 ± 1.0 |"]


def test_certain_probabilities_have_curves():
    Y, _ = labels_and_probabilities(new_rng())
    curves = rival_cuts.LogisticCurves(Y, Y.astype(float))
    assert np.isfinite(curves(np.array([[0.0, 1.0, 0.5, 0.2]]))).all()
