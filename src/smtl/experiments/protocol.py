"""One run of a comparison: the same split for every method, features scaled on its training part, all measures."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from smtl.datasets import Dataset
from smtl.estimators.folds import make_folds, stratified_folds
from smtl.estimators.targets import read_targets

__all__ = ["MEASURES", "Parts", "TaskFolds", "matrix_of_labels", "mean_f1", "measures", "scores_of", "seed_of", "split"]

Float: TypeAlias = npt.NDArray[np.float64]

# Name and what is better: 1 if more is, -1 if less is.
MEASURES = {
    "macro_f1": 1,
    "micro_f1": 1,
    "auc": 1,
    "average_precision": 1,
    "hamming_loss": -1,
    "subset_accuracy": 1,
}


@dataclass
class Parts:
    """The two parts of a split, features scaled.

    Attributes
    ----------
    X, X_test : ndarray or CSR matrix of shape (n, n_features)
        Features.
    Y, Y_test : ndarray of shape (n, n_tasks)
        Labels 0 and 1, NaN where there is none.
    """

    X: Any
    Y: npt.NDArray[Any]
    X_test: Any
    Y_test: npt.NDArray[Any]


def seed_of(*names: object) -> int:
    """Return a seed that is the same for the same names, on every machine and in every run.

    Parameters
    ----------
    *names : object
        What the seed is for.

    Returns
    -------
    int
        Below 2**32.

    Examples
    --------
    >>> seed_of("yeast", 3) == seed_of("yeast", 3) != seed_of("yeast", 4)
    True
    """
    return zlib.crc32("\0".join(map(str, names)).encode())


def matrix_of_labels(data: Dataset) -> npt.NDArray[Any]:
    """Return the labels of a data set with a column a task; NaN where a row does not belong to the task.

    Parameters
    ----------
    data : Dataset
        The data set.

    Returns
    -------
    ndarray of shape (n_samples, n_tasks)
        0, 1 and NaN.

    Examples
    --------
    >>> matrix_of_labels(Dataset(np.eye(2), np.array([1, 0]), tasks=np.array(["north", "south"])))
    array([[ 1., nan],
           [nan,  0.]])
    """
    if data.tasks is None:
        return data.Y.toarray() if sp.issparse(data.Y) else np.asarray(data.Y)
    names, task = np.unique(data.tasks, return_inverse=True)
    Y = np.full((len(data.Y), len(names)), np.nan)
    Y[np.arange(len(data.Y)), task] = data.Y
    return Y


def split(X: Any, Y: npt.NDArray[Any], seed: int, *, stratified: bool = True, train: float = 0.6) -> Parts:
    """Split the rows in two, and scale both parts by what the first one is like.

    Dense features are standardised; sparse ones are divided by their largest absolute value. Missing features are
    replaced by the mean of the training part, sparse ones by zero.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Features.
    Y : ndarray of shape (n_samples, n_tasks)
        Labels.
    seed : int
        For the split.
    stratified : bool, default=True
        Whether every task's positives and negatives are divided in the same proportion, as far as can be (iterative
        stratification), or the rows are drawn at random.
    train : float, default=0.6
        The share of the training part.

    Returns
    -------
    Parts
        The parts. Rows keep their order.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(50, 3)), rng.integers(2, size=(50, 2))
    >>> parts = split(X, Y, seed=1)
    >>> parts.X.shape, parts.X_test.shape
    ((30, 3), (20, 3))
    """
    n = len(Y)
    if not 0 < round(train * n) < n:
        raise ValueError(f"train must leave rows on both sides of the split of {n} rows, got {train!r} instead.")
    if sp.issparse(X):
        X = X.tocsr()
    rng = np.random.RandomState(seed)
    if stratified:
        labels = Y.ravel() if Y.shape[1:] == (1,) else Y
        part = stratified_folds(X, read_targets(X, labels), [train, 1.0 - train], rng)
        rows, test = np.flatnonzero(part == 0), np.flatnonzero(part == 1)
    else:
        order = rng.permutation(n)
        rows, test = np.sort(order[: round(train * n)]), np.sort(order[round(train * n) :])
    X_train, X_test = X[rows], X[test]
    values = X.data if sp.issparse(X) else X
    if np.isnan(values).any():
        fill = {"strategy": "constant", "fill_value": 0.0} if sp.issparse(X) else {"strategy": "mean"}
        imputer = SimpleImputer(**fill, keep_empty_features=True).fit(X_train)
        X_train, X_test = imputer.transform(X_train), imputer.transform(X_test)
    scaler = (MaxAbsScaler() if sp.issparse(X) else StandardScaler()).fit(X_train)
    return Parts(scaler.transform(X_train), Y[rows], scaler.transform(X_test), Y[test])


def scores_of(model: Any, X: Any) -> Float:
    """Return a model's score for each row and task: its decision function, or its probability of yes.

    Parameters
    ----------
    model : estimator
        Fitted to a matrix of labels.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Features.

    Returns
    -------
    ndarray of shape (n_samples, n_tasks)
        Scores; larger is likelier.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multioutput import MultiOutputClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> scores_of(MultiOutputClassifier(LogisticRegression()).fit(X, Y), X).shape
    (100, 5)
    """
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64).reshape(X.shape[0], -1)
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} must have decision_function or predict_proba, got neither: AUC needs scores."
        )
    probabilities = model.predict_proba(X)
    if not isinstance(probabilities, list):
        values = np.asarray(probabilities, dtype=np.float64)
        one_label = values.shape[1] == 2 and np.ndim(model.predict(X[:1])) == 1  # a column for no, and one for yes
        return values[:, 1:] if one_label else values
    # scikit-learn's multi-output estimators: one array a task, with a column a class that the task had in training.
    columns = []
    for given, classes in zip(probabilities, model.classes_, strict=True):
        yes = np.flatnonzero(np.asarray(classes) == 1)
        columns.append(given[:, yes[0]] if len(yes) else np.zeros(len(given)))
    return np.column_stack(columns)


def mean_f1(Y: npt.NDArray[Any], answers: npt.NDArray[Any]) -> float:
    """Return macro F1, leaving out labels that are NaN.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_tasks)
        The truth.
    answers : ndarray of shape (n_samples, n_tasks)
        0 and 1.

    Returns
    -------
    float
        The mean over tasks; a task without positives that are there or answered counts as 0.

    Examples
    --------
    >>> mean_f1(np.array([[1.0, np.nan], [0.0, 1.0]]), np.array([[1, 0], [0, 1]]))
    1.0
    """
    Y, answers = Y.reshape(len(Y), -1), answers.reshape(len(Y), -1)
    known = np.isfinite(Y.astype(np.float64))
    truth, said = known & (Y == 1), known & (answers == 1)
    hits, both = (truth & said).sum(axis=0), truth.sum(axis=0) + said.sum(axis=0)
    # Not scikit-learn's average="macro": for a single column it is the mean over yes and no.
    f1 = 2.0 * hits / np.maximum(both, 1)
    return float(np.mean(f1[known.any(axis=0)]))


def measures(Y: npt.NDArray[Any], scores: Float, answers: npt.NDArray[Any]) -> dict[str, float]:
    """Return all measures of a model on a test part.

    AUC and average precision are means over the tasks that have both classes there. A task without positives that are
    there or answered counts as 0 in macro F1, as in scikit-learn.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_tasks)
        The truth; NaN is left out.
    scores : ndarray of shape (n_samples, n_tasks)
        Larger is likelier.
    answers : ndarray of shape (n_samples, n_tasks)
        0 and 1.

    Returns
    -------
    dict of str to float
        One for each of `MEASURES`.

    Examples
    --------
    >>> Y = np.array([[1, 0], [0, 1], [1, 1]])
    >>> values = measures(Y, Y - 0.5, Y)
    >>> values["macro_f1"], values["auc"], values["hamming_loss"]
    (1.0, 1.0, 0.0)
    """
    known = np.isfinite(Y.astype(np.float64))
    auc, precision = [], []
    for y, s, k in zip(Y.T, scores.T, known.T, strict=True):
        y, s = y[k], s[k]
        if len(y) and 0 < y.sum() < len(y):
            auc.append(roc_auc_score(y, s))
            precision.append(average_precision_score(y, s))
    right = (answers == Y) | ~known
    return {
        "macro_f1": mean_f1(Y, answers),
        "micro_f1": float(f1_score(Y[known], answers[known], zero_division=0.0)),
        "auc": float(np.mean(auc)) if auc else float("nan"),
        "average_precision": float(np.mean(precision)) if precision else float("nan"),
        "hamming_loss": float(np.mean(Y[known] != answers[known])),
        "subset_accuracy": float(np.mean(right.all(axis=1))),
    }


class TaskFolds:
    """Folds for scikit-learn's searches, stratified over all tasks at once.

    Parameters
    ----------
    n_splits : int, default=5
        How many.
    random_state : int, default=0
        For what the labels leave open.

    Examples
    --------
    >>> X, Y = np.arange(8.0)[:, None], np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1], [0, 0], [0, 0]])
    >>> [Y[test].sum(axis=0).tolist() for _, test in TaskFolds(2).split(X, Y)]
    [[2, 2], [2, 2]]
    """

    def __init__(self, n_splits: int = 5, random_state: int = 0) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Yield the rows to train on, and those held out.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : ndarray of shape (n_samples, n_tasks)
            Labels.
        groups : None
            Not used.

        Yields
        ------
        train, test : ndarray of int
            Rows.
        """
        rng = np.random.RandomState(self.random_state)
        yield from make_folds(self.n_splits, X, y, read_targets(X, y), rng)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return how many folds there are.

        Parameters
        ----------
        X, y, groups : object
            Not used.

        Returns
        -------
        int
            The number.
        """
        return self.n_splits
