"""The page of a model's report."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from smtl import pages
from smtl.model.report.heat_map import heat_map
from smtl.model.report.learners import importance, learners, words
from smtl.model.report.record import record
from smtl.model.report.words import NOTHING, figure, summary
from smtl.model.scores import classifier_of, names_inside
from smtl.model.words import word_weights

__all__ = ["report_page"]

_COLUMNS = {
    "rows": "Rows",
    "positives": "Positives",
    "f1": "F1",
    "precision": "Precision",
    "recall": "Recall",
    "auc": "AUC",
    "average_precision": "Average precision",
    "threshold": "Threshold",
    "features": "Features used",
}
_WORDS = 10  # words of a text for each answer
_MEANS = ("f1", "precision", "recall", "auc", "average_precision")


def report_page(
    model: Any,
    metadata: Mapping[str, Any],
    data_name: str,
    found: Mapping[str, Any],
    drawn: Mapping[str, Any],
    title: str | None = None,
) -> str:
    """Return the page of a report.

    Parameters
    ----------
    model : SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    metadata : mapping
        What is known about it.
    data_name : str
        What the data are called.
    found, drawn : mapping
        What `measured` and `details` return.
    title : str, optional
        The heading.

    Returns
    -------
    str
        HTML that needs no other file.

    Examples
    --------
    >>> import numpy as np
    >>> from smtl import SMTLClassifier
    >>> from smtl.estimators.targets import read_targets
    >>> from smtl.model.report.figures import details, measured
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), [0, 0, 1]
    >>> model = SMTLClassifier().fit(X, y)
    >>> known = {"features": ["beat"], "tasks": ["calm"], "kind": "binary"}
    >>> truth, scores = read_targets(X, y), model.decision_function(X)[:, None]
    >>> found = measured(model, ["calm"], "binary", truth, scores) | {"training_data": False}
    >>> "Task" in report_page(model, known, "songs", found, details(model, known, X, truth, scores, found))
    True
    """
    title = title or (f"A model on {data_name}" if data_name else "A model's report")
    sections = [
        (
            "summary",
            "Summary",
            pages.definitions(summary(model, metadata, data_name, found), "summary") + _tasks(found, drawn),
        ),
        ("task", "One task at a time", _task(found, drawn, metadata["kind"])),
        _inside(model, metadata, found),
        ("training", "How it was trained", record(model, metadata)),
    ]
    css, js = (pages.part(__package__, f"page.{kind}") for kind in ("css", "js"))
    return pages.page(title, sections, drawn, css=css, js=js)


def _inside(model: Any, metadata: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the section about what the model is made of: weights, or learners."""
    said = words(word_weights(model, metadata["tasks"], _WORDS))
    if hasattr(classifier_of(model), "coef_"):
        weights = heat_map(model, names_inside(model, metadata["features"]), metadata["tasks"])
        return "weights", "Weights", weights + said
    names = [task["name"] for task in found["tasks"]]
    rests = importance(found["importance"], names, of_columns=bool(metadata.get("table")))
    return "learners", "Learners and features", learners(classifier_of(model)) + rests + said


def _tasks(found: Mapping[str, Any], drawn: Mapping[str, Any]) -> str:
    """Return the table with a row for each task."""
    place = {task["number"]: k for k, task in enumerate(drawn["tasks"])}
    columns = {key: title for key, title in _COLUMNS.items() if any(task[key] is not None for task in found["tasks"])}
    heads = "".join(f'<th scope="col" data-c="{c}">{title}</th>' for c, title in enumerate(columns.values(), 1))
    rows = []
    for i, task in enumerate(found["tasks"]):
        name = escape(task["name"])
        link = f'<a href="#task" data-task="{place[i]}">{name}</a>' if i in place else name
        cells = "".join(f"<td>{_cell(key, task[key])}</td>" for key in columns)
        rows.append(f'<tr><th scope="row" class="w">{link}</th>{cells}</tr>\n')
    means = "".join(f"<td>{_cell(key, found['macro'][key]) if key in _MEANS else ''}</td>" for key in columns)
    caption = (
        "Each task at the model's own answers. A task's name leads to its curves. AUC and average precision need both "
        "classes; the means are over the tasks that have them."
    )
    inside = (
        f'<thead><tr><th scope="col" data-c="0" class="w">Task</th>{heads}</tr></thead><tbody>{"".join(rows)}</tbody>'
        f'<tfoot><tr><th scope="row" class="w">Mean</th>{means}</tr></tfoot>'
    )
    return pages.framed_table("tasks", caption, inside, long=len(rows) > 30)


def _cell(key: str, value: float | None) -> str:
    if key in ("rows", "positives", "features"):
        return f"{value:,}"
    return figure(value, ".3g") if key == "threshold" else figure(value)


def _task(found: Mapping[str, Any], drawn: Mapping[str, Any], kind: str) -> str:
    """Return the part that the script fills."""
    options = "".join(f'<option value="{k}">{escape(task["name"])}</option>' for k, task in enumerate(drawn["tasks"]))
    left_out = len(found["tasks"]) - len(drawn["tasks"])
    notes = ""
    if left_out:
        notes = pages.paragraph(
            f"{left_out:,} more tasks are in the table above only; here are the {len(drawn['tasks'])} with the most "
            "positives.",
            "muted",
        )
    if kind == "multiclass":
        notes += pages.paragraph(
            "The model answers with the class that has the highest score. The cut-off here asks for one class by "
            "itself, so that the figures at 0 differ from those of the table.",
            "muted",
        )
    back = "Back to 0" if kind == "multiclass" else "Back to the model\N{RIGHT SINGLE QUOTATION MARK}s cut, 0"
    made_of = (
        "Features are listed with what they add to the score, on the model\N{RIGHT SINGLE QUOTATION MARK}s scale; "
    )
    made_of += "with the rest they add up to it."
    linear = "importance" not in found
    return pages.part(__package__, "task.html").format(
        options=options,
        notes=notes,
        back=back,
        nothing=NOTHING,
        made_of=made_of if linear else "An ensemble's scores are no sums over features.",
        column="Made of" if linear else "",
    )
