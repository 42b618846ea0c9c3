"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import sklearn

__all__ = ["warn"]

# What the user did not write.
_LIBRARIES = tuple(str(Path(file).parent) for file in (__file__, sklearn.__file__))


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as if from the first line outside smtl and scikit-learn.

    Parameters
    ----------
    message : str
        The message.
    category : type, default=UserWarning
        The kind of warning.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("C is small.")
    >>> str(caught[0].message)
    'C is small.'
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
