"""Standard streams that are closed, full, or that nobody reads: no file gets what is printed, and nothing is lost."""

import pkgutil
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import smtl.cli
from smtl.datasets import read
from smtl.model import load_model

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shells of Unix close descriptors")

CLOSED = "Error: standard output is closed; to print nothing, send it to the null device.\n"
NAMES = [module.name for module in pkgutil.iter_modules(smtl.cli.__path__) if not module.name.startswith("_")]
FIT = ("--labels", "calm,sad", "--model", "linear", "--C", "1", "-o", "new.skops")
COMMANDS = [
    ("fit", "songs.csv", *FIT),
    ("fit", "parts", *FIT, "--checkpoint", "passes"),
    ("predict", "songs.skops", "songs.csv"),
    ("predict", "songs.skops", "songs.csv", "-o", "out.parquet"),
    ("evaluate", "songs.skops", "songs.csv", "--bootstrap", "0"),
    ("inspect", "songs.skops", "songs.csv"),
    ("export", "songs.skops", "--to", "json", "-o", "weights.json"),
    ("report", "songs.skops", "songs.csv", "-o", "page.html"),
    ("convert", "songs.csv", "out.arff", "--labels", "calm,sad"),
    ("datasets", "show", "songs.csv", "--labels", "calm,sad", "--out", "labels.png"),
    ("compare", "plain.csv", "--methods", "br", "--splits", "1", "--cv", "2", "--values", "1", "--out", "study"),
    ("reproduce", "--help"),
    ("demo", "--help"),
]


@pytest.fixture
def folder(songs, tmp_path):
    for name in ("songs.csv", "songs.skops"):
        shutil.copy(songs / name, tmp_path)
    rows = [f"{k % 7}.5,{k % 2},{k // 2 % 2}" for k in range(40)]
    (tmp_path / "plain.csv").write_text("\n".join(["beat,label:calm,label:sad", *rows]) + "\n")
    (tmp_path / "parts").mkdir()
    table = pa.table({"beat": [k % 7 + 0.5 for k in range(40)], "calm": [k % 2 for k in range(40)]})
    pq.write_table(table.append_column("sad", table["calm"]), tmp_path / "parts" / "a.parquet")
    return tmp_path


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_commands_are_here():
    assert {words[0] for words in COMMANDS} == set(NAMES)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_without_standard_output_nothing_is_begun(words, folder, forked):
    before = files(folder)
    assert forked(*words, closed=[1]) == (1, "", CLOSED)
    assert forked(*words, closed=[0, 1, 2]) == (1, "", "")
    assert files(folder) == before


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_without_the_other_streams_files_are_whole(words, folder, forked):
    before = files(folder)
    done = forked(*words, closed=[0, 2])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
    found = files(folder)
    assert {name: found[name] for name in before} == before
    # Each is read by what reads it, so that there is nothing in it that was printed.
    if words[0] == "fit":
        load_model(folder / "new.skops")
    elif "out.parquet" in words:
        assert pq.read_table(folder / "out.parquet").num_rows == 200
    elif "out.arff" in words:
        assert read(folder / "out.arff").Y.shape == (200, 2)
    for name in found.keys() - before.keys():
        assert done.stdout.splitlines()[-1].encode() not in found[name]


def test_data_cannot_come_from_a_stream_that_is_closed(folder, forked):
    told = "Error: standard input is closed; name a file.\n"
    assert forked("predict", "songs.skops", "-", closed=[0]) == (1, "", told)


def shell(line, folder):
    """Run a line of a shell, in which $SMTL is the command."""
    words = ["sh", "-c", line.replace("$SMTL", f"'{sys.executable}' -m smtl.cli")]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_shell_closes_streams(folder):
    predict = "$SMTL predict songs.skops songs.csv -o out.csv"
    assert shell(f"{predict} >&-", folder) == (1, "", CLOSED)
    assert shell(f"{predict} <&- >&- 2>&-", folder) == (1, "", "")
    assert not (folder / "out.csv").exists()
    assert shell(f"{predict} <&- 2>&-", folder) == (0, "Wrote out.csv: 200 rows.\n", "")
    assert len((folder / "out.csv").read_text().splitlines()) == 201
    assert shell("$SMTL inspect missing.skops 2>&-", folder) == (1, "", "")


# A reader who leaves at once, and one who leaves after a line. The code of the command goes to a file.
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("inspect songs.skops", 1),
        ("predict songs.skops songs.csv", 1),
        ("evaluate songs.skops songs.csv --bootstrap 0", 1),
        (" ".join(("fit", "songs.csv", *FIT)), 1),
        ("--help", 1),
    ],
)
def test_a_reader_who_has_enough_is_no_error_to_tell_of(words, code, folder):
    _, output, errors = shell(f"($SMTL {words}; echo $? > code) | sleep 0", folder)
    assert (output, errors) == ("", "")
    assert (folder / "code").read_text() == f"{code}\n"
    if words.startswith("fit"):
        load_model(folder / "new.skops")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is Linux's")
def test_a_stream_that_is_full(folder):
    full = "Error: standard output: No space left on device.\n"
    assert shell("$SMTL predict songs.skops songs.csv > /dev/full", folder) == (1, "", full)
    assert shell("$SMTL inspect songs.skops > /dev/full", folder) == (1, "", full)
    # What cannot be told is no reason to fail: a column is missing, of which there is a warning.
    (folder / "fewer.csv").write_text("beat,year\n1,1990\n")
    for nowhere in ("2> /dev/full", "2>&1 > /dev/null | sleep 0"):
        line = f"($SMTL predict songs.skops fewer.csv -o out.csv; echo $? > code) {nowhere}"
        code, _, errors = shell(line, folder)
        assert (code, errors) == (0, "")
        assert (folder / "code").read_text() == "0\n"
        assert len((folder / "out.csv").read_text().splitlines()) == 2
        (folder / "out.csv").unlink()
