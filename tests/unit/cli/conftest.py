"""Commands as users run them, in a process of their own or, to save the time to start one, in this one."""

import io
import multiprocessing
import os
import subprocess
import sys
from contextlib import redirect_stdout
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

FORCING = ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "SMTL_DATA")

SEARCH = ("--model", "linear", "--values", "5", "--cv", "3", "--json")

IMPORTED = ["smtl.cli", "smtl.datasets", "smtl.estimators", "smtl.kernels.bundle", "smtl.tables.matrix", "skops.io"]
IMPORTED += [f"smtl.model.{name}" for name in ("training", "persistence", "predicting", "report", "rivals")]
# What a process does: go to its folder, put its output into files, and be the command.
COMMAND = """
import os, sys
os.chdir(folder)
for name in forcing:
    os.environ.pop(name, None)
os.environ.update(environment)
if file_size is not None:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
for number, name in ((1, "stdout"), (2, "stderr")):
    os.dup2(os.open(f"{printed}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    setattr(sys, name, None if number in closed else open(number, "w", encoding="utf-8"))
for number in closed:
    os.close(number)
if 0 in closed:
    sys.stdin = sys.__stdin__ = None
sys.argv = ["smtl", *arguments]
from smtl.cli import main
main()
"""


class Done(NamedTuple):
    """How a process ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def process(tmp_path):
    """Run a command in a folder of its own."""

    def run(*arguments, environment=None, **options):
        kept = {key: value for key, value in os.environ.items() if key not in FORCING}
        own = {"PYTHONUTF8": "1", "SMTL_CACHE": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
        return subprocess.run(
            [sys.executable, "-m", "smtl.cli", *map(str, arguments)],
            **({"capture_output": True, "text": True, "cwd": tmp_path, "timeout": 300} | options),
            env=kept | own | (environment or {}),
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def fork(tmp_path_factory):
    """Run a command in a folder, in a process forked from one that has imported what commands import.

    It takes a tenth of the time of a new process. `file_size` is the most that it may write to a file, in bytes;
    `closed` has the numbers of the standard streams that it begins without, as Python does where they are closed.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    printed = tmp_path_factory.mktemp("printed")

    def run(folder, *arguments, environment=None, file_size=None, closed=()):
        own = {"PYTHONUTF8": "1", "SMTL_CACHE": str(folder / "cache")} | (environment or {})
        given = {"arguments": [str(word) for word in arguments], "folder": str(folder), "printed": str(printed)}
        given |= {"environment": {name: str(value) for name, value in own.items()}, "forcing": FORCING}
        process = context.Process(target=exec, args=(COMMAND, given | {"file_size": file_size, "closed": closed}))
        process.start()
        process.join(300)
        if process.exitcode is None:
            process.kill()
        return Done(process.exitcode, *((printed / name).read_text(encoding="utf-8") for name in ("stdout", "stderr")))

    return run


@pytest.fixture
def forked(fork, tmp_path):
    """Run a command in a forked process, in a folder of its own."""
    return partial(fork, tmp_path)


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run a command in this process; return its exit code and what it printed."""
    from smtl.cli import main

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["smtl", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    return run


@pytest.fixture
def fails(command):
    """Run a command that must fail with one line; return the line."""

    def run(*arguments, code=1):
        ended, output, error = command(*arguments)
        assert ended == code, (output, error)
        assert error.startswith("Error: ")
        assert error.count("\n") == 1
        assert output == ""
        return error

    return run


def write_songs(path, n=200, seed=0):
    """Write a table with holes, a nominal column and two labels; return its numbers and labels."""
    rng = np.random.default_rng(seed)
    beat, year = rng.normal(size=n), rng.integers(1950, 2000, size=n)
    key = rng.choice(["major", "minor", "none, at all"], size=n)
    calm = (beat + 2.0 * (key == "minor") + 0.3 * rng.normal(size=n) > 0.5).astype(int)
    sad = ((year > 1980) ^ (rng.random(n) < 0.05)).astype(int)
    lines = ["beat,key,year,calm,sad"]
    for i in range(n):
        shown = "" if i % 10 == 3 else repr(float(beat[i]))
        lines.append(f'{shown},"{key[i]}",{year[i]},{calm[i]},{sad[i]}')
    path.write_text("\n".join(lines) + "\n")
    return beat, key, year, np.column_stack([calm, sad])


@pytest.fixture(scope="session")
def songs(tmp_path_factory):
    """Return a folder with songs.csv, the model songs.skops that smtl fit makes of it, and what that printed."""
    from smtl.cli import main

    folder = tmp_path_factory.mktemp("songs")
    write_songs(folder / "songs.csv")
    arguments = ["fit", str(folder / "songs.csv"), "--labels", "calm,sad", "-o", str(folder / "songs.skops"), *SEARCH]
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.setattr(sys, "argv", ["smtl", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 0
    (folder / "fit.json").write_text(printed.getvalue())
    return folder


@pytest.fixture(scope="session")
def song_features(songs):
    """Return the columns of the songs, and what an exported model takes for them, made without smtl."""
    frame = pd.read_csv(songs / "songs.csv")
    made = {"beat": frame["beat"], "beat is missing": frame["beat"].isna()}
    made |= {f"key={value}": frame["key"] == value for value in ("major", "minor", "none, at all")}
    features = pd.DataFrame(made | {"year": frame["year"]}).astype(float)
    assert 0 < features["beat"].isna().sum() == features["beat is missing"].sum()
    return frame, features
