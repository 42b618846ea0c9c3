"""Damaged files of every format: a reader may refuse them with `DatasetError`, and do nothing else that is wrong.

    python benchmarks/fuzz_datasets.py [--files 24000] [--seed 0] [--format csv ...]

Valid files are damaged (bytes changed, cut, doubled, moved; numbers and signs replaced by awkward ones) and read in a
process of its own, whose address space is limited. A failure is: another exception, a crash of the process, more than
``--seconds`` for one file, or more than ``--megabytes`` of memory beyond what the process had. Every failure is kept
in ``--keep``. The last line is a summary; the exit code is 1 if there is a failure.
"""

import argparse
import bz2
import gzip
import io
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from smtl import datasets
from smtl.datasets import Dataset, DatasetError

AWKWARD = [
    b"-1",
    b"0",
    b"1",
    b"2",
    b"99999999999",
    b"4294967297",
    b"9" * 40,
    b"1e400",
    b"-0.0",
    b"nan",
    b"inf",
    b"1_0",
    b"",
]
AWKWARD += [
    b"?",
    b"x",
    b"'",
    b'"',
    b"{",
    b"}",
    b",",
    b":",
    b"%",
    b"#",
    b"\\",
    b"\\u0",
    b"\n",
    b"\r",
    b"\t",
    b" ",
    b"\x00",
]
AWKWARD += [
    b"\xff",
    b"\xef\xbb\xbf",
    "é".encode(),
    "\u0661".encode(),
    "\u2028".encode(),
    b"@data\n",
    b"@attribute a {0,1}\n",
]
AWKWARD += [
    b"-C 3",
    b"-C 99",
    b"qid:3",
    b"label:",
    b"task:",
    b"&amp;",
    b"<!ENTITY a 'b'>",
    b"<label name='a'/>",
    b"{{{",
]


@cache
def seeds() -> dict[str, list[dict[str, bytes]]]:
    """Return valid files of each format: the file "data" is read; others lie beside it."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(12, 5)), 3)
    X[3, 2] = np.nan
    Y = rng.integers(0, 2, size=(12, 3))
    names = ("a", "b c", "d,'e'", "f%", "é")
    labels = ("l1", "l 2", 'l"3')
    dense = Dataset(X, Y, names, labels)
    sparse = Dataset(sp.csr_matrix(np.where(X > 0.3, X, 0.0)), Y, names, labels)
    written: dict[str, list[dict[str, bytes]]] = {}

    def made(save: Callable[..., None], data: Dataset, name: str) -> dict[str, bytes]:
        with tempfile.TemporaryDirectory() as folder:
            save(data, Path(folder, name))
            files = {path.suffix: path.read_bytes() for path in Path(folder).iterdir()}
        return {"data" if suffix == Path(name).suffix else suffix: content for suffix, content in files.items()}

    written["mulan"] = [made(datasets.write_mulan, data, "data.arff") for data in (dense, sparse)]
    nominal = b"@relation r\n@attribute size {small, 'very big', \"x\"}\n@attribute n real % note\n@attribute y {1,0}\n"
    xml = b"<?xml version='1.0'?>\n<labels xmlns='u'>\n <label name='y'><label name='z'/></label>\n</labels>\n"
    rows = b"@attribute z {0,1}\n@data\n'very big',1.5,1,0\n% comment\nx,?,0,1, {2}\r\nsmall,-2e3,?,1\n"
    written["mulan"].append({"data": nominal + rows, ".xml": xml})
    written["xml"] = [{"data": files[".xml"], "other": files["data"]} for files in written["mulan"]]
    written["meka"] = [
        {"data": b"@relation 'm: -C " + n + b"'\n" + nominal.partition(b"\n")[2] + rows.replace(b"z", b"w")}
        for n in (b"-2", b"-1")
    ]
    svm = made(datasets.write_svmlight, sparse, "data.svm")["data"]
    bare = b"".join(line for line in svm.splitlines(keepends=True) if not line.startswith(b"#"))
    written["svmlight"] = [{"data": svm}, {"data": bare}, {"data": b"1,2 qid:1 3:4 5:6 # note\n 1:1\n-1 2:0.5\n"}]
    written["svmlight.gz"] = [{"data": gzip.compress(svm)}, {"data": bz2.compress(svm)}]
    written["extreme"] = [{"data": b"12 6 3\n" + bare}, {"data": b"3 4 5\n0,4 0:1 3:2.5\n\n 1:0.5\n"}]
    written["csv"] = [
        made(datasets.write_csv, dense, "data.csv"),
        {"data": b'size,"k,1",label:a,label:b\r\n1,x,0,1\r\n,"y ""z""",1,\r\n2.5,x,true,false\r\n'},
        {"data": b"x,label:y,task:\n1,0,here\n2,1,there\n"},
    ]
    written["matlab"] = [{"data": _matlab(compress)} for compress in (False, True)]
    try:
        written["parquet"] = [{"data": _parquet(X, Y, options)} for options in ({}, {"compression": "none"})]
        written["folder"] = written["parquet"]
    except ImportError:
        print("pyarrow is not installed: no Parquet files", file=sys.stderr)
    return written


