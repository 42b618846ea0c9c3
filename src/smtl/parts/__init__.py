"""Rows in parts, of which never all are in memory: read from disk batch by batch, or spread over a cluster."""

from __future__ import annotations

from smtl.parts.errors import ClusterError, SourceChangedError

__all__ = ["ClusterError", "SourceChangedError"]
