"""What a fit past one machine costs: workers, traffic, memory, disk, and what a Dask user would pick instead.

    python benchmarks/scale.py workers --rows 10000000       one worker, then two, of one thread: AUC, F1, log
    python benchmarks/scale.py local --rows 2000000          two threads in one process against two workers
    python benchmarks/scale.py memory --rows 3000000         data four times the workers' memory limits
    python benchmarks/scale.py disk --rows 20000000 --limit 2000000000   fit_parquet under a limit on its memory
    python benchmarks/scale.py rivals --rows 1000000         XGBoost's and dask-ml's estimators on the same rows

Each draws its rows itself, prints one table, and leaves nothing behind; files go to a temporary folder in SMTL_SCRATCH.
Seconds are those of the clock; CPU seconds are the driver's and those of the busiest worker: their sum is what the fit
would take on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

os.environ.setdefault("OMP_NUM_THREADS", "1")

D = 50
POSITIVE = 0.01  # the share of positives
PART_ROWS = 500_000
LEAST_PARTS = 8  # of a collection, so that two workers have as many
METRICS = ("auc", "f1", "log")
TOL = 1e-2

Results = Iterator[dict[str, object]]


def part(number: int, rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of a part: a rare class that the features tell something of."""
    rng = np.random.default_rng([seed, number])
    X = rng.standard_normal((rows, D), dtype=np.float32)
    direction = np.random.default_rng(seed).standard_normal(D).astype(np.float32) * (np.arange(D) < 10)
    score = X @ direction / np.linalg.norm(direction) + 0.3 * rng.standard_normal(rows, dtype=np.float32)
    return X, (score > 2.43).astype(np.int8)  # 1.09 ** 0.5 times the normal quantile of 0.99


