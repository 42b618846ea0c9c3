"""JSON lines: an object a row."""

from __future__ import annotations

from smtl.datasets.formats.base import Beginning, Format
from smtl.datasets.formats.parquet import read_typed

__all__ = ["JSONLines"]


class JSONLines(Format):
    """JSON lines: by their suffix, or because the first line opens an object."""

    name, title, order = "jsonl", "JSON lines", 60
    is_table = True

    read = staticmethod(read_typed)

    def begins(self, beginning: Beginning) -> bool:  # noqa: D102
        if beginning.suffix in (".jsonl", ".ndjson"):
            return True
        return beginning.words.startswith("{") and not beginning.is_table_by_suffix
