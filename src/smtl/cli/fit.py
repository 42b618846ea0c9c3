"""``smtl fit``: train a model and save it."""

from __future__ import annotations

import json as to_json
import math
import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smtl.cli._choices import NamedChoices, check_metric_name, check_penalty_name
from smtl.cli._model_options import Json, figure, list_of, plain_table, read_for_model
from smtl.cli._reading import as_flags, one_line_errors, with_reading_options
from smtl.cli._saving import save, summary_of
from smtl.cli._writable import check_writable

if TYPE_CHECKING:
    from rich.console import Console

    from smtl.datasets import Dataset
    from smtl.model.training import Settings

__all__ = ["SETTINGS", "fit"]

SETTINGS = {"cls": NamedChoices}

_THRESHOLDS = ("auto", "per-task", "shared", "smoothed")


def _check_C(text: str) -> str:
    _number(text, ("cv", "auto"), "--C", positive=True)
    return text


def _check_threshold(text: str | None) -> str | None:
    if text is not None:
        _number(text, _THRESHOLDS, "--threshold")
    return text


def _number(text: str, names: tuple[str, ...], option: str, positive: bool = False) -> str | float:
    """Return one of the names as it is, and anything else as the number it must be."""
    if text in names:
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or (positive and value <= 0):
        kind = "a positive number" if positive else "a number"
        raise typer.BadParameter(f"{option} must be {', '.join(names)} or {kind}, got {text!r} instead.")
    return value


@with_reading_options
def fit(
    source: Annotated[str, typer.Argument(metavar="DATA", help="A file of any format, or the name of a set.")],
    reading: dict[str, Any],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="MODEL", help="Where to save the model.")] = Path(
        "model.skops"
    ),
    metric: Annotated[str, typer.Option(callback=check_metric_name, metavar="NAME", help="What to train on.")] = "f1",
    penalty: Annotated[
        str, typer.Option(callback=check_penalty_name, metavar="NAME", help="What ties the tasks together.")
    ] = "l21",
    C: Annotated[
        str,
        typer.Option(
            "--C",
            callback=_check_C,
            metavar="cv|auto|NUMBER",
            help="Weight of the loss: chosen by cross-validation, from the data's scale without any, or given.",
        ),
    ] = "cv",
    cv: Annotated[
        int | None, typer.Option(min=2, metavar="NUMBER", help="Folds, where C is chosen. [default: 5]")
    ] = None,
    values: Annotated[
        int | None, typer.Option(min=1, metavar="NUMBER", help="Values of C to choose from. [default: 20]")
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            callback=_check_threshold,
            metavar="NAME|NUMBER",
            help="The cut: auto, per-task, shared, smoothed, or a number. [default: per-task with --C cv, else auto]",
        ),
    ] = None,
    test_size: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="Rows to keep for the test; 0 trains on all.")
    ] = 0.25,
    ignore: Annotated[str | None, typer.Option(metavar="NAMES", help="Columns that are no features.")] = None,
    scale: Annotated[bool, typer.Option("--scale/--no-scale", help="Put features on one scale.")] = True,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="NUMBER", help="For splits and folds.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Threads.")] = 1,
    json: Json = False,
) -> None:
    """Train a model, test it on rows kept for that, and save it.

    Missing features are filled, features scaled, nominal columns one-hot; all of that is part of the model.

    Example: smtl fit songs.csv --labels calm,sad -o songs.skops
    """
    check_writable(out, advice="choose another with -o")
    if C != "cv" and (cv is not None or values is not None):
        raise typer.BadParameter(f"--cv and --values go with --C cv, got --C {C}.")
    if reading.get("nominal") == "ordinal":
        raise typer.BadParameter("--nominal ordinal does not go with fit: the numbers could differ in other files.")

    from rich.console import Console

    console, status = Console(highlight=False), Console(stderr=True, highlight=False)
    with status.status("Reading the data") if status.is_terminal else nullcontext():
        from smtl.model.training import Settings, check_data

        cut = None if threshold is None else _number(threshold, _THRESHOLDS, "--threshold")
        settings = Settings(
            metric,
            penalty,
            _number(C, ("cv", "auto"), "--C", positive=True),
            cv or 5,
            values or 20,
            ("per-task" if (C, cut) == ("cv", "auto") else cut),
            scale,
            seed,
            jobs,
        )
        data = read_for_model(source, reading, list_of(ignore))
        with one_line_errors():
            check_data(data)
    model, result = _train(data, settings, test_size, status)
    summary = summary_of(model, data, source, settings, result, reading, list_of(ignore))
    save(model, data, out, summary)
    if json:
        print(to_json.dumps({"model": str(out), **summary}, indent=2, ensure_ascii=False))
    else:
        _print(console, summary, source, out, reading)


