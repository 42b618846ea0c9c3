"""Fits on a real cluster of processes: the same model as in memory, and no hanging when something is lost."""

from __future__ import annotations

import os
import signal
import subprocess
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
from smtl.metrics import ContingencyMetric
from smtl.model import load_model
from tests.seeds import new_rng

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests

TOL = 1e-2


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
    local = smtl.SMTLClassifier(metric, **{k: v for k, v in options.items() if k != "checkpoint"}).fit(X, Y)
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


class Costs(ContingencyMetric):
    """A formula of a user's."""

    concave_in_fp = True

    def delta(self, tp, fp, fn, tn):
        return (3.0 * fn + fp) / (3.0 * (tp + fn) + fp + tn)


@pytest.mark.parametrize("metric", ["auc", "f1", "f2", "error", "log", "jaccard", "ap", Costs()], ids=repr)
def test_partitions_at_random(client, metric):
    """The objective and the bound are those of one piece; partitions may be empty, or have one class."""
    rng = new_rng()
    X, Y = draw(n=150)
    if rng.random() < 0.5:
        order = np.argsort(Y[:, 0])
        X, Y = X[order], Y[order]
    cuts = np.sort(rng.integers(0, len(X) + 1, int(rng.integers(0, 20))))
    chunks = tuple(np.diff([0, *cuts.tolist(), len(X)]).tolist())
    same(*fit_both(X, Y, metric, chunks, penalty=str(rng.choice(["l11", "l21", "trace", "ridge"]))))


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


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_cross_validation(client, form):
    X, Y = draw()
    lazy = da.from_array(X, chunks=(150, -1)).map_blocks(form)
    model = SMTLClassifierCV("auc", "ridge", Cs=[0.3, 1.0], cv=2, tol=TOL).fit(lazy, Y)
    assert model.C_ in (0.3, 1.0)
    same(model, smtl.SMTLClassifier("auc", "ridge", C=model.C_, threshold=0.0, tol=TOL).fit(X, Y))


def test_cross_validation_of_tasks_with_rows_of_their_own(client):
    X, Y = draw()
    site = np.where(np.arange(len(X)) % 3 == 0, "north", "south")
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcde")).assign(site=site, y=Y[:, 0]), npartitions=3)
    parts = frame[list("abcde")], frame["y"], frame["site"]
    model = SMTLClassifierCV("log", "l21", Cs=[0.1, 1.0], cv=2, tol=TOL, scale=True).fit(*parts)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"C": model.C_, "threshold": 0.0, "tol": TOL}
    same(model, smtl.SMTLClassifier("log", "l21", **options).fit(scaled, Y[:, 0], site))


@pytest.mark.parametrize("metric", ["log", "f1"])
def test_weights(client, metric):
    X, Y = draw()
    weight = new_rng().integers(0, 3, len(X))
    weight[:2] = 1
    copies = np.repeat(np.arange(len(X)), weight)
    options = {"C": 5.0, "threshold": 0.0, "tol": TOL}
    local = smtl.SMTLClassifier(metric, **options).fit(X[copies], Y[copies])
    model = SMTLClassifier(metric, **options).fit(da.from_array(X, chunks=(90, -1)), Y, sample_weight=weight)
    same(model, local)


def test_the_command_uses_a_cluster(client, tmp_path):
    X, Y = draw()
    frame = pd.DataFrame(X, columns=list("abcde")).assign(calm=Y[:, 0], sad=Y[:, 1])
    (tmp_path / "songs").mkdir()
    for k in range(3):
        frame[k::3].to_parquet(tmp_path / "songs" / f"{k}.parquet", index=False)
    options = ["--labels", "calm,sad", "--metric", "auc", "--C", "5", "-o", "songs.skops"]
    command = [sys.executable, "-m", "smtl.cli", "fit", str(tmp_path / "songs"), "--cluster", client.scheduler.address]
    done = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    local = smtl.SMTLClassifier("auc", C=5.0).fit(X, Y)
    scores = load_model(tmp_path / "songs.skops").decision_function(frame[list("abcde")])
    wanted = local.decision_function(X)
    for got, column in zip(scores.T, wanted.T, strict=True):
        assert np.corrcoef(got, column)[0, 1] > 0.99


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


@pytest.mark.parametrize("always", [False, True], ids=["once", "always"])
def test_a_worker_that_runs_out_of_memory(client, tmp_path, monkeypatch, always):
    monkeypatch.setattr(cluster, "KEPT_SHARE", 0.0)  # so that the source is read in each pass
    X, Y = draw()
    hungry = tmp_path / "hungry"

    def read():
        if hungry.exists():
            if not always:
                hungry.unlink()
            wanted = np.ones(2 * 900_000_000 // 8)  # twice the worker's limit: its nanny kills it
            time.sleep(60.0)
            return X[: len(wanted)]
        return X

    lazy = da.from_delayed(dask.delayed(read, pure=False)(), X.shape, X.dtype)
    options = {"C": 5.0, "threshold": 0.0, "tol": TOL}
    asked = disturbed(monkeypatch, hungry.touch)
    model = SMTLClassifier("f1", **options)
    if always:
        with pytest.raises(ClusterError, match=r"most often for want of memory\. Make partitions smaller"):
            model.fit(lazy, da.from_array(Y, chunks=-1))
        return
    same(model.fit(lazy, da.from_array(Y, chunks=-1)), smtl.SMTLClassifier("f1", **options).fit(X, Y))
    assert len(asked) > 5
    assert not hungry.exists()


def test_a_lost_fit_goes_on_from_its_checkpoint(client, two_workers, tmp_path, monkeypatch):
    X, Y = draw()
    with monkeypatch.context() as patched:
        whole = disturbed(patched, lambda: None)
        wanted, _ = fit_both(X, Y, "auc")
    with monkeypatch.context() as patched:
        disturbed(patched, lambda: client.restart(wait_for_workers=False), at=8)
        with pytest.raises(ClusterError, match="with a checkpoint, it goes on where it was"):
            fit_both(X, Y, "auc", checkpoint=tmp_path / "passes")
    two_workers(client)
    again = disturbed(monkeypatch, lambda: None)
    model, local = fit_both(X, Y, "auc", checkpoint=tmp_path / "passes")
    same(model, local)
    for name in ("objective_", "dual_bound_", "n_iter_"):
        assert getattr(model, name) == getattr(wanted, name)
    np.testing.assert_array_equal(model.coef_, wanted.coef_)
    assert 0 < len(again) < len(whole)


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
