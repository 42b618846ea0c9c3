"""Cut-offs chosen on held-out scores, one a task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.targets import Targets
from smtl.metrics import F1, ContingencyMetric, Metric
from smtl.tasks import Tasks

__all__ = ["best_cut", "best_cuts", "deal_folds", "held_out_scores", "strata_of"]

Float: TypeAlias = npt.NDArray[np.float64]


def best_cut(y: npt.ArrayLike, s: npt.ArrayLike, metric: Metric | None = None) -> float:
    """Return the threshold of the scores that makes a metric greatest.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels, +1 and -1.
    s : array-like of shape (n,)
        Scores.
    metric : Metric, optional
        A function of the contingency table; F1 where it is not one.

    Returns
    -------
    float
        Half-way between two neighbouring scores; among equally good cuts, the one in the middle.

    Examples
    --------
    >>> best_cut([1, 1, -1, -1], [3.0, 1.0, 2.0, 0.0])
    0.5
    """
    target = metric if isinstance(metric, ContingencyMetric) and metric.has_cut else F1()
    order = np.argsort(-np.asarray(s, dtype=np.float64), kind="stable")
    scores = np.asarray(s, dtype=np.float64)[order]
    hits = np.cumsum(np.asarray(y)[order] > 0)
    n, n_pos = len(scores), int(hits[-1])
    # A cut after k + 1 rows is one only where the next score is lower.
    last = np.append(np.flatnonzero(np.diff(scores) < 0), n - 1)
    tp, fp = hits[last], last + 1 - hits[last]
    losses = np.array(
        [target.delta(float(a), float(b), float(n_pos - a), float(n - n_pos - b)) for a, b in zip(tp, fp, strict=True)]
    )
    best = np.flatnonzero(losses <= losses.min() + 1e-12)
    k = last[best[len(best) // 2]]
    below = scores[k + 1] if k + 1 < n else scores[k] - 1.0
    return float(0.5 * (scores[k] + below))


def deal_folds(
    X: Any, strata: npt.NDArray[np.int64], n_folds: int, rng: np.random.RandomState
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Deal the rows of each stratum out to folds in turn, so that the order of the rows does not matter.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        The rows; they are ordered along a random direction.
    strata : ndarray of int64 of shape (n_samples,)
        The stratum of each row.
    n_folds : int
        The number of folds.
    rng : RandomState
        For the direction.

    Returns
    -------
    order : ndarray of int64 of shape (n_samples,)
        The rows by stratum and direction: the same rows in the same order, however they are given.
    folds : ndarray of int64 of shape (n_samples,)
        The fold of each of them, in that order.

    Examples
    --------
    >>> X = np.arange(6.0)[:, None]
    >>> order, folds = deal_folds(X, np.array([1, 0, 1, 0, 1, 0]), 3, np.random.RandomState(0))
    >>> order, folds
    (array([1, 3, 5, 0, 2, 4]), array([0, 1, 2, 0, 1, 2]))
    """
    direction = rng.standard_normal(X.shape[1]).astype(X.dtype, copy=False)
    place = np.asarray(X @ direction).ravel()
    order = np.lexsort((place, strata))
    return order, np.arange(len(order)) % n_folds


def strata_of(Y: npt.NDArray[np.int8], task: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
    """Return a stratum for each row: its rarest positive label, or its task and label where tasks have their own rows.

    Parameters
    ----------
    Y : ndarray of int8
        Labels as in `Targets`.
    task : ndarray of int64 or None
        The task of each row.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Strata.

    Examples
    --------
    >>> strata_of(np.array([[1, 1], [1, -1], [-1, -1]], dtype=np.int8), None)
    array([0, 1, 2])
    """
    if task is not None:
        return 3 * task + Y
    positive = Y > 0
    rank = np.argsort(np.argsort(positive.sum(axis=0), kind="stable"))
    strata: npt.NDArray[np.int64] = np.where(positive, rank, Y.shape[1]).min(axis=1)
    return strata


def held_out_scores(
    X: Any,
    targets: Targets,
    fitted: npt.NDArray[np.int64],
    fit: Callable[[Tasks], tuple[Float, Float]],
    n_folds: int,
    rng: np.random.RandomState,
) -> Float:
    """Return scores of models that have not seen the rows they score.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    targets : Targets
        Labels.
    fitted : ndarray of int64
        The numbers of the tasks to score.
    fit : callable
        Returns weights and intercepts for tasks.
    n_folds : int
        The number of folds.
    rng : RandomState
        For the folds.

    Returns
    -------
    ndarray of shape (n_samples, len(fitted))
        NaN where a fold's training part has one class only.
    """
    order, folds = deal_folds(X, strata_of(targets.Y, targets.task), n_folds, rng)
    scores = np.full((X.shape[0], len(fitted)), np.nan)
    for k in range(n_folds):
        inside, outside = order[folds != k], order[folds == k]
        part = targets.part(inside)
        n_pos, n_neg = part.counts()
        usable = np.flatnonzero((n_pos[fitted] > 0) & (n_neg[fitted] > 0))
        if len(usable):
            W, intercept = fit(part.tasks(X[inside], fitted[usable]))
            scores[np.ix_(outside, usable)] = X[outside] @ W.astype(X.dtype) + intercept
    return scores


def best_cuts(targets: Targets, fitted: npt.NDArray[np.int64], scores: Float, metric: Metric) -> Float:
    """Return the best threshold of each task, see `best_cut`; 0 where its scored rows are of one class.

    Parameters
    ----------
    targets : Targets
        Labels.
    fitted : ndarray of int64
        The numbers of the tasks.
    scores : ndarray of shape (n_samples, len(fitted))
        Held-out scores, NaN where there is none.
    metric : Metric
        What the cut is for.

    Returns
    -------
    ndarray of shape (len(fitted),)
        Thresholds.
    """
    cuts = np.zeros(len(fitted))
    for j, i in enumerate(fitted):
        y = targets.column(i)
        rows = (y != 0) & np.isfinite(scores[:, j])
        if (y[rows] > 0).any() and (y[rows] < 0).any():
            cuts[j] = best_cut(y[rows], scores[rows, j], metric)
    return cuts
