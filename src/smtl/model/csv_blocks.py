"""CSV in blocks of whole records, and their cells: compiled for what is plain, cell by cell for what is not."""

from __future__ import annotations

import csv
import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.datasets.csv_cells import EMPTY, MISSING
from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.files import Source
from smtl.datasets.nominal import number

__all__ = ["BlockParser", "blocks_of", "in_order", "records", "texts_of"]

Float: TypeAlias = npt.NDArray[np.float64]
# Numbers with a column each, and texts by name.
Cells: TypeAlias = tuple[Float, dict[str, list[str | None]]]

_BLOCK = 2**20
# A share of cells that only Python can read beyond which the compiled parser gains nothing.
_ODD = 4
_THREADS = 4


def blocks_of(stream: IO[bytes], skip: int, size: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Read blocks of whole records, each with the number of its first line and a line end at its end."""
    line, rest, begins = 1, b"", True
    size = _BLOCK if size is None else size
    while True:
        chunk = stream.read(size)
        if begins:
            chunk, begins = chunk.removeprefix(b"\xef\xbb\xbf"), False
        text = rest + chunk
        if chunk:
            end = text.rfind(b"\n") + 1
            # A line break inside quotes ends no record.
            if end == 0 or text.count(b'"', 0, end) % 2:
                rest, size = text, 2 * size  # a long record costs no more than many short ones
                continue
            text, rest = text[:end], text[end:]
        while skip and text:
            _, _, text = text.partition(b"\n")
            skip, line = skip - 1, line + 1
        if text:
            yield line, text if text.endswith(b"\n") else text + b"\n"
            line += text.count(b"\n")
        if not chunk:
            return


def in_order(parse: Any, blocks: Iterator[Any]) -> Iterator[Any]:
    """Return what a function makes of blocks, in their order, some of them at work in threads.

    Examples
    --------
    >>> list(in_order(lambda n: 2 * n, iter([1, 2, 3])))
    [2, 4, 6]
    """
    n_threads = max(1, min(_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1))
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for block in blocks:
                waiting.append(pool.submit(parse, block))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


class BlockParser:
    r"""What makes numbers and texts of a block.

    Parameters
    ----------
    names : sequence of str
        All columns.
    numeric, text : sequence of str
        The wanted ones.
    separator : str
        What stands between two cells.
    path : path-like
        The file, for errors.

    Examples
    --------
    >>> parse = BlockParser(["beat", "key"], ["beat"], ["key"], ",", "songs.csv")
    >>> parse((1, b"0.5,minor\n?,\n"))
    (array([[0.5],
            [nan]]), {'key': ['minor', None]})
    """

    def __init__(
        self, names: Sequence[str], numeric: Sequence[str], text: Sequence[str], separator: str, path: Source
    ) -> None:
        self.names, self.numeric, self.text, self.separator, self.path = names, numeric, text, separator, path
        place = {name: j for j, name in enumerate(names)}
        self.role = np.full(len(names), -1)
        for j, name in enumerate(numeric):
            self.role[place[name]] = j
        for k, name in enumerate(text):
            self.role[place[name]] = -2 - k
        self.compiled = (
            len(separator) == 1 and separator.isascii() and not separator.isalnum() and separator not in ".+-"
        )

    def __call__(self, block: tuple[int, bytes]) -> Cells:
        """Return the cells of a block, or raise `DatasetError` for the first fault in it."""
        found = self._fast(block[1]) if self.compiled else None
        return self._cell_by_cell(*block) if found is None else found

    def _fast(self, block: bytes) -> Cells | None:
        """Return the cells, or None where the block is not as plain as that."""
        from smtl.kernels.cells import parse_cells

        most = block.count(b"\n")
        numbers = np.empty((most, len(self.numeric)))
        cells = np.empty((len(self.text), most, 2), dtype=np.int64)
        odd = np.empty((max(16, numbers.size // _ODD), 4), dtype=np.int64)
        array = np.frombuffer(block, dtype=np.uint8)
        n, n_odd = parse_cells(array, ord(self.separator), self.role, *_powers_of_ten(), numbers, cells, odd)
        if n < 0:
            return None
        try:
            for j, i, begin, end in odd[:n_odd].tolist():
                cell = _unquoted(block[begin:end]).strip()
                numbers[i, j] = np.nan if cell in MISSING else number(cell)
        except ValueError:
            return None
        texts = {
            name: texts_of([_unquoted(block[begin:end]) for begin, end in cells[k, :n].tolist()])
            for k, name in enumerate(self.text)
        }
        return numbers[:n], texts

    def _cell_by_cell(self, line: int, block: bytes) -> Cells:
        rows = records(block, self.separator, line, self.path)
        for row, at in rows:
            if len(row) != len(self.names):
                raise DatasetError(
                    f"a row must have {len(self.names)} cells, as the first has, got {len(row)} instead.", self.path, at
                )
        place = {name: j for j, name in enumerate(self.names)}
        numbers = np.empty((len(rows), len(self.numeric)))
        for k, name in enumerate(self.numeric):
            j = place[name]
            for i, (row, at) in enumerate(rows):
                cell = row[j].strip()
                try:
                    numbers[i, k] = np.nan if cell in MISSING else number(cell)
                except ValueError:
                    raise DatasetError(
                        f"{shown(name)} must be a number, got {shown(cell)} instead.", self.path, at
                    ) from None
        return numbers, {name: texts_of([row[place[name]] for row, _ in rows]) for name in self.text}


def records(
    block: bytes, separator: str, line: int, path: Source, most: int | None = None
) -> list[tuple[list[str], int]]:
    """Return records that are not empty, each with the number of its last line."""
    lines = _decoded(block).removesuffix("\n").split("\n")
    reader = csv.reader((text + "\n" for text in lines), delimiter=separator, skipinitialspace=True, strict=True)
    rows: list[tuple[list[str], int]] = []
    try:
        for row in reader:
            if row:
                rows.append((row, line + reader.line_num - 1))
                if len(rows) == most:
                    break
    except csv.Error as error:
        raise DatasetError(
            f"a row must be CSV, got a fault: {error}.", path, line + max(reader.line_num - 1, 0)
        ) from None
    return rows


def texts_of(cells: Sequence[str | None]) -> list[str | None]:
    """Return texts without blanks at their ends, and None for missing ones.

    What only features have for missing values is left to who knows which columns are features: ids and tasks have names
    of the user's choice.

    Examples
    --------
    >>> texts_of([" minor", "?", None])
    ['minor', None, None]
    """
    stripped = ("" if cell is None else cell.strip() for cell in cells)
    return [None if cell in EMPTY else cell for cell in stripped]


def _decoded(block: bytes) -> str:
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError:
        return block.decode("latin-1")


def _unquoted(cell: bytes) -> str:
    text = _decoded(cell)
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


@cache
def _powers_of_ten() -> tuple[Float, Float]:
    """Return powers of ten from -250 to 250, each as a sum of two floats that has twice the digits of one."""
    powers = [Fraction(10) ** exponent for exponent in range(-250, 251)]
    high = np.array([float(power) for power in powers])
    low = np.array([float(power - Fraction(first)) for power, first in zip(powers, high.tolist(), strict=True)])
    return high, low
