"""Tables as people have them: what each column is, and what becomes of it."""

from __future__ import annotations

from smtl.extras import of_extra

with of_extra("tables", "tables"):
    from smtl.tables.encoder import TableEncoder

__all__ = ["TableEncoder"]
