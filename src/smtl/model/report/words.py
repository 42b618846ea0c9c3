"""What a report says in words, made from its figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from smtl.model.explain import that_matter
from smtl.model.scores import classifier_of

__all__ = ["NOTHING", "figure", "mapping", "summary"]

# Where there is no figure, and a minus as wide as a plus.
NOTHING, _MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
_KINDS = {
    "binary": "one yes/no question",
    "multiclass": "one question with {n} classes, a task each",
    "multilabel": "{n} yes/no questions about the same rows",
    "tasks": "{n} yes/no questions, each about rows of its own",
}


def figure(value: float | None, form: str = ".3f") -> str:
    """Return a number for a table or a sentence.

    Examples
    --------
    >>> figure(0.12345), figure(-0.5, "+.3g"), figure(None)
    ('0.123', '−0.5', '–')
    """
    return NOTHING if value is None or not math.isfinite(value) else format(value, form).replace("-", _MINUS)


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping as it is, and none for anything else: metadata from elsewhere may hold anything.

    Examples
    --------
    >>> mapping({"rows": 3}), mapping("by hand")
    ({'rows': 3}, {})
    """
    return value if isinstance(value, Mapping) else {}


def summary(model: Any, metadata: Mapping[str, Any], data_name: str, found: Mapping[str, Any]) -> list[tuple[str, str]]:
    r"""Return what is to be known first.

    Parameters
    ----------
    model : SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    metadata : mapping
        What is known about it.
    data_name : str
        What the data are called.
    found : mapping
        The figures.

    Returns
    -------
    list of (str, str)
        A word and a sentence or two each.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier(C=0.5, penalty="ridge").fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> task = {"name": "calm", "rows": 3, "positives": 1, "f1": 1.0, "features": 1}
    >>> means = {"f1": 1.0, "auc": 1.0, "average_precision": 1.0}
    >>> found = {"rows": 3, "tasks": [task], "macro": means, "training_data": False}
    >>> summary(model, {"kind": "binary"}, "songs", found)[1]
    ('The data', '3 rows of songs with 3 labels, 33.3\xa0% of them positive.')
    """
    final = classifier_of(model)
    what = _first_upper(_KINDS[metadata["kind"]].format(n=len(final.thresholds_)))
    lines = [
        ("The model", f"{what}, {_linear(final) if hasattr(final, 'coef_') else _ensemble(final)}"),
        ("The data", _data(metadata, data_name, found)),
        ("How well it does", _scores(found)),
    ]
    if len(found["tasks"]) > 1 and (text := _extremes(found["tasks"])):
        lines.append(("Strongest and weakest", text))
    gap = getattr(final, "gap_", None)
    if gap is not None and math.isfinite(gap):
        lines.append(
            (
                "How sure the training is",
                f"The certified gap is {gap:.1e}: no weights at all have a training objective that is better by more "
                f"than {100 * gap:.2g}\N{NO-BREAK SPACE}%.",
            )
        )
    empty = [task["name"] for task in found["tasks"] if task["features"] == 0]
    if empty:
        what = (
            "has no weights: it gives every row the same answer"
            if len(empty) == 1
            else ("have no weights: each gives every row the same answer")
        )
        lines.append(("Not learnt", f"{'Task' if len(empty) == 1 else 'Tasks'} {_listed(empty)} {what}."))
    return lines


def _linear(final: Any) -> str:
    d = final.coef_.shape[1]
    used = int(that_matter(final.coef_).any(axis=0).sum())
    metric, penalty = (str(getattr(final, f"{key}_", getattr(final, key))) for key in ("metric", "penalty"))
    C = f", C = {final.C_:.3g}" if hasattr(final, "C_") else ""
    return (
        f"learnt jointly for the metric {metric} with the penalty {penalty}{C}. It uses {used:,} of {d:,} "
        f"feature{'s' * (d != 1)}."
    )


def _ensemble(final: Any) -> str:
    shares = sorted(((weight, name) for name, weight in final.weights_.items() if weight > 0), reverse=True)
    told = ", ".join(f"{name} ({weight:.2f})" for weight, name in shares)
    return f"learnt by an ensemble. The learners and their shares of the answer: {told}."


def _data(metadata: Mapping[str, Any], data_name: str, found: Mapping[str, Any]) -> str:
    rows, m = found["rows"], len(found["tasks"])
    labels, positives = (sum(task[key] for task in found["tasks"]) for key in ("rows", "positives"))
    share = f", {100 * positives / labels:.3g}\N{NO-BREAK SPACE}% of them positive" if labels else ""
    text = f"{rows:,} row{'s' * (rows != 1)}{f' of {data_name}' if data_name else ''} with {labels:,} labels{share}."
    lacking = sum(not 0 < task["positives"] < task["rows"] for task in found["tasks"])
    if lacking:
        text += (
            f" {lacking:,} of the {m:,} task{'s' * (m != 1)} {'has' if lacking == 1 else 'have'} not both classes here."
        )
    if found["training_data"]:
        n = mapping(metadata.get("training")).get("rows")
        some = f"{n:,} of the" if isinstance(n, int) else "these"
        text += f" The model was made of these data, and has learnt from {some} rows: the figures flatter it."
    return text


def _scores(found: Mapping[str, Any]) -> str:
    macro, both = found["macro"], [task for task in found["tasks"] if 0 < task["positives"] < task["rows"]]
    if not both:
        return "No task has both classes in these data, so that nothing can be said about it."
    chance = sum(task["positives"] / task["rows"] for task in both) / len(both)
    figures = [("F1", macro["f1"]), ("AUC", macro["auc"]), ("average precision", macro["average_precision"])]
    mean, over = ("", "") if len(both) == 1 else ("mean ", f", over {len(both):,} tasks")
    told = ", ".join(f"{mean}{name} {figure(value)}" for name, value in figures)
    return _first_upper(
        f"{told}{over}. Scores drawn by lot would have AUC 0.500 and {mean}average precision {figure(chance)}, the "
        "share of positives."
    )


def _extremes(tasks: Sequence[Mapping[str, Any]]) -> str:
    known = [task for task in tasks if task["f1"] is not None and 0 < task["positives"] < task["rows"]]
    if len(known) < 2:
        return ""
    best, worst = (pick(known, key=lambda task: task["f1"]) for pick in (max, min))
    parts = [
        f"task {task['name']} (F1 {figure(task['f1'])}, {task['positives']:,} positives among {task['rows']:,} rows)"
        for task in (best, worst)
    ]
    return f"By F1, {parts[0]} is the strongest and {parts[1]} the weakest."


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
