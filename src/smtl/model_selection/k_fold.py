"""K folds in which every label is spread evenly."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from smtl.estimators.dealing import deal_groups, deal_rows, group_numbers
from smtl.model_selection.reading import targets_to_split

__all__ = ["MultilabelStratifiedGroupKFold", "MultilabelStratifiedKFold"]

Rows: TypeAlias = npt.NDArray[np.int64]


class _KFold(BaseCrossValidator):
    """K folds: a subclass says which row goes to which."""

    n_splits: int
    shuffle: bool
    random_state: Any

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        if not isinstance(n_splits, Integral) or isinstance(n_splits, bool) or n_splits < 2:
            raise ValueError(f"n_splits must be a whole number of at least 2, got {n_splits!r} instead.")
        if not isinstance(shuffle, bool):
            raise ValueError(f"shuffle must be True or False, got {shuffle!r} instead.")
        if not shuffle and random_state is not None:
            raise ValueError(
                f"random_state must be None where nothing is shuffled, got {random_state!r} instead; give shuffle=True."
            )
        self.n_splits = int(n_splits)
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the training and test rows of each split.

        Parameters
        ----------
        X : array-like with n_samples rows
            Only its length is looked at.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Classes; or a matrix of 0 and 1, NaN where a row is not labelled.
        groups : array-like of shape (n_samples,), optional
            The group of each row, for the form that keeps groups together; otherwise not looked at.

        Yields
        ------
        train, test : ndarray of int64
            Row numbers, ascending.
        """
        fold = self._fold_of_rows(X, y, groups)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups
            Not looked at.

        Returns
        -------
        int
            ``n_splits``.
        """
        return self.n_splits

    def _fold_of_rows(self, X: Any, y: Any, groups: Any) -> Rows:
        raise NotImplementedError(f"{type(self).__name__} must have _fold_of_rows.")

    @property
    def _shares(self) -> npt.NDArray[np.float64]:
        return np.full(self.n_splits, 1.0 / self.n_splits)


class MultilabelStratifiedKFold(_KFold):
    """K folds, stratified for all labels at once.

    Iterative stratification (Sechidis 2011) of the positives and the negatives of each label, from the rarest class on:
    each row goes to the fold that still wants most rows of that class.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds, at least 2.
    shuffle : bool, default=False
        Whether chance decides what the labels leave open. Otherwise it is the order of the rows.
    random_state : int, RandomState instance or None, default=None
        The seed, where ``shuffle`` is true.

    Notes
    -----
    Labels may be missing (NaN); rows without any label are dealt last. A vector of classes is taken as a label a class.
    Folds may differ in size by a few rows, for the sake of the labels.

    Examples
    --------
    >>> from smtl.model_selection import MultilabelStratifiedKFold
    >>> Y = np.array([[1, 0], [1, 1], [1, 1], [1, 0], [0, 0], [0, np.nan]])
    >>> [Y[test].tolist() for _, test in MultilabelStratifiedKFold(2).split(Y, Y)]
    [[[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 0.0], [0.0, nan]]]
    """

    def _fold_of_rows(self, X: Any, y: Any, groups: Any) -> Rows:
        targets = targets_to_split(X, y)
        n = len(targets.Y)
        if self.n_splits > n:
            raise ValueError(f"n_splits must be at most the number of rows ({n}), got {self.n_splits} instead.")
        if not self.shuffle:
            return deal_rows(targets, self._shares, None)
        rng = check_random_state(self.random_state)
        order, fold = rng.permutation(n), np.empty(n, dtype=np.int64)
        fold[order] = deal_rows(targets.part(order), self._shares, rng)
        return fold


class MultilabelStratifiedGroupKFold(_KFold):
    """K folds, stratified for all labels at once, with the rows of a group in one fold.

    Groups are dealt from the largest on, each to the fold where it is wanted most; then they move, or change places,
    while that makes the labels more even.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds, at least 2 and at most the number of groups.
    shuffle : bool, default=False
        Whether chance decides the order of equal groups, and which groups may change places.
    random_state : int, RandomState instance or None, default=None
        The seed, where ``shuffle`` is true.

    Examples
    --------
    >>> from smtl.model_selection import MultilabelStratifiedGroupKFold
    >>> Y = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [0, 0], [0, 0]])
    >>> patient = np.array(["a", "a", "b", "b", "c", "d"])
    >>> [patient[test].tolist() for _, test in MultilabelStratifiedGroupKFold(2).split(Y, Y, patient)]
    [['b', 'b', 'c'], ['a', 'a', 'd']]
    """

    __metadata_request__split: ClassVar = {"groups": True}

    def _fold_of_rows(self, X: Any, y: Any, groups: Any) -> Rows:
        targets = targets_to_split(X, y)
        numbers = group_numbers(groups, len(targets.Y), self.n_splits)
        rng = check_random_state(self.random_state) if self.shuffle else np.random.RandomState(0)
        return deal_groups(targets, numbers, self._shares, rng)
