"""Data that a command is given: a file of any format, or a set by its name; and the options that go with it."""

from __future__ import annotations

import csv
import functools
import inspect
import re
import shlex
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from smtl.cli._errors import CommandError

if TYPE_CHECKING:
    from smtl.datasets import Dataset

__all__ = ["one_line_errors", "read_data", "with_reading_options"]

# The readers' parameters: the type on the command line, the option's name, its value's, and its help.
_OPTIONS: dict[str, tuple[Any, str, str | None, str]] = {
    "labels": (
        str,
        "--labels",
        "NAMES",
        "Label columns, with commas between; of svmlight files, how many or which numbers.",
    ),
    "prefix": (str, "--label-prefix", "TEXT", "What the names of label columns begin with."),
    "last": (int, "--last", "NUMBER", "How many columns at the end are labels."),
    "class_column": (str, "--class-column", "NAME", "A column of classes, each of which becomes a label."),
    "tasks": (str, "--task-column", "NAME", "A column that says each row's task."),
    "categorical": (str, "--categorical", "NAMES", "Columns that are nominal though they have numbers."),
    "xml": (Path, "--xml", "FILE", "The names of the labels of a Mulan ARFF file."),
    "nominal": (str, "--nominal", "one-hot|ordinal", "What becomes of nominal features."),
    "header": (bool, "--no-header", None, "The first line has values; columns go by their positions, from 0 on."),
    "skip": (int, "--skip", "NUMBER", "How many lines to pass over at the start."),
    "separator": (str, "--separator", "TEXT", "What stands between two cells."),
}


# Longer names of options.
_ALSO = {"--labels": ("--label-columns",)}

# What errors call a reader's parameters, and what the command line does; what has no option is left to Python.
_FLAGS = {key: flag for key, (_, flag, _, _) in _OPTIONS.items()} | {"ignore": "--ignore"}
_IN_OPTIONS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"pass labels=\[names\], prefix=, last= or ", "pass --labels NAMES, --label-prefix, --last or "),
    (r"\bclass_column=", "--class-column"),
    (r"one of labels, prefix, last and class_column", "one of --labels, --label-prefix, --last and --class-column"),
    (r"pass categorical=\[(['\"])(.*)\1\]", r"pass --categorical \2"),
    (r"pass xml=", "pass --xml FILE"),
    (
        r"\b(labels|last|class_column|tasks|categorical|ignore) must (?=be one of the columns|be from|name features)",
        lambda found: f"{_FLAGS[found[1]]} must ",
    ),
    (r"max_bytes=(?=[\d,]+ bytes)", ""),
    (
        r"pass nominal='ordinal', or a larger max_bytes",
        "leave out columns with many values by --ignore NAMES or, where the command takes it, pass --nominal ordinal",
    ),
    (r"pass (?=drop=|features=|sparse_labels=|a larger max_bytes)", "in Python, pass "),
    (r"((?:is|are) unknown\.)$", r"\1 Columns that are no features: --ignore NAMES."),
)


