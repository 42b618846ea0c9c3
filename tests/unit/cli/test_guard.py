"""No command writes onto anything that it reads, by path, link or descriptor."""

import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def files(songs, tmp_path):
    for name in ("songs.csv", "songs.skops"):
        shutil.copy(songs / name, tmp_path)
    (tmp_path / "link.csv").symlink_to("songs.csv")
    os.link(tmp_path / "songs.csv", tmp_path / "hard.csv")
    return tmp_path


CASES = [
    ("fit", "songs.csv", "--labels", "calm,sad", "-o", "songs.csv"),
    ("fit", "songs.csv", "--labels", "calm,sad", "-o", "link.csv"),
    ("fit", "link.csv", "--labels", "calm,sad", "-o", "hard.csv"),
    ("predict", "songs.skops", "songs.csv", "-o", "hard.csv"),
    ("predict", "songs.skops", "link.csv", "--format", "csv", "-o", "songs.skops"),
    ("report", "songs.skops", "songs.csv", "-o", "page.html"),
    ("export", "songs.skops", "--to", "json", "-o", "songs.skops"),
    ("convert", "songs.csv", "link.csv", "--labels", "calm,sad"),
    ("datasets", "show", "songs.csv", "--labels", "calm,sad", "--out", "songs.png"),
    ("compare", "study/runs.csv", "--methods", "br", "--out", "study"),
]


@pytest.mark.parametrize("arguments", CASES, ids=lambda words: "-".join(words[:3]))
def test_what_is_read_is_not_written_onto(arguments, files, fails):
    (files / "study").mkdir()
    for name in ("page.html", "songs.png", "study/runs.csv"):
        os.link(files / "songs.csv", files / name)
    before = {path.name: path.read_bytes() for path in files.iterdir() if path.is_file()}
    assert "is read by this command" in fails(*arguments)
    assert {path.name: path.read_bytes() for path in files.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("out", ["songs.csv", "link.csv", "/dev/stdin"])
def test_standard_input_is_not_written_onto(out, files, process):
    before = (files / "songs.csv").read_bytes()
    with open(files / "songs.csv") as file:
        done = process("predict", "songs.skops", "-", "--format", "csv", "-o", out, stdin=file)
    assert done.returncode == 1
    assert "is read by this command" in done.stderr
    assert (files / "songs.csv").read_bytes() == before


def test_standard_output_is_not_appended_to_what_is_read(files, process):
    before = (files / "songs.csv").read_bytes()
    with open(files / "songs.csv", "a") as file:
        options = {"stdout": file, "stderr": -1, "capture_output": False}
        done = process("predict", "songs.skops", "songs.csv", **options)
    assert done.returncode == 1
    assert "cannot write to standard output" in done.stderr
    assert (files / "songs.csv").read_bytes() == before


def test_an_error_is_not_told_onto_what_is_read(files, process):
    before = (files / "songs.csv").read_bytes()
    with open(files / "songs.csv", "a") as file:
        options = {"stderr": file, "stdout": -1, "capture_output": False}
        done = process("predict", "songs.skops", "songs.csv", **options)
        assert done.returncode == 1
        assert "cannot write to standard error" in done.stdout
        done = process("predict", "songs.skops", "songs.csv", **options | {"stdout": file})
    assert done.returncode == 1
    assert (files / "songs.csv").read_bytes() == before


def test_the_file_of_passes_is_neither_data_nor_the_model(files, fails):
    (files / "parts").mkdir()
    pq.write_table(pa.table({"x": [0.0, 1.0, 2.0], "y": [0, 1, 1]}), files / "parts" / "a.parquet")
    os.link(files / "parts" / "a.parquet", files / "passes")
    (files / "new.link").symlink_to("new.skops")
    before = {path.name: path.read_bytes() for path in files.iterdir() if path.is_file()}
    fit = ("fit", "parts", "--labels", "y")
    assert "is read by this command" in fails(*fit, "-o", "new.skops", "--checkpoint", "passes")
    assert "is read by this command" in fails(*fit, "-o", "passes", "--checkpoint", "new.skops")
    assert "must be two files" in fails(*fit, "-o", "new.skops", "--checkpoint", "new.link")
    assert "must be two files" in fails(*fit, "-o", "songs.csv", "--checkpoint", "hard.csv")
    told = fails(*fit, "-o", "new.skops", "--checkpoint", "songs.skops")
    assert "songs.skops must be a file that a fit with a checkpoint has written" in told
    assert {path.name: path.read_bytes() for path in files.iterdir() if path.is_file()} == before


def test_test_rows_do_not_take_the_place_of_the_data(files, command):
    fit = ("--labels", "calm,sad", "--model", "linear", "--C", "1", "-o", "new.skops")
    assert command("fit", "songs.csv", *fit)[0] == 0
    (files / "new-test.csv").unlink()
    os.link(files / "songs.csv", files / "new-test.csv")
    before = (files / "songs.csv").read_bytes()
    assert command("fit", "songs.csv", *fit)[0] == 0
    assert (files / "songs.csv").read_bytes() == before
    assert (files / "new-test-2.csv").is_file()


def test_the_names_of_labels_of_an_arff_are_kept(tmp_path, command, fails):
    (tmp_path / "a.csv").write_text("x,label:y\n1,0\n2,1\n")
    assert command("convert", "a.csv", "a.arff")[0] == 0
    assert "is read by this command" in fails("fit", "a.arff", "-o", "a.xml")
    os.link(tmp_path / "a.arff", tmp_path / "b.arff")
    assert "is read by this command" in fails("convert", "b.arff", "--xml", "a.xml", "a.ARFF")
    assert not (tmp_path / "a.ARFF").exists()
    assert command("convert", "a.arff", "a2.csv")[0] == 0
    assert "label" in (tmp_path / "a.xml").read_text()


def test_tables_of_one_name_do_not_write_onto_each_other(tmp_path, command):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.csv").write_text("kind,y\n" + "big,1\nsmall,0\n" * 9)
    words = ("compare", "a/x.csv", "b/x.csv", "--labels", "y", "--methods", "br", "--out", "study")
    code, _, errors = command(*words)
    assert code == 1
    assert "b/x.csv: another of the tables is called 'x', too" in errors
