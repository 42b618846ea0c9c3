"""Every fault at every place: no command loses or corrupts a file, whichever call of the system fails.

    python benchmarks/faults.py [--commands predict,convert] [--random 20] [--faults ENOSPC,EIO,EINTR,short,kill]

Each command that writes runs on small inputs, once for each call k that it makes on files of its folder (open, read,
write, fsync, rename, unlink, truncate, mkdir, chmod, close, locks; Python's, pyarrow's and SQLite's) and each fault,
which happens at that call. ``short`` is a write that writes half of what it should, and says so. After it:

- inputs are as they were, and each output is the old one or the new one, whole; the new one if the exit code is 0;
- the exit code is 0, or 1 with one line on standard error that begins with "Error: ", or that of the kill;
- no part of a file is left, unless the process was killed or the call that failed was the part's removal;
- runs of a study that were told as done, or were done before, are in its store;
- the same command, run again, succeeds, and there is nothing in the folder that is not there without a fault.

The calls are caught by a small library (``faults.c``, compiled here with cc), so that this runs on Linux only. Commands
run in processes that are forked from one in which they ran before, so that nothing is imported or compiled again;
a study runs in one process, not in a pool. The last line is a summary; the exit code is 1 if there is a failure.
"""

import argparse
import csv
import ctypes
import errno
import gc
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
FAULTS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EINTR": errno.EINTR, "short": -2, "kill": 0}
NAMES = -3  # no fault: the names of all calls are told
WRITES = ("write", "pwrite", "pwrite64", "writev")
KILLED = -9
SECONDS = 120  # that a command may take; a hang is a failure
Check = Callable[[Path], Any]


class Command(NamedTuple):
    """A command: its words, what it writes, what ran before, and files that a failed run may leave half written.

    Of each output there is what tells that it is whole; None where its bytes must be those of a run without a fault.
    """

    words: tuple[str, ...]
    outputs: dict[str, Check | None]
    before: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    same_words: bool = False  # whether it prints the same with and without a fault
    spare: tuple[str, ...] = ()  # an output, and what may be written instead where the old one cannot be read


def _model(path: Path) -> Any:
    from smtl.model import load_model

    load_model(path)


def _store(path: Path) -> Any:
    """Return the results of a store by run."""
    import sqlite3

    base = sqlite3.connect(path)
    try:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not base.execute("SELECT * FROM sqlite_master WHERE name = 'runs'").fetchall():
            return {}  # it was just begun
        found = base.execute("SELECT dataset, method, split, result FROM runs").fetchall()
        return {tuple(map(str, run)): json.loads(result) for *run, result in found}
    finally:
        base.close()


def _page(path: Path) -> Any:
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def _picture(path: Path) -> Any:
    import matplotlib.image

    matplotlib.image.imread(path)


def _rows(path: Path) -> Any:
    """Look at a table with seconds in it, which differ from run to run."""
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert rows
    assert {len(row) for row in rows} == {len(head)}


