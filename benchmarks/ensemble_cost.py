"""What does the ensemble cost? CPU seconds of a fit against peers in the same run, and a large set.

    python benchmarks/ensemble_cost.py presets --repeats 3
    python benchmarks/ensemble_cost.py large --rows 100000 --jobs 2

`presets` fits the ensemble with each preset, `SMTLClassifierCV()`, and LightGBM one-vs-rest (100 trees a label, folds
for its cuts included, as in `rivals`), one thread each, in turn; a cell is the median of the ratios to the peer of the
same round. It needs lightgbm and the data of the paper (``SMTL_DATA``).

`large` draws normal features and ten labels that are partly linear, partly products of two features, with 5 to 50 %
positives; it prints seconds of the wall, and the most memory that the process had.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
import warnings

if "presets" in sys.argv:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before what reads it is imported

import numpy as np

import real_data
from smtl import SMTLClassifierCV, SMTLEnsemble
from smtl.experiments.protocol import seed_of, split
from smtl.experiments.study_data import load_for_study

SETS = ["yeast", "scene"]
PRESETS = ["fast", "balanced", "best"]


def presets(repeats: int) -> None:
    """Print seconds and ratios of all presets."""
    import rivals

    print("| set | preset | CPU s | of SMTLClassifierCV() | of LightGBM with cuts |\n|---|---|---:|---:|---:|")
    for name in SETS:
        X, Y = load_for_study(name)
        parts = split(X, Y.astype(int), seed_of(name, 0))
        small = split(X[:200], Y[:200].astype(int), 0)
        SMTLEnsemble(preset="best").fit(small.X, small.Y)  # compiles
        SMTLClassifierCV().fit(small.X, small.Y)
        seconds: dict[str, list[float]] = {}
        for _ in range(repeats):
            runs = {preset: SMTLEnsemble(preset=preset).fit for preset in PRESETS}
            for what, fit in {**runs, "linear": SMTLClassifierCV().fit}.items():
                started = time.process_time()
                fit(parts.X, parts.Y)
                seconds.setdefault(what, []).append(time.process_time() - started)
            seconds.setdefault("lightgbm", []).append(rivals.judge_rival(rivals.lightgbm, parts, 1)["seconds"])
        for preset in PRESETS:
            own, linear, trees = (np.array(seconds[what]) for what in (preset, "linear", "lightgbm"))
            ratios = " | ".join(f"{np.median(own / peer):.2f}" for peer in (linear, trees))
            print(f"| {name} | {preset} | {np.median(own):.1f} | {ratios} |", flush=True)


def large(n: int, n_jobs: int) -> None:
    """Print what a fit of many rows takes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 100))
    S = X @ rng.standard_normal((100, 10)) / 10.0 + np.tanh(X[:, :10] * X[:, 10:20]) + rng.logistic(size=(n, 10))
    Y = (np.quantile(S, np.linspace(0.5, 0.95, 10), axis=0).diagonal() < S).astype(int)
    started = time.perf_counter()
    model = SMTLEnsemble(n_jobs=n_jobs, verbose=1).fit(X, Y)
    print(f"{n:,} x 100, ten tasks, {n_jobs} threads: {time.perf_counter() - started:.0f} s, compiling included")
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB, data included")
    print(
        {
            key: np.round(values, 3).tolist() if key != "learner" else values.tolist()
            for key, values in model.leaderboard_.items()
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("presets").add_argument("--repeats", type=int, default=3)
    big = commands.add_parser("large")
    big.add_argument("--rows", type=int, default=100_000)
    big.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if real_data.DATA.is_dir():
        os.environ.setdefault("SMTL_DATA", str(real_data.DATA))
    if args.command == "presets":
        presets(args.repeats)
    else:
        large(args.rows, args.jobs)


if __name__ == "__main__":
    main()
