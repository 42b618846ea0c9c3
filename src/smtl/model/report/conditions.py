"""What a model's cuts were to keep, for the slider of its report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smtl.estimators.rules import parse_rule
from smtl.estimators.rules.costs import read_costs
from smtl.estimators.rules.precision_floor import PrecisionFloor
from smtl.estimators.rules.recall_floor import RecallFloor

__all__ = ["condition"]


def condition(classifier: Any, chosen: Sequence[int]) -> dict[str, Any] | None:
    """Return the condition on the cuts of a model, plain JSON.

    Parameters
    ----------
    classifier : SMTLEnsemble, SMTLClassifier or SMTLClassifierCV
        Fitted.
    chosen : list of int
        The tasks that the page shows.

    Returns
    -------
    dict or None
        ``measure`` ("recall" or "precision") and ``floor``; or ``costs``, a pair for each task; or ``rows``, a rule for
        all answers of a row; None where there is no condition.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier(threshold="recall>=0.9").fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> condition(model, [0])
    {'measure': 'recall', 'floor': 0.9}
    """
    if getattr(classifier, "costs", None) is not None:
        costs = read_costs(classifier.costs, classifier.task_names_)
        return {"costs": [[float(costs.miss[i]), float(costs.false_alarm[i])] for i in chosen]}
    rule = parse_rule(getattr(classifier, "threshold", None))
    if isinstance(rule, RecallFloor | PrecisionFloor):
        return {"measure": "recall" if isinstance(rule, RecallFloor) else "precision", "floor": rule.floor}
    return None if rule is None else {"rows": rule.text}
