"""What measures, data sets and methods are called in tables."""

from __future__ import annotations

from pathlib import PurePath

from smtl.experiments.imbalance import parse_ratio
from smtl.experiments.methods import Method, get_method, method_names
from smtl.experiments.published import title_of_dataset
from smtl.experiments.results import Results

__all__ = ["MEASURE_TITLES", "SECONDS", "about", "titles", "without_imbalance"]

MEASURE_TITLES = {
    "macro_f1": "macro F1",
    "micro_f1": "micro F1",
    "auc": "AUC",
    "average_precision": "average precision",
    "hamming_loss": "Hamming loss",
    "subset_accuracy": "subset accuracy",
    "fit_seconds": "fit seconds",
    "predict_seconds": "predict seconds",
}
SECONDS = ("fit_seconds", "predict_seconds")


def about(method: str) -> Method | None:
    """Return a method of ours by its name; unlike `get_method`, never import anything for it.

    Parameters
    ----------
    method : str
        A name.

    Returns
    -------
    Method or None
        None for an estimator by import path.

    Examples
    --------
    >>> about("br").title, about("sklearn.svm.SVC")
    ('BR', None)
    """
    return get_method(method) if method in method_names() else None


def titles(results: Results) -> dict[str, str]:
    """Return what data sets and methods are called in tables: as short as they can be told apart.

    Parameters
    ----------
    results : Results
        The study.

    Returns
    -------
    dict of str to str
        By name.

    Examples
    --------
    >>> rows = [{"dataset": "data/songs.arff", "method": "sklearn.svm.SVC", "split": 0, "status": "failed"}]
    >>> titles(Results.of(rows))
    {'data/songs.arff': 'songs.arff', 'sklearn.svm.SVC': 'SVC'}
    """
    datasets = {name: title_of_dataset(name) for name in results.datasets}
    datasets = {name: PurePath(title).name or title for name, title in datasets.items()}
    methods = {}
    for name in results.methods:
        known = about(name)
        methods[name] = known.title if known else name.rpartition(".")[2] or name
    out: dict[str, str] = {}
    for group in (datasets, methods):
        given = list(group.values())
        out |= {name: title if given.count(title) == 1 else name for name, title in group.items()}
    return out


def without_imbalance(results: Results) -> tuple[Results, Results]:
    """Divide a study from its runs on data that were made imbalanced.

    Parameters
    ----------
    results : Results
        All runs.

    Returns
    -------
    as_they_are, imbalanced : Results
        The two parts.

    Examples
    --------
    >>> rows = [{"dataset": d, "method": "br", "split": 0, "status": "failed"} for d in ("yeast", "yeast@1:5")]
    >>> plain, imbalanced = without_imbalance(Results.of(rows))
    >>> plain.datasets, imbalanced.datasets
    (['yeast'], ['yeast@1:5'])
    """
    parts: tuple[list[dict[str, object]], list[dict[str, object]]] = ([], [])
    for row in results.rows:
        parts[_is_imbalanced(row["dataset"])].append(row)
    return Results.of(parts[0], results.datasets), Results.of(parts[1], results.datasets)


def _is_imbalanced(dataset: str) -> bool:
    try:
        return parse_ratio(dataset)[1] is not None
    except ValueError:
        return False
