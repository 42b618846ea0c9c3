"""Whether a file could be written: better known before the work than after it."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile

from smtl.cli._errors import CommandError

__all__ = ["check_writable"]


def check_writable(out: Path, suffixes: Sequence[str] | None = None, advice: str = "choose another with --out") -> None:
    """Raise CommandError where a file could not be written.

    Parameters
    ----------
    out : Path
        The file.
    suffixes : sequence of str, optional
        One of which its name must end in.
    advice : str, optional
        What to do about the folder.

    Examples
    --------
    >>> check_writable(Path("picture.txt"), (".png", ".svg"))
    Traceback (most recent call last):
        ...
    smtl.cli._errors.CommandError: cannot write 'picture.txt': the name must end in .png or .svg.
    """
    folder = Path(os.path.realpath(out) if out.is_symlink() else out).parent
    if suffixes is not None and out.suffix.lower() not in suffixes:
        problem = f"the name must end in {', '.join(suffixes[:-1])} or {suffixes[-1]}"
    elif out.is_dir():
        problem = "it is a directory"
    elif out.exists() and not out.is_file():
        problem = "it is a device or the like, and a file would take its place"
    elif not folder.exists():
        problem = f"the directory {str(folder)!r} does not exist; create it, or {advice}"
    elif not folder.is_dir():
        problem = f"{str(folder)!r} is not a directory"
    elif not os.access(out if out.exists() else folder, os.W_OK) or not _takes_files(folder):
        problem = f"no permission to write there; {advice}"
    else:
        return
    raise CommandError(f"cannot write {str(out)!r}: {problem}.")


def _takes_files(folder: Path) -> bool:
    """Return whether a file can be made in a folder, by making one: there are folders that refuse even root."""
    try:
        with TemporaryFile(dir=folder):
            return True
    except OSError as error:
        return error.errno in (
            errno.ENOSPC,
            errno.EDQUOT,
            errno.EIO,
        )  # that is for the write to tell, which may need less
