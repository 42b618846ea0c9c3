"""Numbers and dates that are written as text."""

from __future__ import annotations

import datetime
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from smtl.tables.types import dates_of, trimmed
from smtl.tables.written import MOST_WORDS, without_words, words_in, written_numbers

__all__ = ["DATES", "WrittenDates", "as_dates", "as_numbers", "dates_in", "written_dates"]

# Ways to write a date, those that leave no doubt first. Of day and month first, the one that fits all rows.
DATES = (
    "%Y-%m-%d",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%m/%d/%Y",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y",
    "%d/%m/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S",
    "%d-%m-%Y",
    "%d %b %Y",
    "%b %d, %Y",
)
_LOOKED_AT = 50  # values that show whether a whole column is worth a try
_LEAST_DATES = 3  # different dates, below which a word is one more category


def as_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return strings as numbers, however people write them; None if one of them is no number.

    Whole numbers with a leading zero are codes, not numbers.

    Examples
    --------
    >>> as_numbers(pa.chunked_array([["1,5", "NA"]])).to_pylist()
    [1.5, None]
    >>> as_numbers(pa.chunked_array([["1,500", "20"]])).to_pylist()
    [1500.0, 20.0]
    >>> as_numbers(pa.chunked_array([["007"]])), as_numbers(pa.chunked_array([["high"]]))
    (None, None)
    """
    found = written_numbers(column)
    return None if found is None or found.words else found.values


class WrittenDates(NamedTuple):
    """The dates of a column, how they are written, and words among them that say that a date is missing."""

    values: pa.ChunkedArray
    form: str
    words: tuple[str, ...] = ()

    def in_words(self) -> str:
        """Return what is odd about them, for people."""
        form = f"written like {datetime.datetime(2025, 12, 31, 13, 30):{self.form}}" if self.form else ""
        words = " and ".join(map(repr, self.words))
        missing = f"{words} {'counts' if len(self.words) == 1 else 'count'} as missing" if words else ""
        return "; ".join(filter(None, [form, missing]))


def written_dates(column: pa.ChunkedArray) -> WrittenDates | None:
    """Return strings as dates, None if they are none.

    A few words without a digit, in up to half of the cells, are missing dates.

    Parameters
    ----------
    column : ChunkedArray
        Text.

    Returns
    -------
    WrittenDates or None
        The dates.

    Examples
    --------
    >>> cells = pa.chunked_array([["24.12.2025", "tbd", "31.12.2025", "01.02.2026"]])
    >>> written_dates(cells).in_words()
    "written like 31.12.2025; 'tbd' counts as missing"
    """
    found = as_dates(column)
    if found is not None:
        return WrittenDates(*found)
    words = words_in(column)
    if not 0 < len(words) <= MOST_WORDS or 2 * sum(words.values()) > len(column) - column.null_count:
        return None
    found = as_dates(without_words(column, words))
    if found is None or pc.count_distinct(found[0]).as_py() < _LEAST_DATES:
        return None
    return WrittenDates(*found, tuple(sorted(words)))


def as_dates(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, str] | None:
    """Return strings as dates, and how they are written ("" for ISO with a zone); None if one of them is no date.

    Examples
    --------
    >>> values, form = as_dates(pa.chunked_array([["24.12.2025", None]]))
    >>> form, values.to_pylist()[0].day
    ('%d.%m.%Y', 24)
    """
    column = trimmed(column)
    some = column.drop_null()
    if len(some) == 0:
        return None
    for form in DATES:
        if dates_in(some.slice(0, _LOOKED_AT), form).null_count == 0:
            values = dates_in(column, form)
            if values.null_count == column.null_count:
                return values, form
    # With a time zone, or parts of a second: what Arrow reads by itself.
    values = dates_of(column)
    return None if values is None else (values.cast(pa.timestamp("us")), "")


def dates_in(column: pa.ChunkedArray, form: str) -> pa.ChunkedArray:
    """Return strings of one form as dates, null where they are of another.

    Examples
    --------
    >>> dates_in(pa.chunked_array([["24.12.2025", "soon"]]), "%d.%m.%Y").null_count
    1
    """
    return pc.strptime(column, format=form, unit="us", error_is_null=True)
