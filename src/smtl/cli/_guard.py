"""No command writes onto anything that it reads."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from smtl.cli._errors import CommandError
from smtl.cli._output import forget_output
from smtl.whole_file import keep_whole

__all__ = ["files_of", "guard", "is_same_file"]

STREAM = "-"  # standard input, in the place of a file

# A file is what it is by its device and number, whatever path, link or descriptor leads to it.
_File: TypeAlias = tuple[int, int]


def files_of(source: str | Path, reading: dict[str, Any] | None = None) -> Iterator[Path | int]:
    """Return the files that are read for a source of data; a number is a descriptor.

    Parameters
    ----------
    source : str or Path
        A file, the name of a set, or ``-`` for standard input.
    reading : dict, optional
        The options that the data are read with.

    Yields
    ------
    Path or int
        Files that need not be there.

    Examples
    --------
    >>> [str(path) for path in files_of("songs.csv")]
    ['songs.csv']
    """
    from smtl.datasets import DatasetError, dataset_names
    from smtl.datasets.formats.mulan import find_xml
    from smtl.datasets.known import SETS
    from smtl.datasets.places import look

    if source == STREAM:
        yield sys.__stdin__.fileno() if sys.__stdin__ is not None else 0
        return
    name = str(source).partition(":")[0]
    if name in dataset_names():
        found, _ = look(SETS[name])
        yield from found.paths if found is not None else ()
    yield Path(source)
    if Path(source).is_dir():
        yield from Path(source).rglob("*.parquet")
    xml = (reading or {}).get("xml")
    if xml is not None:
        yield Path(xml)
    elif ".arff" in map(str.lower, Path(source).suffixes[-2:]):
        with suppress(DatasetError, OSError):
            yield find_xml(source)


def guard(read: Iterable[Path | int], written: Sequence[Path] = (), advice: str = "choose another with -o") -> None:
    """Refuse to write onto a file that is read, now and for as long as the command runs.

    Standard output and standard error count as written, too.

    Parameters
    ----------
    read : iterable of Path or int
        Files and descriptors that the command reads.
    written : sequence of Path
        Files that it will write.
    advice : str
        What to do about it.

    Raises
    ------
    CommandError
        If one of them is the same file, by whatever path, link or descriptor.

    Examples
    --------
    >>> guard([Path(__file__)], [Path(__file__).parent / "." / "_guard.py"])
    Traceback (most recent call last):
        ...
    smtl.cli._errors.CommandError: cannot write '..._guard.py': it is read by this command; choose another with -o.
    """
    kept = {place for file in read if (place := _place(file)) is not None}
    for path in written:
        if _place(path) in kept:
            raise CommandError(f"cannot write {str(path)!r}: it is read by this command; {advice}.")
    for number, name in ((2, "standard error"), (1, "standard output")):
        if _place(number) in kept:
            if number == 2:
                _tell_elsewhere(kept)
            raise CommandError(f"cannot write to {name}: it is a file that is read by this command; send it elsewhere.")
    keep_whole(kept)


def _tell_elsewhere(kept: set[_File]) -> None:
    """Send what is told on standard error to standard output or, if that is read as well, nowhere."""
    if _place(1) not in kept:
        os.dup2(1, 2)
        return
    forget_output(sys.stderr)


def is_same_file(one: str | Path, other: str | Path) -> bool:
    """Return whether two paths lead to one regular file.

    Examples
    --------
    >>> is_same_file(__file__, Path(__file__).parent / "." / "_guard.py"), is_same_file("no file", "no file")
    (True, False)
    """
    place = _place(Path(one))
    return place is not None and place == _place(Path(other))


def _place(file: Path | int) -> _File | None:
    """Return what a regular file is known by, None for anything else."""
    try:
        state = os.fstat(file) if isinstance(file, int) else os.stat(file)
    except (OSError, ValueError):
        return None
    return (state.st_dev, state.st_ino) if stat.S_ISREG(state.st_mode) else None
