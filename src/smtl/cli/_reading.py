"""Data that a command is given: a file of any format, or a set by its name; and the options that go with it."""

from __future__ import annotations

import csv
import functools
import inspect
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from smtl.cli._errors import CommandError, reason

if TYPE_CHECKING:
    from smtl.datasets import Dataset, Format

__all__ = [
    "LABEL_OPTIONS",
    "WeightColumn",
    "is_table",
    "layout_options",
    "list_of",
    "one_line_errors",
    "read_data",
    "read_matrix",
    "with_reading_options",
]

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
    "class_column": (str, "--class-column", "NAME", "A column with one class a row."),
    "tags": (str, "--tags", "NAME", "A column with several tags in a cell."),
    "tag_separator": (str, "--tag-separator", "TEXT", "What stands between tags; found if not given."),
    "yes": (str, "--yes", "VALUE", "The value of label columns that is yes; found if not given."),
    "tasks": (str, "--task-column", "NAME", "A column that says each row's task."),
    "ignore": (str, "--ignore", "NAMES", "Columns that are no features."),
    "number": (str, "--number", "NAMES", "Columns of a table that are numbers, whatever they look like."),
    "category": (str, "--category", "NAMES", "Columns that are categories."),
    "text": (str, "--text", "NAMES", "Columns that are text."),
    "date": (str, "--date", "NAMES", "Columns that are dates."),
    "xml": (Path, "--xml", "FILE", "The names of the labels of a Mulan ARFF file."),
    "nominal": (str, "--nominal", "one-hot|ordinal", "What becomes of nominal features."),
    "header": (bool, "--no-header", None, "The first line has values; columns go by their positions, from 0 on."),
    "skip": (int, "--skip", "NUMBER", "How many lines to pass over at the start."),
    "separator": (str, "--separator", "TEXT", "What stands between two cells; found if not given."),
    "decimal": (str, "--decimal", "SIGN", "The decimal sign, . or ,; found if not given."),
    "encoding": (str, "--encoding", "NAME", "How characters are written; found if not given."),
}

# What one file may take, by the name of the limit.
_LIMITS: dict[str, tuple[Any, str, str, str]] = {
    "bytes": (int, "--max-bytes", "NUMBER", "The most that a file may take in memory. [default: by its size]"),
    "columns": (int, "--max-columns", "NUMBER", "The most columns of a table. [default: 65536, of ARFF 262144]"),
    "seconds": (float, "--max-seconds", "NUMBER", "The most time to read a file. [default: by its size]"),
}

# Of commands that weigh rows.
WeightColumn = Annotated[
    str | None, typer.Option("--weight-column", metavar="NAME", help="A column of a table that says what a row counts.")
]

# What tells where labels are.
LABEL_OPTIONS = ("labels", "prefix", "last", "class_column", "tags", "tag_separator", "yes")


# Longer names of options.
_ALSO = {"--labels": ("--label-columns",), "--category": ("--categorical",)}

