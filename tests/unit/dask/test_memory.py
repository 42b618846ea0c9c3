"""Data four times as large as what the workers may have: the same model as of the rows that they repeat."""

from __future__ import annotations

import os
import sys

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster

import smtl
from smtl.dask import SMTLClassifier
from tests.seeds import new_rng

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests

N_ROWS, N_FEATURES = 50_000, 100  # 20 MB a partition
C = 1e-3
ROOM = 200_000_000  # bytes that the one worker may have beside what is imported and compiled


def memory():
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def process_and_peak():
    # Not ru_maxrss, which a process has from the one that started it.
    with open("/proc/self/status") as status:
        return os.getpid(), next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))


@pytest.mark.skipif(sys.platform != "linux", reason="where the most memory is told is Linux's")
def test_partitions_four_times_as_large_as_the_limit(tmp_path, capsys):
    rng = new_rng()
    X = rng.standard_normal((N_ROWS, N_FEATURES), dtype=np.float32)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=N_ROWS) > 2.0).astype(np.int8)
    np.save(tmp_path / "X.npy", X)
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(memory_limit=0, **options) as cluster, Client(cluster) as client:
        few = da.from_array(X[:2000], chunks=(1000, -1))
        SMTLClassifier("log", "ridge", C=C, threshold=0.0, fit_intercept=False, tol=0.1).fit(few, y[:2000])
        limit = next(iter(client.run(memory).values())) + ROOM
    n_parts = -(-4 * limit // X.nbytes)
    read = dask.delayed(np.load, pure=False)
    parts = [da.from_delayed(read(tmp_path / "X.npy"), X.shape, X.dtype) for _ in range(n_parts)]
    with LocalCluster(memory_limit=limit, **options) as cluster, Client(cluster) as client:
        before, _ = next(iter(client.run(process_and_peak).values()))
        model = SMTLClassifier("log", "ridge", C=C / n_parts, threshold=0.0, fit_intercept=False, tol=0.1)
        model.fit(da.concatenate(parts), np.tile(y, n_parts))
        after, peak = next(iter(client.run(process_and_peak).values()))
    with capsys.disabled():
        print(f"\n{n_parts * X.nbytes:,} bytes, limit {limit:,}, peak {peak:,}", end=" ")
    assert before == after, "no worker was killed and started again"
    assert n_parts * X.nbytes >= 4 * limit
    assert peak < limit
    # The sum of losses of rows that are all repeated is so many times that of the rows.
    local = smtl.SMTLClassifier("log", "ridge", C=C, threshold=0.0, fit_intercept=False, tol=1e-3).fit(X, y)
    assert model.gap_ <= 0.1
    assert model.dual_bound_ <= local.objective_ * (1.0 + 1e-9)
    assert local.dual_bound_ <= model.objective_ * (1.0 + 1e-9)
