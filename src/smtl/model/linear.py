"""A whole pipeline as one linear function: filling, scaling and weights are all linear where nothing is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.estimators.held_out import own_scores
from smtl.model.plain import plain_model

__all__ = ["LinearForm", "linear_form"]

Float: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LinearForm:
    """Scores as a function of features as they come.

    Attributes
    ----------
    fill : ndarray of shape (n_features,)
        What a missing feature counts as; NaN where the model takes no missing features.
    coef : ndarray of shape (n_tasks, n_features)
        Weights for features on the scale they come in.
    intercept : ndarray of shape (n_tasks,)
        Intercepts.
    """

    fill: Float
    coef: Float
    intercept: Float

    def scores(self, X: Any, task: npt.NDArray[np.intp] | None = None) -> Float:
        """Return scores with a column a task, or one column where each row has a task.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            Features.
        task : ndarray of shape (n_samples,), optional
            The number of each row's task.

        Returns
        -------
        ndarray of shape (n_samples, n_tasks) or (n_samples, 1)
            Above zero answers yes.
        """
        scores = self._scores(X, task)
        if np.isfinite(scores).all():
            return scores
        values = X.data if sp.issparse(X) else X
        missing = np.isnan(values)
        if np.isinf(values).any() or (missing.any() and np.isnan(self.fill).any()):
            what = "finite (or missing)" if np.isinf(values).any() else "there: this model fills none"
            raise ValueError(f"features must be {what}.")
        X = X.copy()
        columns = X.indices[missing] if sp.issparse(X) else np.nonzero(missing)[1]
        (X.data if sp.issparse(X) else X)[missing] = self.fill[columns]
        return self._scores(X, task)

    def _scores(self, X: Any, task: npt.NDArray[np.intp] | None) -> Float:
        if task is None:
            return np.asarray(X @ self.coef.T + self.intercept)
        return np.asarray(own_scores(X, self.coef, task) + self.intercept[task])[:, None]


def linear_form(model: Any) -> LinearForm:
    """Return a model as one linear function.

    Parameters
    ----------
    model : SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model; a pipeline of filling, scaling and the classifier.

    Returns
    -------
    LinearForm
        The same scores, up to rounding.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from smtl import SMTLClassifier
    >>> X, Y = np.random.default_rng(0).normal(2.0, 3.0, size=(50, 4)), np.eye(2)[[0, 1] * 25]
    >>> model = make_pipeline(StandardScaler(), SMTLClassifier()).fit(X, Y)
    >>> np.allclose(linear_form(model).scores(X), model.decision_function(X))
    True
    """
    plain = plain_model(model)
    fill = np.full(len(plain.center), np.nan) if plain.fill is None else plain.fill
    return LinearForm(fill, plain.weights, plain.intercepts - plain.weights @ plain.center)
