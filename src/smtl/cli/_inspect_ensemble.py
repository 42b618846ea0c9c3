"""What ``smtl inspect`` shows of an ensemble: its learners, its correction, and the cuts of its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtl.cli._model_options import figure, plain_table, told

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["description", "print_description"]


def description(fitted: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    """Return all that is to be told, plain JSON.

    Parameters
    ----------
    fitted : SMTLEnsemble or Pipeline
        The model.
    metadata : dict
        What its file says.

    Returns
    -------
    dict
        Learners, correction, tasks, and how it was trained.
    """
    from sklearn.pipeline import Pipeline

    from smtl.model.leaderboard import standing
    from smtl.model.scores import classifier_of

    final = classifier_of(fitted)
    steps = [step for _, step in fitted.steps] if isinstance(fitted, Pipeline) else [fitted]
    known = metadata.get("scores") or {}
    scores = {task["name"]: task for task in known.get("tasks", [])}
    low, cuts, high = (
        final._metric().probability(final.thresholds_ + k * final.threshold_spread_) for k in (-1.0, 0.0, 1.0)
    )
    return {
        "steps": [type(step).__name__ for step in steps],
        **standing(final),
        "preset": str(final.preset),
        "n_features": len(metadata["features"]),
        "kind": metadata["kind"],
        "n_tasks": len(metadata["tasks"]),
        "created": metadata.get("created"),
        "versions": metadata["versions"],
        "data": metadata.get("data"),
        "training": metadata.get("training"),
        "mean_scores": known.get("macro"),
        "cut_rule": final.threshold_rule_,
        "rivals": {name: rival["macro"] for name, rival in known.get("rivals", {}).items()},
        "tasks": [
            {
                "name": name,
                "threshold": float(final.thresholds_[i]),
                "cut": float(cuts[i]),
                "cut_between": [float(low[i]), float(high[i])],
                "f1": scores.get(name, {}).get("f1"),
                "auc": scores.get(name, {}).get("auc"),
            }
            for i, name in enumerate(metadata["tasks"])
        ],
    }


def print_description(console: Console, found: dict[str, Any], path: str, most: int = 40) -> None:
    """Print lines about the model, a table of its learners, and one of its tasks.

    Parameters
    ----------
    console : Console
        Where to print.
    found : dict
        See `description`.
    path : str
        The model's file.
    most : int, default=40
        Tasks to show.
    """
    from rich.markup import escape

    for name, value in _lines(found, path).items():
        if value:
            console.print(f"{name + ':':<18}{value}", markup=False, soft_wrap=True)
    table = plain_table()
    table.add_column("Learner", overflow="fold")
    for heading in ("Score by itself", "Share", "Seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in found["learners"]:
        table.add_row(escape(one["name"]), figure(one["score"]), f"{one['weight']:.2f}", f"{one['seconds']:.1f}")
    table.add_section()
    table.add_row("The ensemble", figure(found["score"]), "1.00", f"{found['seconds']:.1f}")
    console.print(table)
    table = plain_table()
    table.add_column("Task", overflow="fold")
    cut = [] if found["kind"] == "multiclass" else ["Cut"]  # of several classes one is the answer
    for heading in ("F1", "AUC", *cut):
        table.add_column(heading, justify="right", no_wrap=True)
    for task in found["tasks"][:most]:
        cells = [figure(task["f1"]), figure(task["auc"]), _cut(task)]
        table.add_row(escape(task["name"]), *cells[: 2 + len(cut)])
    console.print(table)
    if len(found["tasks"]) > most:
        console.print(f"{len(found['tasks']) - most} more tasks: --json has them all.")


def _cut(task: dict[str, Any]) -> str:
    """Return the cut of a task, and where it lies over the folds."""
    low, high = task["cut_between"]
    return f"{task['cut']:.2f}" + (f" ({low:.2f}-{high:.2f})" if high > low else "")


def _lines(found: dict[str, Any], path: str) -> dict[str, Any]:
    """Return what is to be told of the whole, by name."""
    data, training, mean = (found[key] or {} for key in ("data", "training", "mean_scores"))
    versions = ", ".join(f"{name} {found['versions'].get(name)}" for name in ("smtl", "scikit-learn"))
    correction = found["correction"]
    rivals = "; ".join(
        f"{name} {figure(one['f1'])}, {figure(one['auc'])}" for name, one in (found["rivals"] or {}).items()
    )
    return {
        "Model": path,
        "Made of": " -> ".join(found["steps"]),
        "Written": f"{found['created']} with {versions}",
        "Data": told(data, {"name": "{}", "rows": "{:,} rows", "features": "{:,} features", "checksum": "{}"}),
        "Trained on": told(training, {"rows": "{:,} rows", "test_rows": "{:,} kept for the test"}),
        "Preset, scoring": f"{found['preset']}, {found['scoring']}",
        "Correction": "none: it would not have gained more than its error"
        if correction is None
        else f"penalty {correction['penalty']}, log loss less by {correction['gain']:.4f} +- "
        f"{correction['error']:.4f}, certified gap {correction['gap']:.1e}",
        "Cuts": found["kind"] != "multiclass"
        and f"by the rule {found['cut_rule']}; in brackets, what they come to over the folds, give or take one "
        "standard deviation",
        "Tasks": f"{found['n_tasks']:,}",
        "Columns" if found.get("columns") else "Features": f"{found['n_features']:,}",
        "Test": mean
        and f"mean F1 {figure(mean['f1'])}, mean AUC {figure(mean['auc'])}{f' ({rivals})' if rivals else ''}",
    }
