"""What can go wrong with rows that are not in memory."""

from __future__ import annotations

__all__ = ["ClusterError", "SourceChangedError"]


class SourceChangedError(RuntimeError):
    """Rows were read again and are not what they were before: no certificate would hold."""


class ClusterError(RuntimeError):
    """The cluster cannot finish a fit: its scheduler or all workers are gone, or a part does not fit a worker."""
