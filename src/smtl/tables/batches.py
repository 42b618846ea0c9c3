"""Read a table some thousand rows at a time, with constant memory."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from os import PathLike
from typing import IO, Any

import pyarrow as pa

from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.files import Source
from smtl.tables import excel, json_lines
from smtl.tables.cells import CsvCells
from smtl.tables.inputs import Input, open_input
from smtl.tables.layout import Layout, is_excel, layout_of
from smtl.tables.parquet import check_plain, check_rows, damaged, open_parquet, plain
from smtl.tables.types import check_finite, numbers_of, trimmed

__all__ = ["Batches", "open_batches"]

_ROWS = 2**13


class Batches:
    """A table that is read once, from the first row to the last.

    Attributes
    ----------
    names : list of str
        The columns. Of JSON lines, those of the first rows: a later table can have more.
    layout : Layout
        How the table is written down.

    Examples
    --------
    >>> batches = Batches(["a"], Layout("csv"), iter([pa.table({"a": [1]}), pa.table({"a": [2, 3]})]))
    >>> [table.num_rows for table in batches]
    [1, 2]
    """

    def __init__(self, names: list[str], layout: Layout, tables: Iterator[Any]) -> None:
        self.names, self.layout, self._tables = names, layout, tables

    def __iter__(self) -> Iterator[Any]:
        return self._tables


@contextmanager
def open_batches(
    source: Source | IO[bytes],
    *,
    numbers: Collection[str] = (),
    raw: Collection[str] = (),
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    skip: int = 0,
    form: str | None = None,
) -> Iterator[Batches]:
    r"""Open a table to read it some thousand rows at a time.

    Parameters
    ----------
    source : path-like or binary file
        The table: a file, or an open stream such as ``sys.stdin.buffer``. A stream of Parquet is copied to a temporary
        file first. Excel is read as a whole.
    numbers : collection of str, default=()
        Columns that come as float64, with null for missing values. Names that the table does not have do not matter.
        Other columns of CSV come as text, in which only empty cells, ``?`` and ``NA`` are null; those of other formats
        have their own types.
    raw : collection of str, default=()
        Other columns of CSV of which nothing is null, and every cell is as it is written.
    separator, decimal, encoding, header, skip : optional
        How CSV is written down. By default that is found from the first bytes; see `find_layout`.
    form : {"csv", "parquet", "jsonl", "excel"}, optional
        The format. By default it is found.

    Yields
    ------
    Batches
        The names of the columns, the layout, and the rows: iterate over it for tables of pyarrow.

    Raises
    ------
    DatasetError
        With the place of the first fault.

    Examples
    --------
    >>> import io
    >>> with open_batches(io.BytesIO(b"beat,key\n0.5,minor\n?,major\n"), numbers=["beat"]) as batches:
    ...     print(batches.names)
    ...     for table in batches:
    ...         print(table.to_pydict())
    ['beat', 'key']
    {'beat': [0.5, None], 'key': ['minor', 'major']}
    """
    options = {"separator": separator, "decimal": decimal, "encoding": encoding, "header": header, "skip": skip}
    wanted = frozenset(numbers)
    with ExitStack() as stack:
        if isinstance(source, str | PathLike) and (form == "excel" or (form is None and is_excel(source))):
            layout = layout_of(None, source, "excel", **options)
            batches = _of_table(excel.read_sheet(source, layout), layout, wanted, source)
        else:
            opened = stack.enter_context(open_input(source, bounded=False))
            layout = layout_of(opened, opened.path, form, **options)
            if layout.form == "csv":
                cells = CsvCells(opened, layout, encoding is not None)
                cells.numbers, cells.raw = wanted, frozenset(raw)
                batches = Batches(cells.names, layout, _pieces(cells.tables()))
            elif layout.form == "jsonl":
                batches = _of_json(opened, layout, wanted)
            elif layout.form == "excel":
                content = b"".join(opened.chunks())
                batches = _of_table(excel.read_sheet(opened.path, layout, None, content), layout, wanted, opened.path)
            else:
                batches = _of_parquet(stack, source, opened, layout, wanted)
        stack.callback(getattr(batches._tables, "close", int))
        yield batches


def _pieces(tables: Iterator[Any]) -> Iterator[Any]:
    for table in tables:
        for start in range(0, table.num_rows, _ROWS):
            yield table.slice(start, _ROWS)


def _of_json(source: Input, layout: Layout, numbers: frozenset[str]) -> Batches:
    batches = json_lines.batches(json_lines.objects_in(source, layout), _ROWS)
    first = next(batches, None)
    if first is None:
        raise DatasetError("must have rows, got none; the file is cut short.", source.path, 1)
    names = list(dict.fromkeys(name for _, row in first for name in row))

    def tables() -> Iterator[Any]:
        yield json_lines.table_of(first, names, numbers, source.path)
        for batch in batches:
            yield json_lines.table_of(batch, names, numbers, source.path)

    return Batches(names, layout, tables())


def _of_parquet(
    stack: ExitStack, source: Source | IO[bytes], opened: Input, layout: Layout, numbers: frozenset[str]
) -> Batches:
    stream = None
    if not isinstance(source, str | PathLike):
        stream = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        for chunk in opened.chunks():
            stream.write(chunk)
        stream.seek(0)
    file = stack.enter_context(open_parquet(opened.path, stream=stream))
    names = [str(name) for name in file.schema_arrow.names]

    def tables() -> Iterator[Any]:
        n_rows = 0
        parts = file.iter_batches(batch_size=_ROWS, use_threads=False)
        while True:
            with damaged(opened.path):
                part = next(parts, None)
                if part is None:
                    check_rows(n_rows, file)
                    return
                part.validate(full=True)
                check_plain(part.columns, opened.path)
                table = pa.table([plain(pa.chunked_array([column])) for column in part.columns], names=names)
            yield _with_numbers(table, numbers, opened.path, n_rows)
            n_rows += table.num_rows

    return Batches(names, layout, tables())


def _of_table(table: Any, layout: Layout, numbers: frozenset[str], path: Any) -> Batches:
    return Batches(table.column_names, layout, _pieces(iter([_with_numbers(table, numbers, path, 0)])))


def _with_numbers(table: Any, numbers: frozenset[str], path: Any, n_rows: int) -> Any:
    """Return a table with some columns as float64."""
    for k, name in enumerate(table.column_names):
        column = table.column(k)
        if name not in numbers:
            continue
        if column.type == pa.float64():
            check_finite(name, column, path, n_rows)
            continue
        kind = column.type
        if pa.types.is_string(kind):
            found = numbers_of(trimmed(column))
        elif pa.types.is_boolean(kind):
            found = column.cast(pa.int8()).cast(pa.float64())
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind):
            # Not safe: whole numbers beyond 2**53 become the nearest double, as they do in text.
            found = column.cast(pa.float64(), safe=False)
        else:
            raise DatasetError(f"{shown(name)} must be a column of numbers, got type {kind} instead.", path)
        if found is None:
            words = trimmed(column)
            row = next(i for i in range(len(words)) if numbers_of(words.slice(i, 1)) is None)
            got = shown(column[row].as_py())
            message = f"row {n_rows + row + 1}, column {shown(name)}: must be a number, got {got} instead."
            raise DatasetError(message, path)
        check_finite(name, found, path, n_rows)
        table = table.set_column(k, name, found)
    return table
