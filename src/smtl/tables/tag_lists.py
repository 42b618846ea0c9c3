"""Lists of tags that are written as text: in JSON, or as Python prints them."""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any

from smtl.tables.label_cells import text_of

__all__ = ["is_json_list", "list_items"]

# An item of a list as Python writes it, and what follows.
_ITEM = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[-+.\w]+)\s*(,\s*\]$|,|\]$)""", re.DOTALL)


def list_items(text: str) -> list[str] | None:
    """Return the items of a list in JSON or as Python prints it; None for what is no list of texts and numbers.

    Examples
    --------
    >>> list_items('["a", "b"]'), list_items("['a', 3]"), list_items("[a]")
    (['a', 'b'], ['a', '3'], None)
    """
    items = _from_json(text)
    if items is None and text.startswith("["):
        items = _from_python(text)
    if items is None:
        return None
    texts = [text_of(item) for item in items if item is not None]
    try:
        "".join(filter(None, texts)).encode()  # half a character, as in "\ud800", is no text
    except UnicodeEncodeError:
        return None
    return [text for text in texts if text]


def is_json_list(text: str) -> bool:
    """Return whether a text is a JSON list of texts and numbers.

    Examples
    --------
    >>> is_json_list('["a"]'), is_json_list("['a']")
    (True, False)
    """
    return _from_json(text) is not None


def _from_json(text: str) -> list[Any] | None:
    if text.startswith("['"):
        return None  # as Python prints it; an error would take longer
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return None
    plain = isinstance(items, list) and not any(isinstance(item, list | dict) for item in items)
    return items if plain else None


def _from_python(text: str) -> list[Any] | None:
    """Return the items of ``['a', 'b']``; two texts side by side, as NumPy prints them, would become one: none."""
    if '"' not in text and "\\" not in text:
        items = _from_json(text.replace("'", '"'))  # much faster, if it is so plain
        if items is not None:
            return items
    items = []
    place = 1
    while place < len(text):
        match = _ITEM.match(text, place)
        if match is None:
            return None
        try:
            items.append(_python_item(match[1]))
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
        place = match.end()
    return items if all(isinstance(item, str | int | float | None) for item in items) else None


def _python_item(text: str) -> Any:
    if text[0] in "'\"" and "\\" not in text:
        return text[1:-1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of escapes that are none
        return ast.literal_eval(text)
