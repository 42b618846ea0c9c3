"""``smtl evaluate``: how well a model does on data with labels."""

from __future__ import annotations

import json as to_json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smtl.cli._guard import files_of, guard
from smtl.cli._model_data import check_ignored, read_as_in_training, tell_new_values
from smtl.cli._model_options import Json, Model, Strict, figure, interval, plain_table, read_saved
from smtl.cli._reading import WeightColumn, one_line_errors, with_reading_options
from smtl.terminal import clean_console

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["evaluate"]


@with_reading_options
def evaluate(
    model: Model,
    source: Annotated[str, typer.Argument(metavar="DATA", help="A file of any format, or the name of a set.")],
    reading: dict[str, Any],
    draws: Annotated[
        int, typer.Option("--bootstrap", min=0, metavar="NUMBER", help="Draws for the intervals; 0 for none.")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="NUMBER", help="For the draws.")] = 0,
    weight_column: WeightColumn = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Judge a model on data with labels, with 95 % intervals.

    The intervals are of the bootstrap: rows are drawn again with replacement, all tasks together.

    Example: smtl evaluate songs.skops test.csv --labels calm,sad
    """
    guard([model, *files_of(source, reading)])
    fitted, metadata = read_saved(model)
    check_ignored(reading, metadata)
    if weight_column is not None:
        reading = reading | {"weights": weight_column}
    data, X = read_as_in_training(source, reading, fitted, metadata, strict=strict)

    from smtl.datasets.checksum import checksum
    from smtl.model.evaluation import evaluate as judge
    from smtl.model.scores import answers_of, classifier_of, task_scores
    from smtl.model.training import check_finite, targets_for

    with one_line_errors():
        check_finite(data)
        truth = targets_for(data, metadata["tasks"], classifier_of(fitted))
        scores = task_scores(fitted, X, data.tasks if metadata["kind"] == "tasks" else None)
        answers = answers_of(scores, classifier_of(fitted))
        result = judge(truth, scores, answers, draws=draws, seed=seed, weights=data.weights)
    result["tasks"] = [{"name": name, **task} for name, task in zip(metadata["tasks"], result["tasks"], strict=True)]
    tell_new_values(data, fitted, metadata)
    trained = metadata.get("data") or {}
    seen = checksum(data) == trained.get("checksum")
    if json:
        known = {"model": str(model), "data": source, "training_data": seen, "bootstrap": draws}
        print(to_json.dumps(known | result, indent=2, ensure_ascii=False))
        return
    _print(clean_console(), result, draws)
    if seen:
        n = (metadata.get("training") or {}).get("rows")
        some = "it has learnt from them" if n is None else f"{n:,} of the rows it has learnt from"
        print(f"\nThese are the data that the model was made of: {some}.")


def _print(console: Console, result: dict[str, Any], draws: int) -> None:
    """Print a line for each task, and the means."""
    from rich.markup import escape

    table = plain_table()
    table.add_column("Task", overflow="fold", min_width=10)
    for heading in ("Positives", "Prec.", "Recall", "F1", "AUC"):
        table.add_column(heading, justify="right", no_wrap=True)
    for task in result["tasks"]:
        table.add_row(
            escape(task["name"]),
            f"{task['positives']:,}",
            figure(task["precision"]),
            figure(task["recall"]),
            interval(task, "f1"),
            interval(task, "auc"),
        )
    table.add_section()
    for name, entry in (("Mean", result["macro"]), ("Pooled", result["micro"])):
        auc = interval(entry, "auc") if "auc" in entry else ""
        table.add_row(name, "", figure(entry["precision"]), figure(entry["recall"]), interval(entry, "f1"), auc)
    console.print(table)
    lines = {"Rows": f"{result['rows']:,}", "Intervals": f"95 %, {draws:,} draws of the bootstrap" if draws else "none"}
    for name, value in lines.items():
        console.print(f"{name + ':':<18}{value}", soft_wrap=True)
