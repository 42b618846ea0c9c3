"""Long use: many fits in one process with flat memory, equal weights whichever way processes are made, shared files.

    python benchmarks/long_use.py [--fits 1000]

1. Fits of mixed kinds (linear, by cross-validation, ensembles, tables; dense, sparse, tasks) in one process. The memory
   after the last fifth must not be more than after the second fifth by more than ``--megabytes``.
2. The same fit in a forked process, a spawned one, four threads at once, and workers of loky: weights must be equal, to
   the last bit.
3. Two processes at once on one store of runs, and on one cache folder: nothing may be lost.
"""

import argparse
import gc
import hashlib
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from smtl import SMTLClassifier, SMTLClassifierCV, SMTLEnsemble


def data(seed: int, n: int = 80) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, (X[:, :3] + rng.normal(size=(n, 3)) > 0).astype(int)


def one_fit(k: int) -> Any:
    """Fit a model of one of several kinds."""
    import pyarrow as pa
    from sklearn.pipeline import make_pipeline

    from smtl.tables import TableEncoder

    X, Y = data(k)
    kind = k % 10
    if kind == 9:
        return SMTLEnsemble(preset="fast", cv=2, learners=["linear", "kernel"], random_state=0).fit(X, Y)
    if kind == 8:
        return SMTLClassifierCV("log", "l21", cv=2, Cs=3).fit(X, Y)
    if kind == 7:
        table = pa.table({f"x{j}": X[:, j] for j in range(6)} | {"key": [f"k{i % 3}" for i in range(len(X))]})
        return make_pipeline(TableEncoder(), SMTLClassifier()).fit(table, Y)
    if kind == 6:
        return SMTLClassifier("auc", "trace", C=1.0).fit(sp.csr_matrix(X), Y)
    if kind == 5:
        return SMTLClassifier("f1", "l21", C=1.0).fit(X, Y[:, 0], tasks=np.arange(len(X)) % 3)
    metric = ("log", "f1", "auc", "error", "f2")[kind]
    return SMTLClassifier(metric, "l21", C=1.0).fit(X, Y)


def resident() -> float:
    """Return the memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def many_fits(n: int, megabytes: float) -> int:
    marks = []
    begin = time.perf_counter()
    for k in range(n):
        one_fit(k)
        if (k + 1) % max(1, n // 5) == 0:
            gc.collect()
            marks.append(resident())
            print(f"after {k + 1:5} fits: {marks[-1]:6.0f} MB, {time.perf_counter() - begin:5.0f} s", flush=True)
    grown = marks[-1] - marks[1]
    print(f"grown from the second fifth to the last by {grown:.1f} MB (at most {megabytes:g})")
    return int(grown > megabytes)


def digest(metric: str = "f1") -> str:
    """Return a digest of the weights of a fit."""
    X, Y = data(0, 200)
    model = SMTLClassifier(metric, "l21", C=2.0).fit(X, Y)
    return hashlib.sha256(model.coef_.tobytes() + model.intercept_.tobytes()).hexdigest()[:16]


def _send(pipe: Any) -> None:
    pipe.send(digest())


def ways() -> int:
    """Compare the weights of one fit in processes made in all ways, and in threads."""
    from joblib import Parallel, delayed

    found = {"here": [digest()]}
    for way in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(way)
        ours, theirs = context.Pipe()
        process = context.Process(target=_send, args=(theirs,))
        process.start()
        theirs.close()
        found[way] = [ours.recv() if ours.poll(300) else "nothing came"]
        process.join()
    with ThreadPoolExecutor(4) as pool:
        found["threads"] = list(pool.map(lambda _: digest(), range(4)))
    found["loky"] = Parallel(n_jobs=2)(delayed(digest)() for _ in range(2))
    for way, digests in found.items():
        print(f"{way:11} {' '.join(digests)}")
    return int(len({one for digests in found.values() for one in digests}) > 1)


def _claim(path: str, number: int) -> None:
    from smtl.experiments import Run, Store

    runs = [Run("made", "br", split) for split in range(60)]
    with Store(Path(path), {"cv": 5}) as store:
        while (run := store.claim(runs)) is not None:
            time.sleep(0.05)  # both are at work at once
            store.finish(run, {"by": number})


def _load(folder: str, number: int) -> None:
    from smtl.datasets import Dataset
    from smtl.datasets.cache import entry_of, load, save

    source = Path(folder, "small.csv")
    os.environ["SMTL_CACHE"] = folder
    entry = entry_of("small", "ordinal", "0", [source])
    for _ in range(60):
        save(entry, Dataset(np.eye(50), np.eye(50)))
        found = load(entry)
        assert found is not None, "an entry that was saved must be whole"
        assert np.array_equal(found.X, np.eye(50))


def shared() -> int:
    """Let two processes work on one store, and on one cache folder."""
    from smtl.experiments import Store

    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "small.csv").write_text("x\n1\n")
        for work, place in ((_claim, str(Path(folder, "runs.sqlite"))), (_load, folder)):
            context = multiprocessing.get_context("spawn")
            processes = [context.Process(target=work, args=(place, number)) for number in range(2)]
            for process in processes:
                process.start()
            for process in processes:
                process.join()
            failures += sum(process.exitcode != 0 for process in processes)
        with Store(Path(folder, "runs.sqlite")) as store:
            rows = store.rows()
        left = [path.name for path in Path(folder).rglob("*.part")]
        print(
            f"one store: {len(rows)} of 60 runs, by {len({row['by'] for row in rows})} processes; "
            f"parts that are left: {left or 'none'}"
        )
    return failures + int(len(rows) != 60) + len(left)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--megabytes", type=float, default=30.0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    failures = ways() + shared() + many_fits(arguments.fits, arguments.megabytes)
    print(f"{failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
