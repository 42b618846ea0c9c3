"""What ``smtl fit`` and ``smtl inspect`` tell of a table: how it was read, and what became of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from smtl.cli._model_options import plain_table

if TYPE_CHECKING:
    from rich.console import Console

    from smtl.datasets import Dataset

__all__ = ["print_columns", "tell_reading"]

_MOST = 40  # columns that are shown one by one
_NOTES = 12  # labels whose writing is told


def tell_reading(console: Console, data: Dataset) -> None:
    """Print how a table was read, and what its labels are.

    Parameters
    ----------
    console : Console
        Where to print.
    data : Dataset
        Any data; nothing is printed of other formats.
    """
    from smtl.tables.data import TableData

    if not isinstance(data, TableData) or data.layout is None:
        return
    n, d = data.X.shape
    lines = {"Read": f"{n:,} rows, {d:,} columns besides labels; {data.layout.in_words()}"}
    for name, value in lines.items():
        console.print(f"{name + ':':<18}{value}", markup=False, soft_wrap=True)
    notes = list(data.notes)
    if len(notes) > _NOTES:
        notes = [*notes[:_NOTES], f"and {len(notes) - _NOTES:,} more labels"]
    for k, note in enumerate(notes):
        console.print(f"{'' if k else 'Labels:':<18}{note}", markup=False, soft_wrap=True)


def print_columns(console: Console, columns: Sequence[dict[str, Any]]) -> None:
    """Print what each column was read as, and what became of it.

    Parameters
    ----------
    console : Console
        Where to print.
    columns : list of dict
        ``columns_`` of `smtl.tables.TableEncoder`.
    """
    from rich.markup import escape

    table = plain_table()
    table.add_column("Column", overflow="fold")
    table.add_column("Read as", no_wrap=True)
    table.add_column("Features", justify="right", no_wrap=True)
    table.add_column("Why", overflow="fold")
    for entry in columns[:_MOST]:
        n = f"{entry['features']:,}" if entry["features"] else "-"
        table.add_row(escape(entry["column"]), escape(entry["read_as"]), n, escape(entry["why"]))
    console.print(table)
    if len(columns) > _MOST:
        rest = columns[_MOST:]
        left_out = sum(entry["read_as"] == "left out" for entry in rest)
        console.print(f"and {len(rest):,} more columns, {left_out:,} of them left out", soft_wrap=True)
