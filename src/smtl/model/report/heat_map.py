"""The largest weights as a map: features by tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from smtl import pages
from smtl.model.report.words import figure
from smtl.model.scores import classifier_of

__all__ = ["heat_map"]

_FEATURES, _TASKS = 40, 60
# With more tasks than this, there is no room for the numbers.
_WITH_NUMBERS = 14


def heat_map(model: Any, features: Sequence[str], tasks: Sequence[str]) -> str:
    """Return the weights of the features that matter most over all tasks, as a table with colours.

    Parameters
    ----------
    model : SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    features, tasks : sequence of str
        Names.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier(penalty="ridge").fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> "beat" in heat_map(model, ["beat"], ["calm"])
    True
    """
    coef = np.asarray(classifier_of(model).coef_, dtype=np.float64)
    sizes = np.linalg.norm(coef, axis=0)
    rows = [j for j in np.argsort(-sizes, kind="stable")[:_FEATURES].tolist() if sizes[j] > 0]
    if not rows:
        return pages.paragraph("All weights are zero.")
    largest_tasks = np.argsort(-np.linalg.norm(coef, axis=1), kind="stable")[:_TASKS]
    columns = np.sort(largest_tasks).tolist()
    largest = float(np.abs(coef[np.ix_(columns, rows)]).max())
    heads = "".join(
        f'<th scope="col" data-c="{c}" title="{escape(tasks[i])}">{escape(tasks[i])}</th>'
        for c, i in enumerate(columns, 1)
    )
    kind = "heat" if len(columns) <= _WITH_NUMBERS else "heat dense"
    # Numbers of two decimals, whatever the weights' size.
    power = math.floor(math.log10(largest))
    unit = 1.0 if -1 <= power <= 1 else 10.0**power
    lines = []
    for j in rows:
        cells = "".join(_cell(coef[i, j], largest, unit, f"{features[j]}, {tasks[i]}") for i in columns)
        lines.append(
            f'<tr><th scope="row" class="w" title="{escape(features[j])}">{escape(features[j])}</th>{cells}</tr>\n'
        )
    head = f'<thead><tr><th scope="col" data-c="0" class="w">Feature</th>{heads}</tr></thead>'
    used = int((sizes > 0).sum())
    told = (
        "Weights for features on the model\N{RIGHT SINGLE QUOTATION MARK}s scale, so that they can be compared: a "
        "positive one speaks for yes. Features are in the order of their weights over all tasks together."
    )
    left_out = [
        f"{len(rows)} of the {used:,} features with weights" if used > len(rows) else "",
        f"the {len(columns)} tasks with the largest weights of {len(tasks):,}" if len(tasks) > len(columns) else "",
    ]
    if any(left_out):
        told += f" Shown are {' and '.join(filter(None, left_out))}."
    caption = "Weights by feature and task"
    if "dense" in kind:
        caption += "; the pointer on a cell, or a tap, tells its weight"
    elif unit != 1.0:
        caption += f"; the numbers in the cells are to be multiplied by {unit:g}"
    table = pages.framed_table("heat", f"{caption}.", f"{head}<tbody>{''.join(lines)}</tbody>", kind=kind)
    ends = [figure(value, "+.2g") for value in (-largest, largest)]
    legend = (
        f'<p class="legend {kind}"><span>speaks for no, {ends[0]}</span> <span class="ramp" aria-hidden="true"></span> '
        f"<span>{ends[1]}, speaks for yes</span></p>\n"
    )
    told_of_cell = '<p id="cell" class="muted" role="status"></p>\n' if "dense" in kind else ""
    return pages.paragraph(told) + legend + told_of_cell + table


def _cell(weight: float, largest: float, unit: float, where: str) -> str:
    if weight == 0:
        return f'<td title="{escape(where)}: 0">0</td>'
    kind = "up" if weight > 0 else "down"
    size = f"{abs(weight) / largest:.2f}".lstrip("0")
    return (
        f'<td class="{kind}" style="--w:{size}" title="{escape(where)}: {figure(weight, "+.4g")}">'
        f"{figure(weight / unit, '+.2f')}</td>"
    )
