"""A table as a matrix of numbers: numbers as they are, and a 0/1 feature for each value of other columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from smtl.datasets.columns import sorted_values
from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.files import Source
from smtl.datasets.limits import most_bytes
from smtl.datasets.nominal import Column, Nominal, check_nominal, encode
from smtl.tables.data import TableData
from smtl.tables.encoder import TableEncoder

__all__ = ["as_matrix", "encoded"]


def as_matrix(data: TableData, nominal: Nominal, path: Source) -> Dataset:
    """Return a table as other formats hold it, with nothing filled or scaled.

    Parameters
    ----------
    data : TableData
        The table. Columns that the user ignores are left out.
    nominal : {"one-hot", "ordinal"}
        What becomes of columns that are no numbers.
    path : path-like
        Its file, for errors.

    Returns
    -------
    Dataset
        The same rows.

    Examples
    --------
    >>> table = pa.table({"beat": [0.5, None], "key": ["minor", "major"]})
    >>> found = as_matrix(TableData(table, np.array([[1], [0]]), ("beat", "key")), "one-hot", "songs.csv")
    >>> found.feature_names
    ('beat', 'key=major', 'key=minor')
    """
    check_nominal(nominal)
    names = [name for name in data.X.column_names if name not in data.said.get("ignore", ())]
    codes, columns = np.empty((data.X.num_rows, len(names))), []
    for j, name in enumerate(names):
        codes[:, j], column = _codes(data.X.column(name), name, name in data.said.get("category", ()), path)
        columns.append(column)
    X, features = encode(codes, columns, range(len(names)), nominal, most_bytes(path), path)
    named = data.layout is None or data.layout.header
    of_class = data.form is not None and data.form.kind == "class"
    label_names = data.label_names if named or of_class else None
    names_of = features if named else None
    return Dataset(X, data.Y, names_of, label_names, data.tasks, data.name, weights=data.weights)


def _codes(column: Any, name: str, nominal: bool, path: Source) -> tuple[npt.NDArray[np.float64], Column]:
    """Return numbers, or the codes of the values and these."""
    kind = column.type
    if pa.types.is_boolean(kind):
        column, kind = column.cast(pa.int8()), pa.int8()
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)
    if number and not nominal:
        return column.cast(pa.float64(), safe=False).to_numpy(), Column(name)
    if pa.types.is_nested(kind) or pa.types.is_binary(kind):
        raise DatasetError(f"column {shown(name)} must hold numbers or text, got type {kind}; ignore it.", path)
    texts = column.cast(pa.string())
    values = sorted_values(pc.unique(texts).drop_null().to_pylist())
    places = pc.index_in(texts, value_set=pa.array(values, pa.string()))
    return places.cast(pa.float64()).to_numpy(), Column(name, tuple(values))


def encoded(data: TableData) -> tuple[TableData, TableEncoder]:
    """Return a table with features instead of its columns, and what has made them.

    Parameters
    ----------
    data : TableData
        The table.

    Returns
    -------
    data : TableData
        The same, but for X: a matrix of features, filled and scaled.
    encoder : TableEncoder
        Fitted to the table.

    Examples
    --------
    >>> table = pa.table({"beat": [0.5, 0.7], "key": ["minor", "major"]})
    >>> encoded(TableData(table, np.array([[1], [0]]), ("beat", "key")))[0].feature_names
    ('beat', 'key=minor')
    """
    encoder = TableEncoder(**{kind: list(names) for kind, names in data.said.items()})
    X = encoder.fit_transform(data.X)
    names = tuple(encoder.get_feature_names_out().tolist())
    return replace(data, X=X, feature_names=names), encoder
