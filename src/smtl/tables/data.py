"""A table with labels: what `smtl fit` learns from, and what `smtl evaluate` judges by."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from smtl.datasets.columns import LABEL, TASK
from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.files import Source, stem
from smtl.registry import did_you_mean
from smtl.tables.batches import open_batches
from smtl.tables.frames import as_table, is_frame
from smtl.tables.labels import LabelForm, check_size, find_labels, label_matrix
from smtl.tables.layout import Layout, find_layout, value_among
from smtl.tables.reading import read_table
from smtl.tables.suggesting import suggest_labels
from smtl.tables.types import check_finite
from smtl.tables.weights import read_weights
from smtl.whole_file import whole_file

__all__ = [
    "TableData",
    "as_dataset",
    "column_names",
    "file_form",
    "read_table_data",
    "without_header",
    "write_table_data",
]

Labels: TypeAlias = npt.NDArray[Any]

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,16}")  # an int64, as Python writes it


@dataclass(frozen=True, eq=False, repr=False)
class TableData(Dataset):
    """A data set whose features are the columns of a table, as they are.

    Parameters
    ----------
    X : pyarrow.Table
        The columns that may be features.
    Y, feature_names, label_names, tasks, name
        As in `smtl.datasets.Dataset`; of a class column, a label a class.
    form : LabelForm, optional
        How the labels are written.
    layout : Layout, optional
        How the file is written.
    said : dict
        What the user says of columns: ``number``, ``category``, ``text``, ``date``, ``ignore``.
    notes : tuple of str
        What is to be told about the reading.
    rows : ndarray of int64, optional
        The numbers of the rows that are there, where some were left out.
    task_column : str, optional
        The column that says each row's task.
    weight_column : str, optional
        The column that says what each row counts.
    """

    form: LabelForm | None = None
    layout: Layout | None = None
    said: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    rows: npt.NDArray[np.int64] | None = None
    task_column: str | None = None
    weight_column: str | None = None


def read_table_data(
    path: Source,
    *,
    labels: Sequence[str] | None = None,
    prefix: str | None = None,
    last: int | None = None,
    class_column: str | None = None,
    tags: str | None = None,
    tag_separator: str | None = None,
    yes: str | Mapping[str, str] | None = None,
    tasks: str | None = None,
    weights: str | None = None,
    number: Collection[str] = (),
    category: Collection[str] = (),
    text: Collection[str] = (),
    date: Collection[str] = (),
    ignore: Collection[str] = (),
    header: bool = True,
    skip: int = 0,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    form: LabelForm | None = None,
) -> TableData:
    r"""Read a table and its labels.

    Parameters
    ----------
    path : path-like
        CSV, Parquet, JSON lines or Excel.
    labels, prefix, last, class_column, tags, tag_separator, yes
        Where the labels are; see `smtl.tables.labels.find_labels`. By default columns that begin with ``label:``.
    tasks : str, optional
        A column that says each row's task; there is one label then. By default the one named ``task:``.
    weights : str, optional
        A column that says what each row counts: numbers, none of them negative, with a positive sum.
    number, category, text, date, ignore : collection of str
        What columns are; see `TableEncoder`.
    header, skip, separator, decimal, encoding
        How the file is written; see `smtl.tables.layout.find_layout`.
    form : LabelForm, optional
        How the labels are written, where that is known from other rows.

    Returns
    -------
    TableData
        The table without its labels, and the labels.

    Raises
    ------
    DatasetError
        Where the table cannot be read, or has no such labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "songs.csv")
    ...     _ = path.write_text("beat,title,calm\n0.5,A slow song,yes\n,Fast,no\n")
    ...     data = read_table_data(path, labels=["calm"])
    >>> data.feature_names, data.Y.ravel().tolist()
    (('beat', 'title'), [1, 0])
    """
    layout: dict[str, Any] = {
        "separator": separator,
        "decimal": decimal,
        "encoding": encoding,
        "header": header,
        "skip": skip,
    }
    found = find_layout(path, **layout)
    names = column_names(path, layout)
    if not header:
        class_column, tags, tasks, weights = (
            _by_position(name, names) for name in (class_column, tags, tasks, weights)
        )
        labels = None if labels is None else [str(_by_position(name, names)) for name in labels]
    of_class, of_tags = class_column, tags
    if form is not None and form.kind != "columns":
        own = form.columns[0] if header else _by_position(form.columns[0], names)
        of_class, of_tags = (own, tags) if form.kind == "class" else (class_column, own)
    task = tasks or (TASK if TASK in names else None)
    table = read_table(
        path,
        text=[name for name in names if name in (*text, of_class, task)],
        raw=[name for name in names if name == of_tags],
        **layout,
    )
    given = {
        "class_column": [class_column],
        "tags": [tags],
        "tasks": [tasks],
        "weights": [weights],
        "labels": labels or (),
    }
    try:
        for option, columns in given.items():
            for name in columns:
                _check_name(table, name, option, path)
        if form is None:
            options = {"labels": labels, "prefix": prefix, "last": last, "class_column": class_column, "tags": tags}
            if all(value is None for value in options.values()):
                options["prefix"] = _marked(table, path)
            form = find_labels(table, **options, tag_separator=tag_separator, yes=yes)  # type: ignore[arg-type]
            finite_of = [name for name in table.column_names if name not in (*category, *text, *date, *ignore)]
        else:
            finite_of = []  # a model says later which columns it needs
        check_size(form, table.num_rows, path)
        labels_read = form.read(table)
    except ValueError as error:
        hint = _if_no_names(found, names)
        if isinstance(error, DatasetError) and not hint:
            raise
        raise DatasetError(f"{getattr(error, 'message', error)}{hint}", path) from error
    Y = label_matrix(form, labels_read)
    of_tasks = None if task is None else _one_label_a_task(table, form, Y, task, path)
    if weights is not None and weights in (*form.columns, task):
        raise DatasetError(f"weights must name a column of weights, got {shown(weights)} instead, a label.", path)
    each = None if weights is None else read_weights(table.column(weights), weights, path)
    said = {"number": number, "category": category, "text": text, "date": date, "ignore": ignore}
    X = _features(table, said, {*form.columns, task}, weights, path)
    for name in set(finite_of) & set(X.column_names):
        check_finite(name, X.column(name), path)
    kept = _rows_with_a_class(form, labels_read)
    notes = [*form.notes()]
    if kept is not None and len(kept) < table.num_rows:
        notes.append(f"{table.num_rows - len(kept):,} rows have no class, and are left out")
        X, Y, each = X.take(pa.array(kept)), Y[kept], None if each is None else each[kept]
    return TableData(
        X,
        Y if of_tasks is None else Y[:, 0],
        tuple(X.column_names),
        form.names,
        of_tasks,
        stem(path),
        form,
        found,
        {option: tuple(names) for option, names in said.items() if names},
        tuple(notes),
        kept,
        task,
        weights,
        weights=each,
    )


def _one_label_a_task(table: pa.Table, form: LabelForm, Y: Labels, task: str, path: Source) -> npt.NDArray[Any]:
    """Return the task of each row, where there is one label."""
    if form.kind != "columns" or Y.shape[1] != 1:
        raise DatasetError(
            f"there must be one label column where a column says the task, got {len(form.names)} labels.", path
        )
    return _task_names(table.column(task), task, path)


def _features(
    table: pa.Table,
    said: Mapping[str, Collection[str]],
    labels: Collection[str | None],
    weights: str | None,
    path: Source,
) -> pa.Table:
    """Return the columns that are neither label, task nor weight, all of those that were named among them."""
    used = {*labels, weights}
    for option, named in said.items():
        for name in named:
            _check_name(table, name, option, path)
            if name in used:
                role = "the weights" if name == weights else "a label"
                raise DatasetError(f"{option} must name features, got {shown(name)} instead, which is {role}.", path)
    return table.drop_columns([name for name in table.column_names if name in used])


def _rows_with_a_class(form: LabelForm, labels_read: Any) -> npt.NDArray[np.int64] | None:
    """Return the rows that have a class; None where labels are no classes."""
    return np.flatnonzero([value is not None for value in labels_read]) if form.kind == "class" else None


def as_dataset(X: Any, y: Any) -> Dataset:
    """Return features and labels, as estimators take them, as a data set.

    Parameters
    ----------
    X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,) or (n_samples, n_labels)
        Classes, or 0 and 1 with a column a label; a data frame's columns are the names of the labels.

    Returns
    -------
    Dataset
        Of a data frame, a `TableData`.

    Examples
    --------
    >>> as_dataset(np.eye(2), [[0, 1], [1, 1]])
    Dataset('': 2 rows, 2 features, 2 labels)
    """
    names = tuple(map(str, y.columns)) if is_frame(y) else None
    labels = np.asarray(y)
    form: LabelForm | None = None
    if labels.ndim == 1:
        numbers = labels.dtype.kind in "biuf"
        if not numbers or not np.isin(labels[~np.isnan(labels.astype(float))], (0, 1)).all():
            cells = pa.table({"class": [None if value is None or value != value else str(value) for value in labels]})
            form = find_labels(cells, class_column="class")
            labels, names = label_matrix(form, form.read(cells)), form.names
        else:
            labels = labels[:, None]
    if not is_frame(X):
        X = X if hasattr(X, "shape") else np.asarray(X)
        if form is None:
            return Dataset(X, labels, None, names)
        return TableData(X, labels, None, names, form=form)
    table = as_table(X)
    return TableData(table, labels, tuple(table.column_names), names, form=form)


def file_form(data: TableData) -> str:
    """Return the form of the file that a table with its labels is written to: csv for CSV and Excel, else parquet."""
    return "csv" if data.layout is None or data.layout.form in ("csv", "excel") else "parquet"


def write_table_data(data: TableData, path: Path) -> None:
    r"""Write a table with its labels as they came, in the form that `file_form` says.

    Parameters
    ----------
    data : TableData
        Rows.
    path : Path
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     source = Path(folder, "songs.csv")
    ...     _ = source.write_text("beat,calm\n0.5,yes\n,no\n")
    ...     write_table_data(read_table_data(source, labels=["calm"]), Path(folder, "copy.csv"))
    ...     print(Path(folder, "copy.csv").read_text())
    "beat","calm"
    0.5,"yes"
    ,"no"
    <BLANKLINE>
    """
    assert data.form is not None
    table = data.X
    answers: Any = data.Y.reshape(len(data.Y), -1)
    if data.form.kind == "class":
        answers = np.array(data.form.names, dtype=object)[answers.argmax(axis=1)]
    for name, cells in data.form.written(answers).items():
        table = table.append_column(name, [_column(cells)])
    if data.tasks is not None:
        table = table.append_column(data.task_column or TASK, [pa.array(data.tasks.tolist())])
    if data.weights is not None and data.weight_column is not None:
        table = table.append_column(data.weight_column, [pa.array(data.weights)])
    header = data.layout is None or data.layout.header
    if not header:  # columns go by their positions
        table = table.select(sorted(table.column_names, key=int))
    with whole_file(path) as part:
        if file_form(data) == "csv":
            pcsv.write_csv(table, part, pcsv.WriteOptions(include_header=header))
        else:
            pq.write_table(table, part)


def _column(cells: list[Any]) -> pa.Array:
    """Return cells as a column; of mixed types, as text."""
    try:
        return pa.array(cells)
    except (pa.ArrowException, TypeError):
        return pa.array([None if cell is None else str(cell) for cell in cells])


def without_header(table: pa.Table, wanted: Sequence[str]) -> pa.Table:
    """Return a table whose columns have numbers for names with the names of the features, if it has just these.

    Parameters
    ----------
    table : pyarrow.Table
        Rows of a file without names.
    wanted : sequence of str
        The features.

    Returns
    -------
    pyarrow.Table
        The table; as it is, if it has other columns as well.

    Examples
    --------
    >>> without_header(pa.table({"0": [1], "1": [2]}), ["2", "3"]).column_names
    ['2', '3']
    """
    return table.rename_columns(list(wanted)) if table.num_columns == len(wanted) else table


def column_names(path: Source, layout: Mapping[str, Any]) -> list[str]:
    """Return the names of a table's columns.

    Parameters
    ----------
    path : path-like
        The file.
    layout : dict
        How it is written.

    Returns
    -------
    list of str
        Names.
    """
    with open_batches(path, **layout) as batches:
        return batches.names


def _if_no_names(layout: Layout, names: Sequence[str]) -> str:
    """Return what to do if the first line has values, where it looks so; else nothing."""
    value = value_among(names) if layout.header and layout.form in ("csv", "excel") else None
    told = f" Line {layout.skip + 1} was taken for names of columns, {shown(value)} among them"
    return "" if value is None else f"{told}; if it has values, pass header=False."


def _by_position(name: str | None, names: Sequence[str]) -> str | None:
    """Return the name of a column that is counted from the end, such as -1."""
    if name is not None and name.startswith("-") and name[1:].isdigit() and 0 < int(name[1:]) <= len(names):
        return names[int(name)]
    return name


def _check_name(table: pa.Table, name: str | None, option: str, path: Source) -> None:
    if name is not None and name not in table.column_names:
        known = shown(", ".join(table.column_names), 200)[1:-1]
        near = did_you_mean(name, table.column_names)
        raise DatasetError(
            f"{option} must be one of the columns, got {shown(name)} instead{near or f'; there are: {known}'}.", path
        )


def _marked(table: pa.Table, path: Source) -> str:
    """Return the prefix of labels, or raise an error that says which columns are likely labels."""
    if any(name.startswith(LABEL) for name in table.column_names):
        return LABEL
    found = suggest_labels(table)
    if not found:
        raise DatasetError(
            "label columns must be given, got none; pass labels=[names], prefix=, last=, tags= or class_column=.", path
        )
    likely = ", or ".join(f"{one.options} ({one.why})" for one in found)
    raise DatasetError(f"label columns must be given, got none; add what fits: {likely}.", path)


def _task_names(column: pa.ChunkedArray, name: str, path: Source) -> npt.NDArray[Any]:
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy())) + 1
        raise DatasetError(f"row {row}, column {shown(name)}: must be a task, got nothing.", path)
    # A whole number is the same task in each format: 1.0 in Parquet is 1 in CSV. 01 is a name.
    values = [int(value) if isinstance(value, float) and value.is_integer() else value for value in column.to_pylist()]
    names = [str(value).strip() for value in values]
    whole = all(_WHOLE.fullmatch(name) for name in set(names))
    return np.array([int(name) for name in names] if whole else names)
