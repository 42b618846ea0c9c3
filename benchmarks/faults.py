"""Every fault at every place: no command loses or corrupts a file, whichever call of the system fails.

    python benchmarks/faults.py [--commands predict,convert] [--every 1] [--faults ENOSPC,EIO,EINTR,kill]

Each command that writes runs on small inputs, once for each call k that it makes on files of its folder (open, write,
fsync, rename, unlink, truncate; Python's, pyarrow's and SQLite's) and each fault, which happens at that call. After it:

- inputs are as they were, and each output is the old one or the new one, whole;
- the exit code is 0 with the new output, or 1 with one line on standard error, or that of the kill;
- the same command, run again, succeeds, and there is nothing in the folder that is not there without a fault.

The calls are caught by a small library (``faults.c``, compiled here with cc), so that this runs on Linux only. Commands
run in processes forked from one that has imported everything. The last line is a summary; the exit code is 1 if there
is a failure.
"""

import argparse
import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
FAULTS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EINTR": errno.EINTR, "kill": 0}
KILLED = -9


class Command(NamedTuple):
    """A command, what it writes, and what tells that an output is whole; None where bytes must be the same."""

    words: tuple[str, ...]
    outputs: dict[str, Callable[[Path], object] | None]


def _model(path: Path) -> object:
    from smtl.model import load_model

    return load_model(path)


def _store(path: Path) -> object:
    import sqlite3

    base = sqlite3.connect(path)
    try:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return [json.loads(row[0]) for row in base.execute("SELECT result FROM runs")]
    finally:
        base.close()


def _page(path: Path) -> object:
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    return path


def _picture(path: Path) -> object:
    import matplotlib.image

    return matplotlib.image.imread(path)


def _arrays(path: Path) -> object:
    import numpy as np

    with np.load(path) as file:
        return [file[name].shape for name in file.files]


_FIT = ("--labels", "calm,sad", "--model", "linear", "--C", "1")
_STUDY = ("--methods", "br", "--splits", "2", "--cv", "2", "--values", "1", "--out", "study")
COMMANDS = {
    "fit": Command(("fit", "songs.csv", *_FIT, "-o", "new.skops"), {"new.skops": _model, "new-test.csv": None}),
    "predict": Command(("predict", "songs.skops", "songs.csv", "-o", "out.csv"), {"out.csv": None}),
    "predict-parquet": Command(
        ("predict", "songs.skops", "songs.csv", "--what", "both", "-o", "out.parquet"), {"out.parquet": None}
    ),
    "predict-gz": Command(
        ("predict", "songs.skops", "songs.csv", "--format", "csv", "-o", "out.csv.gz"), {"out.csv.gz": None}
    ),
    "export": Command(("export", "songs.skops", "--to", "json", "-o", "weights.json"), {"weights.json": None}),
    "report": Command(("report", "songs.skops", "songs.csv", "-o", "page.html"), {"page.html": _page}),
    "convert": Command(("convert", "songs.csv", "out.svm", "--labels", "calm,sad"), {"out.svm": None}),
    "convert-arff": Command(
        ("convert", "songs.csv", "out.arff", "--labels", "calm,sad"), {"out.arff": None, "out.xml": None}
    ),
    "datasets": Command(
        ("datasets", "show", "songs.csv", "--labels", "calm,sad", "--out", "labels.png"), {"labels.png": _picture}
    ),
    "cache": Command(("datasets", "show", "flags", "--json"), {}),
    "compare": Command(
        ("compare", "plain.csv", *_STUDY),
        {"study/runs.sqlite": _store, "study/report.html": _page, "study/runs.csv": None},
    ),
    "reproduce": Command(
        ("reproduce", "--quick", "--splits", "1", "--cv", "2", "--values", "1", "--skip-missing", "--out", "paper"),
        {"paper/runs.sqlite": _store, "paper/report.html": _page},
    ),
}
IMPORTED = ["smtl.cli", "smtl.datasets", "smtl.estimators", "smtl.kernels.bundle", "smtl.tables.matrix", "skops.io"]
IMPORTED += [f"smtl.model.{name}" for name in ("training", "persistence", "predicting", "report", "rivals")]
IMPORTED += ["smtl.experiments", "smtl.experiments.report", "smtl.tables.data", "matplotlib.figure", "rich.console"]


