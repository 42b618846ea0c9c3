"""Features as a learner can take them: without holes, on one scale, and dense where it has to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

__all__ = ["Features"]

N_COMPONENTS = 100  # directions that sparse features are reduced to


class Features:
    """A transformer of X that is made for the data it first sees.

    Parameters
    ----------
    scale : bool
        Whether to fill holes with the column's mean, and to bring columns to one scale: dense ones to variance 1,
        sparse ones to a largest absolute value of 1.
    dense : bool
        Whether sparse features are reduced to a dense basis, their leading singular directions.
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
            self._steps = [SimpleImputer(keep_empty_features=True), MaxAbsScaler() if sparse else StandardScaler()]
        if reduce:
            n_components = min(N_COMPONENTS, *X.shape)
            self._steps.append(TruncatedSVD(n_components, random_state=self.random_state))
        for step in self._steps:
            X = step.fit_transform(X)
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
