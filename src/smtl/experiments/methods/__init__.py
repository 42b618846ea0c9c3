"""The methods that can be compared, each with its inner search for the strength of its penalty.

A new file in this folder, with a subclass of `Method` that sets ``name``, is all that a new method takes.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from smtl.experiments.methods.base import Method, Search
from smtl.experiments.methods.by_path import WithDefaults
from smtl.registry import import_all, unknown_name

__all__ = ["Method", "Search", "get_method", "method_names", "settings_of"]

import_all(__name__, __path__)


def method_names() -> list[str]:
    """Return the names of the methods, those of the paper's tables first.

    Returns
    -------
    list of str
        The names.

    Examples
    --------
    >>> len(method_names())
    21
    """
    return [kind.name for kind in sorted(Method.known.values(), key=lambda kind: (kind.order, kind.name))]


def get_method(name: str) -> Method:
    """Return a method by its name, or any estimator with its defaults.

    Parameters
    ----------
    name : str
        One of `method_names`; or that of a baseline, see `smtl.baselines.baseline_names`; or the path of a class or a
        function without arguments that returns an estimator, such as ``sklearn.neighbors.KNeighborsClassifier``. A
        classifier for one label at a time is fitted to each.

    Returns
    -------
    Method
        The method.

    Examples
    --------
    >>> get_method("sklearn.neighbors.KNeighborsClassifier").title
    'KNeighborsClassifier'
    """
    if name in Method.known:
        found: Method = Method.known[name]()
        return found
    module, _, attribute = name.rpartition(".")
    if module:
        return WithDefaults(name, attribute, _imported(name))
    from smtl.baselines import Baseline

    if name not in Baseline.known:
        raise unknown_name("method", name, {**Method.known, **Baseline.known})
    return WithDefaults(name, Baseline.known[name].__name__, Baseline.known[name])


def _imported(path: str) -> Any:
    """Return what an import path names."""
    module, _, attribute = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"method must be one of {', '.join(map(repr, method_names()))} or the import path of an estimator, got "
            f"{path!r} instead ({error})."
        ) from error


def settings_of(model: BaseEstimator) -> dict[str, Any]:
    """Return what a fitted model has chosen, and how sure it is of its optimum.

    Parameters
    ----------
    model : estimator
        Fitted.

    Returns
    -------
    dict
        ``C`` and ``gap``, None where there is none.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smtl import SMTLClassifierCV
    >>> settings_of(SMTLClassifierCV("auc", Cs=3, cv=2).fit(*load_iris(return_X_y=True)))["gap"] < 1e-3
    True
    """
    C, gap = getattr(model, "C_", None), getattr(model, "gap_", None)
    if C is None and hasattr(model, "best_params_"):
        C = next(iter(model.best_params_.values()), None)
        gap = getattr(model.best_estimator_, "gap_", None)
    if C is not None:
        values = np.asarray(C, dtype=np.float64)
        C = float(values) if values.ndim == 0 else values.tolist()
    return {"C": C, "gap": None if gap is None else float(gap)}
