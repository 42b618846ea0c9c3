"""Tables and pictures as HTML, every name escaped, each element with the marks by which the page filters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby

from smtl.experiments.diagrams import Mark
from smtl.experiments.naming import about
from smtl.experiments.tables import Cell, Column, Row, Table
from smtl.pages import framed_table

__all__ = ["Names", "attributes", "cell_class", "table"]

_FAMILIES = {"SMTL": "smtl", "MTL-CLS": "cls", "MTL-REG": "reg"}
# Words longer than this are wrapped.
_LONG = 40


@dataclass(frozen=True)
class Names:
    """What data sets and methods are called in the page, and by which number they are filtered.

    Attributes
    ----------
    title : dict of str to str
        Of data sets and methods.
    datasets, methods : list of str
        In the order of their numbers.

    Examples
    --------
    >>> names = Names({"yeast": "Yeast", "br": "BR"}, ["yeast"], ["br"])
    >>> names.mark("br")
    Mark(title='BR', family='other', key='0', place=0)
    """

    title: dict[str, str]
    datasets: list[str]
    methods: list[str]

    def mark(self, method: str) -> Mark:
        """Return how a method is drawn.

        Parameters
        ----------
        method : str
            Its name.

        Returns
        -------
        Mark
            With its place among those of its family.
        """
        family = family_of(method)
        place = [other for other in self.methods if family_of(other) == family].index(method)
        return Mark(self.title[method], family, str(self.methods.index(method)), place)


def family_of(method: str) -> str:
    """Return the class of a method's family.

    Parameters
    ----------
    method : str
        Its name.

    Returns
    -------
    str
        As in the style sheet.

    Examples
    --------
    >>> family_of("smtl-auc-l21"), family_of("sklearn.svm.SVC")
    ('smtl', 'other')
    """
    known = about(method)
    return _FAMILIES.get(known.family, "other") if known else "other"


def attributes(names: Names, dataset: str = "", method: str = "", measure: str = "") -> str:
    """Return the marks by which an element is filtered.

    Parameters
    ----------
    names : Names
        The numbers.
    dataset, method, measure : str, optional
        Of which it is.

    Returns
    -------
    str
        Attributes with a blank before each.

    Examples
    --------
    >>> attributes(Names({}, ["yeast"], ["br"]), "yeast", "br", "auc")
    ' data-d="0" data-m="0" data-k="auc"'
    """
    out = ""
    if dataset in names.datasets:
        out += f' data-d="{names.datasets.index(dataset)}"'
    if method in names.methods:
        out += f' data-m="{names.methods.index(method)}"'
    if measure:
        out += f' data-k="{escape(measure)}"'
    return out


def cell_class(cell: Cell, *, words: bool = False) -> str:
    """Return the classes of a cell.

    Parameters
    ----------
    cell : Cell
        The cell.
    words : bool, default=False
        Whether it stands in a column of words.

    Returns
    -------
    str
        Separated by blanks.

    Examples
    --------
    >>> cell_class(Cell("1", bold=True, tone=-2)), cell_class(Cell("x" * 50), words=True)
    ('b d2', 'w wrap')
    """
    classes = ["w"] if words else []
    if words and len(cell.text) > _LONG:
        classes.append("wrap")
    if cell.bold:
        classes.append("b")
    if cell.tone:
        classes.append(f"{'u' if cell.tone > 0 else 'd'}{abs(cell.tone)}")
    return " ".join(classes)


def _kind(classes: str) -> str:
    return f' class="{classes}"' if classes else ""


def _heads(columns: list[Column], names: Names) -> str:
    """Return the head of a table: one line, or two where columns are in groups."""
    two = any(column.group and column.title for column in columns)
    first, second = [], []
    for group, same in groupby(enumerate(columns), key=lambda pair: pair[1].group):
        members = list(same)
        marks = attributes(names, measure=members[0][1].measure)
        if group and any(column.title for _, column in members):
            first.append(f'<th scope="colgroup" colspan="{len(members)}"{marks}>{escape(group)}</th>')
            second += [_head(place, column, column.title, marks) for place, column in members]
        else:
            span = ' rowspan="2"' if two else ""
            for place, column in members:
                first.append(
                    _head(place, column, column.title or group, attributes(names, measure=column.measure) + span)
                )
    lines = [first, second] if two else [first]
    return "".join(f"<tr>{''.join(line)}</tr>" for line in lines)


def _head(place: int, column: Column, title: str, marks: str) -> str:
    return f'<th scope="col" data-c="{place}"{_kind("w" if column.text else "")}{marks}>{escape(title)}</th>'


def _row(row: Row, columns: list[Column], names: Names, notes: Mapping[str, str]) -> str:
    cells = []
    for place, (column, cell) in enumerate(zip(columns, row.cells, strict=True)):
        tag, scope = ("th", ' scope="row"') if place == 0 else ("td", "")
        note = f' title="{escape(cell.note)}"' if cell.note else ""
        marks = _kind(cell_class(cell, words=column.text)) + attributes(names, measure=column.measure)
        # The end of a cell may be left out in HTML; with thousands of them that counts.
        cells.append(f"<{tag}{scope}{marks}{note}>{escape(cell.text + notes.get(cell.note, ''))}")
    return f"<tr{attributes(names, row.dataset, row.method)}>{''.join(cells)}\n"


def table(of: Table, names: Names, name: str, *, marks: str = "", long: bool = False) -> str:
    """Return a table in a box of its own that scrolls.

    Parameters
    ----------
    of : Table
        The table.
    names : Names
        Of data sets and methods.
    name : str
        The element's id.
    marks : str, optional
        Attributes by which the whole is filtered.
    long : bool, default=False
        Whether it is so long that it scrolls up and down as well.

    Returns
    -------
    str
        A ``figure`` element.

    Examples
    --------
    >>> of = Table("t", "A & B", [Column("Method", "method", text=True)], [Row([Cell("<BR>")], method="br")])
    >>> print(table(of, Names({}, [], ["br"]), "t"))
    <figure><figcaption id="t-caption">A &amp; B</figcaption><div class="box" tabindex="0" role="region"
    aria-labelledby="t-caption"><table id="t" aria-labelledby="t-caption"><thead><tr><th scope="col" data-c="0"
    class="w">Method</th></tr></thead><tbody><tr data-m="0"><th scope="row" class="w">&lt;BR&gt;
    </tbody></table></div></figure>
    """
    notes = of.marks
    below = "".join(f'<p class="muted">{mark} {escape(note)}</p>' for note, mark in notes.items())
    foot = "".join(_row(row, of.columns, names, notes) for row in of.foot)
    inside = (
        f"<thead>{_heads(of.columns, names)}</thead>"
        f"<tbody>{''.join(_row(row, of.columns, names, notes) for row in of.rows)}</tbody>"
        f"{f'<tfoot>{foot}</tfoot>' if foot else ''}"
    )
    return framed_table(name, of.caption, inside, marks=marks, below=below, long=long)
