"""The part of an ARFF file above its data, and the tokens that both parts are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from smtl.datasets.errors import DatasetError, Fault, shown
from smtl.datasets.files import Source
from smtl.datasets.limits import at_most_columns, most_attributes
from smtl.datasets.nominal import Column

__all__ = ["BLANK", "Attribute", "Header", "read_header", "skip_blanks", "token_at"]

BLANK = " \t\r"
_TOKEN = re.compile(
    r"""'(?P<single>(?:[^'\\]++|\\.)*+)'|"(?P<double>(?:[^"\\]++|\\.)*+)"|(?P<bare>[^\s,{}%'"][^ \t\r,{}%]*+)"""
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True)
class Attribute(Column):
    """An attribute: a column, where it is declared, and its type."""

    kind: str = "numeric"
    line: int = 0


@dataclass(frozen=True)
class Header:
    """What stands above the data."""

    path: Source
    relation: str
    attributes: list[Attribute]
    line: int
    relation_line: int


def read_header(path: Source, source: Iterator[tuple[int, str]]) -> tuple[Header, Iterator[tuple[int, str]]]:
    """Read up to ``@data``; return the header and the blocks that are left."""
    relation, relation_line = "", 1
    attributes: list[Attribute] = []
    at, most = 0, most_attributes()
    for first, text in source:
        begin = 0
        at = first - 1
        while begin <= len(text):
            end = text.find("\n", begin)
            end = len(text) if end < 0 else end
            line, begin, at = text[begin:end].rstrip(BLANK), end + 1, at + 1
            start = len(line) - len(line.lstrip(BLANK))
            if start == len(line) or line[start] == "%":
                continue
            keyword = re.split(r"[ \t]", line[start:], maxsplit=1)[0].lower()
            after = start + len(keyword)
            try:
                if keyword == "@relation":
                    relation, relation_line = _relation(line, after), at
                elif keyword == "@attribute":
                    attributes.append(_attribute(line, after, at))
                    if len(attributes) > most:
                        at_most_columns(len(attributes), path, at, most)
                elif keyword.startswith("@data"):
                    if not attributes:
                        raise Fault("@data must come behind at least one @attribute, got none.", start + 1)
                    _refuse_duplicates(path, attributes)
                    header = Header(path, relation, attributes, at, relation_line)
                    return header, _chain(at + 1, text[begin:], source)
                else:
                    raise Fault(
                        "a line above @data must begin with @relation, @attribute or %, got "
                        f"{shown(line[start:])} instead.",
                        start + 1,
                    )
            except Fault as fault:
                raise DatasetError(fault.message, path, at, fault.column) from None
    raise DatasetError("must have a line @data, got none; the file is cut short or no ARFF file.", path, at)


def _chain(line: int, text: str, rest: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield line, text
    yield from rest


def _refuse_duplicates(path: Source, attributes: list[Attribute]) -> None:
    lines: dict[str, int] = {}
    for attribute in attributes:
        if attribute.name in lines:
            raise DatasetError(
                f"names of attributes must differ, got {shown(attribute.name)} again, which line "
                f"{lines[attribute.name]} has; rename one.",
                path,
                attribute.line,
                1,
            )
        lines[attribute.name] = attribute.line


def _relation(line: str, pos: int) -> str:
    pos = skip_blanks(line, pos)
    if pos < len(line) and line[pos] in "'\"":
        return token_at(line, pos)[0]
    # Unquoted names with blanks in them are common here, MEKA's among them.
    return line[pos:].split("%")[0].rstrip(BLANK)


def _attribute(line: str, pos: int, at: int) -> Attribute:
    pos = skip_blanks(line, pos)
    name, _, pos = token_at(line, pos, "the attribute's name")
    pos = skip_blanks(line, pos)
    if pos < len(line) and line[pos] == "{":
        values: dict[str, None] = {}
        pos = skip_blanks(line, pos + 1)
        while pos < len(line) and line[pos] != "}":
            start = pos
            value, _, pos = token_at(line, pos, "a nominal value")
            if value in values:
                raise Fault(f"values of {shown(name)} must differ, got {shown(value)} again.", start + 1)
            values[value] = None
            pos = skip_blanks(line, pos)
            if pos < len(line) and line[pos] == ",":
                pos = skip_blanks(line, pos + 1)
        if pos >= len(line):
            raise Fault(f"the values of {shown(name)} must end with a brace, got the end of the line instead.", pos + 1)
        if not values:
            raise Fault(f"{shown(name)} must have at least one value, got none.", pos + 1)
        return Attribute(name, tuple(values), "nominal", at)
    start = pos
    kind, _, pos = token_at(line, pos, "the attribute's type")
    kind = kind.lower()
    if kind in ("numeric", "real", "integer"):
        return Attribute(name, None, "numeric", at)
    if kind in ("string", "date", "relational"):
        return Attribute(name, None, kind, at)
    raise Fault(
        f"the type of {shown(name)} must be numeric, real, integer, string, date, relational or values in braces, got "
        f"{shown(kind)} instead.",
        start + 1,
    )


def skip_blanks(line: str, pos: int) -> int:
    """Return where the blanks at a position end."""
    while pos < len(line) and line[pos] in BLANK:
        pos += 1
    return pos


def token_at(line: str, pos: int, what: str = "a value") -> tuple[str, bool, int]:
    """Return the token at a position, whether it is quoted, and where it ends."""
    found = _TOKEN.match(line, pos)
    if found is None:
        got = "the end of the line" if pos >= len(line) else shown(line[pos])
        if pos < len(line) and line[pos] in "'\"":
            raise Fault(f"a quote must be closed on its line, got {shown(line[pos:])} instead.", pos + 1)
        raise Fault(f"{what} must stand here, got {got} instead; a missing value is a question mark.", pos + 1)
    quoted = found["bare"] is None
    token: str = found[found.lastgroup or 0]
    if quoted and "\\" in token:
        token = _ESCAPE.sub(_unescape, token)
    return token, quoted, found.end()


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPED.get(code, code)
