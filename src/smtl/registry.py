"""Classes that are found by name: metrics, penalties, solvers, formats, baselines, learners, methods of a comparison.

There is no list to keep. A class registers itself when it is defined, and `import_all` defines the classes of every
module of a package, so that a new file in ``metrics/`` or ``penalties/`` is all that a new one takes.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NoReturn

__all__ = ["Named", "Registered", "did_you_mean", "import_all", "unknown_name"]


class Named:
    """A base of classes that are found by name.

    Attributes
    ----------
    name : str
        A subclass that sets it is found under it.
    known : dict
        The registered classes by name; each family of classes sets its own.

    Examples
    --------
    >>> class Colour(Named):
    ...     known = {}
    >>> class Red(Colour):
    ...     name = "red"
    >>> Colour.known["red"] is Red
    True
    """

    name: ClassVar[str]
    known: ClassVar[dict[str, type[Any]]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name = vars(cls).get("name")
        if name is None:
            return
        taken = cls.known.get(name)
        # A class of the same file and name is the same one defined anew: a notebook cell run twice.
        if taken is not None and (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(
                f"name of {cls.__module__}.{cls.__qualname__} must be one that is not taken yet, got {name!r} instead, "
                f"which is the name of {taken.__module__}.{taken.__qualname__}."
            )
        cls.known[name] = cls


class Registered(Named):
    """A base of small value objects that are found by name, and never declare what no longer holds.

    Attributes
    ----------
    rests_on : dict of str to tuple of str
        What of a class rests on which of its formulas. Where a subclass overrides a formula and not what rests on it,
        what rests on it is that of the class which says so here: a safe default. Where that is abstract, the subclass
        has to define it, and an error says so when it is asked for.

    Examples
    --------
    >>> class Shape(Registered):
    ...     known = {}
    >>> class Circle(Shape):
    ...     name = "circle"
    ...     def __init__(self, radius=1.0):
    ...         self.radius = radius
    >>> Shape.known["circle"](radius=2.0)
    Circle(radius=2.0)
    """

    rests_on: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in reversed(cls.__mro__[1:]):
            for declared, formulas in vars(base).get("rests_on", {}).items():
                changed = [formula for formula in formulas if _depth(cls, formula) < _depth(cls, declared)]
                default = inspect.getattr_static(base, declared)
                # What is the default already is not set: in the class itself it would look like a formula of its own.
                if changed and inspect.getattr_static(cls, declared) is not default:
                    abstract = getattr(default, "__isabstractmethod__", False)
                    setattr(cls, declared, _to_be_defined(cls, declared, changed[0]) if abstract else default)

    def __repr__(self) -> str:
        parameters = ", ".join(f"{key}={value!r}" for key, value in vars(self).items())
        return f"{type(self).__name__}({parameters})"


def _depth(cls: type, name: str) -> int:
    """Return how far up the bases of a class a name is defined: 0 for the class itself."""
    return next((depth for depth, base in enumerate(cls.__mro__) if name in vars(base)), len(cls.__mro__))


def _to_be_defined(cls: type, name: str, formula: str) -> Callable[..., Any]:
    """Return a method that says that it has to be defined."""

    def missing(*args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            f"{cls.__name__} must define {name} as well, since it overrides {formula}: what it would inherit belongs "
            "to another formula."
        )

    return missing


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


def did_you_mean(got: object, known: Iterable[str]) -> str:
    """Return a question that ends an error about a name: which one was meant; nothing if none is near.

    Parameters
    ----------
    got : object
        What was given.
    known : iterable of str
        The names that there are.

    Returns
    -------
    str
        To be put at the end of the sentence, before its full stop.

    Examples
    --------
    >>> did_you_mean("colour", ["color", "size"]), did_you_mean("id", ["size"])
    ("; did you mean 'color'", '')
    """
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(str(got).lower(), list(names), n=1)
    return f"; did you mean {names[near[0]]!r}" if near else ""


def unknown_name(kind: str, got: object, known: Iterable[str], base: str | None = None) -> ValueError:
    """Return the error for a name that nothing is registered under; it lists the names that there are.

    Parameters
    ----------
    kind : str
        What the name was to name, e.g. ``"metric"``.
    got : object
        What was given.
    known : iterable of str
        The names that there are.
    base : str, optional
        The class an instance of which would do as well.

    Returns
    -------
    ValueError
        To be raised by the caller.

    Examples
    --------
    >>> unknown_name("penalty", "l12", ["l11", "l21"], "smtl.penalties.Penalty")
    ValueError("penalty must be one of 'l11', 'l21' or an instance of smtl.penalties.Penalty, got 'l12' instead; did you
    mean 'l21'?")
    """
    known = sorted(known)
    names = ", ".join(map(repr, known))
    instance = "" if base is None else f" or an instance of {base}"
    near = f"{did_you_mean(got, known)}?" if isinstance(got, str) else "?"
    return ValueError(f"{kind} must be one of {names}{instance}, got {got!r} instead{near if len(near) > 1 else '.'}")
