"""The ten real data sets of ``../shared/data``, for benchmarks and tests.

Conventions: rows are samples; ``X`` is float64, dense but for tmc2007 (CSR); ``Y`` is 0/1 of shape (n, m).
Multi-class sets become one-vs-rest columns, in sorted order of their classes. Training and test files are
joined, training rows first; `split` draws its own parts. What `load` returns is cached and read-only.
"""

import os
import re
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

__all__ = ["DATA", "NAMES", "available", "load", "split"]

Matrix = np.ndarray | sparse.csr_matrix

DATA = Path(os.environ.get("SMTL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")

# Each data set's files; those of ARFF sets lie beside one Mulan XML file that names the labels.
_FILES = {
    "emotions": ("emotions/emotions.arff",),
    "yeast": ("yeast/yeast.arff",),
    "flags": ("flags/flags.arff",),
    "cal500": ("cal500/cal500.arff",),
    "scene": ("scene/scene-train.arff", "scene/scene-test.arff"),
    "tmc2007": ("tmc2007-500/tmc2007-500.arff",),
    "mediamill": ("mediamill/mediamill-train.svm.bz2", "mediamill/mediamill-test.svm.bz2"),
    "segmentation": ("segment/segmentation.data", "segment/segmentation.test"),
    "optdigits": ("optdigits/optdigits.tra", "optdigits/optdigits.tes"),
    "landmine": ("landmine/LandmineData.mat",),
}
NAMES = tuple(_FILES)


def available() -> bool:
    """Whether the files of all ten data sets are there."""
    return all((DATA / file).is_file() for files in _FILES.values() for file in files)


@cache
def load(name: str) -> tuple[Matrix, np.ndarray, np.ndarray | None]:
    """Return ``(X, Y, tasks)`` of one data set.

    ``tasks`` is None except for landmine: there the rows of all tasks are stacked, ``Y`` has shape (n,) and
    ``tasks``, of shape (n,), gives each row's task, from 0 to 28.
    """
    if name not in _FILES:
        raise ValueError(f"name must be one of {', '.join(NAMES)}, got {name!r} instead.")
    paths = [DATA / file for file in _FILES[name]]
    tasks = None
    if name == "landmine":
        X, Y, tasks = _load_landmine(paths[0])
    elif name == "mediamill":
        X, Y = _load_mediamill(paths)
    elif name == "segmentation":
        table = np.vstack([np.loadtxt(path, dtype=str, delimiter=",", skiprows=5) for path in paths])
        X, Y = table[:, 1:].astype(float), _one_vs_rest(table[:, 0])
    elif name == "optdigits":
        table = np.vstack([np.loadtxt(path, delimiter=",") for path in paths])
        X, Y = np.ascontiguousarray(table[:, :-1]), _one_vs_rest(table[:, -1])
    else:
        X, Y = _load_arff(paths)
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


def _load_arff(paths: list[Path]) -> tuple[Matrix, np.ndarray]:
    """Read ARFF files that share one header; the labels come in the order of the XML file."""
    headers, tables = zip(*(_read_arff(path) for path in paths), strict=True)
    if any(header != headers[0] for header in headers):
        raise ValueError(f"attributes must be the same in all of {[path.name for path in paths]}.")
    attributes = headers[0]
    (xml,) = paths[0].parent.glob("*.xml")
    labels = [label.attrib["name"] for label in ET.parse(xml).getroot().iterfind("{*}label")]
    names = list(attributes)
    features = [names.index(name) for name in names if name not in set(labels)]
    targets = [names.index(label) for label in labels]
    if sparse.issparse(tables[0]):
        table = sparse.vstack(tables, format="csr")
        return table[:, features], table[:, targets].toarray().astype(int)
    table = np.vstack(tables)
    X = np.hstack([_encode(table[:, j], attributes[names[j]]) for j in features])
    return X, table[:, targets].astype(int)


def _read_arff(path: Path) -> tuple[dict[str, str], Matrix]:
    """Return each attribute's type by name, without spaces, and the table of values.

    Covers these files only: no quoted names, no missing values, nominal values that are numbers.
    """
    header, data = re.split(r"(?im)^@data\s*\n", path.read_text(encoding="utf-8"), maxsplit=1)
    attributes = {
        name: re.sub(r"\s", "", kind) for name, kind in re.findall(r"(?im)^@attribute[ \t]+(\S+)[ \t]+(.+)$", header)
    }
    lines = data.split("\n")
    if not data.startswith("{"):
        return attributes, np.loadtxt(lines, delimiter=",", ndmin=2)
    rows = [line.strip("{} ").replace(",", " ").split() for line in lines if line]
    pairs = np.array([token for row in rows for token in row], dtype=float).reshape(-1, 2)
    starts = np.cumsum([0, *(len(row) // 2 for row in rows)])
    shape = (len(rows), len(attributes))
    return attributes, sparse.csr_matrix((pairs[:, 1], pairs[:, 0].astype(np.int32), starts), shape=shape)


def _encode(column: np.ndarray, kind: str) -> np.ndarray:
    """Give a nominal column one 0/1 column per value; numeric and {0,1} columns stay as they are."""
    if not kind.startswith("{") or kind == "{0,1}":
        return column[:, None]
    return (column[:, None] == np.array(kind.strip("{}").split(","), dtype=float)).astype(float)


def _load_mediamill(paths: list[Path]) -> tuple[np.ndarray, np.ndarray]:
    # Feature indices start at 1 and labels at 0; a row may have no label.
    parts = [load_svmlight_file(str(p), n_features=120, multilabel=True, zero_based=False) for p in paths]
    Y = np.zeros((sum(len(labels) for _, labels in parts), 101), dtype=int)
    for row, labels in enumerate(labels for _, part in parts for labels in part):
        Y[row, np.array(labels, dtype=int)] = 1
    return np.vstack([X.toarray() for X, _ in parts]), Y


def _load_landmine(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cells: dict[str, Any] = io.loadmat(path)
    features, labels = cells["feature"].ravel(), cells["label"].ravel()
    tasks = np.repeat(np.arange(len(features)), [len(X) for X in features])
    X = np.ascontiguousarray(np.vstack(features))  # MATLAB stores by columns
    return X, np.vstack(labels).ravel().astype(int), tasks


def _one_vs_rest(classes: np.ndarray) -> np.ndarray:
    return (classes[:, None] == np.unique(classes)).astype(int)
