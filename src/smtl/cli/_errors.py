"""The error that a command ends with."""

from __future__ import annotations

import os
import re

__all__ = ["CommandError", "reason"]

# What pyarrow puts before and behind the system's own words.
_DETAIL = re.compile(r"Detail: \[errno (\d+)\]")


class CommandError(Exception):
    """What went wrong, in one line that says what to do; the command ends with exit code 1."""


def reason(error: OSError) -> str:
    """Return why a file could not be read or written, in the system's words.

    Parameters
    ----------
    error : OSError
        Python's, or pyarrow's, whose words name a part of a file that the user does not know.

    Examples
    --------
    >>> reason(OSError(28, "No space left on device")), reason(OSError("Error closing file"))
    ('No space left on device', 'Error closing file')
    >>> reason(OSError("Error writing bytes to file. Detail: [errno 28] No space left on device"))
    'No space left on device'
    """
    text = str(error.strerror or (error.args[-1] if error.args else error))
    detail = _DETAIL.search(text)
    return os.strerror(int(detail[1])) if detail is not None else text
