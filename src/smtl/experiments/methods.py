"""The methods that can be compared, by name, each with its inner search for the strength of its penalty."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags

from smtl.estimators import SMTLClassifierCV
from smtl.experiments.protocol import TaskFolds, mean_f1
from smtl.registry import unknown_name

__all__ = ["Method", "Search", "get_method", "method_names", "settings_of"]

# The certified gap of the methods that have one, and the most passes of a final fit: what is finer is lost in the
# spread over splits. And the tolerance of scikit-learn's logistic regression, which means something else.
GAP, PASSES, TOL = 1e-2, 1000, 1e-3
# Where the grids of the methods of many models begin and end: C of logistic regression, and rounds of boosting.
_CS, _ROUNDS = (1e-2, 10.0), (25, 200)


@dataclass(frozen=True)
class Search:
    """How the inner search is done.

    Attributes
    ----------
    cv : int
        Folds; methods of many models, which have no path to go along, have at most 3.
    n_values : int
        Values of C, or of what the method has instead; methods of many models try at most 3.
    seed : int
        For all that is random in the method.

    Examples
    --------
    >>> Search(cv=5, n_values=20).seed
    0
    """

    cv: int = 5
    n_values: int = 20
    seed: int = 0


@dataclass(frozen=True)
class Method:
    """A method of a comparison.

    Attributes
    ----------
    name : str
        What it is called on the command line.
    title : str
        What it is called in tables.
    family : str
        Of which methods it is one: "SMTL", "MTL-CLS", "MTL-REG", "other".
    about : str
        Base learner and grid, in words.
    make : callable
        Returns the estimator for a `Search`.
    penalty, target : str
        Where it has them, the penalty and the metric that it is trained on.

    Examples
    --------
    >>> get_method("smtl-f1-l21").title
    'SMTL(F1) l21'
    """

    name: str
    title: str
    family: str
    about: str
    make: Callable[[Search], Any]
    penalty: str = ""
    target: str = ""


_METHODS: dict[str, Method] = {}


def _add(name: str, title: str, family: str, about: str, make: Callable[[Search], Any], **more: str) -> None:
    _METHODS[name] = Method(name, title, family, about, make, **more)


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
    return list(_METHODS)


def get_method(name: str) -> Method:
    """Return a method by its name, or any estimator by its import path.

    Parameters
    ----------
    name : str
        One of `method_names`, or the path of a class or a function without arguments that returns an estimator, such as
        ``sklearn.neighbors.KNeighborsClassifier``. A classifier for one label at a time is fitted to each.

    Returns
    -------
    Method
        The method.

    Examples
    --------
    >>> get_method("sklearn.neighbors.KNeighborsClassifier").title
    'KNeighborsClassifier'
    """
    if name in _METHODS:
        return _METHODS[name]
    module, _, attribute = name.rpartition(".")
    if not module:
        raise unknown_name("method", name, _METHODS)
    try:
        factory = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"method must be one of {', '.join(map(repr, _METHODS))} or the import path of an estimator, got {name!r} "
            f"instead ({error})."
        ) from error

    def make(search: Search) -> Any:
        from smtl.baselines import BinaryRelevance

        model = factory()
        if not is_classifier(model):
            raise TypeError(f"{name} must make a classifier, got {type(model).__name__} instead.")
        if "random_state" in model.get_params():
            model.set_params(random_state=search.seed)
        if not get_tags(model).classifier_tags.multi_label:
            model = BinaryRelevance(model)
        return model

    return Method(name, attribute, "other", f"{name} with its defaults", make)


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


def _grid(least: float, largest: float, n: int) -> Any:
    """Return so many values, evenly by their logarithms; one alone is the middle, as both ends are extreme."""
    return np.geomspace(least, largest, n) if n > 1 else np.array([np.sqrt(least * largest)])


def _searched(estimator: Any, parameter: str, values: Any, search: Search) -> GridSearchCV:
    """Return an estimator whose parameter is chosen by macro F1 on stratified folds."""
    folds = TaskFolds(search.cv, search.seed)
    return GridSearchCV(estimator, {parameter: list(values)}, scoring=_macro_f1, cv=folds, error_score="raise")


def _macro_f1(model: Any, X: Any, Y: Any) -> float:
    """Score for scikit-learn's searches; labels that are NaN are left out."""
    return mean_f1(Y, np.asarray(model.predict(X)))


def _small(search: Search) -> Search:
    """Return what is searched by methods of many models."""
    return replace(search, cv=min(search.cv, 3), n_values=min(search.n_values, 3))


def _logistic(search: Search) -> LogisticRegression:
    return LogisticRegression(tol=TOL, random_state=search.seed)


def _smtl(metric: str, penalty: str) -> Callable[[Search], Any]:
    # Training on F1 puts the cut where F1 is best; training on AUC leaves it open.
    return lambda search: SMTLClassifierCV(
        metric,
        penalty,
        Cs=search.n_values,
        cv=search.cv,
        threshold=0.0 if metric == "f1" else "smoothed",
        tol=GAP,
        max_iter=PASSES,
        random_state=search.seed,
    )


