"""A checksum of what a data set holds, whatever the order of its rows and the format they came in."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp

from smtl.datasets.dataset import Dataset

__all__ = ["checksum"]

# Rows at a time: a dense block is made sparse, and labels dense, one block after another.
_ROWS = 4096


def checksum(data: Dataset) -> str:
    """Return a checksum of features and labels.

    Each row is hashed: its features that are not 0, with their positions, its labels and its task. The hashes are
    summed modulo 2**64, so that the order of the rows does not count, nor whether X is dense or sparse. Names do not
    count either.

    Parameters
    ----------
    data : Dataset
        The data set.

    Returns
    -------
    str
        Sixteen hexadecimal digits.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> X, Y = np.array([[0.0, 0.5], [2.0, 0.0]]), np.array([[1], [0]])
    >>> checksum(Dataset(X, Y))
    '84b33f5e0e548e1a'
    >>> checksum(Dataset(sp.csr_matrix(X[::-1]), Y[::-1])) == checksum(Dataset(X, Y))
    True
    >>> checksum(Dataset(X, Y[::-1])) == checksum(Dataset(X, Y))
    False
    """
    if not isinstance(data.X, np.ndarray) and not sp.issparse(data.X):
        return _of_table(data)
    total = 0
    for start in range(0, data.X.shape[0], _ROWS):
        rows = slice(start, start + _ROWS)
        X = sp.csr_matrix(data.X[rows], dtype=np.float64, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        X.data[np.isnan(X.data)] = np.nan  # of the many bit patterns for NaN, one
        Y = data.Y[rows].toarray() if sp.issparse(data.Y) else data.Y[rows].reshape(X.shape[0], -1)
        labels = np.where(np.isnan(Y), -1, Y).astype("<i1", order="C")
        ends = X.indptr.tolist()
        places, values = X.indices.astype("<i8").tobytes(), X.data.astype("<f8").tobytes()
        tasks = [b""] * X.shape[0] if data.tasks is None else [str(task).encode() for task in data.tasks[rows].tolist()]
        for i, task in enumerate(tasks):
            a, b = 8 * ends[i], 8 * ends[i + 1]
            row = blake2b(places[a:b] + values[a:b] + labels[i].tobytes() + task, digest_size=8)
            total += int.from_bytes(row.digest(), "little")
    return f"{total % 2**64:016x}"


def _of_table(data: Dataset) -> str:
    """Return the checksum of a table: of its rows as text, in any order."""
    n = data.X.shape[0]
    Y = data.Y.reshape(n, -1)
    cells = [column.cast("string").fill_null("\0").to_pylist() for column in data.X.columns if _is_plain(column)]
    labels = np.where(np.isnan(Y), -1, Y).astype("<i1", order="C")
    total = 0
    for i in range(n):
        row = blake2b("\1".join(column[i] for column in cells).encode() + labels[i].tobytes(), digest_size=8)
        total += int.from_bytes(row.digest(), "little")
    return f"{total % 2**64:016x}"


def _is_plain(column: Any) -> bool:
    import pyarrow as pa

    return not (pa.types.is_nested(column.type) or pa.types.is_binary(column.type))
