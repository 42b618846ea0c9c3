"""Parquet, with the types that the rest of the library knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from smtl.datasets.errors import DatasetError, at_most, of_file, shown
from smtl.datasets.files import opened
from smtl.datasets.limits import at_most_columns, most_bytes
from smtl.tables.cells import check_names

__all__ = ["check_plain", "check_rows", "damaged", "open_parquet", "plain", "short", "text_columns", "whole_table"]

_ADVICE = "pass a larger max_bytes"
_CONTRADICT = "its parts contradict each other"
_ROWS = 2**10  # with lists in them, at a time


@contextmanager
def open_parquet(path: Any, max_bytes: int | None = None, stream: Any = None) -> Iterator[Any]:
    """Open a Parquet file; what pyarrow raises for a damaged one becomes a `DatasetError`."""
    if stream is None:
        with opened(path) as (file, _):
            if file.read(4) != b"PAR1":
                raise DatasetError("must be a Parquet file, which begins with PAR1, got another file instead.", path)
    with damaged(path):
        metadata = pq.read_metadata(path if stream is None else stream)
        at_most_columns(metadata.num_columns, path)
        if max_bytes is not None:
            _check_size(metadata, max_bytes, path)
        # A value that occurs often stands in the file once: whether there is room for all copies is asked before.
        table = pq.ParquetFile(path if stream is None else stream, read_dictionary=text_columns(metadata))
    with table:
        with damaged(path):
            names = [str(name) for name in table.schema_arrow.names]
            check_names(names, path, None)
            if table.metadata.num_rows == 0:
                raise DatasetError("must have rows, got none.", path)
        yield table


def _check_size(metadata: Any, limit: int, path: Any) -> None:
    at_most(8 * metadata.num_rows * metadata.num_columns, limit, "the table", _ADVICE, path)
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    at_most(sum(group.total_byte_size for group in groups), limit, "its data", _ADVICE, path)


def text_columns(metadata: Any) -> list[str]:
    """Return the columns of text. What each row group says of them is not asked: a damaged one ends the process."""
    known = (metadata.schema.column(j) for j in range(metadata.num_columns))
    flat = (column for column in known if column.max_repetition_level == 0)
    return [column.path for column in flat if column.physical_type == "BYTE_ARRAY"]


def whole_table(file: Any, path: Any, names: Sequence[str], max_bytes: int | None = None) -> Any:
    """Return columns of an open file, with plain types."""
    limit = most_bytes(path, max_bytes)
    with damaged(path):
        table = _read(file, names, limit, path)
        check_rows(table.num_rows, file)
        if table.column_names != list(names):
            raise ValueError(_CONTRADICT)
        table.validate(full=True)
        for column in table.columns:
            limit -= _plain_bytes(column)
        if limit < 0:
            at_most(most_bytes(path, max_bytes) - limit, most_bytes(path, max_bytes), "its text", _ADVICE, path)
        return pa.table([plain(column) for column in table.columns], names=list(names))


def _read(file: Any, names: Sequence[str], limit: int, path: Any) -> Any:
    """Return columns as they are stored; lists, whose lengths nobody says before, some rows at a time."""
    schema = file.schema_arrow
    if not any(pa.types.is_nested(schema.field(name).type) for name in names):
        return file.read(use_threads=False, columns=list(names))
    parts, n_bytes = [], 0
    for part in file.iter_batches(batch_size=_ROWS, use_threads=False, columns=list(names)):
        n_bytes += part.nbytes
        at_most(n_bytes, limit, "its lists", _ADVICE, path)
        parts.append(part)
    return pa.Table.from_batches(parts)


def check_rows(n_rows: int, file: Any) -> None:
    """Raise ValueError if other rows were read than an open file says that it has."""
    if n_rows != file.metadata.num_rows:
        raise ValueError(_CONTRADICT)


def check_plain(columns: Sequence[Any], path: Any) -> None:
    """Refuse rows whose text would not fit into memory once each row has its own."""
    at_most(sum(map(_plain_bytes, columns)), most_bytes(path), "the text of some rows", _ADVICE, path)


def _plain_bytes(column: Any) -> int:
    """Return the bytes that a column takes as `plain` returns it, about."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    total = 0
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        if pa.types.is_string(chunk.dictionary.type) or pa.types.is_binary(chunk.dictionary.type):
            lengths = pc.cast(pc.binary_length(chunk.dictionary), pa.int64())
            total += pc.sum(lengths.take(chunk.indices)).as_py() or 0
    return total + 4 * len(column)


@contextmanager
def damaged(path: Any) -> Iterator[None]:
    """Raise a `DatasetError` for whatever pyarrow raises: for a damaged file that is not documented."""
    try:
        yield
    except (DatasetError, FileNotFoundError, GeneratorExit):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # the disk's fault, not the file's
            raise of_file(error, path) from None
        raise DatasetError(f"must be a whole Parquet file, got a damaged one ({short(error)}).", path) from error


def short(error: BaseException) -> str:
    """Return the first line of an error."""
    return shown(str(error).split("\n")[0] or type(error).__name__, 120)[1:-1]


def plain(column: Any) -> Any:
    """Return a column as text, numbers, or lists of them: no dictionaries, no decimals, no large types.

    Examples
    --------
    >>> plain(pa.chunked_array([pa.array(["a", "b"]).dictionary_encode()])).type
    DataType(string)
    """
    kind = _plain_type(column.type)
    if kind == column.type:
        return column
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:  # more text in one piece than a plain type can hold
        return column


def _plain_type(kind: Any) -> Any:
    types = pa.types
    if types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if types.is_decimal(kind):
        return pa.float64()
    if types.is_large_string(kind) or types.is_string_view(kind):
        return pa.string()
    if types.is_large_binary(kind) or types.is_binary_view(kind):
        return pa.binary()
    if types.is_list(kind) or types.is_large_list(kind) or types.is_list_view(kind) or types.is_large_list_view(kind):
        return pa.list_(_plain_type(kind.value_type))
    return kind
