"""The cells of a label column: its distinct values, how often each occurs, and which are not known."""

from __future__ import annotations

import difflib
import math
import re
import shlex
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from smtl.datasets.errors import shown

__all__ = [
    "Cells",
    "column_of",
    "count_codes",
    "distinct",
    "is_list",
    "listed",
    "number_text",
    "plain_cells",
    "sorted_texts",
    "text_of",
]

Ints: TypeAlias = npt.NDArray[np.int64]

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_WHOLE = 2**53  # beyond it, not every whole number is a float


class Cells(NamedTuple):
    """The distinct values of a column.

    Attributes
    ----------
    values : list
        The values as the table has them: str, int, float or bool.
    texts : list of str or None
        The same as text without blanks around; None for NaN.
    codes : ndarray of shape (n_rows,)
        The position of each row's value, -1 for null.
    counts : ndarray of shape (n_values,)
        How many rows have each value.
    """

    values: list[Any]
    texts: list[str | None]
    codes: Ints
    counts: Ints


def is_list(column: pa.ChunkedArray) -> bool:
    """Return whether the cells of a column are lists."""
    kind = column.type
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def distinct(column: pa.ChunkedArray, name: str) -> Cells:
    """Return the distinct values of a column that has no lists.

    Parameters
    ----------
    column : ChunkedArray
        The column.
    name : str
        Its name, for the error.

    Returns
    -------
    Cells
        Values, texts, codes and counts.

    Examples
    --------
    >>> distinct(pa.chunked_array([["a ", None, "b", "a "]]), "column").codes
    array([ 0, -1,  1,  0])
    """
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if types.is_null(kind):
        return Cells([], [], np.full(len(column), -1), np.zeros(0, dtype=np.int64))
    if types.is_floating(kind):
        column = column.cast(pa.float64())
    elif not (types.is_string(kind) or types.is_large_string(kind) or types.is_integer(kind) or types.is_boolean(kind)):
        try:
            column = column.cast(pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise ValueError(f"{shown(name)} must hold text, numbers or yes/no, got {kind} instead.") from None
    encoded = column.dictionary_encode().combine_chunks()
    values = encoded.dictionary.to_pylist()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return Cells(values, [text_of(value) for value in values], codes, count_codes(codes, len(values)))


def count_codes(codes: Ints, n: int) -> Ints:
    """Return how often each of 0, ..., n - 1 occurs; -1 is not counted."""
    return np.bincount(codes + 1, minlength=n + 1)[1:].astype(np.int64)


def text_of(value: Any) -> str | None:
    """Return a value as text: without blanks around, whole numbers without a point, None for NaN.

    Examples
    --------
    >>> text_of(" a b "), text_of(3.0), text_of(0.5), text_of(True), text_of(float("nan"))
    ('a b', '3', '0.5', 'true', None)
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if abs(value) < _WHOLE and value == int(value) else repr(value)
    return str(value)


def number_text(text: str) -> str | None:
    """Return the one text for all ways to write a number, None for other texts.

    Examples
    --------
    >>> number_text("+1.0"), number_text("1e0"), number_text("0.50"), number_text("one")
    ('1', '1', '0.5', None)
    """
    if len(text) < 19 and text.isascii() and text.isdigit():  # most of them, and much faster
        return str(int(text))
    if len(text) > 300 or not _NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    if number == number.to_integral_value() and abs(number) < 10**30:
        return str(int(number))
    return text_of(float(text)) if math.isfinite(float(text)) else None


def sorted_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts in order: by size if all are numbers, else by the alphabet.

    Examples
    --------
    >>> sorted_texts({"10", "9"}), sorted_texts({"b", "a", "10"})
    (('9', '10'), ('10', 'a', 'b'))
    """
    texts = set(texts)
    if all(number_text(text) is not None for text in texts):
        return tuple(sorted(texts, key=lambda text: (Decimal(text), text)))
    return tuple(sorted(texts))


def listed(values: Sequence[Any], most: int = 5) -> str:
    """Return the first values for a message.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    "'a', 'b', ..."
    """
    return ", ".join(shown(value) for value in values[:most]) + (", ..." if len(values) > most else "")


def column_of(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column by its name; the error for an unknown name says which one is alike.

    Examples
    --------
    >>> column_of(pa.table({"topics": ["a"]}), "topic")
    Traceback (most recent call last):
        ...
    ValueError: a label column must be in the table, got 'topic' instead; did you mean 'topics'?
    """
    found = table.schema.get_all_field_indices(name)
    if len(found) == 1:
        return table.column(found[0])
    if found:
        raise ValueError(f"names of columns must differ, got {shown(name)} {len(found)} times; rename all but one.")
    # Case and blanks around are the usual slip.
    alike = {other.strip().casefold(): other for other in reversed(table.column_names)}
    close = difflib.get_close_matches(name.strip().casefold(), list(alike), n=1)
    hint = f"did you mean {alike[close[0]]!r}?" if close else f"there are: {listed(table.column_names, 20)}."
    raise ValueError(f"a label column must be in the table, got {shown(name)} instead; {hint}")


def plain_cells(table: pa.Table, name: str) -> Cells:
    """Return the distinct values of a column that must not have lists."""
    column = column_of(table, name)
    if is_list(column):
        raise ValueError(f"{shown(name)} must have one value a cell, got lists; use --tags {shlex.quote(name)}.")
    return distinct(column, name)
