"""A pipeline from data to answers: missing features are filled, features put on one scale, the tasks learnt jointly."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from smtl.datasets import Dataset
from smtl.ensemble import SMTLEnsemble
from smtl.estimators import SMTLClassifier, SMTLClassifierCV
from smtl.estimators.folds import stratified_folds
from smtl.estimators.targets import Targets, read_targets, task_numbers
from smtl.tables import TableEncoder
from smtl.tables.data import TableData

__all__ = [
    "Settings",
    "by_position",
    "check_data",
    "check_finite",
    "has_classes",
    "hold_out",
    "make_model",
    "named_labels",
    "prepared",
    "rows_of",
    "targets_for",
    "targets_of",
    "without_columns",
]

Rows: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Settings:
    """How a model is trained.

    Attributes
    ----------
    metric, penalty : str
        Names.
    C : {"cv", "auto"} or float
        "cv": chosen by cross-validation.
    cv, n_values : int
        Folds and values of C of that search.
    threshold : str or float, optional
        How the cut is chosen; None for the estimator's own way.
    scale : bool
        Whether to put features on one scale.
    seed : int
        For folds and splits.
    jobs : int
        Threads.
    model : {"linear", "ensemble"}
        What is trained. An ensemble has its own metric, penalty, C and scaling.
    preset : {"fast", "balanced", "best"}
        Of an ensemble.
    scoring : str, optional
        What the model is judged by; None for the estimator's own.
    costs : pair or dict of pairs, optional
        What a miss and a false alarm cost, for all tasks or by their names.
    calibration : {"logistic", "isotonic"}, optional
        Of a linear model: what makes probabilities of its scores.

    Examples
    --------
    >>> Settings(C=0.5).metric
    'f1'
    """

    metric: str = "f1"
    penalty: str = "l21"
    C: str | float = "cv"
    cv: int = 5
    n_values: int = 20
    threshold: str | float | None = None
    scale: bool = True
    seed: int = 0
    jobs: int = 1
    model: str = "linear"
    preset: str = "balanced"
    scoring: str | None = None
    costs: tuple[float, float] | dict[str, tuple[float, float]] | None = None
    calibration: str | None = None


class _NamedColumns(np.ndarray):
    """A matrix of labels that knows the names of its columns, as a data frame does."""

    columns: list[str]


def make_model(
    settings: Settings, *, sparse: bool = False, columns: Mapping[str, Sequence[str]] | None = None, verbose: int = 0
) -> Pipeline:
    """Return the pipeline that is to be fitted.

    The columns of a table become features by `smtl.tables.TableEncoder`. Of matrices, an ensemble takes the features
    as they are: each of its learners treats them in its own way. Before a linear model, dense features are
    standardised, and missing ones take the mean; sparse features are divided by their largest absolute value, and
    missing ones are zero.

    Parameters
    ----------
    settings : Settings
        How to train.
    sparse : bool, default=False
        Whether the features are sparse.
    columns : dict, optional
        Of a table: what the user says of its columns.
    verbose : int, default=0
        For the classifier.

    Returns
    -------
    Pipeline
        Its last step is ``classifier``; before it is ``columns`` for a table, or ``impute`` and ``scale`` (unless the
        settings say no) for a linear model of a matrix.

    Examples
    --------
    >>> make_model(Settings(C=0.5), sparse=True).named_steps["scale"]
    MaxAbsScaler()
    """
    common: dict[str, Any] = {
        "n_jobs": settings.jobs,
        "random_state": settings.seed,
        "verbose": verbose,
        **({} if settings.threshold is None else {"threshold": settings.threshold}),
        **({} if settings.costs is None else {"costs": settings.costs}),
    }
    judged: dict[str, Any] = {} if settings.scoring is None else {"scoring": settings.scoring}
    if settings.model == "ensemble":
        classifier: Any = SMTLEnsemble(preset=settings.preset, cv=settings.cv, **judged, **common)
    elif settings.C == "cv":
        classifier = SMTLClassifierCV(
            settings.metric, settings.penalty, Cs=settings.n_values, cv=settings.cv, **judged, **common
        )
    else:
        classifier = SMTLClassifier(settings.metric, settings.penalty, C=settings.C, **common)
    if settings.model != "ensemble":
        classifier.set_params(calibration=settings.calibration)
    before: list[tuple[str, Any]] = []
    if columns is not None:
        before = [("columns", TableEncoder(**{kind: list(names) for kind, names in columns.items()}))]
    elif settings.model != "ensemble":
        before = prepared(sparse=sparse, scale=settings.scale)
    return Pipeline([*before, ("classifier", classifier)])


def prepared(*, sparse: bool, scale: bool) -> list[tuple[str, Any]]:
    """Return the steps of a pipeline before a linear model.

    Parameters
    ----------
    sparse : bool
        Whether the features are sparse.
    scale : bool
        Whether to put them on one scale.

    Returns
    -------
    list of (str, transformer)
        ``impute`` and ``scale``.

    Examples
    --------
    >>> prepared(sparse=True, scale=False)
    [('impute', SimpleImputer(fill_value=0.0, keep_empty_features=True, strategy='constant'))]
    """
    fill: dict[str, Any] = {"strategy": "constant", "fill_value": 0.0} if sparse else {"strategy": "mean"}
    steps: list[tuple[str, Any]] = [("impute", SimpleImputer(**fill, keep_empty_features=True))]
    if scale:
        steps.append(("scale", MaxAbsScaler() if sparse else StandardScaler()))
    return steps


def without_columns(data: Dataset, names: Collection[str], *, missing: Literal["raise", "ignore"] = "raise") -> Dataset:
    """Return the data without some columns; of a nominal one, without all of its values.

    Parameters
    ----------
    data : Dataset
        The data.
    names : collection of str
        Columns.
    missing : {"raise", "ignore"}, default="raise"
        What to do about a name that no column has.

    Returns
    -------
    Dataset
        The rest.

    Examples
    --------
    >>> data = Dataset(np.eye(3), np.eye(3), ("id", "key=major", "key=minor"))
    >>> without_columns(data, ["key"]).feature_names
    ('id',)
    """
    known = data.feature_names or tuple(f"x{j}" for j in range(data.X.shape[1]))
    found: set[int] = set()
    for name in names:
        places = {j for j, feature in enumerate(known) if feature == name or feature.startswith(f"{name}=")}
        if not places and missing == "raise":
            raise ValueError(f"columns to ignore must be features, got {name!r} instead.")
        found |= places
    if not found:
        return data
    keep = [j for j in range(len(known)) if j not in found]
    if isinstance(data, TableData):
        return replace(data, X=data.X.select(keep), feature_names=tuple(known[j] for j in keep))
    return replace(data, X=data.X[:, keep], feature_names=tuple(known[j] for j in keep))


def named_labels(data: Dataset) -> tuple[Any, list[str]]:
    """Return labels in the form that `fit` takes, and the names of the tasks.

    Parameters
    ----------
    data : Dataset
        The data.

    Returns
    -------
    Y : ndarray
        A matrix whose columns have names; a vector for a single label, for classes, and where tasks have their own
        rows.
    names : list of str
        Of the tasks; of two classes, the second one.

    Examples
    --------
    >>> named_labels(Dataset(np.eye(2), np.array([[1], [0]]), label_names=("red",)))
    (array([1, 0]), ['red'])
    """
    if data.tasks is not None:
        return data.Y, [str(task) for task in np.unique(data.tasks).tolist()]
    Y = data.Y.toarray() if sp.issparse(data.Y) else data.Y
    names = list(data.label_names or map(str, range(Y.shape[1])))
    if has_classes(data):
        return np.array(names, dtype=object)[Y.argmax(axis=1)], names if len(names) > 2 else names[1:]
    if Y.shape[1] == 1:
        return Y[:, 0], names
    named = np.asarray(Y).view(_NamedColumns)
    named.columns = names
    return named, names


def has_classes(data: Dataset) -> bool:
    """Return whether each row has one of several classes, rather than a yes or no for each label.

    Examples
    --------
    >>> has_classes(Dataset(np.eye(2), np.eye(2)))
    False
    """
    return isinstance(data, TableData) and data.form is not None and data.form.kind == "class"


def targets_of(data: Dataset) -> Targets:
    """Return the labels of a data set as tasks.

    Examples
    --------
    >>> targets_of(Dataset(np.eye(2), np.array([[1, 0], [0, 1]]))).counts()
    (array([1, 1]), array([1, 1]))
    """
    return read_targets(_stand_in(data), named_labels(data)[0], data.tasks)


def _stand_in(data: Dataset) -> Any:
    """Return the features, or, of a table, the numbers of its rows: where features only tell rows apart."""
    return np.arange(float(data.X.shape[0]))[:, None] if isinstance(data, TableData) else data.X


def targets_for(data: Dataset, names: Sequence[str], classifier: Any) -> Targets:
    """Return the labels of new data as the tasks of a model, matched by name, or by position where there are none.

    Parameters
    ----------
    data : Dataset
        The data.
    names : sequence of str
        The model's tasks.
    classifier : SMTLClassifier or SMTLClassifierCV
        The model's classifier.

    Returns
    -------
    Targets
        The truth. Labels that the model does not have are left out.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier().fit([[0.0], [1.0], [2.0]], [[0, 1], [0, 0], [1, 0]])
    >>> data = Dataset(np.eye(2), np.array([[1, 0], [1, 1]]), label_names=("sad", "calm"))
    >>> targets_for(data, ["calm", "sad"], model).Y
    array([[-1,  1],
           [ 1,  1]], dtype=int8)
    """
    if (data.tasks is None) != (classifier._kind != "tasks"):
        raise ValueError(
            "the data must have a column that says each row's task, as the training data had, got none; "
            "pass --task-column."
            if data.tasks is None
            else "the data must have labels in columns, as the training data had, got a task for each row instead."
        )
    if data.tasks is not None:
        task = task_numbers(data.tasks, classifier._kind, classifier.task_names_, len(data.tasks))
        return _labelled(Targets("tasks", np.array([0, 1]), classifier.task_names_, _signs(data.Y), task))
    Y = _signs(data.Y.toarray() if sp.issparse(data.Y) else data.Y)
    if has_classes(data) and classifier._kind == "binary":
        return _labelled(Targets("multilabel", np.arange(1), np.asarray(names), Y[:, [-1]]))
    if data.label_names is None or by_position(data.label_names, names, classifier):
        if Y.shape[1] != len(names):
            raise ValueError(f"there must be {len(names)} labels, as the model has, got {Y.shape[1]} instead.")
    else:
        place = {name: j for j, name in enumerate(data.label_names)}
        missing = [name for name in names if name not in place]
        if missing:
            known = ", ".join(data.label_names[:8])
            raise ValueError(f"the labels must be those of the model; {missing[0]!r} is missing, there are: {known}.")
        Y = Y[:, [place[name] for name in names]]
    return _labelled(Targets("multilabel", np.arange(len(names)), np.asarray(names), Y))


def by_position(labels: Sequence[str], names: Sequence[str], classifier: Any) -> bool:
    """Return whether labels are to be matched by their position, because the model was trained without names of them.

    Parameters
    ----------
    labels : sequence of str
        Of the data.
    names : sequence of str
        The model's tasks.
    classifier : SMTLClassifier or SMTLClassifierCV
        The model's classifier.

    Returns
    -------
    bool
        True or False.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier().fit([[0.0], [1.0], [2.0]], [[0, 1], [0, 0], [1, 0]])
    >>> by_position(["calm", "sad"], ["0", "1"], model), by_position(["calm", "sad"], ["sad", "calm"], model)
    (True, False)
    """
    own = [str(name) for name in np.asarray(classifier.task_names_).tolist()]
    numbered = classifier._kind == "binary" or (
        classifier._kind == "multilabel" and own == [*map(str, range(len(own)))]
    )
    return numbered and list(names) == own and not set(names) & set(labels)


def _labelled(targets: Targets) -> Targets:
    if not targets.Y.any():
        raise ValueError("at least one row must have a label, got none.")
    return targets


def _signs(labels: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
    return np.where(np.isnan(labels), 0, np.where(labels > 0, 1, -1)).astype(np.int8)


def check_data(data: Dataset) -> None:
    """Refuse data that nothing can be learnt from: infinite features, or no label with both classes.

    Parameters
    ----------
    data : Dataset
        The data.

    Examples
    --------
    >>> check_data(Dataset(np.eye(2), np.array([[1], [1]])))
    Traceback (most recent call last):
        ...
    ValueError: at least one label must have rows of both classes, 0 and 1, got none; the only label is 1 in all rows.
    """
    if isinstance(data, TableData):
        _check_columns(data)
    check_finite(data)
    if data.X.shape[1] == 0:
        raise ValueError("there must be at least one feature, got none.")
    named = data.Y if data.tasks is None else data.Y[:, None]
    values = np.asarray(named.toarray() if sp.issparse(named) else named, dtype=np.float64)
    if np.isnan(values).all():
        raise ValueError("at least one row must have a label, got none.")
    if len(targets_of(data).learnable()) == 0:
        what = "the only label is" if values.shape[1] == 1 else "the labels are"
        found = np.unique(values[~np.isnan(values)])
        which = f"{what} {found[0]:.0f} in all rows" if len(found) == 1 else "each is the same in all rows"
        raise ValueError(f"at least one label must have rows of both classes, 0 and 1, got none; {which}.")


def _check_columns(table: TableData) -> None:
    """Refuse infinite numbers in the columns of a table that may become features."""
    for name, column in zip(table.X.column_names, table.X.columns, strict=True):
        if name in table.said.get("ignore", ()) or not pa.types.is_floating(column.type):
            continue
        infinite = pc.is_inf(column)
        if pc.any(infinite).as_py():
            row = pc.index(infinite, True).as_py() + 1
            raise ValueError(f"row {row:,}: {name!r} must be finite (or missing), got an infinite value.")


def check_finite(data: Dataset) -> None:
    """Refuse infinite features, by name; a model of tables looks at the columns that it needs itself."""
    if isinstance(data, TableData):
        return
    values = data.X.data if sp.issparse(data.X) else data.X
    infinite = np.isinf(values)
    if infinite.any():
        place = int(np.argmax(infinite))  # among the entries of a sparse matrix, or all values
        if sp.issparse(data.X):
            row, column = int(np.searchsorted(data.X.indptr, place, "right")) - 1, data.X.indices[place]
        else:
            row, column = divmod(place, data.X.shape[1])
        name = (data.feature_names or {column: f"x{column}"})[column]
        raise ValueError(f"features must be finite (or missing), got an infinite value in {name!r}, row {row + 1}.")


def hold_out(data: Dataset, share: float, seed: int) -> tuple[Rows, Rows]:
    """Return the rows to train on and those to test on, each task's positives and negatives in the same proportion.

    Parameters
    ----------
    data : Dataset
        The data.
    share : float
        Of the rows to test on, 0 for none.
    seed : int
        For the split.

    Returns
    -------
    train, test : ndarray
        Ascending row numbers.

    Examples
    --------
    >>> train, test = hold_out(Dataset(np.eye(8), np.array([[0, 1] * 4]).T), 0.25, seed=0)
    >>> len(train), len(test)
    (6, 2)
    """
    n = data.X.shape[0]
    if share == 0:
        return np.arange(n), np.arange(0)
    if not 0 < round(share * n) < n:
        raise ValueError(f"test-size must leave rows on both sides of the split of {n} rows, got {share!r} instead.")
    X = _stand_in(data)
    if np.isnan(X.data if sp.issparse(X) else X).any():
        X = X.copy()
        values = X.data if sp.issparse(X) else X
        values[np.isnan(values)] = 0.0
    part = stratified_folds(X, targets_of(data), [1.0 - share, share], np.random.RandomState(seed))
    return np.flatnonzero(part == 0), np.flatnonzero(part == 1)


def rows_of(data: Dataset, rows: Rows) -> Dataset:
    """Return some of the rows."""
    tasks = None if data.tasks is None else data.tasks[rows]
    weights = None if data.weights is None else data.weights[rows]
    X = data.X.take(rows) if isinstance(data, TableData) else data.X[rows]
    return replace(data, X=X, Y=data.Y[rows], tasks=tasks, weights=weights)
