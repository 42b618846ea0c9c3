"""Tables that are read some rows at a time, so that a file of any size takes the same memory: CSV, JSON lines, Parquet.

Their cells are read as `smtl.datasets.read_csv` reads them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any

import numpy as np

from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.files import Source
from smtl.model.csv_blocks import BlockParser, Cells, blocks_of, in_order, records, texts_of

__all__ = ["Table", "open_csv", "open_json_lines", "open_parquet"]

_ROWS = 2**13


@dataclass
class Table:
    """The names of a table's columns, and a way to its rows.

    Attributes
    ----------
    names : list of str
        All columns.
    chunks : callable
        Given the wanted numeric columns and the wanted columns of text, it returns the rows, some at a time: numbers
        with a column each, NaN for missing ones; and lists of texts by name, with None.
    """

    names: list[str]
    chunks: Callable[[Sequence[str], Sequence[str]], Iterator[Cells]]


def open_csv(stream: IO[bytes], path: Source, *, header: bool = True, skip: int = 0, separator: str = ",") -> Table:
    r"""Begin to read CSV.

    Parameters
    ----------
    stream : binary file
        What to read; it need not be seekable.
    path : path-like
        Its name, for errors.
    header : bool, default=True
        Whether the first line names the columns; otherwise they are named 0, 1, ...
    skip : int, default=0
        How many lines to pass over before that.
    separator : str, default=","
        What stands between two cells.

    Returns
    -------
    Table
        The table.

    Examples
    --------
    >>> import io
    >>> table = open_csv(io.BytesIO(b"beat,key\n0.5,minor\n,?\n"), "songs.csv")
    >>> table.names
    ['beat', 'key']
    >>> next(table.chunks(["beat"], ["key"]))
    (array([[0.5],
            [nan]]), {'key': ['minor', None]})
    """
    blocks = blocks_of(stream, skip)
    line, block = next(blocks, (1, b""))
    first = records(block, separator, line, path, most=1)
    if not first:
        raise DatasetError("must have rows, got none; the file is empty or cut short.", path, line)
    cells, end = first[0]
    names = cells if header else [str(j) for j in range(len(cells))]
    _check_names(names, path, end)
    if header:
        n_lines = end - line + 1
        line, block = end + 1, block.split(b"\n", n_lines)[n_lines]

    def chunks(numeric: Sequence[str], text: Sequence[str]) -> Iterator[Cells]:
        parse = BlockParser(names, numeric, text, separator, path)
        n_rows = 0
        for found in in_order(parse, chain([(line, block)], blocks)):
            if len(found[0]):
                n_rows += len(found[0])
                yield found
        if n_rows == 0:
            raise DatasetError("must have rows below the header, got none; the file is cut short.", path, end)

    return Table(names, chunks)


def _check_names(names: list[str], path: Source, line: int | None) -> None:
    if len(set(names)) < len(names):
        twice = next(name for j, name in enumerate(names) if name in names[:j])
        raise DatasetError(f"names of columns must differ, got {shown(twice)} twice; rename one.", path, line)


def open_json_lines(stream: IO[bytes], path: Source) -> Table:
    r"""Begin to read JSON lines: an object a row, with the same names in every row.

    Parameters
    ----------
    stream : binary file
        What to read.
    path : path-like
        Its name, for errors.

    Returns
    -------
    Table
        The table.

    Examples
    --------
    >>> import io
    >>> table = open_json_lines(io.BytesIO(b'{"beat": 0.5}\n{"beat": null}\n'), "songs.jsonl")
    >>> next(table.chunks(["beat"], []))
    (array([[0.5],
            [nan]]), {})
    """
    rows = _objects(stream, path)
    first = next(rows, None)
    if first is None:
        raise DatasetError("must have rows, got none; the file is empty or cut short.", path, 1)

    def chunks(numeric: Sequence[str], text: Sequence[str]) -> Iterator[Cells]:
        batch = [first]
        for row in rows:
            if len(batch) == _ROWS:
                yield _cells_of(batch, numeric, text, path)
                batch = []
            batch.append(row)
        yield _cells_of(batch, numeric, text, path)

    return Table(list(first[1]), chunks)


def _objects(stream: IO[bytes], path: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, text in enumerate(stream, 1):
        if text.strip():
            try:
                row = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise DatasetError(f"a line must be JSON, got a fault: {error}.", path, line) from None
            if not isinstance(row, dict):
                raise DatasetError(f"a line must be a JSON object, got {shown(row)} instead.", path, line)
            yield line, row


def _cells_of(
    batch: list[tuple[int, dict[str, Any]]], numeric: Sequence[str], text: Sequence[str], path: Source
) -> Cells:
    for line, row in batch:
        for name in (*numeric, *text):
            if name not in row:
                raise DatasetError(f"must have {shown(name)}, as the first line has, got none.", path, line)
            if name not in text and not (row[name] is None or isinstance(row[name], int | float)):
                raise DatasetError(f"{shown(name)} must be a number, got {shown(row[name])} instead.", path, line)
    numbers = np.array([[np.nan if row[name] is None else row[name] for name in numeric] for _, row in batch], float)
    texts = {name: texts_of([None if row[name] is None else str(row[name]) for _, row in batch]) for name in text}
    return numbers.reshape(len(batch), len(numeric)), texts


def open_parquet(path: Source) -> Table:
    """Begin to read a Parquet file; needs pyarrow.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Table
        The table.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow as pa, pyarrow.parquet
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "songs.parquet")
    ...     pa.parquet.write_table(pa.table({"beat": [0.5, None]}), path)
    ...     next(open_parquet(path).chunks(["beat"], []))
    (array([[0.5],
            [nan]]), {})
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow, which is not installed; run pip install pyarrow.") from error
    try:
        file = pq.ParquetFile(path, memory_map=False)
        names = [str(name) for name in file.schema_arrow.names]
    except (pa.ArrowException, OSError) as error:
        raise DatasetError("must be a whole Parquet file, got a damaged one.", path) from error
    _check_names(names, path, None)

    def chunks(numeric: Sequence[str], text: Sequence[str]) -> Iterator[Cells]:
        try:
            for batch in file.iter_batches(_ROWS, columns=[*numeric, *text], use_threads=False):
                numbers = np.empty((batch.num_rows, len(numeric)))
                for j, name in enumerate(numeric):
                    column = batch.column(name)
                    if pa.types.is_boolean(column.type):
                        column = column.cast(pa.int8())
                    numbers[:, j] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
                texts = {name: texts_of(batch.column(name).cast(pa.string()).to_pylist()) for name in text}
                yield numbers, texts
        except (pa.ArrowException, OSError) as error:
            reason = str(error).split("\n")[0]
            raise DatasetError(
                f"columns must be numbers, or text where the model has text, got a fault: {reason}.", path
            ) from error

    return Table(names, chunks)
