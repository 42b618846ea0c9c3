"""Inner searches by scikit-learn's grid search, for methods that have no path of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from smtl.experiments.methods.base import TOL, Search
from smtl.experiments.protocol import TaskFolds, mean_f1

__all__ = ["grid", "logistic", "searched", "small"]


def grid(least: float, largest: float, n: int) -> Any:
    """Return so many values, evenly by their logarithms; one alone is the middle, as both ends are extreme.

    Examples
    --------
    >>> grid(0.01, 1.0, 3).tolist(), grid(0.01, 1.0, 1).tolist()
    ([0.01, 0.1, 1.0], [0.1])
    """
    return np.geomspace(least, largest, n) if n > 1 else np.array([np.sqrt(least * largest)])


def searched(estimator: Any, parameter: str, values: Any, search: Search) -> GridSearchCV:
    """Return an estimator whose parameter is chosen by macro F1 on stratified folds."""
    folds = TaskFolds(search.cv, search.seed)
    return GridSearchCV(estimator, {parameter: list(values)}, scoring=_macro_f1, cv=folds, error_score="raise")


def _macro_f1(model: Any, X: Any, Y: Any) -> float:
    """Score for scikit-learn's searches; labels that are NaN are left out."""
    return mean_f1(Y, np.asarray(model.predict(X)))


def small(search: Search) -> Search:
    """Return what is searched by methods of many models.

    Examples
    --------
    >>> small(Search(cv=5, n_values=20))
    Search(cv=3, n_values=3, seed=0)
    """
    return replace(search, cv=min(search.cv, 3), n_values=min(search.n_values, 3))


def logistic(search: Search) -> LogisticRegression:
    """Return the logistic regression that other methods are built over."""
    return LogisticRegression(tol=TOL, random_state=search.seed)
