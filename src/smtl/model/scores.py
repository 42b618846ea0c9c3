"""What a model says of rows: a score and an answer for each task."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from smtl.estimators.base import TasksClassifier

if TYPE_CHECKING:
    from smtl.tables.encoder import TableEncoder

__all__ = [
    "answers_of",
    "classifier_of",
    "columns_in_order",
    "encoder_of",
    "inside",
    "names_inside",
    "probabilities_of",
    "some_rows",
    "takes_frames",
    "task_scores",
]

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


def encoder_of(model: Any) -> TableEncoder | None:
    """Return what makes features of a table's columns, None for a model of a matrix.

    Parameters
    ----------
    model : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        A model.

    Returns
    -------
    TableEncoder or None
        The first step of a pipeline that begins with one.

    Examples
    --------
    >>> from smtl.tables import TableEncoder
    >>> encoder_of(Pipeline([("columns", TableEncoder()), ("model", None)]))
    TableEncoder()
    """
    first: Any = model.steps[0][1] if isinstance(model, Pipeline) else None
    # A model of a matrix needs no library of tables. Who has an encoder has imported its module.
    kind: Any = getattr(sys.modules.get("smtl.tables.encoder"), "TableEncoder", ())
    return first if isinstance(first, kind) else None


def takes_frames(model: Any) -> bool:
    """Return whether a model begins with a step of another library that takes columns of a data frame by their names.

    Parameters
    ----------
    model : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        A model.

    Returns
    -------
    bool
        True for scikit-learn's ColumnTransformer and what is skrub's.

    Examples
    --------
    >>> from sklearn.compose import ColumnTransformer
    >>> takes_frames(Pipeline([("columns", ColumnTransformer([])), ("model", None)]))
    True
    """
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    return isinstance(first, ColumnTransformer) or type(first).__module__.partition(".")[0] == "skrub"


def inside(model: Any, X: Any) -> Any:
    """Return what the steps before the classifier make of the features.

    Parameters
    ----------
    model : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    X : ndarray, sparse matrix or DataFrame of shape (n_samples, n_features)
        Features, or a table.

    Returns
    -------
    ndarray or sparse matrix
        What the classifier gets.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> inside(SMTLClassifier(), np.array([[1.0]]))
    array([[1.]])
    """
    if not isinstance(model, Pipeline) or len(model.steps) == 1:
        return X
    of_arrow: Any = getattr(sys.modules.get("pyarrow"), "Table", ())
    if isinstance(X, of_arrow) and takes_frames(model):
        X = X.select([str(name) for name in getattr(model, "feature_names_in_", X.column_names)]).to_pandas()
    return model[:-1].transform(X)


def names_inside(model: Any, features: Sequence[str]) -> list[str]:
    """Return the names of the features that reach the classifier.

    Parameters
    ----------
    model : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    features : sequence of str
        Names of what goes into the model: features, or columns of a table.

    Returns
    -------
    list of str
        The same names where steps before the classifier keep the features as they are.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> names_inside(SMTLClassifier().fit([[0.0], [1.0]], [0, 1]), ["beat"])
    ['beat']
    """
    d = int(classifier_of(model).n_features_in_)
    if encoder_of(model) is None and len(features) == d:
        return list(features)
    try:
        found = [str(name) for name in model[:-1].get_feature_names_out()]
    except (AttributeError, TypeError, ValueError):
        found = []
    return found if len(found) == d else [f"x{j}" for j in range(d)]


def some_rows(X: Any, rows: npt.NDArray[Any]) -> Any:
    """Return some rows of a matrix or a data frame.

    Parameters
    ----------
    X : ndarray, sparse matrix or DataFrame
        All rows.
    rows : ndarray of int
        Row numbers.

    Returns
    -------
    object
        Of the kind of X.

    Examples
    --------
    >>> some_rows(np.array([[1.0], [2.0]]), np.array([1]))
    array([[2.]])
    """
    if isinstance(X, np.ndarray) or sp.issparse(X):
        return X[rows]
    from smtl.tables.frames import as_table, is_frame

    return as_table(X).take(rows) if is_frame(X) else X[rows]


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
    X : ndarray, sparse matrix or DataFrame of shape (n_samples, n_features)
        Features, in the order of the model's; of a model of tables, a table.
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
        X = inside(model, X)
        scores = np.asarray(final.decision_function(X) if tasks is None else final.decision_function(X, tasks=tasks))
    return scores.reshape(X.shape[0], -1).astype(np.float64, copy=False)


def answers_of(scores: Float, classifier: Any) -> npt.NDArray[np.int8]:
    """Return 0 and 1: yes where the score is above zero, and of several classes for the one with the highest score.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_tasks)
        From `task_scores`.
    classifier : SMTLEnsemble, SMTLClassifier or SMTLClassifierCV
        What `classifier_of` returns.

    Returns
    -------
    ndarray of int8 of the same shape
        Answers.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier().fit([[0.0], [1.0], [3.0]], [0, 1, 2])
    >>> answers_of(np.array([[0.5, -1.0, 2.0]]), model)
    array([[0, 0, 1]], dtype=int8)
    """
    return np.asarray(classifier.yes(scores), dtype=np.int8)


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
    if not hasattr(classifier, "predict_proba"):
        raise ValueError(
            f"a model that was trained for the metric {classifier._metric().name} has no probabilities, only scores; "
            "train an ensemble, a linear model for log, or one with calibration='logistic'."
        )
    yes: Float = classifier.yes_probability(scores if task is None else scores[:, 0], task)
    yes = yes if task is None else yes[:, None]
    if classifier._kind == "multiclass":
        return np.asarray(yes / np.maximum(yes.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))
    return yes
