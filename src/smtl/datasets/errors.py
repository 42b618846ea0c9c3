"""What is wrong with a file, and where."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

__all__ = ["DatasetError", "Fault", "at_most", "named", "of_file", "shown"]


class DatasetError(ValueError):
    """A file that cannot be read, with the place of its first fault.

    Parameters
    ----------
    message : str
        What must be, what was got instead, and what to do.
    path : path-like
        The file.
    line, column : int, optional
        The place, from 1 on; None where the fault has none, as in a binary file.

    Examples
    --------
    >>> raise DatasetError("a value must be a number, got 'x' instead.", "yeast.arff", 121, 7)
    Traceback (most recent call last):
        ...
    smtl.datasets.errors.DatasetError: yeast.arff, line 121, column 7: a value must be a number, got 'x' instead.
    """

    def __init__(
        self, message: str, path: str | PathLike[str], line: int | None = None, column: int | None = None
    ) -> None:
        places = [str(path)]
        if line is not None:
            places.append(f"line {line}")
        if column is not None:
            places.append(f"column {column}")
        super().__init__(f"{', '.join(places)}: {message}")
        self.message, self.path, self.line, self.column = message, path, line, column

    def __reduce__(self) -> tuple[Any, ...]:
        # By default an exception is made anew of its text alone, and a worker's error would not come back.
        return type(self), (self.message, self.path, self.line, self.column)


class Fault(Exception):  # noqa: N818
    """A fault within one line: who knows the file and the line makes a `DatasetError` of it."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.message, self.column = message, column


def of_file(error: Exception, path: str | PathLike[str]) -> Exception:
    """Return an error, with the name of the file that could not be read if the system has not told it."""
    if isinstance(error, OSError) and error.filename is None and error.errno is not None:
        error.filename = str(path)
    return error


@contextmanager
def named(path: str | PathLike[str]) -> Iterator[None]:
    """Give errors of the system the name of a file, which it does not tell where reading or writing fails.

    Examples
    --------
    >>> with named("songs.csv"):
    ...     raise OSError(5, "Input/output error")
    Traceback (most recent call last):
        ...
    OSError: [Errno 5] Input/output error: 'songs.csv'
    """
    try:
        yield
    except OSError as error:
        of_file(error, path)
        raise


def shown(text: object, longest: int = 40) -> str:
    """Return what was got, quoted and at a length that fits into a message."""
    quoted = repr(text)
    return quoted if len(quoted) <= longest else f"{quoted[: longest - 1]}…"


def at_most(n_bytes: int, limit: int, what: str, advice: str, path: str | PathLike[str]) -> None:
    """Refuse an array before it is made, if it would be larger than allowed."""
    if n_bytes > limit:
        raise DatasetError(
            f"{what} must take at most max_bytes={limit:,} bytes, got {n_bytes:,} instead; {advice}.", path
        )
