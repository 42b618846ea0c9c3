"""``smtl fit``: train a model and save it."""

from __future__ import annotations

import json as to_json
import math
import os
import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smtl.cli._choices import NamedChoices, check_metric_name, check_penalty_name
from smtl.cli._columns import print_columns, tell_reading
from smtl.cli._cuts import costs_of, threshold_of
from smtl.cli._errors import CommandError
from smtl.cli._fit_folder import LargeSettings, fit_folder, is_large, print_folder
from smtl.cli._fit_table import named_results, print_tasks
from smtl.cli._guard import files_of, guard, is_same_file
from smtl.cli._model_options import Json, read_for_model
from smtl.cli._reading import WeightColumn, as_flags, one_line_errors, with_reading_options
from smtl.cli._saving import rows_path, save, save_rows, summary_of
from smtl.cli._writable import check_writable
from smtl.terminal import clean_console

if TYPE_CHECKING:
    from rich.console import Console

    from smtl.datasets import Dataset
    from smtl.model.training import Settings

__all__ = ["SETTINGS", "fit"]

SETTINGS = {"cls": NamedChoices}

LARGE = 60_000_000  # bytes of a model's file from which on it is told how to make it smaller

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
        threshold_of(text)
    return text


def _check_calibration(name: str | None) -> str | None:
    return None if name is None else _one_of(name, ("logistic", "isotonic"), "--calibration")