_FIT = ("--labels", "calm,sad", "--model", "linear", "--C", "1")
_FOLDER = ("--labels", "calm,sad", "--C", "0.001", "--metric", "f1", "--checkpoint", "fit.passes")  # a few passes
_COMPARE = ("compare", "plain.csv", "--methods", "br", "--cv", "2", "--values", "1", "--out", "study")
_REPRODUCE = ("reproduce", "--quick", "--cv", "2", "--values", "1", "--skip-missing", "--jobs", "1", "--out", "study")
_STUDY: dict[str, Check | None] = {"study/runs.sqlite": _store, "study/report.html": _page, "study/runs.csv": _rows}
COMMANDS = {
    "fit": Command(("fit", "songs.csv", *_FIT, "-o", "new.skops"), {"new.skops": _model, "new-test.csv": None}),
    "fit-again": Command(
        ("fit", "songs.csv", *_FIT, "-o", "new.skops"),
        {"new.skops": _model, "new-test.csv": None},
        before=("fit", "songs.csv", *_FIT, "--seed", "1", "-o", "new.skops"),
        spare=("new-test.csv", "new-test-2.csv"),
    ),
    "fit-folder": Command(
        ("fit", "parts", *_FOLDER, "-o", "new.skops"), {"new.skops": _model, "fit.passes": None}, logs=("fit.passes",)
    ),
    "predict": Command(("predict", "songs.skops", "songs.csv", "-o", "out.csv"), {"out.csv": None}),
    "predict-parquet": Command(
        ("predict", "songs.skops", "songs.csv", "--what", "both", "-o", "out.parquet"), {"out.parquet": None}
    ),
    "predict-gz": Command(
        ("predict", "songs.skops", "songs.csv", "--format", "csv", "-o", "out.csv.gz"), {"out.csv.gz": None}
    ),
    "export": Command(("export", "songs.skops", "--to", "json", "-o", "weights.json"), {"weights.json": None}),
    "export-onnx": Command(("export", "songs.skops", "--to", "onnx", "-o", "songs.onnx"), {"songs.onnx": None}),
    "report": Command(("report", "songs.skops", "songs.csv", "-o", "page.html"), {"page.html": _page}),
    "convert": Command(("convert", "songs.csv", "out.svm", "--labels", "calm,sad"), {"out.svm": None}),
    "convert-arff": Command(
        ("convert", "songs.csv", "out.arff", "--labels", "calm,sad"), {"out.arff": None, "out.xml": None}
    ),
    "datasets": Command(
        ("datasets", "show", "songs.csv", "--labels", "calm,sad", "--out", "labels.png"), {"labels.png": _picture}
    ),
    "demo": Command(
        ("demo", "--out", "demo.png"),
        {"demo.png": _picture, "demo.skops": _model, "demo.csv": None, "demo.html": _page},
        before=("demo", "--seed", "1", "--out", "demo.png"),
    ),
    "cache": Command(("datasets", "show", "flags", "--json"), {}, same_words=True),
    "compare": Command((*_COMPARE, "--splits", "2"), _STUDY),
    "compare-on": Command((*_COMPARE, "--splits", "2"), _STUDY, before=(*_COMPARE, "--splits", "1")),
    "compare-table": Command(
        ("compare", "songs.csv", "--labels", "calm,sad", *_COMPARE[2:], "--splits", "1"),
        {"study/data/songs.parquet": None, **_STUDY},
    ),
    "reproduce": Command((*_REPRODUCE, "--splits", "1"), _STUDY),
}
_NEED_DATA = ("cache", "reproduce")
_DONE = re.compile(r"^\d+ of \d+: (\S+) (\S+) split (\d+), ", re.MULTILINE)


def library(folder: Path) -> Path:
    """Compile the library that makes calls fail."""
    path = folder / "faults.so"
    words = ["cc", "-shared", "-fPIC", "-O1", "-w", "-o", str(path), str(HERE / "faults.c"), "-ldl"]
    subprocess.run(words, check=True)
    return path


class _Here:
    """In the place of a pool of one process: what is given to it is done at once, in this process."""

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(work(*arguments))
        return future

    def shutdown(self, **_: Any) -> None: ...


class Ended(NamedTuple):
    """How a command ended: exit code, the calls that were told, and what was printed."""

    code: int
    calls: list[str]
    output: str
    errors: str

    @property
    def failed(self) -> str:
        return self.calls[0] if self.calls else ""


