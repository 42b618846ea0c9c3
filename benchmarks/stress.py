"""Is a certificate ever wrong, or a fit ever stuck? Random problems of every kind, solved in several ways.

    python benchmarks/stress.py --problems 20000 --jobs 2
    python benchmarks/stress.py --seed 1234567     # one problem again, with what it is

Each problem is solved to gaps of 1e-2 and 1e-4 from nothing, and one in four to 1e-2 from the solution of another
problem as well. No bound may be above the objective of any of these runs, every objective must be that of the weights
returned, and a run that does not converge must say so. The seed of every problem that fails is printed.
"""

from __future__ import annotations

import os

for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]:
    os.environ.setdefault(variable, "1")

import argparse
import sys
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from smtl.metrics import get_metric, metric_names
from smtl.penalties import get_penalty, penalty_names
from smtl.solvers import Problem, Solution, critical_C, solve
from smtl.tasks import OwnRows, SharedRows, Tasks

GAPS = (1e-2, 1e-4)
MAX_ITER = 5000
# What is allowed for rounding when numbers that were computed in two ways are compared, as a part of their terms.
ROUNDING = 1e-9
SHAPES = {  # rows, features, tasks: from, below
    "small": ((4, 40), (1, 8), (1, 5)),
    "wide": ((4, 15), (15, 60), (1, 5)),
    "one task": ((5, 200), (1, 30), (1, 2)),
    "many tasks": ((10, 40), (2, 12), (100, 101)),
    "medium": ((100, 400), (5, 40), (2, 10)),
}
SHARES = {"small": 0.32, "wide": 0.32, "one task": 0.22, "many tasks": 0.04, "medium": 0.1}


@dataclass
class Outcome:
    """What was found of one problem."""

    seed: int
    what: str = ""
    faults: list[str] = field(default_factory=list)
    unconverged: dict[str, float] = field(default_factory=dict)  # the run, and the gap that it reached
    passes: int = 0


def draw_features(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, str]:
    kind = str(rng.choice(["normal", "ties", "binary", "correlated", "heavy", "two scales"]))
    X = rng.standard_normal((n, d))
    if kind == "ties":
        X = np.round(X)
    elif kind == "binary":
        X = (X > 0.5).astype(float)
    elif kind == "correlated":
        X = X + 3.0 * rng.standard_normal((n, 1))
    elif kind == "heavy":
        X = X**3
    elif kind == "two scales":
        X = X * 10.0 ** rng.integers(-1, 2, d)
    return X, kind


def draw_labels(rng: np.random.Generator, X: np.ndarray, m: int) -> np.ndarray:
    """Labels between random and separable, from balanced to one positive, with both classes in every task."""
    n, d = X.shape
    scores = X @ rng.standard_normal((d, m)) / np.sqrt(d) + rng.choice([0.0, 0.3, 3.0]) * rng.standard_normal((n, m))
    ranks = np.argsort(np.argsort(scores + 1e-9 * rng.standard_normal((n, m)), axis=0), axis=0)
    n_pos = np.clip((n * rng.choice([0.02, 0.1, 0.3, 0.5, 0.8], m)).astype(int), 1, n - 1)
    return np.where(ranks >= n - n_pos, 1, -1).astype(np.int8)


def draw_tasks(rng: np.random.Generator, X: np.ndarray, Y: np.ndarray) -> tuple[Tasks, list[tuple], str]:
    """Return the tasks, and for each its rows in float64 and its labels, as no code of the solver sees them."""
    n, m = Y.shape
    held = X.astype(np.float32) if rng.random() < 0.2 else X
    form = sp.csr_array(held) if rng.random() < 0.2 else held
    words = f"{'sparse ' if sp.issparse(form) else ''}{held.dtype}"
    wide = held.astype(np.float64)
    if rng.random() < 0.25 and n >= 2 * m + 2:  # rows of their own: each task gets a part, with both classes
        task = np.sort(np.concatenate([np.tile(np.arange(m), 2), rng.integers(m, size=n - 2 * m)]))
        y = Y[np.arange(n), task].copy()
        for i in range(m):
            y[np.flatnonzero(task == i)[:2]] = 1, -1
        ptr = np.concatenate([[0], np.cumsum(np.bincount(task, minlength=m))]).astype(np.int64)
        return OwnRows(form, y, ptr), [(wide[task == i], y[task == i]) for i in range(m)], f"own rows, {words}"
    if rng.random() < 0.2:
        hidden = rng.random((n, m)) < 0.3
        for i in range(m):  # one of either class stays
            hidden[[np.argmax(Y[:, i] > 0), np.argmax(Y[:, i] < 0)], i] = False
        Y = np.where(hidden, 0, Y).astype(np.int8)
        words += ", labels missing"
    return SharedRows(form, Y), [(wide, y) for y in Y.T], words


