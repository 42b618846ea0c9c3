"""Random splits in two parts in which every label is spread evenly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import BaseShuffleSplit
from sklearn.utils import check_random_state

from smtl.estimators.dealing import deal_groups, deal_rows, group_numbers
from smtl.estimators.targets import Targets
from smtl.model_selection.reading import targets_to_split

__all__ = ["MultilabelStratifiedGroupShuffleSplit", "MultilabelStratifiedShuffleSplit"]

Rows: TypeAlias = npt.NDArray[np.int64]


class _ShuffleSplit(BaseShuffleSplit):
    """Random splits: a subclass says which row goes to which part."""

    n_splits: int
    test_size: Any
    train_size: Any
    random_state: Any

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | int | None = None,
        train_size: float | int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        if not isinstance(n_splits, Integral) or isinstance(n_splits, bool) or n_splits < 1:
            raise ValueError(f"n_splits must be a positive whole number, got {n_splits!r} instead.")
        super().__init__(n_splits, test_size=test_size, train_size=train_size, random_state=random_state)

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
            Row numbers, in random order.
        """
        targets = targets_to_split(X, y)
        shares = self._shares(self._n_units(targets, groups))
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            part = self._part_of_rows(targets, groups, shares[shares > 0], rng)
            yield rng.permutation(np.flatnonzero(part == 0)), rng.permutation(np.flatnonzero(part == 1))

    def _n_units(self, targets: Targets, groups: Any) -> int:
        """Return how many units there are that stay together."""
        return len(targets.Y)

    def _part_of_rows(
        self, targets: Targets, groups: Any, shares: npt.NDArray[np.float64], rng: np.random.RandomState
    ) -> Rows:
        """Return 0 for rows to train on, 1 for those to test on, 2 for neither."""
        raise NotImplementedError(f"{type(self).__name__} must have _part_of_rows.")

    def _shares(self, n: int) -> npt.NDArray[np.float64]:
        """Return the shares of training part, test part and rest."""
        given = {"test_size": self.test_size, "train_size": self.train_size}
        test, train = (_share(name, size, n) for name, size in given.items())
        if test is None:
            test = 0.1 if train is None else 1.0 - train
        if train is None:
            train = 1.0 - test
        if test + train > 1.0 + 1e-9:
            raise ValueError(
                f"test_size and train_size must be at most all rows, got {self.test_size!r} and {self.train_size!r} "
                "instead."
            )
        rest = 1.0 - test - train
        shares = np.array([train, test, rest if rest > 1e-9 else 0.0])
        return np.asarray(shares / shares.sum())


def _share(name: str, size: Any, n: int) -> float | None:
    """Return a size as a share of all rows."""
    if size is None:
        return None
    if isinstance(size, Integral) and not isinstance(size, bool) and 0 < int(size) < n:
        return int(size) / n
    if isinstance(size, Real) and not isinstance(size, Integral) and math.isfinite(size) and 0.0 < float(size) < 1.0:
        return float(size)
    raise ValueError(f"{name} must be a number between 0 and 1, or a number of rows below {n}, got {size!r} instead.")


class MultilabelStratifiedShuffleSplit(_ShuffleSplit):
    """Random splits, stratified for all labels at once.

    Parameters
    ----------
    n_splits : int, default=10
        The number of splits.
    test_size, train_size : float or int, default=None
        Shares of the rows, or their numbers. One of them is what the other leaves; by default a tenth is tested on.
    random_state : int, RandomState instance or None, default=None
        The seed.

    Notes
    -----
    Labels may be missing (NaN). Parts may differ from the sizes that are asked for by a few rows, for the sake of the
    labels.

    Examples
    --------
    >>> from smtl.model_selection import MultilabelStratifiedShuffleSplit
    >>> Y = np.array([[1, 0], [1, 1], [1, 1], [1, 0], [0, 0], [0, 0], [0, 1], [0, 1]])
    >>> splitter = MultilabelStratifiedShuffleSplit(2, test_size=0.5, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for _, test in splitter.split(Y, Y)]
    [[2, 2], [2, 2]]
    """

    def _part_of_rows(
        self, targets: Targets, groups: Any, shares: npt.NDArray[np.float64], rng: np.random.RandomState
    ) -> Rows:
        order = rng.permutation(len(targets.Y))
        part = np.empty(len(order), dtype=np.int64)
        part[order] = deal_rows(targets.part(order), shares, rng)
        return part


class MultilabelStratifiedGroupShuffleSplit(_ShuffleSplit):
    """Random splits, stratified for all labels at once, with the rows of a group in one part.

    Parameters
    ----------
    n_splits : int, default=10
        The number of splits.
    test_size, train_size : float or int, default=None
        Shares of the rows; a whole number is one of groups. One of them is what the other leaves; by default a tenth
        is tested on.
    random_state : int, RandomState instance or None, default=None
        The seed.

    Examples
    --------
    >>> from smtl.model_selection import MultilabelStratifiedGroupShuffleSplit
    >>> Y = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [0, 0], [0, 0]])
    >>> patient = np.array(["a", "a", "b", "b", "c", "d"])
    >>> splitter = MultilabelStratifiedGroupShuffleSplit(2, test_size=0.5, random_state=0)
    >>> [len(set(patient[train]) & set(patient[test])) for train, test in splitter.split(Y, Y, patient)]
    [0, 0]
    """

    __metadata_request__split: ClassVar = {"groups": True}

    def _n_units(self, targets: Targets, groups: Any) -> int:
        return int(group_numbers(groups, len(targets.Y), 2).max()) + 1

    def _part_of_rows(
        self, targets: Targets, groups: Any, shares: npt.NDArray[np.float64], rng: np.random.RandomState
    ) -> Rows:
        numbers = group_numbers(groups, len(targets.Y), len(shares))
        # Chance decides the names of the groups, so that splits differ where the labels leave that open.
        return deal_groups(targets, rng.permutation(numbers.max() + 1)[numbers], shares, rng)
