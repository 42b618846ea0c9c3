"""The form of a table's labels: where they are and how they are written, to read and write them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from smtl.datasets.errors import shown
from smtl.tables.label_cells import Cells, column_of, listed, number_text, plain_cells
from smtl.tables.label_json import checked
from smtl.tables.tags import Tags, Writing, read_tags, tags_written
from smtl.tables.values import MISSING
from smtl.tables.yes_no import Word, read_yes_no

__all__ = ["LabelForm"]

Kind: TypeAlias = Literal["columns", "tags", "class"]


@dataclass(frozen=True)
class LabelForm:
    r"""Where the labels of a table are, and how they are written.

    Attributes
    ----------
    kind : {"columns", "tags", "class"}
        A yes/no column for each label, one column with several tags in a cell, or one column with one class a row.
    columns : tuple of str
        The columns.
    names : tuple of str
        The labels: names of columns, without the prefix that they were found by; tags; classes.
    yes, no : tuple of str, int, float or bool
        Of "columns": what each column has for yes and no.
    cells : {"text", "json", "python", "list"}
        Of "tags": text with a separator, lists as text (in JSON or as Python prints them), or a column of lists.
    separator : str or None
        Of "tags" that are text: what stands between them.
    rows : int
        The number of rows that the form was found in.
    counts : tuple of int
        In how many of them each label was yes.
    missing : tuple of int
        Of each column: in how many rows it was not known.
    guessed : tuple of str
        Columns with words that are not known: the larger number, or else the rarer word, was taken for yes.

    Examples
    --------
    >>> from smtl.tables.labels import find_labels
    >>> table = pa.table({"age": [31, 40, 22], "churned": ["Y", "N", "N"], "late": [1, None, 0]})
    >>> form = find_labels(table, labels=["churned", "late"])
    >>> form.read(table)
    array([[ 1.,  1.],
           [ 0., nan],
           [ 0.,  0.]])
    >>> print(*form.notes(), sep="\n")
    'churned': yes is 'Y' (1 of 3 rows), no is 'N'
    'late': yes is 1 (1 of 3 rows), no is 0; not known in 1 row
    >>> form.written([[0, 1]])
    {'churned': ['N'], 'late': [1]}
    >>> LabelForm.from_json(form.to_json()) == form
    True
    """

    kind: Kind
    columns: tuple[str, ...]
    names: tuple[str, ...]
    yes: tuple[Word, ...] = ()
    no: tuple[Word, ...] = ()
    cells: str = "text"
    separator: str | None = None
    rows: int = 0
    counts: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    guessed: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the form as plain JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, value: Any) -> LabelForm:
        """Return the form that `to_json` has written; every value is checked.

        Parameters
        ----------
        value : dict
            What `to_json` returns.

        Returns
        -------
        LabelForm
            The form.

        Raises
        ------
        ValueError
            For anything else.
        """
        return cls(**checked(value))

    def read(self, table: pa.Table) -> npt.NDArray[Any]:
        """Read the labels of a table.

        Parameters
        ----------
        table : Table
            The table that the form was found in, or a new one with the same columns.

        Returns
        -------
        ndarray
            Of yes/no columns and tags shape (n_rows, n_labels): int8, or float64 with NaN where something is not
            known. Of classes shape (n_rows,): text, and None where it is not known. Tags and classes that the form
            does not have are left out, see `unknown`.
        """
        if self.kind == "class":
            cells = plain_cells(table, self.columns[0])
            places = _places(cells, self.names)
            found: npt.NDArray[Any] = np.array([*self.names, None], dtype=object)
            return np.asarray(found[np.append(places, -1)[cells.codes]])
        if self.kind == "tags":
            tags = read_tags(column_of(table, self.columns[0]), self.columns[0], self._writing)
            return self._tag_matrix(tags)
        Y = np.empty((table.num_rows, len(self.columns)), dtype=np.int8)
        for j, name in enumerate(self.columns):
            Y[:, j] = read_yes_no(name, plain_cells(table, name), self.yes[j], self.no[j])
        return _with_nan(Y)

    @property
    def _writing(self) -> Writing:
        return Writing(self.cells, self.separator)

    def _tag_matrix(self, tags: Tags) -> npt.NDArray[Any]:
        place = {name: j for j, name in enumerate(self.names)}
        label = np.array([*(place.get(tag, -1) for tag in tags.tags), -1])[tags.codes]
        Y = np.zeros((len(tags.known), len(self.names)), dtype=np.int8)
        known = label >= 0
        Y[tags.rows[known], label[known]] = 1
        Y[~tags.known] = -1
        return _with_nan(Y)

    def unknown(self, table: pa.Table) -> dict[str, int]:
        """Return the tags or classes of a table that the form does not have, the most frequent first.

        Parameters
        ----------
        table : Table
            A new table.

        Returns
        -------
        dict
            The number of rows of each. Of yes/no columns there are none: `read` refuses them.

        Examples
        --------
        >>> from smtl.tables.labels import find_labels
        >>> form = find_labels(pa.table({"topics": ["a;b", "a"]}), tags="topics")
        >>> form.unknown(pa.table({"topics": ["a;c", "c", "b"]}))
        {'c': 2}
        """
        found: dict[str, int] = {}
        if self.kind == "class":
            cells = plain_cells(table, self.columns[0])
            places = _places(cells, self.names)
            for text, place, count in zip(cells.texts, places.tolist(), cells.counts.tolist(), strict=True):
                if place < 0 and text is not None and text not in MISSING:
                    found[text] = found.get(text, 0) + count
        elif self.kind == "tags":
            tags = read_tags(column_of(table, self.columns[0]), self.columns[0], self._writing)
            names = set(self.names)
            found = {tag: n for tag, n in zip(tags.tags, tags.counts(), strict=True) if tag not in names}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def written(self, answers: Any) -> dict[str, list[Any]]:
        """Write answers as the labels of the table are written.

        Parameters
        ----------
        answers : array-like
            Of yes/no columns and tags shape (n_rows, n_labels), 0 or 1, NaN for "not known". Of classes shape
            (n_rows,), their names, None for "not known".

        Returns
        -------
        dict
            The cells of each column; None for "not known".

        Examples
        --------
        >>> from smtl.tables.labels import find_labels
        >>> form = find_labels(pa.table({"topics": ["a; b", "b; c"]}), tags="topics")
        >>> form.written([[1, 0, 1], [0, 0, 0]])
        {'topics': ['a; c', '']}
        """
        if self.kind == "class":
            return {self.columns[0]: _known_classes(answers, self.names)}
        Y = np.asarray(answers, dtype=np.float64)
        if Y.ndim != 2 or Y.shape[1] != len(self.names) or not (np.isin(Y, (0, 1)) | np.isnan(Y)).all():
            raise ValueError(f"answers must be 0 or 1, of shape (n_rows, {len(self.names)}), got {Y.shape} instead.")
        if self.kind == "tags":
            rows, labels = np.nonzero(Y == 1)
            tags = np.array(self.names, dtype=object)[labels].tolist()
            ends = np.searchsorted(rows, np.arange(len(Y) + 1)).tolist()
            holes = np.isnan(Y.sum(axis=1)).tolist()
            cells = (None if hole else tags[a:b] for hole, (a, b) in zip(holes, pairwise(ends), strict=True))
            return {self.columns[0]: tags_written(cells, self._writing)}
        return {
            name: [None if y != y else self.yes[j] if y else self.no[j] for y in Y[:, j].tolist()]
            for j, name in enumerate(self.columns)
        }

    def notes(self) -> list[str]:
        """Return what was decided, one line each."""
        if self.kind == "columns":
            return [self._column_note(j) for j in range(len(self.columns))]
        often = sorted(range(len(self.names)), key=lambda j: -self.counts[j])
        shares = [f"{shown(self.names[j])} ({self.counts[j]:,} of {self.rows:,} rows)" for j in often[:1]]
        shares += [f"{shown(self.names[j])} ({self.counts[j]:,})" for j in often[1:5]]
        of_lists = {"json": "in JSON lists", "python": "in lists", "list": "in lists"}
        how = "" if self.kind == "class" else f" {of_lists.get(self.cells, f'separated by {self.separator!r}')}"
        what = "classes" if self.kind == "class" else "tag" if len(self.names) == 1 else "tags"
        more = ", ..." if len(often) > 5 else ""
        note = f"{shown(self.columns[0])}: {len(self.names):,} {what}{how}, {', '.join(shares)}{more}"
        note += self._missing_note(0)
        many = self.kind == "class" and len(self.names) > 20 and 2 * len(self.names) > self.rows
        return [f"{note}; so many classes may be names of the rows and no labels" if many else note]

    def _column_note(self, j: int) -> str:
        column, yes, no = self.columns[j], shown(self.yes[j]), shown(self.no[j])
        note = f"{shown(column)}: yes is {yes} ({self.counts[j]:,} of {self.rows:,} rows), no is {no}"
        if column in self.guessed:
            numbers = number_text(str(self.yes[j])) is not None and number_text(str(self.no[j])) is not None
            note += f"; a guess, since it is the {'larger' if numbers else 'rarer'} value: --yes says otherwise"
        return note + self._missing_note(j)

    def _missing_note(self, j: int) -> str:
        n = self.missing[j]
        return f"; not known in {n:,} {'row' if n == 1 else 'rows'}" if n else ""


def _places(cells: Cells, names: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """Return the position of each distinct value among the names, -1 where it is not there."""
    place = {name: j for j, name in enumerate(names)}
    found = [place.get(text or "", -1) for text in cells.texts]
    if -1 in found and not any(isinstance(value, str) for value in cells.values[:1]):
        # The names may be numbers as they were typed, such as "1.0", where the column had words as well.
        of_number = {number_text(names[j]): j for j in reversed(range(len(names)))}
        of_number[None] = -1
        texts = zip(found, cells.texts, strict=True)
        found = [of_number.get(number_text(text or ""), -1) if j < 0 else j for j, text in texts]
    return np.array(found, dtype=np.int64)


def _with_nan(Y: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
    """Return labels with NaN in place of -1, if there is one."""
    return np.where(Y < 0, np.nan, Y) if (Y < 0).any() else Y


def _known_classes(answers: Any, names: tuple[str, ...]) -> list[str | None]:
    """Return classes as plain text; all must be known."""
    classes = np.asarray(answers, dtype=object)
    if classes.ndim != 1:
        raise ValueError(f"answers must be classes, of shape (n_rows,), got shape {classes.shape} instead.")
    found = [None if answer is None else str(answer) for answer in classes.tolist()]
    other = set(found) - {*names, None}
    if other:
        got = shown(min(map(str, other)))
        raise ValueError(f"answers must be classes of the form, got {got} instead; they are {listed(names)}.")
    return found
