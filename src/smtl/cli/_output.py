"""Standard output whose reader has gone."""

from __future__ import annotations

import os
import sys

__all__ = ["forget_output"]


def forget_output() -> None:
    """Send what is left of standard output nowhere.

    Whoever reads it has enough, as ``head`` has: nothing more can be said to them, and that is no error of ours.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
