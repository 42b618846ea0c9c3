"""The folds of cross-validation: stratified over all tasks at once, or as the user has them."""

from __future__ import annotations

import reprlib
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.estimators.dealing import deal_groups, deal_rows, group_numbers
from smtl.estimators.targets import Targets

__all__ = ["can_stay_together", "make_folds", "order_of_content", "rare_tasks", "stratified_folds"]

Float: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]

# Entries of X that are multiplied at a time.
BLOCK = 2**20
LOOKED_AT = 200  # rows that tell whether features have few values
DIFFERING = 1.1  # different labels of the same features, in the mean, from which on equal rows are no copies


def stratified_folds(X: Any, targets: Targets, proportions: npt.ArrayLike, rng: np.random.RandomState) -> Rows:
    r"""Return a fold for each row, so that every task's positives and negatives are spread over the folds.

    See `smtl.model_selection.MultilabelStratifiedKFold`; where each task has its own rows, the folds take turns at the
    positives of one task after another, then at the negatives. The order in which the rows are given does not matter.
    Rows that are the same stay together, as one row of their weight would, unless that is more than a fold's share, or
    equal rows are to be expected: where no feature tells most rows apart, as with categories, or where the same
    features often come with other labels. New rows are then like old ones, and held-out rows have to be so, too.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        The rows: what tells rows with the same labels apart.
    targets : Targets
        Labels.
    proportions : array-like of shape (n_folds,)
        The share of the rows that each fold is to have; positive, of sum 1.
    rng : RandomState
        For whatever the labels leave open.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Fold numbers.

    Notes
    -----
    Of a class with c rows a fold of share p has more than :math:`pc - 1` and fewer than :math:`pc + 1` if it is the
    smallest class of all, or if it is the positives of a label and these rows are negatives of all other labels. For
    other classes nothing so strict can be had, because many of their rows are dealt for the sake of smaller ones. With
    equal shares and tasks that have their own rows, no class has two rows more in one fold than in another. With equal
    shares no fold is empty unless there are fewer rows than folds.

    The paper stratifies the positives only. That leaves the negatives of a task that is mostly positive, or that has
    few labels, to chance: a fold may have none.

    References
    ----------
    K. Sechidis, G. Tsoumakas, I. Vlahavas, On the stratification of multi-label data, ECML PKDD 2011.

    Examples
    --------
    >>> from smtl.estimators.targets import read_targets
    >>> X = np.arange(6.0)[:, None]
    >>> targets = read_targets(X, [[1, 0], [1, 1], [1, 1], [1, 0], [0, 0], [0, 0]])
    >>> fold = stratified_folds(X, targets, [0.5, 0.5], np.random.RandomState(0))
    >>> [targets.part(fold == k).counts()[0].tolist() for k in range(2)]
    [[2, 1], [2, 1]]
    """
    shares = np.asarray(proportions, dtype=np.float64)
    if shares.ndim != 1 or not np.all(shares > 0) or not np.isclose(shares.sum(), 1.0):
        raise ValueError(
            f"proportions must be positive numbers of sum 1, one a fold, got {reprlib.repr(proportions)} instead."
        )
    # An order of content is the same however the rows are given, and so is a shuffle of it. Unshuffled, a fold of large
    # share would get the rows at one end: it wants most of them until it is down to what the others want.
    order, unit = order_of_content(X, targets, rng)
    weights = np.ones(len(order)) if targets.row_weight is None else targets.row_weight[order]
    mass: Float = np.bincount(unit, weights).astype(np.float64)
    first = np.flatnonzero(np.diff(unit, prepend=-1))
    if not _stay_together(X, targets, (order, unit), weights, shares):
        unit, first, mass = np.arange(len(order)), np.arange(len(order)), weights
    mixed = rng.permutation(len(first))
    part = targets.part(order[first][mixed])
    part.row_weight = None if np.all(mass == 1.0) else mass[mixed]
    dealt = np.empty(len(first), dtype=np.int64)
    dealt[mixed] = deal_rows(part, shares, rng)
    folds = np.empty(len(order), dtype=np.int64)
    folds[order] = dealt[unit]
    return folds


