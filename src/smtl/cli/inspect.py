"""``smtl inspect``: what a model is, how it was trained, and what it looks at."""

from __future__ import annotations

import json as to_json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smtl.cli._columns import print_columns
from smtl.cli._guard import files_of, guard
from smtl.cli._inspect_ensemble import description, print_description
from smtl.cli._model_data import read_as_in_training
from smtl.cli._model_options import Json, Model, figure, plain_table, read_saved, told
from smtl.cli._reading import one_line_errors, with_reading_options
from smtl.terminal import clean_console

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["inspect"]

# What a table shows; JSON has all.
_TASKS = 40


@with_reading_options
def inspect(
    model: Model,
    reading: dict[str, Any],
    source: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="Rows with labels, to find what each task rests on.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Features to list of each task.")] = 5,
    json: Json = False,
) -> None:
    """Show what a model is, how it was trained, and which features it looks at.

    Of a linear model it shows weights, for features on the model's scale, so that they can be compared.
    Of an ensemble it shows what each learner and the correction add. Of a table, what columns became, and the words of
    texts that speak for yes and for no. With DATA, it also shows the features, or columns, without which AUC falls
    most: best on rows that the model was not trained on.

    Example: smtl inspect songs.skops test.csv --top 10
    """
    guard([model, *(files_of(source, reading) if source else ())])
    fitted, metadata = read_saved(model)
    linear = hasattr(fitted.steps[-1][1] if hasattr(fitted, "steps") else fitted, "coef_")
    found = _description(fitted, metadata, top) if linear else description(fitted, metadata)
    if metadata.get("table"):
        found["columns"], found["words"] = metadata["table"], _words(fitted, metadata, top)
    if source is not None:
        found["importance"] = _importance(fitted, metadata, source, reading, top)
    if json:
        print(to_json.dumps({"model": str(model), **found}, indent=2, ensure_ascii=False))
        return
    console = clean_console()
    (_print if linear else print_description)(console, found, str(model))
    if metadata.get("table"):
        print_columns(console, metadata["table"])
        _print_words(console, found["words"])
    if source is not None:
        _print_importance(console, found)


def _words(fitted: Any, metadata: dict[str, Any], top: int) -> list[dict[str, Any]]:
    from smtl.model.words import word_weights

    return word_weights(fitted, metadata["tasks"], top)


def _print_words(console: Console, found: list[dict[str, Any]]) -> None:
    """Print the words with the largest weights, by task and column; nothing if there are none."""
    from rich.markup import escape

    if not found:
        return
    table = plain_table()
    for heading in ("Task", "Text", "Words for yes", "Words for no"):
        table.add_column(heading, overflow="fold")
    for entry in found[:_TASKS]:
        words = (", ".join(one["word"] for one in entry[answer]) or "-" for answer in ("yes", "no"))
        table.add_row(*map(escape, (entry["task"], entry["column"], *words)))
    console.print(table)
    console.print("Words with the largest weights of the linear model, the largest first.", soft_wrap=True)


def _importance(
    fitted: Any, metadata: dict[str, Any], source: str, reading: dict[str, Any], top: int
) -> dict[str, Any]:
    """Return the features that each task rests on in some data."""
    from smtl.model.importance import permutation_importance
    from smtl.model.scores import classifier_of
    from smtl.model.training import check_finite, targets_for

    data, X = read_as_in_training(source, reading, fitted, metadata)
    with one_line_errors():
        check_finite(data)
        truth = targets_for(data, metadata["tasks"], classifier_of(fitted))
        tasks = data.tasks if metadata["kind"] == "tasks" else None
        return permutation_importance(fitted, X, truth, metadata["features"], tasks, top=top)


def _print_importance(console: Console, found: dict[str, Any]) -> None:
    """Print by how much the AUC of each task falls without its features."""
    from rich.markup import escape

    table = plain_table()
    table.add_column("Task", overflow="fold")
    what = "column" if found.get("columns") else "feature"
    table.add_column(f"AUC falls by, where the {what} is shuffled (95 % interval)", overflow="fold")
    for task, largest in list(zip(found["tasks"], found["importance"]["tasks"], strict=True))[:_TASKS]:
        ends = [(f"{one['interval'][0]:.3f}", f"{one['interval'][1]:.3f}") for one in largest]
        told = (
            f"{one['feature']} {one['drop']:.3f} ({low} to {high})"
            for one, (low, high) in zip(largest, ends, strict=True)
        )
        table.add_row(escape(task["name"]), escape("\n".join(told) or "not both classes in these data"))
    console.print(table)
    rows, n = found["importance"]["rows"], found["importance"]["features"]
    console.print(f"{n:,} {what}s, shuffled among {rows:,} rows.", soft_wrap=True)


