"""Options whose values are registered names: looked up when they are needed, not when the command line is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand

__all__ = ["NamedChoices", "check_metric_name", "check_penalty_name"]


def check_metric_name(name: str | None) -> str | None:
    """Return the name of a metric, or tell the user which there are.

    Parameters
    ----------
    name : str or None
        What the user gave; None for nothing.

    Returns
    -------
    str or None
        The same.

    Examples
    --------
    >>> check_metric_name("f1")
    'f1'
    """
    from smtl.metrics import get_metric

    return _checked(get_metric, name)


def check_penalty_name(name: str | None) -> str | None:
    """Return the name of a penalty, or tell the user which there are.

    Parameters
    ----------
    name : str or None
        What the user gave; None for nothing.

    Returns
    -------
    str or None
        The same.

    Examples
    --------
    >>> check_penalty_name("l21")
    'l21'
    """
    from smtl.penalties import get_penalty

    return _checked(get_penalty, name)


def _checked(get: Callable[[str], Any], name: str | None) -> str | None:
    try:
        if name is not None:
            get(name)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    return name


class NamedChoices(TyperCommand):
    """A command whose help lists the names that ``--metric`` and ``--penalty`` can take."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the names.

        Parameters
        ----------
        ctx, formatter
            Of the command line library.
        """
        from smtl.metrics import metric_names
        from smtl.penalties import penalty_names

        names = {"metric": metric_names, "penalty": penalty_names}
        for parameter in self.params:
            if parameter.name in names:
                choices = ", ".join(names[parameter.name]())
                parameter.help = f"{getattr(parameter, 'help', '')} One of {choices}."  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)
