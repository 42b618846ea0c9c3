"""Rules for answers that promise something: a floor for recall or precision, costs, so many labels a row."""

from __future__ import annotations

import re
from typing import Any

import numpy.typing as npt

from smtl.estimators.rules.base import CONFIDENCE, CutRule, RowRule, WrittenRule
from smtl.estimators.rules.costs import Costs, read_costs
from smtl.estimators.targets import Kind
from smtl.registry import import_all

__all__ = ["CONFIDENCE", "Costs", "CutRule", "RowRule", "cut_by", "parse_rule", "row_rule", "rule_examples"]

import_all(__name__, __path__)


def parse_rule(text: Any) -> WrittenRule | None:
    """Return the rule that a text spells; None if it spells none.

    Parameters
    ----------
    text : str or other
        A threshold.

    Returns
    -------
    CutRule, RowRule or None
        The rule.

    Examples
    --------
    >>> parse_rule("recall >= 0.9"), parse_rule("top-2"), parse_rule("auto")
    (RecallFloor(floor=0.9), Top(k=2), None)
    """
    for kind in WrittenRule.known if isinstance(text, str) else ():
        match = re.fullmatch(kind.pattern, text.strip().lower())
        if match:
            return kind.from_match(match)
    return None


def row_rule(threshold: Any) -> RowRule | None:
    """Return the rule for whole rows that a threshold spells, if it spells one.

    Examples
    --------
    >>> row_rule("at-most-3"), row_rule("recall>=0.9")
    (AtMost(k=3), None)
    """
    rule = parse_rule(threshold)
    return rule if isinstance(rule, RowRule) else None


def rule_examples() -> list[str]:
    """Return a form of each rule, for messages.

    Examples
    --------
    >>> rule_examples()
    ['at-least-one', 'at-most-3', 'precision>=0.8', 'recall>=0.9', 'top-2']
    """
    return sorted(kind.example for kind in WrittenRule.known)


def cut_by(threshold: str | float, costs: Any, names: npt.NDArray[Any], kind: Kind) -> str | float | CutRule:
    """Return how cuts are chosen, or raise ValueError.

    Parameters
    ----------
    threshold : str or float
        What was given.
    costs : pair, array-like, dict or None
        What a miss and a false alarm cost; see `read_costs`.
    names : ndarray of shape (n_tasks,)
        Names of the tasks.
    kind : str
        The kind of the targets.

    Returns
    -------
    str, float or CutRule
        A rule that promises something, or what `smtl.estimators.thresholds.choose_cuts` knows; "auto" for a rule of
        whole rows.

    Examples
    --------
    >>> import numpy as np
    >>> cut_by("top-2", None, np.array(["a", "b"]), "multilabel")
    'auto'
    """
    rule = parse_rule(threshold)
    if costs is not None:
        if threshold != "auto":
            raise ValueError(f"threshold must be 'auto' where costs are given, got {threshold!r} instead.")
        rule = read_costs(costs, names)
    if rule is None:
        return threshold
    rule.check_kind(kind)
    return rule if isinstance(rule, CutRule) else "auto"