def _description(fitted: Any, metadata: dict[str, Any], top: int) -> dict[str, Any]:
    """Return all that is to be told, plain JSON."""
    import numpy as np
    from sklearn.pipeline import Pipeline

    from smtl.model.explain import directions, features_used, that_matter, top_features
    from smtl.model.scores import classifier_of, names_inside

    final = classifier_of(fitted)
    coef, features, tasks = final.coef_, names_inside(fitted, metadata["features"]), metadata["tasks"]
    scores = {task["name"]: task for task in (metadata.get("scores") or {}).get("tasks", [])}
    steps = [step for _, step in fitted.steps] if isinstance(fitted, Pipeline) else [fitted]
    penalty = getattr(final, "penalty_", final.penalty)
    low_rank = getattr(penalty, "name", penalty) == "trace"
    used, spread = features_used(coef), getattr(final, "threshold_spread_", None)
    return {
        "steps": [type(step).__name__ for step in steps],
        "metric": str(getattr(final, "metric_", final.metric)),
        "penalty": str(penalty),
        "C": float(final.C_),
        "gap": _value(getattr(final, "gap_", None)),
        "objective": _value(getattr(final, "objective_", None)),
        "bound": _value(getattr(final, "dual_bound_", None)),
        "iterations": getattr(final, "n_iter_", None),
        "n_features": coef.shape[1],
        "n_tasks": coef.shape[0],
        "features_used": int(that_matter(coef).any(axis=0).sum()),
        "created": metadata.get("created"),
        "versions": metadata["versions"],
        "data": metadata.get("data"),
        "training": metadata.get("training"),
        "mean_scores": (metadata.get("scores") or {}).get("macro"),
        "tasks": [
            {
                "name": name,
                "threshold": float(final.thresholds_[i]),
                "threshold_spread": None if spread is None else _value(spread[i]),
                "intercept": float(final.intercept_[i]),
                "features_used": int(used[i]),
                "f1": scores.get(name, {}).get("f1"),
                "auc": scores.get(name, {}).get("auc"),
                "top": top_features(coef[i], features, top),
            }
            for i, name in enumerate(tasks)
        ],
        "top": top_features(np.linalg.norm(coef, axis=0), features, 2 * top),
        "directions": directions(coef, features, tasks, top) if low_rank else None,
    }


def _value(value: float | None) -> float | None:
    return None if value is None else float(value)


def _print(console: Console, found: dict[str, Any], path: str) -> None:
    from rich.markup import escape

    data, training, mean = (found[key] or {} for key in ("data", "training", "mean_scores"))
    versions = ", ".join(f"{name} {found['versions'].get(name)}" for name in ("smtl", "scikit-learn"))
    lines = {
        "Model": path,
        "Made of": " -> ".join(found["steps"]),
        "Written": f"{found['created']} with {versions}",
        "Data": told(data, {"name": "{}", "rows": "{:,} rows", "features": "{:,} features", "checksum": "{}"}),
        "Trained on": told(training, {"rows": "{:,} rows", "test_rows": "{:,} kept for the test"}),
        "Metric, penalty": f"{found['metric']}, {found['penalty']}",
        "C": f"{found['C']:.4g}",
        "Certified gap": None
        if found["gap"] is None
        else f"{found['gap']:.1e}: no weights can be better by more than {100 * found['gap']:.2g} %",
        "Tasks": f"{found['n_tasks']:,}",
        "Features used": f"{found['features_used']:,} of {found['n_features']:,}",
        "Test": mean and f"mean F1 {figure(mean['f1'])}, mean AUC {figure(mean['auc'])}",
    }
    for name, value in lines.items():
        if value:
            console.print(f"{name + ':':<18}{value}", markup=False, soft_wrap=True)
    table = plain_table()
    table.add_column("Task", overflow="fold")
    for heading in ("F1", "AUC", "Threshold", "Features"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Largest weights", overflow="fold")
    for task in found["tasks"][:_TASKS]:
        scores, used = (figure(task["f1"]), figure(task["auc"])), f"{task['features_used']:,}"
        table.add_row(escape(task["name"]), *scores, _threshold(task), used, escape(_weights(task["top"])))
    table.add_section()
    table.add_row("All tasks", "", "", "", f"{found['features_used']:,}", escape(_weights(found["top"])))
    console.print(table)
    if len(found["tasks"]) > _TASKS:
        console.print(f"{len(found['tasks']) - _TASKS} more tasks: --json has them all.")
    for k, direction in enumerate(found["directions"] or [], 1):
        console.print(
            f"Direction {k}: {100 * direction['share']:.1f} % of the weights\n"
            f"    features  {_weights(direction['features'])}\n"
            f"    tasks     {_weights(direction['tasks'], 'task')}",
            markup=False,
            soft_wrap=True,
        )


def _threshold(task: dict[str, Any]) -> str:
    """Return the threshold of a task, with its standard deviation over the folds where that is known."""
    spread = task["threshold_spread"]
    return f"{task['threshold']:.2g}" + ("" if spread is None else f" ± {spread:.2g}")


def _weights(entries: list[dict[str, Any]], key: str = "feature") -> str:
    """Return names with their weights; words of one column of text stand together behind its name."""
    told: dict[str, list[str]] = {}
    for entry in entries:
        column, _, name = entry[key].rpartition(": ")
        told.setdefault(column, []).append(f"{name} {entry['weight']:+.2g}")
    return "; ".join(f"{f'{column}: ' if column else ''}{', '.join(names)}" for column, names in told.items()) or "none"
