"""``smtl predict``: a model's answers to new data."""

from __future__ import annotations

import json as to_json
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from smtl.cli._errors import CommandError, reason
from smtl.cli._guard import STREAM, files_of, guard
from smtl.cli._model_data import (
    check_ignored,
    is_table_source,
    label_form,
    other_columns,
    read_as_in_training,
    tell_columns,
    tell_new_values,
)
from smtl.cli._model_options import Json, Model, Strict, read_saved, writing_errors
from smtl.cli._output import data_output, forget_output
from smtl.cli._reading import layout_options, list_of, one_line_errors, with_reading_options
from smtl.cli._writable import check_writable
from smtl.registry import did_you_mean

__all__ = ["predict"]

_WHAT = ("labels", "scores", "both", "probabilities", "all")
_FORMS = ("csv", "tsv", "jsonl", "parquet")


@with_reading_options
def predict(
    model: Model,
    source: Annotated[
        str, typer.Argument(metavar="DATA", help="A file of any format, the name of a set, or - for CSV from a stream.")
    ],
    reading: dict[str, Any],
    out: Annotated[
        str,
        typer.Option("-o", "--out", metavar="FILE", help="Where to write: .csv, .tsv, .jsonl or .parquet; - to print."),
    ] = STREAM,
    what: Annotated[str, typer.Option(metavar="|".join(_WHAT), help="What to write of each row.")] = "labels",
    form: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="|".join(_FORMS), help="The format, where the name of the file does not say it."
        ),
    ] = None,
    keep: Annotated[str | None, typer.Option(metavar="NAMES", help="Columns to copy, such as an id.")] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Write text as it is, also what a spreadsheet or a terminal would run.")
    ] = False,
    as_tags: Annotated[bool, typer.Option("--as-tags", help="Write answers as tags in one column.")] = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Write a model's answers to the rows of a file.

    Columns are matched by name, in any order. CSV, JSON lines and Parquet are read some rows at a time, so that files
    of any size take the same memory. In CSV, what a spreadsheet would run as a formula gets an apostrophe before it.

    Example: smtl predict songs.skops new.csv --keep id --what both -o answers.csv
    """
    if what not in _WHAT:
        raise typer.BadParameter(f"--what must be one of {', '.join(_WHAT)}, got {what!r} instead.")
    form = _format(out, form, json)
    if out != STREAM:
        check_writable(Path(out), advice="choose another with -o")
    guard([model, *files_of(source, reading)], [] if out == STREAM else [Path(out)])
    fitted, metadata = read_saved(model)
    check_ignored(reading, metadata, labels=False)
    n_rows, counts = 0, dict.fromkeys(metadata["tasks"], 0)

    from smtl.model.predicting import Output
    from smtl.model.writers import writing

    output = Output(
        metadata["tasks"],
        metadata["kind"],
        labels=what in ("labels", "both", "all"),
        scores=what in ("scores", "both", "all"),
        probabilities=what in ("probabilities", "all"),
        form=label_form(metadata),
        as_tags=as_tags,
    )
    target: Path | IO[str] = data_output(raw=raw) if out == STREAM else Path(out)
    with one_line_errors(), _columns(source, reading, fitted, metadata, output, list_of(keep), strict) as rows:
        try:
            with writing(target, form, raw=raw) as write:
                for columns in rows:
                    write(columns)
                    n_rows += len(next(iter(columns.values())))
                    for name in counts.keys() & columns.keys():
                        counts[name] += _n_yes(columns[name], output.form, name)
        except BrokenPipeError:
            forget_output()
            raise typer.Exit(1) from None
        except OSError as error:
            if error.filename not in (None, out):  # of the data
                raise
            if out == STREAM:
                raise CommandError(f"standard output: {reason(error)}.") from error
            raise writing_errors(out, error) from error
    if json and out != STREAM:
        found = {"positives": counts} if what in ("labels", "both") and "label" not in counts else {}
        print(to_json.dumps({"out": out, "rows": n_rows, **found}, indent=2, ensure_ascii=False))
    elif out != STREAM:
        print(f"Wrote {out}: {n_rows:,} rows.")


def _n_yes(column: Any, form: Any, name: str) -> int:
    """Return in how many rows the answer is yes."""
    if form is None or form.kind != "columns" or not isinstance(column, list):
        return int(column.sum()) if hasattr(column, "sum") else 0
    yes = form.yes[form.names.index(name)]
    return sum(cell == yes for cell in column)


def _format(out: str, form: str | None, json: bool) -> str:
    """Return the format of the output."""
    from smtl.model.writers import FORMATS

    if form is not None and form not in _FORMS:
        raise typer.BadParameter(f"--format must be one of {', '.join(_FORMS)}, got {form!r} instead.")
    if out == STREAM:
        form = form or ("jsonl" if json else "csv")
        if form == "parquet":
            raise typer.BadParameter("Parquet cannot be printed; name a file with -o.")
        return form
    name = Path(out)
    suffix = (name.with_suffix("") if name.suffix.lower() in (".gz", ".bz2") else name).suffix.lower()
    if form is None and suffix not in FORMATS:
        raise typer.BadParameter(
            f"-o must end in {', '.join(FORMATS)}, or --format say the format, got {out!r} instead."
        )
    return form or FORMATS[suffix]


@contextmanager
def _columns(
    source: str,
    reading: dict[str, Any],
    fitted: Any,
    metadata: dict[str, Any],
    output: Any,
    keep: list[str],
    strict: bool,
) -> Iterator[Iterator[dict[str, Any]]]:
    """Open the data, and give the output's columns, some rows at a time; tell of values that are new in the end."""
    from smtl.model.predicting import predict_matrix, predict_table
    from smtl.model.scores import encoder_of, takes_frames
    from smtl.tables.batches import open_batches

    encoder = encoder_of(fitted)
    if not is_table_source(source, reading):
        if keep:
            raise typer.BadParameter("--keep goes with tables: CSV, JSON lines, Parquet, Excel.")
        data, X = read_as_in_training(source, reading, fitted, metadata, strict=strict)
        X = X if encoder is None else encoder.transform(X)
        model = fitted if encoder is None else fitted[1:]
        yield predict_matrix(model, X, data.tasks if metadata["kind"] == "tasks" else None, output)
        tell_new_values(data, fitted, metadata)
        return
    if takes_frames(fitted):
        yield _of_a_frame(source, reading, fitted, metadata, output, keep)
        return
    if source == STREAM and sys.stdin is None:
        raise CommandError("standard input is closed; name a file.")
    stream: Any = sys.stdin.buffer if source == STREAM else source
    numbers = _numbers(encoder, reading, metadata)
    with open_batches(stream, numbers=numbers, raw=keep, **layout_options(reading)) as batches:
        names = batches.names
        raw = [name for name in keep if batches.layout.form == "csv" and name not in numbers]
        if unknown := [name for name in keep if name not in names]:
            near = did_you_mean(unknown[0], names)
            raise CommandError(f"--keep must name columns of the data, got {unknown[0]!r} instead{near}.")
        task = (metadata.get("columns") or {}).get("task")
        task = task if task in names else None
        if encoder is None:
            with _matched(batches, reading, fitted, metadata, output, keep, task, raw, source) as rows:
                yield rows
            return
        new: dict[str, dict[str, int]] = {}
        tables: Iterator[Any] = iter(batches)
        if reading.get("header"):
            names, tables = _by_position(batches, metadata["features"], keep)
        tell_columns(names, metadata, source, strict=strict, kept=[*keep, *list_of(reading.get("ignore"))])
        yield predict_table(fitted, _noting(tables, encoder, new), output, keep=keep, task=task, raw=raw)
        for warning in encoder.in_words(new):
            print("Warning:", warning, file=sys.stderr)


