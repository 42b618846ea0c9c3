"""Run what a study asks for, on several processes, and write down each run as it ends."""

from __future__ import annotations

import multiprocessing
import os
import platform
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from smtl.experiments.imbalance import imbalanced, parse_ratio
from smtl.experiments.methods import Search, get_method, settings_of
from smtl.experiments.protocol import measures, scores_of, seed_of, split
from smtl.experiments.store import Run, Store
from smtl.experiments.study_data import load_for_study, name_for_seed, settle_files
from smtl.experiments.warm_up import warm_up

__all__ = ["Study", "compare", "run_one"]

# How often a process that only waits says that it is alive, and looks whether others have left something to do.
PATIENCE = 5.0


@dataclass(frozen=True)
class Study:
    """What all runs of a study have in common.

    Attributes
    ----------
    protocol : {"stratified", "paper"}
        How rows are split: iteratively stratified, or at random as in the paper.
    cv : int
        Folds of the inner search.
    n_values : int
        Values of C in the inner search.
    train : float
        The share of the training part.

    Examples
    --------
    >>> Study(cv=3).protocol
    'stratified'
    """

    protocol: str = "stratified"
    cv: int = 5
    n_values: int = 20
    train: float = 0.6

    def __post_init__(self) -> None:
        if self.protocol not in ("stratified", "paper"):
            raise ValueError(f"protocol must be 'stratified' or 'paper', got {self.protocol!r} instead.")
        for name, least in (("cv", 2), ("n_values", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)} instead.")
        if not 0.0 < self.train < 1.0:
            raise ValueError(f"train must be between 0 and 1, got {self.train!r} instead.")


