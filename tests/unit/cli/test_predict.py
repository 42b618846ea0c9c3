"""`smtl predict`: columns by name, every format, streams, and one line where something is wrong."""

import csv
import io
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from smtl.datasets import Dataset, read_csv, write_csv, write_svmlight
from smtl.model import load_model
from tests.seeds import new_rng


@pytest.fixture(scope="module")
def truth(songs):
    """Return the columns of the songs, as pandas reads them, and what the model itself says of them."""
    frame = pd.read_csv(songs / "songs.csv")[["beat", "key", "year"]]
    model = load_model(songs / "songs.skops")
    return frame, model.predict(frame), model.decision_function(frame)


def rows_of(songs):
    with open(songs / "songs.csv", newline="") as file:
        return list(csv.DictReader(file))


def write(path, rows, names):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def read(text):
    rows = list(csv.reader(io.StringIO(text)))
    return rows[0], np.array(rows[1:], dtype=float)


def test_a_process_streams_csv(process, songs, truth):
    _, answers, _ = truth
    with open(songs / "songs.csv") as file:
        done = process("predict", songs / "songs.skops", "-", stdin=file)
    assert (done.returncode, done.stderr) == (0, "")
    names, values = read(done.stdout)
    assert names == ["calm", "sad"]
    np.testing.assert_array_equal(values, answers)


def test_formats_say_the_same_as_the_model(command, songs, truth, tmp_path):
    _, answers, scores = truth
    model, source = songs / "songs.skops", songs / "songs.csv"
    for out in ("out.csv", "out.csv.gz", "out.jsonl", "out.parquet"):
        code, output, error = command("predict", model, source, "--what", "both", "-o", out, "--json")
        assert (code, error) == (0, "")
        summary = json.loads(output)
        assert summary["positives"] == {"calm": answers[:, 0].sum(), "sad": answers[:, 1].sum()}
    import gzip

    import pyarrow.parquet as pq

    text = (tmp_path / "out.csv").read_text()
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).decode() == text
    names, values = read(text)
    assert names == ["calm", "sad", "score:calm", "score:sad"]
    np.testing.assert_array_equal(values[:, :2], answers)
    np.testing.assert_allclose(values[:, 2:], scores, rtol=1e-9, atol=1e-12)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    np.testing.assert_array_equal([list(line.values()) for line in lines], values)
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == names
    np.testing.assert_array_equal(np.column_stack([table.column(name).to_numpy() for name in names]), values)


def test_inputs_of_all_kinds_are_matched_by_name(command, songs, truth, tmp_path):
    _, answers, _ = truth
    rows, model = rows_of(songs), songs / "songs.skops"
    data = read_csv(songs / "songs.csv", labels=["calm", "sad"])
    assert "key=minor" in data.feature_names
    write(tmp_path / "turned.csv", rows, ["sad", "year", "key", "beat"])
    write_csv(Dataset(data.X, data.Y, data.feature_names, data.label_names), tmp_path / "encoded.csv")
    (tmp_path / "rows.jsonl").write_text(
        "".join(
            json.dumps({"key": r["key"], "year": int(r["year"]), "beat": float(r["beat"]) if r["beat"] else None})
            + "\n"
            for r in rows
        )
    )
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"year": [int(r["year"]) for r in rows], "key": [r["key"] for r in rows]}
    columns["beat"] = [float(r["beat"]) if r["beat"] else None for r in rows]
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    (tmp_path / "rows.arff").write_text(
        "@relation 'songs: -C 1'\n@attribute sad {0,1}\n@attribute year numeric\n@attribute beat numeric\n"
        "@attribute key {minor,'none, at all',major}\n@data\n"
        + "".join(f"{r['sad']},{r['year']},{r['beat'] or '?'},'{r['key']}'\n" for r in rows)
    )
    for source in ("turned.csv", "encoded.csv", "rows.jsonl", "rows.parquet", "rows.arff"):
        code, output, error = command("predict", model, source)
        assert (code, error) == (0, ""), source
        np.testing.assert_array_equal(read(output)[1], answers, err_msg=source)


def test_kept_columns_and_new_values(command, songs, tmp_path):
    rows = rows_of(songs)[:3]
    for i, row in enumerate(rows):
        row["id"] = f'song "{i}"'
    rows[1]["key"] = "lydian"
    write(tmp_path / "new.csv", rows, ["id", "beat", "key", "year"])
    code, output, error = command("predict", songs / "songs.skops", "new.csv", "--keep", "id,year")
    assert code == 0
    table = list(csv.DictReader(io.StringIO(output)))
    assert [row["id"] for row in table] == [row["id"] for row in rows]
    assert [float(row["year"]) for row in table] == [float(row["year"]) for row in rows]
    assert error == (
        "Warning: column 'key' has values that the training data did not have, in 1 row: 'lydian'; they count as none "
        "of the known values.\n"
    )


def test_one_hot_columns_must_be_one_hot(command, fails, songs, tmp_path):
    model = songs / "songs.skops"
    for name, cells in (("two", "0,2"), ("both", "1,1"), ("word", "0,yes")):
        (tmp_path / f"{name}.csv").write_text(f"beat,year,key=major,key=minor\n0.5,1990,1,0\n0.5,1990,{cells}\n")
    rule = "columns 'key=...' must be 0 and 1, with one 1 in a row, got "
    assert f"{rule}other values in 'key=minor' instead" in fails("predict", model, "two.csv")
    assert f"{rule}several in a row instead" in fails("predict", model, "both.csv")
    assert "'key=minor' must hold numbers" in fails("predict", model, "word.csv")
    (tmp_path / "new.csv").write_text("beat,year,key=lydian,key=minor\n0.5,1990,1,0\n0.5,1990,0,1\n")
    code, _, error = command("predict", model, "new.csv")
    assert code == 0
    assert "column 'key' has values that the training data did not have, in 1 row: 'lydian'" in error


def test_wrong_columns_are_named(command, fails, songs, truth, tmp_path):
    frame, answers, scores = truth
    rows, model = rows_of(songs), songs / "songs.skops"
    for row in rows:
        row["baet"] = row["id"] = "1"
    write(tmp_path / "a.csv", rows, ["baet", "key", "year"])
    write(tmp_path / "b.csv", rows, ["id", "beat", "key", "year"])
    write(tmp_path / "c.csv", rows, ["baet", "id"])
    # A column that is missing counts as missing values: the answers are those of the model itself.
    code, output, error = command("predict", model, "a.csv", "--what", "scores")
    assert code == 0
    assert error == (
        "Warning: column 'beat' is missing, and taken as missing values.\n"
        "Note: column 'baet' is not in the training data, and passed over.\n"
    )
    without = load_model(model).decision_function(frame.assign(beat=np.nan))
    np.testing.assert_allclose(read(output)[1], without, rtol=1e-9, atol=1e-12)
    assert np.abs(without - scores).max() > 1e-3
    line = fails("predict", model, "a.csv", "--strict")
    assert "a.csv: the columns must be those of the training data, but column 'beat' is missing; column 'baet'" in line
    # One that is unknown changes nothing.
    for options in ((), ("--strict",)):
        code, output, error = command("predict", model, "b.csv", *options)
        assert (code, error) == (0, "Note: column 'id' is not in the training data, and passed over.\n")
        np.testing.assert_array_equal(read(output)[1], answers)
    assert command("predict", model, "b.csv", "--ignore", "id") == (0, output, "")
    line = fails("predict", model, "c.csv")
    assert "'beat', 'key', 'year' are missing; columns 'baet', 'id' are not in the training data" in line


