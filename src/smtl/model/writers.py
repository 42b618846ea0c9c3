"""Answers and scores, written some rows at a time: CSV, JSON lines, Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np

from smtl.datasets.files import replacing
from smtl.extras import of_extra
from smtl.formulas import as_text
from smtl.whole_file import whole_file

__all__ = ["FORMATS", "Columns", "writing"]

# Names and columns: arrays of whole numbers or of floats, or lists of texts.
Columns: TypeAlias = dict[str, Any]

FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_SEPARATORS = {"csv": ",", "tsv": "\t"}


@contextmanager
def writing(out: Path | IO[str], form: str, *, raw: bool = False) -> Iterator[Callable[[Columns], None]]:
    """Open a file or a stream for rows; a file takes its place only once it is whole.

    Parameters
    ----------
    out : Path or text file
        Where to write. Parquet needs a path.
    form : {"csv", "tsv", "jsonl", "parquet"}
        The format.
    raw : bool, default=False
        Whether text of CSV that a spreadsheet would run is written as it is. By default it gets an apostrophe before
        it, which a spreadsheet takes for the mark of text.

    Yields
    ------
    callable
        It writes some rows, given as columns; always the same columns.

    Examples
    --------
    >>> import sys
    >>> with writing(sys.stdout, "jsonl") as write:
    ...     write({"calm": np.array([0, 1]), "score:calm": np.array([-0.5, 0.25])})
    {"calm": 0, "score:calm": -0.5}
    {"calm": 1, "score:calm": 0.25}
    """
    if form == "parquet":
        assert isinstance(out, Path)
        with _parquet(out) as write:
            yield write
    elif isinstance(out, Path):
        with replacing(out) as file:
            yield _Text(file, form, raw).write
    else:
        yield _Text(out, form, raw).write
        out.flush()


class _Text:
    def __init__(self, file: IO[str], form: str, raw: bool) -> None:
        self.file, self.separator, self.raw = file, _SEPARATORS.get(form), raw
        self.begun = False

    def write(self, columns: Columns) -> None:
        if self.separator is None:
            keys = [f"{json.dumps(name, ensure_ascii=False)}: " for name in columns]
            cells = [
                [key + text for text in map(json.dumps, _values(column))]
                for key, column in zip(keys, columns.values(), strict=True)
            ]
            self.file.write("".join(f"{{{', '.join(row)}}}\n" for row in zip(*cells, strict=True)))
            return
        if not self.begun:
            self.begun = True
            self.file.write(self._quoted([list(columns)]))
        self.file.write(self._rows(list(columns.values())))

    def _rows(self, columns: Sequence[Any]) -> str:
        assert self.separator is not None
        if all(isinstance(column, np.ndarray) and column.dtype == np.int8 for column in columns):
            # Nothing but answers, one character each.
            text = np.full((len(columns[0]), 2 * len(columns)), ord(self.separator), dtype=np.uint8)
            text[:, -1] = ord("\n")
            for k, column in enumerate(columns):
                text[:, 2 * k] = column + ord("0")
            return text.tobytes().decode("ascii")
        if all(isinstance(column, np.ndarray) for column in columns):
            texts = [list(map(repr, column.tolist())) for column in columns]
            return "".join(f"{self.separator.join(row)}\n" for row in zip(*texts, strict=True))
        return self._quoted(zip(*map(_values, columns), strict=True))

    def _quoted(self, rows: Iterable[Sequence[Any]]) -> str:
        buffer = io.StringIO()
        writer = csv.writer(buffer, delimiter=self.separator or ",", lineterminator="\n")
        writer.writerows(rows if self.raw else ([as_text(cell) for cell in row] for row in rows))
        return buffer.getvalue()


def _values(column: Any) -> list[Any]:
    found: list[Any] = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return found


@contextmanager
def _parquet(out: Path) -> Iterator[Callable[[Columns], None]]:
    with of_extra("tables", "Parquet files"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    writer: Any = None

    def write(columns: Columns) -> None:
        nonlocal writer
        table = pa.table(columns)
        if writer is None:
            writer = pq.ParquetWriter(part, table.schema)
        writer.write_table(table)

    with whole_file(out) as part:
        try:
            yield write
        finally:
            if writer is not None:
                writer.close()
