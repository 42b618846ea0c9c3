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
from smtl.cli._fit_table import named_results, print_tasks
from smtl.cli._model_options import Json, list_of, read_for_model
from smtl.cli._reading import as_flags, one_line_errors, with_reading_options
from smtl.cli._saving import save, summary_of
from smtl.cli._writable import check_writable

if TYPE_CHECKING:
    from rich.console import Console

    from smtl.datasets import Dataset
    from smtl.model.training import Settings

__all__ = ["SETTINGS", "fit"]

SETTINGS = {"cls": NamedChoices}

LARGE = 60_000_000  # bytes of a model's file from which on it is told how to make it smaller

_THRESHOLDS = ("auto", "per-task", "shared", "smoothed")
_MODELS = ("ensemble", "linear")
_PRESETS = ("fast", "balanced", "best")


def _check_model(name: str) -> str:
    return _one_of(name, _MODELS, "--model")


def _check_preset(name: str | None) -> str | None:
    return None if name is None else _one_of(name, _PRESETS, "--preset")


def _one_of(name: str, names: tuple[str, ...], option: str) -> str:
    if name not in names:
        raise typer.BadParameter(f"{option} must be one of {', '.join(names)}, got {name!r} instead.")
    return name


def _check_C(text: str | None) -> str | None:
    if text is not None:
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
    model: Annotated[
        str,
        typer.Option(
            callback=_check_model,
            metavar="|".join(_MODELS),
            help="Several kinds of learners, weighted on held-out rows; or one linear model, certified and exportable.",
        ),
    ] = "ensemble",
    preset: Annotated[
        str | None,
        typer.Option(
            callback=_check_preset,
            metavar="|".join(_PRESETS),
            help="Of an ensemble: how much is tried. [default: balanced]",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            callback=check_metric_name, metavar="NAME", help="Of a linear model: what to train on. [default: f1]"
        ),
    ] = None,
    penalty: Annotated[
        str | None,
        typer.Option(
            callback=check_penalty_name,
            metavar="NAME",
            help="Of a linear model: what ties the tasks together. [default: l21]",
        ),
    ] = None,
    C: Annotated[
        str | None,
        typer.Option(
            "--C",
            callback=_check_C,
            metavar="cv|auto|NUMBER",
            help="Of a linear model, the weight of the loss: chosen by cross-validation, from the data's scale without "
            "any, or given. [default: cv]",
        ),
    ] = None,
    cv: Annotated[
        int | None, typer.Option(min=2, metavar="NUMBER", help="Folds on which choices are made. [default: 5]")
    ] = None,
    values: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="Of a linear model: values of C to choose from. [default: 20]"),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            callback=_check_threshold,
            metavar="NAME|NUMBER",
            help="The cut: auto, per-task, shared, smoothed, or a number. [default: auto]",
        ),
    ] = None,
    test_size: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="Rows to keep for the test; 0 trains on all.")
    ] = 0.25,
    ignore: Annotated[str | None, typer.Option(metavar="NAMES", help="Columns that are no features.")] = None,
    scale: Annotated[
        bool | None, typer.Option("--scale/--no-scale", help="Of a linear model: put features on one scale.")
    ] = None,
    compare: Annotated[
        bool,
        typer.Option("--compare/--no-compare", help="Of an ensemble: show logistic regression and a forest beside it."),
    ] = True,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="NUMBER", help="For splits and folds.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Threads.")] = 1,
    json: Json = False,
) -> None:
    """Train a model, test it on rows kept for that, and save it.

    Missing features are filled, features scaled, nominal columns one-hot; all of that is part of the model.

    Example: smtl fit songs.csv --labels calm,sad -o songs.skops
    """
    check_writable(out, advice="choose another with -o")
    of_linear = {"--metric": metric, "--penalty": penalty, "--C": C, "--values": values, "--[no-]scale": scale}
    _check_together(model, preset, of_linear)
    if C not in (None, "cv") and (cv is not None or values is not None):
        raise typer.BadParameter(f"--cv and --values go with --C cv, got --C {C}.")
    if reading.get("nominal") == "ordinal":
        raise typer.BadParameter("--nominal ordinal does not go with fit: the numbers could differ in other files.")

    from rich.console import Console

    console, status = Console(highlight=False), Console(stderr=True, highlight=False)
    with status.status("Reading the data") if status.is_terminal else nullcontext():
        from smtl.model.training import Settings, check_data

        cut = None if threshold is None else _number(threshold, _THRESHOLDS, "--threshold")
        settings = Settings(
            metric or "f1",
            penalty or "l21",
            _number(C or "cv", ("cv", "auto"), "--C", positive=True),
            cv or 5,
            values or 20,
            cut,
            scale is not False,
            seed,
            jobs,
            model,
            preset or "balanced",
        )
        data = read_for_model(source, reading, list_of(ignore))
        with one_line_errors():
            check_data(data)
    fitted, result, rivals = _train(data, settings, test_size, status, compare=compare)
    summary = summary_of(fitted, data, source, settings, result, reading, list_of(ignore))
    if rivals:
        summary["scores"]["rivals"] = named_results(rivals, summary["scores"]["tasks"])
    save(fitted, data, out, summary)
    if json:
        print(to_json.dumps({"model": str(out), **summary}, indent=2, ensure_ascii=False))
    else:
        _print(console, summary, source, out, reading)


