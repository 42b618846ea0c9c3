"""Damaged and random table files: a reader may refuse them with `DatasetError`, and do nothing else that is wrong.

    python benchmarks/fuzz_tables.py [--files 20000] [--seed N] [--keep FOLDER]

A third of the files are tables that are written as people write them (separators, decimal signs, quotes, encodings,
compression, CSV, JSON lines, Parquet), whose cells are known: they must come back the same, numbers as exactly the same
numbers. Another third are such files, damaged. The others are random bytes of what tables are made of. All are read by
`find_layout`, `read_table`, and `open_batches` from a path and from a stream. A failure is another exception than
`DatasetError`, a wrong cell, batches that contradict the table, more than ``--seconds`` for one file, or memory that
grows by more than ``--megabytes``. Without ``--seed`` the seed is new. The last line is a summary; the exit code is 1
if there is a failure.
"""

import argparse
import bz2
import csv
import gzip
import io
import json
import resource
import secrets
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz_datasets import mutate
from smtl.datasets import DatasetError
from smtl.tables.batches import open_batches
from smtl.tables.layout import find_layout
from smtl.tables.reading import read_table
from smtl.tables.types import has_infinite
from smtl.tables.values import MISSING

PIECES = [b",", b";", b"\t", b"|", b"\n", b"\r\n", b"\r", b'"', b'""', b" ", b"1", b"2.5", b"3,5", b"007", b"a", b"nan"]
PIECES += [
    b"NA",
    b"\xff",
    b"\xc3\xa9",
    b"\x00",
    b"{",
    b"}",
    b":",
    b"[",
    b"]",
    b"true",
    b"2024-01-01",
    b"-",
    b"inf",
    b"\\",
]
WORDS = [
    "a",
    "b c",
    "x,y",
    "u;v",
    'say "x"',
    "two\nlines",
    "é",
    "ω",
    "NA",
    "",
    "-",
    "yes",
    "0x1",
    "1_0",
    "nan(1)",
    " p ",
]


class Case(NamedTuple):
    """A file, and what it holds if that is known: numbers and texts by column, None where missing."""

    name: str
    content: bytes
    expected: dict[str, list[Any]] | None
    options: dict[str, Any]


