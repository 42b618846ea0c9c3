"""Names for metrics, penalties and solvers: a class that sets ``name`` is found by that name.

There is no list to keep. A class registers itself when it is defined, and `import_all` defines the classes of
every module of a package, so that a new file in ``metrics/`` or ``penalties/`` is all that a new one takes.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable

__all__ = ["import_all", "unknown_name"]


def import_all(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, so that its classes have registered themselves.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    path : iterable of str
        The package's ``__path__``.

    Examples
    --------
    >>> import smtl.penalties
    >>> import_all(smtl.penalties.__name__, smtl.penalties.__path__)
    """
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")


def unknown_name(kind: str, got: object, known: Iterable[str], base: str) -> ValueError:
    """Return the error for a name that nothing is registered under; it lists the names that there are.

    Parameters
    ----------
    kind : str
        What the name was to name, e.g. ``"metric"``.
    got : object
        What was given.
    known : iterable of str
        The names that there are.
    base : str
        The class an instance of which would do as well.

    Returns
    -------
    ValueError
        To be raised by the caller.

    Examples
    --------
    >>> unknown_name("penalty", "l12", ["l11", "l21"], "smtl.penalties.Penalty")
    ValueError("penalty must be one of 'l11', 'l21' or an instance of smtl.penalties.Penalty, got 'l12' instead.")
    """
    names = ", ".join(repr(name) for name in sorted(known))
    return ValueError(f"{kind} must be one of {names} or an instance of {base}, got {got!r} instead.")