def _check_together(model: str, preset: str | None, of_linear: dict[str, Any]) -> None:
    """Refuse options of one kind of model that are given for the other."""
    if model == "linear" and preset is not None:
        raise typer.BadParameter("--preset goes with --model ensemble, got --model linear.")
    given = [option for option, value in of_linear.items() if value is not None]
    if model == "ensemble" and given:
        raise typer.BadParameter(f"{given[0]} goes with --model linear; an ensemble chooses that itself.")


def _train(
    data: Dataset, settings: Settings, test_size: float, status: Console, *, compare: bool
) -> tuple[Any, dict[str, Any] | None, dict[str, Any]]:
    """Return the fitted pipeline, what it scores on the rows that were held out, and what rivals score on them."""
    import scipy.sparse as sp
    from threadpoolctl import threadpool_limits

    from smtl.cli._model_progress import showing_fit, telling_warnings
    from smtl.model.evaluation import evaluate
    from smtl.model.rivals import rival_results
    from smtl.model.scores import answers_of, task_scores
    from smtl.model.training import hold_out, make_model, named_labels, rows_of, targets_of

    ensemble = settings.model == "ensemble"
    with one_line_errors(), telling_warnings(), threadpool_limits(settings.jobs):
        train, test = hold_out(data, test_size, settings.seed)
        part = rows_of(data, train)
        model = make_model(settings, sparse=sp.issparse(data.X), verbose=int(status.is_terminal))
        # An ensemble has a bar of its own.
        with nullcontext() if ensemble else showing_fit(status, model[-1].tol):
            model.fit(part.X, named_labels(part)[0], classifier__tasks=part.tasks)
        if getattr(model[-1], "partial_", False):
            raise KeyboardInterrupt  # the search keeps what it has; a model that is asked for is whole or not there
        model[-1].set_params(verbose=0)
        if not len(test):
            return model, None, {}
        rest = rows_of(data, test)
        scores = task_scores(model, rest.X, rest.tasks)
        result = evaluate(targets_of(rest), scores, answers_of(scores, model[-1]._kind), draws=0)
        if not (ensemble and compare):
            return model, result, {}
        with status.status("Logistic regression and a forest, to compare") if status.is_terminal else nullcontext():
            return model, result, rival_results(part, rest, settings)


def _print(console: Console, summary: dict[str, Any], source: str, out: Path, reading: dict[str, Any]) -> None:
    """Print a line for each task, the figures of the whole, and what to do next."""
    lines = print_tasks(console, summary)
    size = out.stat().st_size
    lines["Model"] = f"{out}, {size / 1e6:.1f} MB"
    if size > LARGE and summary["training"]["model"] == "ensemble":
        lines["Model"] += "; --preset fast makes it smaller, and --model linear much smaller"
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
