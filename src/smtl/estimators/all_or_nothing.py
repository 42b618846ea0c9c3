"""A fit that does not end leaves the estimator as it was: no new attribute beside an old one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["all_or_nothing"]

F = TypeVar("F", bound=Callable[..., Any])


def all_or_nothing(fit: F) -> F:
    """Return a method that takes back all attributes it has set where it raises, also on Ctrl-C.

    Parameters
    ----------
    fit : callable
        The method. It replaces attributes and does not change the objects in them.

    Returns
    -------
    callable
        The same method.

    Examples
    --------
    >>> class Model:
    ...     @all_or_nothing
    ...     def fit(self, C):
    ...         self.C_ = C
    ...         self.coef_ = 1.0 / C
    >>> model = Model()
    >>> model.fit(2.0)
    >>> model.fit(0.0)
    Traceback (most recent call last):
    ZeroDivisionError: float division by zero
    >>> model.C_, model.coef_
    (2.0, 0.5)
    """

    @functools.wraps(fit)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole  # type: ignore[return-value]