def can_stay_together(X: Any, targets: Targets, weights: Float, n_folds: int) -> bool:
    """Return whether every row, with all of its weight, can be in one of so many equal folds.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        The rows.
    targets : Targets
        Labels.
    weights : ndarray of shape (n_samples,)
        What each row counts.
    n_folds : int
        The number of folds.

    Returns
    -------
    bool
        False where a class would be missing from some fold though its weight would do for all, or where a row weighs
        more than a fold.

    Examples
    --------
    >>> X, Y = np.arange(4.0)[:, None], np.array([[1], [-1], [-1], [-1]], dtype=np.int8)
    >>> targets = Targets("binary", np.arange(2), np.arange(1), Y)
    >>> [can_stay_together(X, targets, np.array([weight, 1.0, 1.0, 1.0]), 2) for weight in (1.0, 2.0)]
    [True, False]
    """
    # Which rows are equal does not depend on the direction.
    order, unit = order_of_content(X, targets, np.random.RandomState(0))
    return _stay_together(X, targets, (order, unit), weights[order], np.full(n_folds, 1.0 / n_folds))


def _stay_together(X: Any, targets: Targets, content: tuple[Rows, Rows], weights: Float, shares: Float) -> bool:
    """Return whether equal rows, and rows of large weight, are dealt as one; ``content``: see `order_of_content`."""
    order, unit = content
    mass = np.bincount(unit, weights)
    if mass.max() <= 1.0:
        return True
    if mass.max() > shares.min() * mass.sum():
        return False
    first = np.flatnonzero(np.diff(unit, prepend=-1))
    return _leaves_enough(targets.part(order), first, weights, len(shares)) and not _are_expected(X, order[first])


def _leaves_enough(targets: Targets, first: Rows, weights: Float, n_folds: int) -> bool:
    """Return whether each class whose weight would do for all folds has different rows for all of them."""
    for i in range(len(targets.names)):
        y = targets.column(i)
        for sign in (-1, 1):
            if weights[y == sign].sum() >= n_folds > np.sum(y[first] == sign):
                return False
    return True


