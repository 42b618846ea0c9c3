"""How a model was trained, from what its file says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from sklearn.pipeline import Pipeline

from smtl import pages
from smtl.model.report.words import mapping
from smtl.model.scores import classifier_of

__all__ = ["record"]

_SETTINGS = {
    "model": "Model",
    "preset": "Preset",
    "scoring": "Scoring",
    "score": "Score on held-out rows",
    "metric": "Metric",
    "penalty": "Penalty",
    "C": "C",
    "C_used": "C used",
    "cv": "Folds",
    "n_values": "Values of C in the search",
    "threshold": "Threshold",
    "scale": "Features put on one scale",
    "seed": "Seed",
    "jobs": "Threads",
    "rows": "Rows it has learnt from",
    "test_rows": "Rows kept for the test",
    "gap": "Certified gap",
    "iterations": "Iterations",
    "features_used": "Features used",
}
_OF_THE_SEARCH = ("cv", "n_values")
_DATA = {"name": "Name", "rows": "Rows", "features": "Features", "checksum": "Fingerprint"}


def record(model: Any, metadata: Mapping[str, Any]) -> str:
    """Return settings, data and versions as HTML.

    Parameters
    ----------
    model : SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    metadata : mapping
        What is known about it. Without ``training``, the classifier's parameters are told.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier(C=0.5, penalty="ridge").fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> "<dt>C</dt><dd>0.5</dd>" in record(model, {})
    True
    """
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    made = [("Made of", ", then ".join(type(step).__name__ for step in steps))]
    if metadata.get("created"):
        made.append(("Saved", str(metadata["created"])))
    training = mapping(metadata.get("training")) or classifier_of(model).get_params(deep=False)
    if training.get("model") == "ensemble":
        # The section about the learners has these.
        training = {key: value for key, value in training.items() if key not in ("learners", "correction")}
    elif training.get("C") != "cv":
        training = {key: value for key, value in training.items() if key not in _OF_THE_SEARCH}
    tested = mapping(mapping(metadata.get("scores")).get("macro"))
    known = [(f"Mean {name} of that test", _text(tested.get(key))) for key, name in (("f1", "F1"), ("auc", "AUC"))]
    parts = {
        "Settings": [*made, *_facts(training, _SETTINGS), *(known if tested else [])],
        "Training data": list(_facts(mapping(metadata.get("data")), _DATA)),
        "Versions": list(_facts(mapping(metadata.get("versions")), {})),
    }
    return _columns(metadata.get("table")) + "".join(
        f"<h3>{heading}</h3>\n{pages.definitions(facts, 'facts')}" for heading, facts in parts.items() if facts
    )


def _columns(columns: Any) -> str:
    """Return what became of the columns of a table."""
    if not isinstance(columns, list) or not columns:
        return ""
    entries = [mapping(entry) for entry in columns]
    rows = "".join(
        f'<tr><th scope="row" class="w">{escape(str(entry.get("column")))}</th>'
        f'<td class="w">{escape(str(entry.get("read_as")))}</td><td>{_text(entry.get("features"))}</td>'
        f'<td class="w">{escape(str(entry.get("why")))}</td></tr>\n'
        for entry in entries
    )
    titles = ("Column", "Read as", "Features", "Why")
    heads = "".join(
        f'<th scope="col" data-c="{c}"{"" if c == 2 else " class=w"}>{title}</th>' for c, title in enumerate(titles)
    )
    inside = f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>"
    caption = "What each column of the table was read as, and how many features were made of it."
    return pages.framed_table("columns", caption, inside, long=len(entries) > 30)


def _facts(values: Mapping[str, Any], titles: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return what is known, in the order of the titles, and then what has none."""
    for key in [*(key for key in titles if key in values), *(key for key in values if key not in titles)]:
        value = values[key]
        yield titles.get(key, str(key)), str(value) if key == "seed" else _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "by default"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
