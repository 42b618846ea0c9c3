"""``smtl predict``: a model's answers to new data."""

from __future__ import annotations

import json as to_json
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from smtl.cli._errors import CommandError
from smtl.cli._model_data import (
    STREAM,
    check_ignored,
    open_table,
    other_columns,
    read_as_in_training,
    tell_new_values,
)
from smtl.cli._model_options import Json, Model, list_of, read_saved, writing_errors
from smtl.cli._output import forget_output
from smtl.cli._reading import one_line_errors, with_reading_options
from smtl.cli._writable import check_writable

__all__ = ["predict"]

_WHAT = ("labels", "scores", "both", "probabilities")
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
    ignore: Annotated[str | None, typer.Option(metavar="NAMES", help="Columns that are no features.")] = None,
    json: Json = False,
) -> None:
    """Write a model's answers to the rows of a file.

    Columns are matched by name, in any order. CSV, JSON lines and Parquet are read some rows at a time, so that files
    of any size take the same memory.

    Example: smtl predict songs.skops new.csv --keep id --what both -o answers.csv
    """
    if what not in _WHAT:
        raise typer.BadParameter(f"--what must be one of {', '.join(_WHAT)}, got {what!r} instead.")
    form = _format(out, form, json)
    if out != STREAM:
        check_writable(Path(out), advice="choose another with -o")
        if Path(out).exists() and any(Path(p).exists() and Path(p).samefile(out) for p in (source, model)):
            raise CommandError(f"cannot write {out!r}: it is the model or the data; choose another with -o.")
    fitted, metadata = read_saved(model)
    check_ignored(list_of(ignore), metadata, labels=False)
    n_rows, counts = 0, dict.fromkeys(metadata["tasks"], 0)

    from smtl.model.predicting import Output
    from smtl.model.writers import writing

    output = Output(
        metadata["tasks"], metadata["kind"], what in ("labels", "both"), what in ("scores", "both"), what == _WHAT[-1]
    )
    target: Path | IO[str] = sys.stdout if out == STREAM else Path(out)
    with one_line_errors(), _columns(source, reading, fitted, metadata, output, list_of(keep), list_of(ignore)) as rows:
        try:
            with writing(target, form) as write:
                for columns in rows:
                    write(columns)
                    n_rows += len(next(iter(columns.values())))
                    for name in counts.keys() & columns.keys():
                        counts[name] += int(columns[name].sum())
        except BrokenPipeError:
            forget_output()
            raise typer.Exit(1) from None
        except OSError as error:
            raise writing_errors(out, error) from error
    if json and out != STREAM:
        found = {"positives": counts} if what in ("labels", "both") and "label" not in counts else {}
        print(to_json.dumps({"out": out, "rows": n_rows, **found}, indent=2, ensure_ascii=False))
    elif out != STREAM:
        print(f"Wrote {out}: {n_rows:,} rows.")


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


def _by_position(
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


@contextmanager
def _columns(
    source: str,
    reading: dict[str, Any],
    fitted: Any,
    metadata: dict[str, Any],
    output: Any,
    keep: list[str],
    ignore: list[str],
) -> Iterator[Iterator[dict[str, Any]]]:
    """Open the data, and give the output's columns, some rows at a time; tell of values that are new in the end."""
    from smtl.model.matching import arranged, match_columns
    from smtl.model.predicting import predict_matrix, predict_table

    features = metadata["features"]
    with ExitStack() as stack:
        table = open_table(source, reading, stack)
        if table is None:
            if keep:
                raise typer.BadParameter("--keep goes with CSV, JSON lines and Parquet.")
            data = read_as_in_training(source, reading, metadata, ignore)
            X = arranged(data, features, metadata["named_features"])
            yield predict_matrix(fitted, X, data.tasks if metadata["kind"] == "tasks" else None, output)
            tell_new_values(data, metadata)
            return
        others = {*set.union(*other_columns(metadata).values()), *keep, *ignore}
        if reading.get("header") and not metadata["named_features"]:
            features = _by_position(table.names, reading, {*keep, *ignore}, len(features), source)
            others = set(table.names) - set(features)
        if unknown := [name for name in keep if name not in table.names]:
            raise CommandError(f"--keep must name columns of the data, got {unknown[0]!r} instead.")
        try:
            matching = match_columns(table.names, features, others)
        except ValueError as error:
            advice = (
                " Columns that are no features: --ignore NAMES, or --keep NAMES." if "unknown" in str(error) else ""
            )
            raise CommandError(f"{source}: {error}{advice}") from error
        task = (metadata.get("columns") or {}).get("task")
        task = task if task in table.names else None
        yield predict_table(fitted, table, matching, output, keep=keep, task=task)
        for warning in matching.warnings():
            print("Warning:", warning, file=sys.stderr)
