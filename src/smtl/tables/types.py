"""Columns of text as columns of a type: the first type that fits all their values."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.nominal import number
from smtl.tables.values import MISSING

__all__ = [
    "check_finite",
    "dates_of",
    "has_infinite",
    "is_number",
    "numbers_of",
    "trimmed",
    "truths_of",
    "typed",
    "without_empty",
]

_MISSING = pa.array(sorted(MISSING))
_TIMES = (pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"))


def typed(cells: Any, decimal: str = ".") -> Any:
    """Return a column of text as null, int64, float64, bool, date32 or timestamp, or as the text that it is.

    Missing words become null.

    Examples
    --------
    >>> typed(pa.chunked_array([["1", " 2", "NULL"]])).to_pylist()
    [1, 2, None]
    >>> typed(pa.chunked_array([["01", "02"]])).to_pylist()
    ['01', '02']
    """
    words = trimmed(cells)
    if words.null_count == len(words):
        return pa.chunked_array([pa.nulls(len(words))])
    for convert in (_whole_numbers, partial(_decimal_numbers, decimal=decimal), truths_of, dates_of):
        found = convert(words)
        if found is not None:
            return found
    return pc.if_else(pc.is_null(words), pa.scalar(None, pa.string()), cells)


def trimmed(cells: Any) -> Any:
    """Return cells without blanks around them, and null for missing words.

    Examples
    --------
    >>> trimmed(pa.chunked_array([[" a ", "NA", ""]])).to_pylist()
    ['a', None, None]
    """
    words = pc.utf8_trim_whitespace(cells)
    return pc.if_else(pc.is_in(words, _MISSING.cast(words.type)), pa.scalar(None, words.type), words)


def without_empty(cells: Any, words: frozenset[str]) -> Any:
    """Return cells as they are, and null for those that are one of some words."""
    empty = pc.is_in(pc.utf8_trim_whitespace(cells), pa.array(sorted(words)))
    return pc.if_else(empty, pa.scalar(None, pa.string()), cells)


def numbers_of(words: Any, decimal: str = ".") -> Any | None:
    """Return trimmed cells as float64, read as `float` reads them, or None if one of them is no number.

    Examples
    --------
    >>> numbers_of(trimmed(pa.chunked_array([["1,5", "-2e3", "nan"]])), ",").to_pylist()
    [1.5, -2000.0, None]
    """
    if decimal != ".":
        if _any(pc.match_substring(words, ".")):
            return None
        words = pc.replace_substring(words, decimal, ".")
    found = _cast(words, pa.float64())
    if found is None:
        return None
    holes = pc.is_nan(found)
    if not _any(holes):
        return found
    # Arrow takes nan(1) for a number. Python does not.
    if not _all(pc.match_substring_regex(words.filter(holes), "^[+-]?(?i:nan)$")):
        return None
    return pc.if_else(holes, pa.scalar(None, pa.float64()), found)


def has_infinite(column: Any) -> bool:
    """Return whether a column has an infinite number.

    Examples
    --------
    >>> has_infinite(pa.chunked_array([[1.0, float("inf")]])), has_infinite(pa.chunked_array([["inf"]]))
    (True, False)
    """
    return pa.types.is_floating(column.type) and _any(pc.is_inf(column))


def check_finite(name: str, column: Any, path: Any, n_before: int = 0) -> None:
    """Refuse infinite numbers in a column.

    Parameters
    ----------
    name : str
        The column.
    column : ChunkedArray
        What it holds.
    path : path-like
        The file.
    n_before : int, default=0
        How many rows are before the first one here.

    Examples
    --------
    >>> check_finite("beat", pa.chunked_array([[0.5, float("inf")]]), "a.parquet")
    Traceback (most recent call last):
        ...
    smtl.datasets.errors.DatasetError: a.parquet: row 2, column 'beat': must be finite (or missing), got inf instead.
    """
    if has_infinite(column):
        row = pc.index(pc.is_inf(column), True).as_py()
        message = (
            f"row {n_before + row + 1}, column {shown(name)}: must be finite (or missing), got {column[row]} instead."
        )
        raise DatasetError(message, path)


def is_number(word: str, decimal: str = ".", *, finite: bool = False) -> bool:
    """Tell whether `numbers_of` takes a word: a missing one, or what `float` reads but for other scripts and 1_000.

    Examples
    --------
    >>> [is_number(word) for word in ("1.5", "nan", "1_000", "1,5")]
    [True, True, False, False]
    >>> is_number("1e999"), is_number("1e999", finite=True)
    (True, False)
    """
    if word in MISSING:
        return True
    if decimal != ".":
        word = word.replace(".", "_").replace(decimal, ".")
    try:
        return not (math.isinf(number(word)) and finite)
    except ValueError:
        return False


def _whole_numbers(words: Any) -> Any | None:
    """Return int64 if all cells are written as Python writes an int: neither 007 nor +7 nor 0x7."""
    found = _cast(words, pa.int64())
    return found if found is not None and _all(pc.equal(found.cast(pa.string()), words)) else None


def _decimal_numbers(words: Any, decimal: str) -> Any | None:
    found = numbers_of(words, decimal)
    if found is None:
        return None
    # 007 is a code, and a column with codes is text. Most cells have a decimal sign: only the others are looked at.
    whole = words.filter(pc.invert(pc.match_substring(words, decimal)))
    return None if _any(pc.match_substring_regex(whole, "^[+-]?0[0-9]+$")) else found


def truths_of(words: Any) -> Any | None:
    """Return trimmed cells as bool if all are true or false."""
    lower = pc.utf8_lower(words)
    if not _all(pc.is_in(lower, pa.array(["false", "true", None]))):
        return None
    return pc.equal(lower, "true")


def dates_of(words: Any) -> Any | None:
    """Return trimmed cells as date32 or timestamp if all are dates, or times, in ISO's form."""
    return next((found for found in (_cast(words, kind) for kind in _TIMES) if found is not None), None)


def _cast(words: Any, kind: Any) -> Any | None:
    try:
        return words.cast(kind)
    except pa.ArrowInvalid:
        return None


def _any(flags: Any) -> bool:
    return pc.any(flags).as_py() is True


def _all(flags: Any) -> bool:
    return pc.all(flags).as_py() is not False
