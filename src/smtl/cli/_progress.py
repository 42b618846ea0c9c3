"""A live display of a fit: iterations, and the certified gap on its way to the tolerance."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

__all__ = ["fraction_done", "showing_progress"]


def fraction_done(gap: float, tol: float) -> float:
    """Return how far the gap has come from 1 to the tolerance, on a logarithmic scale.

    Parameters
    ----------
    gap : float
        The certified gap.
    tol : float
        The gap to reach, below 1.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> fraction_done(0.1, 0.01)
    0.5
    >>> fraction_done(float("inf"), 0.01), fraction_done(0.001, 0.01)
    (0.0, 1.0)
    """
    if not gap < 1.0:
        return 0.0
    return 1.0 if gap <= tol else math.log(gap) / math.log(tol)


class _GapHandler(logging.Handler):
    """Moves the bar at each record that carries a gap; the display redraws itself in its own time."""

    def __init__(self, progress: Progress, tol: float) -> None:
        super().__init__()
        self._progress, self._tol = progress, tol
        self._task = progress.add_task("Training", total=1.0, iteration=0, gap="", tol=f"{tol:.0e}")
        self._iteration = 0

    def emit(self, record: logging.LogRecord) -> None:
        gap = getattr(record, "gap", None)
        if gap is None:
            return
        self._iteration += 1
        self._progress.update(
            self._task,
            completed=fraction_done(gap, self._tol),
            iteration=self._iteration,
            gap=f"{gap:.1e}",
        )


@contextmanager
def showing_progress(console: Console, tol: float) -> Iterator[None]:
    """Show the progress of the fit inside the ``with`` block, which must have ``verbose=1``.

    On a console that is not a terminal, nothing is shown.

    Parameters
    ----------
    console : Console
        Where to draw.
    tol : float
        The tolerance of the fit.

    Yields
    ------
    None
        While the display is on.
    """
    logger = logging.getLogger("smtl")
    progress = Progress(
        SpinnerColumn(finished_text=" "),
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        TextColumn("iteration {task.fields[iteration]:>4}   certified gap {task.fields[gap]:>7} -> {task.fields[tol]}"),
        TimeElapsedColumn(),
        console=console,
        refresh_per_second=20,
        disable=not console.is_terminal,
    )
    level, propagate = logger.level, logger.propagate
    with progress:
        handler = _GapHandler(progress, tol)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate
