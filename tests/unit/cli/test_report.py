"""`smtl report`: a page about a model, written as a whole or not at all."""

import json
import os
import sys

import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, f1_score

from smtl.datasets import read_csv
from smtl.model import load_model


def test_a_process_writes_the_page_and_says_what_scikit_learn_says(forked, songs, tmp_path):
    done = forked("report", songs / "songs.skops", songs / "songs.csv", "-o", "songs.html", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    page = (tmp_path / "songs.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<h1>songs on songs.csv</h1>" in page
    assert result["bytes"] == (tmp_path / "songs.html").stat().st_size
    frame = pd.read_csv(songs / "songs.csv")
    truth = frame[["calm", "sad"]].to_numpy()
    scores = load_model(songs / "songs.skops").decision_function(frame)
    assert [task["name"] for task in result["tasks"]] == ["calm", "sad"]
    assert [task["f1"] for task in result["tasks"]] == pytest.approx(f1_score(truth, scores > 0, average=None))
    assert result["macro"]["average_precision"] == pytest.approx(average_precision_score(truth, scores))
    assert result["training_data"] is True
    assert "has learnt from 150 of the rows" in page
    assert list(tmp_path.glob(".*.part")) == []


def test_rows_have_the_names_of_a_column(command, songs, tmp_path):
    lines = (songs / "songs.csv").read_text().splitlines()
    named = [
        f"{cell},{line}" for cell, line in zip(["id", *(f"{i:04}-{i % 7}" for i in range(200))], lines, strict=True)
    ]
    (tmp_path / "named.csv").write_text("\n".join(named) + "\n")
    code, output, error = command("report", songs / "songs.skops", "named.csv", "--id", "id", "--title", "Songs & co")
    assert (code, error) == (0, "")
    assert output.startswith("Wrote report.html: 200 rows, 2 tasks, ")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h1>Songs &amp; co</h1>" in page
    found = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    rows = [mistake["row"] for task in found["tasks"] for mistake in task["wrong_yes"] + task["wrong_no"]]
    assert rows
    assert {row[4:] for row in rows} <= {f"-{int(row[:4]) % 7}" for row in rows}
    truth = read_csv(songs / "songs.csv", labels=["calm", "sad"]).Y
    for i, task in enumerate(found["tasks"]):
        assert {truth[int(mistake["row"][:4]), i] for mistake in task["wrong_yes"]} <= {0}
        assert {truth[int(mistake["row"][:4]), i] for mistake in task["wrong_no"]} <= {1}


def test_errors_are_one_line_and_leave_what_was_there(fails, songs, tmp_path):
    model, source = songs / "songs.skops", songs / "songs.csv"
    (tmp_path / "report.html").write_text("mine")
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "m.html").write_bytes(model.read_bytes())
    for out, words in {
        "folder.html": "it is a directory",
        tmp_path / "no" / "report.html": "does not exist; create it, or choose another with -o",
        "report.pdf": "the name must end in .html or .htm",
    }.items():
        assert words in fails("report", model, source, "-o", out)
    assert "it is read by this command" in fails("report", "m.html", source, "-o", "m.html")
    assert "smtl fit makes one" in fails("report", "missing.skops", source)
    assert "must be a file or a named set" in fails("report", model, "missing.csv")
    line = fails("report", model, "digits")
    missing = "columns 'beat', 'key', 'year' are missing"
    assert f"digits: the columns must be those of the training data, but {missing}" in line
    assert "--id must name a column of the data, got 'name'" in fails("report", model, source, "--id", "name")
    assert "--id goes with tables: CSV" in fails("report", model, "digits", "--id", "name", code=2)
    (tmp_path / "infinite.csv").write_text(source.read_text().replace("\n", "\ninf,major,1990,1,1\n", 1))
    line = fails("report", model, "infinite.csv")
    assert "'beat' must hold finite numbers (or missing ones), got an infinite one" in line
    assert (tmp_path / "report.html").read_text() == "mine"
    assert list(tmp_path.glob(".*.part")) == []


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(fails, songs, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    line = fails("report", songs / "songs.skops", songs / "songs.csv", "-o", tmp_path / "closed" / "report.html")
    assert "no permission to write there; choose another with -o" in line


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
def test_a_full_disk_leaves_the_old_page(forked, songs, tmp_path):
    (tmp_path / "report.html").write_text("an old page")
    done = forked(
        *("report", songs / "songs.skops", songs / "songs.csv"),
        file_size=4096,
    )
    assert done.returncode == 1, done.stdout
    assert done.stderr.splitlines()[-1].startswith("Error: cannot write 'report.html': File too large")
    assert (tmp_path / "report.html").read_text() == "an old page"
    assert list(tmp_path.glob(".*.part")) == []
