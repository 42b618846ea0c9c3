"""A whole pipeline as one linear function: filling, scaling and weights are all linear where nothing is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from smtl.estimators.held_out import own_scores
from smtl.model.scores import classifier_of

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
    >>> from smtl import SMTLClassifier
    >>> X, Y = np.random.default_rng(0).normal(2.0, 3.0, size=(50, 4)), np.eye(2)[[0, 1] * 25]
    >>> model = make_pipeline(StandardScaler(), SMTLClassifier()).fit(X, Y)
    >>> np.allclose(linear_form(model).scores(X), model.decision_function(X))
    True
    """
    final = classifier_of(model)
    coef, intercept = final.coef_.astype(np.float64), final.intercept_.astype(np.float64)
    fill = np.full(coef.shape[1], np.nan)
    # From the end to the beginning: what comes before the weights changes them.
    for _, step in reversed(model.steps[:-1] if isinstance(model, Pipeline) else []):
        if isinstance(step, StandardScaler):
            if step.scale_ is not None:
                coef = coef / step.scale_
            if step.with_mean:
                intercept = intercept - coef @ step.mean_
        elif isinstance(step, MaxAbsScaler):
            coef = coef / step.scale_
        elif isinstance(step, SimpleImputer) and not step.add_indicator and len(step.statistics_) == len(fill):
            fill = np.asarray(step.statistics_, dtype=np.float64)
        else:
            raise TypeError(f"a step must be SimpleImputer, StandardScaler or MaxAbsScaler, got {step!r} instead.")
    return LinearForm(fill, coef, intercept)
