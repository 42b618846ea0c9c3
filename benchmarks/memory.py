"""The memory of every command on a large input: printed, and bounded by a multiple of what its data take.

    python benchmarks/memory.py [--rows 100000]

Each command runs in a process of its own. Its peak, less that of `smtl --version`, must not be more than a base of
``BASE`` MB and the command's factor times the size of the numbers as float64.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

BASE = 700  # MB: libraries, compiled code, and what does not grow with the data
COLUMNS = 20
RUN = """
import os, resource
from smtl.cli import main
try:
    main()
except SystemExit as ended:
    code = ended.code or 0
with open(os.environ["PEAK"], "w") as file:
    file.write(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss} {code}")
"""

# Words, and the factor: how often the numbers may be in memory at once.
COMMANDS = {
    "fit linear": (("fit", "data.csv", "--last", "2", "--model", "linear", "--C", "1", "-o", "m.skops"), 12),
    "predict": (("predict", "m.skops", "data.csv", "-o", "out.csv"), 2),
    "predict parquet": (("predict", "m.skops", "data.csv", "--what", "both", "-o", "out.parquet"), 2),
    "evaluate": (("evaluate", "m.skops", "data.csv", "--bootstrap", "100"), 12),
    "inspect": (("inspect", "m.skops", "data.csv"), 12),
    "report": (("report", "m.skops", "data.csv", "-o", "page.html"), 12),
    "export": (("export", "m.skops", "--to", "json", "-o", "m.json"), 1),
    "convert": (("convert", "data.csv", "out.svm", "--last", "2"), 12),
    "datasets show": (("datasets", "show", "data.csv", "--last", "2", "--json"), 12),
    "fit fast": (("fit", "data.csv", "--last", "2", "--preset", "fast", "--no-compare", "-o", "e.skops"), 30),
    # Some batches of it, whatever its size.
    "fit folder": (("fit", "parts", "--labels", "a,b", "--C", "1", "-o", "f.skops"), 2),
    "demo": (("demo", "--preset", "fast", "--out", "demo.png"), 0),
    "compare": (("compare", "small.csv", "--last", "2", "--methods", "br", "--splits", "1", "--out", "study"), 12),
}


def peak(words: tuple[str, ...], folder: Path) -> tuple[float, int, float]:
    """Return the peak memory of a command in MB, its exit code, and its seconds."""
    place = folder / "peak.txt"
    environment = os.environ | {"PEAK": str(place), "SMTL_CACHE": str(folder / "cache")}
    begin = time.perf_counter()
    process = subprocess.run(
        [sys.executable, "-c", RUN, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if not place.exists():
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}: {process.stderr[-500:]}")
    kilobytes, code = map(int, place.read_text().split())
    place.unlink()
    if code:
        print(process.stderr[-500:])
    return kilobytes / 1024, code, time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        rng = np.random.default_rng(0)
        X = rng.normal(size=(arguments.rows, COLUMNS)).round(6)
        Y = (X[:, :2] + rng.normal(size=(arguments.rows, 2)) > 0).astype(int)
        names = ",".join([*(f"x{j}" for j in range(COLUMNS)), "a", "b"])
        table = np.column_stack([X, Y])
        np.savetxt(folder / "data.csv", table, "%.6g", ",", header=names, comments="")
        np.savetxt(folder / "small.csv", table[: len(table) // 10], "%.6g", ",", header=names, comments="")
        (folder / "parts").mkdir()
        for k, rows in enumerate(np.array_split(table, 4)):
            columns = {name: rows[:, j] for j, name in enumerate(names.split(","))}
            pq.write_table(pa.table(columns), folder / "parts" / f"{k}.parquet")
        size = table.nbytes / 2**20
        bare, _, _ = peak(("--version",), folder)
        print(f"{arguments.rows:,} rows, {size:.0f} MB as float64; smtl --version: {bare:.0f} MB")
        for name, (words, factor) in COMMANDS.items():
            most, code, seconds = peak(words, folder)
            allowed = bare + BASE + factor * size
            bad = code != 0 or most > allowed
            failures += bad
            print(f"{name:16} {most:6.0f} MB of {allowed:6.0f} {seconds:6.0f} s {'FAILED' if bad else ''}", flush=True)
    print(f"{failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
