"""The command line: every module of this package that is not private is a command, a function of the same name.

A module that has commands of its own below it has a ``GROUP`` instead, a `typer.Typer`.

Commands import what is heavy when they run, so that ``smtl --help`` does not wait for it.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from smtl.cli._errors import CommandError

__all__ = ["main"]

# Typer raises click's exceptions or, in newer versions, its own copies: the base of what it raises is right for both.
_ClickException: type[Exception] = typer.BadParameter.__mro__[2]

_INTERRUPTED = 130


def _show_version(asked: bool) -> None:
    if asked:
        print(f"smtl {version('smtl')}")
        raise typer.Exit


def _start(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Multi-task and multi-label learning that trains on the metric you are judged by."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def _app() -> typer.Typer:
    app = typer.Typer(name="smtl", add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True)(_start)
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            command = importlib.import_module(f"{__name__}.{module.name}")
            if hasattr(command, "GROUP"):
                app.add_typer(command.GROUP, name=module.name)
            else:
                app.command(name=module.name, **getattr(command, "SETTINGS", {}))(getattr(command, module.name))
    return app


def main() -> None:
    """Run the command line; errors are one line on standard error, with exit code 1, or 2 for wrong usage."""
    try:
        code = typer.main.get_command(_app()).main(prog_name="smtl", standalone_mode=False)
    except _ClickException as error:
        context = getattr(error, "ctx", None)
        where = f" (see {context.command_path} --help)" if context is not None else ""
        _fail(f"{error.format_message()}{where}", getattr(error, "exit_code", 1))  # type: ignore[attr-defined]
    except CommandError as error:
        _fail(str(error), 1)
    except (typer.Abort, KeyboardInterrupt):
        _fail("interrupted.", _INTERRUPTED)
    else:
        sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> None:
    print("Error:", " ".join(message.split()), file=sys.stderr)
    sys.exit(code)
