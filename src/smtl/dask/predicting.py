"""Answers on Dask collections: lazy, partition by partition."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["lazily"]


def lazily(model: Any, method: str, X: Any, tasks: Any = None) -> Any:
    """Return what a method of a fitted model gives, as a collection that is not computed yet.

    Parameters
    ----------
    model : SMTLClassifier or SMTLClassifierCV
        The fitted model.
    method : {"predict", "decision_function", "predict_proba"}
        What to ask it.
    X : dask.array.Array or dask.dataframe.DataFrame
        Features.
    tasks : Dask collection, optional
        The task of each row, divided as X is.

    Returns
    -------
    dask.array.Array, or dask.dataframe.Series or DataFrame where X is a data frame
        Of the same partitions.
    """
    from dask import delayed

    if not hasattr(X, "chunks"):
        return _of_a_frame(model, method, X, tasks)
    import dask.array as da

    from smtl.dask.collections import _aligned

    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    blocks = X.to_delayed()[:, 0]
    own = [None] * len(blocks) if tasks is None else _aligned(X, tasks, "tasks", len(blocks))
    like = _answer(_zeros(model), model, method, _one_task(model, tasks))
    ask, shared = delayed(_answer, pure=True), delayed(model, traverse=False)
    return da.concatenate(
        [
            da.from_delayed(ask(block, shared, method, task), shape=(rows, *like.shape[1:]), dtype=like.dtype)
            for block, task, rows in zip(blocks, own, X.chunks[0], strict=True)
        ],
        allow_unknown_chunksizes=True,
    )


def _of_a_frame(model: Any, method: str, X: Any, tasks: Any) -> Any:
    """Return a series or data frame with the index of X."""
    rows = X._meta.iloc[:0].reindex(range(1)).fillna(0)
    one = _answer(rows, model, method, _one_task(model, tasks))
    columns = None if one.ndim == 1 else _columns(model, method, one.shape[1])
    meta = _framed(one[:0], X._meta.index[:0], columns)
    arguments = [X] if tasks is None else [X, tasks]
    return X.map_partitions(_answer_framed, *arguments[1:], model=model, method=method, columns=columns, meta=meta)


def _columns(model: Any, method: str, n: int) -> list[Any]:
    """Return what the columns of answers are called."""
    names = model.task_names_ if len(model.task_names_) == n else model.classes_
    return list(names.tolist())


def _zeros(model: Any) -> Any:
    return np.zeros((1, model.n_features_in_))


def _one_task(model: Any, tasks: Any) -> Any:
    return None if tasks is None else model.task_names_[:1]


def _answer(X: Any, model: Any, method: str, tasks: Any = None) -> Any:
    """Return the answers for one partition, which may be empty."""
    import warnings

    if X.shape[0] == 0:
        like = _answer(_zeros(model), model, method, _one_task(model, tasks))
        return like[:0]
    with warnings.catch_warnings():
        # An array where the model was fitted to a data frame, or the reverse: columns are in the same order.
        warnings.filterwarnings("ignore", message="X (has|does not have) (valid )?feature names")
        return getattr(model, method)(X) if tasks is None else getattr(model, method)(X, np.asarray(tasks).ravel())


def _framed(answers: Any, index: Any, columns: list[Any] | None) -> Any:
    import pandas as pd

    if columns is None:
        return pd.Series(answers, index=index)
    return pd.DataFrame(answers, index=index, columns=columns)


def _answer_framed(X: Any, tasks: Any = None, *, model: Any, method: str, columns: list[Any] | None) -> Any:
    return _framed(_answer(X, model, method, tasks), X.index, columns)
