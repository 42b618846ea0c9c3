"""The figures of a report: what a model scores on data, task by task, as plain JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.metrics import average_precision_score

from smtl.estimators.targets import Targets
from smtl.model.evaluation import evaluate
from smtl.model.explain import features_used
from smtl.model.report.conditions import condition
from smtl.model.report.cuts import bins, cut_points
from smtl.model.report.mistakes import explained, surest
from smtl.model.scores import answers_of, classifier_of, names_inside

__all__ = ["MOST_TASKS", "details", "measured", "most_cuts"]

Float: TypeAlias = npt.NDArray[np.float64]

# What a page shows at the most, so that it stays small: tasks with curves, cuts of a task and of all together.
MOST_TASKS = 200
_MOST_CUTS, _ALL_CUTS = 2000, 100_000
_MISTAKES, _FEATURES = 5, 5
_TOLD = ("name", "rows", "positives", "auc", "average_precision")


def most_cuts(n_tasks: int) -> int:
    """Return how many cuts of each task are shown at the most.

    Examples
    --------
    >>> most_cuts(6), most_cuts(100)
    (2000, 1000)
    """
    return min(_MOST_CUTS, _ALL_CUTS // max(n_tasks, 1))


def measured(model: Any, names: Sequence[str], kind: str, truth: Targets, scores: Float) -> dict[str, Any]:
    """Return the figures of each task and their means.

    Parameters
    ----------
    model : SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    names : sequence of str
        Of the tasks.
    kind : str
        Of the model's targets.
    truth : Targets
        Labels.
    scores : ndarray of shape (n_samples, n_tasks), or (n_samples, 1) where tasks have their own rows
        The model's scores.

    Returns
    -------
    dict
        What `smtl.model.evaluation.evaluate` returns, and of each task ``name``, ``average_precision``, ``threshold``
        and ``features``.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> from smtl.estimators.targets import read_targets
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), [0, 0, 1]
    >>> model = SMTLClassifier().fit(X, y)
    >>> found = measured(model, ["calm"], "binary", read_targets(X, y), model.decision_function(X)[:, None])
    >>> found["tasks"][0]["average_precision"], found["macro"]["f1"]
    (1.0, 1.0)
    """
    result = evaluate(truth, scores, answers_of(scores, classifier_of(model)), draws=0)
    final = classifier_of(model)
    used = features_used(final.coef_) if hasattr(final, "coef_") else None
    known = []
    for i, (name, task) in enumerate(zip(names, result["tasks"], strict=True)):
        precision = None
        if 0 < task["positives"] < task["rows"]:
            y, s, _ = _own(truth, scores, i)
            precision = float(average_precision_score(y > 0, s))
            known.append(precision)
        more = {"threshold": float(final.thresholds_[i]), "features": None if used is None else int(used[i])}
        result["tasks"][i] = {"name": name, **task, "average_precision": precision, **more}
    result["macro"]["average_precision"] = float(np.mean(known)) if known else None
    return result


def _own(truth: Targets, scores: Float, i: int) -> tuple[npt.NDArray[np.int8], Float, npt.NDArray[np.intp]]:
    """Return labels and scores of the rows that a task has a label for, and which they are."""
    y = truth.column(i)
    rows = np.flatnonzero(y)
    return y[rows], scores[rows, _column(scores, i)], rows


def _column(scores: Float, i: int) -> int:
    """Return where the scores of a task are: there is one column where each row has its own task."""
    return 0 if scores.shape[1] == 1 else i


def details(
    model: Any,
    metadata: Mapping[str, Any],
    X: Any,
    truth: Targets,
    scores: Float,
    found: Mapping[str, Any],
    *,
    row_names: Sequence[str] | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Return what the page's script draws: of each task its cuts, its bins and its mistakes.

    Parameters
    ----------
    model : SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    metadata : mapping
        ``features``, ``tasks`` and ``kind``.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Features, in the model's order.
    truth : Targets
        Labels.
    scores : ndarray of shape (n_samples, n_tasks), or (n_samples, 1) where tasks have their own rows
        The model's scores.
    found : mapping
        What `measured` returns.
    row_names : sequence of str, optional
        What rows are called; by default their numbers, from 1 on.
    tell : callable, optional
        It is told how far this is.

    Returns
    -------
    dict
        ``tasks``, of those with the most positives if they are too many; ``features``, the names that mistakes
        refer to; and ``multiclass``.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> from smtl.estimators.targets import read_targets
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), [0, 0, 1]
    >>> model = SMTLClassifier().fit(X, y)
    >>> metadata = {"features": ["beat"], "tasks": ["calm"], "kind": "binary"}
    >>> truth, scores = read_targets(X, y), model.decision_function(X)[:, None]
    >>> drawn = details(model, metadata, X, truth, scores, measured(model, ["calm"], "binary", truth, scores))
    >>> drawn["tasks"][0]["wrong"]
    [0, 0]
    """
    n_pos, _ = truth.counts()
    chosen = np.sort(np.argsort(-n_pos, kind="stable")[:MOST_TASKS]).tolist()
    answers = answers_of(scores, classifier_of(model))
    tasks = []
    for done, i in enumerate(chosen, 1):
        tell(f"Task {done:,} of {len(chosen):,}")
        y, s, rows = _own(truth, scores, i)
        yes = answers[rows, _column(scores, i)] > 0
        tasks.append({"number": i} | {key: found["tasks"][i][key] for key in _TOLD})
        if len(rows):
            tasks[-1] |= _packed(cut_points(y, s, most_cuts(len(chosen))))
            tasks[-1]["bins"] = bins(y, s, _probabilities(model, s, i))
            tasks[-1]["wrong"] = [int(((y < 0) & yes).sum()), int(((y > 0) & ~yes).sum())]
            for kind, wrong in surest(y, s, yes, _MISTAKES).items():
                tasks[-1][kind] = [(int(rows[k]), float(s[k])) for k in wrong]
    tell("Looking into the mistakes")
    features, inside = _explain(tasks, model, X, row_names), names_inside(model, metadata["features"])
    return {
        "tasks": tasks,
        "condition": condition(classifier_of(model), chosen),
        "features": [inside[j] for j in features],
        "multiclass": metadata["kind"] == "multiclass",
    }


