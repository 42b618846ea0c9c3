"""Standard output and standard error of commands, which are cleaned of what a terminal would obey."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from smtl.terminal import CleanedStream, bare

__all__ = ["cleaned_streams", "data_output", "forget_output"]


@contextmanager
def cleaned_streams() -> Iterator[None]:
    r"""Clean what is printed to standard output and standard error inside the ``with`` block.

    Examples
    --------
    >>> with cleaned_streams():
    ...     print("title: \033]0;own\007")
    title: \u001b]0;own\u0007
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = CleanedStream(sys.stdout), CleanedStream(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def data_output(*, raw: bool) -> IO[str]:
    """Return standard output for a command's data: as they are for a file, or if asked, else cleaned.

    Parameters
    ----------
    raw : bool
        Whether they are wanted as they are, wherever they go.

    Returns
    -------
    text file
        The stream.
    """
    stream: Any = sys.stdout
    own: Any = bare(stream)
    with suppress(OSError, ValueError, AttributeError):
        raw = raw or stat.S_ISREG(os.fstat(own.fileno()).st_mode)
    chosen: IO[str] = own if raw else stream
    return chosen


def forget_output() -> None:
    """Send what is left of standard output nowhere.

    Whoever reads it has enough, as ``head`` has: nothing more can be said to them, and that is no error of ours.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
