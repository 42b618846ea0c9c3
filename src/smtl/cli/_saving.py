"""A trained model in a file, with what is to be known about it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from itertools import chain, count
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtl.cli._errors import CommandError
from smtl.cli._guard import is_same_file
from smtl.cli._model_options import writing_errors
from smtl.cli._reading import list_of, one_line_errors

if TYPE_CHECKING:
    from smtl.datasets import Dataset
    from smtl.model.training import Settings

__all__ = ["certified", "rows_path", "save", "save_rows", "summary_of"]


def summary_of(
    model: Any,
    data: Dataset,
    source: str,
    settings: Settings,
    result: dict[str, Any] | None,
    reading: dict[str, Any],
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

    Returns
    -------
    dict
        Data, columns, training and scores.
    """
    from smtl.datasets.checksum import checksum
    from smtl.model.scores import encoder_of
    from smtl.model.training import named_labels, targets_of

    final = model[-1]
    n, d = data.X.shape
    names = named_labels(data)[1]
    n_pos, n_neg = targets_of(data).counts()
    form = getattr(data, "form", None)
    prefix = reading.get("prefix") or "label:"
    labels = data.label_names or names  # the tasks are others where each has rows of its own
    columns = form.columns if form is not None else [*labels, *(f"{prefix}{name}" for name in labels)]
    encoder = encoder_of(model)
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
            "labels": list(columns),
            "task": _task_column(data, reading),
            "ignored": list_of(reading.get("ignore")),
            **({} if data.weights is None else {"weight": reading["weights"]}),
        },
        **({} if encoder is None else {"table": encoder.columns_}),
        **({} if form is None else {"labels": form.to_json()}),
        "training": {
            **_settings(settings),
            "rows": n - (0 if result is None else result["rows"]),
            "test_rows": 0 if result is None else result["rows"],
            **_of_training(final),
        },
        "scores": {"tasks": tasks} | ({} if result is None else {"macro": result["macro"], "micro": result["micro"]}),
    }


def _task_column(data: Dataset, reading: dict[str, Any]) -> str | None:
    """Return the column that says each row's task."""
    if data.tasks is None:
        return None
    return getattr(data, "task_column", None) or reading.get("tasks") or "task:"


def _settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that matter for the kind of model."""
    other = ("metric", "penalty", "C", "n_values", "scale") if settings.model == "ensemble" else ("preset",)
    unset = [key for key in ("costs", "calibration") if getattr(settings, key) is None]
    kept = {key: value for key, value in asdict(settings).items() if key not in (*other, *unset)}
    return kept if settings.scoring is not None else {key: kept[key] for key in kept if key != "scoring"}


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
        "gap": certified(final),
        "iterations": int(final.n_iter_),
        "features_used": int(that_matter(final.coef_).any(axis=0).sum()),
    }


def certified(final: Any) -> float:
    """Return the gap of a linear model, or raise CommandError where nothing was learnt: there is no gap, or no C.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> certified(SimpleNamespace(gap_=float("inf"), C_=1.0))
    Traceback (most recent call last):
    smtl.cli._errors.CommandError: nothing can be learnt: ...
    """
    if not (isfinite(final.gap_) and isfinite(final.C_)):
        raise CommandError(
            "nothing can be learnt: no label has rows of both classes, with weights that count, among the training "
            "rows; the fit has no certificate."
        )
    return float(final.gap_)


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


def rows_path(data: Dataset, out: Path, source: str) -> Path:
    """Return where the rows of the test are kept: beside the model.

    A file that is there is left alone, unless it has the test rows of the model that is written over.

    Parameters
    ----------
    data : Dataset
        All rows.
    out : Path
        The model's file.
    source : str
        What the data are called.

    Returns
    -------
    Path
        The file: CSV for a table of CSV or Excel, Parquet for another table, else CSV, or svmlight for sparse rows.
    """
    import scipy.sparse as sp

    from smtl.model import model_metadata
    from smtl.tables.data import TableData, file_form

    form = file_form(data) if isinstance(data, TableData) else "svm" if sp.issparse(data.X) else "csv"
    earlier = None
    with suppress(OSError, ValueError):
        earlier = model_metadata(out).get("test_rows")
    for end in chain([""], (f"-{k}" for k in count(2))):
        path = out.with_name(f"{out.stem}-test{end}.{form}")
        if not path.exists() or (path.name == earlier and not is_same_file(path, source)):
            return path
    raise AssertionError


def save_rows(data: Dataset, rows: Any, path: Path) -> None:
    """Save some of the rows, as they came; what goes wrong is one line.

    Parameters
    ----------
    data : Dataset
        All rows.
    rows : ndarray of int
        Which.
    path : Path
        The file, see `rows_path`.
    """
    from smtl.datasets import write
    from smtl.model.training import rows_of
    from smtl.tables.data import TableData, write_table_data

    part = rows_of(data, rows)
    with one_line_errors():
        try:
            if isinstance(part, TableData):
                write_table_data(part, path)
            else:
                write(part, path)
        except OSError as error:
            raise writing_errors(path, error) from error
