"""``smtl reproduce``: the paper's whole study."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from smtl.cli._errors import CommandError

__all__ = ["reproduce"]

SETS = [
    "flags",
    "emotions",
    "segmentation",
    "cal500",
    "scene",
    "yeast",
    "optdigits",
    "mediamill:paper",
    "tmc2007:paper",
]
QUICK_SETS = ["flags", "emotions", "segmentation"]
# Those that can learn from tasks that have labels on different rows.
IMBALANCE_SETS = ["segmentation", "emotions", "optdigits"]
IMBALANCE_FAMILIES = ["smtl", "mtl-cls", "mtl-reg", "struct-svm"]
RATIOS = ["1:1", "1:5", "1:10"]


def reproduce(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the runs and the report go.")] = Path("smtl-paper"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sets, 3 splits, 5 values of C, 3 folds: some minutes.")
    ] = False,
    splits: Annotated[int | None, typer.Option(min=1, metavar="NUMBER", help="Splits of each data set.")] = None,
    cv: Annotated[int | None, typer.Option(min=2, metavar="NUMBER", help="Folds of the inner search.")] = None,
    values: Annotated[int | None, typer.Option(min=1, metavar="NUMBER", help="Values of C.")] = None,
    protocol: Annotated[str, typer.Option(metavar="NAME", help="paper: splits at random; or stratified.")] = "paper",
    jobs: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Processes, one thread each.")] = 2,
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Leave out data sets that are not here.")
    ] = False,
    retry: Annotated[bool, typer.Option("--retry-failed", help="Run again what has failed.")] = False,
) -> None:
    """Run the paper's study: nine data sets, all methods, the imbalance study and the training times.

    Killed at any moment, the same command goes on where it was.

    Example: smtl reproduce --quick --out study
    """
    from smtl.cli._study import chosen_methods, guard_study, missing_data, run_study
    from smtl.experiments import Study

    sets, skewed = list(QUICK_SETS if quick else SETS), [name for name in IMBALANCE_SETS]
    if quick:
        skewed = [name for name in skewed if name in sets]
    if missing := missing_data([*sets, *skewed]):
        if not skip_missing:
            raise CommandError(f"{next(iter(missing.values()))} Or leave it out with --skip-missing.")
        for reason in missing.values():
            print("Left out:", " ".join(reason.split()), file=sys.stderr)
        sets, skewed = ([name for name in names if name not in missing] for names in (sets, skewed))
        if not sets:
            raise CommandError("none of the paper's data sets is here; see smtl datasets.")
    try:
        study = Study(protocol=protocol, cv=cv or (3 if quick else 5), n_values=values or (5 if quick else 20))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    guard_study(sets, out)
    ratios = [f"{name}@{ratio}" for name in skewed for ratio in RATIOS]
    run_study(
        sets,
        chosen_methods([]),
        out,
        study=study,
        n_splits=splits or (3 if quick else 10),
        n_jobs=jobs,
        retry=retry,
        also=[(ratios, chosen_methods(IMBALANCE_FAMILIES))],
    )