def _packed(points: dict[str, Any]) -> dict[str, Any]:
    """Return cuts with the rows of each class between one and the next: small numbers, that take little space."""
    yes, no = (np.diff(points[key], prepend=points[key][0]) for key in ("above_yes", "above_no"))
    return {"cuts": points["cuts"], "yes": (-yes).tolist(), "no": (-no).tolist(), "all": points["all"]}


def _probabilities(model: Any, scores: Float, i: int) -> Float | None:
    final = classifier_of(model)
    if not hasattr(final, "predict_proba"):
        return None
    return np.asarray(final.yes_probability(scores, np.full(len(scores), i)))


def _explain(tasks: list[dict[str, Any]], model: Any, X: Any, row_names: Sequence[str] | None) -> list[int]:
    """Put what led to it beside each mistake; return the features that are mentioned, in the order of their numbers."""
    mistakes = [
        (task, kind, k) for task in tasks for kind in ("wrong_yes", "wrong_no") for k in range(len(task.get(kind, ())))
    ]
    cells = [(task[kind][k][0], task["number"]) for task, kind, k in mistakes]
    place: dict[int, int] = {}
    for (task, kind, k), (parts, rest) in zip(mistakes, explained(model, X, cells, _FEATURES), strict=True):
        row, score = task[kind][k]
        task[kind][k] = {
            "row": row + 1 if row_names is None else str(row_names[row]),
            "score": score,
            "parts": [[place.setdefault(j, len(place)), _short(value)] for j, value in parts],
            "rest": None if rest is None else _short(rest),
        }
    return list(place)


def _short(value: float) -> float:
    return float(f"{value:.6g}")
