"""``smtl fit`` on what does not fit into memory: a folder of Parquet, batch by batch or on a Dask cluster."""

from __future__ import annotations

import json as to_json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from smtl.cli._errors import CommandError
from smtl.cli._model_options import figure, plain_table, writing_errors
from smtl.cli._reading import list_of, one_line_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console


__all__ = ["LargeSettings", "fit_folder", "is_large", "print_folder"]

LARGE = 0.25  # of the free memory that a Parquet file's columns may take before it is read batch by batch


class LargeSettings(NamedTuple):
    """How a model of a folder is trained: the options of ``smtl fit``.

    Attributes
    ----------
    metric, penalty : str
        What the model is trained on, and what ties the tasks together.
    C : float, "auto" or "cv"
        The weight of the loss.
    cv, n_values : int
        Folds, and values of C to choose from, where it is chosen.
    threshold : str, float or None
        The cut; None is the estimator's own.
    scale : bool
        Whether to put features on one scale.
    seed, jobs : int
        For the folds; threads.
    scoring : str or None
        What C is chosen for.
    """

    metric: str
    penalty: str
    C: str | float
    cv: int
    n_values: int
    threshold: str | float | None
    scale: bool
    seed: int
    jobs: int
    scoring: str | None


def is_large(source: str) -> bool:
    """Return whether a source is a folder of Parquet, or a Parquet file whose columns would take much of the memory.

    Parameters
    ----------
    source : str
        What the user has named.

    Returns
    -------
    bool
        Whether to read it batch by batch.

    Examples
    --------
    >>> is_large("songs.csv")
    False
    """
    path = Path(source)
    if path.is_dir():
        return any(path.rglob("*.parquet"))
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return False
    return _uncompressed_bytes(path) > LARGE * _free_memory()


def _uncompressed_bytes(path: Path) -> int:
    """Return how many bytes the columns of a Parquet file take; 0 where it cannot be read."""
    import pyarrow.parquet as pq

    from smtl.datasets import DatasetError
    from smtl.tables.parquet import damaged

    try:
        with damaged(path):
            metadata = pq.read_metadata(path)
    except (OSError, DatasetError):
        return 0  # the reader of tables says what is wrong with it
    return sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))


