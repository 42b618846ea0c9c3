"""Text in CSV that a spreadsheet would run as a formula."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["as_text"]

# A formula is some more behind one of these signs, perhaps with what is not seen before.
_BLANK = r"[\s\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
_FORMULA = re.compile(_BLANK + r"*[=+\-@\uff1d\uff0b\uff0d\uff20].", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?")


def as_text(cell: Any) -> Any:
    """Return a cell of CSV, with an apostrophe before what a spreadsheet would run; it takes that for the mark of text.

    Parameters
    ----------
    cell : object
        Anything; only text is looked at.

    Examples
    --------
    >>> [as_text(cell) for cell in ("=1+1", "-1.5", "@SUM(1)", "-", "a=b", 0.5)]
    ["'=1+1", '-1.5', "'@SUM(1)", '-', 'a=b', 0.5]
    """
    runs = isinstance(cell, str) and _FORMULA.match(cell) is not None and _NUMBER.fullmatch(cell) is None
    return f"'{cell}" if runs else cell
