"""How fast is MTLRegressor? Against scikit-learn's MultiTaskLasso at the same certified gap, one thread each.

    python benchmarks/regression.py [--repeats 7]

Both fit the same l21 problem. MultiTaskLasso's tol means something else than ours, so it gets the largest tol of a fine
grid at which the gap of its solution, computed by our certificate, is what ours is asked for: it does no more work than
it has to. Times are CPU times, medians of interleaved rounds; the ratio is the median of the rounds' ratios. The sets
are scikit-learn's digits, made-up ones of several shapes, and, where the data folder is there, yeast, whose features
are regressed on one another. alpha is a part of the least alpha for which all weights are zero.

It then shows times for the other norms, and with rows of each task's own.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from functools import partial

for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]:
    os.environ[variable] = "1"

import numpy as np
import sklearn
from sklearn.datasets import load_digits
from sklearn.linear_model import MultiTaskLasso
from sklearn.preprocessing import StandardScaler

import real_data
from smtl.baselines import MTLRegressor
from smtl.penalties import L21
from smtl.solvers.certificate import Certificate
from smtl.solvers.squared import largest_alpha, see
from smtl.solvers.squared_data import Squares
from speed import ratio

PARTS = [0.5, 0.1, 0.01]
GAPS = [1e-3, 1e-5]


def interleaved(jobs: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """CPU seconds of each job, once per round, in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            started = time.process_time()
            job()
            seconds[name].append(time.process_time() - started)
    return seconds


def data_sets(chosen: list[str] | None = None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    X, y = load_digits(return_X_y=True)
    out = {"digits": (X, 2.0 * (y[:, None] == np.arange(10)) - 1.0)}
    if real_data.available():
        features = StandardScaler().fit_transform(real_data.load("yeast")[0])
        out["yeast"] = features[:, 14:], features[:, :14]
    rng = np.random.default_rng(0)
    for n, d, m in [(300, 30, 4), (5000, 100, 10), (10000, 200, 10), (1000, 1000, 10), (200, 2000, 10), (100, 5000, 5)]:
        W = np.where(rng.random((d, 1)) < min(0.1, 20 / d), rng.standard_normal((d, m)), 0.0)
        X = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((n, 1))  # the features are correlated
        out[f"made up {n} x {d}, {m} tasks"] = X, X @ W + rng.standard_normal((n, m))
    return {name: sets for name, sets in out.items() if not chosen or name.startswith(tuple(chosen))}


def gap(squares: Squares, alpha: float, coef: np.ndarray) -> float:
    certificate = Certificate()
    see(certificate, squares, L21(), alpha, coef)
    return certificate.gap


def tol_for(squares: Squares, alpha: float, wanted: float, X: np.ndarray, Y: np.ndarray) -> float:
    """The largest tol at which MultiTaskLasso's solution has the gap that is wanted."""
    for tol in 10.0 ** -np.arange(2.0, 12.0, 0.5):
        peer = MultiTaskLasso(alpha=alpha, tol=tol, max_iter=100_000).fit(X, Y)
        if gap(squares, alpha, peer.coef_) <= wanted:
            return float(tol)
    return 1e-12


def against_scikit_learn(sets: dict[str, tuple[np.ndarray, np.ndarray]], repeats: int) -> None:
    print(f"\n{'':28} {'alpha':>6} {'gap':>6} {'ours':>10} {'theirs':>10}  theirs / ours (least, largest)")
    for name, (X, Y) in sets.items():
        squares = Squares(X, Y)
        top = largest_alpha(squares, L21())
        for part in PARTS:
            for wanted in GAPS:
                alpha = part * top
                ours = MTLRegressor("l21", alpha=alpha, tol=wanted)
                peer = MultiTaskLasso(alpha=alpha, tol=tol_for(squares, alpha, wanted, X, Y), max_iter=100_000)
                jobs = {"ours": partial(ours.fit, X, Y), "peer": partial(peer.fit, X, Y)}
                seconds = interleaved(jobs, repeats)
                assert max(ours.gap_, gap(squares, alpha, peer.coef_)) <= wanted
                middle, least, largest = ratio(seconds["peer"], seconds["ours"])
                times = "  ".join(f"{1e3 * statistics.median(seconds[who]):7.2f} ms" for who in ["ours", "peer"])
                print(
                    f"{name:28} {part:6g} {wanted:6.0e} {times}  {middle:6.2f} ({least:.2f}, {largest:.2f})", flush=True
                )


def other_problems(sets: dict[str, tuple[np.ndarray, np.ndarray]], repeats: int) -> None:
    print("\nOther norms, and rows of each task's own; alpha='auto', gap 1e-4")
    rng = np.random.default_rng(0)
    for name, (X, Y) in sets.items():
        own = rng.integers(0, Y.shape[1], len(X))
        y = Y[np.arange(len(X)), own]
        for penalty in ["l11", "l21", "trace"]:
            line = f"{name:28} {penalty:6}"
            for words, targets, tasks in [("shared rows", Y, None), ("own rows", y, own)]:
                model = MTLRegressor(penalty)
                seconds = interleaved({"fit": partial(model.fit, X, targets, tasks)}, min(repeats, 3))["fit"]
                middle = statistics.median(seconds)
                line += f"  {words} {1e3 * middle:8.2f} ms, {model.n_iter_:5d} iterations, gap {model.gap_:.0e}"
            print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--sets", nargs="*", help="beginnings of the names of the sets to take; all by default")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}")
    X = np.random.default_rng(0).standard_normal((20, 3))
    MTLRegressor().fit(X, X)  # compiles
    MTLRegressor("l11").fit(X, X[:, 0], tasks=np.arange(20) % 2)
    sets = data_sets(arguments.sets)
    against_scikit_learn(sets, arguments.repeats)
    other_problems(sets, arguments.repeats)


if __name__ == "__main__":
    main()
