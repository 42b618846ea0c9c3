"""Data four times as large as what the workers may have: the same model as of the rows that they repeat."""

from __future__ import annotations

import os
import resource
import sys

import cloudpickle
import dask
import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

import smtl
from smtl.dask import SMTLClassifier
from tests.seeds import new_rng

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests

N_ROWS, N_FEATURES = 50_000, 100  # 20 MB a partition
LIMIT = 420_000_000  # bytes of the one worker, of which about 220 MB go to what is imported


def process_and_peak():
    return os.getpid(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def test_partitions_four_times_as_large_as_the_limit(tmp_path, capsys):
    rng = new_rng()
    X = rng.standard_normal((N_ROWS, N_FEATURES), dtype=np.float32)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=N_ROWS) > 2.0).astype(np.int8)
    np.save(tmp_path / "X.npy", X)
    C, n_parts = 1e-3, -(-4 * LIMIT // X.nbytes)
    read = dask.delayed(np.load, pure=False)
    parts = [da.from_delayed(read(tmp_path / "X.npy"), X.shape, X.dtype) for _ in range(n_parts)]
    options = {"n_workers": 1, "threads_per_worker": 1, "memory_limit": LIMIT, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        before, _ = next(iter(client.run(process_and_peak).values()))
        model = SMTLClassifier("log", "ridge", C=C / n_parts, threshold=0.0, fit_intercept=False, tol=0.1)
        model.fit(da.concatenate(parts), np.tile(y, n_parts))
        after, peak = next(iter(client.run(process_and_peak).values()))
    with capsys.disabled():
        print(f"\n{n_parts * X.nbytes:,} bytes, limit {LIMIT:,}, peak {peak:,}", end=" ")
    assert before == after, "no worker was killed and started again"
    assert n_parts * X.nbytes >= 4 * LIMIT
    assert peak < LIMIT
    # The sum of losses of rows that are all repeated is so many times that of the rows.
    local = smtl.SMTLClassifier("log", "ridge", C=C, threshold=0.0, fit_intercept=False, tol=1e-3).fit(X, y)
    assert model.gap_ <= 0.1
    assert model.dual_bound_ <= local.objective_ * (1.0 + 1e-9)
    assert local.dual_bound_ <= model.objective_ * (1.0 + 1e-9)
