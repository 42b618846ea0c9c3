"""How a table is written down: found from the first part of its file."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from smtl.datasets.errors import DatasetError
from smtl.datasets.files import Source, suffix_of
from smtl.tables.inputs import Input, decoded, open_input
from smtl.tables.records import records_in

__all__ = ["FORMS", "Layout", "find_layout", "is_excel", "layout_of", "value_among"]

FORMS = ("csv", "parquet", "jsonl", "excel")
_SEPARATORS = {",": "commas", ";": ";", "\t": "tabs", "|": "|"}
_RECORDS = 200  # that the separator is found from
_FEW = 2**16  # characters that it is found from, unless lines are long
_NUMBER = re.compile(r"\s*[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][-+]?\d+)?\s*")
_WITH_COMMA = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*")
_WITH_POINT = re.compile(r"\s*[-+]?\d*\.\d+(?:[eE][-+]?\d+)?\s*")
_NO_NAME = re.compile(r"\s*([-+]?\d*[.,]\d+([eE][-+]?\d+)?|\d{4}-\d\d-\d\d([T ].*)?)\s*")
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2},\d{3}\s*")
_ENCODINGS = {"utf-8": "UTF-8", "cp1252": "Windows-1252", "utf-16": "UTF-16", "iso8859-1": "Latin-1"}


@dataclass(frozen=True)
class Layout:
    r"""How a table is written down.

    Parameters
    ----------
    form : {"csv", "parquet", "jsonl", "excel"}
        The format of the file.
    separator : str, default=","
        What stands between two cells of CSV.
    decimal : {".", ","}, default="."
        The decimal sign.
    encoding : str, default="utf-8"
        How characters are written.
    header : bool, default=True
        Whether the first line names the columns.
    skip : int, default=0
        How many lines to pass over before that.

    Examples
    --------
    >>> Layout("csv", ";", ",", "cp1252").in_words()
    'CSV with ; between cells, decimal commas, Windows-1252 text, names in line 1'
    """

    form: str
    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    header: bool = True
    skip: int = 0

    def in_words(self) -> str:
        r"""Return the layout in one line for people.

        Examples
        --------
        >>> Layout("csv", "\t", header=False, skip=2).in_words()
        'CSV with tabs between cells, UTF-8 text, no names, rows from line 3 on'
        >>> Layout("parquet").in_words()
        'Parquet'
        """
        text = f"{_ENCODINGS.get(self.encoding, self.encoding)} text"
        if self.form == "parquet":
            return "Parquet"
        if self.form == "jsonl":
            return f"JSON lines, {text}"
        line = self.skip + 1
        names = f"names in line {line}" if self.header else f"no names, rows from line {line} on"
        if self.form == "excel":
            return f"Excel, first sheet, {names}"
        between = f"CSV with {_SEPARATORS.get(self.separator, self.separator)} between cells"
        return ", ".join([between, *["decimal commas"] * (self.decimal == ","), text, names])


def value_among(names: Sequence[str]) -> str | None:
    """Return the first name of a column that looks like a value: a number with a decimal sign, or a date.

    Examples
    --------
    >>> value_among(["T-1", "2024-01-31", "0.5"]), value_among(["id", "2019", "price"])
    ('2024-01-31', None)
    """
    return next((name for name in names if _NO_NAME.fullmatch(name)), None)


def find_layout(
    path: Source,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    skip: int = 0,
) -> Layout:
    r"""Find out how a table is written down, from the first part of its file.

    Parameters
    ----------
    path : path-like
        The file, plain, gzip or bzip2.
    separator : str, optional
        What stands between two cells. By default whichever of comma, semicolon, tab and ``|`` cuts all lines into the
        same number of cells.
    decimal : {".", ","}, optional
        The decimal sign. By default a comma if the separator is a semicolon or a tab, and cells look like ``1,5`` and
        none like ``1.5``. Where all cells look like ``1,500``, they may be thousands: that is no decimal comma.
    encoding : str, optional
        How characters are written. By default UTF-8 if that fits, UTF-16 if the file begins with its mark, else
        Windows-1252.
    header : bool, optional
        Whether the first line names the columns. By default it does.
    skip : int, default=0
        How many lines to pass over before that.

    Returns
    -------
    Layout
        What was found.

    Raises
    ------
    DatasetError
        If the file is empty, or holds Python objects.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "prices.csv")
    ...     _ = path.write_text("size;price\n1;2,50\n2;3,75\n")
    ...     find_layout(path).in_words()
    'CSV with ; between cells, decimal commas, UTF-8 text, names in line 1'
    """
    options: dict[str, Any] = {
        "separator": separator,
        "decimal": decimal,
        "encoding": encoding,
        "header": header,
        "skip": skip,
    }
    if is_excel(path):
        return layout_of(None, path, **options)
    with open_input(path) as source:
        return layout_of(source, path, **options)


def layout_of(source: Input | None, path: Source, form: str | None = None, **options: Any) -> Layout:
    """Return the layout of an input, or of an Excel file (None)."""
    header, skip = options.get("header"), options.get("skip") or 0
    separator, decimal, encoding = _checked(options)
    header = True if header is None else header
    if form is not None and form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r} instead.")
    if source is None or form == "excel":
        return Layout("excel", header=header, skip=skip)
    head = source.head
    if not head:
        raise DatasetError("must have data, got an empty file instead; get the file again.", path)
    if form == "parquet" or (form is None and head.startswith(b"PAR1")):
        return Layout("parquet")
    encoding = _encoding(head, source.whole) if encoding is None else encoding
    text = _text(head, encoding)
    suffix = suffix_of(path)
    if form == "jsonl" or (form is None and _is_json(text, suffix)):
        return Layout("jsonl", encoding=encoding, skip=skip)
    rows = _first_lines(text, source.whole, skip)
    if separator is None:
        separator = _separator(rows, suffix)
    if decimal is None:
        decimal = _decimal(rows, separator, header)
    return Layout("csv", separator, decimal, encoding, header, skip)


def _checked(options: dict[str, Any]) -> tuple[str | None, str | None, str | None]:
    separator, decimal, encoding = options.get("separator"), options.get("decimal"), options.get("encoding")
    skip = options.get("skip") or 0
    if separator is not None and not _may_separate(separator):
        raise ValueError(
            "separator must be one ASCII character that is no letter, digit, quote, line end, point, plus or minus, "
            f"got {separator!r} instead."
        )
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal must be '.' or ',', got {decimal!r} instead.")
    if decimal is not None and decimal == separator:
        raise ValueError(f"separator and decimal must differ, got {decimal!r} for both.")
    if skip < 0:
        raise ValueError(f"skip must be 0 or more, got {skip!r} instead.")
    if encoding is None:
        return separator, decimal, None
    try:
        found = codecs.lookup(encoding)
        b"".decode(encoding)
    except LookupError:
        raise ValueError(f"encoding must be one that Python knows, got {encoding!r} instead; try 'utf-8'.") from None
    return separator, decimal, {"utf-8-sig": "utf-8"}.get(found.name, found.name)


def _may_separate(separator: str) -> bool:
    return (
        len(separator) == 1
        and separator.isascii()
        and not separator.isalnum()
        and separator != "\0"
        and separator not in "\"'\r\n.+-_"
    )


def is_excel(path: Source) -> bool:
    """Tell whether a file is an Excel file: a zip archive with Excel's suffix."""
    if suffix_of(path) != ".xlsx" or not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _encoding(head: bytes, whole: bool) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(head, final=whole)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _text(head: bytes, encoding: str) -> str:
    """Return the text of the first bytes; the last character may be cut."""
    if encoding in ("utf-8", "cp1252"):
        return decoded(head, encoding).removeprefix("\ufeff")
    return codecs.getincrementaldecoder(encoding)("replace").decode(head)


