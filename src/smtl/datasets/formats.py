"""One function that reads any format, and one that writes."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from smtl.datasets.arff_header import read_header
from smtl.datasets.csv import read_csv, write_csv
from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.extreme import read_extreme
from smtl.datasets.files import Source, blocks, opened, text_blocks
from smtl.datasets.matlab import read_matlab
from smtl.datasets.meka import n_labels, read_meka
from smtl.datasets.mulan import read_mulan, write_mulan
from smtl.datasets.parquet import read_parquet, read_typed
from smtl.datasets.svmlight import read_svmlight, write_svmlight

__all__ = ["format_of", "read", "write"]

_READERS: dict[str, Callable[..., Dataset]] = {
    "csv": read_csv,
    "excel": read_typed,
    "extreme": read_extreme,
    "jsonl": read_typed,
    "matlab": read_matlab,
    "meka": read_meka,
    "mulan": read_mulan,
    "parquet": read_parquet,
    "svmlight": read_svmlight,
}
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
}
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")
_EXTREME = re.compile(r"[ \t]*\d+[ \t]+\d+[ \t]+\d+[ \t\r]*")
_SVMLIGHT = re.compile(r"(?:[-+]?\d[-+.\d,eE]*)?(?:[ \t]+qid:\d+)?(?:(?:^|[ \t]+)\d+:[^ \t:]+)*[ \t\r]*(?:#.*)?")


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
    return _READERS[format_of(path, options.get("max_bytes"))](path, **options)


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
    {"csv", "excel", "extreme", "jsonl", "matlab", "meka", "mulan", "parquet", "svmlight"}
        The format. Tables with semicolons, tabs or ``|`` between cells are ``"csv"``, too.

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
    from smtl.tables.layout import find_layout, is_excel

    if is_excel(path):
        return "excel"
    table = _suffix(path) in _TABLES
    with opened(path, utf_16=table) as (stream, compressed):
        begin = b"" if compressed else stream.read(8)
    if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return find_layout(path).form
    if begin.startswith(b"PAR1"):
        return "parquet"
    if begin.startswith(b"MATLAB") or _suffix(path) == ".mat":
        return "matlab"
    with closing(blocks(path, max_bytes)) as source:
        _, block = next(source)
    lines = block.decode("latin-1").split("\n")
    words = next((line.strip() for line in lines if line.strip() and not line.lstrip().startswith("%")), "")
    if words.startswith("@") or _suffix(path) == ".arff":
        with closing(text_blocks(path, max_bytes)) as lines_of_text:
            header, _ = read_header(path, lines_of_text)
        return "mulan" if n_labels(header.relation) is None else "meka"
    if _suffix(path) in (".jsonl", ".ndjson") or (words.startswith("{") and not table):
        return "jsonl"
    if _EXTREME.fullmatch(lines[0]):
        return "extreme"
    if _suffix(path) in _SUFFIXES:
        return _SUFFIXES[_suffix(path)]
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    if ":" in first and _SVMLIGHT.fullmatch(first):
        return "svmlight"
    if any(separator in first for separator in ",;\t|"):
        return "csv"
    raise DatasetError(
        "must be of a known format (Mulan, MEKA, svmlight, extreme classification, CSV, Parquet, JSON lines, "
        "Excel, MATLAB), got "
        f"{shown(first)} instead; use the format's own reader.",
        path,
        1,
        1,
    )


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
    suffix = _suffix(path)
    if suffix == ".arff":
        write_mulan(data, path)
    elif _SUFFIXES.get(suffix) == "svmlight":
        write_svmlight(data, path)
    elif _SUFFIXES.get(suffix) == "csv":
        write_csv(data, path, separator="\t" if suffix == ".tsv" else ",")
    else:
        known = ", ".join([".arff", *sorted(_SUFFIXES)])
        raise ValueError(f"path must end with one of {known}, and .gz or .bz2 behind it, got {str(path)!r} instead.")


def _suffix(path: Source) -> str:
    path = Path(path)
    if path.suffix.lower() in (".gz", ".bz2"):
        path = path.with_suffix("")
    return path.suffix.lower()
