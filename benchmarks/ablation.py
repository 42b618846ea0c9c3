"""What is each mechanism of the bundle solver worth? Passes and CPU time with and without it.

    python benchmarks/ablation.py --store runs.jsonl               # everything; a run that was stopped goes on
    python benchmarks/ablation.py --store runs.jsonl --set level=0.5 --set next_steps=50

The problems are not those that the constants were chosen on: generated ones of many shapes, and scikit-learn's own
sets, flags, landmine and tmc2007 (see real_data.py), where they are there. Each is solved with every mechanism, and
without each of them in turn, the ways one after the other, and the least CPU time of ``--repeats`` runs counts. A ratio
is that without the mechanism to that with it: 1.2 and more pays. A run that does not get there has failed, and its
ratio is of what it took.
"""

from __future__ import annotations

import os

for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]:
    os.environ.setdefault(variable, "1")

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler, label_binarize

import real_data
from smtl.metrics import get_metric
from smtl.penalties import get_penalty
from smtl.solvers import Problem, certificate, critical_C, solve, solve_path
from smtl.solvers.proposers.level import Level
from smtl.solvers.settings import SETTINGS, Settings
from smtl.tasks import OwnRows, SharedRows, Tasks

TOL, MAX_ITER = 1e-3, 300
MULTIPLES = (10.0,)  # of the C where weights begin
# Rows, features and tasks of the generated sets.
SHAPES = [(200, 10, 3), (200, 60, 5), (60, 200, 4), (1000, 20, 1), (1000, 40, 6), (3000, 20, 4), (100, 20, 30)]
METRICS = ("f1", "auc", "error")
PENALTIES = ("l21", "trace", "l11", "ridge")
ROWS = 300  # of the real sets, at most


def generated() -> Iterator[tuple[str, Tasks]]:
    rng = np.random.default_rng(20)
    for n, d, m in SHAPES:
        for noise in (0.3, 2.0):
            X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
            W = rng.standard_normal((d, 2)) @ rng.standard_normal((2, m)) + rng.standard_normal((d, m))
            scores = X @ W
            scores += noise * scores.std() * rng.standard_normal((n, m))
            cut = np.quantile(scores, rng.uniform(0.5, 0.95, m), axis=0).diagonal()
            yield f"{n} x {d} x {m}, noise {noise}", SharedRows(X, np.where(scores > cut, 1, -1).astype(np.int8))


def real() -> Iterator[tuple[str, Tasks]]:
    rng = np.random.default_rng(21)
    for read in (load_iris, load_wine, load_breast_cancer, load_digits):
        X, y = read(return_X_y=True)
        Y = label_binarize(y, classes=np.unique(y))
        rows = rng.permutation(len(X))[:ROWS]
        yield read.__name__.removeprefix("load_"), SharedRows(StandardScaler().fit_transform(X[rows]), signs(Y[rows]))
    if not real_data.available():
        return
    for name in ("flags", "tmc2007"):
        X, Y, _ = real_data.load(name)
        rows = np.sort(rng.permutation(X.shape[0])[:ROWS])
        X, Y = X[rows], Y[rows]
        some = (Y.sum(axis=0) > 1) & (Y.sum(axis=0) < len(Y) - 1)
        dense = X if not hasattr(X, "toarray") else X.toarray()
        yield name, SharedRows(StandardScaler().fit_transform(dense), signs(Y[:, some]))
    X, y, task = real_data.load("landmine")
    order = np.argsort(task, kind="stable")
    ptr = np.concatenate([[0], np.cumsum(np.bincount(task))]).astype(np.int64)
    yield "landmine", OwnRows(StandardScaler().fit_transform(X)[order], signs(y)[order], ptr)


def signs(Y: np.ndarray) -> np.ndarray:
    return np.where(Y > 0, 1, -1).astype(np.int8)


