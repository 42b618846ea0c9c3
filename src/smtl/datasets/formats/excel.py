"""Excel: the first sheet of a workbook."""

from __future__ import annotations

from smtl.datasets.formats.base import Beginning, Format
from smtl.datasets.formats.parquet import read_typed

__all__ = ["Excel"]


class Excel(Format):
    """Excel files; a zip archive with another suffix is none."""

    name, title, order = "excel", "Excel", 10
    is_table = True

    read = staticmethod(read_typed)

    def begins(self, beginning: Beginning) -> bool:  # noqa: D102
        from smtl.tables.layout import is_excel

        return is_excel(beginning.path)
