"""Is the ensemble better than what people use? Our models and their rivals on the same splits, with tuned cuts for all.

    pip install "smtl[bench]"
    python benchmarks/rivals.py run STORE --sets flags emotions --methods logistic extra-trees
    python benchmarks/rivals.py table STORE

Nine sets of the paper (mediamill and tmc2007 at its size) and digits; 5 stratified splits of 60/40; features scaled by
the training part. STORE is a file of JSON lines, one for each set, method and split. A run that was killed goes on
where it was. Several runs may share a store if their methods or sets differ: mlrl-boomer 0.12 needs a scikit-learn
below 1.8, and may have an environment of its own. The data are found as by `smtl.datasets` (``SMTL_DATA``).

Each rival gives held-out probabilities of 5 folds of the training part. They tune one cut a label, for F1, and one cut
for all labels on calibrated probabilities, once for macro F1 and once for micro F1. A rival counts with the better of
the two kinds *on the test part*. Ours count with the cuts that they choose themselves. AUC is the mean over the labels
that have both classes in the test part. Seconds are CPU seconds of one thread: folds, cuts and the final fit.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before what reads it is imported

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

import real_data
import rival_tables
from rival_cuts import LogisticCurves, calibration_error, cut_of_all, cuts_of_labels, isotonic
from smtl.baselines import BinaryRelevance
from smtl.ensemble.judging import Judge
from smtl.experiments.protocol import Parts, TaskFolds, measures, scores_of, seed_of, split
from smtl.experiments.runner import _start as end_with  # a process that ends when the one that started it is gone
from smtl.experiments.study_data import load_for_study

SETS = [
    "flags",
    "emotions",
    "segmentation",
    "scene",
    "yeast",
    "cal500",
    "digits",
    "optdigits",
    "tmc2007:paper",
    "mediamill:paper",
]
N_FOLDS = 5  # of the training part, for cuts and for logistic regression's C
LOGISTIC_CS = np.logspace(-4, 4, 10)  # as LogisticRegressionCV's; one for all labels, by the log loss of the folds
PACKAGES = ("smtl", "numpy", "scipy", "scikit-learn", "numba", "lightgbm", "mlrl-boomer")


class Run(NamedTuple):
    """One line of the store."""

    dataset: str
    method: str
    split: int


class Watch:
    """Seconds of the wall and of the CPU."""

    def __enter__(self) -> Watch:
        self.wall, self.cpu = -time.perf_counter(), -time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall, self.cpu = self.wall + time.perf_counter(), self.cpu + time.process_time()


# Rivals: from a seed to the models to choose from. Imports are where they are needed.


def logistic(seed: int) -> list[Any]:
    return [BinaryRelevance(LogisticRegression(C=C, max_iter=200)) for C in LOGISTIC_CS]


def extra_trees(seed: int) -> list[Any]:
    return [ExtraTreesClassifier(200, min_samples_leaf=2, random_state=seed)]


def random_forest(seed: int) -> list[Any]:
    return [RandomForestClassifier(200, random_state=seed)]


def lightgbm(seed: int) -> list[Any]:
    from lightgbm import LGBMClassifier

    return [BinaryRelevance(LGBMClassifier(n_estimators=100, n_jobs=1, verbosity=-1, random_state=seed))]


def boomer(seed: int) -> list[Any]:
    from mlrl.boosting import BoomerClassifier

    return [BoomerClassifier(random_state=seed)]


def probabilities(model: Any, X: Any) -> np.ndarray:
    """Return the probability of yes, a column a label."""
    given = model.predict_proba(X)
    return scores_of(model, X) if isinstance(given, list) else np.asarray(given, dtype=float)


def held_out(model: Any, parts: Parts, folds: list[tuple[Any, Any]]) -> np.ndarray:
    """Return the probabilities of the training rows, each by a model that has not seen it."""
    P = np.empty(parts.Y.shape)
    for train, test in folds:
        P[test] = probabilities(clone(model).fit(parts.X[train], parts.Y[train]), parts.X[test])
    return P


def judge_rival(models: Callable[[int], list[Any]], parts: Parts, seed: int) -> dict[str, Any]:
    """Return what a rival reaches on the test part with its better cuts."""
    Y, Y_test = parts.Y, parts.Y_test
    with Watch() as watch:
        folds = list(TaskFolds(N_FOLDS, seed).split(parts.X, Y))
        candidates = models(seed)
        held = [held_out(model, parts, folds) for model in candidates]
        best = 0 if len(held) == 1 else int(np.argmin([log_loss(Y.ravel(), P.ravel()) for P in held]))
        H, model = held[best], clone(candidates[best]).fit(parts.X, Y)
        own, curves = cuts_of_labels(Y, H), LogisticCurves(Y, H)
        shared = {measure: cut_of_all(Y, curves(H), measure) for measure in ("macro_f1", "micro_f1")}
    P = probabilities(model, parts.X_test)
    result = measures(Y_test, P, np.greater(P, own))
    kinds = {}
    for measure, cut in shared.items():
        by_cut = {"per_label": result[measure], "shared": measures(Y_test, P, curves(P) > cut)[measure]}
        kinds |= {f"{measure}_{kind}": value for kind, value in by_cut.items()}
        result[measure] = max(by_cut.values())
    return {
        **{measure: result[measure] for measure in ("macro_f1", "micro_f1", "auc")},
        **kinds,
        "ece": calibration_error(Y_test, P),
        "ece_logistic": calibration_error(Y_test, curves(P)),
        "ece_isotonic": calibration_error(Y_test, isotonic(Y, H, P)),
        "chosen": best,
        "seconds": watch.cpu,
        "wall_seconds": watch.wall,
    }


def linear_cv(seed: int) -> Any:
    from smtl import SMTLClassifierCV

    return SMTLClassifierCV()


def ensemble(seed: int) -> Any:
    from smtl import SMTLEnsemble

    return SMTLEnsemble(random_state=seed)


def judge_ours(make: Callable[[int], Any], parts: Parts, seed: int) -> dict[str, Any]:
    """Return what a model reaches on the test part with the cuts that it chose itself."""
    with Watch() as watch:
        model = make(seed).fit(parts.X, parts.Y)
    answers = np.asarray(model.predict(parts.X_test)).reshape(parts.Y_test.shape)
    result = measures(parts.Y_test, scores_of(model, parts.X_test), answers)
    result = {measure: result[measure] for measure in ("macro_f1", "micro_f1", "auc")}
    if hasattr(model, "predict_proba"):
        result["ece"] = calibration_error(parts.Y_test, probabilities(model, parts.X_test))
    return {**result, "seconds": watch.cpu, "wall_seconds": watch.wall}


def judge_ensemble(make: Callable[[int], Any], parts: Parts, seed: int) -> dict[str, Any]:
    """Return what the ensemble reaches in each measure with `scoring` set to it.

    Only the cuts depend on `scoring`, so one fit is cut for each.
    """
    model, kept = make(seed), {}
    put_together = model._put_together
    model._put_together = lambda *given: kept.setdefault("held", put_together(*given))
    result = judge_ours(lambda _: model, parts, seed)
    del model._put_together
    for measure, scoring in (("macro_f1", "f1_macro"), ("micro_f1", "f1_micro")):
        cuts = Judge(scoring, model.threshold, kept["held"]).cuts(kept["held"])
        answers = model.decision_function(parts.X_test) + model.thresholds_ > cuts.location + cuts.cut
        result[measure] = measures(parts.Y_test, answers, answers)[measure]
        result[f"rule_{measure}"] = cuts.rule
    shares = {name: round(share, 3) for name, share in model.weights_.items()}
    return {**result, "weights": shares, "corrected": model.correction_ is not None}


class Method(NamedTuple):
    """How a method is judged, and what it makes of a seed."""

    judge: Callable[[Any, Parts, int], dict[str, Any]]
    make: Callable[[int], Any]


# In the order in which they are run, by cost.
METHODS = {
    "extra-trees": Method(judge_rival, extra_trees),
    "random-forest": Method(judge_rival, random_forest),
    "logistic": Method(judge_rival, logistic),
    "boomer": Method(judge_rival, boomer),
    "lightgbm": Method(judge_rival, lightgbm),
    "linear": Method(judge_ours, linear_cv),
    "ensemble": Method(judge_ensemble, ensemble),
}


@cache
def versions() -> dict[str, str]:
    found = {"python": sys.version.split()[0]}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@cache
def warm_up(method: str) -> None:
    """Fit a tiny set, so that compiling is in nobody's seconds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X[:, :2] + rng.normal(size=(60, 2)) > 0.0).astype(int)
    METHODS[method].judge(METHODS[method].make, split(X, Y, seed=0), 1)


