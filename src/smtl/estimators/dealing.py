"""Rows, or groups of them, dealt to folds so that every label is spread evenly."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d

from smtl.estimators.targets import Targets, read_labels

__all__ = ["deal_groups", "deal_rows", "group_numbers"]

Float: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]

N_SWEEPS = 10  # sweeps over the groups in which they move to other folds, at most
N_PARTNERS = 8  # groups that each group may change places with, in a sweep


def deal_rows(targets: Targets, shares: Float, rng: np.random.RandomState | None) -> Rows:
    """Return a fold for each row, so that every task's positives and negatives are spread over the folds.

    Where the tasks share rows, this is iterative stratification of their classes, the positives and the negatives of
    each task: of the class with the fewest rows left, each row goes to the fold that still wants most rows of that
    class, then to the one that wants most rows. Where each task has its own rows, the folds take turns at the positives
    of one task after another, then at the negatives. Rows without a label come last.

    Parameters
    ----------
    targets : Targets
        Labels, the rows in the order in which they are dealt; a row counts as many as its weight says.
    shares : ndarray of shape (n_folds,)
        The share of the rows that each fold is to have; positive, of sum 1.
    rng : RandomState or None
        For whatever the labels leave open; None for the first fold of those that want a row as much.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Fold numbers.

    References
    ----------
    K. Sechidis, G. Tsoumakas, I. Vlahavas, On the stratification of multi-label data, ECML PKDD 2011.

    Examples
    --------
    >>> Y = np.array([[1, -1], [1, 1], [1, 1], [1, -1]], dtype=np.int8)
    >>> fold = deal_rows(Targets("multilabel", np.arange(2), np.arange(2), Y), np.array([0.5, 0.5]), None)
    >>> [targets_Y.tolist() for targets_Y in (Y[fold == 0, 1], Y[fold == 1, 1])]
    [[-1, 1], [1, -1]]
    """
    from smtl.kernels import stratify

    Y, n = targets.Y, len(targets.Y)
    deal: Any = stratify.iterative_folds  # kernels have no types
    if targets.task is None:
        classes = np.ascontiguousarray(np.hstack([Y, -Y]))
        ties = np.zeros(n) if rng is None else rng.random_sample(n)
        return np.asarray(deal(classes, shares, ties, targets.row_weight))
    # Not task by task: with as many folds as each task has rows, one fold would get the positives of all of them.
    kind = np.where(Y > 0, 0, np.where(Y < 0, 1, 2))
    folds = np.empty(n, dtype=np.int64)
    folds[np.lexsort((targets.task, kind))] = _turns(n, shares)
    return folds


def deal_groups(targets: Targets, groups: Rows, shares: Float, rng: np.random.RandomState) -> Rows:
    r"""Return a fold for each row, that of its group, so that every task's classes are spread over the folds.

    Groups are dealt from the largest on, each to the fold of largest gain in the sum over folds and classes of
    :math:`(n_{fk} - s_f N_k)^2 / (s_f N_k)`; rows count as one class more. Then groups move to other folds, or change
    places, as long as that makes the sum smaller.

    Parameters
    ----------
    targets : Targets
        Labels.
    groups : ndarray of int64 of shape (n_samples,)
        The group of each row: 0, 1, and so on, none of them empty.
    shares : ndarray of shape (n_folds,)
        The share of the rows that each fold is to have.
    rng : RandomState
        For which groups change places.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Fold numbers. No fold is empty if there are as many groups as folds.

    Examples
    --------
    >>> Y = np.array([[1], [-1], [1], [-1], [-1], [-1]], dtype=np.int8)
    >>> targets, groups = Targets("binary", np.arange(2), np.arange(1), Y), np.array([0, 0, 1, 1, 2, 3])
    >>> fold = deal_groups(targets, groups, np.array([0.5, 0.5]), np.random.RandomState(0))
    >>> np.bincount(fold).tolist(), np.bincount(fold[Y[:, 0] > 0]).tolist()
    ([3, 3], [1, 1])
    """
    from smtl.kernels.group_folds import group_folds

    n_groups, m = int(groups.max()) + 1, len(targets.names)
    if targets.task is None:
        signs = targets.Y
    else:
        signs = np.where(targets.task[:, None] == np.arange(m), targets.Y[:, None], 0)
    columns = [signs > 0, signs < 0, np.ones((len(groups), 1), dtype=bool)]
    classes = np.hstack(columns)
    each = 1.0 if targets.row_weight is None else targets.row_weight
    counts = np.array([np.bincount(groups, each * column, n_groups) for column in classes.T]).T
    counts = np.ascontiguousarray(counts[:, counts.any(axis=0)])
    size = (counts / np.sqrt(counts.sum(axis=0))).sum(axis=1)
    mixed = rng.permutation(n_groups)
    order = mixed[np.argsort(-size[mixed], kind="stable")]
    partners = rng.randint(n_groups, size=(N_SWEEPS, n_groups, N_PARTNERS))
    return np.asarray(group_folds(counts, shares, order, partners))[groups]


def group_numbers(groups: Any, n_samples: int, at_least: int) -> npt.NDArray[np.int64]:
    """Return the number of each row's group: 0, 1, and so on.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        The group of each row.
    n_samples : int
        How many rows there are.
    at_least : int
        How many groups there must be.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Numbers.

    Examples
    --------
    >>> group_numbers(["b", "a", "b"], 3, 2)
    array([1, 0, 1])
    """
    if groups is None:
        raise ValueError("groups must name a group for every row, got None instead.")
    names, known = read_labels(column_or_1d(groups))
    if len(names) != n_samples:
        raise ValueError(f"groups must have one entry a row ({n_samples}), got {len(names)} instead.")
    if not known.all():
        raise ValueError(f"groups must name a group for every row, got none in row {int(np.argmin(known))} instead.")
    found, numbers = np.unique(names, return_inverse=True)
    if len(found) < at_least:
        raise ValueError(f"groups must be at least {at_least}, one a fold, got {len(found)} instead.")
    return numbers.astype(np.int64)


def _turns(n: int, shares: Float) -> Rows:
    """Return whose turn it is, n times: each fold's turns are evenly spaced, and folds of equal shares alternate."""
    n_folds = len(shares)
    counts = np.ceil(shares * (n + n_folds)).astype(np.int64)  # n of them come before the last of any fold
    fold = np.repeat(np.arange(n_folds), counts)
    turn = np.arange(len(fold)) - np.repeat(np.cumsum(counts) - counts, counts)
    time = (turn + 0.5) / shares[fold]
    return fold[np.argsort(time, kind="stable")[:n]]
