"""What an ensemble asks of a learner."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.targets import Targets
from smtl.registry import Registered

__all__ = ["Float", "Learner", "Rows", "Splits", "learner_names", "log_odds"]

Float: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]
Splits: TypeAlias = Sequence[tuple[Rows, Rows]]


class Learner(Registered, ABC):
    """A model of all tasks at once that can score rows it has not seen.

    `held_out_scores` comes first, and chooses what there is to choose. `fit` then fits with these choices.

    Attributes
    ----------
    name : str
        A subclass that sets it is found under it.
    takes_own_rows : bool
        Whether it can learn tasks that have rows of their own.
    pooled : dict
        Where it cannot: the parameters with which it takes the rows of all tasks together. If there are any, it gets
        features that are scaled already.
    one_task : dict or None
        The parameters with which a task is learnt by itself; None if that is not worth while.
    random_state : int
        The seed.
    n_jobs : int or None
        The number of threads. Results do not depend on it.

    Notes
    -----
    Conventions.

    - X is a float array or a CSR matrix. Dense X may hold NaN.
    - Labels are `Targets`: +1, -1, and 0 for what is not labelled. A learner must train without the latter.
    - Scores are float64. Higher means yes; the scale is open. Shape (n, n_tasks), or (n,) where each row belongs to
      one task.
    - A task with one class only gets any constant: whoever asks leaves it out.

    Examples
    --------
    >>> from smtl.estimators.targets import read_targets
    >>> class Mean(Learner):
    ...     def fit(self, X, targets):
    ...         self.n_tasks = len(targets.names)
    ...     def decision_function(self, X, task=None):
    ...         scores = np.repeat(X.mean(axis=1, keepdims=True), self.n_tasks, axis=1)
    ...         return scores if task is None else scores[:, 0]
    >>> X = np.arange(4.0)[:, None]
    >>> folds = [(np.array([0, 1]), np.array([2, 3])), (np.array([2, 3]), np.array([0, 1]))]
    >>> Mean().held_out_scores(X, read_targets(X, [0, 1, 0, 1]), folds)[1].ravel()
    array([0., 1.])
    """

    known: ClassVar[dict[str, type[Any]]] = {}
    takes_own_rows: ClassVar[bool] = False
    pooled: ClassVar[dict[str, Any]] = {}
    one_task: ClassVar[dict[str, Any] | None] = {}

    @property
    def knows_weights(self) -> bool:
        """Whether rows count what ``targets.row_weight`` says, where that is given."""
        return False

    def __init__(self, *, random_state: int = 0, n_jobs: int | None = None) -> None:
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __repr__(self) -> str:
        return f"{type(self).__name__}(random_state={self.random_state!r})"

    def held_out_scores(self, X: Any, targets: Targets, folds: Splits) -> list[Float]:
        """Return the scores of every fold's test rows by a model of its training rows.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
            Features.
        targets : Targets
            Labels.
        folds : list of (train, test)
            Rows to train and to test on.

        Returns
        -------
        list of ndarray
            One for each fold, of shape (n_test, n_tasks) or (n_test,).
        """
        scores = []
        for train, test in folds:
            self.fit(X[train], targets.part(train))
            scores.append(self.decision_function(X[test], None if targets.task is None else targets.task[test]))
        return scores

    @abstractmethod
    def fit(self, X: Any, targets: Targets) -> None:
        """Fit to all rows.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
            Features.
        targets : Targets
            Labels.
        """

    @abstractmethod
    def decision_function(self, X: Any, task: Rows | None = None) -> Float:
        """Return scores.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
            Features.
        task : ndarray of int64 of shape (n_samples,), optional
            The number of each row's task, where tasks have their own rows.

        Returns
        -------
        ndarray of shape (n_samples, n_tasks) or (n_samples,)
            A column a task; with ``task``, each row's score for its own.
        """


def learner_names() -> list[str]:
    """Return the names of the learners.

    Returns
    -------
    list of str
        Sorted.

    Examples
    --------
    >>> from smtl.ensemble import learner_names
    >>> learner_names()
    ['boosting', 'coarse-forest', 'forest', 'kernel', 'linear']
    """
    return sorted(Learner.known)


def log_odds(probability: npt.NDArray[Any], floor: float) -> Float:
    """Return log odds, of probabilities that are kept away from 0 and 1.

    Parameters
    ----------
    probability : ndarray
        Probabilities, or estimates of them that may leave [0, 1].
    floor : float
        The least distance from 0 and 1.

    Returns
    -------
    ndarray
        Of the same shape.

    Examples
    --------
    >>> log_odds(np.array([0.5, 2.0]), 0.01).round(3)
    array([0.   , 4.595])
    """
    kept = np.clip(np.asarray(probability, dtype=np.float64), floor, 1.0 - floor)
    return np.log(kept) - np.log1p(-kept)
