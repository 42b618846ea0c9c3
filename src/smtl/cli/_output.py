"""Standard output and standard error of commands, which are cleaned of what a terminal would obey."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from smtl.terminal import CleanedStream, bare

__all__ = ["cleaned_streams", "data_output", "fill_closed", "forget_output"]


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
    sys.stdout, sys.stderr = CleanedStream(sys.stdout), _Told(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Told(CleanedStream):
    """Standard error, cleaned: where it takes no more, the rest goes nowhere, and the command goes on."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            forget_output(self)
            return len(text)

    def flush(self) -> None:
        try:
            self.rich_proxied_file.flush()
        except OSError:
            forget_output(self)


def fill_closed() -> set[int]:
    """Open the standard streams that are closed onto the null device, and return their numbers.

    A file that is opened later would get the descriptor, and with it what is printed. Standard input stays None.

    Examples
    --------
    >>> fill_closed()
    set()
    """
    closed = set()
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            closed.add(number)
            _to_null(number)
            if number:
                setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
    return closed


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


def forget_output(stream: Any = None) -> None:
    """Send what is left of a stream nowhere.

    Whoever reads it has enough, as ``head`` has: nothing more can be said to them, and that is no error of ours.

    Parameters
    ----------
    stream : text file, optional
        Standard output if it is not given.
    """
    _to_null((stream or sys.stdout).fileno())


def _to_null(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != number:  # else it was closed, and the lowest that is free
        os.dup2(nowhere, number)
        os.close(nowhere)
    os.set_inheritable(number, True)
