"""`smtl export`: a model's file becomes one for other programs, and one line where that cannot be."""

import csv
import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smtl import SMTLClassifier
from smtl.model import load_model, save_model

NAMES = ["beat", "beat is missing", "key=major", "key=minor", "key=none, at all", "year"]
DOCS = Path(__file__).resolve().parents[3] / "docs" / "exporting.md"


@pytest.fixture(scope="module")
def truth(songs, song_features):
    """Return the features of the songs, and what the model itself says of them."""
    frame, features = song_features
    model = load_model(songs / "songs.skops")
    assert model[0].get_feature_names_out().tolist() == features.columns.tolist() == NAMES
    filled = features.fillna(model[0].parts_[0].mean).to_numpy()
    np.testing.assert_allclose(model[0].unscaled(frame), filled, rtol=1e-12, atol=1e-12)
    return features.to_numpy(), model.decision_function(frame), model.predict(frame)


@pytest.fixture(scope="module")
def documented():
    """Return the functions that the docs have, as they stand there."""
    found = {}
    for block in re.findall(r"^```python\n(def .*?)^```$", DOCS.read_text(encoding="utf-8"), re.M | re.S):
        exec(block, found)
    return found


def use(output, **known):
    """Run the lines that the command tells to run; return all that they define."""
    lines = re.findall(r"^    (.*)$", output.partition("Next, in Python:")[2], re.M)
    assert len(lines) == 2
    exec("\n".join(lines), known)
    return known


