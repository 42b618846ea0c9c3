"""Columns of text as numbers and codes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from smtl.datasets.columns import Roles, sorted_values
from smtl.datasets.errors import shown
from smtl.datasets.nominal import Column, number
from smtl.tables.types import is_number, numbers_of, trimmed
from smtl.tables.values import MISSING

__all__ = ["TextColumns"]

_LABELS = {"0": 0.0, "1": 1.0, "false": 0.0, "true": 1.0}


class TextColumns:
    """What becomes of the columns of a table of text.

    Parameters
    ----------
    names : sequence of str
        The columns.
    roles : Roles
        What each is for.
    categorical : collection of int
        Columns that are nominal whatever their cells are.
    decimal : str
        The decimal sign.

    Attributes
    ----------
    columns : list of Column
        The columns, those that are nominal with their values in order; there once `numbers` was called.
    fault : tuple of int, int and callable, or None
        The row and the column of the first cell that is not what it must be, and what makes an error's message of its
        text.
    """

    def __init__(self, names: Sequence[str], roles: Roles, categorical: Collection[int], decimal: str) -> None:
        self.names, self.roles, self.decimal = names, roles, decimal
        self.nominal = {*categorical, roles.of_class, roles.task} - {None, *roles.labels}
        self.columns: list[Column] = []
        self.fault: tuple[int, int, Callable[[str], str]] | None = None

    def numbers(self, tables: Sequence[Any]) -> npt.NDArray[np.float64]:
        """Return numbers, and codes where a column is nominal."""
        table = pa.concat_tables(tables)
        result = np.full(table.shape, np.nan)
        suspects: list[tuple[int, int]] = []  # where a column of numbers seems to begin with something else
        for j, cells in enumerate(table.columns):
            column = Column(self.names[j])
            if j not in self.roles.ignored:
                result[:, j], column = self._column(j, cells, suspects)
            self.columns.append(column)
        if self.fault is None and suspects:
            row, j = min(suspects, key=lambda place: place[1])
            self._blame(row, j, "a number")
        return result

    def _column(self, j: int, cells: Any, suspects: list[tuple[int, int]]) -> tuple[npt.NDArray[np.float64], Column]:
        if j in (self.roles.of_class, self.roles.task):
            words = pc.utf8_trim_whitespace(cells)
            if j == self.roles.task and words.null_count:
                self._blame(pc.index(pc.is_null(words), True).as_py(), j, "a task")
            return self._codes(j, words)
        words = trimmed(cells)
        if j in self.roles.labels:
            return self._labels(j, words), Column(self.names[j])
        if j in self.nominal:
            return self._codes(j, words)
        if words.null_count == len(words):
            return np.full(len(words), np.nan), Column(self.names[j])
        first = pc.index(pc.is_valid(words), True).as_py()
        if is_number(words[first].as_py(), self.decimal):
            return self._numbers(j, words), Column(self.names[j])
        codes, column = self._codes(j, words)
        counts = np.bincount(codes[~np.isnan(codes)].astype(np.intp))
        n_numbers = sum(
            int(n) for value, n in zip(column.values or (), counts, strict=True) if is_number(value, self.decimal)
        )
        if 2 * n_numbers > counts.sum() - 1:  # most of the others
            suspects.append((first, j))
        return codes, column

    def _numbers(self, j: int, words: Any) -> npt.NDArray[np.float64]:
        found = numbers_of(words, self.decimal)
        if found is None:
            wrong = [word.as_py() for word in words.unique() if not is_number(word.as_py() or "", self.decimal)]
            self._blame(_first(words, wrong), j, "a number")
            return np.full(len(words), np.nan)
        infinite = pc.is_inf(found)
        if pc.any(infinite).as_py():
            self._blame(pc.index(infinite, True).as_py(), j, "finite")
        return _floats(found)

    def _labels(self, j: int, words: Any) -> npt.NDArray[np.float64]:
        encoded = words.combine_chunks().dictionary_encode()
        wrong, values = [], []
        for word in encoded.dictionary.to_pylist():
            try:
                values.append(_label(word, self.decimal))
            except ValueError:
                wrong.append(word)
                values.append(np.nan)
        if wrong:
            self._blame(_first(words, wrong), j, "0 or 1")
        return _taken(encoded, values)

    def _codes(self, j: int, words: Any) -> tuple[npt.NDArray[np.float64], Column]:
        encoded = words.combine_chunks().dictionary_encode()
        found = encoded.dictionary.to_pylist()
        values = sorted_values(found)
        position = {value: float(code) for code, value in enumerate(values)}
        return _taken(encoded, [position[value] for value in found]), Column(self.names[j], tuple(values))

    def _blame(self, row: int, j: int, kind: str) -> None:
        """Keep a fault if it is the first."""
        if self.fault is None or (row, j) < self.fault[:2]:
            self.fault = row, j, partial(self._message, self.names[j], kind)

    @staticmethod
    def _message(name: str, kind: str, cell: str) -> str:
        advice = f"; if the column is nominal, pass categorical=[{name!r}]" if kind == "a number" else ""
        return f"{shown(name)} must be {kind}, got {shown(cell.strip())} instead{advice}."


def _first(words: Any, wrong: Sequence[str]) -> int:
    row: int = pc.index(pc.is_in(words, pa.array(wrong, pa.string())), True).as_py()
    return row


def _floats(found: Any) -> npt.NDArray[np.float64]:
    return np.asarray(found.to_numpy(), dtype=np.float64)


def _taken(encoded: Any, values: Sequence[float]) -> npt.NDArray[np.float64]:
    """Return the value of each code, and NaN where there is none."""
    codes = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    table: npt.NDArray[np.float64] = np.array([*values, np.nan])
    found: npt.NDArray[np.float64] = table[codes]
    return found


def _label(word: str, decimal: str) -> float:
    if word.lower() in _LABELS:
        return _LABELS[word.lower()]
    if word in MISSING or not is_number(word, decimal):
        raise ValueError(word)
    value = number(word.replace(decimal, "."))
    if value not in (0, 1) and value == value:
        raise ValueError(word)
    return value