def draw_problem(seed: int) -> tuple[Problem, float, list[tuple], str]:
    rng = np.random.default_rng(seed)
    shape = str(rng.choice(list(SHARES), p=list(SHARES.values())))
    n, d, m = (int(rng.integers(*bounds)) for bounds in SHAPES[shape])
    X, kind = draw_features(rng, n, d)
    Y = draw_labels(rng, X, m)
    scale = 10.0 ** float(rng.choice([0.0, 0.0, rng.uniform(-6.0, 6.0)]))
    tasks, parts, words = draw_tasks(rng, scale * X, Y)
    name = str(rng.choice(metric_names()))
    penalty = get_penalty(str(rng.choice(penalty_names())), float(rng.choice([0.0, 0.0, 0.0, 0.0, 0.1, 10.0])))
    with_intercept = bool(rng.random() < 0.6)
    offset = None
    if rng.random() < 0.3:
        offset = rng.standard_normal(len(tasks.y)) * 10.0 ** rng.uniform(-2.0, 1.0)
    problem = Problem(tasks, get_metric(name), penalty, with_intercept=with_intercept, offset=offset)
    critical = critical_C(problem)
    C = (critical if np.isfinite(critical) else 1.0) * 10.0 ** rng.uniform(-1.0, 5.0)
    what = (
        f"{shape} {n} x {d} x {m}, {kind}, scale {scale:.2g}, {words}, {name}, {penalty!r}, C={C:.4g} "
        f"({C / critical:.3g} x critical), intercept={problem.with_intercept}, offset={offset is not None}"
    )
    return problem, C, parts, what


def objective_at(problem: Problem, C: float, parts: list[tuple], solution: Solution) -> tuple[float, float]:
    """Return the objective of the weights that were returned, task by task, and the size of its terms."""
    best = solution.certificate
    total = size = problem.penalty.value(best.W)
    ptr = problem.tasks.ptr
    for i, (X, y) in enumerate(parts):
        scores = X @ best.W[i] + best.intercept[i]
        if problem.offset is not None:
            scores = scores + problem.offset[ptr[i] : ptr[i + 1]]
        rows = y != 0
        delta, c = problem.metric.oracle(scores[rows], y[rows])
        total += C * (delta - scores[rows] @ c)
        size += C * (abs(delta) + np.abs(scores[rows]) @ np.abs(c))
    return float(total), float(size)


def run(problem: Problem, C: float, outcome: Outcome, name: str, tol: float, start: Solution | None = None) -> Solution:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solution = solve(problem, C, tol=tol, max_iter=MAX_ITER, start=None if start is None else start.start)
    best = solution.certificate
    numbers = [best.objective, best.bound, *best.W.ravel(), *best.intercept]
    if not np.isfinite(numbers).all():
        outcome.faults.append(f"{name}: not finite")
    said = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    if solution.converged == said or solution.converged != (best.gap <= tol):
        outcome.faults.append(f"{name}: converged={solution.converged}, gap {best.gap}, warned={said}")
    if not solution.converged:
        outcome.unconverged[name] = best.gap
    if not problem.with_intercept and best.intercept.any():
        outcome.faults.append(f"{name}: an intercept where there is none")
    outcome.passes += solution.n_iter
    return solution


def solution_of_another(problem: Problem, C: float) -> Solution:
    """Return a rough solution of a problem with the same data and nothing else in common."""
    metric = get_metric("f1" if problem.metric.name == "auc" else "auc")
    other = Problem(problem.tasks, metric, get_penalty("ridge"), with_intercept=not problem.with_intercept)
    return solve(other, 0.1 * C, tol=0.1, max_iter=50, warn=False)


def examine(seed: int) -> Outcome:
    """Solve the problem of a seed in several ways, and say what is wrong with the answers."""
    outcome = Outcome(seed)
    try:
        problem, C, parts, outcome.what = draw_problem(seed)
        runs = {f"{tol:g}": run(problem, C, outcome, f"{tol:g}", tol) for tol in GAPS}
        if seed % 4 == 0:
            runs["warm"] = run(problem, C, outcome, "warm", GAPS[0], solution_of_another(problem, C))
        least, room = np.inf, 0.0
        for name, solution in runs.items():
            objective, size = objective_at(problem, C, parts, solution)
            if abs(objective - solution.certificate.objective) > ROUNDING * size:
                outcome.faults.append(f"{name}: objective {solution.certificate.objective!r}, at W {objective!r}")
            least, room = min(least, objective), max(room, 1e-4 * ROUNDING * size)
        for name, solution in runs.items():
            if solution.certificate.bound > least * (1.0 + ROUNDING) + room:
                outcome.faults.append(f"{name}: bound {solution.certificate.bound!r} above {least!r}")
    except Exception:
        outcome.faults.append(traceback.format_exc(limit=4))
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=20000)
    parser.add_argument("--first", type=int, help="the first seed; drawn and printed if not given")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, help="examine this one problem")
    args = parser.parse_args()
    if args.seed is not None:
        outcome = examine(args.seed)
        print(outcome.what, outcome.passes, "passes", outcome.unconverged, *outcome.faults, sep="\n")
        return
    first = int(np.random.SeedSequence().entropy % 10**9) if args.first is None else args.first
    print(f"seeds {first} to {first + args.problems - 1}", flush=True)
    started, n, n_runs, faults = time.perf_counter(), 0, 0, 0
    late: Counter[str] = Counter()
    with ProcessPoolExecutor(args.jobs) as pool:
        for outcome in pool.map(examine, range(first, first + args.problems), chunksize=20):
            n += 1
            n_runs += len(GAPS) + (outcome.seed % 4 == 0)
            faults += bool(outcome.faults)
            late.update(outcome.unconverged.keys())
            if outcome.faults or outcome.unconverged:
                print(
                    f"seed {outcome.seed}: {outcome.what}", *outcome.faults, outcome.unconverged, sep="\n  ", flush=True
                )
            if n % 1000 == 0:
                print(f"{n} problems, {faults} with faults, {dict(late)} unconverged", flush=True)
    seconds = time.perf_counter() - started
    print(f"{n} problems, {n_runs} runs in {seconds:.0f} s: {faults} problems with faults.")
    print(
        f"Runs that reached max_iter={MAX_ITER}: {late.total()} of {n_runs}, {late.total() / n_runs:.3%} {dict(late)}."
    )
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
