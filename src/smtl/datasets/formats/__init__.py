"""Formats of data sets, one to a file; one function that reads any of them, and one that writes.

A new file in this folder, with a subclass of `Format` that sets ``name``, is all that a new format takes.
"""

from __future__ import annotations

from typing import Any

from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.files import Source, suffix_of
from smtl.datasets.formats.base import Beginning, Format
from smtl.registry import import_all

__all__ = ["Format", "format_of", "read", "write"]

import_all(__name__, __path__)


def read(path: Source, **options: Any) -> Dataset:
    r"""Read a file in whichever format it is.

    The format is told by the file's content, and by its suffix where that leaves a choice; see `format_of`.

    Parameters
    ----------
    path : path-like
        The file.
    **options
        Passed to the format's own reader: `read_mulan`, `read_meka`, `read_svmlight`, `read_extreme`, `read_csv`,
        `read_parquet` or `read_matlab`; those of `read_parquet` for JSON lines and Excel.

    Returns
    -------
    Dataset
        Its features and labels.

    Raises
    ------
    DatasetError
        With the place of the first fault.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "small.csv")
    ...     _ = path.write_text("size,label:round,label:red\n0.5,1,0\n")
    ...     read(path)
    Dataset('small': 1 rows, 1 features, 2 labels)
    """
    found: Dataset = Format.known[format_of(path, options.get("max_bytes"))]().read(path, **options)
    return found


def format_of(path: Source, max_bytes: int | None = None) -> str:
    r"""Return the name of a file's format.

    Parameters
    ----------
    path : path-like
        The file.
    max_bytes : int, optional
        The most bytes that its text may have.

    Returns
    -------
    str
        The format: "csv", "excel", "extreme", "jsonl", "matlab", "meka", "mulan", "parquet", "svmlight", or another
        that is registered. Tables with semicolons, tabs or ``|`` between cells are ``"csv"``, too.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.txt")
    ...     _ = path.write_text("2 3 2\n0,1 2:0.5\n 0:2 1:1\n")
    ...     format_of(path)
    'extreme'
    """
    beginning = Beginning(path, max_bytes)
    formats = [kind() for kind in sorted(Format.known.values(), key=lambda kind: (kind.order, kind.name))]
    found = next((one.name for one in formats if one.begins(beginning)), None)
    if found is None:
        raise DatasetError(
            f"must be of a known format ({', '.join(one.title for one in formats)}), got {shown(beginning.first_row)} "
            "instead; use the format's own reader.",
            path,
            1,
            1,
        )
    return str(found)


def write(data: Dataset, path: Source) -> None:
    """Write a data set in the format that the suffix names.

    Parameters
    ----------
    data : Dataset
        What to write.
    path : path-like
        The file: ``.arff`` (Mulan, with an XML file beside it), ``.svm``, ``.svmlight`` or ``.libsvm``, ``.csv`` or
        ``.tsv``; each with ``.gz`` or ``.bz2`` behind it, too.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "small.svm.gz")
    ...     write(Dataset(np.eye(2), np.eye(2)), path)
    ...     read(path)
    Dataset('small': 2 rows, 2 features, 2 labels)
    """
    formats = {suffix: kind for kind in Format.known.values() for suffix in kind.written}
    form = formats.get(suffix_of(path))
    if form is None:
        known = ", ".join(sorted(formats))
        raise ValueError(f"path must end with one of {known}, and .gz or .bz2 behind it, got {str(path)!r} instead.")
    form().write(data, path)
