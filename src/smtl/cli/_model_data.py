"""The data that a model is used on."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from smtl.cli._reading import one_line_errors

__all__ = ["STREAM", "as_in_training", "open_table"]

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
        trained = {key: value for key, value in trained.items() if key == "tasks"}
    if not trained or not Path(source).is_file():
        return {}
    from smtl.datasets import format_of

    with one_line_errors():
        form = format_of(source)
    return {key: value for key, value in trained.items() if reading.get(key) is None} if form in _TABLES else {}


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
