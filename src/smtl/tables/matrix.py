"""A table as a matrix of numbers: numbers as they are, and a 0/1 feature for each value of other columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from smtl.datasets.columns import sorted_values
from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.files import Source
from smtl.datasets.limits import most_bytes
from smtl.datasets.nominal import Column, Nominal, check_nominal, encode
from smtl.tables.data import TableData
from smtl.tables.encoder import TableEncoder
from smtl.tables.parts import part_of

__all__ = ["as_matrix", "encoded"]


def as_matrix(data: TableData, nominal: Nominal, path: Source) -> Dataset:
    """Return a table as other formats hold it, with nothing filled or scaled.

    Parameters
    ----------
    data : TableData
        The table. Columns that the user ignores are left out. Those that are said to be numbers, texts or dates become
        what `TableEncoder` makes of them, before scaling.
    nominal : {"one-hot", "ordinal"}
        What becomes of other columns that are no numbers.
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
    told = {name: kind for kind in ("number", "text", "date") for name in data.said.get(kind, ())}
    blocks: list[Any] = []
    features: list[str] = []
    for kind, group in groupby(names, key=told.get):
        run = [*group]
        found = [_told(data, kind, name, path) for name in run] if kind else [_as_it_is(data, run, nominal, path)]
        for block, made in found:
            blocks.append(block)
            features += made
    X = _side_by_side(blocks) if blocks else np.empty((data.X.num_rows, 0))
    named = data.layout is None or data.layout.header
    of_class = data.form is not None and data.form.kind == "class"
    label_names = data.label_names if named or of_class else None
    names_of = tuple(features) if named else None
    return Dataset(X, data.Y, names_of, label_names, data.tasks, data.name, weights=data.weights)


def _told(data: TableData, kind: str, name: str, path: Source) -> tuple[Any, Sequence[str]]:
    """Return the features of a column that is said to be of a kind, and their names."""
    column = data.X.column(name)
    if column.null_count == len(column):
        return np.full((len(column), 1), np.nan), [name]
    try:
        block, names = part_of(kind, name).fit(column).raw(column)
    except ValueError as error:
        raise DatasetError(f"column {shown(name)} cannot be taken as {kind}: {error}", path) from error
    return block, names


def _as_it_is(data: TableData, names: Sequence[str], nominal: Nominal, path: Source) -> tuple[Any, Sequence[str]]:
    """Return the features of columns of which nothing is said but that they are categories, and their names."""
    codes, columns = np.empty((data.X.num_rows, len(names))), []
    for j, name in enumerate(names):
        codes[:, j], column = _codes(data.X.column(name), name, name in data.said.get("category", ()), path)
        columns.append(column)
    return encode(codes, columns, range(len(names)), nominal, most_bytes(path), path)


def _side_by_side(blocks: Sequence[Any]) -> Any:
    if len(blocks) == 1:
        return blocks[0]
    return sp.hstack(blocks, format="csr") if any(map(sp.issparse, blocks)) else np.hstack(blocks)


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