def test_models_of_tasks_with_their_own_rows(command, fails, tmp_path):
    rng = np.random.default_rng(0)
    X, tasks = rng.normal(size=(120, 3)), np.repeat(["north", "south"], 60)
    y = (X[:, 0] + np.where(tasks == "north", 1, -1) * X[:, 1] > 0).astype(int)
    data = Dataset(X, y, ("a", "b", "c"), ("ill",), tasks)
    write_csv(data, tmp_path / "sites.csv")
    assert command("fit", "sites.csv", "--model", "linear", "--C", "auto", "-o", "sites.skops")[0] == 0
    model = load_model(tmp_path / "sites.skops")
    code, output, _ = command("predict", "sites.skops", "sites.csv", "--what", "both")
    assert code == 0
    table = list(csv.DictReader(io.StringIO(output)))
    assert [row["task"] for row in table] == tasks.tolist()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    own = model[-1].decision_function(model[:-1].transform(frame), tasks=tasks)
    np.testing.assert_allclose([float(row["score"]) for row in table], own, rtol=1e-9, atol=1e-12)
    assert [int(row["label"]) for row in table] == (own > 0).astype(int).tolist()
    # Without a column of tasks, all tasks answer.
    text = (tmp_path / "sites.csv").read_text().replace("north", "x").replace("south", "x")
    (tmp_path / "unknown.csv").write_text(text)
    assert "must be one of the 2 tasks of the model, got 'x' instead" in fails("predict", "sites.skops", "unknown.csv")
    rows = [dict(zip("abc", map(repr, map(float, row)), strict=True)) for row in X]
    write(tmp_path / "plain.csv", rows, ["c", "b", "a"])
    code, output, _ = command("predict", "sites.skops", "plain.csv")
    assert read(output)[0] == ["north", "south"]


def test_the_label_of_tasks_with_their_own_rows_is_passed_over(command, tmp_path):
    rng = new_rng()
    rows = [
        {"a": repr(x), "site": site, "ill": int(x > 0)} for x in rng.normal(size=40).tolist() for site in ("-", "s")
    ]
    write(tmp_path / "sites.csv", rows, ["a", "site", "ill"])
    options = ("--labels", "ill", "--task-column", "site", "--model", "linear", "--C", "auto", "--test-size", "0")
    assert command("fit", "sites.csv", *options)[0] == 0
    code, output, error = command("predict", "model.skops", "sites.csv")
    assert (code, error) == (0, "")
    assert [row["task"] for row in csv.DictReader(io.StringIO(output))] == ["-", "s"] * 40


@pytest.mark.parametrize("kind", [int, float])
def test_tasks_of_numbers_are_the_same_in_each_format(command, tmp_path, kind):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = new_rng()
    x, site = rng.normal(size=80), np.tile([3, 7], 40)
    lines = [f"{float(a)!r}, {s},{int(a > 0)}" for a, s in zip(x, site, strict=True)]
    (tmp_path / "sites.csv").write_text("\n".join(["a,site,ill", *lines]) + "\n")
    pq.write_table(pa.table({"a": x, "site": site.astype(kind)}), tmp_path / "sites.parquet")
    options = ("--labels", "ill", "--task-column", "site", "--model", "linear", "--C", "auto", "--test-size", "0")
    assert command("fit", "sites.csv", *options)[0] == 0
    told = command("predict", "model.skops", "sites.csv", "--what", "both")
    assert [row["task"] for row in csv.DictReader(io.StringIO(told[1]))] == ["3", "7"] * 40
    assert command("predict", "model.skops", "sites.parquet", "--what", "both") == (0, told[1], "")


def test_a_column_of_tasks_that_is_counted_from_the_end(command, tmp_path):
    rng = new_rng()
    lines = [f"{x!r},{int(x > 0)},{site}" for x in rng.normal(size=40).tolist() for site in ("north", "south")]
    (tmp_path / "sites.csv").write_text("\n".join(lines) + "\n")
    options = ("--no-header", "--labels", "1", "--task-column", "-1")
    fit = ("--model", "linear", "--C", "auto", "--test-size", "0")
    assert command("fit", "sites.csv", *options, *fit)[0] == 0
    code, output, error = command("predict", "model.skops", "sites.csv", "--no-header")
    assert (code, error) == (0, "")
    assert [row["task"] for row in csv.DictReader(io.StringIO(output))] == ["north", "south"] * 40


