"""The data that a model is used on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from smtl.cli._errors import CommandError
from smtl.cli._guard import STREAM
from smtl.cli._model_options import read_for_model
from smtl.cli._reading import LABEL_OPTIONS, is_table, layout_options, list_of, one_line_errors

if TYPE_CHECKING:
    from smtl.datasets import Dataset
    from smtl.tables.data import TableData

# Options of what columns are: the model knows that.
_KNOWN_TO_THE_MODEL = ("number", "category", "text", "date", "nominal", "xml", "ignore")
# What is done with a table whose columns a model of tables takes.
Completed: TypeAlias = "Callable[[TableData], tuple[Dataset, Any]]"

__all__ = [
    "check_ignored",
    "is_table_source",
    "label_form",
    "other_columns",
    "read_as_in_training",
    "tell_columns",
    "tell_new_values",
    "use_of",
]


def label_form(metadata: dict[str, Any]) -> Any:
    """Return how the labels of the training data were written, None if they were no columns of a table.

    Parameters
    ----------
    metadata : dict
        The model's.

    Returns
    -------
    LabelForm or None
        The form.
    """
    if metadata.get("labels") is None:
        return None
    from smtl.tables.labels import LabelForm

    with one_line_errors():
        return LabelForm.from_json(metadata["labels"])


def other_columns(metadata: dict[str, Any]) -> dict[str, set[str]]:
    """Return the columns that were no features in training: those with labels, and those left out.

    Parameters
    ----------
    metadata : dict
        The model's.

    Returns
    -------
    dict
        ``labels``, those of classes, tasks and weights among them, and ``ignored``.

    Examples
    --------
    >>> other_columns({"tasks": ["calm"], "columns": None})
    {'labels': {'calm'}, 'ignored': set()}
    """
    roles = metadata.get("columns") or {"labels": metadata["tasks"]}
    return {
        "labels": {name for name in (*roles["labels"], roles.get("task"), roles.get("weight")) if name},
        "ignored": {*(roles.get("ignored") or ())},
    }


def check_ignored(reading: dict[str, Any], metadata: dict[str, Any], *, labels: bool = True) -> None:
    """End the command if ``--ignore`` names what the model needs.

    Parameters
    ----------
    reading : dict
        The options that the user gives.
    metadata : dict
        The model's.
    labels : bool, default=True
        Whether it needs the labels, too.
    """
    for name in list_of(reading.get("ignore")):
        use = use_of(name, metadata)
        if use == "feature" or (use and labels):
            raise CommandError(
                f"--ignore must name columns that the model does not need; {name!r} is a {use} of the model."
            )


def use_of(column: str, metadata: dict[str, Any]) -> str | None:
    """Return what a model needs a column for.

    Parameters
    ----------
    column : str
        Its name.
    metadata : dict
        The model's.

    Returns
    -------
    {"feature", "label"} or None
        None if it does not need it.

    Examples
    --------
    >>> metadata = {"tasks": ["calm"], "features": ["beat", "key=major"], "named_features": True}
    >>> use_of("key", metadata), use_of("calm", metadata), use_of("id", metadata)
    ('feature', 'label', None)
    """
    features = metadata["features"] if metadata["named_features"] else ()
    left_out = {entry["column"] for entry in metadata.get("table") or () if entry["read_as"] == "left out"}
    if any(name == column or name.startswith(f"{column}=") for name in features) and column not in left_out:
        return "feature"
    return "label" if column in other_columns(metadata)["labels"] else None


def is_table_source(source: str, reading: dict[str, Any]) -> bool:
    """Return whether what a command is given is a table, in a file or a stream.

    Parameters
    ----------
    source : str
        The data; ``-`` for standard input.
    reading : dict
        The options that the user gives.

    Returns
    -------
    bool
        False for named sets and the formats of the field.
    """
    from smtl.datasets import dataset_names

    if source == STREAM:
        return True
    path = Path(source)
    if not path.exists() or (source.partition(":")[0] in dataset_names() and not path.is_file()):
        return False
    with one_line_errors():
        return is_table(source, reading)


def read_as_in_training(
    source: str,
    reading: dict[str, Any],
    fitted: Any,
    metadata: dict[str, Any],
    *,
    strict: bool = False,
    kept: Collection[str] = (),
) -> tuple[Dataset, Any]:
    """Return data for a model with their labels, and their features as the model takes them.

    Of a model of a table it tells which columns are missing, and which are passed over.

    Parameters
    ----------
    source : str
        The data.
    reading : dict
        The options that the user gives.
    fitted : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        The model.
    metadata : dict
        The model's.
    strict : bool, default=False
        Whether a missing column of a table is an error.
    kept : collection of str
        Columns that the user has named.

    Returns
    -------
    data : Dataset
        The data, without the columns that are left out now or were in training. Of a model of a table, a table with
        all of its columns.
    X : ndarray, CSR matrix or pyarrow.Table
        Features.
    """
    read = _table_as_in_training if is_table_source(source, reading) else _matrix_as_in_training
    told = [*kept, *list_of(reading.get("ignore"))]
    return read(source, reading, fitted, metadata, lambda data: _completed(data, metadata, source, strict, told))


def _matrix_as_in_training(
    source: str, reading: dict[str, Any], fitted: Any, metadata: dict[str, Any], completed: Completed
) -> tuple[Dataset, Any]:
    """Return what is no table; of a model of tables, as a table."""
    from smtl.model.matching import arranged, as_columns
    from smtl.model.scores import encoder_of
    from smtl.model.training import without_columns

    unwanted = {*list_of(reading.get("ignore")), *other_columns(metadata)["ignored"]}
    data = read_for_model(source, reading | {"ignore": None})
    data = without_columns(data, unwanted, missing="ignore")
    with one_line_errors():
        if encoder_of(fitted) is not None:
            return completed(as_columns(data, metadata["features"]))
        return data, arranged(data, metadata["features"], metadata["named_features"])


def _table_as_in_training(
    source: str, reading: dict[str, Any], fitted: Any, metadata: dict[str, Any], completed: Completed
) -> tuple[Dataset, Any]:
    """Return a table; of a model of matrices, as a matrix."""
    from smtl.model.matching import arranged
    from smtl.model.scores import encoder_of, takes_frames
    from smtl.tables.data import read_table_data, without_header
    from smtl.tables.matrix import as_matrix

    encoder = encoder_of(fitted)
    ignored = [name for name in list_of(reading.get("ignore")) if use_of(name, metadata) is None]
    with one_line_errors():
        table = read_table_data(source, **_table_options(source, reading, metadata))
        if reading.get("header") and encoder is not None:
            found = without_header(table.X, metadata["features"])
            table = replace(table, X=found, feature_names=tuple(found.column_names))
        if encoder is not None:
            return completed(table)
        if takes_frames(fitted):
            missing = [name for name in metadata["features"] if name not in table.X.column_names]
            if missing:
                raise CommandError(f"{source}: {_listed(missing)} missing.")
            return table, table.X.select(metadata["features"])
        unwanted = {*ignored, *other_columns(metadata)["ignored"]} & set(table.X.column_names)
        data = as_matrix(replace(table, said={"ignore": tuple(unwanted)}), "one-hot", source)
        return data, arranged(data, metadata["features"], metadata["named_features"])


def _table_options(source: str, reading: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """Return how a table is read: as the user says, and else with the labels and the task of the training data."""
    given = {key: value for key, value in reading.items() if value is not None}
    if "labels" in given:
        given["labels"] = list_of(given["labels"])
    if "header" in given:
        given["header"] = False
    task, form = (metadata.get("columns") or {}).get("task"), label_form(metadata)
    if task and task != "task:":
        given.setdefault("tasks", task)
    if not any(key in given for key in LABEL_OPTIONS):
        given |= _labels_of(source, reading, metadata) if form is None else {"form": form}
    return {
        k: v for k, v in given.items() if k not in ("number", "category", "text", "date", "nominal", "xml", "ignore")
    }


def _labels_of(source: str, reading: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the label columns of a table by the names of the model's tasks, where it has them all."""
    from smtl.tables.batches import open_batches

    with one_line_errors(), open_batches(source, **layout_options(reading)) as batches:
        names = [name for name in metadata["tasks"] if name in batches.names]
        return {"labels": names} if len(names) == len(metadata["tasks"]) else {}


