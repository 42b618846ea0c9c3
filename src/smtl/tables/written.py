"""Numbers as people write them: with signs between thousands, with a currency or %, with a word here and there."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from smtl.tables.types import numbers_of, trimmed

__all__ = [
    "MOST_WORDS",
    "Style",
    "Written",
    "in_other_style",
    "in_style",
    "without_words",
    "words_in",
    "written_numbers",
]

_LOOKED_AT = 50  # values that show whether a whole column is worth a try
MOST_WORDS = 3  # different words that a column of numbers, or dates, may have
_SHARE_OF_WORDS = 0.1  # of the cells of a column of numbers, at most
_FEW_NUMBERS = 20  # different numbers, up to which a word is one more category
_SPACE = "\u00a0"  # what stands for all signs between thousands that are no comma and no point
_SPACES = "[\u00a0\u202f\u2019']"
_SIGN = r"(?P<sign>[$€£¥₹%]|EUR|USD|GBP|CHF|JPY)"


class Style(NamedTuple):
    """How a column of numbers is written.

    Attributes
    ----------
    decimal : str
        The decimal sign.
    group : str
        What stands between thousands; empty if nothing does.
    sign : str
        A currency, or %, before or behind the number; empty if there is none.

    Examples
    --------
    >>> Style(".", ",", "$").in_words()
    'with $, with commas between thousands'
    """

    decimal: str = "."
    group: str = ""
    sign: str = ""

    def in_words(self) -> str:
        """Return what is odd about it, for people."""
        signs = {"": "", ",": "commas", ".": "points", _SPACE: "spaces"}
        between = f"with {signs[self.group]} between thousands" if self.group else ""
        return ", ".join(filter(None, [f"with {self.sign}" if self.sign else "", between]))


# Those that leave less doubt first: 1,234 is a thousand where all commas of the column are followed by three digits.
_STYLES = (
    Style(),
    Style(".", ","),
    Style(","),
    Style(",", "."),
    Style(".", _SPACE),
    Style(",", _SPACE),
)


class Written(NamedTuple):
    """The numbers of a column, how they are written, and words among them that say that a number is missing."""

    values: pa.ChunkedArray
    style: Style
    words: tuple[str, ...] = ()


def written_numbers(column: pa.ChunkedArray) -> Written | None:
    """Return strings as numbers, None if they are none.

    Whole numbers with a leading zero are codes, not numbers. A few words without a digit, in a column of many different
    numbers, are missing values.

    Parameters
    ----------
    column : ChunkedArray
        Text.

    Returns
    -------
    Written or None
        The numbers.

    Examples
    --------
    >>> written_numbers(pa.chunked_array([["$1,250.50", "$3.00", None]])).values.to_pylist()
    [1250.5, 3.0, None]
    >>> written_numbers(pa.chunked_array([["007"]])) is None
    True
    """
    cells = trimmed(column)
    found = _in_any_style(cells)
    if found is not None:
        return found
    words = words_in(cells)
    n = len(cells) - cells.null_count
    if not 0 < len(words) <= MOST_WORDS or sum(words.values()) > _SHARE_OF_WORDS * n:
        return None
    found = _in_any_style(without_words(cells, words))
    if found is None or pc.count_distinct(found.values).as_py() <= _FEW_NUMBERS:
        return None
    return found._replace(words=tuple(sorted(words)))


def in_style(column: pa.ChunkedArray, style: Style) -> pa.ChunkedArray | None:
    """Return strings of a style as numbers, None if one of them is of another.

    Parameters
    ----------
    column : ChunkedArray
        Text.
    style : Style
        How numbers are written; the sign may be left out.

    Returns
    -------
    ChunkedArray or None
        Numbers.

    Examples
    --------
    >>> in_style(pa.chunked_array([["1.250,5", "3"]]), Style(",", ".")).to_pylist()
    [1250.5, 3.0]
    """
    cells = trimmed(column)
    return _numbers(_bare(cells, style.sign) if style.sign else cells, style)


def in_other_style(column: pa.ChunkedArray, sign: str) -> pa.ChunkedArray | None:
    """Return strings as numbers by the style that they have themselves, None if they are none.

    Parameters
    ----------
    column : ChunkedArray
        Text.
    sign : str
        The sign that they may have.

    Returns
    -------
    ChunkedArray or None
        Numbers.

    Examples
    --------
    >>> in_other_style(pa.chunked_array([["$2,5"]]), "$").to_pylist()
    [2.5]
    """
    found = (in_style(column, style._replace(sign=sign)) for style in _STYLES)
    return next((values for values in found if values is not None), None)


def words_in(column: pa.ChunkedArray) -> dict[str, int]:
    """Return the cells without a digit, and how often each is there; none if they are many.

    Parameters
    ----------
    column : ChunkedArray
        Text.

    Returns
    -------
    dict
        Numbers of rows by word.

    Examples
    --------
    >>> words_in(pa.chunked_array([["1.5", "unknown", "2", None, "3"]]))
    {'unknown': 1}
    """
    some = trimmed(column).drop_null()
    if 2 * len(_digitless(some.slice(0, _LOOKED_AT))) > min(len(some), _LOOKED_AT):
        return {}
    counts = pc.value_counts(_digitless(some))
    return dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))


def _digitless(some: Any) -> Any:
    return some.filter(pc.invert(pc.match_substring_regex(some, r"\d")))


def without_words(column: pa.ChunkedArray, words: Collection[str]) -> pa.ChunkedArray:
    """Return trimmed cells, with null for some words.

    Parameters
    ----------
    column : ChunkedArray
        Text.
    words : collection of str
        The words.

    Returns
    -------
    ChunkedArray
        Text.

    Examples
    --------
    >>> without_words(pa.chunked_array([["1.5", "unknown"]]), ["unknown"]).to_pylist()
    ['1.5', None]
    """
    cells = trimmed(column)
    known = pc.is_in(cells, pa.array(list(words), type=cells.type))
    return pc.if_else(known, pa.scalar(None, cells.type), cells)


def _in_any_style(cells: Any) -> Written | None:
    some = cells.drop_null()
    head = some.slice(0, _LOOKED_AT)
    if len(some) == 0 or not pc.all(pc.match_substring_regex(head, r"\d")).as_py():
        found = numbers_of(head)  # "inf" has no digit
        if len(some) == 0 or found is None:
            return None
    sign = _sign_of(head)
    head = _bare(head, sign) if sign else head
    styles = [style._replace(sign=sign) for style in _STYLES if _numbers(head, style) is not None]
    if not styles:
        return None
    bare = _bare(cells, sign) if sign else cells
    if pc.any(pc.match_substring_regex(bare, r"^[+-]?0\d")).as_py():
        return None
    for style in styles:
        values = _numbers(bare, style)
        if values is not None:
            return Written(values, style)
    return None


def _sign_of(some: Any) -> str:
    """Return the currency, or %, that all of some cells have; empty if there is none."""
    found = pc.extract_regex(some, _SIGN)
    if found.null_count:
        return ""
    signs = pc.unique(pc.struct_field(found, "sign")).to_pylist()
    return str(signs[0]) if len(signs) == 1 else ""


def _bare(cells: Any, sign: str) -> Any:
    """Return cells without a sign before or behind the number; a minus may stand before it."""
    quoted = f"[{sign}]" if len(sign) == 1 else sign
    before = pc.replace_substring_regex(cells, rf"^([+-]?)\s*{quoted}\s*", r"\1")
    return pc.replace_substring_regex(before, rf"[\s\x{{00a0}}\x{{202f}}]*{quoted}$", "")


def _numbers(cells: Any, style: Style) -> Any | None:
    """Return bare cells as numbers, None if one of them is not of the style."""
    if not style.group:
        return numbers_of(cells, style.decimal)
    if style.group == _SPACE:
        cells = pc.replace_substring_regex(cells, _SPACES, _SPACE)
    grouped = pc.fill_null(pc.match_substring(cells, style.group), False)
    pattern = rf"^[+-]?[1-9]\d{{0,2}}([{style.group}]\d{{3}})+([{style.decimal}]\d+)?$"
    if not pc.all(pc.match_substring_regex(cells.filter(grouped), pattern)).as_py():
        return None
    return numbers_of(pc.replace_substring(cells, style.group, ""), style.decimal)
