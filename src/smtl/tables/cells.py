"""CSV, parsed by pyarrow: the names of its columns, and its cells, as text or as numbers, block by block."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.limits import at_most_columns
from smtl.tables.inputs import Block, Input, decoded, record_blocks
from smtl.tables.layout import Layout, value_among
from smtl.tables.records import Cell, cells_in, n_lines, place, without_blanks
from smtl.tables.types import has_infinite, is_number, numbers_of, trimmed, without_empty
from smtl.tables.values import EMPTY, MISSING

__all__ = ["CsvCells", "check_names", "in_order"]

T = TypeVar("T")
R = TypeVar("R")
_MOST_LINES_BEFORE = 20  # lines of a title, at the most
_THREADS = 4
# Bytes of a block. Each call of pyarrow's parser costs about 20 us a column, as much as it needs for 2 kB of text.
_SMALLEST, _LARGEST = 2**22, 2**26
_BYTES = 40_000  # of a column in a block
# Bytes that pyarrow takes at a time, so that its arrays stay in the cache; more where rows are long.
_INNER = 2**19
_INNER_BYTES = 5_000  # of a column
# What is missing in a column of numbers: missing words, and nan as `float` knows it.
_NAN = {sign + a + b + c for sign in ("", "+", "-") for a in "nN" for b in "aA" for c in "nN"}
_NULLS = sorted(MISSING | _NAN)


def in_order(parse: Callable[[T], R], blocks: Iterator[T]) -> Iterator[R]:
    """Return what a function makes of blocks, in their order, some of them at work in threads.

    Examples
    --------
    >>> list(in_order(lambda n: 2 * n, iter([1, 2, 3])))
    [2, 4, 6]
    """
    n_threads = max(1, min(_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1))
    waiting: deque[Future[R]] = deque()
    failure: Exception | None = None
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            while True:
                try:
                    block = next(blocks)
                except StopIteration:
                    break
                except Exception as error:
                    failure = error  # what was read before it comes first
                    break
                waiting.append(pool.submit(parse, block))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
    if failure is not None:
        raise failure


def check_names(names: Sequence[str], path: Any, line: int | None) -> None:
    """Refuse names that are not one column's alone."""
    seen = set[str]()
    for name in names:
        if name in seen:
            hint = ", or pass header=False if the line has values" if line and value_among(names) else ""
            raise DatasetError(f"names of columns must differ, got {shown(name)} twice; rename one{hint}.", path, line)
        seen.add(name)