def numbers(rng: np.random.Generator, n: int) -> list[float]:
    """Return numbers of all sizes."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(-1000, 1000, n).astype(float).tolist()
    if kind == 1:
        return np.round(rng.normal(size=n), int(rng.integers(0, 6))).tolist()
    bits = rng.integers(0, 2**63, n).view(np.float64)
    return np.where(np.isfinite(bits) & (kind == 2), bits, rng.normal(size=n) * 10.0 ** rng.integers(-30, 30)).tolist()


def columns(rng: np.random.Generator) -> dict[str, list[Any]]:
    """Return a table: columns of numbers and of texts, with holes."""
    n = int(rng.choice([1, 2, 5, 30, 300]))
    table: dict[str, list[Any]] = {}
    for j in range(int(rng.integers(1, 7))):
        values: list[Any] = numbers(rng, n) if rng.random() < 0.7 else rng.choice(WORDS, n).tolist()
        holes = rng.random(n) < rng.choice([0, 0.2])
        table[f"c{j}"] = [None if hole else value for hole, value in zip(holes, values, strict=True)]
    return table


def written(rng: np.random.Generator) -> Case:
    """Return a table as people write it."""
    table = columns(rng)
    form = rng.choice(["csv", "csv", "csv", "jsonl", "parquet"])
    if form == "parquet":
        file = io.BytesIO()
        pq.write_table(pa.table(table), file)
        return Case("data.parquet", file.getvalue(), table, {})
    names = list(table)
    rows = list(zip(*table.values(), strict=True))
    if form == "jsonl":
        text = "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows)
        return Case("data.jsonl", text.encode(), table, {})
    separator, decimal = [(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", ".")][rng.integers(6)]
    file = io.StringIO()
    line_end = str(rng.choice(["\n", "\r\n"]))
    quoting = [csv.QUOTE_MINIMAL, csv.QUOTE_ALL][rng.integers(2)]
    writer = csv.writer(file, delimiter=separator, lineterminator=line_end, quoting=quoting)
    writer.writerow(names)
    pad = " " * int(rng.integers(2)) if quoting == csv.QUOTE_MINIMAL else ""

    def word(value: Any) -> str:
        if value is None:
            return str(rng.choice(["", "NA", "?", "NULL"]))
        return pad + repr(value).replace(".", decimal) + pad if isinstance(value, float) else value

    for row in rows:
        writer.writerow([word(value) for value in row])
    encoding = str(rng.choice(["utf-8", "utf-8-sig", "utf-16"]))
    content = file.getvalue().encode(encoding)
    content = [bytes, gzip.compress, bz2.compress][rng.choice(3, p=[0.8, 0.1, 0.1])](content)
    # Told: a small table may look like several things.
    return Case("data.csv", content, table, {"separator": separator, "decimal": decimal})


def case(seed: int, index: int) -> Case:
    """Return one of the files."""
    rng = np.random.default_rng([seed, index])
    if index % 3 == 0:
        return written(rng)
    if index % 3 == 1:
        whole, other = written(rng), written(rng)
        options = whole.options if rng.random() < 0.5 else {}
        return Case(whole.name, mutate(rng, whole.content, other.content), None, options)
    parts = rng.choice(len(PIECES), int(rng.geometric(0.02)))
    name = str(rng.choice(["data.csv", "data.txt", "data.tsv", "data.jsonl"]))
    options = {"header": False} if rng.random() < 0.2 else {"skip": 1} if rng.random() < 0.1 else {}
    return Case(name, b"".join(PIECES[k] for k in parts), None, options)


def check(found: Any, expected: dict[str, list[Any]]) -> None:
    """Compare a table with what was written."""
    assert found.column_names == list(expected), "other names"
    for name, values in expected.items():
        read = found.column(name).to_pylist()
        if any(isinstance(value, float) for value in values):
            assert all(value is None or isinstance(value, int | float) for value in read), f"{name} is no number"
            assert read == values, f"{name} has other numbers"
        else:
            kept = [None if value is None or value.strip() in MISSING else value for value in values]
            known = [None if value is None or value.strip() in MISSING else value for value in read]
            assert kept == known, f"{name} has other texts"


def read_case(this: Case, folder: Path) -> bool:
    """Read a file in all ways; return whether it could be read."""
    path = folder / this.name
    path.write_bytes(this.content)
    table = _tried(lambda: read_table(path, **this.options))
    layout = _tried(lambda: find_layout(path, **this.options))
    if this.expected is not None:
        assert table is not None, "a table that is not damaged cannot be read"
        check(table, this.expected)
    if layout is None:
        assert table is None, "a table without a layout"
        return False
    assert layout.in_words()
    numeric = [] if table is None else [f.name for f in table.schema if f.type in (pa.int64(), pa.float64())]
    infinite = table is not None and any(has_infinite(table.column(name)) for name in numeric)
    # A stream has no suffix to tell the separator by.
    told = this.options | ({"separator": layout.separator} if layout.form == "csv" else {})
    for source, options in ((path, this.options), (io.BytesIO(this.content), told)):
        batches = _tried(lambda source=source, options=options: _batches(source, numeric, layout.form, options))
        # Columns that are asked for as numbers must be finite.
        assert (batches is None) == (table is None or infinite), "batches and the table contradict each other"
        if table is None or batches is None:
            continue
        assert sum(part.num_rows for part in batches) == table.num_rows, "other rows"
        for name in numeric:
            cells = [value for part in batches for value in part.column(name).to_pylist()]
            assert cells == [None if v is None else float(v) for v in table.column(name).to_pylist()], "other numbers"
    return table is not None


def _batches(source: Any, numeric: list[str], form: str, options: dict[str, Any]) -> list[Any]:
    with open_batches(source, numbers=numeric, form=form, **options) as batches:
        return list(batches)


def _tried(reader: Any) -> Any:
    try:
        return reader()
    except DatasetError:
        return None


def _late(*_: object) -> None:
    raise TimeoutError("the time limit is over")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--start", type=int, default=0, help="the number of the first file")
    parser.add_argument("--seconds", type=float, default=10.0, help="the most time for one file")
    parser.add_argument("--megabytes", type=int, default=1500, help="the most memory for one file")
    parser.add_argument("--keep", type=Path, default=None, help="a folder for files that fail")
    arguments = parser.parse_args()
    seed = secrets.randbits(32) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    signal.signal(signal.SIGALRM, _late)
    fine = failures = 0
    slowest = largest = 0.0
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for index in range(arguments.start, arguments.start + arguments.files):
            this = case(seed, index)
            before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
            signal.setitimer(signal.ITIMER_REAL, arguments.seconds)
            try:
                could = read_case(this, Path(folder))
                grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
                largest = max(largest, grown)
                assert grown <= arguments.megabytes, f"memory grew by {grown:.0f} MB"
                fine += could
            except Exception as error:
                failures += 1
                print(f"  file {index}: {type(error).__name__}: {str(error)[:200]}", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    (arguments.keep / f"{index}-{this.name}").write_bytes(this.content)
            signal.setitimer(signal.ITIMER_REAL, 0)
            slowest = max(slowest, time.perf_counter() - start)
            if (index + 1) % 2000 == 0:
                print(f"{index + 1} files, {failures} failures so far; slowest {slowest:.2f} s", flush=True)
    took = time.perf_counter() - begin
    print(
        f"{arguments.files} files, {fine} read, {arguments.files - fine - failures} refused, {failures} failures; "
        f"slowest {slowest:.2f} s, memory {largest:.0f} MB, {took:.0f} s in all (seed {seed})"
    )
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
