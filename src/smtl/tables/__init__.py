"""Tables as people have them: what each column is, and what becomes of it."""

from __future__ import annotations

from smtl.tables.encoder import TableEncoder

__all__ = ["TableEncoder"]
