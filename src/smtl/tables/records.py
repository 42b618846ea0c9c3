"""The grammar of CSV as regular expressions: to cut text into whole records, and to find the place of a fault.

pyarrow parses. It takes a quote that never ends, and text behind a closing quote, without a word. So blocks that have
quotes are checked here before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from os import PathLike
from typing import NamedTuple

from smtl.datasets.errors import DatasetError

__all__ = ["Cell", "broken_quote", "cells_in", "n_lines", "place", "records_end", "records_in", "without_blanks"]

_QUOTED = r' *+"[^"]*+(?:""[^"]*+)*+" *+'
_LINE_END = r"\r\n|\n|\r"
# A quoted cell that is closed, and what follows is neither a quote nor the end of what was read.
_CLOSED = re.compile(rb' *+"[^"]*+(?:""[^"]*+)*+"(?=[^"])')
_OPEN = re.compile(rb' *+"')


class Cell(NamedTuple):
    """A cell: its text without quotes, whether it had some, and where in the text it begins and ends."""

    text: str
    quoted: bool
    start: int
    end: int


@cache
def _cell(separator: str) -> str:
    apart = re.escape(separator)
    if separator == " ":  # then no blank belongs to a cell
        return _QUOTED.replace(" *+", "") + rf'|[^"{apart}\r\n][^{apart}\r\n]*+|'
    return _QUOTED + rf'|[^" {apart}\r\n][^{apart}\r\n]*+| ++(?!")[^{apart}\r\n]*+|'


@cache
def _whole(separator: str) -> re.Pattern[bytes]:
    cell, apart = _cell(separator), re.escape(separator)
    return re.compile(f"(?:(?:{cell})(?:{apart}(?:{cell}))*+(?:{_LINE_END}))*+".encode())


@cache
def _begin(separator: str) -> re.Pattern[bytes]:
    return re.compile(f"(?:(?:{_cell(separator)}){re.escape(separator)})*+".encode())


@cache
def _each(separator: str) -> re.Pattern[str]:
    return re.compile(f"({_cell(separator)})({re.escape(separator)}|{_LINE_END}|\\Z)")


def records_end(data: bytes, separator: str) -> int:
    r"""Return where the last whole record ends.

    Examples
    --------
    >>> records_end(b'1,"a\nb"\n2,"c\n', ",")
    8
    """
    match = _whole(separator).match(data)
    return match.end() if match else 0


def broken_quote(data: bytes, start: int, separator: str, final: bool) -> tuple[int, str] | None:
    """Return the place and the kind of a fault with quotes in the record that begins at `start`, if there is one."""
    match = _begin(separator).match(data, start)
    at = match.end() if match else start
    if _CLOSED.match(data, at):
        return at, "a closing quote must be followed by the end of the cell, got more text"
    if final and _OPEN.match(data, at):
        return at, "a quote that begins a cell must end, got the end of the file before"
    return None


def cells_in(text: str, separator: str) -> Iterator[list[Cell]]:
    r"""Read records, with the place of each cell; blank lines are none.

    Examples
    --------
    >>> [[cell.text for cell in record] for record in cells_in('1,"a ""b"" c"\n\n2,', ",")]
    [['1', 'a "b" c'], ['2', '']]
    """
    record: list[Cell] = []
    at, pattern = 0, _each(separator)
    while at < len(text) or record:
        match = pattern.match(text, at)
        if match is None:  # a broken quote: the rest of its line is the cell
            end = min((k for k in (text.find("\n", at), text.find("\r", at)) if k >= 0), default=len(text))
            raw, quoted, ends = text[at:end], False, True
        else:
            raw, end = match[1], match.end()
            quoted, ends = raw.lstrip(" ").startswith('"'), match[2] != separator
        # The column of a cell is where it begins behind blanks.
        start = at + len(raw) - len(raw.lstrip(" ")) if separator != " " else at
        cell = raw.strip(" ")[1:-1].replace('""', '"') if quoted else raw
        record.append(Cell(cell, quoted, start, at + len(raw)))
        at = end if match else end + 1
        if ends:
            if len(record) > 1 or record[0].text or record[0].quoted:
                yield record
            record = []


def records_in(text: str, separator: str) -> Iterator[list[str]]:
    """Read records as lists of cells."""
    for record in cells_in(text, separator):
        yield [cell.text for cell in record]


def without_blanks(data: bytes, separator: str) -> bytes:
    """Return records in which no blanks stand between a separator and a quote."""
    apart = re.escape(separator.encode())
    if not re.search(rb'(?:^|[\r\n]|%s) +"|" +(?:[\r\n]|%s)' % (apart, apart), data):
        return data
    pattern = re.compile(f"({_cell(separator)})({apart.decode()}|{_LINE_END})".encode())

    def tight(match: re.Match[bytes]) -> bytes:
        inner = match[1].strip(b" ")
        return (inner if inner.startswith(b'"') else match[1]) + match[2]

    return pattern.sub(tight, data)


def n_lines(data: bytes) -> int:
    r"""Count line ends: LF, or CR where there is no LF.

    Examples
    --------
    >>> n_lines(b"a\nb\r\nc"), n_lines(b"a\rb")
    (2, 1)
    """
    return data.count(b"\n") or data.count(b"\r")


def place(message: str, path: str | PathLike[str], line: int, text: str, at: int) -> DatasetError:
    """Return the error for a place in a text, whose first line has a number."""
    before = text[:at]
    column = at - max(before.rfind("\n"), before.rfind("\r"))
    return DatasetError(message, path, line + n_lines(before.encode("utf-8", "replace")), column)
