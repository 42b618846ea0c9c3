"""``smtl compare``: methods on data sets, with the same splits, statistics and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from smtl.cli._errors import CommandError
from smtl.cli._reading import with_reading_options

__all__ = ["compare"]


@with_reading_options
def compare(
    data: Annotated[list[str], typer.Argument(metavar="DATA...", help="Named sets (see smtl datasets), or files.")],
    reading: dict[str, Any],
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="M...",
            help="Names, families (smtl, mtl-cls, mtl-reg), import paths of estimators, apart or with commas. "
            "All by default.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the runs and the report go.")] = Path("smtl-study"),
    splits: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Splits of each data set, 60/40.")] = 10,
    cv: Annotated[int, typer.Option(min=2, metavar="NUMBER", help="Folds of the inner search.")] = 5,
    values: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Values of C in the inner search.")] = 20,
    protocol: Annotated[
        str, typer.Option(metavar="NAME", help="stratified, or paper: splits at random.")
    ] = "stratified",
    jobs: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Processes, one thread each.")] = 1,
    retry: Annotated[bool, typer.Option("--retry-failed", help="Run again what has failed.")] = False,
) -> None:
    """Compare methods on data sets, and write a report.

    Every method gets the same splits, the same scaled features, and its own search for C.
    The options tell how tables are to be read.
    Killed at any moment, the same command goes on where it was.

    Example: smtl compare digits --methods smtl,br --splits 3 --jobs 2 --out study
    """
    from smtl.cli._study import chosen_methods, guard_study, missing_data, run_study, told_apart
    from smtl.cli._study_tables import prepared_tables, that_take_missing
    from smtl.experiments import Study

    if methods:
        data, more = told_apart(data)
        methods += more
    names = chosen_methods(methods or [])
    try:
        study = Study(protocol=protocol, cv=cv, n_values=values)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if not data:
        raise CommandError("Which data? Name at least one set (see smtl datasets) or file before --methods.")
    guard_study(data, out, reading)
    data = prepared_tables(data, reading, out)
    for reason in missing_data(data).values():
        raise CommandError(reason)
    names = that_take_missing(names, data)
    run_study(data, names, out, study=study, n_splits=splits, n_jobs=jobs, retry=retry)
