"""The yes/no questions that a fitted model answers on some data: labels and scores of each task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_consistent_length

from smtl.estimators.targets import read_targets
from smtl.plotting._parts import Float, before_last_step, fitted_step

__all__ = ["questions"]


def questions(model: Any, X: Any, y: Any, tasks: Any) -> Iterator[tuple[Any, npt.NDArray[np.int8], Float]]:
    """Yield name, labels (+1, -1) and scores of each task, on the rows that are labelled for it."""
    step = fitted_step(model, "decision_function", "classes_", remedy="Give a fitted classifier with scores.")
    classes = step.classes_
    names = getattr(step, "task_names_", classes)
    if tasks is not None:
        # A pipeline takes tasks only where metadata routing is switched on.
        scores = np.asarray(step.decision_function(before_last_step(model, X), tasks=tasks))
    else:
        scores = np.asarray(model.decision_function(X))
    check_consistent_length(scores, y)
    shape = np.shape(y) if not hasattr(y, "shape") else y.shape
    if len(shape) == 2 and shape[1] > 1:
        Y = read_targets(y, y).Y
    else:
        labels = np.asarray(y).ravel()
        if tasks is None and scores.ndim == 2 and len(classes) <= 2:
            raise ValueError("tasks must be given for a model that was fitted with tasks, got None instead.")
        Y = np.where(labels[:, None] == (classes if scores.ndim == 2 else classes[-1:]), 1, -1).astype(np.int8)
        if labels.dtype.kind == "f":
            Y[np.isnan(labels)] = 0
    if tasks is not None:
        own = np.asarray(tasks).ravel()
        for name in names:
            rows = (own == name) & (Y[:, 0] != 0)
            yield name, Y[rows, 0], scores[rows]
        return
    scores = scores.reshape(len(scores), -1)
    if Y.shape[1] != scores.shape[1]:
        raise ValueError(f"y must have a column for each of {scores.shape[1]} tasks, got {Y.shape[1]} instead.")
    for name, column, s in zip(names[-Y.shape[1] :], Y.T, scores.T, strict=True):
        yield name, column[column != 0], s[column != 0]
