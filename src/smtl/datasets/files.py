"""Files as blocks of text, plain or compressed, read up to a limit; and files that are written as a whole or not."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, TextIO, TypeAlias, cast

from smtl.datasets.errors import DatasetError, named, of_file
from smtl.datasets.limits import Clock, limits_of
from smtl.whole_file import whole_file

__all__ = ["Source", "blocks", "opened", "replacing", "stem", "suffix_of", "text_blocks"]

Source: TypeAlias = str | PathLike[str]

_BLOCK = 2**20

# Formats that hold Python objects or code, told by their first bytes; none of them is ever opened.
_REFUSED = {
    b"\x80\x02": "a pickle",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"\x93NUMPY": "a NumPy array file",
    b"PK\x03\x04": "a zip archive",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


def stem(path: Source) -> str:
    """Return a file's name without the suffixes of its format and its compression.

    Examples
    --------
    >>> stem("data/mediamill-train.svm.bz2")
    'mediamill-train'
    """
    path = Path(path)
    if path.suffix.lower() in (".gz", ".bz2"):
        path = path.with_suffix("")
    return path.stem


def suffix_of(path: Source) -> str:
    """Return a file's suffix in small letters, without that of its compression.

    Examples
    --------
    >>> suffix_of("Songs.ARFF.gz")
    '.arff'
    """
    path = Path(path)
    if path.suffix.lower() in (".gz", ".bz2"):
        path = path.with_suffix("")
    return path.suffix.lower()


@contextmanager
def opened(path: Source, *, utf_16: bool = False) -> Iterator[tuple[IO[bytes], bool]]:
    """Open a file for reading bytes, decompressed if it is compressed: its content says so, not its name.

    Parameters
    ----------
    path : path-like
        The file.
    utf_16 : bool, default=False
        Whether UTF-16 text is opened, too; otherwise it is refused.

    Yields
    ------
    stream : binary file
        The content.
    compressed : bool
        Whether it comes out of a decompressor.
    """
    if Path(path).is_dir():
        raise DatasetError("must be a file, got a directory instead; name one of its files.", path)
    with named(path), ExitStack() as stack:
        raw = stack.enter_context(open(path, "rb"))
        begin = raw.peek(8)
        for magic, what in _REFUSED.items():
            if begin.startswith(magic) and not (utf_16 and what == "UTF-16 text"):
                raise DatasetError(
                    f"must be text or a format that holds data only, got {what} instead, which is not read; "
                    "save it as UTF-8 text (CSV, ARFF, svmlight) or as Parquet.",
                    path,
                )
        if begin.startswith(b"\x1f\x8b"):
            unpacked = cast(IO[bytes], gzip.GzipFile(fileobj=raw))
            stack.callback(unpacked.close)
            yield unpacked, True
        elif begin.startswith(b"BZh"):
            yield stack.enter_context(bz2.BZ2File(raw)), True
        else:
            yield raw, False


def blocks(path: Source, max_bytes: int | None = None, size: int = _BLOCK) -> Generator[tuple[int, bytes], None, None]:
    """Read a file in blocks of whole lines.

    Parameters
    ----------
    path : path-like
        The file, plain, gzip or bzip2.
    max_bytes : int, optional
        The most bytes that may come out of it; by default see `smtl.datasets.limits`.
    size : int, optional
        About how large a block is.

    Yields
    ------
    line : int
        The number of the block's first line, from 1 on.
    block : bytes
        Whole lines, without the last line's end.
    """
    with opened(path) as (stream, compressed), closing(_chunks(stream, size, ahead=compressed)) as chunks:
        limit, clock = limits_of(path, max_bytes).text, Clock(path)
        line, n_bytes = 1, 0
        pieces: list[bytes] = []  # of a line that goes on: joined once, so that a long line costs no more than many
        while True:
            try:
                chunk = next(chunks, b"")
            except (EOFError, OSError, ValueError, zlib.error) as error:
                if not compressed:
                    raise of_file(error, path) from None
                raise DatasetError(
                    f"the compressed stream is cut short or damaged ({error}); get the file again.", path, line
                ) from error
            n_bytes += len(chunk)
            clock.check(line)
            if n_bytes > limit:
                what = "the decompressed text" if compressed else "the text"
                raise DatasetError(
                    f"{what} must have at most max_bytes={limit:,} bytes, got more; "
                    "if the file is to be trusted, pass a larger max_bytes.",
                    path,
                    line,
                )
            if not chunk:
                break
            if n_bytes == len(chunk):
                chunk = chunk.removeprefix(b"\xef\xbb\xbf")
            end = chunk.rfind(b"\n")
            if end < 0:
                pieces.append(chunk)
                continue
            block = b"".join([*pieces, chunk[:end]])
            pieces = [chunk[end + 1 :]]
            yield line, block
            line += block.count(b"\n") + 1
        if n_bytes == 0:
            raise DatasetError("must have data, got an empty file instead; get the file again.", path)
        if rest := b"".join(pieces):
            yield line, rest


def _chunks(stream: IO[bytes], size: int, *, ahead: bool) -> Generator[bytes, None, None]:
    """Read a stream, one chunk ahead if asked: decompressing in a thread leaves the interpreter to who parses."""
    if not ahead:
        yield from iter(lambda: stream.read(size), b"")
        return
    with ThreadPoolExecutor(1) as executor:
        coming = executor.submit(stream.read, size)
        while chunk := coming.result():
            coming = executor.submit(stream.read, size)
            yield chunk


def text_blocks(path: Source, max_bytes: int | None = None) -> Generator[tuple[int, str], None, None]:
    """Read a file in blocks of whole lines of text: UTF-8, and Latin-1 for a line that is not UTF-8."""
    for line, block in blocks(path, max_bytes):
        try:
            yield line, block.decode("utf-8")
        except UnicodeDecodeError:
            yield line, "\n".join(map(_decode, block.split(b"\n")))


def _decode(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


@contextmanager
def replacing(path: Source) -> Iterator[TextIO]:
    """Open a file for writing text, compressed by its suffix, that takes its place only once it is whole."""
    path = Path(path)
    with whole_file(path) as part, ExitStack() as stack:
        stream: IO[bytes] = stack.enter_context(open(part, "xb"))
        if path.suffix.lower() == ".gz":
            # No time and no name within, so that the same data give the same file.
            packed = gzip.GzipFile("", "wb", fileobj=stream, mtime=0)
            stack.callback(packed.close)
            stream = cast(IO[bytes], packed)
        elif path.suffix.lower() == ".bz2":
            stream = stack.enter_context(bz2.BZ2File(stream, "wb"))
        yield stack.enter_context(io.TextIOWrapper(stream, encoding="utf-8", newline=""))
