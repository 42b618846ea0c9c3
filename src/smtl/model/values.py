"""Kinds of values that a model may hold, each with what it must be in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

__all__ = [
    "Dims",
    "Value",
    "array",
    "choice",
    "columns",
    "either",
    "list_of",
    "mapping_to",
    "name",
    "nothing",
    "number",
    "plain",
    "truth",
    "whole",
]

# Lengths by name: the first array that has one settles it, and all others must agree.
Dims: TypeAlias = dict[str, int]

_KINDS = {"f": "numbers", "i": "whole numbers", "u": "whole numbers", "b": "truth values", "U": "text", "O": "text"}
_DEEPEST = 20


class Value(NamedTuple):
    """What a value must be.

    Attributes
    ----------
    what : str
        In words.
    fits : callable
        Whether a value does, among lengths that are known.
    """

    what: str
    fits: Callable[[Any, Dims], bool]


def array(kinds: str, *shape: int | str, low: float = -math.inf, high: float = math.inf, holes: bool = False) -> Value:
    """Return an array of some kinds and shape.

    Parameters
    ----------
    kinds : str
        Kinds of NumPy's, such as ``"f"`` or ``"iU"``. Of objects, all must be text.
    *shape : int or str
        Lengths, or their names; ``"*"`` is any.
    low, high : float
        What numbers must lie between. Without them they must be finite.
    holes : bool, default=False
        Whether numbers may be NaN, or infinite.

    Examples
    --------
    >>> coef = array("f", "tasks", "features")
    >>> coef.fits(np.eye(2), {"features": 2}), coef.fits(np.eye(2), {"features": 3}), coef.fits(np.eye(2) / 0.0, {})
    (True, False, False)
    >>> coef.what
    'an array of finite numbers of shape (tasks, features)'
    """

    def fits(value: Any, dims: Dims) -> bool:
        if not isinstance(value, np.ndarray) or value.ndim != len(shape) or value.dtype.kind not in kinds:
            return False
        known = zip(shape, value.shape, strict=True)
        if not all(n == "*" or (dims.setdefault(n, m) if isinstance(n, str) else n) == m for n, m in known):
            return False
        if value.dtype.kind == "O":
            return all(isinstance(item, str) for item in value.ravel())
        if value.dtype.kind not in "fi" or value.size == 0:
            return True
        known_ones = value[~np.isnan(value)]
        inside = bool((known_ones >= low).all() and (known_ones <= high).all())
        return inside and (holes or bool(np.isfinite(value).all()))

    finite = "finite " if "f" in kinds and not holes else ""
    words = " or ".join(dict.fromkeys(_KINDS[kind] for kind in kinds))
    return Value(f"an array of {finite}{words} of shape ({', '.join(map(str, shape))})", fits)


def number(low: float = -math.inf, high: float = math.inf, *, infinite: bool = False) -> Value:
    """Return a number between two others, which is finite unless it may be infinite.

    Examples
    --------
    >>> [number(0.0).fits(value, {}) for value in (1, -1, np.float64(0.5), True, "1", float("nan"))]
    [True, False, True, False, False, False]
    """

    def fits(value: Any, dims: Dims) -> bool:
        found: Any = value
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
            return False
        return bool(low <= found <= high and (infinite or abs(found) < math.inf))

    return Value(f"a number from {low:g} to {high:g}", fits)


def whole(low: int = 0, high: int = 2**53, dim: str | None = None) -> Value:
    """Return a whole number between two others, perhaps a length.

    Examples
    --------
    >>> whole(1).fits(3, {}), whole(1).fits(0, {}), whole(0, dim="features").fits(2, {"features": 3})
    (True, False, False)
    """

    def fits(value: Any, dims: Dims) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
            return False
        return dim is None or dims.setdefault(dim, int(value)) == value

    return Value(f"a whole number from {low} on", fits)


def _any_text(value: Any, dims: Dims) -> bool:
    return isinstance(value, str)


name = Value("text", _any_text)
nothing = Value("None", lambda value, dims: value is None)
truth = Value("true or false", lambda value, dims: isinstance(value, bool | np.bool_))


def choice(*words: str) -> Value:
    """Return one of some words.

    Examples
    --------
    >>> choice("best", "1se").what
    "one of 'best', '1se'"
    """
    return Value(f"one of {', '.join(map(repr, words))}", lambda value, dims: isinstance(value, str) and value in words)


def either(*values: Value) -> Value:
    """Return what is any of several.

    Examples
    --------
    >>> either(nothing, whole(1)).fits(None, {}), either(nothing, whole(1)).what
    (True, 'None or a whole number from 1 on')
    """
    return Value(
        " or ".join(value.what for value in values),
        lambda found, dims: any(value.fits(found, dims) for value in values),
    )


def list_of(item: Value, dim: str | None = None) -> Value:
    """Return a list, or a tuple, of values of one kind, perhaps of a known length.

    Examples
    --------
    >>> list_of(name).fits(["a", "b"], {}), list_of(name).fits(["a", 1], {})
    (True, False)
    """

    def fits(value: Any, dims: Dims) -> bool:
        if not isinstance(value, list | tuple) or not all(item.fits(one, dims) for one in value):
            return False
        return dim is None or dims.setdefault(dim, len(value)) == len(value)

    return Value(f"a list of {item.what}", fits)


def mapping_to(item: Value) -> Value:
    """Return a dictionary from text to values of one kind.

    Examples
    --------
    >>> mapping_to(whole()).fits({"a": 1}, {}), mapping_to(whole()).fits({1: 1}, {})
    (True, False)
    """

    def fits(value: Any, dims: Dims) -> bool:
        return isinstance(value, dict) and all(
            isinstance(key, str) and item.fits(one, dims) for key, one in value.items()
        )

    return Value(f"a dictionary from text to {item.what}", fits)


def columns(**needed: Value) -> Value:
    """Return a table: a dictionary of arrays of one length. What is in those that are not named is not looked at.

    Examples
    --------
    >>> table = columns(C=array("f", "Cs"))
    >>> [table.fits(value, {}) for value in ({"C": np.ones(2)}, {"D": np.ones(2)}, {"C": np.array(["x"])})]
    [True, False, False]
    """

    def fits(value: Any, dims: Dims) -> bool:
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            return False
        if not all(key in value and column.fits(value[key], dims) for key, column in needed.items()):
            return False
        shapes = {
            np.shape(column) if isinstance(column, np.ndarray) else (len(column),)
            for column in value.values()
            if isinstance(column, list | np.ndarray)
        }
        known = all(
            isinstance(column, list) or getattr(column, "dtype", np.dtype("V")).kind in _KINDS
            for column in value.values()
        )
        return known and len(shapes) <= 1 and all(len(shape) == 1 for shape in shapes)

    return Value(f"a table with {', '.join(needed) or 'columns'}", fits)


def plain(value: Any, depth: int = 0) -> bool:
    """Return whether a value is plain JSON, with finite numbers.

    Examples
    --------
    >>> plain({"a": [1, None, "x"]}), plain(float("inf")), plain({1: 2})
    (True, False, False)
    """
    if depth > _DEEPEST:
        return False
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and plain(one, depth + 1) for key, one in value.items())
    if isinstance(value, list | tuple):
        return all(plain(one, depth + 1) for one in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | bool | int)
