"""Held-out scores on the scale of the final model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.held_out import Fold, HeldOut, own_scores
from smtl.estimators.targets import Targets

__all__ = ["aligned"]

Float: TypeAlias = npt.NDArray[np.float64]
Model: TypeAlias = tuple[Float, Float]


def aligned(
    held: HeldOut, X: Any, targets: Targets, folds: Sequence[Fold], models: Sequence[Model], final: Model
) -> HeldOut:
    """Return held-out scores as the final model would have given them.

    A model of fewer rows has smaller weights where C is small. On its own training rows a fold's model is compared with
    the final one, which was trained on them, too; its held-out scores then get the same mean and spread.

    Parameters
    ----------
    held : HeldOut
        Held-out scores.
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    targets : Targets
        Labels.
    folds : list of Fold
        The folds.
    models : list of (W, intercept)
        Their models: weights and intercepts of the usable tasks.
    final : (coef, intercept)
        The final model, of all tasks.

    Returns
    -------
    HeldOut
        The same rows.
    """
    scores = held.scores.copy()
    wanted = _scores(X, targets, *final)
    for k, (fold, (W, b)) in enumerate(zip(folds, models, strict=True)):
        coef, intercept = np.zeros_like(final[0]), np.zeros(len(targets.names))
        coef[fold.usable], intercept[fold.usable] = W, b
        rows = held.fold == k
        task = None if targets.task is None else targets.task[fold.train]
        each = np.ones(len(fold.train)) if targets.row_weight is None else targets.row_weight[fold.train]
        here = _moments(_scores(X, targets, coef, intercept)[fold.train], each, task, len(targets.names))
        there = _moments(wanted[fold.train], each, task, len(targets.names))
        known = (here[1] > 0.0) & (there[1] > 0.0)
        slope = np.where(known, there[1] / np.where(known, here[1], 1.0), 1.0)
        shift = np.where(known, there[0] - slope * here[0], 0.0)
        own: Any = slice(None) if held.targets.task is None else held.targets.task[rows]
        scores[rows] = slope[own] * scores[rows] + shift[own]
    return held.with_scores(scores)


def _scores(X: Any, targets: Targets, coef: Float, intercept: Float) -> Float:
    """Return the scores of all rows: a column a task, or each row's for its own."""
    offset = 0.0 if targets.offset is None else targets.offset
    if targets.task is not None:
        return np.asarray(own_scores(X, coef, targets.task) + intercept[targets.task] + offset, dtype=np.float64)
    return np.asarray(X @ coef.T + intercept + offset, dtype=np.float64)


def _moments(scores: Float, weights: Float, task: npt.NDArray[np.int64] | None, m: int) -> tuple[Float, Float]:
    """Return mean and spread of each task's scores, each row counting what it weighs."""
    if task is None:
        mean = np.average(scores, axis=0, weights=weights)
        return mean, np.sqrt(np.average((scores - mean) ** 2, axis=0, weights=weights))
    mass = np.bincount(task, weights, m)
    mass[mass == 0.0] = 1.0
    mean = np.bincount(task, weights * scores, m) / mass
    return mean, np.sqrt(np.bincount(task, weights * (scores - mean[task]) ** 2, m) / mass)