def _of_a_frame(
    source: str, reading: dict[str, Any], fitted: Any, metadata: dict[str, Any], output: Any, keep: list[str]
) -> Iterator[dict[str, Any]]:
    """Return the output's columns of a model that takes data frames: columns must have the types that they had."""
    from smtl.model.predicting import predict_table
    from smtl.tables.reading import read_table

    if source == STREAM:
        raise CommandError("a model that takes data frames reads files, got a stream instead; name a file.")
    table = read_table(source, **layout_options(reading))
    for name in [*metadata["features"], *keep]:
        if name not in table.column_names:
            near = did_you_mean(name, table.column_names)
            raise CommandError(f"{source}: there must be a column {name!r}, got none{near}.")
    yield from predict_table(fitted, [table], output, keep=keep)


def _numbers(encoder: Any, reading: dict[str, Any], metadata: dict[str, Any]) -> list[str]:
    """Return the columns that must be numbers; of a file without names, the model looks at them later."""
    if encoder is None:
        return list(metadata["features"]) if metadata["named_features"] else []
    return [] if reading.get("header") else encoder.number_columns()


def _by_position(batches: Any, features: Sequence[str], keep: Sequence[str]) -> tuple[list[str], Iterator[Any]]:
    """Return names and rows of a file without names; if it has just the features, they are these, in their order."""
    from smtl.tables.data import without_header

    if len(batches.names) != len(features) or keep:
        return batches.names, iter(batches)
    return list(features), (without_header(table, features) for table in batches)


