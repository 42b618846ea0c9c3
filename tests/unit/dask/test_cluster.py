"""Fits on a real cluster of processes: the same model as in memory, and no hanging when something is lost."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import time

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from dask.distributed import Client, LocalCluster

import smtl
from smtl.dask import ClusterError, SMTLClassifier, SMTLClassifierCV, SourceChangedError, cluster
from tests.seeds import new_rng

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests

TOL = 1e-2
LONGEST = 240.0  # seconds that a test may take, on a machine with other things to do


@pytest.fixture(autouse=True)
def time_limit():
    """End a test that hangs, with what all threads were at."""
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session")
def workers():
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "900MB", "dashboard_address": None}
    quickly = {"distributed.scheduler.allowed-failures": 1, "distributed.deploy.lost-worker-timeout": "100ms"}
    with dask.config.set(quickly), LocalCluster(**options) as local:
        yield local


@pytest.fixture
def client(workers):
    with Client(workers) as connected:
        for _ in range(60):  # a worker that was lost in the last test is replaced once the cluster has seen it go
            workers.scale(2)
            if len(connected.scheduler_info()["workers"]) == 2:
                break
            time.sleep(1.0)
        yield connected


def draw(n=400, d=5, m=2):
    rng = new_rng()
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, m)) + rng.normal(size=(n, m)) > 1.0).astype(float)
    Y[0], Y[1] = 1.0, 0.0
    return X, Y


def same(model, local):
    assert abs(model.objective_ - local.objective_) <= TOL * local.objective_
    assert model.dual_bound_ <= local.objective_ * (1.0 + 1e-9)
    assert local.dual_bound_ <= model.objective_ * (1.0 + 1e-9)


def fit_both(X, Y, metric="f1", chunks=110, **options):
    options = {"C": 5.0, "threshold": 0.0, "tol": TOL, **options}
    local = smtl.SMTLClassifier(metric, **options).fit(X, Y)
    model = SMTLClassifier(metric, **options, patience=20.0)
    return model.fit(da.from_array(X, chunks=(chunks, -1)), da.from_array(Y, chunks=(chunks, -1))), local


@pytest.mark.parametrize(("metric", "kept"), [("auc", True), ("f1", False), ("log", True), ("ap", False)])
def test_arrays(client, monkeypatch, metric, kept):
    if not kept:  # read again in every pass, as what does not fit the workers is
        monkeypatch.setattr(cluster, "KEPT_SHARE", 0.0)
    X, Y = draw()
    Y[5:20, 0] = np.nan
    model, local = fit_both(X, Y, metric)
    same(model, local)
    assert type(model.plain()) is smtl.SMTLClassifier


def test_forms_of_arrays(client):
    X, Y = draw()
    local = smtl.SMTLClassifier("f1", C=5.0, tol=TOL).fit(X, Y[:, 0])
    columns_apart = da.from_array(X, chunks=(130, 2))
    model = SMTLClassifier("f1", C=5.0, tol=TOL).fit(columns_apart, da.from_array(Y[:, 0], chunks=77))
    same(model, local)
    blocks = da.from_array(X, chunks=(130, -1)).map_blocks(sp.csr_array)
    same(SMTLClassifier("f1", C=5.0, tol=TOL).fit(blocks, Y[:, 0]), local)
    lazy = model.predict(columns_apart)
    assert isinstance(lazy, da.Array)
    np.testing.assert_array_equal(lazy.compute(), model.predict(X))


def test_data_frames_and_tasks(client):
    X, Y = draw()
    site = np.where(np.arange(len(X)) % 3 == 0, "north", "south")
    frame = pd.DataFrame(X, columns=list("abcde")).assign(site=site, y=Y[:, 0])
    lazy = dd.from_pandas(frame, npartitions=5)
    lazy = lazy[lazy["a"] > -9.0]  # divisions are known, lengths are not
    options = {"C": 5.0, "threshold": 0.0, "tol": TOL}
    local = smtl.SMTLClassifier("log", **options).fit(frame[list("abcde")], frame["y"], frame["site"])
    model = SMTLClassifier("log", **options).fit(lazy[list("abcde")], lazy["y"], lazy["site"])
    same(model, local)
    assert model.feature_names_in_.tolist() == list("abcde")
    answers = model.predict_proba(lazy[list("abcde")], lazy["site"])
    wanted = model.predict_proba(frame[list("abcde")], frame["site"])
    np.testing.assert_allclose(answers.compute().to_numpy(), wanted)
    with pytest.raises(ValueError, match="y must be divided as X is, into 5 partitions, got 2"):
        SMTLClassifier().fit(lazy[list("abcde")].clear_divisions(), lazy["y"].repartition(npartitions=2))
    with pytest.raises(ValueError, match="X must hold numbers"):
        SMTLClassifier().fit(lazy[["a", "site"]], lazy["y"])


def test_cross_validation(client):
    X, Y = draw()
    lazy = da.from_array(X, chunks=(150, -1))
    model = SMTLClassifierCV("auc", "ridge", Cs=2, cv=2, tol=TOL).fit(lazy, Y)
    same(model, smtl.SMTLClassifier("auc", "ridge", C=model.C_, threshold=0.0, tol=TOL).fit(X, Y))


def test_messages():
    with pytest.raises(ValueError, match="X must be a dask.array or a dask.dataframe, got list".replace(".", r"\.")):
        SMTLClassifier().fit([[0.0]], [1])


def disturbed(monkeypatch, disturb, at=5):
    """Do something in the middle of a fit: while the tasks of a round are under way."""
    asked, before = [], cluster._PassOnCluster._round

    def after_some(self, todo):
        futures = before(self, todo)
        asked.append(todo)
        if len(asked) == at:
            disturb()
        return futures

    monkeypatch.setattr(cluster._PassOnCluster, "_round", after_some)
    return asked


def test_a_worker_that_leaves(client, monkeypatch):
    first = next(iter(client.scheduler_info()["workers"]))
    asked = disturbed(monkeypatch, lambda: client.retire_workers([first], close_workers=True))
    same(*fit_both(*draw()))
    assert len(asked) > 5


def test_a_worker_that_is_killed(client, monkeypatch):
    process = next(iter(client.run(os.getpid).values()))
    asked = disturbed(monkeypatch, lambda: os.kill(process, signal.SIGKILL))
    same(*fit_both(*draw(), "auc"))
    assert len(asked) > 5


def test_a_restarted_client(client, monkeypatch):
    disturbed(monkeypatch, lambda: client.restart(wait_for_workers=False))
    with pytest.raises(ClusterError, match="client was closed or restarted"):
        fit_both(*draw())


def test_all_workers_gone(workers, client, monkeypatch):
    monkeypatch.setattr(SMTLClassifier, "_fit_rows", _impatient(SMTLClassifier._fit_rows))
    disturbed(monkeypatch, lambda: workers.scale(0))
    started = time.monotonic()
    with pytest.raises(ClusterError, match="there has been no worker"):
        fit_both(*draw())
    assert time.monotonic() - started < 60.0


def _impatient(fit):
    def fit_rows(self, rows):
        rows.patience = 2.0
        return fit(self, rows)

    return fit_rows


def test_a_scheduler_that_is_gone(monkeypatch):
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as local, Client(local):
        monkeypatch.setattr(SMTLClassifier, "_fit_rows", _impatient(SMTLClassifier._fit_rows))
        disturbed(monkeypatch, lambda: local.close(timeout=10))
        with pytest.raises(ClusterError, match=r"scheduler"):
            fit_both(*draw())


def test_a_source_that_changes(client, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "KEPT_SHARE", 0.0)
    X, Y = draw()
    np.save(tmp_path / "X.npy", X)
    lazy = da.from_delayed(dask.delayed(np.load, pure=True)(tmp_path / "X.npy"), X.shape, X.dtype)
    disturbed(monkeypatch, lambda: np.save(tmp_path / "X.npy", X + 1e-6), at=3)
    with pytest.raises(SourceChangedError, match="have changed under way"):
        SMTLClassifier("f1", C=5.0, tol=TOL).fit(lazy, da.from_array(Y, chunks=-1))
