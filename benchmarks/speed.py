"""How fast is it? Ratios against peers, interleaved in one run, one thread each.

    python benchmarks/speed.py                 # everything
    python benchmarks/speed.py fit paper       # parts: fit, log, paper, pass, growth, sparse, start

A time is the median of the repeats; its spread, (largest - smallest) / median, stands behind it, with a mark where it
is 0.1 or more: on a noisy machine, look at the ratios. Compilation is warmed up first. The real data sets are read
from the data folder (see real_data.py).
"""

from __future__ import annotations

import os

for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]:
    os.environ[variable] = "1"

import argparse
import functools
import logging
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

import real_data
from smtl import SMTLClassifier
from smtl.metrics import get_metric
from smtl.penalties import get_penalty
from smtl.solvers import Problem, solve
from smtl.tasks import SharedRows

SETS = ["emotions", "yeast", "scene", "optdigits", "cal500"]
MULTIPLES = [1.5, 3, 6, 10, 20, 40, 80]


def interleaved(
    jobs: dict[str, Callable[[], object]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Time each job once per round, in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            started = clock()
            job()
            seconds[name].append(clock() - started)
    return seconds


def shown(seconds: list[float]) -> str:
    median = statistics.median(seconds)
    spread = (max(seconds) - min(seconds)) / median
    return f"{1e3 * median:8.1f} ms (spread {spread:.2f}{'!' if spread >= 0.1 else ' '})"


def ratio(ours: list[float], peer: list[float]) -> tuple[float, float, float]:
    """Median, least and largest of the rounds' ratios."""
    ratios = [a / b for a, b in zip(ours, peer, strict=True)]
    return statistics.median(ratios), min(ratios), max(ratios)


@functools.cache
def near_best_C(name: str, metric: str, penalty: str) -> float:
    """The smallest C whose trained metric on the held-out part is within half a point of the best."""
    X, Y, X_test, Y_test = real_data.split(name)
    both = (Y_test.sum(axis=0) > 0) & (Y_test.sum(axis=0) < len(Y_test))
    auto = SMTLClassifier(metric, penalty, max_iter=1, threshold=0.0).fit(X, Y).C_
    Cs = [auto / 20.0 * multiple for multiple in MULTIPLES]
    qualities = []
    for C in Cs:
        model = SMTLClassifier(metric, penalty, C=C, tol=2e-2, threshold=0.0, max_iter=400).fit(X, Y)
        scores = model.decision_function(X_test)[:, both]
        if metric == "auc":
            qualities.append(roc_auc_score(Y_test[:, both], scores))
        else:
            qualities.append(f1_score(Y_test[:, both], scores > 0, average="macro", zero_division=0))
    return next(C for C, quality in zip(Cs, qualities, strict=True) if quality >= max(qualities) - 0.005)


def part_fit(repeats: int) -> None:
    print("\nFit to a certified gap of 1e-2, at the least C within half a point of the best on the held-out 40 %,")
    print("against one-vs-rest LogisticRegression() on the same 60 %. 'with cut': threshold='auto' as well, which")
    print("is three more fits for AUC and nothing for F1.")
    for name in SETS:
        X, Y, _, _ = real_data.split(name)
        for metric in ["auc", "f1"]:
            for penalty in ["l21", "trace"]:
                C = near_best_C(name, metric, penalty)
                model = SMTLClassifier(metric, penalty, C=C, tol=1e-2, threshold=0.0)
                with_cut = SMTLClassifier(metric, penalty, C=C, tol=1e-2)
                peer = OneVsRestClassifier(LogisticRegression())
                jobs = {
                    "peer": lambda peer=peer, X=X, Y=Y: peer.fit(X, Y),
                    "ours": lambda model=model, X=X, Y=Y: model.fit(X, Y),
                    "cut": lambda with_cut=with_cut, X=X, Y=Y: with_cut.fit(X, Y),
                }
                seconds = interleaved(jobs, repeats)
                middle, low, high = ratio(seconds["ours"], seconds["peer"])
                cut, _, _ = ratio(seconds["cut"], seconds["peer"])
                print(
                    f"{name:10} {metric:4} {penalty:6} C={C:<9.3g} ours {shown(seconds['ours'])}  "
                    f"peer {shown(seconds['peer'])}  ratio {middle:5.2f} [{low:.2f}, {high:.2f}]  "
                    f"with cut {cut:5.2f}  passes {model.n_iter_:3d}  gap {model.gap_:.1e}",
                    flush=True,
                )


class _ReachedError(Exception):
    pass


class _StopAt(logging.Handler):
    """Stops a solver when its objective is reached, or its time is up."""

    def __init__(self, objective: float, limit: float) -> None:
        super().__init__()
        self.objective, self.deadline, self.reached = objective, time.perf_counter() + limit, False

    def emit(self, record: logging.LogRecord) -> None:
        self.reached = getattr(record, "objective", np.inf) <= self.objective
        if self.reached or time.perf_counter() > self.deadline:
            raise _ReachedError


def seconds_to(objective: float, problem: Problem, C: float, limit: float, **options: bool) -> tuple[bool, float]:
    """Whether, and after how many seconds, the paper's solver reaches an objective."""
    logger = logging.getLogger("smtl")
    handler = _StopAt(objective, limit)
    logger.addHandler(handler)
    started = time.perf_counter()
    try:
        solve(problem, C, "paper", tol=1e-9, max_iter=10**9, verbose=1, **options)
    except _ReachedError:
        pass
    finally:
        logger.removeHandler(handler)
    return handler.reached, time.perf_counter() - started


def part_paper(limit: float) -> None:
    print(
        "\nThe paper's solver, same kernels, to the objective that the bundle reaches at a certified gap (at most "
        f"{limit:g} s).\n'as printed': Algorithm 2 from the vertex, epsilon_F = 1e-5, T_F = 5000. 'mended': it goes on "
        "from its last\nmixture and stops when it is exact enough (solver='paper')."
    )
    logger = logging.getLogger("smtl")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    for name in SETS:
        X, Y, _, _ = real_data.split(name)
        tasks = SharedRows(X, (2 * Y - 1).astype(np.int8))
        for metric in ["auc", "f1"]:
            for penalty in ["l21", "trace"]:
                C = near_best_C(name, metric, penalty)
                problem = Problem(tasks, get_metric(metric), get_penalty(penalty), with_intercept=True)
                line = f"{name:10} {metric:4} {penalty:6}"
                for gap in [1e-2, 1e-4]:
                    started = time.perf_counter()
                    objective = solve(problem, C, tol=gap, max_iter=5000).certificate.objective
                    seconds = time.perf_counter() - started
                    line += f"  gap {gap:g}: bundle {1e3 * seconds:7.1f} ms"
                    for words, literal in [("as printed", True), ("mended", False)]:
                        reached, paper = seconds_to(objective, problem, C, limit, literal=literal)
                        line += f", {words} {'' if reached else '>'}{paper / seconds:.1f} x"
                print(line, flush=True)


def wide(n: int, d: int, m: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, d))
    W = rng.standard_normal((d, m)) * (rng.random((d, 1)) < 0.3)
    scores = X @ W + 0.5 * np.linalg.norm(W, axis=0) * rng.standard_normal((n, m))
    return X, (scores > np.quantile(scores, 0.8, axis=0)).astype(np.int8)


def part_pass(repeats: int) -> None:
    n, d, m = 1_000_000, 100, 10
    print(
        f"\nA pass over {n} x {d} float32 with {m} tasks against its two matrix products, X W and X'c, in CPU seconds,"
    )
    print("at W = 0 and at the weights that made the labels, the intercept sought to 1e-4 of the loss from a near one.")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    W = rng.standard_normal((m, d)) * (rng.random(d) < 0.3)
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    scores = X @ W.T.astype(np.float32) + 0.5 * rng.standard_normal((n, m), dtype=np.float32)
    tasks = SharedRows(X, np.where(scores > np.quantile(scores, 0.8, axis=0), 1, -1).astype(np.int8))
    c = rng.standard_normal(n * m)
    for metric in ["auc", "f1", "log"]:
        problem = Problem(tasks, get_metric(metric), get_penalty("l21"), with_intercept=True)
        for words, point in [("W = 0", 0.0 * W), ("true W", W)]:
            best = np.zeros(m)
            eps = 1e-4 * float(problem.one_pass(point, best).loss.mean())
            jobs = {
                "pass": lambda problem=problem, point=point, best=best, eps=eps: problem.one_pass(
                    point, 0.99 * best, eps
                ),
                "products": lambda point=point: (tasks.scores(point, 0, m), tasks.slopes(c, 0, m)),
            }
            seconds = interleaved(jobs, repeats, time.process_time)
            middle, low, high = ratio(seconds["pass"], seconds["products"])
            print(
                f"{metric:4} {words:6}  pass {shown(seconds['pass'])}  products {shown(seconds['products'])}  "
                f"ratio {middle:5.2f} [{low:.2f}, {high:.2f}]",
                flush=True,
            )


def part_log(repeats: int) -> None:
    print("\nThe log loss to a certified gap of 1e-3, against one-vs-rest LogisticRegression(tol=1e-4) at the same C,")
    print("in CPU seconds; ratio, least and largest of the rounds, and passes. It was written mostly with the first")
    print("two sets in sight.")
    for name in ["digits", "correlated", "yeast", "scene", "optdigits", "yeast, 500 Nystroem features"]:
        X, Y = log_data(name)
        problems = {
            penalty: Problem(SharedRows(X, (2 * Y - 1).astype(np.int8)), get_metric("log"), get_penalty(penalty),
                             with_intercept=True)
            for penalty in ["ridge", "l21", "trace"]
        }  # fmt: skip
        for C in [0.01, 0.1, 1.0, 10.0]:
            jobs: dict[str, Callable[[], object]] = {
                "peer": lambda X=X, Y=Y, C=C: OneVsRestClassifier(LogisticRegression(C=C, tol=1e-4)).fit(X, Y)
            }
            passes: dict[str, int] = {}

            def job(penalty: str, C: float, problems: dict = problems, passes: dict = passes) -> None:
                passes[penalty] = solve(problems[penalty], C, tol=1e-3, max_iter=5000).n_iter

            for penalty in problems:
                jobs[penalty] = lambda penalty=penalty, C=C, job=job: job(penalty, C)
            seconds = interleaved(jobs, repeats, time.process_time)
            line = f"{name:30} C={C:<5g} peer {1e3 * statistics.median(seconds['peer']):7.1f} ms"
            for penalty in problems:
                middle, low, high = ratio(seconds[penalty], seconds["peer"])
                line += f"  {penalty:5} {middle:5.2f} [{low:.2f}, {high:.2f}] {passes[penalty]:4d}"
            print(line, flush=True)


def log_data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Scaled features and labels of a data set of `part_log`."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return StandardScaler().fit_transform(X), (y[:, np.newaxis] == np.arange(10)).astype(np.int8)
    if name == "correlated":
        rng = np.random.default_rng(0)
        X, Y = wide(2000, 100, 10, rng)
        shared = X @ rng.standard_normal((100, 12)) @ rng.standard_normal((12, 100))
        return StandardScaler().fit_transform(X + 0.1 * shared), Y
    X, Y, _, _ = real_data.split(name.split(",")[0])
    if "Nystroem" in name:
        X = Nystroem(n_components=500, gamma=1.0 / X.shape[1], random_state=0).fit_transform(X)
    return X, Y


def part_growth() -> None:
    rng = np.random.default_rng(0)
    print("\nGrowth with rows (100 features, 10 tasks), gap 1e-2")
    X, Y = wide(400_000, 100, 10, rng)
    grow(lambda n: (X[:n], Y[:n]), [50_000, 100_000, 200_000, 400_000], "n")
    print("\nGrowth with tasks (20,000 rows, 100 features), gap 1e-2")
    X, Y = wide(20_000, 100, 320, rng)
    grow(lambda m: (X, Y[:, :m]), [10, 20, 40, 80, 160, 320], "m")


def grow(data: Callable[[int], tuple[np.ndarray, np.ndarray]], sizes: list[int], letter: str) -> None:
    for metric in ["auc", "f1"]:
        for penalty in ["l21", "trace"]:
            times = []
            for size in sizes:
                X, Y = data(size)
                model = SMTLClassifier(metric, penalty, tol=1e-2, threshold=0.0)
                times.append(min(interleaved({"fit": lambda model=model, X=X, Y=Y: model.fit(X, Y)}, 2)["fit"]))
                growth = f"  x {times[-1] / times[-2]:.2f}" if len(times) > 1 else ""
                print(
                    f"{metric:4} {penalty:6} {letter}={size:<7d} {times[-1]:7.2f} s  passes {model.n_iter_:3d}, "
                    f"{1e3 * times[-1] / model.n_iter_:6.1f} ms each  gap {model.gap_:.1e}{growth}",
                    flush=True,
                )
            print(f"{metric:4} {penalty:6} x {(times[-1] / times[0]) ** (1 / (len(times) - 1)):.2f} per doubling")


def part_sparse() -> None:
    n, d, k, m = 100_000, 50_000, 50, 20
    print(f"\nSparse, text-like: {n} x {d}, {k} non-zeros a row, {m} tasks, AUC, gap 1e-2")
    rng = np.random.default_rng(0)
    # Words by Zipf's law; a few words tell the topics.
    columns = np.minimum((d ** rng.random((n, k))).astype(np.int64), d - 1)
    X = sp.csr_array((np.ones(n * k), columns.ravel(), np.arange(n + 1) * k), shape=(n, d))
    X.sum_duplicates()
    W = np.where(rng.random((d, 1)) < 0.02, rng.standard_normal((d, m)), 0.0)
    scores = X @ W
    scores += 0.5 * scores.std(axis=0) * rng.standard_normal((n, m))
    Y = (scores > np.quantile(scores, 0.9, axis=0)).astype(np.int8)
    S, c = rng.standard_normal((d, m)), rng.standard_normal((n, m))
    products = min(interleaved({"products": lambda: (X @ S, X.T @ c)}, 5)["products"])
    for penalty in ["l21", "trace"]:
        model = SMTLClassifier("auc", penalty, tol=1e-2, threshold=0.0)
        started = time.perf_counter()
        model.fit(X, Y)
        seconds = time.perf_counter() - started
        each = seconds / model.n_iter_
        print(
            f"auc {penalty:6} {seconds:6.1f} s  passes {model.n_iter_:3d}  {1e3 * each:6.0f} ms a pass, "
            f"the two products alone {1e3 * products:6.0f} ms  ratio {each / products:.2f}  "
            f"total / products {seconds / products:.1f}  gap {model.gap_:.1e}",
            flush=True,
        )


def part_start() -> None:
    print("\nStarting up")
    fit = (
        "import time; t = time.perf_counter(); import numpy as np; from smtl import SMTLClassifier;"
        "X = np.random.default_rng(0).standard_normal((200, 5)); y = X[:, 0] > 0.3; y = y.astype(int);"
        "SMTLClassifier({}).fit(X, y); print(time.perf_counter() - t)"
    )
    with tempfile.TemporaryDirectory() as folder:
        for metric in ["", "'auc'"]:
            environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/{metric or 'default'}"}
            first, second, third = (_run(fit.format(metric), environment) for _ in range(3))
            print(f"SMTLClassifier({metric}): first process {first:.2f} s, later ones {min(second, third):.2f} s")
    sklearn_alone = "import time; t = time.perf_counter(); import sklearn.linear_model; print(time.perf_counter() - t)"
    both = (
        "import sklearn.linear_model; import time; t = time.perf_counter(); import smtl; print(time.perf_counter() - t)"
    )
    print(f"import sklearn.linear_model {min(_run(sklearn_alone) for _ in range(3)):.2f} s", end=", ")
    print(f"import smtl after it {min(_run(both) for _ in range(3)):.3f} s")


def _run(code: str, environment: dict[str, str] | None = None) -> float:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["fit", "log", "paper", "pass", "growth", "sparse", "start"])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each run of the paper's solver")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}, "
        f"{os.cpu_count()} cores, one thread each"
    )
    if not real_data.available() and {"fit", "log", "paper"} & set(arguments.parts):
        sys.exit(f"The parts 'fit', 'log' and 'paper' need the data sets in {real_data.DATA}; set SMTL_DATA.")
    X, Y = wide(100, 5, 2, np.random.default_rng(0))
    for metric in ["auc", "f1"]:
        for penalty in ["l21", "trace"]:
            SMTLClassifier(metric, penalty).fit(X, Y)
    if "fit" in arguments.parts:
        part_fit(arguments.repeats)
    if "log" in arguments.parts:
        part_log(arguments.repeats)
    if "paper" in arguments.parts:
        part_paper(arguments.limit)
    if "pass" in arguments.parts:
        part_pass(arguments.repeats)
    if "growth" in arguments.parts:
        part_growth()
    if "sparse" in arguments.parts:
        part_sparse()
    if "start" in arguments.parts:
        part_start()


if __name__ == "__main__":
    main()