def _noting(tables: Iterator[Any], encoder: Any, new: dict[str, dict[str, int]]) -> Iterator[Any]:
    """Pass tables on, and note the values that are new to the model."""
    for table in tables:
        for name, values in encoder.new_levels(table).items():
            seen = new.setdefault(name, {})
            for value, n in values.items():
                seen[value] = seen.get(value, 0) + n
        yield table


@contextmanager
def _matched(
    batches: Any,
    reading: dict[str, Any],
    fitted: Any,
    metadata: dict[str, Any],
    output: Any,
    keep: list[str],
    task: str | None,
    raw: list[str],
    source: str,
) -> Iterator[Iterator[dict[str, Any]]]:
    """Give the output's columns of a model that was trained on a matrix."""
    from smtl.model.matching import match_columns
    from smtl.model.predicting import predict_matched

    features, names, tables = metadata["features"], batches.names, iter(batches)
    others = {*set.union(*other_columns(metadata).values()), *keep, *list_of(reading.get("ignore"))}
    if not metadata["named_features"] and reading.get("header"):
        chosen = _feature_columns(names, reading, {*keep, *list_of(reading.get("ignore"))}, len(features), source)
        others = set(names) - set(chosen)
        features, tables = chosen, (_with_numbers(table, chosen) for table in tables)
    try:
        matching = match_columns(names, features, others)
    except ValueError as error:
        advice = " Columns that are no features: --ignore NAMES, or --keep NAMES." if "unknown" in str(error) else ""
        raise CommandError(f"{source}: {error}{advice}") from error
    yield predict_matched(fitted, tables, matching, output, keep=keep, task=task, raw=raw)
    for warning in matching.warnings():
        print("Warning:", warning, file=sys.stderr)


def _with_numbers(table: Any, names: Sequence[str]) -> Any:
    """Return a table with numbers in some of its columns of text."""
    from smtl.tables.parts import NumberPart

    for name in names:
        table = table.set_column(table.column_names.index(name), name, [NumberPart.floats(table.column(name), name)])
    return table


def _feature_columns(
    names: Sequence[str], reading: dict[str, Any], others: Collection[str], n_features: int, source: str
) -> list[str]:
    """Return the columns that are features, in their order, where neither the file nor the model has names."""
    labels = {*list_of(reading.get("labels")), reading.get("class_column"), reading.get("tasks")}
    found = [name for name in names[: len(names) - (reading.get("last") or 0)] if name not in labels | set(others)]
    if len(found) != n_features:
        raise CommandError(
            f"{source} must have {n_features} columns of features, as the training data had, got {len(found)} instead. "
            "Labels: --last NUMBER or --labels NUMBERS, others: --ignore NUMBERS."
        )
    return found