def with_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that tell how its data are to be read.

    Parameters
    ----------
    command : callable
        A command whose parameter ``reading`` takes what `read_data` wants.

    Returns
    -------
    callable
        The same with the options instead of ``reading``.

    Examples
    --------
    >>> @with_reading_options
    ... def show(source: str, reading: dict) -> None:
    ...     print(read_data(source, reading))
    >>> show("digits", nominal="one-hot")
    Dataset('digits': 1797 rows, 64 features, 10 labels)
    """
    hints = get_type_hints(command, include_extras=True)
    own = [p.replace(annotation=hints[p.name]) for p in inspect.signature(command).parameters.values()]
    added = [
        inspect.Parameter(
            key,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[kind | None, typer.Option(flag, *_ALSO.get(flag, ()), metavar=metavar, help=text)],
        )
        for key, (kind, flag, metavar, text) in _OPTIONS.items()
    ]

    @functools.wraps(command)
    def with_options(*arguments: Any, **options: Any) -> None:
        reading = {key: options.pop(key) for key in _OPTIONS if key in options}
        command(*arguments, reading=reading, **options)

    parameters = [*(p for p in own if p.name != "reading"), *added]
    # What typer asks for, in its older and newer versions; and neither is to look at the wrapped function instead.
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {p.name: p.annotation for p in parameters}
    del with_options.__wrapped__
    return with_options


@contextmanager
def one_line_errors() -> Iterator[None]:
    """End the command with one line where data cannot be read or written."""
    try:
        yield
    except (ValueError, ImportError, MemoryError) as error:
        raise CommandError(_in_options(str(error)) or "not enough memory.") from error
    except OSError as error:
        if error.strerror is None:
            raise CommandError(str(error)) from error
        raise CommandError(f"{error.filename}: {error.strerror}.") from error


def as_flags(reading: dict[str, Any]) -> str:
    """Return what the next command on the same file must be told, as it stands on the command line.

    Parameters
    ----------
    reading : dict
        The options as the user gave them; None for those not given.

    Returns
    -------
    str
        How the file is laid out; and, where its columns have no names that the model could know, their roles.

    Examples
    --------
    >>> as_flags({"header": True, "last": 2, "separator": ";"})
    " --last 2 --no-header --separator ';'"
    >>> as_flags({"last": 2})
    ''
    """
    roles = ("labels", "last", "class_column", "tasks") if reading.get("header") else ()
    words: list[str] = []
    for key, (kind, flag, _, _) in _OPTIONS.items():
        if reading.get(key) and key in (*roles, "header", "separator", "skip"):
            words += [flag] if kind is bool else [flag, str(reading[key])]
    return f" {shlex.join(words)}" if words else ""


def _in_options(message: str) -> str:
    """Return what an error says, with options of the command line in the place of Python's parameters.

    Examples
    --------
    >>> _in_options("songs.csv, line 1: labels must be one of the columns, got 'clam' instead.")
    "songs.csv, line 1: --labels must be one of the columns, got 'clam' instead."
    """
    for parameters, options in _IN_OPTIONS:
        message = re.sub(parameters, options, message)
    return message


def read_data(source: str, reading: dict[str, Any], ignored: Collection[str] = ()) -> Dataset:
    """Return the data set that a command is given.

    Parameters
    ----------
    source : str
        The name of a set, perhaps with a variant behind a colon, or else a file.
    reading : dict
        The options as the user gave them; None for those not given.
    ignored : collection of str, default=()
        Columns to leave out.

    Returns
    -------
    Dataset
        Features and labels.

    Examples
    --------
    >>> read_data("digits", {"labels": None})
    Dataset('digits': 1797 rows, 64 features, 10 labels)
    """
    from smtl import datasets

    given = {key: value for key, value in reading.items() if value is not None}
    if "header" in given:
        given["header"] = not given["header"]
    with one_line_errors():
        if source.partition(":")[0] in datasets.dataset_names():
            _check_options(given, datasets.load_dataset, f"the named set {source}")
            return _without(datasets.load_dataset(source, **given), ignored)
        if not Path(source).exists():
            names = ", ".join(datasets.dataset_names())
            raise CommandError(f"{source!r} must be a file or a named set, got neither; the sets are {names}.")
        reader, form = _reader(source, given)
        read_it = getattr(datasets, f"read_{form}")
        _check_options(given, read_it, f"{form} files")
        # A reader that can leave columns out need not understand them. Without a header, columns have no names.
        if "ignore" in inspect.signature(read_it).parameters and given.get("header") is not False:
            return reader(source, **_converted(given, form), ignore=ignored)
        return _without(reader(source, **_converted(given, form)), ignored)


def _without(data: Dataset, ignored: Collection[str]) -> Dataset:
    if not ignored:
        return data
    from smtl.model.training import without_columns

    return without_columns(data, ignored)


def _reader(path: str, given: dict[str, Any]) -> tuple[Callable[..., Dataset], str]:
    """Return what reads a file, and the name of its format."""
    from smtl.datasets import DatasetError, format_of, read, read_csv

    try:
        return read, format_of(path)
    except DatasetError:
        # Lines before a table can look like anything; who says how to pass over them says that it is a table.
        if given.keys() & {"header", "skip", "separator"}:
            return read_csv, "csv"
        raise


def _check_options(given: dict[str, Any], reader: Any, what: str) -> None:
    allowed = inspect.signature(reader).parameters
    for key in given:
        if key not in allowed:
            raise typer.BadParameter(f"{_OPTIONS[key][1]} does not go with {what}.")


def _converted(given: dict[str, Any], form: str) -> dict[str, Any]:
    """Return options as the readers want them: lists for what has commas in it, positions where there are no names."""
    by_position = form == "svmlight" or given.get("header") is False
    several = ("labels", "categorical")
    for key in {*several, "class_column", "tasks"} & set(given):
        items: list[Any] = next(csv.reader([given[key]], skipinitialspace=True)) if key in several else [given[key]]
        if by_position:
            try:
                items = [int(item) for item in items]
            except ValueError:
                raise typer.BadParameter(
                    f"{_OPTIONS[key][1]} must be whole numbers where columns have no names, got {given[key]!r} instead."
                ) from None
        single = key not in several or (form == "svmlight" and len(items) == 1)
        given[key] = items[0] if single else items
    return given
