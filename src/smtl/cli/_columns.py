"""What ``smtl fit`` and ``smtl inspect`` tell of a table: how it was read, and what became of its columns."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby
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
    from smtl.tables.layout import value_among

    if not isinstance(data, TableData) or data.layout is None:
        return
    n, d = data.X.shape
    lines = {"Read": f"{n:,} rows, {d:,} columns besides labels; {data.layout.in_words()}"}
    for name, value in lines.items():
        console.print(f"{name + ':':<18}{value}", markup=False, soft_wrap=True)
    has_names = data.layout.header and data.layout.form in ("csv", "excel")
    odd = value_among(data.X.column_names) if has_names else None
    if odd is not None:
        told = f"line {data.layout.skip + 1} was taken for names of columns, {odd!r} among them"
        print(f"Warning: {told}; if it has values, add --no-header.", file=sys.stderr)
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
    rows = _rows(columns) if len(columns) > _MOST else [_row(entry) for entry in columns]
    for row in rows[:_MOST]:
        table.add_row(*map(escape, row))
    console.print(table)
    if len(rows) > _MOST:
        console.print(f"and {len(rows) - _MOST:,} more lines: smtl inspect --json has all columns", soft_wrap=True)


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of one column."""
    return entry["column"], entry["read_as"], f"{entry['features']:,}" if entry["features"] else "-", entry["why"]


def _rows(columns: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return the cells of columns, one row for neighbours of which the same is to be said."""
    rows: list[tuple[str, ...]] = []
    for _, group in groupby(columns, key=lambda entry: (entry["read_as"], entry["why"], entry["features"])):
        run = [*group]
        name, *rest = _row(run[0])
        if len(run) > 1:
            name = f"{name} to {run[-1]['column']} ({len(run):,} columns)"
            rest[1] = f"{sum(entry['features'] for entry in run):,}" if run[0]["features"] else "-"
        rows.append((name, *rest))
    return rows