def _is_json(text: str, suffix: str) -> bool:
    return suffix in (".jsonl", ".ndjson") or (text.lstrip().startswith("{") and suffix not in (".csv", ".tsv"))


def _first_lines(text: str, whole: bool, skip: int) -> str:
    lines = text[:_FEW].split("\n")[skip:]
    if len(text) > _FEW:
        lines, whole = (lines, False) if len(lines) > 2 else (text.split("\n")[skip:], whole)
    return "\n".join(lines if whole or len(lines) < 2 else lines[:-1])


def _separator(rows: str, suffix: str) -> str:
    """Return the separator that cuts most records into as many cells as the first, and most of those into numbers."""
    best, separator = (False, 0.0, 0.0, 0), "\t" if suffix == ".tsv" else ","
    for candidate in _SEPARATORS:
        found = list(islice(records_in(rows, candidate), _RECORDS))
        counts = Counter(map(len, found))
        if not found or max(counts) == 1:
            continue
        count, n_same = max(counts.items(), key=lambda item: (item[1], item[0]))
        if count == 1:
            continue
        if suffix == ".tsv" and candidate == "\t":
            return candidate
        cells = [cell for record in found for cell in record]
        n_numbers = sum(_NUMBER.fullmatch(cell) is not None for cell in cells)
        score = (len(found[0]) == count, n_same / len(found), n_numbers / len(cells), count)
        if score > best:
            best, separator = score, candidate
    return separator


def _decimal(rows: str, separator: str, header: bool) -> str:
    if separator not in (";", "\t"):
        return "."
    found = islice(records_in(rows, separator), int(header), _RECORDS)
    cells = [cell for record in found for cell in record]
    commas = [cell for cell in cells if _WITH_COMMA.fullmatch(cell)]
    if not commas or any(_WITH_POINT.fullmatch(cell) for cell in cells):
        return "."
    return "." if all(_THOUSANDS.fullmatch(cell) for cell in commas) else ","
