"""`smtl inspect`: what a model is, and what it looks at."""

import json

import numpy as np
import pytest

from smtl import SMTLClassifier
from smtl.datasets import load_dataset
from smtl.model import load_model, save_model


def test_a_process_prints_json(forked, songs):
    done = forked("inspect", songs / "songs.skops", "--json", "--top", 2)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    final = load_model(songs / "songs.skops")[-1]
    names = ["beat", "beat is missing", "key=major", "key=minor", "key=none, at all", "year"]
    assert found["steps"] == ["TableEncoder", "SMTLClassifierCV"]
    columns = [(entry["column"], entry["read_as"], entry["features"]) for entry in found["columns"]]
    assert columns == [("beat", "number", 2), ("key", "category", 3), ("year", "number", 1)]
    assert found["n_features"] == len(names)
    assert (found["metric"], found["penalty"], found["gap"]) == ("f1", "l21", final.gap_)
    for task, weights in zip(found["tasks"], final.coef_, strict=True):
        order = np.argsort(-np.abs(weights))[:2]
        assert task["top"] == [{"feature": names[j], "weight": weights[j]} for j in order if weights[j]]
    assert found["top"][0]["feature"] == names[np.linalg.norm(final.coef_, axis=0).argmax()]
    assert found["directions"] is None
    assert found["data"]["rows"] == 200


def test_directions_of_a_low_rank(command, tmp_path):
    data = load_dataset("digits")
    model = SMTLClassifier("auc", "trace", threshold=0.0, tol=1e-2).fit(data.X / 16, data.Y)
    save_model(model, tmp_path / "m.skops", feature_names=data.feature_names, task_names=data.label_names)
    found = json.loads(command("inspect", "m.skops", "--json", "--top", "64")[1])
    rank = np.linalg.matrix_rank(model.coef_, tol=1e-6 * np.linalg.norm(model.coef_, 2))
    assert len(found["directions"]) == rank
    # All of them together are the weights again.
    place = {name: j for j, name in enumerate(data.feature_names)}
    rebuilt = np.zeros_like(model.coef_)
    for direction in found["directions"]:
        u, v = np.zeros(10), np.zeros(64)
        for entry in direction["tasks"]:
            u[int(entry["task"])] = entry["weight"]
        for entry in direction["features"]:
            v[place[entry["feature"]]] = entry["weight"]
        rebuilt += direction["size"] * np.outer(u, v)
    np.testing.assert_allclose(rebuilt, model.coef_, atol=1e-5 * np.abs(model.coef_).max())
    assert sum(direction["share"] for direction in found["directions"]) == pytest.approx(1.0)
    code, output, _ = command("inspect", "m.skops")
    assert code == 0
    assert f"Direction {rank}: " in output
    assert f"Certified gap:    {model.gap_:.1e}" in output


def test_errors_are_one_line(fails, songs, tmp_path):
    content = (songs / "songs.skops").read_bytes()
    (tmp_path / "cut.skops").write_bytes(content[:-100])
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1
    (tmp_path / "changed.skops").write_bytes(changed)
    assert "cut short" in fails("inspect", "cut.skops")
    assert "changed or damaged" in fails("inspect", "changed.skops")
    assert "no such file" in fails("inspect", "missing.skops")
    assert "got another file instead" in fails("inspect", songs / "songs.csv")
