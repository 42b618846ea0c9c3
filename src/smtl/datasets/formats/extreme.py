"""The text format of the extreme-classification repository: ``n d m``, then a row a line, all numbers from 0."""

from __future__ import annotations

import re

from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError, at_most, shown
from smtl.datasets.files import Source, stem, text_blocks
from smtl.datasets.formats.base import Beginning, Format
from smtl.datasets.labelled_rows import LabelledRows
from smtl.datasets.limits import most_bytes

__all__ = ["Extreme", "read_extreme"]

_HEADER = re.compile(r"[ \t]*([0-9]{1,10})[ \t]+([0-9]{1,10})[ \t]+([0-9]{1,10})[ \t\r]*")


def read_extreme(path: Source, *, sparse_labels: bool = False, max_bytes: int | None = None) -> Dataset:
    r"""Read a file of the extreme-classification repository.

    Its first line is ``n d m``, the numbers of rows, features and labels. A row is ``1,5 3:0.5 7:2``: labels and
    features, both numbered from 0. A blank line is a row with neither.

    Parameters
    ----------
    path : path-like
        The file, plain, gzip or bzip2.
    sparse_labels : bool, default=False
        Whether Y is a CSR matrix, as many labels will want.
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
    ...     path = Path(folder, "small.txt")
    ...     _ = path.write_text("2 3 2\n0,1 2:0.5\n 0:2 1:1\n")
    ...     data = read_extreme(path)
    >>> data.X.toarray(), data.Y
    (array([[0. , 0. , 0.5], [2. , 1. , 0. ]]), array([[1, 1], [0, 0]], dtype=int8))
    """
    source = text_blocks(path, max_bytes)
    _, text = next(source)
    header, newline, text = text.partition("\n")
    found = _HEADER.fullmatch(header)
    n, d, m = map(int, found.groups()) if found else (-1, 0, 0)
    if not 0 < n < 2**31 or d >= 2**31 or m >= 2**31:
        raise DatasetError(
            "the first line must be n d m, the numbers of rows, features and labels, got "
            f"{shown(header)} instead; if there is no such line, use read_svmlight.",
            path,
            1,
            1,
        )
    at_most(
        8 * max(d, m), most_bytes(path, max_bytes), "a row of all features or labels", "pass a larger max_bytes", path
    )
    rows = LabelledRows(path, range(d), range(m), blank=True)
    if newline:
        rows.add(2, text)
    for at, text in source:
        rows.add(at, text)
        if len(rows) > n:
            break
    if len(rows) != n:
        more = len(rows) > n
        advice = "correct the header" if more else "the file is cut short"
        raise DatasetError(
            f"there must be {n} rows, as the header says, got {'more' if more else len(rows)} instead; {advice}.",
            path,
            n + 2 if more else len(rows) + 1,
        )
    Y, _ = rows.labels(range(m), sparse_labels, max_bytes)
    return Dataset(rows.features.matrix(d), Y, name=stem(path))


class Extreme(Format):
    """The format of the extreme classification repository: its first line is three numbers."""

    name, title, order = "extreme", "extreme classification", 70

    read = staticmethod(read_extreme)

    def begins(self, beginning: Beginning) -> bool:  # noqa: D102
        return _HEADER.fullmatch(beginning.lines[0]) is not None
