"""Parquet, through pyarrow: label columns by name, by prefix, the last k, or one column with classes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from smtl.datasets.columns import Key, Roles, assemble, choose, sorted_values
from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError, at_most, shown
from smtl.datasets.files import Source
from smtl.datasets.formats.base import Beginning, Format
from smtl.datasets.limits import most_bytes
from smtl.datasets.nominal import Column, Nominal, check_nominal
from smtl.extras import of_extra

__all__ = ["Parquet", "read_parquet", "read_typed"]


def read_parquet(
    path: Source,
    *,
    labels: Sequence[Key] | None = None,
    prefix: str | None = None,
    last: int | None = None,
    class_column: Key | None = None,
    tasks: Key | None = None,
    ignore: Collection[Key] = (),
    nominal: Nominal = "one-hot",
    max_bytes: int | None = None,
) -> Dataset:
    """Read a Parquet file.

    Columns of numbers and truth values are numeric, columns of strings and dictionaries nominal, with their values in
    alphabetical order. Nulls are missing values. Other columns, Python objects among them, are refused.

    Parameters
    ----------
    path : path-like
        The file.
    labels : sequence of str or int, optional
        The label columns, by name or position.
    prefix : str, optional
        What the names of the label columns begin with; it is taken off. ``"label:"`` where nothing else says which
        columns are labels.
    last : int, optional
        How many columns at the end are labels.
    class_column : str or int, optional
        A column that holds classes: each becomes one label, in increasing order.
    tasks : str or int, optional
        A column that says each row's task; there is one label column then. By default the one named ``"task:"``.
    ignore : collection of str or int, default=()
        Columns to leave out: neither features nor labels. They may be of any type.
    nominal : {"one-hot", "ordinal"}, default="one-hot"
        Whether a nominal feature becomes one 0/1 column for each of its values or one column with the value's
        position. One with the values 0 and 1 stays as it is.
    max_bytes : int, optional
        The most bytes that the table may take in memory; by default what
        `smtl.datasets.limits` says for the file's size.

    Returns
    -------
    Dataset
        Its features, dense, and labels.

    Raises
    ------
    DatasetError
        With the row and the column of the first fault.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow
    >>> import pyarrow.parquet
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "songs.parquet")
    ...     table = pyarrow.table({"beat": [0.5, None], "key": ["minor", "major"], "calm": [True, False]})
    ...     pyarrow.parquet.write_table(table, path)
    ...     data = read_parquet(path, labels=["calm"])
    >>> data.feature_names
    ('beat', 'key=major', 'key=minor')
    >>> data.X
    array([[0.5, 0. , 1. ],
           [nan, 1. , 0. ]])
    """
    check_nominal(nominal)
    # pyarrow takes a while to import.
    with of_extra("tables", "Parquet files"):
        from smtl.tables.parquet import open_parquet, whole_table

    with open_parquet(path, most_bytes(path, max_bytes)) as file:
        names = [str(name) for name in file.schema_arrow.names]
        roles = choose(names, path, labels, prefix, last, class_column, tasks, ignore)
        table = whole_table(file, path, names, max_bytes)
    return _data_set(table, roles, nominal, max_bytes, path)


def read_typed(
    path: Source,
    *,
    labels: Sequence[Key] | None = None,
    prefix: str | None = None,
    last: int | None = None,
    class_column: Key | None = None,
    tasks: Key | None = None,
    ignore: Collection[Key] = (),
    nominal: Nominal = "one-hot",
    max_bytes: int | None = None,
) -> Dataset:
    """Read JSON lines or Excel as `read_parquet` reads Parquet."""
    check_nominal(nominal)
    from smtl.tables.reading import read_table

    table = read_table(path, max_bytes=max_bytes)
    limit = most_bytes(path, max_bytes)
    at_most(8 * table.num_rows * table.num_columns, limit, "the table", "pass a larger max_bytes", path)
    roles = choose(table.column_names, path, labels, prefix, last, class_column, tasks, ignore)
    return _data_set(table, roles, nominal, max_bytes, path)


def _data_set(table: Any, roles: Roles, nominal: Nominal, max_bytes: int | None, path: Source) -> Dataset:
    import pyarrow as pa

    from smtl.tables.parquet import short

    n_rows, names = table.num_rows, table.column_names
    result = np.empty((n_rows, len(names)))
    columns, labelled = [], set(roles.labels)
    for j, name in enumerate(names):
        if j in roles.ignored:
            columns.append(Column(name))
            continue
        text = j in (roles.of_class, roles.task)
        try:
            result[:, j], column = _numbers(pa, table.column(j), name, text)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise DatasetError(f"column {shown(name)} must be numeric or strings, got {short(error)}.", path) from error
        columns.append(column)
        wrong = np.zeros(n_rows, dtype=bool)
        if j in labelled:
            wrong = ~(np.isnan(result[:, j]) | (result[:, j] == 0) | (result[:, j] == 1))
        elif j == roles.task:
            wrong = np.isnan(result[:, j])
        if wrong.any() or (j in labelled and column.values is not None):
            i = int(wrong.argmax())
            kind = "a task" if j == roles.task else "0 or 1"
            got = table.column(j)[i].as_py()
            raise DatasetError(f"row {i + 1}, column {shown(name)}: must be {kind}, got {shown(got)} instead.", path)
    return assemble(result, columns, roles, True, nominal, max_bytes, path)


def _numbers(pa: Any, column: Any, name: str, text: bool) -> tuple[npt.NDArray[np.float64], Column]:
    """Return a column's numbers, or its codes and values."""
    kind = column.type
    strings = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if strings or text:
        column = column.cast(pa.large_string()).combine_chunks().dictionary_encode()
        found = column.dictionary.to_pylist()
        values = sorted_values(found)
        position = {value: float(code) for code, value in enumerate(values)}
        order = np.array([position[value] for value in found] + [np.nan])
        codes = column.indices.fill_null(len(found)).to_numpy(zero_copy_only=False)
        return order[codes], Column(name, tuple(values))
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)):
        raise pa.ArrowTypeError(f"type {kind}; leave the column out, or store it as numbers")
    # Not safe: whole numbers beyond 2**53 become the nearest double, as they do in text.
    return column.cast(pa.float64(), safe=False).to_numpy(), Column(name)


class Parquet(Format):
    """Parquet files."""

    name, title, order = "parquet", "Parquet", 20
    is_table = True

    read = staticmethod(read_parquet)

    def begins(self, beginning: Beginning) -> bool:  # noqa: D102
        return beginning.magic.startswith(b"PAR1")
