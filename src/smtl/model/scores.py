"""What a model says of rows: a score and an answer for each task."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from smtl.estimators.base import TasksClassifier
from smtl.estimators.scoring import as_answers

__all__ = ["answers_of", "classifier_of", "columns_in_order", "probabilities_of", "task_scores"]

Float: TypeAlias = npt.NDArray[np.float64]


def classifier_of(model: Any) -> Any:
    """Return the classifier that a model is, or ends in.

    Parameters
    ----------
    model : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.

    Returns
    -------
    SMTLEnsemble, SMTLClassifier or SMTLClassifierCV
        The classifier.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier().fit([[0.0], [1.0]], [0, 1])
    >>> classifier_of(Pipeline([("model", model)])) is model
    True
    """
    final = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not isinstance(final, TasksClassifier):
        raise TypeError(
            "model must be an SMTLClassifier, an SMTLClassifierCV, an SMTLEnsemble or a Pipeline that ends in one, got "
            f"{type(final).__name__} instead."
        )
    check_is_fitted(final)
    return final


@contextmanager
def columns_in_order() -> Iterator[None]:
    """Let a model that was fitted with names take a matrix without them: whoever made it has put its columns in order.

    Yields
    ------
    None
        While scikit-learn does not warn.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


def task_scores(model: Any, X: Any, tasks: Any = None) -> Float:
    """Return scores with a column a task, or one column where each row is to be answered for its own task.

    Parameters
    ----------
    model : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Features, in the order of the model's.
    tasks : ndarray of shape (n_samples,), optional
        The task of each row.

    Returns
    -------
    ndarray of shape (n_samples, n_tasks) or (n_samples, 1)
        Above zero answers yes.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier().fit([[0.0], [1.0]], [0, 1])
    >>> task_scores(model, np.array([[0.0], [1.0]])).shape
    (2, 1)
    """
    final = classifier_of(model)
    with columns_in_order():
        if isinstance(model, Pipeline) and len(model.steps) > 1:
            X = model[:-1].transform(X)
        scores = np.asarray(final.decision_function(X) if tasks is None else final.decision_function(X, tasks=tasks))
    return scores.reshape(X.shape[0], -1).astype(np.float64, copy=False)


def answers_of(scores: Float, kind: str) -> npt.NDArray[np.int8]:
    """Return 0 and 1: yes where the score is above zero, and of several classes for the one with the highest score.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_tasks)
        From `task_scores`.
    kind : str
        The kind of the model's targets.

    Returns
    -------
    ndarray of int8 of the same shape
        Answers.

    Examples
    --------
    >>> answers_of(np.array([[0.5, -1.0, 2.0]]), "multilabel"), answers_of(np.array([[0.5, -1.0, 2.0]]), "multiclass")
    (array([[1, 0, 1]], dtype=int8), array([[0, 0, 1]], dtype=int8))
    """
    return ((as_answers(scores) if kind == "multiclass" else scores) > 0).astype(np.int8)


def probabilities_of(classifier: Any, scores: Float, task: npt.NDArray[np.intp] | None = None) -> Float:
    """Return the probability of yes of each task.

    Parameters
    ----------
    classifier : SMTLEnsemble, SMTLClassifier or SMTLClassifierCV
        What `classifier_of` returns.
    scores : ndarray of shape (n_samples, n_tasks)
        From `task_scores`.
    task : ndarray of shape (n_samples,), optional
        The number of each row's task, where ``scores`` has one column for that.

    Returns
    -------
    ndarray of the same shape
        Probabilities; those of several classes add up to one.

    Raises
    ------
    ValueError
        If the model has none.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier("log").fit([[0.0], [1.0], [3.0]], [0, 1, 1])
    >>> X = np.array([[2.0]])
    >>> bool(probabilities_of(model, task_scores(model, X))[0, 0] == model.predict_proba(X)[0, 1])
    True
    """
    metric = classifier._metric()
    if metric.probability is None:
        raise ValueError(
            f"a model that was trained for the metric {metric.name} has no probabilities, only scores; train an "
            "ensemble, or a linear model for log."
        )
    thresholds = np.asarray(classifier.thresholds_, dtype=np.float64)
    yes = np.asarray(metric.probability(scores + (thresholds if task is None else thresholds[task][:, None])))
    if classifier._kind == "multiclass":
        yes = yes / np.maximum(yes.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return yes
