"""Features as a learner can take them: without holes, on one scale, and dense where it has to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

__all__ = ["Features", "SparseScaler", "SparseToDense"]

N_COMPONENTS = 100  # directions that sparse features are reduced to
FULL_FROM = 0.1  # share of entries from which on a column of a sparse matrix is treated as a dense one


class SparseScaler:
    """Brings the columns of a sparse matrix to one scale, and keeps it sparse.

    Columns whose standard deviation is above 1 are brought to 1. Others stay: that a word is rare, or a level is, is
    said by its scale.

    Examples
    --------
    >>> X = sp.csr_array([[0.5, 40.0], [0.0, 60.0]])
    >>> SparseScaler().fit(X).scale
    array([1. , 0.1])
    """

    def fit(self, X: Any) -> SparseScaler:
        """Learn the scale of each column."""
        X = sp.csc_array(X)
        n = max(X.shape[0], 1)
        mean, square = X.sum(axis=0) / n, X.multiply(X).sum(axis=0) / n
        spread = np.sqrt(np.maximum(square - mean**2, 0.0))
        self.scale = 1.0 / np.maximum(spread, 1.0)
        return self

    def transform(self, X: Any) -> Any:
        """Return other rows, treated alike."""
        return sp.csr_array(X) @ sp.diags_array(self.scale)


class SparseToDense:
    """Makes a sparse matrix dense: full columns stay, the leading singular directions of the others come behind them.

    Parameters
    ----------
    random_state : int
        The seed.

    Examples
    --------
    >>> X = sp.hstack([np.arange(200.0)[:, None], sp.eye_array(200)], format="csr")
    >>> SparseToDense(0).fit(X).transform(X).shape
    (200, 101)
    """

    def __init__(self, random_state: int) -> None:
        self.random_state = random_state

    def fit(self, X: Any) -> SparseToDense:
        """Learn which columns are full, and the directions of the others."""
        X = sp.csc_array(X)
        full = _full(X)
        self.full, self.rest = np.flatnonzero(full), np.flatnonzero(~full)
        kept = X[:, self.full].toarray()
        self.center = kept.mean(axis=0)
        n_components = min(N_COMPONENTS, X.shape[0], len(self.rest))
        self.components = np.zeros((len(self.rest), 0))
        if n_components:
            rest = X[:, self.rest].tocsr()
            svd = TruncatedSVD(n_components, random_state=self.random_state).fit(rest)
            # The first direction counts as much as one of the full columns.
            spread = float(np.sqrt(svd.explained_variance_.max())) if len(self.full) else 1.0
            self.components = svd.components_.T / (spread or 1.0)
        return self

    def transform(self, X: Any) -> Any:
        """Return other rows, treated alike."""
        X = sp.csc_array(X)
        return np.hstack([X[:, self.full].toarray() - self.center, X[:, self.rest].tocsr() @ self.components])


def _full(X: Any) -> Any:
    """Return which columns of a CSC array have many entries."""
    return np.diff(X.indptr) >= FULL_FROM * X.shape[0]


class Features:
    """A transformer of X that is made for the data it first sees.

    Parameters
    ----------
    scale : bool
        Whether to fill holes with the column's mean, and to bring columns to one scale; see `SparseScaler` for sparse
        ones.
    dense : bool
        Whether sparse features are made dense; see `SparseToDense`.
    random_state : int, default=0
        The seed of that reduction.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [2.0, np.nan], [4.0, 3.0]])
    >>> Features(scale=True, dense=True).fit_transform(X).round(2)
    array([[-1.22, -1.22],
           [ 0.  ,  0.  ],
           [ 1.22,  1.22]])
    >>> Features(scale=False, dense=True).fit_transform(sp.eye_array(200, format="csr")).shape
    (200, 100)
    """

    def __init__(self, *, scale: bool, dense: bool, random_state: int = 0) -> None:
        self.scale = scale
        self.dense = dense
        self.random_state = random_state
        self._steps: list[Any] = []

    def fit_transform(self, X: Any) -> Any:
        """Choose the steps, fit them, and return the result.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray or sparse array
            The transformed features.
        """
        sparse, reduce = sp.issparse(X), sp.issparse(X) and self.dense
        self._steps = []
        if self.scale or reduce:
            self._steps = [SimpleImputer(keep_empty_features=True), SparseScaler() if sparse else StandardScaler()]
        if reduce:
            self._steps.append(SparseToDense(self.random_state))
        for step in self._steps:
            X = step.fit(X).transform(X)
        return _plain(X)

    def transform(self, X: Any) -> Any:
        """Return other rows, treated alike.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray or sparse array
            The transformed features.
        """
        for step in self._steps:
            X = step.transform(X)
        return _plain(X)


def _plain(X: Any) -> Any:
    """Return rows that can be indexed, in one piece."""
    return X.tocsr() if sp.issparse(X) else np.ascontiguousarray(X)