class Faulty:
    """Runs commands in forks of this process, which must have been started with the library."""

    def __init__(self, folder: Path, so: Path) -> None:
        import smtl.cli._study
        import smtl.cli.demo
        import smtl.cli.reproduce
        import smtl.experiments.runner

        self.folder = folder
        self.calls = ctypes.CDLL(str(so))
        self.calls.fault_arm.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_int]
        smtl.experiments.runner._pool = _Here
        # The study of the paper with one small set and one method: the files that it writes are the same.
        smtl.cli.reproduce.QUICK_SETS = ["flags"]
        smtl.cli._study.chosen_methods = lambda given: ["br"]
        # The demonstration with the quickest of methods: the files that it writes are the same.
        smtl.cli.demo._models = quick_models

    def run(self, words: tuple[str, ...], at: int = 2**60, failure: int = NAMES) -> Ended:
        """Run a command with a fault at a call."""
        printed = self.folder.with_name("printed")
        read, write = os.pipe()
        process = os.fork()
        if process == 0:
            code = 70
            try:
                signal.alarm(SECONDS)
                code = self._command(words, str(printed), at, failure, write)
            finally:
                os._exit(code)
        os.close(write)
        with os.fdopen(read, "r") as pipe:
            calls = pipe.read().split()
        _, status = os.waitpid(process, 0)
        output, errors = (Path(f"{printed}.{number}").read_text(errors="replace") for number in (1, 2))
        return Ended(os.waitstatus_to_exitcode(status), calls, output, errors)

    def _command(self, words: tuple[str, ...], printed: str, at: int, failure: int, told: int) -> int:
        self.at_home()
        for number in (1, 2):
            os.dup2(os.open(f"{printed}.{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
        self.calls.fault_arm(at, failure, told)
        code = _main(words)
        self.calls.fault_arm(-1, 0, -1)
        sys.stdout.flush(), sys.stderr.flush()
        return code

    def at_home(self) -> None:
        """Go to the folder, whose data and cache are its own."""
        os.chdir(self.folder)
        os.environ |= {"PYTHONUTF8": "1", "SMTL_CACHE": str(self.folder / "cache")}
        if (self.folder / "sets").is_dir():
            os.environ["SMTL_DATA"] = str(self.folder / "sets")

    def warm(self, words: tuple[str, ...]) -> None:
        """Run a command in this process, for the sake of all that it imports and compiles."""
        self.at_home()
        streams = sys.stdout, sys.stderr
        with open(os.devnull, "w") as nowhere:
            sys.stdout = sys.stderr = nowhere
            try:
                _main(words)
            finally:
                sys.stdout, sys.stderr = streams
        gc.collect()
        gc.freeze()


def quick_models(preset: str, seed: int, jobs: int, **_: Any) -> dict[str, Any]:
    """Return the methods of the demonstration: an ensemble of one learner, and one to compare it with."""
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import Pipeline

    from smtl import SMTLEnsemble

    ensemble = SMTLEnsemble("f1_macro", preset="fast", learners=["linear"], correction=False, cv=2, random_state=seed)
    return {"smtl": Pipeline([("classifier", ensemble)]), "naive Bayes": GaussianNB()}


def _main(words: tuple[str, ...]) -> int:
    from smtl.cli import main

    sys.argv = ["smtl", *words]
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def prepare(folder: Path) -> None:
    """Write the inputs: a table, one of numbers with marked labels, a folder of Parquet, and a set if it is here."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from smtl.datasets.known import SETS
    from smtl.datasets.places import look

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
    (folder / "parts").mkdir()
    table = pa.table({"beat": beat, "year": year, "calm": calm, "sad": sad})
    for k in range(2):
        pq.write_table(table.slice(30 * k, 30), folder / "parts" / f"{k}.parquet")
    found, _ = look(SETS["flags"])
    for path in found.paths if found is not None else ():
        (folder / "sets" / "flags").mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / "sets" / "flags")


def files(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Trial:
    """One command: its inputs, what it writes without a fault, and what was there before."""

    def __init__(self, name: str, faulty: Faulty, inputs: Path) -> None:
        self.command, self.faulty, self.inputs = COMMANDS[name], faulty, inputs
        self.old: dict[str, bytes] = {}
        self._fresh()
        faulty.warm(self.command.words)
        self._fresh()
        clean = faulty.run(self.command.words)
        assert clean.code == 0, clean.errors
        self.output = clean.output
        self.new, self.inputs_are = files(faulty.folder), files(inputs)
        if self.command.before:
            self._fresh()
            done = faulty.run(self.command.before)
            assert done.code == 0, done.errors
            made = files(faulty.folder)
            self.old = {name: made[name] for name in made if name not in self.inputs_are}
        elif "study/runs.sqlite" not in self.command.outputs:
            # Old outputs that nobody could take for new ones; a log is begun anew.
            self.old = {name: b"old\n" for name in self.command.outputs if name not in self.command.logs}
            if "new-test.csv" in self.old:
                self.old = {"new.skops": self.inputs_are["songs.skops"]}
        self.runs = self._value("study/runs.sqlite") if self.old.get("study/runs.sqlite") else {}
        self._fresh()
        again = faulty.run(self.command.words)
        assert again.code == 0, again.errors
        self.calls, self.messages = again.calls, Counter[str]()
        self.expected = {*files(faulty.folder), *self.command.spare[1:]}

    def _fresh(self) -> None:
        for path in self.faulty.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(self.inputs, self.faulty.folder, dirs_exist_ok=True)
        for name, content in self.old.items():
            path = self.faulty.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def _value(self, name: str) -> Any:
        check = self.command.outputs[name]
        return check(self.faulty.folder / name) if check is not None else None

    def check(self, at: int, fault: str) -> str | None:
        """Return what is wrong after a fault at the k-th call, None if all is well."""
        if fault == "short" and self.calls[at - 1] not in WRITES:
            return None
        self._fresh()
        before = files(self.faulty.folder)
        ended = self.faulty.run(self.command.words, at, FAULTS[fault])
        found = files(self.faulty.folder)
        wrong = self._ended(ended, fault) or self._left(found, ended, fault) or self._whole(found, ended)
        if wrong is not None:
            return f"({ended.failed}) {wrong}"
        if found == before:  # the next run is the one without a fault
            return None
        again = self.faulty.run(self.command.words)
        if again.code != 0:
            return f"({ended.failed}) the next run fails: {again.errors.strip()[-300:]}"
        if self.command.same_words and again.output != self.output:
            return f"({ended.failed}) the next run prints something else"
        after = files(self.faulty.folder)
        if more := set(after) - self.expected:
            return f"({ended.failed}) leftovers after the next run: {sorted(more)}"
        wrong = self._whole(after, again)
        return None if wrong is None else f"({ended.failed}) after the next run, {wrong}"

    def _ended(self, ended: Ended, fault: str) -> str | None:
        errors = ended.errors.strip()
        if ended.code == KILLED and fault == "kill":
            return None
        if fault == "short" and ended.code != 0:
            return f"a short write is not gone on with: {errors[-300:]}"
        if "(unexpected" in errors or "Traceback" in errors or ended.code not in (0, 1):
            return f"exit code {ended.code}: {errors[-300:]}"
        # An error names a file, or the folder of a study.
        names = [*self.inputs_are, *self.command.outputs, *(str(Path(name).parent) for name in self.command.outputs)]
        if ended.code and not any(name in errors for name in names if name != "."):
            return f"no file is named: {errors[-300:]}"
        told = [line for line in errors.splitlines() if line.startswith("Error: ")]
        if len(told) != ended.code or (told and errors.splitlines()[-1] != told[0]) or "Error: None" in errors:
            return f"exit code {ended.code}, and it is told: {errors[-300:]!r}"
        if self.command.same_words and ended.code == 0 and ended.output != self.output:
            return "it prints something else"
        self.messages[f"{ended.failed:9} {told[0] if told else 'no error'}"] += 1
        return None

    def _left(self, found: dict[str, bytes], ended: Ended, fault: str) -> str | None:
        parts = [name for name in found if name.endswith(".part")]
        if parts and fault != "kill" and ended.failed not in ("unlink", "unlinkat"):
            return f"a part is left: {parts}"
        return None

    def _whole(self, found: dict[str, bytes], ended: Ended) -> str | None:
        for name, content in self.inputs_are.items():
            if found.get(name) != content:
                return f"the input {name} has changed"
        for name, check in self.command.outputs.items():
            content = found.get(name)
            if name in self.command.spare[:1] and content == self.old[name]:
                content = found.get(self.command.spare[1], content)
            wrong = self._output(name, check, content, ended.code)
            if wrong is not None:
                return f"{name} {wrong}"
        if "study/runs.sqlite" in self.command.outputs and found.get("study/runs.sqlite"):
            runs = self._value("study/runs.sqlite")
            if any(runs.get(run) != result for run, result in self.runs.items()):
                return "runs that were done before are lost"
            if lost := set(_DONE.findall(ended.errors)) - set(runs):
                return f"runs that were told are lost: {lost}"
        return None

    def _output(self, name: str, check: Check | None, content: bytes | None, code: int) -> str | None:
        """Return what is wrong with an output."""
        old = self.old.get(name)
        if code != 0 and (content == old or name in self.command.logs):
            return None
        if content is None:
            return "is missing"
        if code == 0 and content == old and name != "study/runs.sqlite":
            return "is the old one, and no error is told"
        if check is None:
            return None if content == self.new[name] else "is neither the old output nor the new one"
        try:
            self._value(name)
        except Exception as error:
            if content or code == 0:  # a store that is still empty has no runs to lose
                return f"is not whole: {type(error).__name__}: {error}"
        return None


def run(
    names: list[str],
    faults: list[str],
    chosen: Callable[[int], list[int]],
    tell: Callable[[str], None],
    *,
    messages: bool = False,
) -> int:
    """Try commands with faults at chosen calls, and return how many trials went wrong; the library must be loaded."""
    failures = total = 0
    with tempfile.TemporaryDirectory() as place:
        folder, inputs = Path(place, "work"), Path(place, "inputs")
        folder.mkdir(), inputs.mkdir()
        os.environ["FAULTS_FOLDER"] = str(folder)
        faulty = Faulty(folder, Path(os.environ["LD_PRELOAD"].split(":")[0]))
        prepare(inputs)
        shutil.copytree(inputs, folder, dirs_exist_ok=True)
        done = faulty.run(("fit", "songs.csv", *_FIT, "--test-size", "0", "-o", "songs.skops"))
        assert done.code == 0, done.errors
        shutil.copy(folder / "songs.skops", inputs)
        for name in names:
            begin, bad = time.perf_counter(), 0
            if name in _NEED_DATA and not (inputs / "sets").is_dir():
                tell(f"{name:16} left out: the set flags is not here; SMTL_DATA says where to look")
                continue
            trial = Trial(name, faulty, inputs)
            places = chosen(len(trial.calls))
            for fault in faults:
                for at in places:
                    wrong = trial.check(at, fault)
                    if wrong is not None:
                        bad += 1
                        tell(f"  {name}, {fault} at call {at} of {len(trial.calls)}: {wrong}")
            n, took = len(places) * len(faults), time.perf_counter() - begin
            tell(f"{name:16} {len(trial.calls):5} calls {n:6} faults {bad:4} failures {took:7.0f} s")
            for message, times in trial.messages.most_common() if messages else ():
                tell(f"  {times:6} {message}")
            failures, total = failures + bad, total + n
    tell(f"{total} faults, {failures} failures")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument("--every", type=int, default=1, help="only each n-th call")
    parser.add_argument("--random", type=int, default=None, help="only so many calls of a command, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--messages", action="store_true", help="print what was told, and how often")
    arguments = parser.parse_args()
    if "FAULTS_READY" not in os.environ:
        with tempfile.TemporaryDirectory() as place:
            more = {"LD_PRELOAD": str(library(Path(place))), "FAULTS_READY": "1"}
            more |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            return subprocess.run([sys.executable, *sys.argv], env=os.environ | more, check=False).returncode
    names, faults = arguments.commands.split(","), arguments.faults.split(",")
    tell = lambda text: print(text, flush=True)  # noqa: E731

    def chosen(n: int) -> list[int]:
        places = range(1, n + 1, arguments.every)
        if arguments.random is None:
            return list(places)
        return sorted(random.Random(arguments.seed).sample(places, min(arguments.random, len(places))))

    failures = run(names, faults, chosen, tell, messages=arguments.messages)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
