"""A trained model in a file, with what is to be known about it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from smtl.cli._model_options import writing_errors
from smtl.cli._reading import one_line_errors

if TYPE_CHECKING:
    from pathlib import Path

    from smtl.datasets import Dataset
    from smtl.model.training import Settings

__all__ = ["save", "summary_of"]


def summary_of(
    model: Any,
    data: Dataset,
    source: str,
    settings: Settings,
    result: dict[str, Any] | None,
    reading: dict[str, Any],
    ignored: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what is to be known about a model, plain JSON: the metadata of its file.

    Parameters
    ----------
    model : Pipeline
        Fitted.
    data : Dataset
        All rows, those of the test among them.
    source : str
        What the data are called.
    settings : Settings
        How it was trained.
    result : dict or None
        What `smtl.model.evaluation.evaluate` says of the rows that were held out.
    reading : dict
        The options that the data were read with.
    ignored : sequence of str, default=()
        Columns of the source that were left out.

    Returns
    -------
    dict
        Data, columns, training and scores.
    """
    from smtl.datasets.checksum import checksum
    from smtl.model.training import named_labels, targets_of

    final = model[-1]
    n, d = data.X.shape
    names = named_labels(data)[1]
    n_pos, n_neg = targets_of(data).counts()
    prefix = reading.get("prefix") or "label:"
    labels = data.label_names or names  # the tasks are others where each has rows of its own
    tested = [{}] * len(names) if result is None else result["tasks"]
    tasks = [
        {
            "name": name,
            "rows": int(n_pos[i] + n_neg[i]),
            "positives": int(n_pos[i]),
            "f1": tested[i].get("f1"),
            "auc": tested[i].get("auc"),
            "threshold": float(final.thresholds_[i]),
            **more,
        }
        for i, (name, more) in enumerate(zip(names, _of_tasks(final), strict=True))
    ]
    return {
        "data": {"name": source, "rows": n, "features": d, "checksum": checksum(data)},
        "columns": {
            "labels": [*labels, *(f"{prefix}{name}" for name in labels)],
            "class": reading.get("class_column"),
            "task": (reading.get("tasks") or "task:") if data.tasks is not None else None,
            "ignored": list(ignored),
            "reading": _as_read(reading, data),
        },
        "training": {
            **_settings(settings),
            "rows": n - (0 if result is None else result["rows"]),
            "test_rows": 0 if result is None else result["rows"],
            **_of_training(final),
        },
        "scores": {"tasks": tasks} | ({} if result is None else {"macro": result["macro"], "micro": result["micro"]}),
    }


def _settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that matter for the kind of model."""
    other = ("metric", "penalty", "C", "n_values", "scale") if settings.model == "ensemble" else ("preset",)
    return {key: value for key, value in asdict(settings).items() if key not in other}


def _of_tasks(final: Any) -> list[dict[str, Any]]:
    """Return what is to be known of each task: the features that a linear model uses, or the cut as a probability."""
    if hasattr(final, "coef_"):
        from smtl.model.explain import features_used

        return [{"features": int(n)} for n in features_used(final.coef_)]
    return [{"cut": float(cut)} for cut in final._metric().probability(final.thresholds_)]


def _of_training(final: Any) -> dict[str, Any]:
    """Return what the training came to."""
    if not hasattr(final, "coef_"):
        from smtl.model.leaderboard import standing

        return standing(final)
    from smtl.model.explain import that_matter

    return {
        "C_used": float(final.C_),
        "gap": float(final.gap_),
        "iterations": int(final.n_iter_),
        "features_used": int(that_matter(final.coef_).any(axis=0).sum()),
    }


def _as_read(reading: dict[str, Any], data: Dataset) -> dict[str, Any]:
    """Return the options that tell what columns are, the labels by name where they were told by their number."""
    kept = ("labels", "prefix", "class_column", "tasks", "categorical")
    given = {key: reading[key] for key in kept if reading.get(key) is not None}
    if reading.get("last") is not None and data.label_names:
        buffer = io.StringIO()
        csv.writer(buffer).writerow(data.label_names)
        given["labels"] = buffer.getvalue().strip()
    return given


def save(model: Any, data: Dataset, out: Path, summary: dict[str, Any]) -> None:
    """Save a model; what goes wrong is one line.

    Parameters
    ----------
    model : Pipeline
        Fitted.
    data : Dataset
        Data with the names of features and tasks.
    out : Path
        The file.
    summary : dict
        See `summary_of`.
    """
    from smtl.model import save_model
    from smtl.model.training import named_labels

    with one_line_errors():
        try:
            names = named_labels(data)[1]
            save_model(model, out, feature_names=data.feature_names, task_names=names, metadata=summary)
        except OSError as error:
            raise writing_errors(out, error) from error