def _free_memory() -> float:
    """Return the bytes that are free, or a lot where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024.0 * next(float(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return 8e9


def fit_folder(
    source: str,
    reading: dict[str, Any],
    settings: LargeSettings,
    out: Path,
    status: Console,
    cluster: str | None,
    checkpoint: Path | None,
) -> dict[str, Any]:
    """Fit a linear model and save it.

    Parameters
    ----------
    source : str
        The folder or file.
    reading : dict
        The options that say which columns are labels.
    settings : LargeSettings
        How to train.
    out : Path
        Where the model goes.
    status : Console
        For progress.
    cluster : str or None
        The address of a Dask scheduler.
    checkpoint : Path or None
        Where passes are kept.

    Returns
    -------
    dict
        What is to be known about the model: the metadata of its file.
    """
    from smtl.cli._model_progress import telling_warnings
    from smtl.cli._saving import certified
    from smtl.model import save_model

    labels, tasks, ignore = _roles(source, reading)
    model = _model(settings, checkpoint, verbose=int(status.is_terminal))
    with one_line_errors(), telling_warnings(), _client(cluster) as client:
        try:
            if client is None:
                model.fit_parquet(source, labels, tasks, ignore=ignore)
            else:
                _fit_on_cluster(model.set_params(client=client), source, labels, tasks, ignore)
        except RuntimeError as error:
            raise CommandError(str(error)) from error
    model.set_params(client=None, checkpoint=None, verbose=0)
    prefix = reading.get("prefix") or "label:"
    names = [str(name).removeprefix(prefix) for name in model.task_names_]
    with one_line_errors():
        rows, checksum = _files(source)
    summary = {
        "data": {"name": source, "rows": rows, "features": int(model.n_features_in_), "checksum": checksum},
        "columns": {"labels": labels, "task": tasks, "ignored": ignore},
        "training": {
            "model": "linear",
            "metric": str(getattr(model, "metric_", model.metric)),
            "penalty": str(getattr(model, "penalty_", model.penalty)),
            "scale": settings.scale,
            "seed": settings.seed,
            "rows": rows,
            "test_rows": 0,
            "C_used": float(model.C_),
            "gap": certified(model),
            "iterations": int(model.n_iter_),
        },
        "scores": {
            "tasks": [
                {"name": name, "f1": None, "auc": None, "threshold": float(cut)}
                for name, cut in zip(names, model.thresholds_, strict=True)
            ]
        },
    }
    with one_line_errors():
        try:
            save_model(model, out, feature_names=_features(model), task_names=names, metadata=summary)
        except OSError as error:
            raise writing_errors(out, error) from error
    return summary


def print_folder(console: Console, summary: dict[str, Any], out: Path, *, json: bool) -> None:
    """Print what became of a fit.

    Parameters
    ----------
    console : Console
        Where to print.
    summary : dict
        See `fit_folder`.
    out : Path
        The model.
    json : bool
        Whether to print JSON.
    """
    if json:
        print(to_json.dumps({"model": str(out)} | summary, indent=2, ensure_ascii=False))
        return
    from rich.markup import escape

    table = plain_table()
    table.add_column("Task", overflow="fold")
    table.add_column("Threshold", justify="right")
    for task in summary["scores"]["tasks"]:
        table.add_row(escape(task["name"]), figure(task["threshold"]))
    console.print(table)
    training, data = summary["training"], summary["data"]
    for name, value in {
        "Trained on": f"all {training['rows']:,} rows of {data['name']}, {data['features']:,} features",
        "C": f"{training['C_used']:.4g}",
        "Certified gap": f"{training['gap']:.2g}, after {training['iterations']} iterations",
        "Model": str(out),
    }.items():
        console.print(f"{name + ':':<18}{value}", markup=False, soft_wrap=True)


def _files(source: str) -> tuple[int, str]:
    """Return how many rows there are, and a checksum of the names and sizes of the files."""
    import hashlib

    import pyarrow.parquet as pq

    from smtl.parts.parquet import parquet_files
    from smtl.tables.parquet import damaged

    digest, rows = hashlib.sha256(), 0
    for file in parquet_files(source):
        with damaged(file):
            metadata = pq.read_metadata(file)
        digest.update(f"{file.name} {file.stat().st_size}\n".encode())
        rows += metadata.num_rows
    return rows, digest.hexdigest()[:16]


def _roles(source: str, reading: dict[str, Any]) -> tuple[list[str], str | None, list[str]]:
    """Return the columns that are labels, the one that says the task, and those to leave out."""
    import pyarrow.parquet as pq

    from smtl.parts.parquet import parquet_files
    from smtl.tables.parquet import damaged

    with one_line_errors():
        file = parquet_files(source)[0]
        with damaged(file):
            names = pq.read_schema(file).names
    prefix = reading.get("prefix") or "label:"
    labels = [str(name) for name in list_of(reading.get("labels"))]
    labels += [str(reading["class_column"])] if reading.get("class_column") else []
    if not labels:
        last = reading.get("last")
        labels = names[-int(last) :] if last else [name for name in names if name.startswith(prefix)]
    if not labels:
        raise typer.BadParameter(
            f"{source} has no column whose name begins with {prefix!r}; say which are labels with --labels."
        )
    return labels, reading.get("tasks"), [str(name) for name in list_of(reading.get("ignore"))]


def _model(settings: LargeSettings, checkpoint: Path | None, verbose: int) -> Any:
    """Return the classifier to fit."""
    from smtl.dask import SMTLClassifier, SMTLClassifierCV

    options: dict[str, Any] = {
        "threshold": "auto" if settings.threshold is None else settings.threshold,
        "scale": settings.scale,
        "checkpoint": checkpoint,
        "n_jobs": settings.jobs,
        "random_state": settings.seed,
        "verbose": verbose,
    }
    if settings.C == "cv":
        return SMTLClassifierCV(
            settings.metric,
            settings.penalty,
            Cs=settings.n_values,
            cv=settings.cv,
            scoring=settings.scoring,
            **options,
        )
    return SMTLClassifier(settings.metric, settings.penalty, C=settings.C, **options)


@contextmanager
def _client(address: str | None) -> Iterator[Any]:
    """Yield a client of the cluster at an address, None where there is none."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise CommandError("--cluster needs Dask: pip install 'smtl[dask]'.") from error
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise CommandError(f"--cluster must be the address of a Dask scheduler that answers, got {address}.") from error
    with client:
        yield client


def _fit_on_cluster(model: Any, source: str, labels: list[str], tasks: str | None, ignore: list[str]) -> None:
    """Fit a model to a folder that all workers see under the same name."""
    import dask.dataframe as dd

    frame = dd.read_parquet(source)
    features = [name for name in frame.columns if name not in {*labels, *ignore, tasks}]
    y = frame[labels[0]] if len(labels) == 1 else frame[labels]
    model.fit(frame[features], y, None if tasks is None else frame[tasks])


def _features(model: Any) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    return [f"x{k}" for k in range(model.n_features_in_)] if names is None else [str(name) for name in names]