def _check_costs(texts: list[str] | None) -> list[str] | None:
    costs_of(texts or [])
    return texts


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
    scoring: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What you are judged by: f1_macro, f1_micro, roc_auc, a metric of smtl's or a scorer of "
            "scikit-learn's. [default: f1_macro]",
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
            help="The cut: auto, per-task, shared, smoothed, or a number; 'recall>=0.9', 'precision>=0.8': the best "
            "that keeps this on new rows; at-least-one, at-most-3, top-2: so many labels a row. [default: auto]",
        ),
    ] = None,
    costs: Annotated[
        list[str] | None,
        typer.Option(
            callback=_check_costs,
            metavar="MISS:FALSE",
            help="What a miss and a false alarm cost, 5:1 for example; of one label NAME=5:1, which may be repeated.",
        ),
    ] = None,
    calibration: Annotated[
        str | None,
        typer.Option(
            callback=_check_calibration,
            metavar="logistic|isotonic",
            help="Of a linear model: make probabilities of its scores, whatever it is trained on.",
        ),
    ] = None,
    test_size: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="Rows to keep for the test; 0 trains on all.")
    ] = 0.25,
    scale: Annotated[
        bool | None, typer.Option("--scale/--no-scale", help="Of a linear model: put features on one scale.")
    ] = None,
    compare: Annotated[
        bool,
        typer.Option("--compare/--no-compare", help="Of an ensemble: show logistic regression and a forest beside it."),
    ] = True,
    save_test: Annotated[
        bool | None,
        typer.Option(
            "--save-test/--no-save-test",
            help="Keep the rows of the test in a file beside the model. [default: of files, not of named sets]",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="NUMBER", help="For splits and folds.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Threads.")] = 1,
    weight_column: WeightColumn = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Of a folder of Parquet: the Dask scheduler whose workers do the work."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Of a folder of Parquet: where passes are kept, so that a stopped fit can go on."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Train a model, test it on rows kept for that, and save it.

    Columns of a table are found to be numbers, categories, text or dates; what becomes of them is part of the model.
    A folder of Parquet, or a Parquet file larger than memory, is read batch by batch for a linear model.

    Example: smtl fit songs.csv --labels calm,sad -o songs.skops
    """
    check_writable(out, advice="choose another with -o")
    _check_written(source, reading, out, checkpoint)
    large = is_large(source) or cluster is not None or checkpoint is not None
    if large and (costs or calibration or weight_column):
        raise typer.BadParameter(
            "--costs, --calibration and --weight-column do not go with folders, --cluster and --checkpoint."
        )
    if reading.get("nominal") == "ordinal":
        raise typer.BadParameter("--nominal ordinal does not go with fit: the numbers could differ in other files.")
    model = "linear" if large else model
    of_linear = {
        "--calibration": calibration,
        "--metric": metric,
        "--penalty": penalty,
        "--C": C,
        "--values": values,
        "--[no-]scale": scale,
    }
    _check_together(model, preset, of_linear)
    _check_search(C, {"--scoring": scoring, "--cv": cv, "--values": values})
    chosen: dict[str, Any] = {
        "metric": metric or ("log" if large else "f1"),
        "penalty": penalty or "l21",
        "C": _number(C or ("auto" if large else "cv"), ("cv", "auto"), "--C", positive=True),
        "cv": cv or 5,
        "n_values": values or 20,
        "threshold": None if threshold is None else threshold_of(threshold),
        "scale": scale is not False,
        "seed": seed,
        "jobs": jobs,
        "scoring": scoring,
    }
    console, status = clean_console(), clean_console(stderr=True)
    if large:
        told = fit_folder(source, reading, LargeSettings(**chosen), out, status, cluster, checkpoint)
        print_folder(console, told, out, json=json)
        return
    with status.status("Reading the data") if status.is_terminal else nullcontext():
        from smtl.model.training import Settings

        reading |= {} if weight_column is None else {"weights": weight_column}
        settings = Settings(
            **chosen,
            model=model,
            preset=preset or "balanced",
            costs=costs_of(costs or []),
            calibration=calibration,
        )
        data = _read(source, reading, scaling_given=scale is not None)
    if status.is_terminal:  # who waits sees at once how the data were read
        tell_reading(status, data)
    fitted, result, rivals, test = _train(data, settings, test_size, status, compare=compare)
    summary = summary_of(fitted, data, source, settings, result, reading)
    if rivals:
        summary["scores"]["rivals"] = named_results(rivals, summary["scores"]["tasks"])
    keeps = len(test) and (Path(source).is_file() if save_test is None else save_test)
    kept = rows_path(data, out, source) if keeps else None
    if kept is not None:
        summary["test_rows"] = kept.name
    save(fitted, data, out, summary)
    if kept is not None:
        save_rows(data, test, kept)
    if json:
        files = {"model": str(out)} | ({} if kept is None else {"test_rows": str(kept)})
        print(to_json.dumps(files | {k: v for k, v in summary.items() if k not in files}, indent=2, ensure_ascii=False))
        return
    if not status.is_terminal:
        tell_reading(console, data)
    _print(console, summary, source if kept is None else str(kept), out, reading)


def _read(source: str, reading: dict[str, Any], *, scaling_given: bool) -> Dataset:
    """Return the data, if a model can be trained on them."""
    from smtl.model.training import check_data

    data = read_for_model(source, reading)
    if scaling_given and hasattr(data, "said"):
        raise CommandError("--[no-]scale goes with matrices; columns of a table are always put on one scale.")
    with one_line_errors():
        check_data(data)
    return data


def _check_written(source: str, reading: dict[str, Any], out: Path, checkpoint: Path | None) -> None:
    """Refuse to write onto the data, and the model and the passes into one file."""
    guard(files_of(source, reading), [out])
    for path, option in ((out, "-o"), (checkpoint, "--checkpoint")):
        if path is not None and path.suffix == ".parquet" and Path(source).resolve() in path.resolve().parents:
            raise CommandError(
                f"cannot write {str(path)!r}: it would count as data of {source}; choose another with {option}."
            )
    if checkpoint is None:
        return
    check_writable(checkpoint, advice="choose another with --checkpoint")
    guard(files_of(source, reading), [checkpoint], "choose another with --checkpoint")
    if os.path.realpath(out) == os.path.realpath(checkpoint) or (out.exists() and is_same_file(checkpoint, out)):
        raise CommandError(f"-o and --checkpoint must be two files, got {str(out)!r} for both.")


def _check_together(model: str, preset: str | None, of_linear: dict[str, Any]) -> None:
    """Refuse options of one kind of model that are given for the other."""
    if model == "linear" and preset is not None:
        raise typer.BadParameter("--preset goes with --model ensemble, got --model linear.")
    given = [option for option, value in of_linear.items() if value is not None]
    if model == "ensemble" and given:
        raise typer.BadParameter(f"{given[0]} goes with --model linear; an ensemble chooses that itself.")


def _check_search(C: str | None, of_search: dict[str, Any]) -> None:
    """Refuse options of the search for C where there is none."""
    for option, value in of_search.items():
        if C not in (None, "cv") and value is not None:
            raise typer.BadParameter(f"{option} goes with --C cv, got --C {C}.")


def _train(
    data: Dataset, settings: Settings, test_size: float, status: Console, *, compare: bool
) -> tuple[Any, dict[str, Any] | None, dict[str, Any], Any]:
    """Return the fitted pipeline, what it and its rivals score on the rows held out, and the numbers of these."""
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
        verbose, said = int(status.is_terminal), getattr(data, "said", None)
        model = make_model(settings, sparse=sp.issparse(data.X), columns=said, verbose=verbose)
        # An ensemble has a bar of its own.
        with nullcontext() if ensemble else showing_fit(status, model[-1].tol):
            told = {"classifier__tasks": part.tasks, "classifier__sample_weight": part.weights}
            model.fit(part.X, named_labels(part)[0], **told)
        if getattr(model[-1], "partial_", False):
            raise KeyboardInterrupt  # the search keeps what it has; a model that is asked for is whole or not there
        model[-1].set_params(verbose=0)
        if not len(test):
            return model, None, {}, test
        rest = rows_of(data, test)
        scores = task_scores(model, rest.X, rest.tasks)
        answers = answers_of(scores, model[-1])
        result = evaluate(targets_of(rest), scores, answers, draws=0, weights=rest.weights)
        if not (ensemble and compare):
            return model, result, {}, test
        with status.status("Logistic regression and a forest, to compare") if status.is_terminal else nullcontext():
            return model, result, rival_results(part, rest, settings), test


def _print(console: Console, summary: dict[str, Any], source: str, out: Path, reading: dict[str, Any]) -> None:
    """Print what became of the columns, a line for each task, the figures of the whole, and what to do next."""
    if summary.get("table"):
        print_columns(console, summary["table"])
    lines = print_tasks(console, summary)
    size = out.stat().st_size
    lines["Model"] = f"{out}, {size / 1e6:.1f} MB"
    if size > LARGE and summary["training"]["model"] == "ensemble":
        lines["Model"] += "; --preset fast makes it smaller, and --model linear much smaller"
    weighted = reading.get("weights")
    if weighted is not None:
        lines["Weights"] = f"column {weighted}, in training and in the scores above"
    for name, value in lines.items():
        console.print(f"{name + ':':<18}{value}", markup=False, soft_wrap=True)
    if summary.get("test_rows"):
        lines_of_test = f"{'Test rows:':<18}{source}, which the model has not seen"
        console.print(lines_of_test, markup=False, soft_wrap=True)
        reading = {key: value for key, value in reading.items() if key in ("header", "labels", "last", "class_column")}
    model, data = shlex.quote(str(out)), shlex.quote(source) + as_flags(reading)
    console.print("\nNext:", soft_wrap=True)
    by_weight = "" if weighted is None else f" --weight-column {shlex.quote(weighted)}"
    for command in (
        f"smtl inspect {model}",
        f"smtl evaluate {model} {data}{by_weight}",
        f"smtl predict {model} {data} -o answers.csv",
        f"smtl report {model} {data} -o report.html",
    ):
        console.print(f"    {command}", markup=False, soft_wrap=True)
