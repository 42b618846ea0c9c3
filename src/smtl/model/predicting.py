"""A model's answers to a table or a data set, some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.model.linear import linear_form
from smtl.model.matching import Matching
from smtl.model.scores import answers_of, classifier_of, probabilities_of, task_scores
from smtl.model.tables import Table
from smtl.model.writers import Columns

__all__ = ["Output", "predict_matrix", "predict_table"]

_ROWS = 2**14


@dataclass(frozen=True)
class Output:
    """What is to be told of each row.

    Attributes
    ----------
    tasks : list of str
        Names of the tasks.
    kind : str
        Of the model's targets.
    labels, scores, probabilities : bool
        Whether answers, scores and probabilities are wanted.
    """

    tasks: Sequence[str]
    kind: str
    labels: bool = True
    scores: bool = False
    probabilities: bool = False

    def columns(
        self, model: Any, scores: npt.NDArray[np.float64], kept: Columns, own: npt.NDArray[np.intp] | None
    ) -> Columns:
        """Return the columns for some rows: what is kept of the input, then answers, scores, probabilities."""
        answers = answers_of(scores, self.kind)
        names = ["label"] if own is not None else list(self.tasks)
        columns = dict(kept)
        if self.labels:
            columns |= {name: answers[:, i] for i, name in enumerate(names)}
        wanted = {"score": scores} if self.scores else {}
        if self.probabilities:
            wanted["probability"] = probabilities_of(classifier_of(model), scores, own)
        for word, values in wanted.items():
            marked = [word] if own is not None else [f"{word}:{name}" for name in names]
            columns |= {name: values[:, i] for i, name in enumerate(marked)}
        return columns


def _scorer(model: Any) -> Callable[[Any, npt.NDArray[np.intp] | None], npt.NDArray[np.float64]]:
    """Return what scores rows: one linear function where the model is linear, which is fast, else the model."""
    final = classifier_of(model)
    if hasattr(final, "coef_"):
        return linear_form(model).scores

    def scores(X: Any, own: npt.NDArray[np.intp] | None = None) -> npt.NDArray[np.float64]:
        if np.isinf(X.data if sp.issparse(X) else X).any():
            raise ValueError("features must be finite (or missing).")
        return task_scores(model, X, None if own is None else final.task_names_[own])

    return scores


def predict_table(
    model: Any, table: Table, matching: Matching, output: Output, *, keep: Sequence[str] = (), task: str | None = None
) -> Iterator[Columns]:
    r"""Return the columns of the output, some rows at a time.

    Parameters
    ----------
    model : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    table : Table
        The rows.
    matching : Matching
        Which columns are which features.
    output : Output
        What is wanted.
    keep : sequence of str
        Columns of the table that are to stand in the output.
    task : str, optional
        The column that says each row's task.

    Yields
    ------
    dict
        Columns by name.

    Examples
    --------
    >>> import io
    >>> from smtl import SMTLClassifier
    >>> from smtl.model.matching import match_columns
    >>> from smtl.model.tables import open_csv
    >>> model = SMTLClassifier().fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> table = open_csv(io.BytesIO(b"beat,song\n5.0,Hey\n"), "songs.csv")
    >>> matching = match_columns(table.names, ["beat"], ["song"])
    >>> next(predict_table(model, table, matching, Output(["calm"], "binary"), keep=["song"]))
    {'song': ['Hey'], 'calm': array([1], dtype=int8)}
    """
    place = {name: k for k, name in enumerate(matching.numeric)}
    wanted = [*matching.nominal, *keep, *([] if task is None else [task])]
    text = [name for name in dict.fromkeys(wanted) if name not in place]
    scores_of, names = _scorer(model), classifier_of(model).task_names_
    for numbers, texts in table.chunks(list(matching.numeric), text):
        X = matching.features(numbers, texts)
        own = None if task is None else _task_numbers(texts[task], task, names)
        kept: Columns = {name: numbers[:, place[name]] if name in place else texts[name] for name in keep}
        if task is not None:
            kept["task"] = texts[task]
        try:
            scores = scores_of(X, own)
        except ValueError as error:
            infinite = [name for name, j in matching.numeric.items() if np.isinf(X[:, j]).any()]
            raise ValueError(f"{error} Column {infinite[0]!r} is not." if infinite else str(error)) from error
        yield output.columns(model, scores, kept, own)


def predict_matrix(model: Any, X: Any, tasks: Any, output: Output) -> Iterator[Columns]:
    """Return the columns of the output for features that are in memory, some rows at a time.

    Parameters
    ----------
    model : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Features.
    tasks : ndarray of shape (n_samples,) or None
        The task of each row.
    output : Output
        What is wanted.

    Yields
    ------
    dict
        Columns by name.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier().fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> next(predict_matrix(model, np.array([[5.0]]), None, Output(["calm"], "binary")))
    {'calm': array([1], dtype=int8)}
    """
    scores_of, names = _scorer(model), classifier_of(model).task_names_
    for start in range(0, X.shape[0], _ROWS):
        rows = slice(start, start + _ROWS)
        if tasks is None:
            yield output.columns(model, scores_of(X[rows], None), {}, None)
        else:
            own = _task_numbers([str(task) for task in tasks[rows].tolist()], "the task", names)
            yield output.columns(model, scores_of(X[rows], own), {"task": tasks[rows]}, own)


def _task_numbers(texts: Sequence[str | None], column: str, known: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the number of each row's task."""
    place: dict[str | None, int] = {str(name): i for i, name in enumerate(known.tolist())}
    for text in texts:
        if text not in place:
            raise ValueError(f"{column!r} must be one of the {len(known)} tasks of the model, got {text!r} instead.")
    return np.array([place[text] for text in texts], dtype=np.intp)
