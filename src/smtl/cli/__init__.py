"""The command line: every module of this package that is not private is a command, a function of the same name.

A module that has commands of its own below it has a ``GROUP`` instead, a `typer.Typer`.

A command's module is imported when the command is called for, and imports what is heavy when it runs: ``smtl --help``
waits for neither. What the help says of a command is the first line of its module, which is read, not imported.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
import traceback
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from smtl.cli._errors import CommandError, reason
from smtl.cli._output import cleaned_streams, fill_closed, forget_output
from smtl.whole_file import keep_whole

__all__ = ["main"]

# Typer raises click's exceptions or, in newer versions, its own copies: the base of what it raises is right for both.
_ClickException: type[Exception] = typer.BadParameter.__mro__[2]

_FAILED, _INTERRUPTED = 1, 130
_DEBUG = "--debug"
# What is left of 80 characters beside a command's name.
_WIDEST = 57
# The help's order; a command that is in no group comes last.
_GROUPS = {
    "Start": ["demo"],
    "Models": ["fit", "predict", "evaluate", "inspect", "export", "report"],
    "Data": ["datasets", "convert"],
    "Studies": ["compare", "reproduce"],
}


class _Commands(TyperGroup):
    """Commands that are imported when they are called for, and listed in groups."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, in the order of the groups."""
        names = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
        order = [name for group in _GROUPS.values() for name in group]
        return sorted(names, key=lambda name: order.index(name) if name in order else len(order))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or None."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"{__name__}.{cmd_name}")
        if hasattr(module, "GROUP"):
            group = typer.main.get_group(module.GROUP)
            group.name = cmd_name
            return group
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name=cmd_name, **getattr(module, "SETTINGS", {}))(getattr(module, cmd_name))
        return typer.main.get_command(app)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a line for each command, its group before the first of the group."""
        formatter.write("\nCommands:\n")
        last = ""
        for name in self.list_commands(ctx):
            group = next((title for title, names in _GROUPS.items() if name in names), "More")
            formatter.write(f"  {group if group != last else '':<9}{name:<11}{_summary(name)}\n")
            last = group


def _summary(name: str) -> str:
    """Return what the first line of a command's module says of it."""
    for path in __path__:
        source = Path(path, f"{name}.py")
        if source.exists():
            words = (ast.get_docstring(ast.parse(source.read_bytes())) or "").split("\n")[0]
            text = words.partition(": ")[2].rstrip(".")
            while len(text) > _WIDEST and "," in text:
                text = text.rpartition(",")[0]
            return text[:1].upper() + text[1:]
    return ""


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
    _debug: Annotated[bool, typer.Option(_DEBUG, help="Show the trace of an error, of any command.")] = False,
) -> None:
    """Learn many yes/no tasks at once, on the metric that you are judged by."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def _app() -> typer.Typer:
    app = typer.Typer(name="smtl", cls=_Commands, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True, epilog="smtl COMMAND --help has its options and an example.")(_start)
    return app


def _command() -> Any:
    """Return the command line, with fewer words about completion than typer's."""
    command = typer.main.get_command(_app())
    for parameter in command.params:
        if parameter.name == "install_completion":
            parameter.help = "Complete commands in your shell."  # type: ignore[attr-defined]
        elif parameter.name == "show_completion":
            parameter.hidden = True  # type: ignore[attr-defined]
    return command


def main() -> None:
    """Run the command line.

    Errors are one line on standard error, with exit code 1, or 2 for wrong usage; with ``--debug``, wherever it stands,
    the trace comes before it. Where standard output is closed, nothing is begun: it would be for nothing, or end in
    an error that comes late.
    """
    closed = fill_closed()
    with cleaned_streams():
        keep_whole(())
        if 1 in closed:
            _fail("standard output is closed; to print nothing, send it to the null device.", _FAILED, debug=False)
        _run(sys.argv[1:])


def _run(arguments: list[str]) -> None:
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    debug = _DEBUG in before
    arguments = [word for word in before if word != _DEBUG] + arguments[len(before) :]
    try:
        code = _command().main(args=arguments, prog_name="smtl", standalone_mode=False)
        sys.stdout.flush()
        if code == _INTERRUPTED:  # newer versions of typer make an exit of it
            raise KeyboardInterrupt
    except _ClickException as error:
        context = getattr(error, "ctx", None)
        where = f" (see {context.command_path} --help)" if context is not None else ""
        _fail(f"{error.format_message()}{where}", getattr(error, "exit_code", _FAILED), debug)  # type: ignore[attr-defined]
    except CommandError as error:
        _fail(str(error), _FAILED, debug)
    except (typer.Abort, KeyboardInterrupt):
        _fail("interrupted.", _INTERRUPTED, debug)
    except BrokenPipeError:
        forget_output()
        sys.exit(_FAILED)
    except OSError as error:
        place = "standard output" if error.filename is None else str(error.filename)
        _fail(f"{place}: {reason(error)}.", _FAILED, debug)
    except Exception as error:
        _fail(f"{type(error).__name__}: {error} (unexpected; {_DEBUG} shows where it comes from)", _FAILED, debug)
    else:
        sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    print("Error:", " ".join(message.split()), file=sys.stderr)
    sys.exit(code)