def _completed(
    data: TableData, metadata: dict[str, Any], source: str, strict: bool, kept: Collection[str]
) -> tuple[Dataset, Any]:
    """Return the columns of the training data, missing ones as missing values; tell of these, and of others."""
    import pyarrow as pa

    from smtl.tables.one_hot import one_hot_columns

    X, features = data.X, metadata["features"]
    missing = tell_columns(X.column_names, metadata, source, strict=strict, kept=kept)
    known = [*features, *chain.from_iterable(one_hot_columns(X.column_names, features).values())]
    there = set(X.column_names)
    X = X.select([name for name in known if name in there])
    for name in missing:
        X = X.append_column(name, pa.nulls(X.num_rows, pa.string()))
    return replace(data, X=X, feature_names=tuple(X.column_names)), X


def tell_columns(
    names: Sequence[str], metadata: dict[str, Any], source: str, *, strict: bool, kept: Collection[str] = ()
) -> list[str]:
    """Tell which columns of the training data are missing, and which are passed over.

    Parameters
    ----------
    names : sequence of str
        The columns of new data.
    metadata : dict
        Of a model of a table.
    source : str
        What the data are called.
    strict : bool
        Whether a missing column is an error.
    kept : collection of str
        Columns that the user has named.

    Returns
    -------
    list of str
        Columns that are missing.
    """
    from smtl.datasets.columns import LABEL
    from smtl.tables.one_hot import one_hot_columns

    used = [entry["column"] for entry in metadata["table"] if entry["read_as"] != "left out"]
    one_hot = one_hot_columns(names, used)
    there = set(names)
    missing = [name for name in used if name not in there and name not in one_hot]
    labels = [f"{LABEL}{name}" for name in metadata["tasks"]]  # as `smtl convert` writes them
    known = {*metadata["features"], *set.union(*other_columns(metadata).values()), *labels, *kept}
    known.update(*one_hot.values())
    extra = [name for name in names if name not in known]
    if missing and (strict or len(missing) == len(used)):
        found = f"; {_listed(extra)} not in the training data" if extra else ""
        if all(name.isdecimal() for name in used):  # positions, of a table without names
            found += "; if the data have no names of columns, add --no-header"
        raise CommandError(
            f"{source}: the columns must be those of the training data, but {_listed(missing)} missing{found}."
        )
    if missing:
        print(f"Warning: {_listed(missing)} missing, and taken as missing values.", file=sys.stderr)
    if extra:
        print(f"Note: {_listed(extra)} not in the training data, and passed over.", file=sys.stderr)
    return missing


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"{'columns' if len(names) > 1 else 'column'} {shown} {'are' if len(names) > 1 else 'is'}"


def tell_new_values(data: Dataset, fitted: Any, metadata: dict[str, Any]) -> None:
    """Print a warning for each nominal column with values that the training data did not have.

    Parameters
    ----------
    data : Dataset
        The data.
    fitted : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        The model.
    metadata : dict
        The model's.
    """
    from smtl.model.matching import new_values
    from smtl.model.scores import encoder_of
    from smtl.tables.data import TableData

    encoder = encoder_of(fitted)
    if encoder is not None:
        found = encoder.new_values(data.X) if isinstance(data, TableData) else []
    else:
        found = new_values(data, metadata["features"]) if metadata["named_features"] else []
    for warning in found:
        print("Warning:", warning, file=sys.stderr)