@pytest.mark.parametrize("text", ["NULL", "None", "n/a", "-"])
def test_what_stands_for_a_missing_value(command, songs, tmp_path, text):
    outputs = []
    for cell in ("", text):
        lines = ["id,beat,key,year", f"{text},{cell},minor,1990", f"{text},0.5,{cell},1990", f"{text},0.5,minor,{cell}"]
        (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
        code, output, error = command("predict", songs / "songs.skops", "new.csv", "--keep", "id", "--what", "scores")
        assert (code, error) == (0, "")
        outputs.append(output)
    assert outputs[0] == outputs[1]
    assert [line.split(",")[0] for line in outputs[0].splitlines()] == ["id", text, text, text]  # a copy is a copy


def test_sparse_files_may_lack_features_at_their_end(command, fails, tmp_path):
    import scipy.sparse as sp

    X = sp.random(80, 20, density=0.3, format="csr", random_state=0)
    Y = (X @ np.random.default_rng(0).normal(size=(20, 2)) > 0.1).astype(int)
    write_svmlight(Dataset(X, Y), tmp_path / "train.svm")
    assert command("fit", "train.svm", "--model", "linear", "--C", "auto", "--labels", "2", "-o", "m.skops")[0] == 0
    fewer = X.copy().tolil()
    fewer[:, 15:] = 0.0
    write_svmlight(Dataset(fewer.tocsr()[:, :15], Y), tmp_path / "fewer.svm")
    code, output, error = command("predict", "m.skops", "fewer.svm", "--labels", "2")
    assert code == 0, error
    expected = load_model(tmp_path / "m.skops").predict(fewer.tocsr())
    np.testing.assert_array_equal(read(output)[1], expected)
    more = sp.hstack([X, sp.csr_matrix(np.ones((80, 1)))], format="csr")
    write_svmlight(Dataset(more, Y), tmp_path / "more.svm")
    assert "there must be 20 features, as the model has, got 21" in fails("predict", "m.skops", "more.svm")


def test_errors_are_one_line(fails, songs, tmp_path):
    model, source = songs / "songs.skops", songs / "songs.csv"
    (tmp_path / "word.csv").write_text("beat,key,year\n0.5,minor,1990\nfast,major,1991\n")
    (tmp_path / "cut.csv").write_text("beat,key,year\n0.5,minor,1990\n0.5,maj")
    (tmp_path / "inf.csv").write_text("beat,key,year\ninf,minor,1990\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("beat,key,year\n")
    (tmp_path / "other.skops").write_bytes(b"PK\x03\x04 another program's")
    assert "word.csv, line 3, column 1: 'beat' must be a number, got 'fast' instead" in fails(
        "predict", model, "word.csv"
    )
    assert "cut.csv, line 3, column 8: a row must have 3 cells, as the first has, got 2" in fails(
        "predict", model, "cut.csv", "-o", "out.csv"
    )
    assert not (tmp_path / "out.csv").exists()
    line = fails("predict", model, "inf.csv")
    assert re.search(r"inf\.csv, line \d+, column 1: 'beat' must be finite, got '-?inf' instead", line)
    assert "empty.csv: must have data, got an empty file instead" in fails("predict", model, "empty.csv")
    assert "must have rows below the header" in fails("predict", model, "header.csv")
    assert "must be a file or a named set" in fails("predict", model, "missing.csv")
    assert "got a directory instead" in fails("predict", model, tmp_path)
    assert "got no such file; smtl fit makes one" in fails("predict", "missing.skops", source)
    assert "a zip archive" in fails("predict", "other.skops", source)
    assert "got a directory instead" in fails("predict", tmp_path, source)
    assert "it is read by this command" in fails("predict", model, source, "-o", source, "--format", "csv")
    assert "-o must end in" in fails("predict", model, source, "-o", "out.txt", code=2)
    assert "Parquet cannot be printed" in fails("predict", model, source, "--format", "parquet", code=2)
    assert "--what must be one of" in fails("predict", model, source, "--what", "cuts", code=2)
    assert "for the metric f1 has no probabilities, only scores" in fails("predict", model, source, "--what", "all")
    assert "--keep must name columns of the data" in fails("predict", model, source, "--keep", "nmae")
    assert list(tmp_path.glob(".*.part")) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is Linux's")
def test_a_full_disk_and_a_reader_that_stops(process, songs, tmp_path):
    model, source = songs / "songs.skops", songs / "songs.csv"
    with open("/dev/full", "w") as full:
        done = process("predict", model, source, capture_output=False, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "Error: standard output: No space left on device.\n"
    big = tmp_path / "big.csv"
    header, _, body = source.read_text().partition("\n")
    big.write_text(header + "\n" + body * 300)
    command = f'"{sys.executable}" -m smtl.cli predict "{model}" "{big}" | head -n 1'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout == "calm,sad\n"
    assert done.stderr == ""
