"""Options of ``smtl fit`` for cuts, as they are written."""

from __future__ import annotations

import math

import typer

__all__ = ["costs_of", "threshold_of"]

_NAMES = ("auto", "per-task", "shared", "smoothed")

Pair = tuple[float, float]


def threshold_of(text: str) -> str | float:
    """Return a threshold: a name, a rule such as "recall>=0.9", or a number.

    Examples
    --------
    >>> threshold_of("top-2"), threshold_of("-0.5")
    ('top-2', -0.5)
    """
    from smtl.estimators.rules import parse_rule, rule_examples

    try:
        if text in _NAMES or parse_rule(text) is not None:
            return text
    except ValueError as error:
        raise typer.BadParameter(f"--{error}") from None
    value = _number(text)
    if not math.isfinite(value):
        names = ", ".join((*_NAMES, *rule_examples()))
        raise typer.BadParameter(f"--threshold must be {names} or a number, got {text!r} instead.")
    return value


def costs_of(texts: list[str]) -> Pair | dict[str, Pair] | None:
    """Return what a miss and a false alarm cost: for all labels, or by their names.

    Examples
    --------
    >>> costs_of(["5:1"]), costs_of(["fraud=10:1", "typo=1:2"]), costs_of([])
    ((5.0, 1.0), {'fraud': (10.0, 1.0), 'typo': (1.0, 2.0)}, None)
    """
    named = {}
    for text in texts:
        name, sign, pair = text.rpartition("=")
        miss, _, false_alarm = pair.partition(":")
        values = _number(miss), _number(false_alarm)
        if not all(0.0 < value < math.inf for value in values) or (not sign and len(texts) > 1):
            raise typer.BadParameter(
                f"--costs must be two positive numbers, such as 5:1, once for all labels or as NAME=5:1 for each, got "
                f"{text!r} instead."
            )
        if not sign:
            return values
        named[name] = values
    return named or None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
