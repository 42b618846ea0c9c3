"""A data set's rows as text: numbers at their shortest, such that they read back exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from smtl.datasets.dataset import Dataset

__all__ = ["feature_rows", "label_rows", "unique", "writable_names"]

# Rows at a time: few enough that a sparse matrix never becomes dense as a whole.
_ROWS = 1024


def writable_names(data: Dataset) -> tuple[list[str], list[str]]:
    """Return the names of features and labels; x0, x1, ... and label0, label1, ... where there are none."""
    n_labels = data.Y.shape[1] if data.Y.ndim == 2 else 1
    features = data.feature_names or [f"x{j}" for j in range(data.X.shape[1])]
    labels = data.label_names or [f"label{j}" for j in range(n_labels)]
    return list(features), list(labels)


def unique(names: list[str], what: str) -> None:
    """Refuse names that occur twice."""
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"{what} must differ to be written, got {twice!r} twice; rename one.")


def feature_rows(X: Any, missing: str, infinite: str = "inf") -> Iterator[list[tuple[int, str]]]:
    """Return each row's values as (column, text): all of a dense row, those that are not 0 of a sparse one."""
    for start in range(0, X.shape[0], _ROWS):
        part = X[start : start + _ROWS]
        if not sp.issparse(part):
            for row in np.asarray(part, dtype=np.float64).tolist():
                yield [(j, _text(value, missing, infinite)) for j, value in enumerate(row)]
            continue
        part = sp.csr_matrix(part, dtype=np.float64, copy=True)
        part.sum_duplicates()
        part.eliminate_zeros()
        indices, data = part.indices.tolist(), part.data.tolist()
        for a, b in zip(part.indptr.tolist(), part.indptr[1:].tolist(), strict=False):
            yield [(j, _text(v, missing, infinite)) for j, v in zip(indices[a:b], data[a:b], strict=True)]


def label_rows(Y: Any) -> Iterator[list[str]]:
    """Return each row's labels as 0, 1 and, where there is none, the empty text."""
    texts = ("0", "1", "")
    for start in range(0, Y.shape[0], _ROWS):
        part = Y[start : start + _ROWS]
        part = np.asarray(part.toarray() if sp.issparse(part) else part, dtype=np.float64).reshape(part.shape[0], -1)
        wrong = ~(np.isnan(part) | (part == 0) | (part == 1))
        if wrong.any():
            raise ValueError(f"Y must hold 0, 1 and NaN, got {part[wrong][0]!r} instead.")
        for row in np.where(np.isnan(part), 2, part).astype(np.int8).tolist():
            yield [texts[label] for label in row]


def _text(value: float, missing: str, infinite: str) -> str:
    if value != value:
        return missing
    if value in (np.inf, -np.inf):
        return infinite if value > 0 else f"-{infinite}"
    return repr(value)
