"""The error that a command ends with."""

from __future__ import annotations

__all__ = ["CommandError"]


class CommandError(Exception):
    """What went wrong, in one line that says what to do; the command ends with exit code 1."""
