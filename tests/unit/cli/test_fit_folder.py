"""`smtl fit` on a folder of Parquet."""

import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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


def test_files_that_cannot_be_learnt_from(fails, tmp_path):
    folder = tmp_path / "songs"
    folder.mkdir()
    fit = ("fit", "songs", "--labels", "y", "--C", "1", "-o", "m.skops")

    def told(table, *more):
        pq.write_table(table, folder / "b.parquet")
        return fails(*fit, *more)

    good = pa.table({"x": [0.0, 1.0, 2.0], "y": [0, 1, 1]})
    assert told(good.slice(0, 0)) == "Error: songs: must have rows, got none\n"
    assert "columns must have names of their own, got 'x' twice" in told(good.append_column("x", good["x"]))
    pq.write_table(good, folder / "a.parquet")
    lists = good.set_column(0, "x", [pa.array([[1.0]] * 3)])
    assert "Features must be columns of numbers, got 'x'" in told(lists)


def test_what_pyarrow_has_no_word_for_is_a_damaged_file(fails, tmp_path):
    rng = new_rng()
    pq.write_table(pa.table({"x": [0.0, 1.0, 2.0], "y": [0, 1, 1]}), tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "songs").mkdir()
    size = int.from_bytes(whole[-8:-4], "little")
    for _ in range(20):
        content = bytearray(whole)
        content[len(whole) - 8 - int(rng.integers(1, size))] ^= 1 << int(rng.integers(8))
        (tmp_path / "songs" / "a.parquet").write_bytes(content)
        # One column is asked for that is not there, so that what can be read is no success either.
        assert "(unexpected" not in fails("fit", "songs", "--labels", "none", "-o", "m.skops")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_not_waited_for(fails, tmp_path):
    (tmp_path / "songs").mkdir()
    os.mkfifo(tmp_path / "songs" / "a.parquet")
    assert "must hold files that end in .parquet, got none" in fails("fit", "songs", "--labels", "y")


def test_no_label_of_both_classes(command, tmp_path):
    (tmp_path / "songs").mkdir()
    pq.write_table(pa.table({"x": [0.0, 1.0, 2.0], "y": [1, 1, 1]}), tmp_path / "songs" / "a.parquet")
    code, _, error = command("fit", "songs", "--labels", "y", "--C", "1", "-o", "m.skops")
    assert code == 1
    assert "Error: nothing can be learnt: no label has rows of both classes" in error
    assert not (tmp_path / "m.skops").exists()


def test_nothing_is_written_among_the_data(fails, tmp_path):
    write(tmp_path / "songs")
    for option in ("-o", "--checkpoint"):
        told = fails("fit", "songs", option, "songs/new.parquet")
        assert told == (
            f"Error: cannot write 'songs/new.parquet': it would count as data of songs; choose another with {option}.\n"
        )
    assert not (tmp_path / "songs" / "new.parquet").exists()
