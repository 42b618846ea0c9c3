"""The form of labels as it is in a model's file, which anyone may have written: every value is checked."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from smtl.datasets.errors import shown
from smtl.tables.tags import core
from smtl.tables.values import MISSING
from smtl.tables.yes_no import value_key

__all__ = ["checked"]

_KEYS = ("kind", "columns", "names", "yes", "no", "cells", "separator", "rows", "counts", "missing", "guessed")
_KINDS = ("columns", "tags", "class")
_CELLS = ("text", "json", "python", "list")


def checked(value: Any) -> dict[str, Any]:
    """Return the fields of a form of labels, or raise ValueError.

    Parameters
    ----------
    value : object
        Plain JSON, of which nothing is known.

    Returns
    -------
    dict
        The fields, lists as tuples.

    Examples
    --------
    >>> checked({"kind": "tags"})
    Traceback (most recent call last):
        ...
    ValueError: the form of labels must have kind, columns, ..., got {'kind': 'tags'} instead; train the model anew.
    """
    if not isinstance(value, dict) or set(value) != set(_KEYS):
        _must("have " + ", ".join(_KEYS), value)
    found = {key: tuple(entry) if isinstance(entry, list) else entry for key, entry in value.items()}
    if not isinstance(found["kind"], str) or found["kind"] not in _KINDS:
        _must(f"be of the kinds {', '.join(_KINDS)}", found["kind"])
    for key in ("columns", "names", "guessed"):
        if not _is_tuple_of(found[key], _is_text) or len(set(found[key])) < len(found[key]):
            _must(f"have {key} that are different texts", value[key])
    for key in ("counts", "missing"):
        if not _is_tuple_of(found[key], _is_count):
            _must(f"have {key} that are whole numbers", value[key])
    if not _is_count(found["rows"]) or max((0, *found["counts"], *found["missing"])) > found["rows"]:
        _must("have a number of rows", found["rows"])
    if not found["names"] or len(found["counts"]) != len(found["names"]):
        _must("have a count for each name", value["counts"])
    if not found["columns"] or len(found["missing"]) != len(found["columns"]):
        _must("have a count of missing values for each column", value["missing"])
    if not set(found["guessed"]) <= set(found["columns"]):
        _must("have guesses for its columns", value["guessed"])
    _check_words(found)
    _check_writing(found)
    return found


def _check_words(form: dict[str, Any]) -> None:
    """Refuse words for yes and no that cannot be told apart."""
    n = len(form["names"]) if form["kind"] == "columns" else 0
    for key in ("yes", "no"):
        if not _is_tuple_of(form[key], _is_word) or len(form[key]) != n:
            _must(f"have a word for {key} for each column", form[key])
    for yes, no in zip(form["yes"], form["no"], strict=True):
        if value_key(yes) is None or value_key(no) is None or value_key(yes) == value_key(no):
            _must("have words for yes and no that differ", (yes, no))
    if len(form["columns"]) != (n or 1):
        _must("have one column for each label, or one for all", form["columns"])


def _check_writing(form: dict[str, Any]) -> None:
    """Refuse tags and classes that could not be read from a cell."""
    cells, separator = form["cells"], form["separator"]
    of_text = form["kind"] == "tags" and cells == "text"
    if not isinstance(cells, str) or cells not in (_CELLS if form["kind"] == "tags" else _CELLS[:1]):
        _must(f"have cells that are {', '.join(_CELLS)}", cells)
    if not (_is_text(separator) and separator if of_text else separator is None):
        _must("have a separator, where it has tags in a text", separator)
    if form["kind"] == "columns":
        return
    for name in form["names"]:
        if not name or name != name.strip() or (of_text and core(separator) in name):
            _must("have names without blanks around and without the separator", name)
        if form["kind"] == "class" and name in MISSING:
            _must("have names that are known", name)
    if form["kind"] == "class" and len(form["names"]) < 2:
        _must("have two classes or more", form["names"])


def _is_tuple_of(value: Any, is_fine: Any) -> bool:
    return isinstance(value, tuple) and all(map(is_fine, value))


def _is_text(value: Any) -> bool:
    """Return whether a value is text that can be written to a file."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_word(value: Any) -> bool:
    if type(value) is int:
        return -(2**63) <= value < 2**64
    return type(value) is bool or _is_text(value) or (type(value) is float and math.isfinite(value))


def _must(what: str, got: Any) -> NoReturn:
    try:
        text = shown(got)
    except RecursionError:
        text = "a deep nest"
    raise ValueError(f"the form of labels must {what}, got {text} instead; train the model anew.")
