"""CSV: label columns by name, by prefix, the last k, or one column with classes."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from itertools import chain

import scipy.sparse as sp

from smtl.datasets.columns import LABEL, TASK, Key, assemble, choose, find
from smtl.datasets.csv_cells import Cells, Records
from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError
from smtl.datasets.files import Source, replacing
from smtl.datasets.nominal import Nominal, check_nominal
from smtl.datasets.rows import feature_rows, label_rows, unique, writable_names

__all__ = ["read_csv", "write_csv"]


def read_csv(
    path: Source,
    *,
    labels: Sequence[Key] | None = None,
    prefix: str | None = None,
    last: int | None = None,
    class_column: Key | None = None,
    tasks: Key | None = None,
    categorical: Collection[Key] = (),
    ignore: Collection[Key] = (),
    nominal: Nominal = "one-hot",
    header: bool = True,
    skip: int = 0,
    separator: str = ",",
    max_bytes: int | None = None,
) -> Dataset:
    r"""Read a CSV file.

    A column is numeric if its first value is a number, and then all must be; else it is nominal, its values in
    alphabetical order. A column of which only the first value is no number is an error rather than nominal. Empty
    cells, ``?`` and ``NA`` are missing values and, but for classes and tasks, ``NULL``, ``null``, ``None``, ``N/A``,
    ``n/a``, ``na``, ``nan``, ``NaN``, ``#N/A`` and ``-`` are, too.

    Parameters
    ----------
    path : path-like
        The file, plain, gzip or bzip2.
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
    categorical : collection of str or int, default=()
        Columns that are nominal though they begin with a number, or though most of their values are numbers.
    ignore : collection of str or int, default=()
        Columns to leave out: neither features nor labels. Their cells may be anything.
    nominal : {"one-hot", "ordinal"}, default="one-hot"
        Whether a nominal feature becomes one 0/1 column for each of its values or one column with the value's
        position. One with the values 0 and 1 stays as it is.
    header : bool, default=True
        Whether the first line names the columns.
    skip : int, default=0
        How many lines to pass over before that.
    separator : str, default=","
        What stands between two cells.
    max_bytes : int, optional
        The most bytes that the text, and an array made of it, may have. By default 4 GiB, and of a compressed file no
        more than 64 MiB and 200 times its size.

    Returns
    -------
    Dataset
        Its features, dense, and labels.

    Raises
    ------
    DatasetError
        With the place of the first fault.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "songs.csv")
    ...     _ = path.write_text("beat,key,calm,sad\n0.5,minor,1,1\n,major,0,\n")
    ...     data = read_csv(path, last=2)
    >>> data.feature_names
    ('beat', 'key=major', 'key=minor')
    >>> data.X
    array([[0.5, 0. , 1. ],
           [nan, 1. , 0. ]])
    >>> data.Y
    array([[ 1.,  1.],
           [ 0., nan]])
    """
    check_nominal(nominal)
    records = Records(path, separator, skip, max_bytes)
    first = next(records.rows, None)
    if first is None:
        raise DatasetError("must have rows, got none; the file is cut short.", path, records.line)
    names = list(first) if header else [str(j) for j in range(len(first))]
    line = records.first + records.starts[-1]
    roles = choose(names, path, labels, prefix, last, class_column, tasks, ignore, line)
    position = {name: j for j, name in enumerate(names)}
    table = Cells(names, roles, {find(position, key, "categorical", path, line) for key in categorical})
    if not header:
        records.rows = chain([first], records.rows)
    else:
        records.forget()
    for batch in records.batches(len(names)):
        table.add(batch, records)
    if not table.parts:
        raise DatasetError("must have rows below the header, got none; the file is cut short.", path, records.line)
    return assemble(*table.finish(records), roles, header, nominal, max_bytes, path)


def write_csv(data: Dataset, path: Source, *, prefix: str = LABEL, separator: str = ",") -> None:
    """Write a data set as CSV; `read_csv` reads back the same, a sparse X as a dense one.

    The file takes its place only once it is whole. Features come first, then labels, then the task if there is one.

    Parameters
    ----------
    data : Dataset
        What to write.
    path : path-like
        The file, compressed if its suffix is ``.gz`` or ``.bz2``.
    prefix : str, default="label:"
        What is put before the labels' names, so that a reader can tell them.
    separator : str, default=","
        What stands between two cells.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "small.csv")
    ...     write_csv(Dataset(np.array([[0.1, np.nan]]), np.array([[0, 1]]), ("a", "b, c"), ("d", "e")), path)
    ...     print(path.read_text())
    ...     read_csv(path).label_names
    "a","b, c","label:d","label:e"
    0.1,,0,1
    <BLANKLINE>
    ('d', 'e')
    """
    features, labels = writable_names(data)
    marked = [f"{prefix}{label}" for label in labels]
    task = [TASK] if data.tasks is not None else []
    unique([*features, *marked, *task], "names of columns")
    if prefix:
        for name in features:
            if name.startswith(prefix) or name == TASK:
                raise ValueError(
                    f"names of features must not be {TASK!r} nor begin with {prefix!r}, got {name!r} instead; "
                    "rename it, or pass another prefix."
                )
    d = len(features)
    with replacing(path) as file:
        # All names in quotes: blanks at their ends, and a byte-order mark, stay what they are.
        csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(
            [*features, *marked, *task]
        )
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        tasks = [[str(task)] for task in data.tasks] if data.tasks is not None else [[]] * data.X.shape[0]
        for row, cells, own in zip(feature_rows(data.X, ""), label_rows(data.Y), tasks, strict=True):
            if sp.issparse(data.X):
                found = dict(row)
                texts = [found.get(j, "0.0") for j in range(d)]
            else:
                texts = [text for _, text in row]
            writer.writerow([*texts, *cells, *own])
