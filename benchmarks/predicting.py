"""How long smtl predict takes on a large CSV file, beside Arrow's own reader and a matrix product, and how much memory.

    python benchmarks/predicting.py                                # 1,000,000 x 100
    python benchmarks/predicting.py --rows 200000 --repeats 3

The peer reads the file in batches with pyarrow.csv.open_csv, multiplies each with the weights and stops: it fills no
holes, scales nothing, checks no names and writes nothing. smtl predict does all of that. Both are processes of their
own, started in turn, timed by the clock from start to end; the ratio is peer / smtl, and 0.7 or more is asked for.
Memory is the peak of the process as the operating system counts it; 600 MB at the most is asked for.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

from smtl import SMTLClassifier
from smtl.model import save_model
from smtl.model.training import Settings, make_model

FEATURES, TASKS = 100, 10
PEER = """
import sys
import numpy as np
import pyarrow as pa
import pyarrow.csv
W = np.load(sys.argv[2])
names = [f"f{j}" for j in range(len(W))]
kinds = pa.csv.ConvertOptions(column_types={name: pa.float64() for name in names})
with pa.csv.open_csv(sys.argv[1], convert_options=kinds) as reader:
    for batch in reader:
        np.column_stack([column.to_numpy() for column in batch.columns]) @ W
"""


def make(folder, rows, digits):
    """Write the file, some rows at a time, and a model of its columns."""
    rng = np.random.default_rng(0)
    names = [f"f{j}" for j in range(FEATURES)]
    W = rng.normal(size=(FEATURES, TASKS))
    with open(folder / "data.csv", "w") as file:
        file.write(",".join(names) + "\n")
        for start in range(0, rows, 10_000):
            X = rng.normal(size=(min(10_000, rows - start), FEATURES))
            np.savetxt(file, X, fmt=f"%.{digits}g", delimiter=",")
    X = rng.normal(size=(500, FEATURES))
    table = pa.table({name: X[:, j] for j, name in enumerate(names)})
    model = make_model(Settings(C=0.05, threshold=0.0), columns={}).fit(table, (X @ W > 8).astype(int))
    assert isinstance(model[-1], SMTLClassifier)
    metadata = {"table": model[0].columns_, "columns": {"labels": [], "task": None, "ignored": []}}
    save_model(model, folder / "model.skops", metadata=metadata)
    np.save(folder / "weights.npy", W)


def run(arguments):
    """Return seconds and the peak of memory, in MB, of a process."""
    code = (
        "import resource, subprocess, sys, time; started = time.perf_counter(); "
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
        "print(time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True, env=dict(os.environ)
    )
    return tuple(map(float, process.stdout.split()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--digits", type=int, default=6, help="significant digits of the numbers in the file")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--what", default="labels", help="labels, scores or both")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, options.rows, options.digits)
        size = os.path.getsize(folder / "data.csv") / 2**20
        print(f"{options.rows:,} x {FEATURES}, {TASKS} tasks, {size:,.0f} MB of CSV, --what {options.what}")
        peer = [sys.executable, "-c", PEER, str(folder / "data.csv"), str(folder / "weights.npy")]
        ours = [sys.executable, "-m", "smtl.cli", "predict", str(folder / "model.skops"), str(folder / "data.csv")]
        ours += ["-o", str(folder / "out.csv"), "--what", options.what]
        rounds = []
        for _ in range(options.repeats):
            (theirs, their_mb), (mine, my_mb) = run(peer), run(ours)
            rounds.append([theirs, mine, theirs / mine, their_mb, my_mb])
            print(f"  peer {theirs:6.1f} s, {their_mb:6.0f} MB", end="   ")
            print(f"smtl {mine:6.1f} s, {my_mb:5.0f} MB   {theirs / mine:.2f}")
        theirs, mine, ratio, their_mb, my_mb = np.median(rounds, axis=0)
        print(f"median: peer {theirs:.1f} s, {their_mb:.0f} MB; smtl {mine:.1f} s, {my_mb:.0f} MB; speed {ratio:.2f} x")


if __name__ == "__main__":
    main()
