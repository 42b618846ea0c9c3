"""Features as a learner can take them: without holes, on one scale, and dense where it has to be."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

__all__ = ["Features", "SparseScaler", "SparseToDense"]

Float: TypeAlias = npt.NDArray[np.float64]

N_COMPONENTS = 100  # directions that sparse features are reduced to
NOTHING = 1e-10  # of the largest singular value: a direction of less is nothing but rounding
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

    def fit(self, X: Any, sample_weight: Float | None = None) -> SparseScaler:
        """Learn the scale of each column."""
        X = sp.csc_array(X)
        each = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        n = each.sum() or 1.0
        mean, square = each @ X / n, each @ X.multiply(X) / n
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

    def fit(self, X: Any, weights: Float | None = None) -> SparseToDense:
        """Learn which columns are full, and the directions of the others."""
        X = sp.csc_array(X)
        each = np.ones(X.shape[0]) if weights is None else weights
        column = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        full = np.bincount(column, each[X.indices], X.shape[1]) >= FULL_FROM * each.sum()
        self.full, self.rest = np.flatnonzero(full), np.flatnonzero(~full)
        kept = X[:, self.full].toarray()
        self.center = np.average(kept, axis=0, weights=each)
        n_components = min(N_COMPONENTS, X.shape[0], len(self.rest))
        self.components = np.zeros((len(self.rest), 0))
        if n_components:
            rest = X[:, self.rest].tocsr()
            svd = TruncatedSVD(n_components, random_state=self.random_state)
            # A row of weight w adds to the directions what w equal rows do.
            svd.fit(rest if weights is None else sp.diags_array(np.sqrt(each)) @ rest)
            found = svd.components_[svd.singular_values_ > NOTHING * svd.singular_values_.max()]
            # The first direction counts as much as one of the full columns.
            spread = _largest_spread(rest @ found.T, each) if len(self.full) else 1.0
            self.components = found.T / (spread or 1.0)
        return self

    def transform(self, X: Any) -> Any:
        """Return other rows, treated alike."""
        X = sp.csc_array(X)
        return np.hstack([X[:, self.full].toarray() - self.center, X[:, self.rest].tocsr() @ self.components])


def _largest_spread(X: Any, weights: Float) -> float:
    """Return the largest standard deviation of a column."""
    centred = X - np.average(X, axis=0, weights=weights)
    return float(np.sqrt(np.average(centred**2, axis=0, weights=weights).max(initial=0.0)))


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

    def fit_transform(self, X: Any, weights: Float | None = None) -> Any:
        """Choose the steps, fit them, and return the result.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
            Features.
        weights : ndarray of shape (n_samples,), optional
            What each row counts.

        Returns
        -------
        ndarray or sparse array
            The transformed features.
        """
        sparse, reduce = sp.issparse(X), sp.issparse(X) and self.dense
        self._steps = []
        if self.scale or reduce:
            filled = SimpleImputer(keep_empty_features=True).fit(X)
            if weights is not None:
                filled.statistics_ = _means(X, weights)
            X = filled.transform(X)
            scaler: Any = SparseScaler() if sparse else StandardScaler()
            X = scaler.fit(X, sample_weight=weights).transform(X)
            self._steps = [filled, scaler]
        if reduce:
            self._steps.append(SparseToDense(self.random_state).fit(X, weights))
            X = self._steps[-1].transform(X)
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


def _means(X: Any, weights: Float) -> Float:
    """Return the weighted mean of each column's known values; 0 where there is none."""
    if sp.issparse(X):
        missing = X.copy()
        missing.data = np.isnan(missing.data).astype(np.float64)
        known = X.copy()
        known.data = np.nan_to_num(known.data)
        sums, mass = weights @ known, weights.sum() - weights @ missing
    else:
        there = ~np.isnan(X)
        sums, mass = weights @ np.where(there, X, 0.0), weights @ there
    return np.asarray(sums / np.where(mass > 0.0, mass, 1.0))


def _plain(X: Any) -> Any:
    """Return rows that can be indexed, in one piece."""
    return X.tocsr() if sp.issparse(X) else np.ascontiguousarray(X)