def problems() -> list[tuple[str, Problem]]:
    """Each set with two of the losses and two of the penalties, in turn; in an order that has nothing to do with it."""
    out = []
    for k, (name, tasks) in enumerate([*generated(), *real()]):
        for j in range(2):
            metric, penalty = METRICS[(2 * k + j) % len(METRICS)], PENALTIES[(k + 2 * j + k // 4) % len(PENALTIES)]
            problem = Problem(tasks, get_metric(metric), get_penalty(penalty), with_intercept=bool(k % 3))
            out.append((f"{name}, {metric}, {penalty}", problem))
    return [out[k] for k in np.random.default_rng(22).permutation(len(out))]


WAYS: dict[str, Callable[[ExitStack], Settings]] = {}


def way(name: str) -> Callable[[Callable[[ExitStack], Settings]], Callable[[ExitStack], Settings]]:
    def register(function: Callable[[ExitStack], Settings]) -> Callable[[ExitStack], Settings]:
        WAYS[name] = function
        return function

    return register


@way("everything")
def _everything(stack: ExitStack) -> Settings:
    return SETTINGS


@way("no level method")
def _no_level(stack: ExitStack) -> Settings:
    stack.enter_context(patch.object(Level, "suits", classmethod(lambda *args: False)))
    return SETTINGS


@way("the level method to the end")
def _to_the_end(stack: ExitStack) -> Settings:
    stack.enter_context(patch.object(Level, "_too_dear", lambda *args: False))
    return SETTINGS


@way("the newest combination for the bound")
def _no_mixing(stack: ExitStack) -> Settings:
    stack.enter_context(patch.object(certificate, "PARTS", (1.0,)))
    stack.enter_context(patch.object(certificate, "SETTINGS", replace(SETTINGS, mixing_steps=0, spectral_steps=0)))
    return SETTINGS


def run(problem: Problem, name: str, Cs: np.ndarray, settings: Settings) -> dict[str, float]:
    """Solve for each C by itself and for a path, and return passes, CPU seconds and failures."""
    started, passes, failures = time.process_time(), 0, 0
    if name == "path":
        solutions = list(solve_path(problem, Cs, tol=TOL, max_iter=MAX_ITER, warn=False, settings=settings))
    else:
        solutions = [solve(problem, C, tol=TOL, max_iter=MAX_ITER, warn=False, settings=settings) for C in Cs]
    for solution in solutions:
        passes += solution.n_iter
        failures += not solution.converged
    return {"seconds": time.process_time() - started, "passes": passes, "failures": failures}


def measure(ways: dict[str, Callable[[ExitStack], Settings]], store: Path, repeats: int) -> None:
    done = {(row["problem"], row["way"], row["what"]) for row in rows_of(store)}
    for name, problem in problems():
        critical = critical_C(problem)
        for what in ("single", "path"):
            Cs = critical * (np.array(MULTIPLES) if what == "single" else np.geomspace(3.0, 20.0, 4))
            left = [each for each in ways if (name, each, what) not in done]
            if left:
                run(problem, "single", Cs[:1], SETTINGS)  # compiles
            best: dict[str, dict[str, float]] = {}
            for _ in range(repeats):
                for each in left:
                    with ExitStack() as stack:
                        found = run(problem, what, Cs, ways[each](stack))
                    if each not in best or found["seconds"] < best[each]["seconds"]:
                        best[each] = found
            with store.open("a") as file:
                for each, found in best.items():
                    file.write(json.dumps({"problem": name, "way": each, "what": what, **found}) + "\n")
            print(name, what, flush=True)


def rows_of(store: Path) -> list[dict]:
    return [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []


def report(store: Path) -> None:
    rows = {(row["problem"], row["what"], row["way"]): row for row in rows_of(store)}
    print(
        "\n| without | | problems | passes | CPU time | least | largest | failures |\n|---|---|--:|--:|--:|--:|--:|--:|"
    )
    for way_, what in dict.fromkeys((way_, what) for _, what, way_ in rows):
        pairs = [
            (row, rows[problem, what, "everything"])
            for (problem, kind, other), row in rows.items()
            if (kind, other) == (what, way_) and (problem, what, "everything") in rows
        ]
        ratios = {key: np.array([(a[key] or 1) / (b[key] or 1) for a, b in pairs]) for key in ("passes", "seconds")}
        mean = {key: np.exp(np.log(values).mean()) for key, values in ratios.items()}
        low, high = ratios["seconds"].min(), ratios["seconds"].max()
        failures = sum(int(a["failures"]) for a, _ in pairs)
        print(
            f"| {way_} | {what} | {len(pairs)} | {mean['passes']:.2f} | {mean['seconds']:.2f} | {low:.2f} | {high:.2f} "
            f"| {failures} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=Path("ablation.jsonl"))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="another constant, beside all")
    parser.add_argument("--only", action="append", default=[], help="only these ways")
    args = parser.parse_args()
    ways = {name: each for name, each in WAYS.items() if not args.only or name in (*args.only, "everything")}
    if args.set:
        ways = {"everything": _everything}
    for pair in args.set:
        name, _, value = pair.partition("=")
        settings = replace(SETTINGS, **{name: type(getattr(SETTINGS, name))(float(value))})
        ways[pair] = lambda stack, settings=settings: settings
    measure(ways, args.store, args.repeats)
    report(args.store)


if __name__ == "__main__":
    main()