def _mtl_cls(penalty: str) -> Callable[[Search], Any]:
    return lambda search: SMTLClassifierCV(
        "error",
        penalty,
        Cs=search.n_values,
        cv=search.cv,
        scoring="f1_macro",
        threshold=0.0,
        tol=GAP,
        max_iter=PASSES,
        random_state=search.seed,
    )


def _mtl_reg(penalty: str) -> Callable[[Search], Any]:
    def make(search: Search) -> Any:
        from smtl.baselines import MTLRegressorClassifier

        model = MTLRegressorClassifier(penalty, tol=GAP)
        return _searched(model, "alpha", _grid(1.0, 1e-4, min(search.n_values, 12)), search)

    return make


def _transformed(name: str) -> Callable[[Search], Any]:
    """Return what makes one of the methods that turn labels into other labels, over logistic regression."""

    def make(search: Search) -> Any:
        import smtl.baselines

        model = getattr(smtl.baselines, name)(_logistic(search))
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=search.seed)
        search = _small(search)
        return _searched(model, "estimator__C", _grid(*_CS, search.n_values), search)

    return make


def _adaboost(search: Search) -> Any:
    from smtl.baselines import AdaBoostMH

    search = _small(search)
    rounds = np.unique(_grid(*_ROUNDS, search.n_values).astype(int))
    return _searched(AdaBoostMH(), "n_estimators", rounds, search)


def _thresholded(search: Search) -> Any:
    from smtl.baselines import ThresholdedLogistic

    Cs = search.n_values if search.n_values > 1 else _grid(1e-4, 1e4, 1)
    return ThresholdedLogistic(Cs=Cs, cv=search.cv, tol=TOL, random_state=search.seed)


_CUT = {"auc": "smoothed thresholds for F1 from held-out scores", "f1": "cut at 0"}
for _penalty in ("l21", "l11", "trace"):
    for _metric, _word in (("auc", "AUC"), ("f1", "F1")):
        _add(
            f"smtl-{_metric}-{_penalty}",
            f"SMTL({_word}) {_penalty}",
            "SMTL",
            f"structured loss of {_word}, {_penalty}; C from the critical one on, over up to three decades, chosen by "
            f"{_word}; {_CUT[_metric]}",
            _smtl(_metric, _penalty),
            penalty=_penalty,
            target=_metric,
        )
    _add(
        f"mtl-cls-{_penalty}",
        f"MTL-CLS {_penalty}",
        "MTL-CLS",
        f"hinge loss, {_penalty}; C from the critical one on, over up to three decades, chosen by macro F1; cut at 0",
        _mtl_cls(_penalty),
        penalty=_penalty,
    )
    _add(
        f"mtl-reg-{_penalty}",
        f"MTL-REG {_penalty}",
        "MTL-REG",
        f"squared loss, {_penalty}; alpha from 1e-4 to 1, at most 12 values, chosen by macro F1; cut at 0",
        _mtl_reg(_penalty),
        penalty=_penalty,
    )
_OVER_LOGISTIC = (
    f"over logistic regression; at most 3 values of C from {_CS[0]:g} to {_CS[1]:g}, chosen by macro F1 on at most "
    "3 folds"
)
_add(
    "struct-svm",
    "StructSVM",
    "other",
    "structured loss of F1, ridge, each task by itself; C as for SMTL(F1); cut at 0",
    _smtl("f1", "ridge"),
    penalty="ridge",
    target="f1",
)
_add("rakel", "RAkEL", "other", f"k = 3, 2 m label sets, {_OVER_LOGISTIC}", _transformed("RAkEL"))
_add("mlcssp", "MLCSSP", "other", f"a tenth of the labels drawn, at least 4, {_OVER_LOGISTIC}", _transformed("MLCSSP"))
_add(
    "adaboost-mh",
    "AdaBoostMH",
    "other",
    f"decision stumps; at most 3 numbers of rounds from {_ROUNDS[0]} to {_ROUNDS[1]}, chosen by macro F1 on at most 3 "
    "folds",
    _adaboost,
)
_add("homer", "HOMER", "other", f"balanced 3-means, {_OVER_LOGISTIC}", _transformed("HOMER"))
_add("br", "BR", "other", f"one model a label, {_OVER_LOGISTIC}", _transformed("BinaryRelevance"))
_add("lp", "LP", "other", f"each label set a class, {_OVER_LOGISTIC}", _transformed("LabelPowerset"))
_add("ecc", "ECC", "other", f"10 chains, {_OVER_LOGISTIC}", _transformed("EnsembleOfClassifierChains"))
_add(
    "thresholded-logistic",
    "Logistic + thresholds",
    "other",
    "one-vs-rest logistic regression; C from 1e-4 to 1e4 and thresholds by cross-validation",
    _thresholded,
)