def collection(rows: int, part_rows: int = PART_ROWS):
    import dask
    import dask.array as da

    part_rows = min(part_rows, -(-rows // LEAST_PARTS))
    sizes = [min(part_rows, rows - start) for start in range(0, rows, part_rows)]
    blocks = [dask.delayed(part, pure=True)(k, size) for k, size in enumerate(sizes)]
    X = da.concatenate([da.from_delayed(b[0], (n, D), np.float32) for b, n in zip(blocks, sizes, strict=True)])
    y = da.concatenate([da.from_delayed(b[1], (n,), np.int8) for b, n in zip(blocks, sizes, strict=True)])
    return X, y


def cpu_of_process() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak_of_process() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Traffic:
    """Bytes that passes send between driver and workers, and between workers: arguments by their size when pickled."""

    def __init__(self, client) -> None:
        from smtl.dask import cluster

        self.client, self.arguments, self.passes = client, 0, 0
        shared, apply, begin = cluster.ClusterRows.shared, cluster.ClusterRows.apply, cluster.ClusterRows.begin
        traffic = self

        def counted_shared(rows, value):
            traffic.arguments += len(pickle.dumps(value))  # to one worker, which serves the others
            return shared(rows, value)

        def counted_apply(rows, function, handles, arguments):
            for one in arguments:
                traffic.arguments += sum(a.nbytes for a in one if isinstance(a, np.ndarray))
            return apply(rows, function, handles, arguments)

        def counted_begin(rows, where):
            if traffic.passes == 0:  # what is read once, the sample among it, is over
                traffic.arguments, traffic._start = 0, traffic.served()
            traffic.passes += 1
            return begin(rows, where)

        self._before = cluster.ClusterRows, (shared, apply, begin)
        cluster.ClusterRows.shared = counted_shared
        cluster.ClusterRows.apply = counted_apply
        cluster.ClusterRows.begin = counted_begin
        self._start = self.served()

    def served(self) -> int:
        return sum(self.client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())

    def end(self, all_scores: int) -> dict[str, float]:
        cls, (cls.shared, cls.apply, cls.begin) = self._before
        a_pass = (self.arguments + self.served() - self._start) / max(self.passes, 1)
        return {"passes": self.passes, "bytes_a_pass": round(a_pass), "of_all_scores": round(a_pass / all_scores, 4)}


def fit_on_cluster(metric: str, rows: int, n_workers: int, **options) -> dict[str, object]:
    """Return seconds, CPU seconds, traffic and certificate of a fit on a new cluster."""
    from dask.distributed import Client, LocalCluster, wait

    from smtl.dask import SMTLClassifier

    part_rows = options.pop("part_rows", PART_ROWS)
    # Dask counts kept parts besides the rows that they are of; with less room it would put some of them on disk.
    memory = options.pop("memory_limit", 1_000_000_000 + 6 * 4 * rows * D // n_workers)
    persisted = options.pop("persisted", True)
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, memory_limit=memory, dashboard_address=None
        ) as local,
        Client(local) as client,
    ):
        X, y = collection(rows, part_rows)
        if persisted:  # otherwise drawing the rows is timed, too
            X, y = X.persist(), y.persist()
            wait([X, y])
        small = collection(20_000, 5_000)
        SMTLClassifier(metric, threshold=0.0, tol=0.5).fit(*small)  # compiles
        model = SMTLClassifier(metric, threshold=0.0, tol=TOL, **options)
        cpu, own, traffic = client.run(cpu_of_process), cpu_of_process(), Traffic(client)
        started = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - started
        busiest = max(after - cpu.get(name, 0.0) for name, after in client.run(cpu_of_process).items())
        peaks = client.run(peak_of_process)
        return {
            "metric": metric,
            "workers": n_workers,
            "rows": rows,
            "seconds": round(seconds, 2),
            "cpu": round(busiest + cpu_of_process() - own, 2),
            "of_driver": round(cpu_of_process() - own, 2),
            **traffic.end(8 * rows),
            "peak_of_a_worker": max(peaks.values()),
            "objective": model.objective_,
            "gap": model.gap_,
        }


def workers(rows: int, metrics: tuple[str, ...]) -> Results:
    for metric in metrics:
        one, two = (fit_on_cluster(metric, rows, n) for n in (1, 2))
        yield one
        two["speed_up"] = round(one["seconds"] / two["seconds"], 2)
        two["speed_up_of_cpu"] = round(one["cpu"] / two["cpu"], 2)
        yield two


def local(rows: int, metrics: tuple[str, ...]) -> Results:
    import smtl

    X, y = map(np.concatenate, zip(*(part(k, PART_ROWS) for k in range(rows // PART_ROWS)), strict=True))
    Y = np.column_stack([y, y[::-1]])  # two tasks, so that there is work for two threads
    for metric in metrics:
        smtl.SMTLClassifier(metric, threshold=0.0, tol=0.5).fit(X[:20_000], Y[:20_000])
        cpu, started = cpu_of_process(), time.perf_counter()
        model = smtl.SMTLClassifier(metric, threshold=0.0, tol=TOL, n_jobs=2).fit(X, Y)
        here = time.perf_counter() - started, cpu_of_process() - cpu
        there = two_tasks_on_cluster(metric, X, Y)
        yield {
            "metric": metric,
            "rows": len(X),
            "two_threads": round(here[0], 2),
            "cpu_of_threads": round(here[1], 2),
            **there,
            "slower": round(there["seconds"] / here[0], 2),
            "slower_of_cpu": round(2.0 * there["cpu"] / here[1], 2),
            "passes_here": len(model.history_["passes"]),
        }


def two_tasks_on_cluster(metric: str, X, Y) -> dict[str, object]:
    import dask.array as da
    from dask.distributed import Client, LocalCluster, wait

    from smtl.dask import SMTLClassifier

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, memory_limit="6GB", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        small = da.from_array(X[:20_000], chunks=(5_000, -1)), da.from_array(Y[:20_000], chunks=(5_000, -1))
        SMTLClassifier(metric, threshold=0.0, tol=0.5).fit(*small)
        part_rows = min(PART_ROWS, -(-len(X) // LEAST_PARTS))
        lazy = [da.from_array(one, chunks=(part_rows, -1)).persist() for one in (X, Y)]
        wait(lazy)
        model = SMTLClassifier(metric, threshold=0.0, tol=TOL)
        cpu, own, started = client.run(cpu_of_process), cpu_of_process(), time.perf_counter()
        model.fit(*lazy)
        seconds = time.perf_counter() - started
        busiest = max(after - cpu[name] for name, after in client.run(cpu_of_process).items())
        return {
            "seconds": round(seconds, 2),
            "cpu": round(busiest + cpu_of_process() - own, 2),
            "passes": model.n_iter_,
        }


def memory(rows: int, metrics: tuple[str, ...]) -> Results:
    limit = max(4 * rows * D // (4 * 2), 500_000_000)  # of each of two workers; below that nothing can be imported
    for metric in metrics:
        result = fit_on_cluster(metric, rows, 2, part_rows=50_000, memory_limit=limit, persisted=False)
        yield {"bytes_of_X": 4 * rows * D, "limit_of_a_worker": limit, **result}


def disk(rows: int, metrics: tuple[str, ...], limit: int) -> Results:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory(dir=os.environ.get("SMTL_SCRATCH")) as folder:
        for k, start in enumerate(range(0, rows, PART_ROWS)):
            X, y = part(k, min(PART_ROWS, rows - start))
            table = pa.table({f"x{j}": X[:, j] for j in range(D)} | {"y": y})
            pq.write_table(table, Path(folder, f"{k:05d}.parquet"), compression="none", use_dictionary=False)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        for metric in metrics:
            command = [sys.executable, __file__, "one-disk", "--metric", metric, "--folder", folder]
            done = subprocess.run([*command, "--limit", str(limit)], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                told = json.loads(done.stdout)
            else:
                print(done.stderr, file=sys.stderr)
                told = {"error": [f"ended with {done.returncode}", *done.stderr.strip().splitlines()][-1]}
            yield {"metric": metric, "rows": rows, "bytes_on_disk": size, **told}


def one_disk(folder: str, metric: str, limit: int) -> None:
    """Fit under a limit on the memory that the process may have of its own, and print what that took."""
    from smtl.dask import SMTLClassifier

    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    started = time.perf_counter()
    model = SMTLClassifier(metric, threshold=0.0, tol=TOL, n_jobs=2).fit_parquet(folder, "y")
    print(
        json.dumps(
            {
                "metric": metric,
                "seconds": round(time.perf_counter() - started, 1),
                "cpu": round(cpu_of_process(), 1),
                "passes": model.n_iter_,
                "gap": model.gap_,
                "limit": limit,
                "peak": peak_of_process(),
            }
        )
    )


def rivals(rows: int, metrics: tuple[str, ...]) -> Results:
    for metric in metrics:
        yield fit_on_cluster(metric, rows, 2)
    from dask.distributed import Client, LocalCluster, wait

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="6GB", dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        X, y = (one.persist() for one in collection(rows))
        wait([X, y])
        for name, fit in {"xgboost.dask": xgboost_rival, "dask_ml": dask_ml_rival}.items():
            started = time.perf_counter()
            try:
                fit(client, X, y)
            except ImportError as error:
                yield {"metric": name, "rows": rows, "error": str(error)}
            else:
                yield {"metric": name, "rows": rows, "seconds": round(time.perf_counter() - started, 2)}


def xgboost_rival(client, X, y) -> None:
    from xgboost import dask as xgboost

    xgboost.DaskXGBClassifier(n_estimators=100, tree_method="hist").fit(X, y)


def dask_ml_rival(client, X, y) -> None:
    from dask_ml.linear_model import LogisticRegression

    LogisticRegression(solver="lbfgs", max_iter=100).fit(X, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["workers", "local", "memory", "disk", "rivals", "one-disk"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--metric", choices=METRICS, help="By default all of them.")
    parser.add_argument("--folder", default="")
    parser.add_argument("--limit", type=int, default=1_000_000_000, help="Bytes that fit_parquet may have.")
    given = parser.parse_args()
    metrics = METRICS if given.metric is None else (given.metric,)
    if given.what == "one-disk":
        one_disk(given.folder, *metrics, given.limit)
    elif given.what == "disk":
        tell(disk(given.rows, metrics, given.limit))
    else:
        tell({"workers": workers, "local": local, "memory": memory, "rivals": rivals}[given.what](given.rows, metrics))


def tell(results: Results) -> None:
    """Print one table, in Markdown, and each result as soon as it is there on standard error."""
    rows = []
    for result in results:
        rows.append({**result, "load": round(os.getloadavg()[0], 1)})
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    names = list(dict.fromkeys(name for row in rows for name in row))
    for line in (names, ["---"] * len(names), *([row.get(name, "") for name in names] for row in rows)):
        print("|", " | ".join(f"{one:.4g}" if isinstance(one, float) else str(one) for one in line), "|")


if __name__ == "__main__":
    main()
