"""Fits on a cluster beside the same in memory, on a few rows."""

from __future__ import annotations

import dask.array as da

import smtl
from smtl.dask import SMTLClassifier
from tests.seeds import new_rng

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


def fit_both(X, Y, metric="f1", chunks=110, patience=20.0, **options):
    options = {"C": 5.0, "threshold": 0.0, "tol": TOL, **options}
    local = smtl.SMTLClassifier(metric, **{k: v for k, v in options.items() if k != "checkpoint"}).fit(X, Y)
    model = SMTLClassifier(metric, **options, patience=patience)
    return model.fit(da.from_array(X, chunks=(chunks, -1)), da.from_array(Y, chunks=(chunks, -1))), local