def run_one(run: Run) -> dict[str, Any]:
    """Return the line of a run."""
    seed = seed_of(run.dataset, run.split)
    X, Y = load_for_study(run.dataset)
    parts = split(X, Y.astype(int), seed)
    method = METHODS[run.method]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm_up(run.method)
        result = method.judge(method.make, parts, seed % (2**31 - 1) + 1)  # what all libraries take as a seed
    sizes = {"n_train": len(parts.Y), "n_test": len(parts.Y_test), "n_labels": parts.Y.shape[1]}
    return {**run._asdict(), **result, **sizes, "seed": seed, "versions": versions()}


def read_store(store: Path) -> dict[Run, dict[str, Any]]:
    """Return the lines of a store. Of two of the same run, the later one; a line that a kill has torn is left out."""
    rows = {}
    for line in store.read_text().splitlines() if store.exists() else []:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        rows[Run(row["dataset"], row["method"], row["split"])] = row
    return rows


def write(store: Path, row: dict[str, Any]) -> None:
    """Append a line, and see that it is on the disk."""
    torn = store.exists() and store.stat().st_size > 0 and not store.read_bytes().endswith(b"\n")
    with store.open("a") as file:
        file.write("\n" * torn + json.dumps(row) + "\n")
        file.flush()
        os.fsync(file.fileno())


