"""Names and cells of files do not command the terminal, and do not run in spreadsheets."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import smtl

# Sequences that a terminal obeys, and marks that Rich does.
EVIL = "a\033[2J\033]0;own\007\x9b31m\u202eb[/x][link=http://y]z[red]"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.fixture
def evil(tmp_path):
    rows = "".join(f"{k % 7}.5,{k % 2},{(k // 2) % 2},x{k % 3}\n" for k in range(60))
    (tmp_path / "evil.csv").write_text(f"size,{EVIL},label2,word{EVIL}\n{rows}", encoding="utf-8")
    return tmp_path


def test_no_command_prints_what_a_terminal_obeys(evil, command):
    model = f"{EVIL}.skops".replace("/", "_")
    fit = ("--model", "linear", "--values", "2", "--cv", "2", "--no-save-test")
    printed = [command("fit", "evil.csv", "--labels", f"{EVIL},label2", "-o", model, *fit)]
    for words in (
        ("inspect", model),
        ("inspect", model, "--json"),
        ("evaluate", model, "evil.csv", "--bootstrap", "0"),
        ("export", model, "--to", "json", "-o", "weights.json"),
        ("predict", model, "evil.csv", "--keep", f"word{EVIL}"),
        ("predict", model, "evil.csv", "-o", "out.csv"),
        ("report", model, "evil.csv"),
        ("datasets", "show", "evil.csv", "--labels", f"{EVIL},label2"),
        ("convert", "evil.csv", f"{EVIL}.csv".replace("/", "_"), "--labels", f"{EVIL},label2"),
    ):
        printed.append(command(*words))
        if "--json" in words:
            assert EVIL in [task["name"] for task in json.loads(printed[-1][1])["tasks"]]
    (evil / "parts").mkdir()
    pq.write_table(pa.table({"size": [0.5, 1.5, 2.5], EVIL: [0, 1, 1], "b": [1, 0, 1]}), evil / "parts" / "a.parquet")
    printed.append(command("fit", "parts", "--labels", f"{EVIL},b", "-o", "folder.skops"))
    printed.append(command("compare", f"{EVIL}.csv".replace("/", "_"), "--methods", "br", "--splits", "1", "--cv", "2"))
    for code, output, errors in [*printed, command("fit", "evil.csv", "--labels", f"{EVIL}?")]:
        assert UNSAFE.search(output + errors) is None, (code, output, errors)
        assert code == 0 or errors.startswith("Error: ")
    assert sum(code for code, *_ in printed) == 0
    assert EVIL in (evil / "out.csv").read_text(encoding="utf-8"), "files get the true bytes"
    assert EVIL in json.loads((evil / "weights.json").read_text(encoding="utf-8"))["tasks"]


def test_data_that_go_to_a_file_are_true_and_raw_ones_everywhere(evil, command, process):
    assert command("fit", "evil.csv", "--labels", "label2", "--model", "linear", "--C", "1", "-o", "m.skops")[0] == 0
    keep = ("predict", "m.skops", "evil.csv", "--keep", f"word{EVIL}")
    with open(evil / "answers.csv", "wb") as file:
        process(*keep, stdout=file, capture_output=False)
    assert EVIL in (evil / "answers.csv").read_text(encoding="utf-8")
    assert EVIL in command(*keep, "--raw")[1]
    assert EVIL not in command(*keep)[1]


CELLS = [
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "\t=1",
    "+1+cmd",
    "-2+3",
    "\uff1d1+1",
    "\ufeff=1",
    "\u200b@SUM(1)",
    "\u00ad+1+1",
]
HARMLESS = ["-", "NA", "?", " two  blanks ", "-1.5", "+3e2", "007", "1,5", "a=b", "'=x", ""]


def test_formulas_are_quoted_and_all_other_text_is_as_it_was_read(tmp_path, songs, command):
    notes = CELLS + HARMLESS
    with open(songs / "songs.csv", newline="") as file:
        rows = list(csv.reader(file))[: len(notes) + 1]
    with open(tmp_path / "new.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[*rows[0], "note"], *([*r, n] for r, n in zip(rows[1:], notes, strict=True))])

    def kept(*options, form="csv"):
        out = f"out.{form}"
        words = ("predict", songs / "songs.skops", "new.csv", "--keep", "note", "-o", out, *options)
        assert command(*words)[0] == 0
        text = (tmp_path / out).read_text(encoding="utf-8")
        if form == "jsonl":
            return [json.loads(line)["note"] for line in text.splitlines()]
        return [row["note"] for row in csv.DictReader(text.splitlines(), delimiter="\t" if form == "tsv" else ",")]

    assert kept() == [f"'{cell}" for cell in CELLS] + HARMLESS
    assert kept(form="tsv") == kept()
    assert kept("--raw") == notes
    assert kept(form="jsonl") == notes


def test_consoles_are_made_in_one_place():
    made = re.compile(r"(?<!class )\b(?:Console|Cleaning)\(")
    makers = [path.name for path in Path(smtl.__path__[0]).rglob("*.py") if made.search(path.read_text())]
    assert makers == ["terminal.py"]


DISPLAYS = """
import signal
import sys
from smtl.cli._output import cleaned_streams
from smtl.estimators.progress import Progress
from smtl.parts.watching import Watch
from smtl.terminal import clean_console
signal.alarm(60)
with cleaned_streams():
    with clean_console(stderr=True).status("Reading"):
        print(sys.argv[1]), print(sys.argv[1], file=sys.stderr)
    with Progress(None, 2, show=True) as progress:
        progress.step("half"), print(sys.argv[1])
    with Watch(7, show=True) as watch:
        watch(0.5), print(sys.argv[1], file=sys.stderr)
    print("the end")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no terminals to make")
def test_displays_are_drawn_on_a_terminal_and_what_is_printed_meanwhile_is_cleaned():
    import pty

    ours, theirs = pty.openpty()
    name = "a\033[31mb\033]8;;http://x\033\\c\x9b2J\u202e"
    words = [sys.executable, "-c", DISPLAYS, name]
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "200", "PYTHONUTF8": "1"}
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        seen = b""
        while b"the end" not in seen:
            seen += os.read(ours, 2**16)
    os.close(ours)
    text = seen.decode("utf-8")
    cleaned = "a\\u001b[31mb\\u001b]8;;http://x\\u001b\\c\\u009b2J\\u202e"
    assert text.count(cleaned) == 4
    drawn = text.replace(cleaned, "")
    assert "\\u00" not in drawn, "what Rich draws with is not cleaned"
    assert "Reading" in drawn
    assert "1/2" in drawn
    assert "14 rows/s" in drawn
    by_rich = r"\x1b\[(?:[0-9;]*m|\?25[lh]|2K|[0-9]*A)|\r"
    assert UNSAFE.search(re.sub(by_rich, "", drawn)) is None


def test_the_trace_of_an_error_is_cleaned_too(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "smtl.cli", "--debug", "fit", EVIL], capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 1
    assert UNSAFE.search(done.stderr) is None
