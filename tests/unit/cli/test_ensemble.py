"""Every command for models with an ensemble."""

import io
import json
import re
import sys
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from smtl.estimators.targets import read_targets
from smtl.model import load_model
from smtl.model.importance import permutation_importance
from smtl.model.training import hold_out
from smtl.tables.data import read_table_data


@pytest.fixture(scope="session")
def ensemble(songs):
    """Return the file of an ensemble that smtl fit makes of the songs."""
    from smtl.cli import main

    out = songs / "ensemble.skops"
    arguments = ["fit", songs / "songs.csv", "--labels", "calm,sad", "--preset", "fast", "--cv", 3, "-o", out, "--json"]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()):
        patch.setattr(sys, "argv", ["smtl", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 0
    return out


def test_predict_answers_scores_and_probabilities(command, ensemble, songs):
    model, frame = load_model(ensemble), pd.read_csv(songs / "songs.csv")
    for what, expected in {
        "labels": model.predict(frame),
        "scores": model.decision_function(frame),
        "probabilities": model.predict_proba(frame),
    }.items():
        code, output, error = command("predict", ensemble, songs / "songs.csv", "--what", what)
        assert (code, error) == (0, "")
        head, *rows = output.splitlines()
        word = {"labels": "", "scores": "score:", "probabilities": "probability:"}[what]
        assert head == f"{word}calm,{word}sad"
        np.testing.assert_array_equal(np.array([row.split(",") for row in rows], dtype=float), expected)


def test_probabilities_of_a_model_that_has_none(fails, songs):
    line = fails("predict", songs / "songs.skops", songs / "songs.csv", "--what", "probabilities", "-o", "p.csv")
    assert "trained for the metric f1 has no probabilities" in line


def test_infinite_features_are_named(fails, ensemble, tmp_path):
    (tmp_path / "inf.csv").write_text("beat,key,year\ninf,major,1970\n")
    line = fails("predict", ensemble, "inf.csv")
    assert "inf.csv, line 2, column 1: 'beat' must be finite, got 'inf' instead." in line


def test_evaluate_on_the_rows_of_the_test(command, ensemble, songs):
    # The rows are kept beside the model, as they came.
    kept, frame = pd.read_csv(songs / "ensemble-test.csv"), pd.read_csv(songs / "songs.csv")
    _, test = hold_out(read_table_data(songs / "songs.csv", labels=["calm", "sad"]), 0.25, seed=0)
    pd.testing.assert_frame_equal(kept, frame.iloc[test].reset_index(drop=True))
    code, output, error = command("evaluate", ensemble, songs / "ensemble-test.csv", "--json", "--bootstrap", "0")
    assert (code, error) == (0, "")
    told = json.loads(command("inspect", ensemble, "--json")[1])
    assert json.loads(output)["macro"]["f1"] == pytest.approx(told["mean_scores"]["f1"])
    assert json.loads(output)["training_data"] is False


def test_inspect_shows_learners_and_what_tasks_rest_on(command, ensemble, songs):
    found = json.loads(command("inspect", ensemble, songs / "songs.csv", "--json", "--top", "2")[1])
    final = load_model(ensemble)[-1]
    assert [one["name"] for one in found["learners"]] == final.leaderboard_["learner"].tolist()
    assert sum(one["weight"] for one in found["learners"]) == pytest.approx(1.0)
    assert set(found["rivals"]) == {"logistic", "forest"}
    for task, cut, spread in zip(found["tasks"], final.thresholds_, final.threshold_spread_, strict=True):
        assert task["cut_between"] == pytest.approx([expit(cut - spread), expit(cut + spread)])
    # The songs are made so: calm by beat and key, sad by the year.
    calm, sad = found["importance"]["tasks"]
    assert {one["feature"] for one in calm} == {"beat", "key"}
    assert sad[0]["feature"] == "year"
    assert sad[0]["interval"][0] > 0.2 > sad[1]["interval"][1]
    code, output, _ = command("inspect", ensemble, songs / "songs.csv")
    assert code == 0
    assert re.search(r"^ *The ensemble +0\.\d{3} +1\.00", output, re.M)
    assert "AUC falls by" in output


def test_importance_is_the_fall_of_auc():
    from sklearn.metrics import roc_auc_score

    from smtl import SMTLClassifier

    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    model = SMTLClassifier().fit(X, y)
    [found] = permutation_importance(model, X, read_targets(X, y), ["a", "b", "c"], top=3)["tasks"]
    assert [one["feature"] for one in found] == ["a", "b", "c"]
    whole = roc_auc_score(y, model.decision_function(X))
    for j, one in enumerate(found):
        shuffled = []
        for _ in range(40):
            Z = X.copy()
            Z[:, j] = rng.permutation(Z[:, j])
            shuffled.append(roc_auc_score(y, model.decision_function(Z)))
        assert one["drop"] == pytest.approx(whole - np.mean(shuffled), abs=4 * np.std(shuffled) / 3**0.5 + 1e-9)
        assert one["interval"][0] <= one["drop"] <= one["interval"][1]


def test_report_has_learners_instead_of_weights(command, ensemble, songs, tmp_path):
    code, output, error = command("report", ensemble, songs / "songs.csv", "-o", "r.html", "--json")
    assert (code, error) == (0, "")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Score by itself" in page
    assert "AUC falls by" in page
    assert "Features used" not in page
    assert len(json.loads(output)["importance"]["tasks"]) == 2


def test_export_as_weights_says_why_not(fails, ensemble, tmp_path):
    line = fails("export", ensemble, "--to", "json", "-o", tmp_path / "m.json")
    assert "an ensemble cannot be exported as weights, because its learners (" in line
    assert "export it with --to onnx (in Python, smtl.model.onnx_ensemble), or train with --model linear" in line
    assert list(tmp_path.iterdir()) == []


def test_export_to_onnx_and_use_as_told(command, ensemble, song_features):
    pytest.importorskip("onnx", reason="ONNX files need onnx")
    pytest.importorskip("onnxruntime", reason="ONNX files are run by onnxruntime")
    code, output, error = command("export", ensemble, "--to", "onnx", "-o", "songs.onnx")
    assert (code, error) == (0, "")
    assert "Missing features: NaN\n" in output
    assert "One-hot:          key; key=major is 1 where key is major, else 0\n" in output
    lines = re.findall(r"^    (.*)$", output.partition("Next, in Python:")[2], re.M)
    model, (frame, features) = load_model(ensemble), song_features
    assert f"Features:         {', '.join(features.columns)}\n" in output
    found = {"X": features.to_numpy()}
    exec("\n".join(lines), found)
    np.testing.assert_allclose(found["scores"], model.decision_function(frame), rtol=0, atol=1e-5)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(frame), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(found["labels"], model.predict(frame))
    told = json.loads(command("export", ensemble, "--to", "onnx", "-o", "songs.onnx", "--json")[1])
    assert told["tasks"] == ["calm", "sad"]
    assert sum(told["learners"].values()) == pytest.approx(1.0)


def test_export_without_onnx(fails, ensemble, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert "run pip install onnx" in fails("export", ensemble, "--to", "onnx", "-o", tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []
