"""What a column is: a number, a category, a text, a date, or nothing that a model should look at."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from smtl.tables.numbers import written_dates
from smtl.tables.types import trimmed
from smtl.tables.written import Written, written_numbers

__all__ = ["EMPTY", "KINDS", "Kind", "kind_of"]

KINDS = ("number", "yes/no", "category", "strings", "text", "date")

MOST_LEVELS = 40  # different values of a category that is one-hot
ID_SHARE = 0.95  # share of different values from which on short strings, or whole numbers, are ids
TEXT_WORDS = 2.5  # words in a cell, in the mean, from which on strings are text
FEW_ROWS = 20  # rows below which all values may differ by chance
# Names that row numbers get from what wrote the file.
_INDEX = re.compile(r"__index_level_\d+__|Unnamed: \d+|(?i:index|row_?(number|num|nr|no))")
_ID_NAME = re.compile(r"(?i:(.*[ _.:-])?(id|ids|uuid|guid|key|nr|no|number))|.*[a-z](Id|ID|Key|Nr|No)")
_YES_NO = ({"yes", "no"}, {"y", "n"}, {"true", "false"}, {"t", "f"}, {"on", "off"}, {"ja", "nein"}, {"oui", "non"})


class Kind(NamedTuple):
    """What a column was read as.

    Attributes
    ----------
    name : str
        One of `KINDS`, or ``"left out"``.
    why : str
        The reason, for people.
    """

    name: str
    why: str = ""


EMPTY = Kind("left out", "empty")


def kind_of(name: str, column: pa.ChunkedArray) -> Kind:
    """Return what a column is, judged by its values and, for ids, its name.

    Parameters
    ----------
    name : str
        Its name.
    column : pyarrow.ChunkedArray
        Its values.

    Returns
    -------
    Kind
        The kind.

    Examples
    --------
    >>> kind_of("beat", pa.chunked_array([[0.5, 0.7]]))
    Kind(name='number', why='')
    >>> kind_of("key", pa.chunked_array([["minor", "major", "minor"]]))
    Kind(name='category', why='2 values')
    >>> kind_of("song", pa.chunked_array([[f"S-{k}" for k in range(50)]]))
    Kind(name='left out', why='an id: 50 of 50 values differ')
    """
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = trimmed(column)
    n = len(column) - column.null_count
    if n == 0:
        return EMPTY
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        return Kind("left out", f"values of type {kind}, which are no features")
    n_values = pc.count_distinct(column).as_py()
    if n_values == 1:
        return Kind("left out", f"constant: {_shown(column)}")
    if pa.types.is_boolean(kind):
        return Kind("yes/no")
    if pa.types.is_temporal(kind):
        return Kind("date")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _of_numbers(name, column, n, n_values)
    if not pa.types.is_string(kind) and not pa.types.is_large_string(kind):
        return Kind("left out", f"values of type {kind}, which are no features")
    return _of_strings(name, column, n, n_values)


def _of_numbers(name: str, column: pa.ChunkedArray, n: int, n_values: int) -> Kind:
    """Return whether numbers number the rows: all different, and whole."""
    if n_values < max(ID_SHARE * n, FEW_ROWS):
        return Kind("number")
    if pa.types.is_floating(column.type) and not pc.all(pc.equal(column, pc.floor(column))).as_py():
        return Kind("number")
    ends = pc.min_max(column).as_py()
    consecutive = ends["max"] - ends["min"] < 1.1 * len(column)
    if _INDEX.fullmatch(name) or (consecutive and n_values == n):
        return Kind("left out", "row numbers")
    if _ID_NAME.fullmatch(name):
        return Kind("left out", f"an id: {n_values:,} of {n:,} values differ")
    return Kind("number")


def _of_strings(name: str, column: pa.ChunkedArray, n: int, n_values: int) -> Kind:
    levels = {str(value).strip().lower() for value in pc.unique(column).drop_null().to_pylist()} if n_values < 4 else {}
    if levels in _YES_NO:
        return Kind("yes/no")
    written = written_numbers(column)
    if written is not None:
        found = written.values
        kind = _of_numbers(name, found, len(found) - found.null_count, pc.count_distinct(found).as_py())
        return kind if kind.name == "left out" else Kind("number", _in_words(written))
    dates = written_dates(column)
    if dates is not None:
        return Kind("date", dates.in_words())
    words = _mean(pc.list_value_length(pc.utf8_split_whitespace(pc.utf8_trim_whitespace(column))))
    if n_values >= max(ID_SHARE * n, FEW_ROWS) and words < 1.5:
        return Kind("left out", f"an id: {n_values:,} of {n:,} values differ")
    if n_values > MOST_LEVELS and words >= TEXT_WORDS:
        return Kind("text", f"{words:.0f} words in the mean")
    if n_values <= MOST_LEVELS and (n_values <= n / 2 or words < TEXT_WORDS):
        return Kind("category", f"{n_values} values")
    if words >= TEXT_WORDS:
        return Kind("text", f"{words:.0f} words in the mean")
    return Kind("strings", f"{n_values:,} values")


def _in_words(written: Written) -> str:
    text = ", ".join(filter(None, ["written as text", written.style.in_words()]))
    words = " and ".join(map(repr, written.words))
    return f"{text}; {words} {'counts' if len(written.words) == 1 else 'count'} as missing" if words else text


def _mean(values: Any) -> float:
    return float(pc.mean(values).as_py() or 0.0)


def _shown(column: pa.ChunkedArray) -> str:
    return repr(pc.unique(column).drop_null()[0].as_py())[:40]