def _train(data: Dataset, settings: Settings, test_size: float, status: Console) -> tuple[Any, dict[str, Any] | None]:
    """Return the fitted pipeline, and what it scores on the rows that were held out."""
    import scipy.sparse as sp
    from threadpoolctl import threadpool_limits

    from smtl.cli._model_progress import showing_fit, telling_warnings
    from smtl.model.evaluation import evaluate
    from smtl.model.scores import answers_of, task_scores
    from smtl.model.training import hold_out, make_model, named_labels, rows_of, targets_of

    with one_line_errors(), telling_warnings(), threadpool_limits(settings.jobs):
        train, test = hold_out(data, test_size, settings.seed)
        part = rows_of(data, train)
        model = make_model(settings, sparse=sp.issparse(data.X), verbose=int(status.is_terminal))
        with showing_fit(status, model[-1].tol):
            model.fit(part.X, named_labels(part)[0], classifier__tasks=part.tasks)
        if getattr(model[-1], "partial_", False):
            raise KeyboardInterrupt  # the search keeps what it has; a model that is asked for is whole or not there
        model[-1].set_params(verbose=0)
        if not len(test):
            return model, None
        rest = rows_of(data, test)
        scores = task_scores(model, rest.X, rest.tasks)
        return model, evaluate(targets_of(rest), scores, answers_of(scores, model[-1]._kind), draws=0)


def _print(console: Console, summary: dict[str, Any], source: str, out: Path, reading: dict[str, Any]) -> None:
    """Print a line for each task, the figures of the whole, and what to do next."""
    from rich.markup import escape

    training, tested = summary["training"], "macro" in summary["scores"]
    table = plain_table()
    table.add_column("Task", overflow="fold")
    for heading in ("Rows", "Positives", *(("F1", "AUC") if tested else ()), "Threshold", "Features"):
        table.add_column(heading, justify="right", no_wrap=True)
    for task in summary["scores"]["tasks"]:
        table.add_row(
            escape(task["name"]),
            f"{task['rows']:,}",
            f"{task['positives']:,}",
            *((figure(task["f1"]), figure(task["auc"])) if tested else ()),
            f"{task['threshold']:.3g}",
            f"{task['features']:,}",
        )
    console.print(table)
    how = {"cv": f", the best of {training['n_values']} in {training['cv']}-fold cross-validation", "auto": ", auto"}
    lines = {
        "Trained on": f"{training['rows']:,} rows, metric {training['metric']}, penalty {training['penalty']}",
        "C": f"{training['C_used']:.4g}{how.get(str(training['C']), '')}",
        "Features used": f"{training['features_used']:,} of {summary['data']['features']:,}",
        "Certified gap": f"{training['gap']:.1e}: no weights can be better by more than {100 * training['gap']:.2g} %",
    }
    if tested:
        macro, micro = summary["scores"]["macro"], summary["scores"]["micro"]
        lines["Tested on"] = f"{training['test_rows']:,} other rows: F1 and AUC above are of these"
        lines["Mean F1"] = f"{figure(macro['f1'])} (of all answers together {figure(micro['f1'])})"
        lines["Mean AUC"] = figure(macro["auc"])
    lines["Model"] = str(out)
    for name, value in lines.items():
        console.print(f"{name + ':':<18}{value}", markup=False, soft_wrap=True)
    model, data = shlex.quote(str(out)), shlex.quote(source) + as_flags(reading)
    console.print("\nNext:", soft_wrap=True)
    for command in (
        f"smtl inspect {model}",
        f"smtl evaluate {model} {data}",
        f"smtl predict {model} {data} -o answers.csv",
        f"smtl report {model} {data} -o report.html",
    ):
        console.print(f"    {command}", markup=False, soft_wrap=True)
