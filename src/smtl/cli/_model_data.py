"""The data that a model is used on."""

from __future__ import annotations

import sys
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtl.cli._errors import CommandError
from smtl.cli._model_options import list_of, read_for_model
from smtl.cli._reading import one_line_errors

if TYPE_CHECKING:
    from smtl.datasets import Dataset

__all__ = [
    "STREAM",
    "as_in_training",
    "check_ignored",
    "open_table",
    "other_columns",
    "read_as_in_training",
    "tell_new_values",
    "use_of",
]

STREAM = "-"
_TABLES = ("csv", "parquet")


def as_in_training(source: str, reading: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """Return options for the labels of a table as they were in training, unless the user gives others.

    Parameters
    ----------
    source : str
        The data.
    reading : dict
        The options that the user gives.
    metadata : dict
        The model's.

    Returns
    -------
    dict
        More options.
    """
    trained = (metadata.get("columns") or {}).get("reading") or {}
    if any(reading.get(key) is not None for key in ("labels", "prefix", "last", "class_column")):
        trained = {key: value for key, value in trained.items() if key in ("tasks", "categorical")}
    if not trained or not Path(source).is_file():
        return {}
    from smtl.datasets import format_of

    with one_line_errors():
        form = format_of(source)
    if form not in _TABLES:
        return {}
    if form == "parquet":  # whose columns have types
        trained = {key: value for key, value in trained.items() if key != "categorical"}
    return {key: value for key, value in trained.items() if reading.get(key) is None}


def other_columns(metadata: dict[str, Any]) -> dict[str, set[str]]:
    """Return the columns that were no features in training: those with labels, and those left out.

    Parameters
    ----------
    metadata : dict
        The model's.

    Returns
    -------
    dict
        ``labels``, those of classes and tasks among them, and ``ignored``.

    Examples
    --------
    >>> other_columns({"tasks": ["calm"], "columns": None})
    {'labels': {'calm'}, 'ignored': set()}
    """
    roles = metadata.get("columns") or {"labels": metadata["tasks"]}
    labels = {*roles["labels"], *list_of((roles.get("reading") or {}).get("labels")), roles.get("class")}
    return {
        "labels": {name for name in (*labels, roles.get("task")) if name},
        "ignored": {*(roles.get("ignored") or ())},
    }


def check_ignored(ignored: Collection[str], metadata: dict[str, Any], *, labels: bool = True) -> None:
    """End the command if ``--ignore`` names what the model needs.

    Parameters
    ----------
    ignored : collection of str
        Columns.
    metadata : dict
        The model's.
    labels : bool, default=True
        Whether it needs the labels, too.
    """
    for name in ignored:
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
    if any(name == column or name.startswith(f"{column}=") for name in features):
        return "feature"
    return "label" if column in other_columns(metadata)["labels"] else None


def read_as_in_training(
    source: str, reading: dict[str, Any], metadata: dict[str, Any], ignored: Collection[str]
) -> Dataset:
    """Return data for a model with their labels, without the columns that are left out now or were in training.

    Parameters
    ----------
    source : str
        The data.
    reading : dict
        The options that the user gives.
    metadata : dict
        The model's.
    ignored : collection of str
        Columns. They need not be there.

    Returns
    -------
    Dataset
        The data.
    """
    reading = reading | as_in_training(source, reading, metadata)
    unwanted = {*ignored, *other_columns(metadata)["ignored"]}
    with ExitStack() as stack, one_line_errors():
        table = open_table(source, reading, stack) if unwanted and source != STREAM else None
    if table is not None and not reading.get("header"):
        return read_for_model(source, reading, [name for name in table.names if name in unwanted])

    from smtl.model.training import without_columns

    data = read_for_model(source, reading)
    return without_columns(data, unwanted, missing="ignore")


def tell_new_values(data: Dataset, metadata: dict[str, Any]) -> None:
    """Print a warning for each nominal column with values that the training data did not have.

    Parameters
    ----------
    data : Dataset
        The data.
    metadata : dict
        The model's.
    """
    from smtl.model.matching import new_values

    for warning in new_values(data, metadata["features"]) if metadata["named_features"] else ():
        print("Warning:", warning, file=sys.stderr)


def open_table(source: str, reading: dict[str, Any], stack: ExitStack) -> Any:
    """Open a table that is read some rows at a time.

    Parameters
    ----------
    source : str
        The data; ``-`` for standard input.
    reading : dict
        The options that the user gives.
    stack : ExitStack
        What closes the file.

    Returns
    -------
    Table or None
        None for data that are read as a whole.
    """
    from smtl import datasets
    from smtl.datasets.files import opened
    from smtl.model.tables import open_csv, open_json_lines, open_parquet

    layout = {key: reading[key] for key in ("skip", "separator") if reading.get(key) is not None}
    if reading.get("header"):
        layout["header"] = False
    if source == STREAM:
        return open_csv(sys.stdin.buffer, "standard input", **layout)
    path = Path(source)
    if not path.exists() or (source.partition(":")[0] in datasets.dataset_names() and not path.is_file()):
        return None
    name = path.with_suffix("") if path.suffix.lower() in (".gz", ".bz2") else path
    if name.suffix.lower() in (".jsonl", ".ndjson"):
        stream, _ = stack.enter_context(opened(path))
        return open_json_lines(stream, path)
    form = "csv" if layout or name.suffix.lower() in (".csv", ".tsv") else datasets.format_of(path)
    if form == "parquet":
        return open_parquet(path)
    if form != "csv":
        return None
    if name.suffix.lower() == ".tsv":
        layout.setdefault("separator", "\t")
    stream, _ = stack.enter_context(opened(path))
    return open_csv(stream, path, **layout)