def _are_expected(X: Any, rows: Rows) -> bool:
    """Return whether equal rows are no copies: of different rows, some of each content, given by their numbers."""
    some = X[rows[:: max(1, len(rows) // LOOKED_AT)]]
    some = some.toarray() if sp.issparse(some) else some
    n_values = 1 + np.count_nonzero(np.diff(np.sort(some, axis=0), axis=0), axis=0)
    n_contents = len(np.unique(some, axis=0))
    return bool(2 * n_values.max() <= n_contents or len(some) > DIFFERING * n_contents)


def order_of_content(X: Any, targets: Targets, rng: np.random.RandomState) -> tuple[Rows, Rows]:
    """Return the rows along a random direction, those that coincide by their labels; and numbers, equal for equal rows.

    Rows that are the same in features and labels are as one row of larger weight.
    """
    place = _projection(X, rng.standard_normal(X.shape[1]))
    order = np.argsort(place, kind="stable")
    if not np.any(np.diff(place[order]) == 0):
        return order, np.arange(len(order))
    labels = targets.Y.T if targets.task is None else np.stack([targets.Y, targets.task])
    order = np.lexsort((*labels, place))
    same = (np.diff(place[order]) == 0) & (np.diff(labels[:, order], axis=1) == 0).all(axis=0)
    return order, np.concatenate([[0], np.cumsum(~same)])


def _projection(X: Any, direction: Float) -> Float:
    """Return ``X @ direction`` in float64, without a copy of X.

    Equal rows have equal products wherever they stand, which BLAS does not promise.
    """
    if sp.issparse(X):
        return np.asarray(X @ direction).ravel()
    n, d = X.shape
    step = max(1, BLOCK // d)
    place = np.empty(n)
    for start in range(0, n, step):
        np.multiply(X[start : start + step], direction, order="C").sum(axis=1, out=place[start : start + step])
    return place


def make_folds(
    cv: Any, X: Any, y: Any, targets: Targets, rng: np.random.RandomState, groups: Any = None
) -> list[tuple[Rows, Rows]]:
    """Return the training and test rows of each split.

    Parameters
    ----------
    cv : int, splitter or iterable
        The number of folds, at least 2 (None: 5), see `stratified_folds`; a splitter of scikit-learn's or smtl's; or
        pairs (train, test) of row numbers or masks. Test parts need not cover all rows, and may overlap one another.
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    y : array-like
        Labels as the user gave them, for a splitter.
    targets : Targets
        The same labels.
    rng : RandomState
        For the folds, where cv is their number.
    groups : array-like of shape (n_samples,), optional
        Rows that stay together in folds of smtl's own; for a splitter that needs them.

    Returns
    -------
    list of tuple
        Row numbers ``(train, test)``, in the order of the folds.

    Examples
    --------
    >>> from smtl.estimators.targets import read_targets
    >>> X, y = np.arange(4.0)[:, None], [0, 1, 0, 1]
    >>> targets, rng = read_targets(X, y), np.random.RandomState(0)
    >>> [(len(train), y[test[0]] + y[test[1]]) for train, test in make_folds(2, X, y, targets, rng)]
    [(2, 1), (2, 1)]
    >>> make_folds([([0, 1], [2]), ([1, 2], [0, 3])], X, y, targets, rng)
    [(array([0, 1]), array([2])), (array([1, 2]), array([0, 3]))]
    """
    n = len(targets.Y)
    cv = 5 if cv is None else cv
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        n_folds = int(cv)
        if not 2 <= n_folds <= n:
            raise ValueError(
                f"cv must be between 2 and the number of rows ({n}) where it is a number of folds, got {n_folds} "
                "instead: every fold needs rows to test on, and rows to train on."
            )
        shares = np.full(n_folds, 1.0 / n_folds)
        if groups is None:
            folds = stratified_folds(X, targets, shares, rng)
        else:
            folds = deal_groups(targets, group_numbers(groups, n, n_folds), shares, rng)
        return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(n_folds)]
    if isinstance(cv, type):
        raise ValueError(f"cv must be a splitter, got the class {cv.__name__} instead; call it: {cv.__name__}().")
    if isinstance(cv, str | bool | bytes) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        raise ValueError(
            "cv must be a number of folds, a scikit-learn splitter, or an iterable of pairs (train, test) of row "
            f"numbers, got {cv!r} instead."
        )
    if groups is not None and not hasattr(cv, "split"):
        raise ValueError(
            "groups must be None unless cv is a number of folds, which keep them together, or a splitter that does, "
            f"such as GroupKFold, got groups and cv={reprlib.repr(cv)} instead."
        )
    pairs = list(cv.split(X, y, groups) if hasattr(cv, "split") else cv)
    if not pairs:
        raise ValueError("cv must give at least one split, got none.")
    return [_split(pair, number, n) for number, pair in enumerate(pairs)]


def _split(pair: Any, number: int, n: int) -> tuple[Rows, Rows]:
    """Return the rows of one split, checked."""
    try:
        first, second = pair
    except (TypeError, ValueError):
        raise ValueError(
            f"split {number} of cv must be a pair (train, test) of row numbers, got {reprlib.repr(pair)} instead."
        ) from None
    train = _row_numbers(first, f"train of split {number} of cv", n)
    test = _row_numbers(second, f"test of split {number} of cv", n)
    trained = np.zeros(n, dtype=bool)
    trained[train] = True
    both = test[trained[test]]
    if len(both):
        raise ValueError(
            f"train and test of split {number} of cv must not share rows, got {len(both)} in both, among them row "
            f"{both[0]}: a score on rows of the training part says nothing of new ones."
        )
    return train, test


def _row_numbers(part: Any, name: str, n: int) -> Rows:
    """Return row numbers from row numbers or a mask."""
    values = np.asarray(part)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "biu"):
        raise ValueError(
            f"{name} must be a list of row numbers or a mask, got {reprlib.repr(part)}, of shape {values.shape} and "
            f"type {values.dtype}, instead."
        )
    if values.dtype.kind == "b":
        if len(values) != n:
            raise ValueError(f"{name} must have an entry a row ({n}) where it is a mask, got {len(values)} instead.")
        values = np.flatnonzero(values)
    if values.size == 0:
        raise ValueError(f"{name} must have at least one row, got none.")
    outside = values[(values < 0) | (values >= n)]
    if len(outside):
        raise ValueError(f"{name} must hold row numbers between 0 and {n - 1}, got {outside[0]} instead.")
    rows = values.astype(np.int64)
    often = np.flatnonzero(np.bincount(rows) > 1)
    if len(often):
        raise ValueError(
            f"{name} must name a row once, got row {often[0]} more often; np.unique leaves out the repeats."
        )
    return rows


def rare_tasks(targets: Targets, n_folds: int) -> Rows:
    """Return the tasks of both classes that have too few rows of one of them for every fold to have one.

    Parameters
    ----------
    targets : Targets
        Labels.
    n_folds : int
        The number of folds.

    Returns
    -------
    ndarray of int64
        Numbers of the tasks.

    Examples
    --------
    >>> from smtl.estimators.targets import read_targets
    >>> Y = [[1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]]
    >>> rare_tasks(read_targets(Y, Y), 2)
    array([1])
    """
    n_pos, n_neg = targets.counts()
    fewest = np.minimum(n_pos, n_neg)
    return np.flatnonzero((fewest > 0) & (fewest < n_folds))
