"""Weights of rows, classes and tasks, as users give them."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_sample_weight

from smtl.estimators.folds import can_stay_together, make_folds
from smtl.estimators.targets import Targets

__all__ = [
    "for_folds",
    "in_copies",
    "read_sample_weight",
    "weigh",
    "weighed_splits",
    "weights_of_labels",
    "whole_copies",
    "without_zeros",
]

Float: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]

# Weights that are no whole numbers become copies in proportion: so many a row on average, and so many in all at least.
COPIES, LEAST_COPIES = 4, 20_000


def read_sample_weight(sample_weight: Any, X: Any) -> Float | None:
    """Return the weights of rows, checked; None where each is one row.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), number or None
        What was given.
    X : ndarray or sparse array
        The rows.

    Returns
    -------
    ndarray of shape (n_samples,) or None
        Non-negative, some of them positive.

    Examples
    --------
    >>> read_sample_weight([1, 0, 2], np.zeros((3, 1)))
    array([1., 0., 2.])
    >>> read_sample_weight([1, -1, 2], np.zeros((3, 1)))
    Traceback (most recent call last):
    ValueError: sample_weight must be non-negative with a positive sum, got -1.0 in row 1 instead.
    """
    if sample_weight is None:
        return None
    weights: Float = np.array(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if (weights < 0).any() or not weights.any():
        worst = int(np.argmin(weights))
        raise ValueError(
            f"sample_weight must be non-negative with a positive sum, got {float(weights[worst])!r} in row {worst} "
            "instead."
        )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError("sample_weight must have a finite sum, got an infinite one instead; scale the weights.")
    return None if np.all(weights == 1.0) else weights


def without_zeros(X: Any, targets: Targets, weights: Float | None) -> tuple[Any, Targets, Float | None]:
    """Return rows, labels and weights without the rows of weight zero.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    targets : Targets
        Labels.
    weights : ndarray of shape (n_samples,) or None
        What each row counts.

    Returns
    -------
    X, targets, weights
        The same objects where there is no zero.
    """
    if weights is None or weights.all():
        return X, targets, weights
    kept = np.flatnonzero(weights)
    return (X.tocsr() if sp.issparse(X) else X)[kept], targets.part(kept), weights[kept]


def for_folds(X: Any, targets: Targets, weights: Float | None, n_folds: int) -> Rows | None:
    """Return rows in as many copies as they weigh, where folds have to part these copies; None where they need not.

    A class of few heavy rows would otherwise be missing from some fold, where that of the repeated rows is in all.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    targets : Targets
        Labels.
    weights : ndarray of shape (n_samples,) or None
        What each row counts, positive.
    n_folds : int
        The number of folds.

    Returns
    -------
    ndarray of int64 or None
        Row numbers, ascending. Weights that are no whole numbers stay what they are, and so do very large ones.

    Examples
    --------
    >>> X, Y = np.arange(4.0)[:, None], np.array([[1], [-1], [-1], [-1]], dtype=np.int8)
    >>> for_folds(X, Targets("binary", np.arange(2), np.arange(1), Y), np.array([2.0, 1.0, 1.0, 1.0]), 2)
    array([0, 0, 1, 2, 3])
    """
    copies = whole_copies(weights)
    if weights is None or copies is None or can_stay_together(X, targets, weights, n_folds):
        return None
    return copies


def whole_copies(weights: Float | None) -> Rows | None:
    """Return rows in as many copies as they weigh.

    Parameters
    ----------
    weights : ndarray of shape (n,) or None
        Non-negative.

    Returns
    -------
    ndarray of int64 or None
        Row numbers, ascending; None without weights, where they are no whole numbers, or where that is too many rows.

    Examples
    --------
    >>> whole_copies(np.array([2.0, 1.0])), whole_copies(np.array([0.5, 1.0]))
    (array([0, 0, 1]), None)
    """
    if weights is None or np.any(weights % 1.0) or weights.sum() > max(COPIES * len(weights), LEAST_COPIES):
        return None
    return np.repeat(np.arange(len(weights)), weights.astype(np.int64))


def weigh(targets: Targets, weights: Float | None, class_weight: Any = None, task_weight: Any = None) -> None:
    """Give labels their weights, in place.

    Parameters
    ----------
    targets : Targets
        Labels.
    weights : ndarray of shape (n_samples,) or None
        What each row counts, positive.
    class_weight : "balanced", dict, list of dict or None
        What the labels of each class count. Of one answer a row (binary, several classes, tasks with rows of their own)
        it is the weight of the row; of several labels a row each has its own.
    task_weight : array-like of shape (n_tasks,), dict or None
        What each task's loss is multiplied by.
    """
    factors = None if class_weight is None else _class_factors(targets, weights, class_weight)
    if factors is not None and factors.ndim == 1:
        weights, factors = factors if weights is None else weights * factors, None
    targets.row_weight = weights
    if weights is not None or factors is not None:
        rows = np.ones(len(targets.Y)) if weights is None else weights
        rows = rows if targets.task is not None else rows[:, None]
        targets.weights = np.array(np.broadcast_to(rows if factors is None else rows * factors, targets.Y.shape))
        targets.Y = np.where(targets.weights > 0, targets.Y, 0).astype(np.int8)
    if task_weight is not None:
        targets.task_weight = _task_weights(task_weight, targets)


def weighed_splits(
    cv: Any,
    data: tuple[Any, Any, Targets],
    groups: Any,
    weighing: tuple[Float | None, Any, Any],
    rng: np.random.RandomState,
) -> tuple[Any, Any, Targets, list[tuple[Rows, Rows]], Rows]:
    """Return data with their weights, without rows of weight zero, and the splits of what is left.

    Parameters
    ----------
    cv, groups
        As in `smtl.estimators.folds.make_folds`.
    data : (X, y, targets)
        As there.
    weighing : (weights, class_weight, task_weight)
        As in `weigh`.
    rng : RandomState
        For the folds.

    Returns
    -------
    X, y, targets, splits
        Splits of the user's own keep their rows but for those of weight zero.
    rows : ndarray of int64
        Which of the given rows these are; some in several copies, where folds have to part them (see `for_folds`).
    """
    (X, y, targets), (weights, *others) = data, weighing
    kept = np.arange(len(targets.Y)) if weights is None else np.flatnonzero(weights)
    own_splits = not (cv is None or isinstance(cv, Integral))
    splits = make_folds(cv, X, y, targets, rng, groups) if own_splits else []
    if len(kept) < len(targets.Y):
        y = _safe_indexing(y, kept)
        groups = None if groups is None else _safe_indexing(groups, kept)
        of_kept = [(np.isin(kept, train), np.isin(kept, test)) for train, test in splits]
        splits = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in of_kept]
    X, targets, weights = without_zeros(X, targets, weights)
    copies = None if own_splits or groups is not None else for_folds(X, targets, weights, 5 if cv is None else int(cv))
    if copies is not None:
        X, y, targets, weights = X[copies], _safe_indexing(y, copies), targets.part(copies), None
        kept = kept[copies]
    weigh(targets, weights, *others)
    return X, y, targets, splits if own_splits else make_folds(cv, X, y, targets, rng, groups), kept


def weights_of_labels(targets: Targets) -> Float | None:
    """Return what labels count beside the weight of their row, as class weights of several labels a row have it.

    Parameters
    ----------
    targets : Targets
        Labels.

    Returns
    -------
    ndarray of shape (n_samples, n_tasks) or None
        None where all labels of a row count what the row does.
    """
    if targets.weights is None or targets.weights.ndim == 1:
        return None
    factors = targets.weights if targets.row_weight is None else targets.weights / targets.row_weight[:, None]
    return None if np.all(factors == 1.0) else np.asarray(factors)


def in_copies(weights: Float) -> Rows:
    """Return rows in as many copies as they weigh; in proportion to it where weights are no whole numbers.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        Non-negative.

    Returns
    -------
    ndarray of int64
        Row numbers, ascending.

    Examples
    --------
    >>> in_copies(np.array([2.0, 0.0, 1.0]))
    array([0, 0, 2])
    """
    copies = np.round(weights)
    if (copies != weights).any() or copies.sum() > max(COPIES * len(weights), LEAST_COPIES):
        total = max(COPIES * len(weights), LEAST_COPIES)
        copies = np.diff(np.floor(np.cumsum(weights) * (total / weights.sum()) + 0.5), prepend=0.0)
    return np.repeat(np.arange(len(weights)), copies.astype(np.int64))


def _class_factors(targets: Targets, weights: Float | None, class_weight: Any) -> Float:
    """Return what class weights multiply the weight of each row by, or of each label of several labels a row."""
    if targets.kind == "multilabel":
        m = targets.Y.shape[1]
        each = class_weight if isinstance(class_weight, list | tuple) else [class_weight] * m
        if len(each) != m:
            raise ValueError(
                f"class_weight must have one entry a task ({m}) where it is a list, got {len(each)} instead."
            )
        return np.column_stack([_of_two(targets.Y[:, i], weights, given, (0, 1)) for i, given in enumerate(each)])
    if isinstance(class_weight, list | tuple):
        raise ValueError(
            "class_weight must be 'balanced' or a dict unless there are several labels a row, got a list instead."
        )
    if targets.kind != "multiclass":
        Y = targets.Y.ravel()
        if targets.kind != "tasks" or isinstance(class_weight, Mapping):
            return _of_two(Y, weights, class_weight, tuple(targets.classes.tolist()))
        assert targets.task is not None
        factors = np.ones(len(Y))
        for i in range(len(targets.names)):
            own = targets.task == i
            factors[own] = _of_two(Y[own], None if weights is None else weights[own], class_weight, (0, 1))
        return factors
    return _of_classes(targets, weights, class_weight)


def _of_classes(targets: Targets, weights: Float | None, class_weight: Any) -> Float:
    """Return the factor of each row, by the class it has."""
    has = targets.Y > 0
    if _is_balanced(class_weight):
        mass = (has if weights is None else has * weights[:, None]).sum(axis=0)
        by_class = mass.sum() / (len(mass) * np.where(mass > 0, mass, 1.0))
    else:
        by_class = _by_name(class_weight, tuple(targets.classes.tolist()))
    return np.where(has.any(axis=1), has @ by_class, 1.0)


def _of_two(Y: npt.NDArray[np.int8], weights: Float | None, class_weight: Any, classes: tuple[Any, ...]) -> Float:
    """Return the factor of each label +1 or -1."""
    if class_weight is None:
        return np.ones(len(Y))
    no, yes = (1.0, 1.0) if len(classes) < 2 else (0.0, 0.0)
    if _is_balanced(class_weight):
        each = np.ones(len(Y)) if weights is None else weights
        n_pos, n_neg = float(each[Y > 0].sum()), float(each[Y < 0].sum())
        no, yes = ((n_pos + n_neg) / (2.0 * n) if n > 0 else 1.0 for n in (n_neg, n_pos))
    elif len(classes) == 2:
        no, yes = _by_name(class_weight, classes)
    return np.where(Y > 0, yes, np.where(Y < 0, no, 1.0))


def _is_balanced(class_weight: Any) -> bool:
    """Return whether it is the word, or raise for another one."""
    if isinstance(class_weight, Mapping):
        return False
    if not (isinstance(class_weight, str) and class_weight == "balanced"):
        raise ValueError(f"class_weight must be 'balanced', a dict or a list of dicts, got {class_weight!r} instead.")
    return True


def _by_name(given: Mapping[Any, float], names: tuple[Any, ...]) -> Float:
    """Return the weight of each class; 1 for those that are not named."""
    unknown = [name for name in given if not any(name == known for known in names)]
    if unknown:
        raise ValueError(f"class_weight must name classes of y ({_listed(names)}), got {unknown[0]!r} instead.")
    return _positive("class_weight", [given.get(name, 1.0) for name in names], allow_zero=True)


def _task_weights(given: Any, targets: Targets) -> Float:
    """Return the weight of each task."""
    names = targets.names.tolist()
    if isinstance(given, Mapping):
        unknown = [name for name in given if not any(name == known for known in names)]
        if unknown:
            raise ValueError(f"task_weight must name tasks ({_listed(names)}), got {unknown[0]!r} instead.")
        given = [given.get(name, 1.0) for name in names]
    values = _positive("task_weight", given, allow_zero=False)
    if values.shape != (len(names),):
        raise ValueError(f"task_weight must have one entry a task ({len(names)}), got shape {values.shape} instead.")
    return values


def _positive(what: str, given: Any, *, allow_zero: bool) -> Float:
    values = np.asarray(given, dtype=np.float64)
    if not np.isfinite(values).all() or (values < 0).any() or (not allow_zero and (values == 0).any()):
        raise ValueError(
            f"{what} must be {'non-negative' if allow_zero else 'positive'} numbers, got {given!r} instead."
        )
    return values


def _listed(names: Any) -> str:
    shown = [repr(name) for name in list(names)[:5]]
    return ", ".join(shown) + (", ..." if len(names) > 5 else "")
