"""Data frames of any library as tables of Arrow's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["as_table", "is_frame"]


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame: a table with named columns of pandas', Polars' or Arrow's.

    Examples
    --------
    >>> is_frame(pa.table({"beat": [0.5]})), is_frame(np.eye(2))
    (True, False)
    """
    return isinstance(X, pa.Table) or (hasattr(X, "columns") and hasattr(X, "shape") and not isinstance(X, np.ndarray))


def as_table(X: Any) -> pa.Table:
    """Return a data frame as an Arrow table.

    Parameters
    ----------
    X : pyarrow.Table, DataFrame of pandas or Polars, or array-like of shape (n_samples, n_columns)
        The rows. Of a pandas frame the index is left out. Columns of an array are called ``x0``, ``x1`` and so on.

    Returns
    -------
    pyarrow.Table
        The same rows; text, numbers, truth values and times in Arrow's plain types.

    Examples
    --------
    >>> import pandas as pd
    >>> as_table(pd.DataFrame({"beat": [0.5, None], "key": pd.Categorical(["minor", "major"])})).to_pydict()
    {'beat': [0.5, None], 'key': ['minor', 'major']}
    """
    if isinstance(X, pa.Table):
        table = X
    elif is_frame(X):
        table = _from_frame(X)
    else:
        array = np.asarray(X)
        if array.ndim != 2:
            raise ValueError(
                "Expected 2D array, got a scalar array or a vector instead: X must be a table; reshape your data."
            )
        names = [f"x{j}" for j in range(array.shape[1])]
        table = pa.table({name: _column(array[:, j].tolist(), name) for j, name in enumerate(names)})
    names = table.column_names
    _check_different(names)
    return pa.table([_plain(column) for column in table.columns], names=names)


def _from_frame(X: Any) -> pa.Table:
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True)
    except nw.exceptions.DuplicateError:  # of pandas; its own message is of several lines
        _check_different([str(name) for name in X.columns])
        raise
    except TypeError as error:
        raise TypeError(
            f"X must be a data frame of pandas, Polars or Arrow, or an array, got {type(X).__name__} instead."
        ) from error
    names = [str(name) for name in frame.columns]
    columns = []
    for name, values in zip(names, frame.iter_columns(), strict=True):
        try:
            columns.append(values.to_arrow())
        except (pa.ArrowException, TypeError, ValueError):
            columns.append(_column(values.to_list(), name))
    return pa.table(columns, names=names)


def _check_different(names: Sequence[str]) -> None:
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ValueError(f"names of columns must differ, got {twice[0]!r} twice; rename one.")


def _column(values: list[Any], name: str) -> pa.Array:
    """Return values of Python's; of mixed types, as text."""
    values = [None if value is None or value != value else value for value in values]
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, OverflowError):
        return pa.array([None if value is None else str(value) for value in values])


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in the plain type that it stands for."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string()) if column.nbytes < 2**31 else column
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        column = column.cast(pa.float64())
        # Polars and Arrow tell NaN and null apart. Both are missing values.
        return pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
    if pa.types.is_integer(kind) and kind != pa.int64():
        # Not safe: whole numbers beyond 2**53 become the nearest double.
        return column.cast(pa.float64() if pa.types.is_uint64(kind) else pa.int64(), safe=False)
    return column
