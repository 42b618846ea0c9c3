"""Files that are there whole, or not at all.

What is written goes to a part: a file in the same folder, whose name says that it is one, and which process of which
machine writes it. A part takes the place of the file once it is whole and on the disk. A process that is told to end
removes its parts; those of one that was killed are removed by the next that writes into the folder.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import stat
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import FrameType
from uuid import uuid4

__all__ = ["keep_whole", "remove_leftovers", "whole_file"]

_PART = re.compile(r"\.smtl-([0-9a-f]{8})-([0-9]{1,10})-[0-9a-f]{12}\.part")
# Seconds after which a part that nobody has written to counts as left over: of the processes of another machine nothing
# is known, and another process may have got the number of one that is gone.
_FORGOTTEN = 86_400.0
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
# The parts that are being written, and the process that does.
_parts: dict[Path, int] = {}
# Files that must not be replaced, by device and number.
_kept: set[tuple[int, int]] = set()


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a place to write a file to, which takes the place of ``path`` once it is whole.

    Whatever happens before that, a full disk, an error or a kill, leaves what was there. Where ``path`` is a link, the
    file that it leads to is replaced. A file that is replaced passes on who may read it.

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
    if path.is_symlink():
        path = Path(os.path.realpath(path))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a directory", str(path))
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "it is a device or the like, and a file would take its place", str(path))
    if path.exists() and (path.stat().st_dev, path.stat().st_ino) in _kept:
        raise FileExistsError(errno.EEXIST, "it is read by this command, and would be written over", str(path))
    remove_leftovers(path.parent)
    part = path.with_name(f".smtl-{_machine()}-{os.getpid()}-{uuid4().hex[:12]}.part")
    with _removed_on_signals(part):
        try:
            yield part
            if path.exists():
                os.chmod(part, stat.S_IMODE(path.stat().st_mode))
            _to_disk(part)
            os.replace(part, path)
        except BaseException as error:
            if isinstance(error, OSError) and error.errno is not None and error.filename in (None, str(part)):
                error.filename = str(path)  # which the user knows
            with suppress(OSError):  # what went wrong first is told; the next run removes what is left
                part.unlink(missing_ok=True)
            raise
    if hasattr(os, "O_DIRECTORY"):  # so that the new name outlives a loss of power, too
        try:
            _to_disk(path.parent)
        except OSError as error:
            error.filename = str(path)
            raise


def keep_whole(files: Collection[tuple[int, int]]) -> None:
    """Have no other files than these be safe from being replaced, whatever leads to them.

    Parameters
    ----------
    files : collection of (device, number)
        What `os.stat` says of each.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     songs = Path(folder, "songs.csv")
    ...     songs.touch()
    ...     keep_whole({(songs.stat().st_dev, songs.stat().st_ino)})
    ...     try:
    ...         with whole_file(songs) as part:
    ...             pass
    ...     except FileExistsError as error:
    ...         print(error.strerror)
    it is read by this command, and would be written over
    >>> keep_whole(())
    """
    _kept.clear()
    _kept.update(files)


def remove_leftovers(folder: Path) -> None:
    """Remove the parts in a folder whose writers are gone.

    Parameters
    ----------
    folder : Path
        The folder; only names that this module gives are looked at.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     part = Path(folder, f".smtl-{_machine()}-4000000000-0123456789ab.part")
    ...     part.touch()
    ...     remove_leftovers(Path(folder))
    ...     part.exists()
    False
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _PART.fullmatch(entry.name)
            if found is not None and entry.is_file(follow_symlinks=False) and _is_left(entry, found[1], int(found[2])):
                with suppress(OSError):
                    os.unlink(entry.path)


def _is_left(entry: os.DirEntry[str], machine: str, process: int) -> bool:
    """Return whether nobody writes a part any more."""
    ours = machine == _machine()
    if ours and process == os.getpid():
        return Path(entry.path).name not in {part.name for part in list(_parts)}
    if time.time() - entry.stat(follow_symlinks=False).st_mtime > _FORGOTTEN:
        return True
    if not ours or os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False


@cache
def _machine() -> str:
    """Return what tells the processes of this machine, or container, from those of others."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return blake2b(f"{socket.gethostname()} {space}".encode(errors="replace"), digest_size=4).hexdigest()


def _to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # there are file systems that cannot
            raise
    finally:
        os.close(number)


@contextmanager
def _removed_on_signals(part: Path) -> Iterator[None]:
    """Have a part removed where the process is told to end, unless the program has a way of its own to end."""
    _parts[part] = os.getpid()
    before = {}
    if threading.current_thread() is threading.main_thread():
        ours = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
        before = {number: signal.signal(number, _end) for number in ours}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _parts.pop(part, None)


def _end(number: int, _: FrameType | None) -> None:
    """Remove the parts of this process, and end it as the signal would have."""
    for part, process in list(_parts.items()):
        if process == os.getpid():  # a process that was forked off does not own what it inherits
            with suppress(OSError):
                part.unlink(missing_ok=True)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
