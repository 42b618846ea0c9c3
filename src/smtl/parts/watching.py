"""How a fit on rows in parts is coming on: passes, and rows per second."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from smtl.extras import can_show_bars
from smtl.terminal import clean_console

__all__ = ["Watch"]


class Watch:
    """Passes and rows per second, shown on standard error.

    Parameters
    ----------
    n_rows : int
        How many rows a pass is over.
    show : bool
        Whether to show them.

    Examples
    --------
    >>> with Watch(1000, show=False) as watch:
    ...     watch(0.5)
    ...     watch.words
    '1 pass, 2,000 rows/s'
    """

    def __init__(self, n_rows: int, *, show: bool) -> None:
        self.n_rows, self.n_passes, self.seconds = n_rows, 0, 0.0
        self._bar: Any = None
        if show and can_show_bars():
            from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                TimeElapsedColumn(),
                console=clean_console(stderr=True),
            )
            self._bar.add_task(f"{n_rows:,} rows", total=None)

    @property
    def words(self) -> str:
        """What there is to say."""
        rate = self.n_passes * self.n_rows / max(self.seconds, 1e-9)
        return f"{self.n_passes} pass{'' if self.n_passes == 1 else 'es'}, {rate:,.0f} rows/s"

    def __enter__(self) -> Watch:
        """Begin."""
        if self._bar is not None:
            self._bar.start()
        return self

    def __call__(self, seconds: float) -> None:
        """Count a pass."""
        self.n_passes += 1
        self.seconds += seconds
        if self._bar is not None:
            self._bar.update(0, description=f"{self.n_rows:,} rows: {self.words}")

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        """End."""
        if self._bar is not None:
            self._bar.stop()
