"""``smtl convert``: data from one format into another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from smtl.cli._errors import CommandError
from smtl.cli._reading import one_line_errors, read_data, with_reading_options
from smtl.cli._writable import check_writable

__all__ = ["convert"]


@with_reading_options
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A file of any format, or the name of a set.")],
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="The file: .arff (with an .xml beside it), .svm, .csv or .tsv; .gz, .bz2."),
    ],
    reading: dict[str, Any],
) -> None:
    """Convert data from one format into another.

    The options tell how IN is to be read.
    OUT is written in the format that its suffix names; it takes its place once it is whole.

    Example: smtl convert yeast.arff yeast.csv
    """
    check_writable(out, advice="choose another OUT")
    if out.exists() and Path(source).exists() and out.samefile(source):
        raise CommandError(f"cannot write {str(out)!r}: it is the file to be converted; choose another OUT.")

    from smtl.datasets import write

    data = read_data(source, reading)
    with one_line_errors():
        write(data, out)
    n, d = data.X.shape
    tasks = f"{data.Y.shape[1]} labels" if data.tasks is None else f"{len(set(data.tasks.tolist()))} tasks"
    print(f"Wrote {out}: {n} rows, {d} features, {tasks}.")
