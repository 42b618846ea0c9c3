"""The display of a fit that may search first: the search has a bar of its own, and the final fit shows its gap."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console

from smtl.cli._progress import showing_progress

__all__ = ["showing_fit", "telling_warnings"]


class _Beginning(logging.Handler):
    """Puts the display on at the first iteration, for two displays cannot share a terminal."""

    def __init__(self, display: ExitStack, console: Console, tol: float) -> None:
        super().__init__()
        self._display, self._console, self._tol = display, console, tol

    def emit(self, record: logging.LogRecord) -> None:
        if hasattr(record, "gap"):
            logging.getLogger("smtl").removeHandler(self)
            self._display.enter_context(showing_progress(self._console, self._tol))


@contextmanager
def showing_fit(console: Console, tol: float) -> Iterator[None]:
    """Show the certified gap of the fit inside the ``with`` block on its way, once it has iterations.

    Parameters
    ----------
    console : Console
        Where to draw; nothing is shown on one that is no terminal.
    tol : float
        The tolerance of the fit.

    Yields
    ------
    None
        While the fit goes on.
    """
    logger = logging.getLogger("smtl")
    level, propagate = logger.level, logger.propagate
    with ExitStack() as display:
        beginning = _Beginning(display, console, tol)
        logger.addHandler(beginning)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        try:
            yield
        finally:
            display.close()
            logger.removeHandler(beginning)
            logger.setLevel(level)
            logger.propagate = propagate


@contextmanager
def telling_warnings() -> Iterator[None]:
    """Print warnings as one line each on standard error, each once, at the end of the ``with`` block."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught):
        print("Warning:", message, file=sys.stderr)
