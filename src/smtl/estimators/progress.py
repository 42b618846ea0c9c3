"""How far a long fit has come: a bar, and scikit-learn's callbacks where the installed version has them."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from smtl.extras import can_show_bars
from smtl.terminal import clean_console

__all__ = ["CallbackSupport", "Progress", "with_callbacks"]

F = TypeVar("F", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupport:  # type: ignore[no-redef]
        """There are no callbacks to support."""

    def with_callbacks(method: F) -> F:
        """Return the method as it is: there are no callbacks to run it with."""
        return method


class Progress:
    """A number of steps, told to the callbacks of an estimator and shown as a bar with the time left.

    Parameters
    ----------
    estimator : object
        Whose `fit` it is; None for a function.
    n_steps : int
        How many steps there are.
    show : bool
        Whether to show a bar on standard error.
    X, y : array-like
        The training data, for callbacks that ask for it.

    Examples
    --------
    >>> with Progress(None, 2, show=False) as progress:
    ...     progress.step("C=0.1"), progress.step("C=1")
    (False, False)
    """

    def __init__(self, estimator: Any, n_steps: int, *, show: bool, X: Any = None, y: Any = None) -> None:
        self._estimator, self._data = estimator, {"X": X, "y": y}
        self._root: Any = None
        if hasattr(estimator, "_init_callback_context"):
            self._root = estimator._init_callback_context(max_subtasks=n_steps)
        self._bar: Any = None
        if show and can_show_bars():
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(elapsed_when_finished=True),
                console=clean_console(stderr=True),
            )
            self._bar.add_task("", total=n_steps)

    def __enter__(self) -> Progress:
        """Begin."""
        if self._root is not None:
            self._root.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        if self._bar is not None:
            self._bar.start()
        return self

    def step(self, words: str, n: int = 1) -> bool:
        """Tell that steps have been done.

        Parameters
        ----------
        words : str
            What was done, and how it looks.
        n : int, default=1
            How many.

        Returns
        -------
        bool
            Whether a callback asks to stop here.
        """
        stop = False
        if self._root is not None:
            for _ in range(n):
                leaf = self._root.subcontext(task_name=words)
                leaf.call_on_fit_task_begin(estimator=self._estimator, **self._data)
                stop = bool(leaf.call_on_fit_task_end(estimator=self._estimator, **self._data)) or stop
        if self._bar is not None:
            self._bar.update(0, advance=n, description=words)
        return stop

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        """End."""
        if self._bar is not None:
            self._bar.stop()
        if self._root is not None and kind is None:
            self._root.call_on_fit_task_end(estimator=self._estimator, **self._data)
