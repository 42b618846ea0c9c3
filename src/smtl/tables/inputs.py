"""What a table is read from: a file or a stream, its first bytes, and its text as UTF-8 in blocks of whole records."""

from __future__ import annotations

import bz2
import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import IO, Any, NamedTuple, cast

from smtl.datasets.errors import DatasetError, of_file
from smtl.datasets.files import Source, opened
from smtl.datasets.limits import Clock, limits_of
from smtl.tables.records import broken_quote, n_lines, place, records_end

__all__ = ["Block", "Input", "decoded", "line_blocks", "open_input", "record_blocks"]

_HEAD = 2**18  # bytes that the layout is found from
_LONGEST = 2**28  # bytes of the longest record
# Windows-1252 leaves five bytes without a meaning. They are what they are in Latin-1.
_WINDOWS = "".join(bytes([k]).decode("cp1252", "ignore") or chr(k) for k in range(256))


class Block(NamedTuple):
    """Whole records: the number of their first line, their text, and whether quotes are in it."""

    line: int
    data: bytes
    quoted: bool


class Input:
    """Bytes of a table, decompressed, with a limit.

    Attributes
    ----------
    path : path-like
        The file, or what to call it in errors.
    head : bytes
        The first bytes; `chunks` begins with them.
    whole : bool
        Whether the head is everything.
    size : int
        How many bytes are read at a time behind the head.
    """

    def __init__(self, stream: IO[bytes], path: Source, compressed: bool, limit: int | None) -> None:
        self.path, self._stream, self._compressed, self._limit = path, stream, compressed, limit
        self.head = self._read(_HEAD)
        self.whole = len(self.head) < _HEAD
        self.size = 2**20

    def _read(self, size: int) -> bytes:
        """Return as many bytes as asked for, or what is left."""
        pieces: list[bytes] = []
        while size > 0:
            try:
                piece = self._stream.read(size)
            except (EOFError, OSError, ValueError, zlib.error) as error:
                if not self._compressed:
                    raise of_file(error, self.path) from None
                raise DatasetError(
                    f"the compressed stream is cut short or damaged ({error}); get the file again.", self.path
                ) from error
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def chunks(self) -> Iterator[bytes]:
        """Read all bytes, some at a time, from the first on."""
        chunk, n_bytes, clock = self.head, 0, Clock(self.path)
        while chunk:
            n_bytes += len(chunk)
            if self._limit is not None:
                clock.check()
            if self._limit is not None and n_bytes > self._limit:
                what = "the decompressed text" if self._compressed else "the text"
                raise DatasetError(
                    f"{what} must have at most max_bytes={self._limit:,} bytes, got more; "
                    "if the file is to be trusted, pass a larger max_bytes.",
                    self.path,
                )
            yield chunk
            chunk = self._read(self.size)


@contextmanager
def open_input(source: Source | IO[bytes], max_bytes: int | None = None, bounded: bool = True) -> Iterator[Input]:
    """Open a table: a path, or an open binary stream.

    Parameters
    ----------
    source : path-like or binary file
        What to read, plain, gzip or bzip2.
    max_bytes : int, optional
        The most bytes that may come out of it; by default see `smtl.datasets.limits`.
    bounded : bool, default=True
        Whether there is such a limit by default. What is read in batches needs none.
    """
    if isinstance(source, str | PathLike):
        with opened(source, utf_16=True) as (stream, compressed):
            limit = limits_of(source, max_bytes).text if bounded or max_bytes is not None else None
            yield Input(stream, source, compressed, limit)
        return
    name = getattr(source, "name", None)
    path = name if isinstance(name, str) and name != "<stdin>" else "standard input"
    bare = Input(source, path, False, max_bytes)
    if bare.head.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=cast(Any, _Again(bare))) as unpacked:
            yield Input(cast(IO[bytes], unpacked), path, True, max_bytes)
    elif bare.head.startswith(b"BZh"):
        with bz2.BZ2File(cast(Any, _Again(bare))) as stream:
            yield Input(cast(IO[bytes], stream), path, True, max_bytes)
    else:
        yield bare


class _Again:
    """A file that begins again with the head of an input."""

    def __init__(self, source: Input) -> None:
        self._source, self._chunks, self._rest = source, source.chunks(), b""

    def read(self, size: int = -1) -> bytes:
        if not self._rest:
            self._rest = next(self._chunks, b"")
        size = len(self._rest) if size < 0 else size
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    @property
    def closed(self) -> bool:
        return False


