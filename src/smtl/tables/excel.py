"""Excel: the first sheet of a workbook, by fastexcel."""

from __future__ import annotations

import io
import os
import re
import zipfile
from typing import Any

import pyarrow as pa

from smtl.datasets.errors import DatasetError, at_most
from smtl.datasets.limits import at_most_columns, most_bytes
from smtl.tables.cells import check_names
from smtl.tables.layout import Layout
from smtl.tables.parquet import plain, short

__all__ = ["read_sheet"]

_CELL = re.compile(rb"""<c\s[^>]{0,64}?\br=["']([A-Z]{1,3})([0-9]{1,7})["']""")
_CELL_BYTES = 24  # that fastexcel takes for a cell, empty or not


def read_sheet(path: Any, layout: Layout, max_bytes: int | None = None, content: bytes | None = None) -> Any:
    """Return the first sheet: columns of numbers, truth values, dates, or text where cells are of several kinds."""
    try:
        import fastexcel
    except ImportError as error:
        raise ImportError("Excel files need fastexcel, which is not installed; run pip install smtl[excel].") from error
    limit = most_bytes(path, max_bytes)
    # What fastexcel raises for a damaged file is not documented.
    try:
        with zipfile.ZipFile(path if content is None else io.BytesIO(content)) as archive:
            n_bytes = sum(entry.file_size for entry in archive.infolist())
            at_most(n_bytes, limit, "the workbook, unpacked,", "pass a larger max_bytes", path)
            _check_corners(archive, limit, path)
        book = fastexcel.read_excel(os.fspath(path) if content is None else content)
        sheet = book.load_sheet(0, header_row=None, skip_rows=layout.skip, dtypes="string")
        names, first = _names(sheet, layout, path)
        sheet = book.load_sheet(
            0, header_row=None, column_names=names, skip_rows=layout.skip + first, schema_sample_rows=None
        )
        table = pa.table(sheet)
    except (DatasetError, FileNotFoundError):
        raise
    except BaseException as error:
        # A fault inside fastexcel's compiled part is no Exception.
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        message = f"must be a whole Excel file, got a damaged one ({short(error)})."
        raise DatasetError(message, path) from error
    if table.num_rows == 0:
        raise DatasetError("must have rows, got none; the first sheet is empty.", path)
    return pa.table({name: plain(table.column(name)) for name in table.column_names})


def _check_corners(archive: zipfile.ZipFile, limit: int, path: Any) -> None:
    """Refuse sheets whose cells lie so far apart that the table around them would not fit."""
    for name in archive.namelist():
        if not name.startswith("xl/worksheets/") or not name.endswith(".xml"):
            continue
        rows, columns = [0], [0]
        with archive.open(name) as file:
            rest = b""
            while chunk := file.read(2**20):
                text = rest + chunk
                found = _CELL.findall(text)
                rows += [max(int(row) for _, row in found)] if found else []
                columns += (
                    [max(_column_number(letters) for letters in {letters for letters, _ in found})] if found else []
                )
                rest = text[-32:]
        at_most_columns(max(columns), path)
        at_most(_CELL_BYTES * max(rows) * max(columns), limit, "the sheet", "pass a larger max_bytes", path)


def _column_number(letters: bytes) -> int:
    """Return the number of the column AB, from 1 on."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def _names(sheet: Any, layout: Layout, path: Any) -> tuple[list[str], int]:
    """Return the names of the columns, and the number of rows that they take."""
    table = pa.table(sheet)
    if table.num_rows == 0 or table.num_columns == 0:
        raise DatasetError("must have rows, got none; the first sheet is empty.", path)
    if not layout.header:
        return [str(k) for k in range(table.num_columns)], 0
    cells = [column[0].as_py() for column in table.columns]
    names = [(cell or "").strip() or f"Unnamed: {k}" for k, cell in enumerate(cells)]
    check_names(names, path, layout.skip + 1)
    return names, 1
