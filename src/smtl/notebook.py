"""What notebooks show: below scikit-learn's picture of an estimator, what came of the fit; and tables as tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

__all__ = ["LinksToDocs", "ShowsFit", "Table", "facts", "html_table"]

DOCS = ""  # address of the site, while SMTL_DOCS is not set; empty: no links
MOST_ROWS = 30  # of a table; the rest is counted
MOST_NAMES = 8  # of a list of tasks
_STYLE = "border-collapse: collapse; font-size: 90%; margin: 0.5em 0"
_CELL = "padding: 0.15em 0.8em 0.15em 0; text-align: {}; border: 0; vertical-align: top"


class LinksToDocs:
    """The part of an estimator by which its picture in a notebook links to its page of the API reference.

    The environment variable ``SMTL_DOCS`` is the address of the site. Without it, and for classes that are not public
    names of smtl's, there is no link.

    Examples
    --------
    >>> import os
    >>> from smtl import SMTLClassifier
    >>> os.environ["SMTL_DOCS"] = "https://example.org/smtl"
    >>> SMTLClassifier()._get_doc_link()
    'https://example.org/smtl/api/generated/smtl.estimators.SMTLClassifier.html'
    >>> del os.environ["SMTL_DOCS"]
    >>> SMTLClassifier()._get_doc_link()
    ''
    """

    def _get_doc_link(self) -> str:
        site, kind = os.environ.get("SMTL_DOCS", DOCS), type(self)
        package = ".".join(kind.__module__.split(".")[:2])  # public names are in the package, their files below it
        public = package.startswith("smtl.") and getattr(sys.modules[package], kind.__name__, None) is kind
        if not site or not public:
            return ""
        return escape(f"{site.rstrip('/')}/api/generated/{package}.{kind.__name__}.html")


class ShowsFit(LinksToDocs):
    """The part of an estimator that shows in a notebook what came of the fit: scores, choices, gap, warnings.

    Its picture links to the docs, as that of `LinksToDocs` does. It stands before `sklearn.base.BaseEstimator` among
    the bases.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier("auc").fit(*load_iris(return_X_y=True))
    >>> "Gap" in model._repr_html_()
    True
    """

    def _html_repr(self) -> str:
        told = facts(self)
        shown: str = super()._html_repr()  # type: ignore[misc]
        if "leaderboard_" in vars(self):
            told["Learners"] = Table(self.leaderboard_)._repr_html_()  # type: ignore[attr-defined]
        return shown + (html_table(("", ""), list(told.items()), as_html=True) if told else "")


class Table(dict[str, Any]):
    """A table: a column under each name, all of one length. It is a dictionary that is printed, and shown, as a table.

    Examples
    --------
    >>> Table({"learner": np.array(["linear", "forest"]), "score": np.array([0.5, 0.4321])})
    learner  score
    linear     0.5
    forest  0.4321
    """

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """Return the rows, as tuples.

        Examples
        --------
        >>> list(Table({"learner": ["linear"], "score": [0.5]}).rows())
        [('linear', 0.5)]
        """
        return zip(*self.values(), strict=True)

    def __repr__(self) -> str:
        cells = [list(self), *([_shown(value) for value in row] for row in self.rows())]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        numbers = [_is_number(column) for column in self.values()]
        lines = [
            "  ".join(
                cell.rjust(width) if number else cell.ljust(width)
                for cell, width, number in zip(row, widths, numbers, strict=True)
            )
            for row in cells
        ]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        return html_table(list(self), list(self.rows()))


def facts(model: Any) -> dict[str, str]:
    """Return what is known of a fitted model, in words, as HTML under headings; nothing of one that is not fitted.

    Parameters
    ----------
    model : estimator
        Any estimator of smtl's.

    Returns
    -------
    dict of str
        What there is of: metric, penalty and C; gap and iterations; held-out score; correction; tasks; and those tasks
        that a warning was about.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smtl import SMTLClassifierCV
    >>> model = SMTLClassifierCV("auc", "trace", Cs=4).fit(*load_iris(return_X_y=True))
    >>> list(facts(model))
    ['Chosen', 'Held-out score', 'Gap', 'Tasks']
    >>> facts(SMTLClassifierCV())
    {}
    """
    known = {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}
    told = {}
    if "C_" in known:
        settings = [f"C = {known['C_']:.4g}"]
        settings += [f"{name} {_shown(known[f'{name}_'])}" for name in ("metric", "penalty") if f"{name}_" in known]
        told["Chosen"] = ", ".join(reversed(settings))
    score = known.get("score_", _score_of_chosen(known))
    if score is not None:
        told["Held-out score"] = f"{_shown(getattr(model, 'scoring', None) or 'mean')} {score:.4f}"
    if "gap_" in known:
        told["Gap"] = f"at most {known['gap_']:.1e} above the optimum, after {known.get('n_iter_', 0)} iterations"
    if "learners_" in known:
        correction = known.get("correction_")
        told["Correction"] = (
            "none: it would not have gained more than its error"
            if correction is None
            else f"log loss less by {correction.gain:.4f} ± {correction.standard_error:.4f}"
        )
    for heading, name in (
        ("Tasks", "task_names_"),
        ("Same answer for all", "null_tasks_"),
        ("Floor not promised", "unpromised_tasks_"),
    ):
        if len(known.get(name, ())):
            told[heading] = _names(known[name])
    if known.get("partial_"):
        told["Stopped early"] = "not all that was to be tried was tried"
    return {heading: escape(text) for heading, text in told.items()}


def html_table(
    headings: Sequence[str], rows: Sequence[Sequence[Any]], *, as_html: bool = False, most: int = MOST_ROWS
) -> str:
    """Return a table as HTML.

    Parameters
    ----------
    headings : sequence of str
        One a column.
    rows : sequence of sequences
        The cells.
    as_html : bool, default=False
        Whether the cells are HTML already.
    most : int, default=30
        The most rows to show; the others are counted.

    Returns
    -------
    str
        A ``table`` element.

    Examples
    --------
    >>> "a &lt; b" in html_table(["name"], [["a < b"]])
    True
    """
    numbers = [_is_number(column) for column in zip(*rows, strict=True)] or [False] * len(headings)
    ends = ["right" if number else "left" for number in numbers]

    def line(cells: Sequence[Any], tag: str, done: bool) -> str:
        words = [str(cell) if done else escape(_shown(cell)) for cell in cells]
        inside = (f'<{tag} style="{_CELL.format(end)}">{word}</{tag}>' for word, end in zip(words, ends, strict=True))
        return f"<tr>{''.join(inside)}</tr>"

    lines = [line(headings, "th", False)] if any(headings) else []
    lines += [line(row, "td", as_html) for row in rows[:most]]
    if len(rows) > most:
        lines.append(f'<tr><td colspan="{len(headings)}">and {len(rows) - most} more</td></tr>')
    return f'<table style="{_STYLE}">{"".join(lines)}</table>'


def _shown(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else str(value)


def _names(names: Sequence[Any]) -> str:
    few = ", ".join(str(name) for name in names[:MOST_NAMES])
    return few if len(names) <= MOST_NAMES else f"{few}, ... ({len(names)} in all)"


def _is_number(column: Any) -> bool:
    return all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in column)


def _score_of_chosen(known: Mapping[str, Any]) -> float | None:
    """Return the held-out score of what a search has chosen."""
    results = known.get("cv_results_", {})
    if not {"params", "mean_test_score"} <= set(results):
        return None
    chosen = {name: known[f"{name}_"] for name in ("metric", "penalty", "ridge", "C") if f"{name}_" in known}
    for params, score in zip(results["params"], results["mean_test_score"], strict=True):
        if all(params.get(name) == value for name, value in chosen.items()) and np.isfinite(score):
            return float(score)
    return None
