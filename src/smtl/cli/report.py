"""``smtl report``: a page about a model, with a cut-off that can be moved."""

from __future__ import annotations

import json as to_json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from smtl.cli._errors import CommandError
from smtl.cli._guard import files_of, guard
from smtl.cli._model_data import (
    check_ignored,
    is_table_source,
    read_as_in_training,
    tell_new_values,
    use_of,
)
from smtl.cli._model_options import Json, Model, Strict, figure, read_saved, writing_errors
from smtl.cli._reading import layout_options, one_line_errors, with_reading_options
from smtl.cli._writable import check_writable
from smtl.registry import did_you_mean
from smtl.terminal import clean_console

__all__ = ["report"]


@with_reading_options
def report(
    model: Model,
    source: Annotated[str, typer.Argument(metavar="DATA", help="A file of any format, or the name of a set.")],
    reading: dict[str, Any],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="Where to write the page.")] = Path(
        "report.html"
    ),
    row_id: Annotated[
        str | None, typer.Option("--id", metavar="NAME", help="A column of a table that says what rows are called.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The page's heading.")] = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Write a page about a model on data with labels; any browser shows it, without a network.

    It has figures and curves of each task with a cut-off that can be moved, calibration, the errors that the model is
    surest of, and its weights. Of the data it holds scores, counts and the numbers (or ids) of those errors.

    Example: smtl report songs.skops test.csv -o report.html
    """
    check_writable(out, (".html", ".htm"), advice="choose another with -o")
    guard([model, *files_of(source, reading)], [out])
    with _telling() as tell:
        tell("Reading the data")
        fitted, metadata = read_saved(model)
        check_ignored(reading, metadata)
        names = None if row_id is None else _column(source, reading, row_id)
        if row_id is not None and use_of(row_id, metadata) is None and not metadata.get("table"):
            reading = reading | {"ignore": ",".join([*filter(None, [reading.get("ignore")]), _quoted(row_id)])}
        named = [row_id] if row_id else []
        data, _ = read_as_in_training(source, reading, fitted, metadata, strict=strict, kept=named)
        kept = getattr(data, "rows", None)
        if names is not None and kept is not None:
            names = [names[row] for row in kept]

        from smtl.model.report import write_report

        with one_line_errors():
            try:
                found = write_report(
                    fitted,
                    data,
                    out,
                    metadata=metadata,
                    row_names=names,
                    title=title or f"{model.stem} on {Path(source).name}",
                    tell=tell,
                )
            except OSError as error:
                raise writing_errors(out, error) from error
    tell_new_values(data, fitted, metadata)
    size = out.stat().st_size
    if json:
        known = {"report": str(out), "bytes": size, "model": str(model), "data": source}
        print(to_json.dumps(known | found, indent=2, ensure_ascii=False))
        return
    macro = found["macro"]
    print(f"Wrote {out}: {found['rows']:,} rows, {len(found['tasks']):,} tasks, {size / 1e6:.1f} MB.")
    print(
        f"Mean F1 {figure(macro['f1'])}, mean AUC {figure(macro['auc'])}, mean average precision "
        f"{figure(macro['average_precision'])}. Open it in a browser."
    )


@contextmanager
def _telling() -> Iterator[Callable[[str], None]]:
    """Show what is being done, on a terminal; elsewhere nothing."""
    console = clean_console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status("Reading the model") as status:
        yield status.update


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _column(source: str, reading: dict[str, Any], name: str) -> list[str]:
    """Return a column of a table as text."""
    from smtl.tables.batches import open_batches

    if not is_table_source(source, reading):
        raise typer.BadParameter("--id goes with tables: CSV, JSON lines, Parquet, Excel.")
    with one_line_errors(), open_batches(source, **layout_options(reading)) as batches:
        if name not in batches.names:
            near = did_you_mean(name, batches.names)
            raise CommandError(f"--id must name a column of the data, got {name!r} instead{near}.")
        cells = [cell for table in batches for cell in table.column(name).to_pylist()]
        return ["" if cell is None else str(cell) for cell in cells]