# What errors call a reader's parameters, and what the command line does; what has no option is left to Python.
_FLAGS = {key: flag for key, (_, flag, _, _) in _OPTIONS.items()}
_FLAGS |= {"categorical": "--category", "weights": "--weight-column"}
_IN_OPTIONS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"pass labels=\[names\], prefix=, last= or ", "pass --labels NAMES, --label-prefix, --last or "),
    (r"pass labels=\[names\], prefix=, last=, tags= or ", "pass --labels NAMES, --label-prefix, --last, --tags or "),
    (r"\bclass_column=", "--class-column"),
    (r"one of labels, prefix, last and class_column", "one of --labels, --label-prefix, --last and --class-column"),
    (
        r"one of labels, prefix, last, class_column, tags, got",
        "one of --labels, --label-prefix, --last, --class-column and --tags, got",
    ),
    (r"pass categorical=\[(['\"])(.*)\1\]", r"pass --category \2"),
    (r"pass xml=", "pass --xml FILE"),
    (r"pass header=False", "pass --no-header"),
    (r"pass skip=(\d+)", r"pass --skip \1"),
    (
        r"\b(labels|last|class_column|tasks|weights|tags|categorical|ignore|number|category|text|date) must "
        r"(?=be one of the columns|be from|name features|name columns|name a column)",
        lambda found: f"{_FLAGS[found[1]]} must ",
    ),
    (r"max_(?:bytes|columns|seconds)=(?=[\d,.]+ )", ""),
    (r"set SMTL_MAX_(COLUMNS|SECONDS) to a larger number", lambda found: f"pass a larger --max-{found[1].lower()}"),
    (r"pass a larger max_bytes", "pass a larger --max-bytes"),
    (
        r"pass nominal='ordinal', or a larger max_bytes",
        "leave out columns with many values by --ignore NAMES or, where the command takes it, pass --nominal ordinal, "
        "or a larger --max-bytes",
    ),
    (r"give tag_separator", "give --tag-separator"),
    (r"pass (?=drop=|features=|sparse_labels=)", "in Python, pass "),
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
    added += [
        inspect.Parameter(
            f"max_{key}",
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[kind | None, typer.Option(flag, metavar=metavar, help=text, min=1)],
        )
        for key, (kind, flag, metavar, text) in _LIMITS.items()
    ]

    @functools.wraps(command)
    def with_options(*arguments: Any, **options: Any) -> None:
        reading = {key: options.pop(key) for key in _OPTIONS if key in options}
        with _limited({key: options.pop(f"max_{key}", None) for key in _LIMITS}):
            command(*arguments, reading=reading, **options)

    parameters = [*(p for p in own if p.name != "reading"), *added]
    # What typer asks for, in its older and newer versions; and neither is to look at the wrapped function instead.
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {p.name: p.annotation for p in parameters}
    del with_options.__wrapped__
    return with_options


