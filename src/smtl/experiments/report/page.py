"""The page: sections, filters, style and script in one file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from smtl import pages
from smtl.experiments.naming import MEASURE_TITLES
from smtl.experiments.published import PAPER_MEASURES
from smtl.experiments.report import study_tables
from smtl.experiments.report.html import cell_class
from smtl.experiments.report.material import Material
from smtl.experiments.report.sections import SECTIONS
from smtl.experiments.tables import Row

__all__ = ["page"]


def page(material: Material, title: str) -> str:
    """Return the page of a report.

    Parameters
    ----------
    material : Material
        What it is made from; the tables that are to be written to files are noted there.
    title : str
        Its heading.

    Returns
    -------
    str
        HTML that needs no other file.

    Examples
    --------
    >>> from smtl.experiments.report.material import gather
    >>> from smtl.experiments.results import Results
    >>> rows = [{"dataset": "yeast", "method": "br", "split": 0, "status": "failed", "error": "No."}]
    >>> "The only run failed" in page(gather(Results.of(rows)), "A study")
    True
    """
    made = [(name, heading, make(material)) for name, heading, make in SECTIONS]
    made = [section for section in made if section[2]]
    shown = [measure for measure in MEASURE_TITLES if measure in _shown_first(material)]
    hidden = [f'[data-k="{measure}"]' for measure in MEASURE_TITLES if measure not in shown]
    rule = f"{','.join(hidden)}{{display:none!important}}" if hidden else ""
    return pages.page(
        title,
        made,
        _data(material),
        css=pages.part(__package__, "page.css"),
        js=pages.part(__package__, "page.js"),
        head=f'<style id="chosen">{rule}</style>\n',
        controls=_choosers(material, shown),
    )


def _shown_first(material: Material) -> Sequence[str]:
    """Return the measures of the paper, or those that there are if none of them is."""
    there = {key for row in material.results.rows for key in row}
    return [measure for measure in PAPER_MEASURES if measure in there] or list(MEASURE_TITLES)


def _choosers(material: Material, shown: Sequence[str]) -> str:
    names = material.names
    kinds = (
        ("d", "data set", "Data sets", [(str(k), names.title[name]) for k, name in enumerate(names.datasets)], None),
        ("k", "measure", "Measures", list(MEASURE_TITLES.items()), shown),
        ("m", "method", "Methods", [(str(k), names.title[name]) for k, name in enumerate(names.methods)], None),
    )
    out = []
    for key, one, many, choices, first in kinds:
        boxes = "".join(
            f'<label><input type="checkbox" value="{escape(value)}"'
            f"{' checked' if first is None or value in first else ''}> {escape(text)}</label>"
            for value, text in choices
        )
        out.append(
            f'<details data-kind="{key}" data-one="{one}"><summary>{many} <span class="how-many"></span></summary>'
            f'<fieldset class="choices"><legend class="muted">{many} that are shown</legend><div class="both">'
            '<button type="button" value="all">all</button><button type="button" value="none">none</button></div>'
            f'<div class="boxes">{boxes}</div></fieldset></details>\n'
        )
    return (
        '<form id="choosers" aria-label="Filters" hidden>\n'
        f'{"".join(out)}<button type="button" id="reset">Reset</button>\n<p id="told" role="status"></p>\n</form>\n'
    )


def _data(material: Material) -> dict[str, Any]:
    """Return the paired tests of every method that can be chosen, for the script."""
    names = material.names
    tests: dict[str, dict[str, Any]] = {}
    for (measure, method), paired in material.tests.items():
        found: dict[str, Any] = {}
        for kind, make in (("tests", study_tables.tests_table), ("opponents", study_tables.opponents_table)):
            table = make(paired, method, measure, names.title, "")
            found[kind] = [_compact(row, material) for row in table.rows]
            found[f"{kind}_caption"] = table.caption
        tests.setdefault(measure, {})[method] = found
    return {
        "datasets": [names.title[name] for name in names.datasets],
        "methods": [names.title[name] for name in names.methods],
        "tests": tests,
    }


def _compact(row: Row, material: Material) -> list[Any]:
    """Return a row as the numbers of its data set and method, and its further cells with their classes."""
    dataset = material.names.datasets.index(row.dataset) if row.dataset else None
    method = material.names.methods.index(row.method)
    cells = row.cells[2 if row.dataset else 1 :]
    return [
        dataset,
        method,
        *([cell.text, kind] if (kind := cell_class(cell)) else cell.text for cell in cells),
    ]