def _matlab(compress: bool) -> bytes:
    X, y = np.empty(3, dtype=object), np.empty(3, dtype=object)
    rng = np.random.default_rng(1)
    X[:] = [rng.normal(size=(n, 4)) for n in (3, 5, 4)]
    y[:] = [rng.integers(0, 2, size=(n, 1)) for n in (3, 5, 4)]
    file = io.BytesIO()
    scipy.io.savemat(file, {"feature": X, "label": y, "note": "text"}, do_compression=compress)
    return file.getvalue()


def _parquet(X: np.ndarray, Y: np.ndarray, options: dict[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, Any] = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    columns["kind"] = ["big", None, "small"] * 4
    columns |= {f"label:{j}": Y[:, j].astype(bool) for j in range(Y.shape[1])}
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, **options)
    return file.getvalue()


def mutate(rng: np.random.Generator, data: bytes, other: bytes) -> bytes:
    """Return a damaged copy."""
    changed = bytearray(data)
    for _ in range(rng.geometric(0.6)):
        n = len(changed)
        at = int(rng.integers(0, n + 1))
        end = min(at + int(rng.geometric(0.1)), n)
        kind = rng.integers(0, 9)
        if kind == 0 and n:
            changed[at % n] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            changed[at:end] = rng.bytes(int(rng.integers(0, 5)))
        elif kind == 2:
            del changed[at:end]
        elif kind == 3:
            changed[at:at] = changed[at:end] * int(rng.choice([1, 1, 1, 2, 40]))
        elif kind == 4 and rng.random() < 0.3:
            del changed[at:]
        elif kind == 5:
            begin = int(rng.integers(0, len(other) + 1))
            changed[at:at] = other[begin : begin + end - at]
        elif kind == 6:
            changed[at:at] = AWKWARD[rng.integers(len(AWKWARD))]
        else:
            _replace_token(rng, changed, at)
    return bytes(changed)


def _replace_token(rng: np.random.Generator, changed: bytearray, at: int) -> None:
    """Replace the word or number around a position by an awkward one, or by another number of its length."""
    letters = b"0123456789abcdefghijklmnopqrstuvwxyz.-"
    begin = end = min(at, max(len(changed) - 1, 0))
    while begin > 0 and changed[begin - 1] in letters:
        begin -= 1
    while end < len(changed) and changed[end] in letters:
        end += 1
    changed[begin:end] = AWKWARD[rng.integers(len(AWKWARD))]


def cases(name: str, seed: int, index: int) -> dict[str, bytes]:
    """Return the files of one case, damaged."""
    rng = np.random.default_rng([seed, index])
    files = seeds()[name]
    chosen = dict(files[rng.integers(len(files))])
    other = files[rng.integers(len(files))]["data"]
    if name.endswith(".gz") and rng.random() < 0.5:  # damage within, which no checksum shows
        text = seeds()["svmlight"][0]["data"]
        chosen["data"] = (gzip.compress if rng.random() < 0.5 else bz2.compress)(mutate(rng, text, text))
    else:
        chosen["data"] = mutate(rng, chosen["data"], other)
    return chosen


def read_case(name: str, files: dict[str, bytes], folder: Path) -> bool:
    """Read a case's files, by the format's reader and by `read`; return whether they could be read."""
    suffix = {"mulan": ".arff", "meka": ".arff", "xml": ".xml", "csv": ".csv", "matlab": ".mat"}
    suffix |= {"parquet": ".parquet", "folder": ".parquet"}
    path = folder / f"data{suffix.get(name, '.txt')}"
    path.write_bytes(files["data"])
    if name == "xml":
        arff = folder / "data.arff"
        arff.write_bytes(files["other"])
        return _fine(lambda: datasets.read_mulan(arff, path))
    if ".xml" in files:
        path.with_suffix(".xml").write_bytes(files[".xml"])
    if name == "folder":
        return _folder(path)
    reader = getattr(datasets, f"read_{name.partition('.')[0]}")
    return _fine(lambda: reader(path)) | _fine(lambda: datasets.read(path))


def _folder(path: Path) -> bool:
    """Read a file as one of a folder, some rows at a time, as `smtl fit` does where there are many."""
    from smtl.parts.parquet import ParquetRows

    try:
        rows = ParquetRows(path, labels=["label:0", "label:1"], ignore=["kind", "label:2"], batch_bytes=200)
        shapes = rows.each_raw(lambda raw: (raw.X.shape, np.shape(raw.y)))
    except ValueError:  # DatasetError, or of columns that a fit cannot have
        return False
    assert sum(x[0] for x, _ in shapes) == sum(y[0] for _, y in shapes) == rows.n_rows
    return True