class CsvCells:
    """The cells of a CSV file, read once from the first block to the last.

    Parameters
    ----------
    source : Input
        What to read.
    layout : Layout
        How it is written.
    stated : bool, default=False
        Whether the encoding is the user's. If it was found, lines that do not fit it are read as Windows-1252.

    Attributes
    ----------
    names : list of str
        The columns. One without a name is called by its position.
    written : list of str
        Their names as they are written.
    numbers, raw : frozenset of str
        Columns to read as float64, and columns in which empty cells stay text. None, unless set.
    columns : list of str, optional
        The columns to read; all, unless set.
    line : int
        The line that names them, or the first one.
    """

    def __init__(self, source: Input, layout: Layout, stated: bool = False) -> None:
        self.path, self.layout, self.stated = source.path, layout, stated
        self.numbers: frozenset[str] = frozenset()
        self.raw: frozenset[str] = frozenset()
        self.columns: list[str] | None = None
        self._options: dict[frozenset[str], Any] = {}
        blocks = record_blocks(source, layout.separator, layout.encoding, layout.skip)
        self.line = layout.skip + 1
        first: Block | None = None
        for first in blocks:
            if first.data.strip(b"\r\n"):
                break
            self.line = first.line + n_lines(first.data)
        if first is None or not first.data.strip(b"\r\n"):
            line = max(self.line - 1, 1)
            raise DatasetError("must have rows, got none; the file is cut short.", self.path, line)
        text = self._text(first)
        record = next(cells_in(text, layout.separator))
        self.line = first.line + n_lines(text[: record[0].start].encode())
        self.written = self._names(record)
        self.names = [name or f"Unnamed: {k}" for k, name in enumerate(self.written)]
        at_most_columns(len(self.names), self.path, self.line)
        check_names(self.names, self.path, self.line)
        if layout.header:
            first = self._below(first, text, record)
        self._inner = max(_INNER, _INNER_BYTES * len(self.names))
        source.size = min(max(_SMALLEST, _BYTES * len(self.names)), _LARGEST)
        self._blocks: Iterator[Block] = chain([first], blocks)

    def _names(self, record: list[Cell]) -> list[str]:
        if not self.layout.header:
            return [str(k) for k in range(len(record))]
        return [cell.text if cell.quoted else cell.text.strip() for cell in record]

    def _below(self, block: Block, text: str, record: list[Cell]) -> Block:
        """Return what comes below the header."""
        end = record[-1].end
        rest = text[end:].removeprefix("\r\n") if text[end : end + 2] == "\r\n" else text[end + 1 :]
        line = block.line + n_lines(text[: len(text) - len(rest)].encode())
        return Block(line, rest.encode(), block.quoted)

    def _text(self, block: Block) -> str:
        if self.stated:
            try:
                return block.data.decode()
            except UnicodeDecodeError as error:
                line = block.line + n_lines(block.data[: error.start])
                raise DatasetError(
                    f"must be text in {self.layout.encoding}, got byte 0x{block.data[error.start]:02x}; "
                    "pass another encoding, such as 'cp1252'.",
                    self.path,
                    line,
                ) from None
        return decoded(block.data)

    def tables(self) -> Iterator[Any]:
        """Read the cells: columns in `numbers` as float64, all others as text with null for empty cells."""
        n_rows = 0
        for table in in_order(self._table, self._blocks):
            n_rows += table.num_rows
            yield table
        if n_rows == 0:
            message = "must have rows below the header, got none; the file is cut short."
            raise DatasetError(message, self.path, self.line)

    def _table(self, block: Block) -> Any:
        data = without_blanks(block.data, self.layout.separator) if block.quoted else block.data
        if data[:1] in (b"", b"\r", b"\n") and not data.strip(b"\r\n"):
            return self._parsed(b"\n", False, self.numbers)
        try:
            table = self._cast(self._parsed(data, block.quoted, self.numbers, self._inner), self.numbers)
        except pa.ArrowInvalid:
            return self._odd(block)
        # pyarrow takes nan(1) for a number, and " nan " for one that is not missing.
        return self._odd(block) if any(_has_nan(one) or has_infinite(one) for one in table.columns) else table

    def _parsed(self, data: bytes, quoted: bool, numbers: frozenset[str], inner: int | None = None) -> Any:
        """Return what pyarrow makes of a block; `inner` bytes at a time, and no row may be longer."""
        size = len(data) + 1 if inner is None else min(inner, len(data) + 1)
        # Between two pieces pyarrow takes CR LF for the end of a line, and loses the LF of one within quotes.
        if quoted and any(data[at - 1 : at + 1] == b"\r\n" for at in range(size, len(data), size)):
            size = len(data) + 1
        return pa.csv.read_csv(
            pa.BufferReader(data),
            read_options=pa.csv.ReadOptions(use_threads=False, block_size=size, column_names=self.names),
            parse_options=pa.csv.ParseOptions(delimiter=self.layout.separator, newlines_in_values=quoted),
            convert_options=self._converting(numbers),
        )

    def _converting(self, numbers: frozenset[str]) -> Any:
        if numbers not in self._options:
            self._options[numbers] = pa.csv.ConvertOptions(
                column_types={name: pa.float64() if name in numbers else pa.string() for name in self.names},
                # pyarrow makes a copy of these words for each column, 15 kB of memory; text has no use for them.
                null_values=_NULLS if numbers else [],
                decimal_point=self.layout.decimal,
                include_columns=self.columns or [],
            )
        return self._options[numbers]

    def _cast(self, table: Any, done: frozenset[str]) -> Any:
        """Return a table with empty cells as null and all numbers as numbers."""
        if done.issuperset(table.column_names):
            return table
        columns = []
        for name, column in zip(table.column_names, table.columns, strict=True):
            if name in self.numbers and name not in done:
                column = numbers_of(trimmed(column), self.layout.decimal)
                if column is None:
                    raise pa.ArrowInvalid(f"{name} is no number")
            elif name not in done and name not in self.raw:
                column = without_empty(column, EMPTY)
            columns.append(column)
        return pa.table(columns, names=table.column_names)

    def _odd(self, block: Block) -> Any:
        """Return the table of a block that pyarrow refuses as it is, or raise the error for the first fault in it."""
        text = self._text(block)
        data = without_blanks(text.encode(), self.layout.separator) if block.quoted else text.encode()
        try:
            table = self._cast(self._parsed(data, block.quoted, frozenset()), frozenset())
            if not any(map(has_infinite, table.columns)):
                return table
            fault = "an infinite number"
        except pa.ArrowInvalid as error:
            fault = str(error).splitlines()[0]
        for record in cells_in(text, self.layout.separator):
            self._check(record, block, text)
        raise DatasetError(f"a row must be CSV, got a fault: {fault}.", self.path, block.line)

    def _check(self, record: list[Cell], block: Block, text: str) -> None:
        n = len(self.names)
        if len(record) != n:
            at = record[n].start if len(record) > n else record[-1].end
            cells = f"{n} cell{'s' if n > 1 else ''}"
            message = f"a row must have {cells}, as the first has, got {len(record)} instead."
            error = place(message, self.path, block.line, text, at)
            if 2 * n <= len(record) and (error.line or 0) <= _MOST_LINES_BEFORE:
                message += f" If the table begins in this line, pass skip={(error.line or 1) - 1}."
                raise DatasetError(message, self.path, error.line, error.column)
            raise error
        for name, cell in zip(self.names, record, strict=True):
            if name not in self.numbers or (self.columns is not None and name not in self.columns):
                continue
            if not is_number(cell.text.strip(), self.layout.decimal, finite=True):
                what = "finite" if is_number(cell.text.strip(), self.layout.decimal) else "a number"
                message = f"{shown(name)} must be {what}, got {shown(cell.text)} instead."
                raise place(message, self.path, block.line, text, cell.start)

    def place(self, message: Callable[[str], str], row: int, column: int, n_rows: Sequence[int]) -> DatasetError:
        """Return the error for a cell, from a reader that has just been made.

        The message is made of the cell's text; `n_rows` are the rows of each table that was read before.
        """
        for block, n in zip(self._blocks, n_rows, strict=False):
            if row < n:
                text = self._text(block)
                cell = next(islice(cells_in(text, self.layout.separator), row, None))[column]
                return place(message(cell.text), self.path, block.line, text, cell.start)
            row -= n
        raise AssertionError("a row of the table must be in the file")


def _has_nan(column: Any) -> bool:
    return column.type == pa.float64() and pc.any(pc.is_nan(column)).as_py() is True
