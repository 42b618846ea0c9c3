"""What can go wrong with rows that are not in memory."""

from __future__ import annotations

__all__ = ["ClusterError", "SourceChangedError"]


class SourceChangedError(RuntimeError):
    """Rows were read again and are not what they were before: no certificate would hold.

    Examples
    --------
    >>> raise SourceChangedError("songs/0.parquet has changed since the fit began; fit again.")
    Traceback (most recent call last):
        ...
    smtl.parts.errors.SourceChangedError: songs/0.parquet has changed since the fit began; fit again.
    """


class ClusterError(RuntimeError):
    """The cluster cannot finish a fit: its scheduler or all workers are gone, or a part does not fit a worker.

    Examples
    --------
    >>> raise ClusterError("there must be a worker, got none for 60 s instead; start some.")
    Traceback (most recent call last):
        ...
    smtl.parts.errors.ClusterError: there must be a worker, got none for 60 s instead; start some.
    """