def _fine(reader: Callable[[], Dataset]) -> bool:
    try:
        data = reader()
    except DatasetError:
        return False
    assert data.X.dtype == np.float64
    assert data.X.shape[0] == data.Y.shape[0] > 0
    values = np.asarray(data.Y.data if sp.issparse(data.Y) else data.Y, dtype=np.float64)
    assert ((values == 0) | (values == 1) | np.isnan(values)).all()
    return True


def worker(name: str, seed: int, start: int, stop: int, seconds: float, megabytes: int) -> None:
    """Read cases; a line before each says which, a line behind each what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        for files in seeds()[name]:
            assert read_case(name, files, Path(folder)), f"a file of {name} that is not damaged cannot be read"
        # Room for one allocation that is too large to be refused for another reason than its size.
        room = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + 4 * megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        signal.signal(signal.SIGALRM, _late)
        for index in range(start, stop):
            print(index, flush=True)
            files = cases(name, seed, index)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            begin = time.perf_counter()
            signal.setitimer(signal.ITIMER_REAL, seconds)
            failure = None
            fine = False
            try:
                fine = read_case(name, files, Path(folder))
            except Exception as error:
                failure = f"{type(error).__name__}: {str(error)[:200]}"
            signal.setitimer(signal.ITIMER_REAL, 0)
            took = time.perf_counter() - begin
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            if grown > megabytes:
                failure = failure or f"memory grew by {grown:.0f} MB"
            print(json.dumps([index, fine, failure, took, grown]), flush=True)


def _late(*_: object) -> None:
    raise TimeoutError("the time limit is over")


def run(name: str, n: int, arguments: argparse.Namespace) -> list[Any]:
    """Read n cases of one format in worker processes; a worker that dies, or hangs, is replaced behind that case."""
    results: list[Any] = []
    start = 0
    while start < n:
        command = [
            sys.executable,
            __file__,
            "--worker",
            name,
            "--seed",
            str(arguments.seed),
            "--range",
            str(start),
            str(n),
        ]
        command += ["--seconds", str(arguments.seconds), "--megabytes", str(arguments.megabytes)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        pending: int | None = None
        timer = _Watch(process, 4 * arguments.seconds + 60)
        for line in process.stdout:
            timer.feed()
            found = json.loads(line)
            pending = found if isinstance(found, int) else None
            if isinstance(found, list):
                results.append(found)
        code = process.wait()
        timer.cancel()
        if pending is None:
            if code:
                raise SystemExit(f"the worker for {name} cannot begin: exit code {code}")
            break
        results.append([pending, False, f"the process ended with code {code}", 0.0, 0.0])
        start = pending + 1
    failures = [(index, failure) for index, _, failure, *_ in results if failure]
    for k, (index, failure) in enumerate(failures):
        if k < 20:
            print(f"  {name} {index}: {failure}")
            if arguments.keep:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                for part, content in cases(name, arguments.seed, index).items():
                    (arguments.keep / f"{name}-{index}-{part.strip('.')}").write_bytes(content)
    return results


class _Watch:
    """Ends a process of ours that says nothing for too long: what no signal handler of Python's can interrupt."""

    def __init__(self, process: subprocess.Popen[str], seconds: float) -> None:
        import threading

        self.process, self.seconds, self.last, self.stop = process, seconds, time.monotonic(), threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def feed(self) -> None:
        self.last = time.monotonic()

    def cancel(self) -> None:
        self.stop.set()

    def _watch(self) -> None:
        while not self.stop.wait(1):
            if time.monotonic() - self.last > self.seconds:
                self.process.kill()
                return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=24_000, help="damaged files over all formats")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0, help="the most time for one file")
    parser.add_argument("--megabytes", type=int, default=300, help="the most memory for one file")
    parser.add_argument("--format", nargs="*", default=None)
    parser.add_argument("--keep", type=Path, default=None, help="a folder for files that fail")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--range", type=int, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        worker(arguments.worker, arguments.seed, *arguments.range, arguments.seconds, arguments.megabytes)
        return 0
    names = arguments.format or list(seeds())
    each = -(-arguments.files // len(names))
    total = n_failures = 0
    print(f"{'format':12} {'files':>6} {'read':>6} {'refused':>8} {'failures':>8} {'slowest':>9} {'memory':>9}")
    for name in names:
        results = run(name, each, arguments)
        fine = sum(result[1] for result in results)
        failures = sum(result[2] is not None for result in results)
        slowest, memory = max(result[3] for result in results), max(result[4] for result in results)
        refused = len(results) - fine - failures
        print(
            f"{name:12} {len(results):6} {fine:6} {refused:8} {failures:8} {slowest:7.2f} s {memory:6.0f} MB",
            flush=True,
        )
        total, n_failures = total + len(results), n_failures + failures
    print(f"{total} files, {n_failures} failures")
    return int(n_failures > 0)


if __name__ == "__main__":
    sys.exit(main())