def library(folder: Path) -> Path:
    """Compile the library that makes calls fail."""
    path = folder / "faults.so"
    words = ["cc", "-shared", "-fPIC", "-O1", "-w", "-o", str(path), str(HERE / "faults.c"), "-ldl"]
    subprocess.run(words, check=True)
    return path


class Faulty:
    """Runs commands in forks of this process, which must have been started with the library."""

    def __init__(self, folder: Path, so: Path) -> None:
        self.folder, self.so = folder, so
        self.calls = ctypes.CDLL(str(so))
        self.calls.fault_arm.argtypes = [ctypes.c_long, ctypes.c_int]
        self.calls.fault_calls.restype = ctypes.c_long
        for name in IMPORTED:
            __import__(name)

    def run(self, words: tuple[str, ...], at: int = 2**60, fault: str = "EIO") -> tuple[int, int, str]:
        """Return the exit code, how many calls there were, and what stood on standard error."""
        printed = self.folder.with_name("printed")
        read, write = os.pipe()
        process = os.fork()
        if process == 0:
            code = 70
            try:
                os.chdir(self.folder)
                os.environ |= {"PYTHONUTF8": "1", "SMTL_CACHE": str(self.folder / "cache")}
                for number in (1, 2):
                    os.dup2(os.open(f"{printed}.{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
                sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
                sys.argv = ["smtl", *words]
                from smtl.cli import main

                self.calls.fault_arm(at, FAULTS[fault])
                try:
                    main()
                except SystemExit as ended:
                    code = int(ended.code or 0)
                os.write(write, str(self.calls.fault_calls()).encode())
                self.calls.fault_arm(-1, 0)
                sys.stdout.flush(), sys.stderr.flush()
            finally:
                os._exit(code)
        os.close(write)
        _, status = os.waitpid(process, 0)
        n = os.read(read, 20)
        os.close(read)
        return os.waitstatus_to_exitcode(status), int(n or 0), Path(f"{printed}.2").read_text(errors="replace")


def prepare(folder: Path) -> None:
    """Write the inputs: a table, a table of numbers with marked labels, and a model."""
    import numpy as np

    rng = np.random.default_rng(0)
    beat, year = rng.normal(size=60), rng.integers(1950, 2000, size=60)
    calm, sad = (beat > 0).astype(int), (year > 1975).astype(int)
    rows = [
        f"{b:.3f},{('major', 'minor')[k % 2]},{y},{c},{s}"
        for k, (b, y, c, s) in enumerate(zip(beat, year, calm, sad, strict=True))
    ]
    (folder / "songs.csv").write_text("\n".join(["beat,key,year,calm,sad", *rows]) + "\n")
    rows = [f"{b:.3f},{y},{c},{s}" for b, y, c, s in zip(beat, year, calm, sad, strict=True)]
    (folder / "plain.csv").write_text("\n".join(["beat,year,label:calm,label:sad", *rows]) + "\n")


def files(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Trial:
    """One command: its inputs, what it writes without a fault, and what was there before."""

    def __init__(self, name: str, faulty: Faulty, inputs: Path) -> None:
        self.name, self.command, self.faulty, self.inputs = name, COMMANDS[name], faulty, inputs
        self._fresh(old=False)
        code, _, errors = faulty.run(self.command.words)
        assert code == 0, (name, errors)
        self.new = files(faulty.folder)
        self.before = files(inputs)
        # Old outputs that nobody could take for new ones; a study goes on with its store, and begins without one.
        self.old = {} if name in ("compare", "reproduce", "cache") else {out: b"old\n" for out in self.command.outputs}
        if "-test.csv" in " ".join(self.old):
            self.old = {"new.skops": self.before["songs.skops"]}
        self._fresh()
        code, self.n_calls, errors = faulty.run(self.command.words)
        assert code == 0, (name, errors)
        self.expected = set(files(faulty.folder))

    def _fresh(self, *, old: bool = True) -> None:
        for path in self.faulty.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(self.inputs, self.faulty.folder, dirs_exist_ok=True)
        for name, content in (self.old if old else {}).items():
            (self.faulty.folder / name).write_bytes(content)

    def check(self, at: int, fault: str) -> str | None:
        """Return what is wrong after a fault at the k-th call, None if all is well."""
        self._fresh()
        code, _, errors = self.faulty.run(self.command.words, at, fault)
        found = files(self.faulty.folder)
        wrong = self._ended(code, errors, fault) or self._whole(found, code)
        if wrong is not None:
            return wrong
        left = {name for name in found if ".part" in name}
        if fault != "kill" and left and "unlink" not in errors and len(left) > 1:
            return f"more than one part is left: {left}"
        code, _, errors = self.faulty.run(self.command.words)
        if code != 0:
            return f"the next run fails: {errors.strip()[-300:]}"
        after = files(self.faulty.folder)
        if more := set(after) - self.expected:
            return f"leftovers after the next run: {sorted(more)}"
        return self._whole(after, 0)

    def _ended(self, code: int, errors: str, fault: str) -> str | None:
        if code == KILLED and fault == "kill":
            return None
        if "(unexpected" in errors or "Traceback" in errors or code not in (0, 1):
            return f"exit code {code}: {errors.strip()[-300:]}"
        if code == 1 and not errors.strip().splitlines()[-1].startswith("Error: "):
            return f"no error is told: {errors.strip()[-300:]}"
        return None

    def _whole(self, found: dict[str, bytes], code: int) -> str | None:
        for name, content in self.before.items():
            if found.get(name) != content and name not in self.command.outputs:
                return f"the input {name} has changed"
        for name, check in self.command.outputs.items():
            content = found.get(name)
            if content == self.old.get(name) and code != 0:
                continue
            if content is None:
                return f"{name} is missing" if code == 0 or name in self.old else None
            if check is None and not name.startswith("new") and content != self.new[name] and code == 0:
                return f"{name} is not what is written without a fault"
            if check is None and content not in (self.old.get(name), self.new[name]) and not name.startswith("new"):
                return f"{name} is neither the old output nor the new one"
            if check is not None:
                try:
                    check(self.faulty.folder / name)
                except Exception as error:
                    if content and not (name.endswith(".sqlite") and code != 0):
                        return f"{name} is not whole: {type(error).__name__}: {error}"
        return None


def run(names: list[str], faults: list[str], every: int, most: int | None, tell: Callable[[str], None]) -> int:
    """Try all commands, and return how many trials went wrong. Must run with the library loaded."""
    failures = 0
    with tempfile.TemporaryDirectory() as place:
        folder, inputs = Path(place, "work"), Path(place, "inputs")
        folder.mkdir(), inputs.mkdir()
        os.environ["FAULTS_FOLDER"] = str(folder)
        faulty = Faulty(folder, Path(os.environ["LD_PRELOAD"].split(":")[0]))
        prepare(inputs)
        shutil.copytree(inputs, folder, dirs_exist_ok=True)
        code, _, errors = faulty.run(("fit", "songs.csv", *_FIT, "--test-size", "0", "-o", "songs.skops"))
        assert code == 0, errors
        shutil.copy(folder / "songs.skops", inputs)
        for name in names:
            begin, bad = time.perf_counter(), 0
            try:
                trial = Trial(name, faulty, inputs)
            except AssertionError as error:
                tell(f"{name:16} left out: {error}")
                failures += name not in ("cache", "reproduce")  # these need data sets that may not be here
                continue
            places = range(1, trial.n_calls + 1, every)
            places = list(places)[:: max(1, len(places) // most)] if most else list(places)
            for fault in faults:
                for at in places:
                    with suppress(FileNotFoundError):
                        wrong = trial.check(at, fault)
                        if wrong is not None:
                            bad += 1
                            tell(f"  {name}, {fault} at call {at} of {trial.n_calls}: {wrong}")
            n, took = len(places) * len(faults), time.perf_counter() - begin
            tell(f"{name:16} {trial.n_calls:5} calls {n:6} faults {bad:4} failures {took:7.0f} s")
            failures += bad
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument("--every", type=int, default=1, help="only each n-th call")
    parser.add_argument("--most", type=int, default=None, help="about how many calls of a command to try")
    arguments = parser.parse_args()
    if "FAULTS_READY" not in os.environ:
        with tempfile.TemporaryDirectory() as place:
            more = {"LD_PRELOAD": str(library(Path(place))), "FAULTS_READY": "1"}
            more |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            return subprocess.run([sys.executable, *sys.argv], env=os.environ | more, check=False).returncode
    tell = lambda text: print(text, flush=True)  # noqa: E731
    failures = run(arguments.commands.split(","), arguments.faults.split(","), arguments.every, arguments.most, tell)
    print(f"{failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
