"""How much memory and time one file may take: stated here, checked before it is taken, and can be raised.

A small file can claim, or unpack to, far more than a machine has. So what a file may come to grows with its size on the
disk, up to a limit; real files stay far below that. ``max_bytes`` of the readers, the environment variables
``SMTL_MAX_BYTES``, ``SMTL_MAX_COLUMNS`` and ``SMTL_MAX_SECONDS``, and the options of the same names on the command line
say another number, which then holds for files of any size.
"""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

from smtl.datasets.errors import DatasetError

__all__ = ["VARIABLES", "Clock", "Limits", "at_most_columns", "limits_of", "most_attributes", "most_bytes"]

VARIABLES = {"bytes": "SMTL_MAX_BYTES", "columns": "SMTL_MAX_COLUMNS", "seconds": "SMTL_MAX_SECONDS"}

_MOST_BYTES = 2**32
_FREE_BYTES, _BYTES_A_BYTE = 2**28, 100  # of an array: for any file, and more for each byte of the file
_FREE_TEXT, _TEXT_A_BYTE = 2**26, 50  # of unpacked text, which rarely shrinks to a twentieth
_MOST_COLUMNS = 2**16  # of a table; pyarrow takes 10 kB and 50 us for a column, whatever is in it
_MOST_ATTRIBUTES = 2**18  # of ARFF
_FREE_SECONDS, _SECONDS_A_BYTE = 6.0, 2e-6  # ten times what the slowest reader takes for plain text


class Limits(NamedTuple):
    """What one file may take.

    Attributes
    ----------
    bytes : int
        Of each array that is made of it.
    text : int
        Of its text once it is unpacked.
    columns : int
        Of a table. ARFF may have four times as many attributes. Sparse formats have as many as fit into the bytes.
    seconds : float
        Of the processor, while it is read; time spent waiting does not count.
    """

    bytes: int
    text: int
    columns: int
    seconds: float


def limits_of(path: Any, max_bytes: int | None = None) -> Limits:
    """Return what a file may take.

    Parameters
    ----------
    path : path-like
        The file. What is no file, a stream for example, has the limits of a large file.
    max_bytes : int, optional
        The caller's own limit.

    Returns
    -------
    Limits
        The limits.

    Examples
    --------
    >>> limits_of("nothing.csv").columns, limits_of("nothing.csv", 1000).bytes
    (65536, 1000)
    """
    try:
        size = os.path.getsize(path)
    except (OSError, TypeError, ValueError):
        size = _MOST_BYTES
    by_size = (_FREE_BYTES + _BYTES_A_BYTE * size, _FREE_TEXT + _TEXT_A_BYTE * size)
    array, text = (
        int(_stated("bytes", min(_MOST_BYTES, most))) if max_bytes is None else max_bytes for most in by_size
    )
    seconds = _stated("seconds", _FREE_SECONDS + _SECONDS_A_BYTE * size)
    return Limits(array, text, int(_stated("columns", _MOST_COLUMNS)), seconds)


def _stated(key: str, default: float) -> float:
    """Return what the environment says, else the default."""
    text = os.environ.get(VARIABLES[key])
    if not text:
        return default
    try:
        value = float(text)
        if not value > 0:
            raise ValueError(text)
        return min(value, 2.0**62)
    except ValueError:
        raise ValueError(
            f"the environment variable {VARIABLES[key]} must be a positive number, got {text!r} instead."
        ) from None


def most_bytes(path: Any, max_bytes: int | None = None) -> int:
    """Return the most bytes that an array made of a file may take.

    Examples
    --------
    >>> most_bytes("nothing.csv", 10)
    10
    """
    return limits_of(path, max_bytes).bytes


def most_attributes() -> int:
    """Return the most attributes that ARFF may have.

    Examples
    --------
    >>> most_attributes()
    262144
    """
    return int(_stated("columns", _MOST_ATTRIBUTES))


def at_most_columns(n: int, path: Any, line: int | None = None, most: int | None = None) -> None:
    """Refuse a table with more columns than allowed, by default those of `limits_of`.

    Examples
    --------
    >>> at_most_columns(3, "songs.csv")
    """
    most = limits_of(path).columns if most is None else most
    if n > most:
        raise DatasetError(
            f"a table must have at most max_columns={most:,} columns, got {n:,} or more; if the file is to be trusted, "
            "set SMTL_MAX_COLUMNS to a larger number.",
            path,
            line,
        )


class Clock:
    """The time that a file takes; to be asked now and then while it is read.

    Parameters
    ----------
    path : path-like
        The file.

    Examples
    --------
    >>> Clock("songs.csv").check()
    """

    def __init__(self, path: Any) -> None:
        self.path, self.seconds = path, limits_of(path).seconds
        self._begin = time.process_time()

    def check(self, line: int | None = None) -> None:
        """Refuse to go on once the time is over."""
        if time.process_time() - self._begin > self.seconds:
            raise DatasetError(
                f"reading must take at most max_seconds={self.seconds:,.1f} of the processor's time, and has taken "
                "more; if the file is to be trusted, set SMTL_MAX_SECONDS to a larger number.",
                self.path,
                line,
            )
