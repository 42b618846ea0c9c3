"""``smtl inspect``: what a model is, how it was trained, and what it looks at."""

from __future__ import annotations

import json as to_json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smtl.cli._model_options import Json, Model, figure, plain_table, read_saved

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["inspect"]

# What a table shows; JSON has all.
_TASKS = 40


def inspect(
    model: Model,
    top: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Features to list of each task.")] = 5,
    json: Json = False,
) -> None:
    """Show what a model is, how it was trained, and which features it looks at.

    Weights are for features on the model's scale, so that they can be compared.

    Example: smtl inspect songs.skops --top 10
    """
    fitted, metadata = read_saved(model)
    found = _description(fitted, metadata, top)
    if json:
        print(to_json.dumps({"model": str(model), **found}, indent=2, ensure_ascii=False))
        return
    from rich.console import Console

    _print(Console(highlight=False), found, str(model))


def _description(fitted: Any, metadata: dict[str, Any], top: int) -> dict[str, Any]:
    """Return all that is to be told, plain JSON."""
    import numpy as np
    from sklearn.pipeline import Pipeline

    from smtl.model.explain import directions, features_used, top_features
    from smtl.model.scores import classifier_of

    final = classifier_of(fitted)
    coef, features, tasks = final.coef_, metadata["features"], metadata["tasks"]
    scores = {task["name"]: task for task in (metadata.get("scores") or {}).get("tasks", [])}
    steps = [step for _, step in fitted.steps] if isinstance(fitted, Pipeline) else [fitted]
    penalty = getattr(final, "penalty_", final.penalty)
    low_rank = getattr(penalty, "name", penalty) == "trace"
    used = features_used(coef)
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
        "features_used": int((coef != 0).any(axis=0).sum()),
        "created": metadata.get("created"),
        "versions": metadata["versions"],
        "data": metadata.get("data"),
        "training": metadata.get("training"),
        "mean_scores": (metadata.get("scores") or {}).get("macro"),
        "tasks": [
            {
                "name": name,
                "threshold": float(final.thresholds_[i]),
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
        "Data": data and f"{data['name']}: {data['rows']:,} rows, {data['features']:,} features, {data['checksum']}",
        "Trained on": training and f"{training['rows']:,} rows, {training['test_rows']:,} kept for the test",
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
    for heading in ("F1", "AUC", "Features"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Largest weights", overflow="fold")
    for task in found["tasks"][:_TASKS]:
        cells = (figure(task["f1"]), figure(task["auc"]), f"{task['features_used']:,}", escape(_weights(task["top"])))
        table.add_row(escape(task["name"]), *cells)
    table.add_section()
    table.add_row("All tasks", "", "", f"{found['features_used']:,}", escape(_weights(found["top"])))
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


def _weights(entries: list[dict[str, Any]], key: str = "feature") -> str:
    return ", ".join(f"{entry[key]} {entry['weight']:+.2g}" for entry in entries) or "none"
