"""The report of a model: one page that needs no network, with curves whose cut-off can be moved."""

from __future__ import annotations

import platform
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np

from smtl.datasets import Dataset
from smtl.datasets.checksum import checksum
from smtl.datasets.files import replacing
from smtl.model.importance import permutation_importance
from smtl.model.matching import arranged
from smtl.model.report.figures import details, measured
from smtl.model.report.page import report_page
from smtl.model.report.words import mapping
from smtl.model.scores import classifier_of, encoder_of, takes_frames, task_scores
from smtl.model.training import by_position, check_finite, targets_for, without_columns
from smtl.tables.data import as_dataset

__all__ = ["write_report"]


def write_report(
    model: Any,
    data: Dataset | tuple[Any, Any],
    path: str | PathLike[str],
    *,
    metadata: Mapping[str, Any] | None = None,
    ignored: Collection[str] = (),
    row_names: Sequence[str] | None = None,
    title: str | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Write what a model does on data as a page: figures, curves, calibration, mistakes, weights, training.

    Of an ensemble it has the learners, and the features without which AUC falls most, instead of weights.

    Parameters
    ----------
    model : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model. A pipeline's steps before the classifier must keep the features as they are, as scalers do.
    data : Dataset, or pair of X and y
        Rows with labels, whose columns are matched with the model's by name, or by position if it has none. Or
        features, a data frame for example, and labels as `fit` takes them.
    path : path-like
        The page; it takes its place only once it is whole.
    metadata : mapping, optional
        What `smtl.model.model_metadata` returns: names, how the model was trained. By default what the model itself
        knows.
    ignored : collection of str, default=()
        Columns of the data that are no features.
    row_names : sequence of str, optional
        What rows are called among the mistakes; by default their numbers, from 1 on.
    title : str, optional
        The heading.
    tell : callable, optional
        It is told, in words, what is being done.

    Returns
    -------
    dict
        The figures: ``rows``, ``tasks``, ``macro``, ``micro`` and ``training_data``, whether these are the data that
        the model was made of.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from smtl import SMTLClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(60, 4)), rng.integers(2, size=(60, 2))
    >>> model = SMTLClassifier().fit(X, Y)
    >>> with TemporaryDirectory() as folder:
    ...     found = write_report(model, Dataset(X, Y, label_names=("calm", "sad")), Path(folder, "report.html"),
    ...                          metadata={"tasks": ["calm", "sad"]})
    ...     Path(folder, "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    >>> [task["name"] for task in found["tasks"]]
    ['calm', 'sad']
    """
    known = {**_known(model), **(metadata or {})}
    data = as_dataset(*data) if isinstance(data, tuple) else data
    coef = getattr(classifier_of(model), "coef_", None)
    by_columns = encoder_of(model) is not None or takes_frames(model)
    if not by_columns and coef is not None and coef.shape[1] != len(known["features"]):
        raise ValueError(
            f"the classifier must have a weight for each of the {len(known['features'])} features, got "
            f"{coef.shape[1]} instead; steps before it must keep the features as they are."
        )
    if row_names is not None and len(row_names) != data.X.shape[0]:
        raise ValueError(f"row_names must have {data.X.shape[0]} names, one a row, got {len(row_names)} instead.")
    if data.X.shape[0] == 0:
        raise ValueError("the data must have rows, got none.")
    tell("Scoring the rows")
    data = without_columns(data, ignored, missing="ignore")
    check_finite(data)
    X = arranged(data, known["features"], known["named_features"], encoder_of(model))
    truth = targets_for(data, known["tasks"], classifier_of(model))
    if data.label_names is not None and by_position(data.label_names, known["tasks"], classifier_of(model)):
        known["tasks"] = list(data.label_names)
    scores = task_scores(model, X, data.tasks if known["kind"] == "tasks" else None)
    found = measured(model, known["tasks"], known["kind"], truth, scores)
    trained = mapping(known.get("data")).get("checksum")
    found["training_data"] = trained is not None and checksum(data) == trained
    drawn = details(model, known, X, truth, scores, found, row_names=row_names, tell=tell)
    if coef is None:
        own = data.tasks if known["kind"] == "tasks" else None
        found["importance"] = permutation_importance(model, X, truth, known["features"], own, tell=tell)
    tell("Writing the page")
    text = report_page(model, known, data.name, found, drawn, title)
    with replacing(path) as file:
        file.write(text)
    return found


def _known(model: Any) -> dict[str, Any]:
    """Return what a model that was never saved knows of itself."""
    final = classifier_of(model)
    d = getattr(model, "n_features_in_", final.n_features_in_)
    names = getattr(model, "feature_names_in_", None)
    return {
        "features": [f"x{j}" for j in range(d)] if names is None else [str(name) for name in names],
        "named_features": names is not None,
        "tasks": [str(name) for name in np.asarray(final.task_names_).tolist()],
        "kind": final._kind,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("smtl", "scikit-learn", "numpy")},
        },
    }
