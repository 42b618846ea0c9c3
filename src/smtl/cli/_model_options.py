"""Options that the commands for models share, and what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smtl.cli._errors import CommandError, reason
from smtl.cli._reading import list_of, one_line_errors, read_data

if TYPE_CHECKING:
    from rich.table import Table

    from smtl.datasets import Dataset

__all__ = [
    "Json",
    "Model",
    "Strict",
    "figure",
    "interval",
    "list_of",
    "plain_table",
    "read_for_model",
    "read_saved",
    "told",
    "writing_errors",
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Strict = Annotated[bool, typer.Option("--strict", help="Of tables: a missing column is an error.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that smtl fit has written.")]


def read_saved(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return a model and its metadata, or end the command with one line."""
    with one_line_errors():
        from smtl.model.persistence import read_model
        from smtl.model.scores import encoder_of

        if not path.exists():
            raise CommandError(f"{str(path)!r} must be a model's file, got no such file; smtl fit makes one.")
        fitted, metadata = read_model(path)
        if metadata["kind"] == "ranking":
            raise CommandError(f"{path}: a ranker is for use in Python, by smtl.load_model; commands take classifiers.")
    encoder = encoder_of(fitted)
    if encoder is not None:  # a model that was saved in Python says nothing else of its columns
        metadata["table"] = encoder.columns_
    return fitted, metadata


def read_for_model(source: str, reading: dict[str, Any]) -> Dataset:
    """Return data for a model: nominal features one-hot, of named sets as well, which have numbers for them by default.

    Examples
    --------
    >>> read_for_model("digits", {})
    Dataset('digits': 1797 rows, 64 features, 10 labels)
    """
    from smtl.datasets import dataset_names

    if reading.get("nominal") is None and source.partition(":")[0] in dataset_names():
        reading = reading | {"nominal": "one-hot"}
    return read_data(source, reading)


def plain_table() -> Table:
    """Return an empty table in the style of all commands."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)


def figure(value: float | None) -> str:
    """Return a score for a table.

    Examples
    --------
    >>> figure(0.12345), figure(None)
    ('0.123', '-')
    """
    return "-" if value is None else f"{value:.3f}"


def interval(entry: dict[str, Any], measure: str) -> str:
    """Return a score with its interval, for a table.

    Examples
    --------
    >>> interval({"f1": 0.5, "f1_interval": [0.4, 0.61]}, "f1")
    '0.500 (0.400-0.610)'
    """
    low_high = entry.get(f"{measure}_interval")
    text = figure(entry[measure])
    return text if low_high is None else f"{text} ({low_high[0]:.3f}-{low_high[1]:.3f})"


def told(facts: dict[str, Any], words: dict[str, str]) -> str:
    """Return what is known, in words; a model need not know all of it.

    Examples
    --------
    >>> told({"name": "songs.csv", "rows": 1200}, {"name": "{}", "rows": "{:,} rows", "checksum": "{}"})
    'songs.csv, 1,200 rows'
    """
    return ", ".join(text.format(facts[key]) for key, text in words.items() if facts.get(key) is not None)


def writing_errors(out: Path | str, error: OSError) -> CommandError:
    """Return the error for a file that could not be written."""
    return CommandError(f"cannot write {str(out)!r}: {reason(error)}.")
