"""Checks of what `fit` is given, shared by the estimators."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from smtl.estimators.fitting import largest_entry
from smtl.estimators.rules import parse_rule, rule_examples
from smtl.estimators.targets import Targets, read_offset, read_targets
from smtl.metrics import Metric

__all__ = [
    "CHOSEN",
    "check_C",
    "check_groups",
    "check_scale",
    "check_tasks",
    "check_threshold",
    "checked_data",
]

# The ways in which thresholds are chosen.
CHOSEN = ("auto", "expected", "per-task", "shared", "smoothed", "calibrated", "cardinality")


def check_C(C: Any) -> None:
    """Raise for a C that is neither "auto" nor a positive number.

    Parameters
    ----------
    C : float or "auto"
        What was given.

    Examples
    --------
    >>> check_C(-1.0)
    Traceback (most recent call last):
    ValueError: C must be a positive number or 'auto', got -1.0 instead.
    """
    if isinstance(C, str) and C == "auto":
        return
    if not (isinstance(C, Real) and math.isfinite(C) and float(C) > 0.0):
        raise ValueError(f"C must be a positive number or 'auto', got {C!r} instead.")


def check_tasks(metric: Metric, targets: Targets) -> None:
    """Raise if the metric is not defined on one of the tasks.

    Parameters
    ----------
    metric : Metric
        What is trained on.
    targets : Targets
        Labels.
    """
    learnable = targets.learnable()
    groups = None if targets.group is None else targets.groups_of(learnable)
    if groups is not None:
        for size in groups.sizes():
            metric.check_task(*size)
        return
    n_pos, n_neg = targets.masses()
    for i in learnable:
        metric.check_task(math.ceil(n_pos[i]), math.ceil(n_neg[i]))


def check_groups(metric: Metric, fit_intercept: bool) -> None:
    """Raise if a metric needs an intercept, which the groups of a task would have to share.

    Parameters
    ----------
    metric : Metric
        What is trained on.
    fit_intercept : bool
        Whether an intercept is asked for.

    Examples
    --------
    >>> from smtl import F1
    >>> check_groups(F1(), True)
    Traceback (most recent call last):
    ValueError: metric must be one of the order, such as 'ap', 'ndcg' or 'auc', where groups are given, got F1()
    instead: its intercept would have to suit all groups at once. Or use fit_intercept=False.
    """
    if metric.uses_intercept and fit_intercept:
        raise ValueError(
            "metric must be one of the order, such as 'ap', 'ndcg' or 'auc', where groups are given, got "
            f"{metric!r} instead: its intercept would have to suit all groups at once. Or use fit_intercept=False."
        )


def check_scale(X: Any) -> None:
    """Raise if squares of sums over X would not be numbers any more.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.

    Examples
    --------
    >>> check_scale(np.array([[1e200]]))
    Traceback (most recent call last):
    ValueError: X must have its largest absolute value between 1e-100 and 1e+100, got 1e+200 instead; bring the features
    to one scale, as StandardScaler does.
    """
    limit = 1e30 if X.dtype == np.float32 else 1e100
    largest = largest_entry(X)
    if largest > limit or 0.0 < largest < 1.0 / limit:
        raise ValueError(
            f"X must have its largest absolute value between {1.0 / limit:g} and {limit:g}, got {largest:g} instead; "
            "bring the features to one scale, as StandardScaler does."
        )


def check_threshold(threshold: Any) -> None:
    """Raise for a threshold that is neither a rule nor a number.

    Parameters
    ----------
    threshold : str or float
        What was given.

    Examples
    --------
    >>> check_threshold(float("inf"))
    Traceback (most recent call last):
    ValueError: threshold must be one of 'auto', 'expected', 'per-task', 'shared', 'smoothed', 'calibrated',
    'cardinality', 'at-least-one', 'at-most-3', 'precision>=0.8', 'recall>=0.9', 'top-2' or a number, got inf instead.
    """
    if isinstance(threshold, str):
        known = threshold in CHOSEN or parse_rule(threshold) is not None
    else:
        known = isinstance(threshold, Real) and math.isfinite(threshold)
    if not known:
        words = ", ".join(repr(name) for name in (*CHOSEN, *rule_examples()))
        raise ValueError(f"threshold must be one of {words} or a number, got {threshold!r} instead.")


def checked_data(estimator: Any, X: Any, y: Any, tasks: Any, offset: Any) -> tuple[Any, Targets]:
    """Return features and labels of a fit, checked once for all that follows.

    Parameters
    ----------
    estimator : estimator
        Whose fit it is; it is told of the features' number and names.
    X, y, tasks, offset
        As in `SMTLClassifier.fit`.

    Returns
    -------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features, float32 or float64. Where tasks have their own rows, a sparse one has them stored row by row.
    targets : Targets
        Labels, with the offset.
    """
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    sparse = ("csr", "csc") if tasks is None else "csr"
    dtypes = (np.float64, np.float32)
    X = validate_data(estimator, X, accept_sparse=sparse, dtype=dtypes, ensure_min_samples=2)
    check_scale(X)
    targets = read_targets(X, y, tasks)
    if offset is not None:
        targets.offset = read_offset(offset, targets.Y.shape)
    return X, targets
