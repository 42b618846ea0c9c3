"""Rows of a sparse matrix, collected block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["SparseRows"]


class SparseRows:
    """Rows of a sparse matrix, collected block by block: 12 bytes an entry."""

    def __init__(self) -> None:
        self.counts: list[npt.NDArray[np.int64]] = []
        self.indices: list[npt.NDArray[np.integer[Any]]] = []
        self.data: list[npt.NDArray[np.float64]] = []

    def add(
        self, counts: Sequence[int], indices: Sequence[int], data: Sequence[float] | npt.NDArray[np.float64]
    ) -> None:
        """Add rows; ValueError, and nothing added, if indices of a row do not increase."""
        n = np.array(counts, dtype=np.int64)
        where = np.array(indices, dtype=np.int64)
        rising = np.diff(where) > 0
        starts = np.cumsum(n)[:-1]  # an entry that begins a row need not be larger than the one before it
        starts = starts[(starts > 0) & (starts < len(where))]
        rising[starts - 1] = True
        if not rising.all():
            raise ValueError("indices must increase")
        self.counts.append(n)
        small = len(where) == 0 or where.max() < 2**31
        self.indices.append(where.astype(np.int32) if small else where)
        self.data.append(np.array(data, dtype=np.float64))

    def __len__(self) -> int:
        return sum(map(len, self.counts))

    def smallest(self) -> int:
        """Return the smallest index, -1 if there is no entry."""
        return min((int(indices.min()) for indices in self.indices if len(indices)), default=-1)

    def largest(self) -> int:
        """Return the largest index, -1 if there is no entry."""
        return max((int(indices.max()) for indices in self.indices if len(indices)), default=-1)

    def matrix(self, n_columns: int, shift: int = 0) -> Any:
        """Return all rows, as a CSR matrix of float64; ``shift`` is subtracted from the indices."""
        counts = np.concatenate(self.counts)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        indices = np.concatenate(self.indices) - np.int32(shift)
        X = sp.csr_matrix((np.concatenate(self.data), indices, indptr), shape=(len(counts), n_columns))
        X.eliminate_zeros()
        return X
