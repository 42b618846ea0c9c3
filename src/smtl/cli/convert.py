"""``smtl convert``: data from one format into another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from smtl.cli._guard import files_of, guard
from smtl.cli._model_options import writing_errors
from smtl.cli._reading import one_line_errors, read_matrix, with_reading_options
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
    Of a table, numbers stay as they are, and each value of another column is a feature. --number, --text and --date
    name columns that become numbers, words (TF-IDF) or parts of dates, --ignore those that are left out.
    OUT is written in the format that its suffix names; it takes its place once it is whole.

    Example: smtl convert yeast.arff yeast.csv
    """
    from smtl.datasets import write
    from smtl.datasets.files import stem

    check_writable(out, advice="choose another OUT")
    names = [out.with_name(f"{stem(out)}.xml")] if ".arff" in map(str.lower, out.suffixes[-2:]) else []
    guard(files_of(source, reading), [out, *names], "choose another OUT")
    data = read_matrix(source, reading)
    with one_line_errors():
        try:
            write(data, out)
        except OSError as error:
            raise writing_errors(out, error) from error
    n, d = data.X.shape
    tasks = f"{data.Y.shape[1]} labels" if data.tasks is None else f"{len(set(data.tasks.tolist()))} tasks"
    print(f"Wrote {out}: {n} rows, {d} features, {tasks}.")
