"""Fits on a real cluster of processes: the same model as in memory."""

from __future__ import annotations

import subprocess
import sys

import cloudpickle
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import smtl
from smtl.dask import SMTLClassifier, SMTLClassifierCV, cluster
from smtl.metrics import ContingencyMetric
from smtl.model import load_model
from tests.seeds import new_rng
from tests.unit.dask.fits import TOL, draw, fit_both, same

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests


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
