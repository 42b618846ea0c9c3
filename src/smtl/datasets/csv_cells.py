"""The rows of a CSV file, and its cells as numbers."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from smtl.datasets.columns import Roles, sorted_values
from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.files import Source, text_blocks
from smtl.datasets.nominal import Column, number

__all__ = ["EMPTY", "MISSING", "Cells", "Records"]

# Cells without a value. Classes and tasks go by names of the user's choice, and only the first of these are none there.
EMPTY = frozenset({"", "?", "NA"})
MISSING = EMPTY | {"NULL", "null", "None", "N/A", "n/a", "na", "nan", "NaN", "#N/A", "-"}
_LABELS = {"0": 0.0, "1": 1.0, "false": 0.0, "true": 1.0}
# Cells that are converted at a time.
_CELLS = 2**18


class Records:
    """Records of a CSV file, and the raw lines of the last ones, to find the place of a fault in."""

    def __init__(self, path: Source, separator: str, skip: int, max_bytes: int | None) -> None:
        self.path, self.separator, self.line = path, separator, 0
        self.lines: list[str] = []
        self.starts: list[int] = []  # where in `lines` each record begins
        self.first = 1  # the line number of lines[0]
        source = self._lines(max_bytes)
        for _ in range(skip):
            next(source, None)
        self.forget()
        self.rows: Iterator[list[str]] = self._rows(source)

    def _lines(self, max_bytes: int | None) -> Iterator[str]:
        for _, text in text_blocks(self.path, max_bytes):
            for line in text.split("\n"):
                self.line += 1
                self.lines.append(line)
                yield line + "\n"

    def _rows(self, source: Iterator[str]) -> Iterator[list[str]]:
        reader = csv.reader(source, delimiter=self.separator, skipinitialspace=True, strict=True)
        while True:
            start = len(self.lines)
            try:
                row = next(reader, None)
            except csv.Error as error:
                place = self.first + start if start < len(self.lines) else self.line
                raise DatasetError(f"a row must be CSV, got a fault: {error}.", self.path, place) from None
            if row is None:
                return
            if row:
                self.starts.append(start)
                yield row

    def forget(self) -> None:
        """Drop the lines that are read."""
        self.lines.clear()
        self.starts.clear()
        self.first = self.line + 1

    def batches(self, n_columns: int) -> Iterator[list[list[str]]]:
        """Return the rows, some at a time, all with as many cells as there are columns."""
        size = max(_CELLS // n_columns, 1)
        batch: list[list[str]] = []
        for row in self.rows:
            if len(row) != n_columns:
                # The rows above may have a fault of their own, which then is the first.
                if batch:
                    last = self.starts.pop()
                    yield batch
                    self.starts.append(last)
                    batch = []
                message = f"a row must have {n_columns} cells, as the first has, got {len(row)} instead."
                raise self.error(message, len(self.starts) - 1, min(n_columns, len(row)))
            batch.append(row)
            if len(batch) == size:
                yield batch
                batch = []
                self.forget()
        if batch:
            yield batch

    def record(self, row: int) -> tuple[int, str]:
        """Return the line that one of the last rows begins in, and its text."""
        line = self.starts[row]
        end = self.starts[row + 1] if row + 1 < len(self.starts) else len(self.lines)
        return self.first + line, "\n".join(self.lines[line:end])

    def error(self, message: str, row: int, cell: int) -> DatasetError:
        """Return the error for a cell of one of the last rows."""
        return self.error_in(message, self.record(row), cell)

    def error_in(self, message: str, record: tuple[int, str], cell: int) -> DatasetError:
        """Return the error for a cell of a row that `record` has returned."""
        line, text = record
        quoted, column = False, 1
        for character in text:
            if cell == 0 and not (character == " " and not quoted):
                break
            if character == '"':
                quoted = not quoted
            if character == "\n":
                line, column = line + 1, 0
            elif character == self.separator and not quoted:
                cell -= 1
            column += 1
        return DatasetError(message, self.path, line, column)


class Cells:
    """Columns as numbers and codes, batch by batch."""

    def __init__(self, names: list[str], roles: Roles, categorical: Collection[int]) -> None:
        self.names, self.roles = names, roles
        self.parts: list[npt.NDArray[np.float64]] = []
        # How a column's cells become numbers; None until its first value shows whether it is numeric.
        self.convert: list[Callable[[str], float] | None] = [None] * len(names)
        self.codes: list[dict[str, float] | None] = [None] * len(names)
        # Of columns that are nominal because of their first value: that, and the row it stands in.
        self.firsts: dict[int, tuple[str, tuple[int, str]]] = {}
        self.missing = [EMPTY if j in (roles.of_class, roles.task) else MISSING for j in range(len(names))]
        for j in roles.labels:
            self.convert[j] = _label
        words = [j for j in (*categorical, roles.of_class, roles.task) if j is not None]
        for j in set(words) - set(roles.labels):
            self._make_nominal(j)

    def _make_nominal(self, j: int) -> None:
        codes: dict[str, float] = {}
        self.codes[j] = codes
        self.convert[j] = lambda cell: codes.setdefault(cell.strip(), float(len(codes)))

    def add(self, batch: list[list[str]], records: Records) -> None:
        """Add rows."""
        part = np.empty((len(batch), len(self.names)))
        faults: list[tuple[int, int]] = []
        for j, column in enumerate(zip(*batch, strict=True)):
            if j in self.roles.ignored:
                part[:, j] = np.nan
                continue
            self._decide(j, column, records)
            try:
                part[:, j] = self._column(j, column)
            except ValueError:
                faults.append((next(i for i, cell in enumerate(column) if not self._is_fine(j, cell)), j))
        if faults:
            i, j = min(faults)
            raise records.error(self._message(j, batch[i][j]), i, j)
        self.parts.append(part)

    def _message(self, j: int, cell: str) -> str:
        kind = "0 or 1" if self.convert[j] is _label else "a number" if j != self.roles.task else "a task"
        advice = f"; if the column is nominal, pass categorical=[{self.names[j]!r}]" if kind == "a number" else ""
        return f"{shown(self.names[j])} must be {kind}, got {shown(cell)} instead{advice}."

    def _decide(self, j: int, column: Sequence[str], records: Records) -> None:
        if self.convert[j] is None:
            values = ((i, cell.strip()) for i, cell in enumerate(column))
            i, first = next(((i, cell) for i, cell in values if cell not in MISSING), (-1, ""))
            if first and _is_number(first):
                self.convert[j] = number
            elif first:
                self._make_nominal(j)
                self.firsts[j] = first, records.record(i)

    def _column(self, j: int, column: Sequence[str]) -> list[float]:
        convert = self.convert[j]
        if convert is number:
            joined = "".join(column)
            if joined.isascii() and "_" not in joined:
                try:
                    return list(map(float, column))
                except ValueError:
                    pass
        missing = self.missing[j]
        if j == self.roles.task and any(cell.strip() in missing for cell in column):
            raise ValueError("a row without a task")
        return [np.nan if convert is None or cell.strip() in missing else convert(cell) for cell in column]

    def _is_fine(self, j: int, cell: str) -> bool:
        try:
            self._column(j, [cell])
        except ValueError:
            return False
        return True

    def finish(self, records: Records) -> tuple[npt.NDArray[np.float64], list[Column]]:
        """Return the table, and its columns with their values in order."""
        table = np.vstack(self.parts)
        columns = []
        for j, (name, codes) in enumerate(zip(self.names, self.codes, strict=True)):
            if codes is None:
                columns.append(Column(name))
                continue
            self._check_first(j, codes, table[:, j], records)
            values = sorted_values(codes)
            order = np.full(len(values) + 1, np.nan)
            order[[int(codes[value]) for value in values]] = np.arange(len(values))
            table[:, j] = order[np.where(np.isnan(table[:, j]), len(values), table[:, j]).astype(np.intp)]
            columns.append(Column(name, tuple(values)))
        return table, columns

    def _check_first(self, j: int, codes: dict[str, float], column: npt.NDArray[np.float64], records: Records) -> None:
        """Refuse a column of numbers that would be nominal only because it begins with something else."""
        if j not in self.firsts:
            return
        first, record = self.firsts[j]
        rows = np.bincount(column[~np.isnan(column)].astype(np.intp))
        n_numbers = sum(int(rows[int(code)]) for value, code in codes.items() if _is_number(value))
        if 2 * n_numbers > rows.sum() - 1:  # most of the others
            raise records.error_in(self._message(j, first), record, j)


def _is_number(cell: str) -> bool:
    try:
        number(cell)
    except ValueError:
        return False
    return True


def _label(cell: str) -> float:
    cell = cell.strip().lower()
    if cell in _LABELS:
        return _LABELS[cell]
    value = number(cell)
    if value not in (0, 1) and value == value:
        raise ValueError(cell)
    return value