def run_one(study: Study, run: Run, seed_name: str | None = None) -> dict[str, Any]:
    """Run one method on one split of one data set.

    Parameters
    ----------
    study : Study
        The settings.
    run : Run
        What to run.
    seed_name : str, optional
        What the split's seed comes from, if not from the name of the data set, or of its file.

    Returns
    -------
    dict
        All measures, seconds, the chosen C, the gap, the seed and versions. Seconds are those after an untimed fit to
        a tiny made-up data set, which compiles what is to be compiled.

    Examples
    --------
    >>> result = run_one(Study(cv=2, n_values=2), Run("digits", "smtl-auc-l21", 0))
    >>> result["auc"] > 0.9
    True
    """
    name, ratio = parse_ratio(run.dataset)
    seed = seed_of(seed_name or name_for_seed(name), run.split)
    X, Y = load_for_study(name)
    if ratio is not None:
        Y = imbalanced(Y, ratio, seed)
        kept = np.isfinite(Y).any(axis=1)
        X, Y = X[kept], Y[kept]
    parts = split(X, Y, seed, stratified=study.protocol == "stratified", train=study.train)
    warm_up(run.method, sp.issparse(parts.X), str(parts.Y.dtype), bool(np.isnan(parts.Y).any()))
    model = get_method(run.method).make(Search(study.cv, study.n_values, seed))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        started, cpu = time.perf_counter(), time.process_time()
        model.fit(parts.X, parts.Y)
        fitted, cpu_fitted = time.perf_counter(), time.process_time()
        answers = np.asarray(model.predict(parts.X_test)).reshape(parts.Y_test.shape)
        scores = scores_of(model, parts.X_test)
        predicted = time.perf_counter()
    if not np.isfinite(scores).all():
        raise ValueError(f"the scores of {run.method} on {run.dataset} must be finite, got NaN or infinity instead.")
    return {
        **measures(parts.Y_test, scores, answers),
        **settings_of(model),
        "fit_seconds": fitted - started,
        "train_seconds": getattr(model, "refit_time_", fitted - started),
        "fit_cpu_seconds": cpu_fitted - cpu,
        "predict_seconds": predicted - fitted,
        "seed": seed,
        "n_train": len(parts.Y),
        "n_test": len(parts.Y_test),
        "warnings": sorted({str(warning.message)[:300] for warning in caught})[:5],
        "versions": _versions(),
    }


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("smtl", "numpy", "scipy", "scikit-learn", "numba"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def compare(
    datasets: Sequence[str],
    methods: Sequence[str],
    out: str | os.PathLike[str],
    *,
    study: Study | None = None,
    n_splits: int = 10,
    n_jobs: int = 1,
    retry: bool = False,
    report: Callable[[Run, dict[str, Any], int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Run methods on data sets, or go on with it where an earlier call ended.

    Parameters
    ----------
    datasets : sequence of str
        Named sets, or files.
    methods : sequence of str
        See `get_method`.
    out : path-like
        The folder of the study; its runs are in ``runs.sqlite``.
    study : Study, optional
        Settings; those of the folder must be the same.
    n_splits : int, default=10
        Splits of each data set.
    n_jobs : int, default=1
        Processes, each with one thread.
    retry : bool, default=False
        Whether to run again what has failed.
    report : callable, optional
        Called after each run with it, its result, and how many are done of how many.

    Returns
    -------
    list of dict
        A row a run that was asked for, in the order of the store.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     rows = compare(["digits"], ["smtl-auc-l21"], folder, study=Study(cv=2, n_values=2), n_splits=1)
    >>> [(row["dataset"], row["method"], row["split"], row["status"]) for row in rows]
    [('digits', 'smtl-auc-l21', 0, 'done')]
    """
    study = study or Study()
    for method in methods:
        get_method(method)
    # Split by split, so that a study that is stopped has something of everything.
    wanted = [Run(str(d), m, k) for k in range(n_splits) for d in datasets for m in methods]
    with Store(Path(out, "runs.sqlite"), asdict(study)) as store:
        seed_names = settle_files(store, map(str, datasets))
        if retry:
            store.forget_failures(wanted)
        _work(store, study, wanted, seed_names, n_jobs, report or (lambda *_: None))
        keys = set(wanted)
        return [row for row in store.rows() if Run(row["dataset"], row["method"], row["split"]) in keys]


def _work(
    store: Store,
    study: Study,
    wanted: list[Run],
    seed_names: dict[str, str],
    n_jobs: int,
    report: Callable[..., None],
) -> None:
    """Keep as many runs going as there are processes, until none is left."""
    # A pool a process: a pool dies with any of its processes, and then one could not tell which run it was.
    pools = [_pool() for _ in range(n_jobs)]
    going: dict[Future[dict[str, Any]], tuple[Run, int]] = {}
    # A class of the script itself is only there if the script is imported; it then needs its guard.
    around = nullcontext if any(run.method.startswith("__main__.") for run in wanted) else _without_main
    try:
        while True:
            done = store.done()
            left = [run for run in wanted if run not in done]
            for k in set(range(n_jobs)) - {k for _, k in going.values()}:
                run = store.claim(left)
                if run is None:
                    break
                seed_name = seed_names.get(run.dataset)
                with around():
                    try:
                        future = pools[k].submit(_guarded, study, run, seed_name)
                    except BrokenProcessPool:  # it died while it had nothing to do
                        pools[k] = _pool()
                        future = pools[k].submit(_guarded, study, run, seed_name)
                going[future] = run, k
            store.here()
            if not going:
                if not left:
                    return
                time.sleep(PATIENCE / 5)  # others are at it
            for future in wait(going, timeout=PATIENCE, return_when=FIRST_COMPLETED).done:
                run, k = going.pop(future)
                try:
                    result = future.result()
                except BrokenProcessPool:
                    pools[k] = _pool()
                    result = {"error": "The process died: perhaps it ran out of memory, or a library crashed."}
                store.finish(run, result, failed="error" in result)
                report(run, result, len(set(wanted) & store.done()), len(wanted))
    except BaseException:
        for pool in pools:
            for process in list((getattr(pool, "_processes", None) or {}).values()):
                process.terminate()
        raise
    finally:
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)


def _pool() -> ProcessPoolExecutor:
    # Not by fork: threads of numerical libraries do not survive it.
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _start, (os.getpid(),))


@contextmanager
def _without_main() -> Iterator[None]:
    """Start processes, as a pool does when it is first given something, that do not import the caller's script.

    A spawned process imports what was started as ``__main__``, and a script that calls `compare` without asking for
    ``__name__`` would do so again in each. Nothing of it is needed there: methods go by name.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _start(parent: int) -> None:
    """Prepare a process: one thread each, and no life beyond that of the process that started it."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    if os.name == "posix":
        threading.Thread(target=watch, daemon=True).start()


def _guarded(study: Study, run: Run, seed_name: str | None = None) -> dict[str, Any]:
    """Return a run's result, or its error."""
    try:
        return run_one(study, run, seed_name)
    except Exception as error:
        text = "".join(traceback.format_exception(error))
        return {"error": f"{type(error).__name__}: {error}", "traceback": text[-4000:]}
