"""Data four times as large as what a process may have: the same model as of the rows that they repeat."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import smtl
from smtl.dask import SMTLClassifier
from tests.seeds import new_rng

N_ROWS, N_FEATURES = 50_000, 100  # 20 MB a file
C = 1e-3
LIMIT = 650_000_000  # bytes, of which about 300 MB go to what is imported

FIT = """
import json, resource, sys
folder, limit = sys.argv[1], int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
from smtl.dask import SMTLClassifier
C = float(sys.argv[3])
model = SMTLClassifier("log", "ridge", C=C, threshold=0.0, fit_intercept=False, tol=0.1).fit_parquet(folder, "y")
# Not ru_maxrss, which a process has from the one that started it.
peak = next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({"peak": peak, "gap": model.gap_, "objective": model.objective_, "bound": model.dual_bound_}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a process's own memory are Linux's")
def test_files_four_times_as_large_as_the_limit(tmp_path, capsys):
    rng = new_rng()
    X = rng.standard_normal((N_ROWS, N_FEATURES), dtype=np.float32)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=N_ROWS) > 2.0).astype(np.int8)
    table = pa.table({f"x{j}": X[:, j] for j in range(N_FEATURES)} | {"y": y})
    one = tmp_path / "0.parquet"
    pq.write_table(table, one, compression="none", use_dictionary=False, row_group_size=25_000)
    model = SMTLClassifier("log", "ridge", C=C, threshold=0.0, fit_intercept=False, tol=0.1)
    model.fit_parquet(one, "y")  # compiles, which takes memory of its own
    n_copies = -(-4 * LIMIT // one.stat().st_size)
    for k in range(1, n_copies):
        os.link(one, tmp_path / f"{k}.parquet")
    command = [sys.executable, "-c", FIT, str(tmp_path), str(LIMIT), str(C / n_copies)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    with capsys.disabled():
        print(f"\n{n_copies * one.stat().st_size:,} bytes, limit {LIMIT:,}, peak {told['peak']:,}", end=" ")
    assert told["peak"] < LIMIT
    # The sum of losses of rows that are all repeated is so many times that of the rows.
    local = smtl.SMTLClassifier("log", "ridge", C=C, fit_intercept=False, threshold=0.0, tol=1e-3).fit(X, y)
    assert told["gap"] <= 0.1
    assert told["bound"] <= local.objective_ * (1.0 + 1e-9)
    assert local.dual_bound_ <= told["objective"] * (1.0 + 1e-9)
