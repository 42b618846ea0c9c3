"""A model's answers to a table or a data set, some rows at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from smtl.model.linear import linear_form
from smtl.model.matching import Matching
from smtl.model.scores import answers_of, classifier_of, inside, probabilities_of, task_scores
from smtl.model.writers import Columns
from smtl.tables.labels import LabelForm
from smtl.tables.types import without_empty
from smtl.tables.values import EMPTY

__all__ = ["Output", "predict_matched", "predict_matrix", "predict_table"]

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
    form : LabelForm, optional
        How labels are written in the table that the model was made of; answers are written so, too.
    as_tags : bool
        Whether answers are written as tags in one column.
    """

    tasks: Sequence[str]
    kind: str
    labels: bool = True
    scores: bool = False
    probabilities: bool = False
    form: LabelForm | None = None
    as_tags: bool = False

    def columns(
        self, model: Any, scores: npt.NDArray[np.float64], kept: Columns, own: npt.NDArray[np.intp] | None
    ) -> Columns:
        """Return the columns for some rows: what is kept of the input, then answers, scores, probabilities."""
        columns = dict(kept)
        if self.labels:
            columns |= self._answers(answers_of(scores, classifier_of(model)), own is not None)
        names, wanted = list(self.tasks), {"score": scores} if self.scores else {}
        if self.probabilities:
            wanted["probability"] = probabilities_of(classifier_of(model), scores, own)
        for word, values in wanted.items():
            marked = [word] if own is not None else [f"{word}:{name}" for name in names]
            columns |= {name: values[:, i] for i, name in enumerate(marked)}
        return columns

    def _answers(self, answers: npt.NDArray[np.int8], own_rows: bool) -> Columns:
        form = self.form
        if self.as_tags:
            return {
                "tags": [";".join(name for name, yes in zip(self.tasks, row, strict=True) if yes) for row in answers]
            }
        if form is not None and form.kind == "class":
            place = answers[:, 0] if self.kind == "binary" else answers.argmax(axis=1)
            return form.written(np.array(form.names, dtype=object)[place])
        plain = form is None or (form.kind == "columns" and set(zip(form.no, form.yes, strict=True)) == {(0, 1)})
        if form is None or plain:
            names = ["label"] if own_rows else list(self.tasks)
            return {name: answers[:, i] for i, name in enumerate(names)}
        return form.written(answers)


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
    model: Any,
    batches: Iterable[pa.Table],
    output: Output,
    *,
    keep: Sequence[str] = (),
    task: str | None = None,
    raw: Collection[str] = (),
) -> Iterator[Columns]:
    r"""Return the columns of the output, some rows at a time, of a model that was trained on a table.

    Parameters
    ----------
    model : Pipeline
        A fitted model that begins with `smtl.tables.TableEncoder`, or with what else takes data frames.
    batches : iterable of pyarrow.Table
        The rows.
    output : Output
        What is wanted.
    keep : sequence of str
        Columns of the table that are to stand in the output.
    task : str, optional
        The column that says each row's task.
    raw : collection of str
        Columns in which missing values are still the words that are written there.

    Yields
    ------
    dict
        Columns by name.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from smtl import SMTLClassifier
    >>> from smtl.tables import TableEncoder
    >>> table = pa.table({"beat": [0.5, 1.0, 3.0], "song": ["a", "b", "c"]})
    >>> model = make_pipeline(TableEncoder(ignore=["song"]), SMTLClassifier()).fit(table, [0, 0, 1])
    >>> next(predict_table(model, [table], Output(["calm"], "binary"), keep=["song"]))
    {'song': ['a', 'b', 'c'], 'calm': array([0, 0, 1], dtype=int8)}
    """
    scores_of, names = _scorer(model[-1:]), classifier_of(model).task_names_
    for table in batches:
        kept: Columns = {name: _cells(table.column(name)) for name in keep}
        table = _without_words(table, raw)
        own = None
        if task is not None:
            kept["task"] = _task_words(table.column(task))
            own = _task_numbers(kept["task"], task, names)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # missing columns have been told of once
            X = inside(model, table)
        yield output.columns(model, scores_of(X, own), kept, own)


def predict_matched(
    model: Any,
    batches: Iterable[pa.Table],
    matching: Matching,
    output: Output,
    *,
    keep: Sequence[str] = (),
    task: str | None = None,
    raw: Collection[str] = (),
) -> Iterator[Columns]:
    """Return the columns of the output, some rows of a table at a time, of a model that was trained on a matrix.

    Parameters
    ----------
    model, batches, output, keep, task, raw
        As in `predict_table`.
    matching : Matching
        Which columns are which features.

    Yields
    ------
    dict
        Columns by name.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> from smtl.model.matching import match_columns
    >>> model = SMTLClassifier().fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> table = pa.table({"beat": [5.0], "song": ["Hey"]})
    >>> matching = match_columns(table.column_names, ["beat"], ["song"])
    >>> next(predict_matched(model, [table], matching, Output(["calm"], "binary"), keep=["song"]))
    {'song': ['Hey'], 'calm': array([1], dtype=int8)}
    """
    scores_of, names = _scorer(model), classifier_of(model).task_names_
    for table in batches:
        kept: Columns = {name: _cells(table.column(name)) for name in keep}
        table = _without_words(table, raw)
        numbers = np.empty((table.num_rows, len(matching.numeric)))
        for k, name in enumerate(matching.numeric):
            numbers[:, k] = table.column(name).cast(pa.float64(), safe=False).to_numpy()
        X = matching.features(numbers, {name: _words(table.column(name)) for name in matching.nominal})
        own = None
        if task is not None:
            kept["task"] = _task_words(table.column(task))
            own = _task_numbers(kept["task"], task, names)
        try:
            scores = scores_of(X, own)
        except ValueError as error:
            infinite = [name for name, j in matching.numeric.items() if np.isinf(X[:, j]).any()]
            raise ValueError(f"{error} Column {infinite[0]!r} is not." if infinite else str(error)) from error
        yield output.columns(model, scores, kept, own)


def _without_words(table: pa.Table, names: Collection[str]) -> pa.Table:
    """Return a table with null for the words that mean a missing value."""
    for name in names:
        k = table.column_names.index(name)
        if pa.types.is_string(table.column(k).type):
            table = table.set_column(k, name, without_empty(table.column(k), EMPTY))
    return table


def _cells(column: pa.ChunkedArray) -> Any:
    """Return a column for a writer: numbers as an array, anything else as text."""
    if pa.types.is_floating(column.type):
        return column.to_numpy()
    return _words(column)


def _words(column: pa.ChunkedArray) -> list[str | None]:
    found: list[str | None] = column.cast(pa.string()).to_pylist()
    return found


def _task_words(column: pa.ChunkedArray) -> list[str | None]:
    return [None if word is None else word.strip() for word in _words(column)]


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
