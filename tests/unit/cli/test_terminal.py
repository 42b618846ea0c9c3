"""Names and cells of files do not command the terminal, and do not run in spreadsheets."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import smtl.cli

EVIL = "a\033[2J\033]0;own\007\x9b31m\u202eb"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.fixture
def evil(tmp_path):
    rows = "".join(f"{k % 7}.5,{k % 2},{(k // 2) % 2},x{k % 3}\n" for k in range(60))
    (tmp_path / "evil.csv").write_text(f"size,{EVIL},label2,word{EVIL}\n{rows}", encoding="utf-8")
    return tmp_path


def test_no_command_prints_what_a_terminal_obeys(evil, command):
    fit = ("--model", "linear", "--values", "2", "--cv", "2", "--no-save-test")
    printed = [command("fit", "evil.csv", "--labels", f"{EVIL},label2", "-o", f"{EVIL}.skops", *fit)]
    model = f"{EVIL}.skops"
    for words in (
        ("inspect", model),
        ("inspect", model, "--json"),
        ("evaluate", model, "evil.csv", "--bootstrap", "0"),
        ("export", model, "--to", "json", "-o", "weights.json"),
        ("predict", model, "evil.csv", "--keep", f"word{EVIL}"),
        ("predict", model, "evil.csv", "-o", "out.csv"),
        ("report", model, "evil.csv"),
        ("datasets", "show", "evil.csv", "--labels", f"{EVIL},label2"),
        ("convert", "evil.csv", f"{EVIL}.csv", "--labels", f"{EVIL},label2"),
    ):
        printed.append(command(*words))
        if "--json" in words:
            assert EVIL in [task["name"] for task in json.loads(printed[-1][1])["tasks"]]
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
    makers = [
        path.name for path in Path(smtl.cli.__path__[0]).glob("*.py") if re.search(r"\bConsole\(", path.read_text())
    ]
    assert makers == []  # but for the class that `clean_console` makes


def test_the_trace_of_an_error_is_cleaned_too(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "smtl.cli", "--debug", "fit", EVIL], capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 1
    assert UNSAFE.search(done.stderr) is None