def results(runs: list[Run], n_jobs: int) -> Iterator[tuple[Run, dict[str, Any] | Exception]]:
    """Yield each run with its line, or with what went wrong."""
    if n_jobs == 1:
        for run in runs:
            try:
                yield run, run_one(run)
            except Exception as error:
                yield run, error
        return
    with ProcessPoolExecutor(n_jobs, get_context("spawn"), end_with, (os.getpid(),)) as executor:
        futures = {executor.submit(run_one, run): run for run in runs}
        for future in as_completed(futures):
            error = future.exception()
            if error is not None and not isinstance(error, Exception):
                raise error
            yield futures[future], future.result() if error is None else error


def runnable(methods: list[str]) -> list[str]:
    """Return the methods whose packages are there, and say what the others lack."""
    out = []
    for method in methods:
        try:
            METHODS[method].make(1)
            out.append(method)
        except ImportError as error:
            print(f"{method} is left out: {error}.", file=sys.stderr)
    return out


def run_all(store: Path, sets: list[str], methods: list[str], n_splits: int, n_jobs: int, again: bool) -> int:
    """Run what is not in the store, and return how many runs failed."""
    done = {} if again else read_store(store)
    methods = runnable(methods)
    wanted = [Run(d, m, k) for d in sets for m in methods for k in range(n_splits)]
    left, failed = [run for run in wanted if run not in done], 0
    for number, (run, result) in enumerate(results(left, n_jobs), start=1):
        if isinstance(result, Exception):
            failed += 1
            said = f"failed, {type(result).__name__}: {result}"
        else:
            write(store, result)
            values = (100 * result[measure] for measure in ("macro_f1", "micro_f1", "auc"))
            said = " / ".join(f"{value:.1f}" for value in values) + f", {result['seconds']:.1f} s"
        print(f"{number} of {len(left)}: {run.dataset}, {run.method}, split {run.split}: {said}", file=sys.stderr)
    return failed


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run what is not in the store yet")
    run.add_argument("store", type=Path)
    run.add_argument("--sets", nargs="+", default=SETS, metavar="NAME", help=", ".join(SETS))
    run.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS), metavar="NAME")
    run.add_argument("--splits", type=int, default=5)
    run.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    run.add_argument("--again", action="store_true", help="run also what is in the store; the later line counts")
    table = commands.add_parser("table", help="print the tables")
    table.add_argument("store", type=Path)
    given = parser.parse_args(arguments)
    if real_data.DATA.is_dir():
        os.environ.setdefault("SMTL_DATA", str(real_data.DATA))
    if given.command == "run":
        return 1 if run_all(given.store, given.sets, given.methods, given.splits, given.jobs, given.again) else 0
    if not given.store.is_file():
        parser.error(f"STORE must be a file that 'run' has written, got {given.store} instead.")
    print(rival_tables.tables(list(read_store(given.store).values()), SETS, list(METHODS)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