@contextmanager
def _limited(given: dict[str, float | None]) -> Iterator[None]:
    """Have readers keep to limits, those in processes of their own, too."""
    from smtl.datasets.limits import VARIABLES

    before = {VARIABLES[key]: os.environ.get(VARIABLES[key]) for key in given}
    os.environ.update({VARIABLES[key]: str(value) for key, value in given.items() if value is not None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def one_line_errors() -> Iterator[None]:
    """End the command with one line where data cannot be read or written."""
    try:
        yield
    except (ValueError, ImportError, MemoryError) as error:
        raise CommandError(_in_options(str(error)) or "not enough memory.") from error
    except OSError as error:
        if error.strerror is None and error.filename is None:
            raise CommandError(str(error)) from error
        place = "" if error.filename is None else f"{error.filename}: "
        raise CommandError(f"{place}{reason(error)}.") from error


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
    roles = ("labels", "last", "class_column", "tags", "tasks") if reading.get("header") else ()
    words: list[str] = []
    for key, (kind, flag, _, _) in _OPTIONS.items():
        if reading.get(key) and key in (*roles, "header", "separator", "skip", "decimal", "encoding"):
            words += [flag] if kind is bool else [flag, str(reading[key])]
    return f" {shlex.join(words)}" if words else ""


def layout_options(reading: dict[str, Any]) -> dict[str, Any]:
    """Return how a table is laid out, as its readers want it.

    Parameters
    ----------
    reading : dict
        The options as the user gave them; None for those not given.

    Returns
    -------
    dict
        Options of the layout that were given.

    Examples
    --------
    >>> layout_options({"header": True, "skip": None, "separator": ";", "labels": "a"})
    {'separator': ';', 'header': False}
    """
    keys = ("separator", "decimal", "encoding", "skip")
    found = {key: reading[key] for key in keys if reading.get(key) is not None}
    return found | ({"header": False} if reading.get("header") else {})


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


def read_data(source: str, reading: dict[str, Any]) -> Dataset:
    """Return the data set that a command is given; of a table, its columns as they are.

    Parameters
    ----------
    source : str
        The name of a set, perhaps with a variant behind a colon, or else a file.
    reading : dict
        The options as the user gave them; None for those not given.

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
            ignored = list_of(given.pop("ignore", None))
            _check_options(given, datasets.load_dataset, f"the named set {source}")
            return _without(datasets.load_dataset(source, **given), ignored)
        if not Path(source).exists():
            names = ", ".join(datasets.dataset_names())
            raise CommandError(f"{source!r} must be a file or a named set, got neither; the sets are {names}.")
        if is_table(source, reading):
            return _read_table(source, given)
        ignored, form = list_of(given.pop("ignore", None)), datasets.Format.known[datasets.format_of(source)]()
        _check_options(given, form.read, f"{form.name} files")
        return _without(form.read(source, **_converted(given, form)), ignored)


def read_matrix(source: str, reading: dict[str, Any]) -> Dataset:
    """Return a data set whose features are numbers: of a table, numbers as they are, and other columns one-hot.

    Parameters
    ----------
    source, reading
        As in `read_data`.

    Returns
    -------
    Dataset
        Features and labels.
    """
    from smtl.tables.data import TableData
    from smtl.tables.matrix import as_matrix

    nominal: Any = reading.get("nominal") or "one-hot"
    with one_line_errors():
        table = Path(source).exists() and is_table(source, reading)
    if table:
        reading = reading | {"nominal": None}
    data = read_data(source, reading)
    with one_line_errors():
        return as_matrix(data, nominal, source) if isinstance(data, TableData) else data


def is_table(source: str, reading: dict[str, Any]) -> bool:
    """Return whether a file is a table, rather than one of the formats of the field.

    Parameters
    ----------
    source : str
        The file.
    reading : dict
        The options as the user gave them.

    Returns
    -------
    bool
        True for CSV, Parquet, JSON lines and Excel.
    """
    from smtl.datasets import DatasetError, Format, format_of

    # Lines before a table can look like anything; who says how to pass over them says that it is a table.
    if any(reading.get(key) for key in ("header", "skip", "separator", "encoding", "decimal")):
        return True
    try:
        return bool(Format.known[format_of(source)].is_table)
    except DatasetError as error:
        if "known format" in error.message:  # one column of text has no separator
            return Path(source).suffix.lower() in (".csv", ".tsv", ".txt")
        raise


def _read_table(source: str, given: dict[str, Any]) -> Dataset:
    from smtl.tables.data import read_table_data

    _check_options(given, read_table_data, "tables")
    several = ("labels", "ignore", "number", "category", "text", "date")
    for key in set(several) & set(given):
        given[key] = list_of(given[key])
    return read_table_data(source, **given)


def list_of(names: str | None) -> list[str]:
    """Return names that have commas between them.

    Examples
    --------
    >>> list_of('id, "last, first"')
    ['id', 'last, first']
    """
    return next(csv.reader([names], skipinitialspace=True)) if names else []


def _without(data: Dataset, ignored: Collection[str]) -> Dataset:
    if not ignored:
        return data
    from smtl.model.training import without_columns

    return without_columns(data, ignored)


def _check_options(given: dict[str, Any], reader: Any, what: str) -> None:
    allowed = inspect.signature(reader).parameters
    for key in given:
        if key not in allowed:
            raise typer.BadParameter(f"{_FLAGS[key]} does not go with {what}.")


def _converted(given: dict[str, Any], form: Format) -> dict[str, Any]:
    """Return options as the readers want them: a list of labels, by their numbers where columns have no names."""
    if "labels" in given:
        items: list[Any] = list_of(given["labels"])
        if form.numbered_labels:
            try:
                items = [int(item) for item in items]
            except ValueError:
                raise typer.BadParameter(
                    f"--labels must be whole numbers where columns have no names, got {given['labels']!r} instead."
                ) from None
        given["labels"] = items[0] if form.numbered_labels and len(items) == 1 else items
    return given
