"""Files that are there whole, or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a place to write a file to, which takes the place of ``path`` once it is whole.

    Whatever happens before that, a full disk, an error or a kill, leaves what was there.

    Parameters
    ----------
    path : Path
        Where the file is to be in the end. A device or the like is refused: a file would take its place.

    Yields
    ------
    Path
        Where to write it, in the same folder. There is nothing there yet.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     out = Path(folder, "answers.txt")
    ...     with whole_file(out) as part:
    ...         _ = part.write_text("yes")
    ...         before = out.exists()
    ...     before, out.read_text()
    (False, 'yes')
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a directory", str(path))
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "it is a device or the like, and a file would take its place", str(path))
    part = path.with_name(f".{uuid4().hex}.part")
    try:
        yield part
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
