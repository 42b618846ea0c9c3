"""CSV: label columns by name, by prefix, the last k, or one column with classes."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence

import scipy.sparse as sp

from smtl.datasets.columns import LABEL, TASK, Key, assemble, choose, find
from smtl.datasets.dataset import Dataset
from smtl.datasets.files import Source, replacing, suffix_of
from smtl.datasets.formats.base import Beginning, Format
from smtl.datasets.nominal import Nominal, check_nominal
from smtl.datasets.rows import feature_rows, label_rows, unique, writable_names
from smtl.extras import of_extra

__all__ = ["CSV", "read_csv", "write_csv"]


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
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
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
    separator : str, optional
        What stands between two cells. By default comma, semicolon, tab or ``|``, whichever cuts all lines into the same
        number of cells.
    decimal : {".", ","}, optional
        The decimal sign. By default a comma if the separator is a semicolon or a tab, and cells look like ``1,5`` and
        none like ``1.5``.
    encoding : str, optional
        How characters are written. By default UTF-8 if that fits, UTF-16 if the file begins with its mark, else
        Windows-1252.
    max_bytes : int, optional
        The most bytes that the text, and an array made of it, may have. By default what
        `smtl.datasets.limits` says for its size.

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
    # pyarrow takes a while to import.
    with of_extra("tables", "CSV files"):
        from smtl.datasets.text_columns import TextColumns
        from smtl.tables.reading import csv_cells

    options = {"separator": separator, "decimal": decimal, "encoding": encoding, "header": header, "skip": skip}
    with csv_cells(path, options, max_bytes) as cells:
        roles = choose(cells.written, path, labels, prefix, last, class_column, tasks, ignore, cells.line)
        position = {name: j for j, name in enumerate(cells.written)}
        words = {find(position, key, "categorical", path, cells.line) for key in categorical}
        tables = list(cells.tables())
    columns = TextColumns(cells.written, roles, words, cells.layout.decimal)
    table = columns.numbers(tables)
    if columns.fault is not None:
        row, j, message = columns.fault
        with csv_cells(path, options, max_bytes) as cells:
            raise cells.place(message, row, j, [part.num_rows for part in tables])
    return assemble(table, columns.columns, roles, header, nominal, max_bytes, path)


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


class CSV(Format):
    """Tables of text: by their suffix, or because the first row has something between cells."""

    name, title, order = "csv", "CSV", 90
    written = (".csv", ".tsv")
    is_table = True

    read = staticmethod(read_csv)

    def begins(self, beginning: Beginning) -> bool:  # noqa: D102
        return beginning.suffix in self.written or any(sign in beginning.first_row for sign in ",;\t|")

    def write(self, data: Dataset, path: Source) -> None:  # noqa: D102
        write_csv(data, path, separator="\t" if suffix_of(path) == ".tsv" else ",")
