"""Labels of a table in every usual form: a yes/no column each, tags in one cell, or one class a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from smtl.datasets.errors import at_most, shown
from smtl.datasets.files import Source
from smtl.datasets.limits import most_bytes
from smtl.tables.label_cells import column_of, listed, plain_cells, sorted_texts
from smtl.tables.label_form import LabelForm
from smtl.tables.tags import read_tags, writing_of
from smtl.tables.values import MISSING
from smtl.tables.yes_no import yes_no_of

_FEW_TAGS = 20  # tags, below which each may be in one row by chance
_ROWS_A_TAG = 1.2  # rows of a tag, in the mean, below which a column is text or ids
__all__ = ["MISSING", "LabelForm", "check_size", "find_labels", "label_matrix"]


def find_labels(
    table: pa.Table,
    *,
    labels: Sequence[str] | None = None,
    prefix: str | None = None,
    last: int | None = None,
    class_column: str | None = None,
    tags: str | None = None,
    tag_separator: str | None = None,
    yes: str | Mapping[str, str] | None = None,
) -> LabelForm:
    """Find out how the labels of a table are written.

    Exactly one of `labels`, `prefix`, `last`, `class_column` and `tags` is given.

    Parameters
    ----------
    table : Table
        The table.
    labels : list of str, optional
        Yes/no columns.
    prefix : str, optional
        What the names of yes/no columns begin with.
    last : int, optional
        How many columns at the end are yes/no columns.
    class_column : str, optional
        A column with one class a row.
    tags : str, optional
        A column with several tags in a cell.
    tag_separator : str, optional
        What stands between tags; by default it is found.
    yes : str or dict, optional
        The value that is yes in all columns, or in each column that is a key.

    Returns
    -------
    LabelForm
        The form, which reads and writes such labels.

    Raises
    ------
    ValueError
        If the columns are not there, or are no labels.

    Examples
    --------
    >>> table = pa.table({"size": [1.5, 2.5, 3.5], "species": ["cat", "dog", "cat"], "seen": [["a"], [], ["a", "b"]]})
    >>> find_labels(table, class_column="species").read(table)
    array(['cat', 'dog', 'cat'], dtype=object)
    >>> find_labels(table, tags="seen").read(table)
    array([[1, 0],
           [0, 0],
           [1, 1]], dtype=int8)
    """
    given = {"labels": labels, "prefix": prefix, "last": last, "class_column": class_column, "tags": tags}
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) != 1:
        got = " and ".join(chosen) or "none"
        raise ValueError(f"labels must be given by one of {', '.join(given)}, got {got} instead.")
    if tag_separator is not None and tags is None:
        raise ValueError(f"tag_separator goes with tags, got {chosen[0]} instead.")
    if yes is not None and (tags is not None or class_column is not None):
        raise ValueError(f"yes goes with yes/no columns, got {chosen[0]} instead.")
    if class_column is not None:
        return _find_classes(table, class_column)
    if tags is not None:
        return _find_tags(table, tags, tag_separator)
    return _find_columns(table, *_chosen_columns(table, labels, prefix, last), yes)


def _chosen_columns(
    table: pa.Table, labels: Sequence[str] | None, prefix: str | None, last: int | None
) -> tuple[list[str], list[str]]:
    """Return the yes/no columns, and the names of their labels."""
    if last is not None:
        if isinstance(last, bool) or not isinstance(last, int) or not 0 < last <= table.num_columns:
            raise ValueError(
                f"last must be from 1 to the number of columns, {table.num_columns}, got {last!r} instead."
            )
        columns = table.column_names[-last:]
    elif prefix is not None:
        columns = [name for name in table.column_names if name.startswith(prefix)]
        if not columns:
            known = listed(table.column_names, 20)
            raise ValueError(f"a column must begin with {shown(prefix)}, got none instead; there are: {known}.")
        names = [name.removeprefix(prefix) for name in columns]
        return columns, names if all(names) else columns
    else:
        if isinstance(labels, str) or not labels or not all(isinstance(name, str) for name in labels):
            raise ValueError(f"labels must be a list of names of columns, got {shown(labels)} instead.")
        columns = list(labels)
    if len(set(columns)) < len(columns):
        raise ValueError(f"label columns must differ, got {listed(columns)} instead; name each once.")
    return columns, columns


def _find_columns(table: pa.Table, columns: list[str], names: list[str], yes: Any) -> LabelForm:
    """Return the form of yes/no columns."""
    of_column = dict(yes) if isinstance(yes, Mapping) else dict.fromkeys(columns, yes)
    for name in of_column:
        if name not in columns:
            raise ValueError(f"yes must be of label columns, got {shown(name)} instead; they are {listed(columns)}.")
    found = [yes_no_of(name, plain_cells(table, name), of_column.get(name)) for name in columns]
    return LabelForm(
        "columns",
        tuple(columns),
        tuple(names),
        yes=tuple(one.yes for one in found),
        no=tuple(one.no for one in found),
        rows=table.num_rows,
        counts=tuple(one.n_yes for one in found),
        missing=tuple(one.n_missing for one in found),
        guessed=tuple(name for name, one in zip(columns, found, strict=True) if one.guessed),
    )


def _find_tags(table: pa.Table, name: str, separator: str | None) -> LabelForm:
    """Return the form of a column of tags."""
    column = column_of(table, name)
    writing = writing_of(column, name, separator)
    found = read_tags(column, name, writing)
    if not found.tags:
        raise ValueError(f"the column {shown(name)} must have tags, got empty cells only; name another column.")
    names = sorted_texts(found.tags)
    counts = dict(zip(found.tags, found.counts(), strict=True))
    if separator is None and len(names) >= _FEW_TAGS and sum(counts.values()) < _ROWS_A_TAG * len(names):
        raise ValueError(
            f"tags must be in several rows each, got {len(names):,} different ones in {table.num_rows:,} rows of "
            f"{shown(name)}, such as {shown(names[0])}; name another column, or give tag_separator."
        )
    return LabelForm(
        "tags",
        (name,),
        names,
        cells=writing.cells,
        separator=writing.separator,
        rows=table.num_rows,
        counts=tuple(counts[tag] for tag in names),
        missing=(int((~found.known).sum()),),
    )


def _find_classes(table: pa.Table, name: str) -> LabelForm:
    """Return the form of a column of classes."""
    cells = plain_cells(table, name)
    counts: dict[str, int] = {}
    for text, count in zip(cells.texts, cells.counts.tolist(), strict=True):
        if text is not None and text not in MISSING:
            counts[text] = counts.get(text, 0) + count
    if len(counts) < 2:
        raise ValueError(
            f"the class column {shown(name)} must have two classes or more, got {listed(list(counts)) or 'none'} "
            "instead; name another column."
        )
    names = sorted_texts(counts)
    missing = table.num_rows - sum(counts.values())
    return LabelForm(
        "class", (name,), names, rows=table.num_rows, counts=tuple(counts[text] for text in names), missing=(missing,)
    )


def check_size(form: LabelForm, n_rows: int, path: Source) -> None:
    """Refuse tags and classes that would be far more labels than the file is large.

    Parameters
    ----------
    form : LabelForm
        The form.
    n_rows : int
        How many rows there are.
    path : path-like
        The file.
    """
    if form.kind != "columns":
        what = "one label for each class" if form.kind == "class" else "one label for each tag"
        at_most(
            8 * n_rows * len(form.names),
            most_bytes(path),
            what,
            "name another column, or pass a larger max_bytes",
            path,
        )


def label_matrix(form: LabelForm, labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a column a label; of classes, a column a class.

    Parameters
    ----------
    form : LabelForm
        The form.
    labels : ndarray
        What its `read` returns.

    Returns
    -------
    ndarray of shape (n_rows, n_labels)
        0 and 1, perhaps NaN.

    Examples
    --------
    >>> table = pa.table({"species": ["cat", None, "dog"]})
    >>> form = find_labels(table, class_column="species")
    >>> label_matrix(form, form.read(table)).tolist()
    [[1, 0], [0, 0], [0, 1]]
    """
    if form.kind != "class":
        return labels
    place = {name: j for j, name in enumerate(form.names)}
    code = np.array([place.get(label, -1) for label in labels], dtype=np.int64)
    Y = np.zeros((len(code), len(place)), dtype=np.int8)
    known = np.flatnonzero(code >= 0)
    Y[known, code[known]] = 1
    return Y
