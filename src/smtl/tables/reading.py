"""Read a table: CSV, Parquet, JSON lines or Excel, each column with the type that fits all its values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from smtl.datasets.errors import DatasetError, at_most, shown
from smtl.datasets.files import Source
from smtl.datasets.limits import most_bytes
from smtl.tables import excel, json_lines
from smtl.tables.cells import CsvCells
from smtl.tables.inputs import Input, open_input
from smtl.tables.layout import Layout, is_excel, layout_of
from smtl.tables.parquet import open_parquet, whole_table
from smtl.tables.types import dates_of, typed

__all__ = ["csv_cells", "read_table"]


def read_table(
    path: Source,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    skip: int = 0,
    text: Collection[str] = (),
    raw: Collection[str] = (),
    columns: Collection[str] | None = None,
    max_bytes: int | None = None,
) -> Any:
    r"""Read a table.

    A column of CSV gets the first type that fits all its values: null, int64, float64, bool (``true`` and ``false``),
    date32, timestamp (ISO's forms), else string. Blanks around a cell do not count. Empty cells, ``?``, ``NA``,
    ``NULL``, ``null``, ``None``, ``N/A``, ``n/a``, ``na``, ``nan``, ``NaN``, ``#N/A`` and ``-`` are null. Whole
    numbers with leading zeros are codes: their column is text. Parquet and Excel know the types of their columns, but
    for dictionaries, which become strings, and decimals, which become float64. Columns of JSON lines that mix types
    become strings.

    Parameters
    ----------
    path : path-like
        The file: CSV (plain, gzip or bzip2), Parquet, JSON lines (``.jsonl``, ``.ndjson``, or text that begins with
        ``{``), or Excel (``.xlsx``, its first sheet; needs ``pip install smtl[excel]``).
    separator, decimal, encoding, header, skip : optional
        How CSV is written down. By default that is found; see `find_layout`.
    text : collection of str, default=()
        Columns of CSV that stay as they are written. Of them only empty cells, ``?`` and ``NA`` are null.
    raw : collection of str, default=()
        Columns of CSV of which nothing is null: an empty cell is an empty text.
    columns : collection of str, optional
        The columns to read, in this order; by default all.
    max_bytes : int, optional
        The most bytes that the text, or a table of Parquet, may have. By default what
        `smtl.datasets.limits` says for its size.

    Returns
    -------
    pyarrow.Table
        The table.

    Raises
    ------
    DatasetError
        With the place of the first fault.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "songs.csv")
    ...     _ = path.write_text("code;beat;calm;day\n007;0,5;true;2024-05-01\n008;;false;2024-05-02\n")
    ...     table = read_table(path)
    >>> [str(kind) for kind in table.schema.types]
    ['string', 'double', 'bool', 'date32[day]']
    >>> table.column("beat").to_pylist()
    [0.5, None]
    """
    options: dict[str, Any] = {"separator": separator, "decimal": decimal, "encoding": encoding}
    options |= {"header": header, "skip": skip}
    if is_excel(path):
        table = excel.read_sheet(path, layout_of(None, path, "excel", **options), max_bytes)
    else:
        with open_input(path, max_bytes) as source:
            layout = layout_of(source, path, **options)
            if layout.form == "csv":
                return _csv_table(CsvCells(source, layout, encoding is not None), text, raw, columns)
            table = _json_table(source, layout, text, max_bytes) if layout.form == "jsonl" else None
        if table is None:
            table = _parquet_table(path, columns, max_bytes)
    _check_columns(table.column_names, text, "text", path)
    if columns is not None:
        _check_columns(table.column_names, columns, "columns", path)
        table = table.select(list(dict.fromkeys(columns)))
    return table


@contextmanager
def csv_cells(path: Source, options: dict[str, Any], max_bytes: int | None = None) -> Iterator[CsvCells]:
    """Open a CSV file, to read its cells once."""
    with open_input(path, max_bytes) as source:
        layout = layout_of(source, path, "csv", **options)
        yield CsvCells(source, layout, options.get("encoding") is not None)


def _csv_table(cells: CsvCells, text: Collection[str], raw: Collection[str], columns: Collection[str] | None) -> Any:
    for wanted, what in ((text, "text"), (raw, "raw"), (columns or (), "columns")):
        _check_columns(cells.names, wanted, what, cells.path, cells.line)
    names = cells.names if columns is None else list(dict.fromkeys(columns))
    cells.columns = names
    cells.raw = frozenset(names) - frozenset(text)  # `typed` finds what is empty there
    table = pa.concat_tables(list(cells.tables())).select(names)
    pairs = zip(names, table.columns, strict=True)
    decimal = cells.layout.decimal
    as_written = {*text, *raw}
    return pa.table([column if name in as_written else typed(column, decimal) for name, column in pairs], names=names)


def _json_table(source: Input, layout: Layout, text: Collection[str], max_bytes: int | None) -> Any:
    path = source.path
    rows = list(json_lines.objects_in(source, layout))
    if not rows:
        raise DatasetError("must have rows, got none; the file is cut short.", path, 1)
    names = dict.fromkeys(name for _, row in rows for name in row)
    limit = most_bytes(path, max_bytes)
    at_most(8 * len(rows) * len(names), limit, "the table", "pass a larger max_bytes", path)
    table = json_lines.table_of(rows, names, (), path)
    for k, name in enumerate(table.column_names):
        column = table.column(k)
        dates = dates_of(column) if pa.types.is_string(column.type) and name not in text else None
        if dates is not None:
            table = table.set_column(k, name, dates)
    return table  # rows without columns are rows, too


def _parquet_table(path: Source, columns: Collection[str] | None, max_bytes: int | None) -> Any:
    with open_parquet(path, most_bytes(path, max_bytes)) as file:
        names = list(file.schema_arrow.names)
        if columns is not None:
            _check_columns(names, columns, "columns", path)
            names = [name for name in names if name in columns]
        return whole_table(file, path, names, max_bytes)


def _check_columns(
    names: Collection[str], wanted: Iterable[str], what: str, path: Source, line: int | None = None
) -> None:
    for name in wanted:
        if name not in names:
            known = shown(", ".join(names), 200)[1:-1]
            message = f"{what} must name columns of the table, got {shown(name)} instead; there are: {known}."
            raise DatasetError(message, path, line)