def decoded(data: bytes, encoding: str = "utf-8") -> str:
    r"""Return whole lines of text: lines that are not of the encoding are Windows-1252, which any byte is.

    Examples
    --------
    >>> decoded(b"caf\xc3\xa9, caf\xe9")
    'cafÃ©, café'
    """
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        lines = data.splitlines(keepends=True)
        if len(lines) < 2 or encoding != "utf-8":
            return codecs.charmap_decode(data, "strict", _WINDOWS)[0]
        return "".join(map(decoded, lines))


def _utf8(source: Input, encoding: str) -> Iterator[bytes]:
    """Read text as UTF-8; what is said to be UTF-8 already stays as it is."""
    if encoding == "utf-8":
        for k, chunk in enumerate(source.chunks()):
            yield chunk if k else chunk.removeprefix(codecs.BOM_UTF8)
        return
    if encoding == "cp1252":
        for chunk in source.chunks():
            yield decoded(chunk, "cp1252").encode()
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    try:
        for chunk in source.chunks():
            text = decoder.decode(chunk).encode()
            line += n_lines(text)
            yield text
        yield decoder.decode(b"", final=True).encode()
    except (UnicodeError, LookupError) as error:
        raise DatasetError(
            f"must be text in {encoding}, got a fault: {error}; pass another encoding.", source.path, line
        ) from None


def _skipped(chunks: Iterator[bytes], skip: int) -> Iterator[bytes]:
    """Read what comes behind some lines."""
    for chunk in chunks:
        start = 0
        while skip and start < len(chunk):
            end = chunk.find(b"\n", start)
            start, skip = (end + 1, skip - 1) if end >= 0 else (len(chunk), skip)
        if start < len(chunk):
            yield chunk[start:] if start else chunk


def record_blocks(source: Input, separator: str, encoding: str, skip: int) -> Iterator[Block]:
    """Read CSV as UTF-8 in blocks of whole records, each with a line end at its end."""
    line, wanted, final = skip + 1, 0, False
    pieces: list[bytes] = []  # of a record that goes on: joined once, so that a long one costs no more than many
    chunks = _skipped(_utf8(source, encoding), skip)
    while not final:
        chunk = next(chunks, b"")
        while chunk.endswith(b"\r") and not final:  # half a line end, it may be
            more = next(chunks, b"")
            chunk, final = chunk + more, not more
        final = final or not chunk
        if final and (last := chunk or b"".join(pieces)[-1:]) and last[-1:] not in (b"\r", b"\n"):
            chunk += b"\n"
        if not final and sum(map(len, pieces)) + len(chunk) < wanted:
            pieces.append(chunk)
            continue
        if wanted or final:  # then line ends may be in the pieces, too
            pieces, chunk = [], b"".join([*pieces, chunk])
        quoted = b'"' in chunk or any(b'"' in piece for piece in pieces)
        if quoted:
            data = b"".join([*pieces, chunk])
            end = records_end(data, separator)
            rest, data = data[end:], data[:end]
        elif end := chunk.rfind(b"\n") + 1 or chunk.rfind(b"\r") + 1:
            rest, data = chunk[end:], b"".join([*pieces, memoryview(chunk)[:end]])
        else:
            rest, data = b"".join([*pieces, chunk]), b""
        pieces, wanted = [rest], 0
        if data:
            yield Block(line, data, quoted)
            line += n_lines(data)
        if quoted and rest:  # rows above have come first, with their own faults
            _check_quotes(rest, separator, final, source.path, line)
        if not data:
            wanted = 2 * len(rest)
            if len(rest) > _LONGEST:
                raise DatasetError(f"a row must have at most {_LONGEST:,} bytes, got more.", source.path, line)


def _check_quotes(rest: bytes, separator: str, final: bool, path: Any, line: int) -> None:
    """Refuse a record that cannot go on."""
    fault = broken_quote(rest, 0, separator, final) if rest else None
    if fault is not None:
        at, what = fault
        message = f"{what}; close the quote, or double a quote within quotes."
        raise place(message, path, line, decoded(rest), len(decoded(rest[:at])))


def line_blocks(source: Input, encoding: str, skip: int) -> Iterator[Block]:
    """Read text as UTF-8 in blocks of whole lines."""
    line, pieces = skip + 1, list[bytes]()
    for chunk in _skipped(_utf8(source, encoding), skip):
        end = chunk.rfind(b"\n") + 1
        if end:
            data = b"".join([*pieces, chunk[:end]])
            pieces = [chunk[end:]]
            yield Block(line, data, False)
            line += data.count(b"\n")
        else:
            pieces.append(chunk)
            if sum(map(len, pieces)) > _LONGEST:
                raise DatasetError(f"a line must have at most {_LONGEST:,} bytes, got more.", source.path, line)
    if data := b"".join(pieces):
        yield Block(line, data, False)