def test_a_process_writes_onnx_and_says_how_to_use_it(forked, songs, truth, tmp_path, monkeypatch):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    (tmp_path / "songs.skops").write_bytes((songs / "songs.skops").read_bytes())
    done = forked("export", "songs.skops", "--to", "onnx")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Wrote songs.onnx.\n")
    assert f"Features:         {', '.join(NAMES)}\n" in done.stdout
    assert "One-hot:          key; key=major is 1 where key is major, else 0\n" in done.stdout
    X, scores, answers = truth
    monkeypatch.chdir(tmp_path)
    found = use(done.stdout, X=X)
    np.testing.assert_allclose(found["scores"], scores, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(found["labels"], answers)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["songs.onnx", "songs.skops"]


def test_json_is_scored_by_the_documented_lines(command, songs, truth, documented):
    code, output, error = command("export", songs / "songs.skops", "--to", "json", "-o", "weights.json")
    assert (code, error) == (0, "")
    weights = json.loads(Path("weights.json").read_bytes())
    assert weights["one_hot"]["key"]["none, at all"] == "key=none, at all"
    X, scores, answers = truth
    with open(songs / "songs.csv", newline="") as file:
        table = list(csv.DictReader(file))
    for k, cells in enumerate(table):
        # In another order, with the labels that a table has as well; the third of ten has no beat.
        song = {"key": cells["key"], "year": float(cells["year"]), "beat": float(cells["beat"] or "nan"), "sad": 1}
        features = documented["one_hot"](weights, song)
        np.testing.assert_allclose(documented["scores_of"](weights, features), scores[k], rtol=0, atol=1e-5)
        assert documented["answers_of"](weights, features) == answers[k].tolist()
    whole = dict(zip(weights["features"], X[0].tolist(), strict=True))
    np.testing.assert_allclose(use(output, row=whole)["scores"], scores[0], rtol=0, atol=1e-5)


def test_keys_that_are_missing_or_new_are_as_in_predict(command, songs, documented):
    rows = '0.5,,1990\n0.5,,1990\n0.5,dorian,1990\n,minor,1960\n0.5,"none, at all",\n'
    Path("new.csv").write_text(f"beat,key,year\n{rows}")
    assert command("predict", songs / "songs.skops", "new.csv", "--what", "scores", "-o", "scores.csv")[0] == 0
    expected = np.loadtxt("scores.csv", delimiter=",", skiprows=1)
    command("export", songs / "songs.skops", "--to", "json", "-o", "weights.json")
    weights = json.loads(Path("weights.json").read_bytes())
    keys = [None, float("nan"), "dorian", "minor", "none, at all"]
    beats, years = [0.5, 0.5, 0.5, None, 0.5], [1990, 1990, 1990, 1960, None]
    for key, beat, year, scores in zip(keys, beats, years, expected, strict=True):
        row = documented["one_hot"](weights, {"key": key, "beat": beat, "year": year})
        np.testing.assert_allclose(documented["scores_of"](weights, row), scores, rtol=0, atol=1e-5)


@pytest.mark.parametrize("form", ["onnx", "json"])
def test_summary_for_programs(command, songs, form, tmp_path):
    pytest.importorskip(form)
    code, output, error = command("export", songs / "songs.skops", "--to", form, "-o", "out.bin", "--json")
    assert (code, error) == (0, "")
    found = json.loads(output)
    assert (found["out"], found["to"], found["bytes"]) == ("out.bin", form, (tmp_path / "out.bin").stat().st_size)
    assert (found["kind"], found["tasks"]) == ("multilabel", ["calm", "sad"])
    assert found["features"] == NAMES


def test_tasks_with_rows_of_their_own(command, tmp_path):
    rng = np.random.default_rng(0)
    X, tasks = rng.normal(size=(60, 2)), np.array(["north", "south"])[np.arange(60) % 2]
    lines = [f"{a},{b},{place},{int(a > 0)}" for (a, b), place in zip(X, tasks, strict=True)]
    Path("sites.csv").write_text("\n".join(["a,b,place,ill", *lines]))
    assert (
        command("fit", "sites.csv", "--labels", "ill", "--task-column", "place", "--model", "linear", "--C", "auto")[0]
        == 0
    )
    code, output, _ = command("export", "model.skops", "--to", "json")
    assert code == 0
    assert "Tasks:            north, south; tasks\n" in output
    scores = load_model("model.skops").decision_function(pd.DataFrame(X[:1], columns=["a", "b"]))[0]
    np.testing.assert_allclose(use(output, row=dict(zip("ab", X[0], strict=True)))["scores"], scores, rtol=0, atol=1e-5)


def test_errors_are_one_line(fails, songs, tmp_path, monkeypatch):
    model = songs / "songs.skops"
    assert "--to must be one of onnx, json, got 'pmml' instead." in fails("export", model, "--to", "pmml", code=2)
    assert "--to" in fails("export", model, code=2)
    assert "no such file" in fails("export", "nowhere/missing.skops", "--to", "onnx")
    assert "got another file instead" in fails("export", songs / "songs.csv", "--to", "json")
    assert "directory" in fails("export", tmp_path, "--to", "json")
    assert "it is a directory" in fails("export", model, "--to", "json", "-o", tmp_path)
    assert "does not exist" in fails("export", model, "--to", "json", "-o", "nowhere/songs.json")
    (tmp_path / "songs.json").write_bytes(model.read_bytes())
    assert "it is read by this command; choose another with -o." in fails("export", "songs.json", "--to", "json")
    load_model(tmp_path / "songs.json")
    bare = SMTLClassifier(tol=1e-1).fit(np.eye(4), [0, 1, 0, 1])
    save_model(bare, tmp_path / "twins.skops", feature_names=["a", "b", "a", "c"])
    assert "got 'a' 2 times" in fails("export", "twins.skops", "--to", "json")
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert "run pip install onnx" in fails("export", model, "--to", "onnx", "-o", "songs.onnx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["songs.json", "twins.skops"]


def test_a_full_disk_leaves_what_was_there(fails, songs, tmp_path, monkeypatch):
    import smtl.whole_file

    def full(_):
        raise OSError(28, "No space left on device")

    (tmp_path / "old.json").write_bytes(b"old")
    monkeypatch.setattr(smtl.whole_file.os, "fsync", full)
    error = fails("export", songs / "songs.skops", "--to", "json", "-o", "old.json")
    assert error == "Error: cannot write 'old.json': No space left on device.\n"
    assert (tmp_path / "old.json").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]
