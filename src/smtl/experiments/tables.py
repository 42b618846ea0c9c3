"""A table of a report: what it holds, and how it is written as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby

from smtl.formulas import as_text

__all__ = ["NOTHING", "Cell", "Column", "Row", "Table", "number", "p_value", "percent", "seconds"]

# Where there is no figure.
NOTHING = "\N{EN DASH}"
# What stands behind a cell that has a note, and before the note.
_MARKS = "*†‡§¶"
# A minus as wide as a plus.
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes
    ----------
    text : str
        What is shown.
    value : float or str, optional
        What is behind it, unrounded; the text if it is left out.
    spread : float, optional
        The standard deviation.
    bold : bool
        Whether it is the best of its column.
    tone : int
        From -3, much worse, to 3, much better; 0 without colour.
    note : str
        What is told of it below the table; a mark stands behind the text.

    Examples
    --------
    >>> Cell("72.8", 0.728, bold=True).value
    0.728
    """

    text: str
    value: float | str | None = None
    spread: float | None = None
    bold: bool = False
    tone: int = 0
    note: str = ""


@dataclass(frozen=True)
class Column:
    """The head of a column.

    Attributes
    ----------
    title : str
        What stands above it.
    key : str
        What it is called in CSV.
    group : str
        What stands above it and its neighbours.
    measure : str
        Of which measure it is, if it can be chosen by that.
    spread : bool
        Whether its cells have a standard deviation; in CSV that is a column of its own.
    text : bool
        Whether it holds words.

    Examples
    --------
    >>> Column("AUC", "auc").text
    False
    """

    title: str
    key: str
    group: str = ""
    measure: str = ""
    spread: bool = False
    text: bool = False


