"""Learners that have scored held-out rows, on their way into an ensemble."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl import messages
from smtl.ensemble.combination import combine
from smtl.ensemble.judging import Judge
from smtl.ensemble.learners import Learner
from smtl.estimators.held_out import Fold, HeldOut
from smtl.estimators.targets import Targets

__all__ = ["Trained", "alone", "check_weights_known", "refit", "usable_only", "without_nan"]

Float: TypeAlias = npt.NDArray[np.float64]

LEAST_WEIGHT = 0.02  # share of the weights below which a learner is left out


@dataclass
class Trained:
    """A learner, its held-out scores, and how long they took.

    Attributes
    ----------
    name : str
        What it is called.
    learner : Learner
        The learner.
    held : HeldOut
        Its held-out scores.
    seconds : float
        For all folds.
    """

    name: str
    learner: Learner
    held: HeldOut
    seconds: float


def check_weights_known(learners: dict[str, Learner]) -> None:
    """Raise ValueError where a learner cannot be told what rows count.

    Parameters
    ----------
    learners : dict of Learner
        By name.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from smtl.ensemble.learners.wrapped import WrappedLearner
    >>> check_weights_known({"near": WrappedLearner(KNeighborsClassifier())})
    Traceback (most recent call last):
    ValueError: learners must take sample_weight in their fit where rows have weights, got 'near' instead, which does
    not; leave it out, or fit without weights.
    """
    ignorant = [name for name, learner in learners.items() if not learner.knows_weights]
    if ignorant:
        raise ValueError(
            f"learners must take sample_weight in their fit where rows have weights, got {ignorant[0]!r} instead, "
            "which does not; leave it out, or fit without weights."
        )


def alone(trained: list[Trained], judge: Judge, executor: Executor | None) -> list[float]:
    """Return the score of each learner by itself.

    Parameters
    ----------
    trained : list of Trained
        The learners.
    judge : Judge
        What scores them.
    executor : Executor or None
        To judge them side by side.

    Returns
    -------
    list of float
        One a learner.
    """

    def score(one: Trained) -> float:
        held = one.held
        odds = held.with_scores(combine([held]).log_odds([held.scores], held.targets.task))
        return judge.score(odds, judge.cuts(odds))

    return list(map(score, trained) if executor is None else executor.map(score, trained))


def refit(trained: list[Trained], X: Any, targets: Targets) -> tuple[list[Trained], bool]:
    """Fit the learners that have a weight to all rows.

    Parameters
    ----------
    trained : list of Trained
        The learners.
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    targets : Targets
        Labels.

    Returns
    -------
    kept : list of Trained
        Those with a weight, the largest first; at least one learner.
    interrupted : bool
        Whether some are missing because of Ctrl-C.
    """
    weights = combine([one.held for one in trained]).weights
    order = np.argsort(-weights, kind="stable")
    order = order[weights[order] > LEAST_WEIGHT * weights.sum()]
    kept: list[Trained] = []
    interrupted = False
    try:
        for k in order:
            trained[k].learner.fit(X, targets)
            kept.append(trained[k])
    except KeyboardInterrupt:
        if not kept:
            raise
        interrupted = True
        messages.warn(
            f"The final fit was interrupted. The ensemble is made of {', '.join(one.name for one in kept)}; fit again "
            "for all learners."
        )
    if not kept:
        messages.warn(
            "No learner is better than the share of positives on held-out rows: the answer of each task is the same "
            "for every row. There may be too few rows, or features that say nothing about the labels."
        )
        kept = trained[:1]
        kept[0].learner.fit(X, targets)
    return kept, interrupted


def usable_only(scores: Float, fold: Fold, targets: Targets) -> Float:
    """Return a fold's scores, NaN for tasks that have one class only in its training part.

    Parameters
    ----------
    scores : ndarray of shape (n_test, n_tasks) or (n_test,)
        Scores of the test part.
    fold : Fold
        The fold.
    targets : Targets
        Labels of all rows.

    Returns
    -------
    ndarray
        Of the same shape.
    """
    usable = np.isin(np.arange(len(targets.names)), fold.usable)
    if targets.task is not None:
        return np.where(usable[targets.task[fold.test]], scores, np.nan)
    return np.where(usable, scores, np.nan)


def without_nan(X: Any) -> Any:
    """Return X with zeros for NaN, to order rows by; as it is where there are none.

    Examples
    --------
    >>> without_nan(np.array([[1.0, np.nan]]))
    array([[1., 0.]])
    """
    values = X.data if sp.issparse(X) else X
    if not np.isnan(values).any():
        return X
    if sp.issparse(X):
        X = X.copy()
        X.data = np.nan_to_num(X.data)
        return X
    return np.nan_to_num(X)
