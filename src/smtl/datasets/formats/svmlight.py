"""Multi-label svmlight, as LIBSVM's multi-label files: ``1,5 3:0.5 7:2`` is a row with two labels and two features.

scikit-learn's loader is slower, names no line in its errors, and passes over a row that has neither labels
nor features.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError, at_most
from smtl.datasets.files import Source, replacing, stem, text_blocks
from smtl.datasets.formats.base import Beginning, Format
from smtl.datasets.labelled_rows import LabelledRows
from smtl.datasets.limits import most_bytes
from smtl.datasets.rows import feature_rows, label_rows

__all__ = ["SvmLight", "read_svmlight", "write_svmlight"]

_ROW = re.compile(r"(?:[-+]?\d[-+.\d,eE]*)?(?:[ \t]+qid:\d+)?(?:(?:^|[ \t]+)\d+:[^ \t:]+)*[ \t\r]*(?:#.*)?")

_MARK = "# smtl "
# Larger indices do not fit into the usual sparse matrices, and stand in damaged files only.
_MOST_FEATURES = 2**31 - 1
_BASE = re.compile(r"#.*column indices are (zero|one)-based", re.IGNORECASE)


def read_svmlight(
    path: Source,
    *,
    n_features: int | None = None,
    labels: int | Sequence[int] | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    sparse_labels: bool = False,
    max_bytes: int | None = None,
) -> Dataset:
    r"""Read a multi-label svmlight (LIBSVM) file.

    Parameters
    ----------
    path : path-like
        The file, plain, gzip or bzip2.
    n_features : int, optional
        The number of features. By default what the file's first comment says, if `write_svmlight` wrote it, or the
        largest index. Give it where several files must agree.
    labels : int or sequence of int, optional
        The labels, one a column: a number m stands for 0 to m - 1. By default what the first comment says, or the
        labels that occur, in increasing order. Give it where several files must agree.
    zero_based : bool or "auto", default="auto"
        Whether the first feature has the index 0. ``"auto"`` takes a comment's word for it, as scikit-learn writes
        one; without one, it is so if the index 0 occurs.
    sparse_labels : bool, default=False
        Whether Y is a CSR matrix.
    max_bytes : int, optional
        The most bytes that the text, and an array made of it, may have. By default what
        `smtl.datasets.limits` says for its size.

    Returns
    -------
    Dataset
        Its features, a CSR matrix, and labels.

    Raises
    ------
    DatasetError
        With the place of the first fault.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "small.svm")
    ...     _ = path.write_text("1,5 3:0.5\n1 1:2 2:1\n 3:1\n")
    ...     data = read_svmlight(path)
    >>> data.X.toarray()
    array([[0. , 0. , 0.5],
           [2. , 1. , 0. ],
           [0. , 0. , 1. ]])
    >>> data.Y
    array([[1, 1],
           [1, 0],
           [0, 0]], dtype=int8)
    >>> data.label_names
    ('1', '5')
    """
    source = text_blocks(path, max_bytes)
    first_line, text = next(source)
    comments = _comments(text)
    written = _written(comments, path)
    if zero_based == "auto":
        zero_based = _based(comments)
    most = written.get("n_features") if n_features is None else n_features
    if labels is None and "n_labels" in written:
        labels = written["n_labels"]
    allowed = range(labels) if isinstance(labels, int) else labels
    low = 1 if zero_based is False else 0
    high = _MOST_FEATURES if most is None else most - 1 + (zero_based is not True)
    rows = LabelledRows(path, range(low, high + 1), allowed)
    rows.add(first_line, text)
    for at, text in source:
        rows.add(at, text)
    if len(rows) == 0:
        raise DatasetError("must have rows, got none; the file is cut short.", path, 1)
    smallest, largest = rows.features.smallest(), rows.features.largest()
    shift = int(not zero_based) if zero_based != "auto" else int(smallest != 0)
    found = _n_features(most, largest, shift, path)
    if n_features is None:  # who says how many there are is to be trusted
        at_most(8 * found, most_bytes(path, max_bytes), "a row of all features", "pass a larger max_bytes", path)
    X = rows.features.matrix(found, shift)
    Y, numbers = rows.labels(allowed, sparse_labels, max_bytes)
    label_names = written.get("label_names") if isinstance(labels, int) else tuple(map(str, numbers))
    # Whoever asked for other numbers than the comment's asked for other columns.
    return Dataset(
        X, Y, _fitting(written.get("feature_names"), found), _fitting(label_names, Y.shape[1]), name=stem(path)
    )


def _comments(text: str) -> list[str]:
    """Return the lines above the first row."""
    return list(takewhile(lambda line: line.startswith("#"), text.split("\n")))


def _based(comments: Iterable[str]) -> bool | Literal["auto"]:
    """Return whether features are numbered from 0, where a comment says so."""
    based = next((found[1].lower() for line in comments if (found := _BASE.match(line))), None)
    return "auto" if based is None else based == "zero"


def _n_features(most: int | None, largest: int, shift: int, path: Source) -> int:
    """Return how many features there are, given what was said and the largest number that occurs."""
    if most is None:
        return largest + 1 - shift if largest >= 0 else 0
    if largest - shift >= most:  # the index 0 showed late that the largest index was one too large
        raise DatasetError(
            f"an index must be from 0 to {most - 1}, for the index 0 occurs, got {largest} instead.", path
        )
    return most


def _fitting(names: tuple[str, ...] | None, n: int) -> tuple[str, ...] | None:
    """Return names if there are as many as columns."""
    return names if names and len(names) == n else None


def _written(comments: Iterable[str], path: Source) -> dict[str, Any]:
    """Return what `write_svmlight` wrote into the first comment, {} if another wrote the file."""
    for at, line in enumerate(comments, start=1):
        if not line.startswith(_MARK):
            continue
        try:
            found = json.loads(line[len(_MARK) :])
            counts = {key: found[key] for key in ("n_features", "n_labels")}
            if any(type(count) is not int or not 0 <= count < _MOST_FEATURES for count in counts.values()):
                raise ValueError("counts must be numbers")
            for key, n in (("feature_names", counts["n_features"]), ("label_names", counts["n_labels"])):
                names = found.get(key)
                if names is not None:
                    if not isinstance(names, list) or len(names) != n or not all(type(name) is str for name in names):
                        raise ValueError(f"{key} must be a list of {n} names")
                    counts[key] = tuple(names)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise DatasetError(
                f"the comment that write_svmlight wrote is damaged ({error}); remove the line.", path, at, 1
            ) from error
        return counts
    return {}


def write_svmlight(data: Dataset, path: Source, *, comment: bool = True) -> None:
    r"""Write a data set as multi-label svmlight; `read_svmlight` reads back the same.

    The file takes its place only once it is whole. Indices begin with 1, labels, the numbers of Y's columns, with 0.

    Parameters
    ----------
    data : Dataset
        What to write. Its labels must all be known.
    path : path-like
        The file, compressed if its suffix is ``.gz`` or ``.bz2``.
    comment : bool, default=True
        Whether to begin with a comment that holds the names and the numbers of features and labels. Without it, names
        are lost, and so are features and labels behind the last that occurs. LIBSVM's own programs want no comment.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "small.svm")
    ...     write_svmlight(Dataset(np.array([[0.1, 0.0, 2.0]]), np.array([[0, 1]]), label_names=("a", "b")), path)
    ...     print(path.read_text())
    ...     read_svmlight(path).label_names
    # smtl {"n_features": 3, "n_labels": 2, "feature_names": null, "label_names": ["a", "b"]}
    # Column indices are one-based
    1 1:0.1 3:2.0
    <BLANKLINE>
    ('a', 'b')
    """
    if data.tasks is not None:
        raise ValueError("svmlight holds labels of shared rows, got tasks with rows of their own; write CSV.")
    if not sp.issparse(data.Y) and np.isnan(np.asarray(data.Y, dtype=np.float64)).any():
        raise ValueError("svmlight holds labels that are all known, got NaN in Y; write Mulan's ARFF or CSV.")
    if data.X.shape[1] == 0:
        raise ValueError("svmlight holds rows with features, got X without columns; write Mulan's ARFF or CSV.")
    with replacing(path) as file:
        if comment:
            about = {
                "n_features": data.X.shape[1],
                "n_labels": data.Y.shape[1],
                "feature_names": data.feature_names,
                "label_names": data.label_names,
            }
            file.write(f"{_MARK}{json.dumps(about)}\n# Column indices are one-based\n")
        file.writelines(_lines(data))


def _lines(data: Dataset) -> Iterator[str]:
    for row, labels in zip(feature_rows(data.X, "nan"), label_rows(data.Y), strict=True):
        head = ",".join(str(k) for k, label in enumerate(labels) if label == "1")
        entries = [f"{j + 1}:{text}" for j, text in row if text != "0.0"]
        # A line with nothing on it would be no row.
        yield " ".join([head, *(entries or (["1:0"] if not head else []))]) + "\n"


class SvmLight(Format):
    """Multi-label svmlight: by its suffix, or because the first row looks like it."""

    name, title, order = "svmlight", "svmlight", 80
    written = (".libsvm", ".svm", ".svmlight")
    numbered_labels = True

    read = staticmethod(read_svmlight)

    def begins(self, beginning: Beginning) -> bool:  # noqa: D102
        if beginning.suffix in self.written:
            return True
        row = beginning.first_row
        return not beginning.is_table_by_suffix and ":" in row and _ROW.fullmatch(row) is not None

    def write(self, data: Dataset, path: Source) -> None:  # noqa: D102
        write_svmlight(data, path)
