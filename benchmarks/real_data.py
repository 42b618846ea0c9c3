"""The ten real data sets of ``../shared/data``, for benchmarks and tests.

Conventions: rows are samples; ``X`` is float64, dense but for tmc2007 (CSR); ``Y`` is 0/1 of shape (n, m).
Multi-class sets become one-vs-rest columns, in sorted order of their classes. Training and test files are
joined, training rows first; `split` draws its own parts. What `load` returns is cached and read-only.
"""

import os
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from smtl.datasets import load_dataset, read_mulan
from smtl.datasets.known import SETS
from smtl.datasets.places import files_in

__all__ = ["DATA", "NAMES", "STANDARD", "available", "load", "split", "standard_split"]

Matrix = np.ndarray | sparse.csr_matrix

DATA = Path(os.environ.get("SMTL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")

NAMES = (
    "emotions",
    "yeast",
    "flags",
    "cal500",
    "scene",
    "tmc2007",
    "mediamill",
    "segmentation",
    "optdigits",
    "landmine",
)
# Those whose publishers give a training and a test file of their own, as ARFF.
STANDARD = ("emotions", "flags", "scene")


def available() -> bool:
    """Whether the files of all ten data sets are there."""
    return all(files_in(DATA, SETS[name]) for name in NAMES)


@cache
def load(name: str) -> tuple[Matrix, np.ndarray, np.ndarray | None]:
    """Return ``(X, Y, tasks)`` of one data set.

    ``tasks`` is None except for landmine: there the rows of all tasks are stacked, ``Y`` has shape (n,) and
    ``tasks``, of shape (n,), gives each row's task, from 0 to 28.
    """
    if name not in NAMES:
        raise ValueError(f"name must be one of {', '.join(NAMES)}, got {name!r} instead.")
    data = load_dataset(name, nominal="one-hot", folder=DATA, cache=False, download=False)
    X, Y, tasks = data.X, data.Y.astype(int), data.tasks
    for array in (*((X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)), Y, tasks):
        if array is not None:
            array.flags.writeable = False
    return X, Y, tasks


def split(name: str, seed: int = 0, train: float = 0.6) -> tuple[Matrix, np.ndarray, Matrix, np.ndarray]:
    """Return ``(X_train, Y_train, X_test, Y_test)`` of a random split, features scaled by the training part.

    Dense features are standardised; sparse ones are divided by their largest absolute value, which keeps them
    sparse. Labels that have one class only in the training part are dropped from both parts.
    """
    if name == "landmine":
        raise ValueError("name must be a data set whose tasks share rows, got 'landmine' instead; use load.")
    X, Y, _ = load(name)
    order = np.random.default_rng(seed).permutation(len(Y))
    n_train = round(train * len(Y))
    if not 0 < n_train < len(Y):
        raise ValueError(f"train must leave rows on both sides of the split, got {train!r} instead.")
    fit, rest = order[:n_train], order[n_train:]
    scaler = (MaxAbsScaler() if sparse.issparse(X) else StandardScaler()).fit(X[fit])
    kept = Y[fit].min(axis=0) < Y[fit].max(axis=0)
    return scaler.transform(X[fit]), Y[fit][:, kept], scaler.transform(X[rest]), Y[rest][:, kept]


def standard_split(name: str) -> tuple[Matrix, np.ndarray, Matrix, np.ndarray]:
    """Return ``(X_train, Y_train, X_test, Y_test)`` of the publishers' own training and test files, not scaled."""
    if name not in STANDARD:
        raise ValueError(f"name must be one of {', '.join(STANDARD)}, got {name!r} instead.")
    train, test = (read_mulan(DATA / name / f"{name}-{part}.arff") for part in ("train", "test"))
    return train.X, train.Y.astype(int), test.X, test.Y.astype(int)
