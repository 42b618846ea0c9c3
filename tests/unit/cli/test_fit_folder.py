"""`smtl fit` on a folder of Parquet."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from smtl.cli import _fit_folder
from smtl.model import load_model
from tests.seeds import new_rng


def write(folder, n_files=2):
    rng = new_rng()
    folder.mkdir()
    for k in range(n_files):
        X = rng.normal(size=(60, 3))
        table = {"x": X[:, 0], "z": X[:, 1], "id": np.arange(60), "label:calm": X[:, 0] > 0.3, "label:sad": X[:, 1] > 0}
        pq.write_table(pa.table(table), folder / f"{k}.parquet")


def test_a_folder(command, tmp_path):
    write(tmp_path / "songs")
    options = ("--ignore", "id", "-o", "songs.skops", "--checkpoint", "passes", "--json")
    code, out, _ = command("fit", "songs", "--metric", "auc", *options)
    assert code == 0
    summary = json.loads(out)
    assert summary["training"]["gap"] <= 1e-3
    assert [task["name"] for task in summary["scores"]["tasks"]] == ["calm", "sad"]
    model = load_model(tmp_path / "songs.skops")
    one = pd.read_parquet(tmp_path / "songs" / "0.parquet")
    answers = model.predict(one[["x", "z"]])
    assert np.mean(answers[:, 0] == one["label:calm"]) > 0.9
    # The same fit again is answered by the checkpoint, another one is refused.
    assert command("fit", "songs", "--metric", "auc", *options)[0] == 0
    code, _, err = command("fit", "songs", "--metric", "f1", *options)
    assert code != 0
    assert "is that of one with other metric" in " ".join(err.split())


def test_a_large_file(command, tmp_path, monkeypatch):
    write(tmp_path / "songs", n_files=1)
    path = tmp_path / "songs" / "0.parquet"
    assert not _fit_folder.is_large(str(path))
    monkeypatch.setattr(_fit_folder, "LARGE", 0.0)
    assert _fit_folder.is_large(str(path))
    code, out, _ = command("fit", str(path), "--ignore", "id", "--C", "1", "--metric", "f1")
    assert code == 0
    assert "all 60 rows" in out


def test_what_is_wrong_is_said(command, tmp_path):
    write(tmp_path / "songs")
    for options, message in (
        (("--labels", "joy"), "must be columns of the files"),
        (("--preset", "fast"), "--preset goes with"),
        (("--cluster", "tcp://127.0.0.1:1"), "--cluster must be the address of a Dask scheduler"),
    ):
        code, _, err = command("fit", "songs", *options)
        assert code != 0
        assert message in " ".join(err.replace("│", "").split())
