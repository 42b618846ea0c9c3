"""Parts of the rows as they are read: what has to be known of all of them before labels can be made of any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.estimators.targets import Kind, read_labels, read_targets
from smtl.parts.errors import SourceChangedError

__all__ = ["Raw", "Reading", "Survey", "encoded", "reading_of", "survey", "weights_of"]

Float: TypeAlias = npt.NDArray[np.float64]
Labels: TypeAlias = npt.NDArray[np.int8]
Numbers: TypeAlias = npt.NDArray[np.int64]

MOST_CLASSES = 1000  # of one column; more are no classes
BLOCK_ENTRIES = 2**16  # of X that moments are taken of at once, so that they stay in the cache


class Raw(NamedTuple):
    """A part of the rows as it was read.

    Attributes
    ----------
    X : array-like, data frame or sparse array of shape (n_rows, n_features)
        Features.
    y : array-like
        Labels.
    task : array-like of shape (n_rows,) or None
        The task of each row.
    number : int
        The number of the part.
    feature_names, label_names : list of str or None
        Names of columns, where X and y are arrays and have no names themselves.
    weight : array-like of shape (n_rows,) or None
        Weights of the rows.
    """

    X: Any
    y: Any
    task: Any
    number: int
    feature_names: list[Any] | None = None
    label_names: list[Any] | None = None
    weight: Any = None


class Survey(NamedTuple):
    """What is known of one part.

    Attributes
    ----------
    n_rows, n_features, n_labels : int
        Rows of X, its columns, and rows of y (they must be as many as X has).
    n_entries : int
        Stored entries of X.
    is_float32 : bool
        Whether X is of float32.
    feature_names, label_names : list of str or None
        Names of columns, where there are any.
    label_shape : tuple of int
        The shape of y but for the rows.
    values, tasks : list
        The labels, and the tasks, that there are.
    mean, squares : ndarray of shape (n_features,)
        Means of the features, and sums of squared differences from them.
    largest : float
        The largest absolute value in X.
    wrong : str
        What is wrong with X; empty if nothing is.
    weighted : bool
        Whether rows have weights.
    """

    n_rows: int
    n_features: int
    n_labels: int
    n_entries: int
    is_float32: bool
    feature_names: list[Any] | None
    label_names: list[Any] | None
    label_shape: tuple[int, ...]
    values: list[Any]
    tasks: list[Any]
    mean: Float
    squares: Float
    largest: float
    wrong: str
    weighted: bool


@dataclass
class Reading:
    """How parts are read: what labels mean, and what is known of the features of all rows.

    Attributes
    ----------
    kind, classes, names, title
        As in `smtl.estimators.targets.Targets`.
    no : float
        What stands for no in a matrix of labels: 0 or -1.
    n_rows : ndarray of int64 of shape (n_parts,)
        Rows of each part.
    n_features, n_entries : int
        Columns of X, and its stored entries.
    feature_names : list of str or None
        Their names.
    dtype : type
        float32 or float64.
    mean, deviation : ndarray of shape (n_features,)
        Moments of the features.
    largest : float
        The largest absolute value in X.
    weighted : bool
        Whether rows have weights.
    """

    kind: Kind
    classes: npt.NDArray[Any]
    names: npt.NDArray[Any]
    title: str | None
    no: float
    n_rows: Numbers
    n_features: int
    n_entries: int
    feature_names: list[Any] | None
    dtype: type[np.floating[Any]]
    mean: Float
    deviation: Float
    largest: float
    weighted: bool

    @property
    def n_tasks(self) -> int:
        """The number of tasks."""
        return len(self.names)


def survey(raw: Raw) -> Survey:
    """Return what is known of one part.

    Parameters
    ----------
    raw : Raw
        The part.

    Returns
    -------
    Survey
        A few numbers.

    Examples
    --------
    >>> survey(Raw(np.array([[1.0], [3.0]]), np.array(["a", "b"]), None, 0)).values
    ['a', 'b']
    """
    X = features(raw.X)
    values, labelled = read_labels(_labels(raw.y))
    mean, squares, largest = _moments(X)
    return Survey(
        X.shape[0],
        X.shape[1],
        len(values),
        X.nnz if sp.issparse(X) else X.size,
        X.dtype == np.float32,
        list(raw.X.columns) if getattr(raw.X, "columns", None) is not None else raw.feature_names,
        _names(raw.y) or raw.label_names,
        values.shape[1:],
        _distinct(values[labelled]),
        [] if raw.task is None else _distinct(np.asarray(raw.task).ravel()),
        mean,
        squares,
        largest,
        "" if np.isfinite(largest) else _where_not_finite(X, raw.number),
        raw.weight is not None and weights_of(raw) is not None,
    )


def weights_of(raw: Raw) -> Float | None:
    """Return the weights of a part's rows, or raise ValueError if they are none.

    Parameters
    ----------
    raw : Raw
        A part.

    Returns
    -------
    ndarray of shape (n_rows,) or None
        None where there are no weights.

    Examples
    --------
    >>> weights_of(Raw(np.eye(2), np.array([0, 1]), None, 0, weight=[1, 2]))
    array([1., 2.])
    """
    if raw.weight is None:
        return None
    weights = np.asarray(raw.weight, dtype=np.float64).ravel()
    if len(weights) != raw.X.shape[0] or not (np.isfinite(weights).all() and np.all(weights >= 0.0)):
        raise ValueError(
            f"sample_weight must be {raw.X.shape[0]} finite numbers, none of them negative, in part {raw.number}, got "
            f"{len(weights)} from {weights.min(initial=0.0):g} to {weights.max(initial=0.0):g} instead."
        )
    return weights


def features(X: Any) -> Any:
    """Return features as an array or a CSR array of float32 or float64.

    Examples
    --------
    >>> features([[1, 2]]).dtype
    dtype('float64')
    """
    if sp.issparse(X):
        X = sp.csr_array(X)
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    try:
        values = np.asarray(X)
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X must hold numbers in all of its columns, got {error} instead; encode or drop the columns that hold "
            "something else."
        ) from error
    if values.ndim != 2:
        raise ValueError(f"X must be two-dimensional, got a part of shape {values.shape} instead.")
    return values


def _labels(y: Any) -> Any:
    """Return labels of a part as they may be read: dense."""
    return y.toarray() if sp.issparse(y) else y


def _names(y: Any) -> list[Any] | None:
    """Return the names of labels, where there are any."""
    if getattr(y, "columns", None) is not None:
        return list(y.columns)
    name = getattr(y, "name", None)
    return None if name is None else [name]


def _distinct(values: npt.NDArray[Any]) -> list[Any]:
    """Return distinct values, not many more than there can be classes."""
    try:
        return list(np.unique(values)[: MOST_CLASSES + 1].tolist())
    except TypeError:  # of several kinds
        return sorted(set(values.tolist()), key=repr)[: MOST_CLASSES + 1]


def _moments(X: Any) -> tuple[Float, Float, float]:
    """Return means, sums of squared differences from them, and the largest absolute value, in float64."""
    n = max(X.shape[0], 1)
    if sp.issparse(X):
        mean = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / n
        square = np.asarray(X.multiply(X).sum(axis=0, dtype=np.float64)).ravel()
        largest = float(np.abs(X.data).max()) if X.nnz else 0.0
        return mean, np.maximum(square - n * mean * mean, 0.0), largest
    mean, squares, largest = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.float64(0.0)
    step = max(BLOCK_ENTRIES // max(X.shape[1], 1), 1)
    for start in range(0, X.shape[0], step):  # each block is looked at several times, but read from memory once
        block = X[start : start + step].astype(np.float64)
        largest = np.maximum(largest, np.maximum(block.max(initial=0.0), -block.min(initial=0.0)))
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is said later
            own = np.full(len(block), 1.0 / len(block)) @ block
            block -= own
            difference = own - mean
            mean += difference * (len(block) / (start + len(block)))
            squares += np.einsum("ij,ij->j", block, block)
            squares += difference**2 * (start * len(block) / (start + len(block)))
    return mean, squares, float(largest)


def _where_not_finite(X: Any, number: int) -> str:
    rows, columns = (X.nonzero() if sp.issparse(X) else np.nonzero(~np.isfinite(X)))[:2]
    if sp.issparse(X):
        wrong = ~np.isfinite(np.asarray(X[rows, columns]).ravel())
        rows, columns = rows[wrong], columns[wrong]
    return f"row {int(rows[0])} of part {number}, column {int(columns[0])}"


def reading_of(surveys: Sequence[Survey]) -> Reading:
    """Return how parts are read, or raise ValueError if they do not go together.

    Parameters
    ----------
    surveys : list of Survey
        One a part.

    Returns
    -------
    Reading
        For `encoded`.

    Examples
    --------
    >>> parts = [Raw(np.eye(2), np.array(labels), None, p) for p, labels in enumerate([["a", "b"], ["b", "c"]])]
    >>> reading_of([survey(part) for part in parts]).kind
    'multiclass'
    """
    filled = [s for s in surveys if s.n_rows] or list(surveys)
    _check_alike(surveys, filled)
    kind, classes, names, title, no = _meaning(filled)
    n = np.array([s.n_rows for s in surveys], dtype=np.int64)
    if n.sum() < 2:
        raise ValueError(f"X must have at least 2 rows, got {int(n.sum())} in {len(n)} parts instead.")
    mean, squares, seen = np.zeros(filled[0].n_features), np.zeros(filled[0].n_features), 0
    for s in filled:
        difference = s.mean - mean
        mean = mean + difference * (s.n_rows / (seen + s.n_rows))
        squares = squares + s.squares + difference**2 * (seen * s.n_rows / (seen + s.n_rows))
        seen += s.n_rows
    deviation = np.sqrt(squares / seen)
    # As in StandardScaler: what varies by nothing but rounding is a constant.
    constant = deviation <= 10.0 * np.finfo(np.float64).eps * np.abs(mean)
    return Reading(
        kind,
        classes,
        names,
        title,
        no,
        n,
        filled[0].n_features,
        sum(s.n_entries for s in surveys),
        filled[0].feature_names,
        np.float32 if all(s.is_float32 for s in filled) else np.float64,
        mean,
        np.where(constant, 1.0, deviation),
        max(s.largest for s in surveys),
        any(s.weighted for s in surveys),
    )


def _check_alike(surveys: Sequence[Survey], filled: Sequence[Survey]) -> None:
    """Raise ValueError where parts have other rows in y than in X, or other columns than the first."""
    for number, s in enumerate(surveys):
        if s.n_rows != s.n_labels:
            raise ValueError(
                f"y must have the same rows as X in every part, got {s.n_labels} and {s.n_rows} in part {number} "
                "instead. Divide both alike: by rechunk for arrays, repartition(divisions=...) for data frames."
            )
        if s.wrong:
            raise ValueError(f"X must be finite, got NaN or infinity in {s.wrong} instead; impute it, or drop the row.")
    for s in filled:
        for what in ("n_features", "feature_names", "label_shape", "label_names"):
            got, wanted = getattr(s, what), getattr(filled[0], what)
            if got != wanted:
                raise ValueError(f"All parts must have the same {what}, got {wanted!r} and {got!r} instead.")


def _meaning(filled: Sequence[Survey]) -> tuple[Kind, Any, Any, str | None, float]:
    """Return kind, classes, names, title of the targets, and what stands for no in a matrix."""
    values = _union([s.values for s in filled])
    if len(values) > MOST_CLASSES:
        raise ValueError(f"y must hold classes, got more than {MOST_CLASSES} distinct values instead.")
    first, tasks = filled[0], _union([s.tasks for s in filled])
    shape = first.label_shape
    if shape and shape[0] != 1:
        if tasks:
            raise ValueError("y must be one column where tasks is given, got several instead.")
        no = -1.0 if -1 in values else 0.0
        wrong = [value for value in values if value not in (no, 1)]
        if wrong:
            raise ValueError(
                f"y of several columns must hold 0 and 1 (or -1 and 1; missing: not labelled), got {wrong[0]!r} "
                "instead. For several classes in one column, fit on that column by itself."
            )
        if not values:
            raise ValueError("y must have at least one label, got only missing ones instead.")
        names = np.arange(shape[0]) if first.label_names is None else np.asarray(first.label_names)
        return "multilabel", np.arange(shape[0]), names, None, no
    n = max(len(values), len(tasks))
    if not values:
        raise ValueError("y must have at least one label, got only missing ones instead.")
    labels = np.array([values[min(k, len(values) - 1)] for k in range(n)])
    own = np.array([tasks[min(k, len(tasks) - 1)] for k in range(n)]) if tasks else None
    targets = read_targets(np.zeros((n, 1)), labels, own)
    title = first.label_names[0] if first.label_names and isinstance(first.label_names[0], str) else None
    return targets.kind, targets.classes, targets.names, title if targets.kind == "binary" else None, 0.0


def _union(lists: Sequence[list[Any]]) -> list[Any]:
    found = set().union(*lists)
    try:
        return sorted(found)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in found})
        raise ValueError(f"y must hold labels of one kind, got {' and '.join(kinds)} instead.") from error


def encoded(raw: Raw, reading: Reading) -> tuple[Any, Labels, Numbers | None, Float | None]:
    """Return features, labels as +1, -1 and 0, the number of each row's task, and weights.

    Parameters
    ----------
    raw : Raw
        A part.
    reading : Reading
        How it is read.

    Returns
    -------
    X, Y, task, weight
        As in `smtl.parts.part.Part`. A row that weighs nothing has no label.

    Examples
    --------
    >>> raw = Raw(np.eye(2), np.array(["a", "b"]), None, 0)
    >>> encoded(raw, reading_of([survey(raw)]))[1]
    array([[-1],
           [ 1]], dtype=int8)
    """
    X, weight = features(raw.X), weights_of(raw)
    values, labelled = read_labels(_labels(raw.y))
    if weight is not None:
        labelled = labelled & (weight > 0.0).reshape(-1, *[1] * (labelled.ndim - 1))
    if reading.kind == "multilabel":
        numbers = np.where(labelled, values, 0).astype(np.float64)
        Y = np.where(labelled, np.where(numbers == 1, 1, -1), 0).astype(np.int8)
        return X, np.ascontiguousarray(Y), None, weight
    values, labelled = values.ravel(), labelled.ravel()
    codes = np.full(len(values), -1)
    codes[labelled] = _places(values[labelled], reading.classes)
    yes = np.arange(len(reading.classes)) if reading.kind == "multiclass" else np.array([len(reading.classes) - 1])
    signs = np.where(codes[:, None] == yes, 1, -1).astype(np.int8)
    signs[~labelled] = 0
    if reading.kind != "tasks":
        return X, signs, None, weight
    return X, signs[:, 0], _places(np.asarray(raw.task).ravel(), reading.names), weight


def _places(values: npt.NDArray[Any], known: npt.NDArray[Any]) -> Numbers:
    """Return where values are among the known ones."""
    if values.dtype.kind != known.dtype.kind:
        values = np.array(values.tolist(), dtype=known.dtype)
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    wrong = known[place] != values
    if np.any(wrong):
        raise SourceChangedError(f"A label or task that was not there before has come up: {values[wrong][0]!r}.")
    return place.astype(np.int64)
