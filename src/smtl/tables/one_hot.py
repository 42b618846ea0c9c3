"""Columns ``key=major``, ``key=minor`` of 0 and 1, from one-hot files, as the column ``key`` that they stand for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa

from smtl.tables.parts import NumberPart

__all__ = ["folded", "one_hot_columns"]


def one_hot_columns(names: Sequence[str], wanted: Collection[str]) -> dict[str, list[str]]:
    """Return the columns that stand for a wanted one which is not there.

    Parameters
    ----------
    names : sequence of str
        Columns that are there.
    wanted : collection of str
        Columns that should be.

    Returns
    -------
    dict of str to list of str
        By the wanted column.

    Examples
    --------
    >>> one_hot_columns(["beat", "key=major", "key=minor"], ["beat", "key", "year"])
    {'key': ['key=major', 'key=minor']}
    """
    here, wanted_names = set(names), set(wanted)
    missing = [name for name in wanted if name not in here]
    found = {
        name: [other for other in names if other.startswith(f"{name}=") and other not in wanted_names]
        for name in missing
    }
    return {name: columns for name, columns in found.items() if columns}


def folded(table: pa.Table, wanted: Collection[str]) -> pa.Table:
    """Return a table with a column for those that stand for it.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    wanted : collection of str
        Columns that should be there.

    Returns
    -------
    pyarrow.Table
        The table; the value is missing in rows without a 1.

    Raises
    ------
    ValueError
        If such columns are not 0 and 1 (or missing), with one 1 in a row at most.

    Examples
    --------
    >>> folded(pa.table({"key=major": [1, 0, 0], "key=minor": [0, 1, 0]}), ["key"]).to_pydict()
    {'key': ['major', 'minor', None]}
    """
    for name, columns in one_hot_columns(table.column_names, wanted).items():
        values = np.column_stack([NumberPart.floats(table.column(column), column) for column in columns])
        yes = values == 1.0
        wrong = ~(yes | (values == 0.0) | np.isnan(values)).all(axis=0)
        if wrong.any() or (yes.sum(axis=1) > 1).any():
            got = f"other values in {columns[int(wrong.argmax())]!r}" if wrong.any() else "several in a row"
            raise ValueError(f"columns '{name}=...' must be 0 and 1, with one 1 in a row, got {got} instead.")
        levels = [column[len(name) + 1 :] for column in columns]
        cells = [levels[k] if any_yes else None for k, any_yes in zip(yes.argmax(axis=1), yes.any(axis=1), strict=True)]
        table = table.drop_columns(columns).append_column(name, pa.array(cells, type=pa.string()))
    return table