@dataclass(frozen=True)
class Row:
    """One row, and of which data set and method it is.

    Examples
    --------
    >>> Row([Cell("BR"), Cell("61.2", 0.612)], method="br").method
    'br'
    """

    cells: list[Cell]
    dataset: str = ""
    method: str = ""


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    name : str
        Of its files.
    caption : str
        What it shows.
    columns : list of Column
        The heads.
    rows : list of Row
        The rows, with a cell for each column.
    foot : list of Row
        Rows at the end that are not sorted.

    Examples
    --------
    >>> table = Table("yeast", "AUC on yeast", [Column("Method", "method", text=True), Column("AUC", "auc")],
    ...               [Row([Cell("BR"), Cell("61.2", 0.612, bold=True)])])
    >>> print(table.to_csv())
    method,auc
    BR,0.612
    >>> print(table.to_markdown())
    AUC on yeast
    <BLANKLINE>
    | Method | AUC |
    |:--|--:|
    | BR | **61.2** |
    """

    name: str
    caption: str
    columns: list[Column]
    rows: list[Row]
    foot: list[Row] = field(default_factory=list)

    @property
    def marks(self) -> dict[str, str]:
        """The mark of each note, in the order of the notes."""
        notes = dict.fromkeys(cell.note for row in [*self.rows, *self.foot] for cell in row.cells if cell.note)
        return {note: _MARKS[k % len(_MARKS)] * (1 + k // len(_MARKS)) for k, note in enumerate(notes)}

    def to_csv(self) -> str:
        """Return the table with unrounded figures.

        Returns
        -------
        str
            A line a row, the foot left out.
        """
        heads: list[str] = []
        for column in self.columns:
            heads += [column.key, f"{column.key}_std"] if column.spread else [column.key]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(map(as_text, heads))
        for row in self.rows:
            values: list[object] = []
            for column, cell in zip(self.columns, row.cells, strict=True):
                missing = "" if cell.text == NOTHING else cell.text
                values.append(missing if cell.value is None else cell.value)
                if column.spread:
                    values.append("" if cell.spread is None or math.isnan(cell.spread) else cell.spread)
            writer.writerow(map(as_text, values))
        return out.getvalue().rstrip("\n")

    def to_markdown(self) -> str:
        """Return the table as Markdown, figures as they are shown.

        Returns
        -------
        str
            The caption, the table and its notes.
        """
        marks = self.marks
        heads = [_markdown(f"{column.group} {column.title}".strip()) for column in self.columns]
        lines = [
            _markdown(self.caption),
            "",
            _line(heads),
            "|" + "|".join(":--" if column.text else "--:" for column in self.columns) + "|",
        ]
        for row in [*self.rows, *self.foot]:
            texts = [_markdown(cell.text + marks.get(cell.note, "")) for cell in row.cells]
            lines.append(_line([f"**{t}**" if c.bold else t for t, c in zip(texts, row.cells, strict=True)]))
        for note, mark in marks.items():
            lines += ["", _markdown(f"{mark} {note}")]
        return "\n".join(lines)

    def to_latex(self) -> str:
        """Return the table as LaTeX, to be used with the package ``booktabs``.

        Returns
        -------
        str
            A ``table`` with its caption, a label of its name, ``tab:...``, and its notes.
        """
        marks = self.marks
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex(self.caption)}}}",
            rf"\label{{tab:{re.sub(r'[^A-Za-z0-9-]+', '-', self.name)}}}",
            r"\begin{tabular}{" + "".join("l" if column.text else "r" for column in self.columns) + "}",
            r"\toprule",
        ]
        if any(column.group for column in self.columns):
            spans = [(group, len(list(same))) for group, same in groupby(column.group for column in self.columns)]
            lines.append(
                _latex_line(
                    rf"\multicolumn{{{width}}}{{c}}{{{_latex(group)}}}" if group else " & " * (width - 1)
                    for group, width in spans
                )
            )
        lines += [_latex_line(_latex(column.title) for column in self.columns), r"\midrule"]
        for place, row in enumerate([*self.rows, *self.foot]):
            if self.foot and place == len(self.rows):
                lines.append(r"\midrule")
            texts = [_latex(cell.text + marks.get(cell.note, "")) for cell in row.cells]
            lines.append(
                _latex_line(rf"\textbf{{{t}}}" if c.bold else t for t, c in zip(texts, row.cells, strict=True))
            )
        lines += [r"\bottomrule", r"\end{tabular}"]
        lines += [rf"\par{{\footnotesize {_latex(f'{mark} {note}')}}}" for note, mark in marks.items()]
        return "\n".join([*lines, r"\end{table}"])


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown(text: str) -> str:
    text = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]|#])", r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    MINUS: r"$-$",
    NOTHING: "--",
    "▲": r"$\uparrow$",
    "▼": r"$\downarrow$",
    "✓": r"$+$",
    "✗": r"$-$",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "§": r"\S{}",
    "¶": r"\P{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}


def _latex_line(cells: Iterable[str]) -> str:
    line = " & ".join(cells) + r" \\"
    # What ends the line before, or a rule, would take these for its own argument.
    return "{}" + line if line.startswith(("[", "*")) else line


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in " ".join(text.split()))


def number(value: float | None, digits: int = 2, *, sign: bool = False) -> str:
    """Write a number with so many digits behind the point.

    Parameters
    ----------
    value : float or None
        The number.
    digits : int, default=2
        Digits behind the point.
    sign : bool, default=False
        Whether a plus is written too.

    Returns
    -------
    str
        The text; a dash where there is no number.

    Examples
    --------
    >>> number(1.005, 1), number(0.25, sign=True), number(float("nan"))
    ('1.0', '+0.25', '–')
    """
    if value is None or math.isnan(value):
        return NOTHING
    text = f"{value:{'+' if sign else ''}.{digits}f}"
    if not any(digit in "123456789" for digit in text):
        text = text.lstrip("+-")  # no minus before a zero
    return text.replace("-", MINUS)


def percent(value: float | None, spread: float | None = None, digits: int = 2) -> str:
    """Write a share in percent, with its standard deviation.

    Parameters
    ----------
    value, spread : float or None
        The share and its standard deviation.
    digits : int, default=2
        Digits behind the point.

    Returns
    -------
    str
        Without the sign of percent.

    Examples
    --------
    >>> percent(0.72832, 0.01567)
    '72.83 ± 1.57'
    """
    text = number(None if value is None else 100.0 * value, digits)
    if text == NOTHING or spread is None or math.isnan(spread):
        return text
    return f"{text} ± {number(100.0 * spread, digits)}"


def seconds(value: float | None) -> str:
    """Write a time with about three digits that count.

    Parameters
    ----------
    value : float or None
        Seconds, or a ratio of them.

    Returns
    -------
    str
        Without unit.

    Examples
    --------
    >>> seconds(0.01234), seconds(3.21), seconds(1234.5)
    ('0.0123', '3.21', '1234')
    """
    if value is None or math.isnan(value):
        return NOTHING
    if value <= 0.0:
        return "0"
    return f"{value:.{max(0, min(6, 2 - math.floor(math.log10(value))))}f}"


def p_value(value: float) -> str:
    """Write a p-value.

    Parameters
    ----------
    value : float
        Between 0 and 1, or NaN.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> p_value(0.0375), p_value(0.00002), p_value(float("nan"))
    ('0.037', '< 0.001', '–')
    """
    if math.isnan(value):
        return NOTHING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
