"""The commands of the start pages, as printed and in their order, on files such as the pages speak of.

SMTL_COMMAND names the command, of an environment into which smtl was installed as a user would: .venv/bin/smtl.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.seeds import new_seed
from tests.tickets import make_tickets

needs_command = pytest.mark.skipif("SMTL_COMMAND" not in os.environ, reason="SMTL_COMMAND must name the command smtl")
ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ["compare", "convert", "datasets", "evaluate", "export", "fit", "inspect", "predict", "report"]
IN_A_BLOCK = re.compile(r"^smtl .+$", re.M)
IN_A_LINE = re.compile(rf"`(smtl (?:{'|'.join(COMMANDS)}) [^`]*\.[^`]*)`")  # names a file
START = ["README.md", "docs/index.md", "docs/get_started.md", "docs/faq.md", "docs/coming_from.md"]
PAGES = [ROOT / name for name in START] + sorted((ROOT / "docs" / "guide").glob("*.md"))


def commands_of(page):
    """Return the commands of a page, without what is said beside them."""
    text = page.read_text(encoding="utf-8")
    blocks = re.finditer(r"^```(?:sh|text)\n(.*?)^```$", text, re.M | re.S)
    found = [(block.start() + one.start(), one[0]) for block in blocks for one in IN_A_BLOCK.finditer(block[1])]
    found += [(one.start(), one[1]) for one in IN_A_LINE.finditer(text)]
    return [shlex.split(line, comments=True)[1:] for _, line in sorted(found)]


def write_files(folder):
    """Write what the pages take for granted: tables of tickets, patients, visits and songs."""
    rng = np.random.default_rng(seed := new_seed())
    tickets = make_tickets(260, seed)[["waiting_hours", "n_messages", "subject", "category", "urgent", "refund"]]
    tickets.iloc[:200].to_csv(folder / "tickets.csv", index=False)
    new = tickets.iloc[200:].drop(columns=["urgent", "refund"])
    new.to_csv(folder / "new.csv", index=False)
    new.to_parquet(folder / "new.parquet", index=False)
    numbers = pd.DataFrame(rng.normal(size=(240, 4)), columns=["age", "dose", "beat", "tempo"])
    yes = (numbers + 0.5 * rng.normal(size=numbers.shape) > 0.3).astype(int)
    patients = numbers.assign(hospital=rng.choice(["north", "south"], 240), readmitted=yes["age"])
    patients.to_csv(folder / "patients.csv", index=False)
    visits = numbers.assign(times=rng.integers(1, 4, 240), ill=yes["dose"])
    visits.iloc[:160].to_csv(folder / "visits.csv", index=False)
    visits.iloc[160:].to_csv(folder / "later.csv", index=False)
    (folder / "songs").mkdir()
    songs = numbers.assign(calm=yes["beat"], sad=yes["tempo"])
    for part in range(2):
        songs.iloc[part::2].to_parquet(folder / "songs" / f"{part}.parquet", index=False)


def write_texts(folder):
    """Write tickets with topics, separated by semicolons, in place of those with columns of labels."""
    tickets = make_tickets(120, new_seed())
    topics = [";".join(name for name in ("urgent", "refund") if row[name] == "yes") for _, row in tickets.iterrows()]
    pd.DataFrame({"subject": tickets["subject"], "topics": topics}).to_csv(folder / "tickets.csv", index=False)


def smtl(folder, *arguments):
    """Run a command in a folder; return its exit code and what it printed."""
    own = {"SMTL_CACHE": str(folder / "cache"), "COLUMNS": "100", "PYTHONUTF8": "1"}
    process = subprocess.run(
        [str(ROOT / os.environ["SMTL_COMMAND"]), *arguments],
        **{"capture_output": True, "text": True, "encoding": "utf-8", "cwd": folder, "timeout": 600},
        env=dict(os.environ) | own,
        check=False,
    )
    return process.returncode, process.stdout + process.stderr


def with_commands():
    return [str(page.relative_to(ROOT)) for page in PAGES if commands_of(page)]


def written(folder):
    """Return the files of a folder, each with when it was written: a later model may replace another."""
    return {(path, path.stat().st_mtime_ns) for path in folder.iterdir()}


@needs_command
@pytest.mark.parametrize("page", with_commands())
def test_the_commands_of_a_page_work_as_printed(page, tmp_path):
    commands = commands_of(ROOT / page)
    write_files(tmp_path)
    if any("--tags" in command for command in commands):
        write_texts(tmp_path)
    if not any(command[0] == "fit" for command in commands):  # the model is that of another page
        assert smtl(tmp_path, "fit", "tickets.csv", "--labels", "urgent,refund")[0] == 0
    for command in commands:
        before = written(tmp_path)
        code, printed = smtl(tmp_path, *command)
        assert code == 0, (command, printed)
        for option in ("-o", "--out", "--checkpoint"):
            if option in command:
                assert (tmp_path / command[command.index(option) + 1]).exists(), (command, printed)
        if command[0] in ("fit", "report", "export") and "-o" not in command:
            assert written(tmp_path) - before, (command, printed)
        assert printed.strip(), command


@needs_command
def test_the_figures_of_the_demo_are_those_of_the_readme(tmp_path):
    code, printed = smtl(tmp_path, "demo")
    assert code == 0, printed
    summary = re.search(r"Ahead on mean F1: .*?\((.*?)\)", " ".join(printed.split()))[1]
    reached = {name: float(value) for name, value in (part.rsplit(" ", 1) for part in summary.split(", "))}
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    told = re.search(
        r"mean F1 of ([\d.]+), against ([\d.]+) of logistic regression, ([\d.]+) of a random forest "
        r"and ([\d.]+) of scikit-learn's gradient boosting",
        text,
    )
    names = ["smtl", "logistic regression", "random forest", "gradient boosting"]
    # Versions of scikit-learn differ in a few of the 719 answers.
    assert [reached[name] for name in names] == pytest.approx([float(one) for one in told.groups()], abs=0.004)
    for suffix in (".png", ".skops", ".csv", ".html"):
        assert (tmp_path / f"smtl-demo{suffix}").stat().st_size > 1000


def test_start_pages_have_commands():
    assert {"README.md", "docs/index.md", "docs/get_started.md", "docs/guide/text.md"} <= set(with_commands())
