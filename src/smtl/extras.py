"""What is installed beside the core: the parts of smtl that need more say which extra brings it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["can_show_bars", "of_extra"]


@contextmanager
def of_extra(extra: str, what: str) -> Iterator[None]:
    """Import, in the block, what a plain ``pip install smtl`` does not bring.

    Parameters
    ----------
    extra : str
        The extra that brings it.
    what : str
        What needs it, as the subject of a sentence in the plural.

    Yields
    ------
    None
        For the imports.

    Raises
    ------
    ImportError
        If something is not installed, with the command that installs it.

    Examples
    --------
    >>> with of_extra("models", "model files"):
    ...     import no_such_module
    Traceback (most recent call last):
        ...
    ImportError: model files need no_such_module, which is not installed; run pip install 'smtl[models]'.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name in ("", "smtl"):
            raise
        raise ImportError(
            f"{what} need {name}, which is not installed; run pip install 'smtl[{extra}]'.", name=name
        ) from error


def can_show_bars() -> bool:
    """Return whether rich is installed; warn where it is not: a fit goes on without its bar.

    Examples
    --------
    >>> can_show_bars()
    True
    """
    try:
        with of_extra("cli", "bars of progress"):
            import rich.progress  # noqa: F401
    except ImportError as error:
        from smtl.messages import warn  # smtl --help does not wait for scikit-learn

        warn(f"there is no bar of progress: {error}")
        return False
    return True
