"""Dask collections as parts of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from smtl.dask.cluster import ClusterRows
from smtl.parts.raw import Raw

__all__ = ["is_collection", "rows_of"]

PATIENCE = 60.0  # seconds without a worker, or without a scheduler, after which a fit gives up


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask collection.

    Examples
    --------
    >>> is_collection([1, 2])
    False
    """
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def rows_of(
    X: Any,
    y: Any,
    tasks: Any = None,
    sample_weight: Any = None,
    *,
    client: Any = None,
    patience: float = PATIENCE,
) -> ClusterRows:
    """Return a collection's partitions as parts of rows.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Features; blocks of an array may be sparse.
    y : Dask collection, or array-like where X is an array of known chunks
        Labels of the same rows.
    tasks, sample_weight : as y, optional
        The task, and the weight, of each row.
    client : distributed.Client, optional
        The cluster; the current one by default.
    patience : float, default=60
        Seconds to wait where there is no worker or no scheduler.

    Returns
    -------
    ClusterRows
        What is trained on.
    """
    if not is_collection(X):
        raise ValueError(
            f"X must be a dask.array or a dask.dataframe, got {type(X).__name__} instead; for data in memory there is "
            "smtl.SMTLClassifier."
        )
    if y is None:
        raise ValueError("y must be given, got None instead.")
    from dask import delayed

    client = _client(client)
    if hasattr(X, "chunks"):
        if X.ndim != 2:
            raise ValueError(f"X must be two-dimensional, got {X.ndim} dimensions instead.")
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        n_bytes = float(X.nbytes)
        blocks = X.to_delayed()[:, 0]
    else:
        n_bytes, blocks = float("nan"), X.to_delayed()
    labels = _aligned(X, y, "y", len(blocks))
    own = [None] * len(blocks) if tasks is None else _aligned(X, tasks, "tasks", len(blocks))
    weights = [None] * len(blocks)
    if sample_weight is not None:
        weights = list(_aligned(X, sample_weight, "sample_weight", len(blocks)))
    read = delayed(Raw, pure=False)
    parts = enumerate(zip(blocks, labels, own, weights, strict=True))
    raws = [read(block, label, task, k, None, None, weight) for k, (block, label, task, weight) in parts]
    return ClusterRows(client, raws, None if np.isnan(n_bytes) else n_bytes, patience)


def _client(client: Any) -> Any:
    """Return the client, or the current one."""
    if client is not None:
        return client
    from distributed import default_client

    try:
        return default_client()
    except ValueError as error:
        raise ValueError(
            "A Dask cluster is needed and there is none; start one with distributed.Client() (all cores of this "
            "machine), or connect to one with Client(address)."
        ) from error


def _aligned(X: Any, y: Any, name: str, n_parts: int) -> Sequence[Any]:
    """Return the partitions of y, divided as X is."""
    if not is_collection(y):
        y = _as_collection(X, y, name)
    if hasattr(y, "chunks"):
        if hasattr(X, "chunks") and not _unknown(X) and not _unknown(y):
            if y.shape[0] != X.shape[0]:
                raise ValueError(f"{name} must have as many rows as X ({X.shape[0]}), got {y.shape[0]} instead.")
            y = y.rechunk({0: X.chunks[0], **({1: -1} if y.ndim == 2 else {})})
        elif y.ndim == 2 and y.numblocks[1] > 1:
            y = y.rechunk({1: -1})
        parts = list(y.to_delayed().ravel())
    else:
        known = getattr(X, "known_divisions", False) and y.known_divisions
        if known and X.divisions != y.divisions:
            y = y.repartition(divisions=X.divisions)
        parts = list(y.to_delayed())
    if len(parts) != n_parts:
        raise ValueError(
            f"{name} must be divided as X is, into {n_parts} partitions, got {len(parts)} instead, and where the rows "
            "of either are is not known. Take both from one collection, or call repartition (compute_chunk_sizes and "
            "rechunk for arrays) on them first."
        )
    return parts


def _unknown(array: Any) -> bool:
    return bool(np.isnan(array.shape[0]))


def _as_collection(X: Any, y: Any, name: str) -> Any:
    """Return labels that are in memory as a collection that is divided as X is."""
    if not hasattr(X, "chunks") or _unknown(X):
        raise ValueError(
            f"{name} must be a Dask collection where the rows of X's partitions are not known beforehand, got "
            f"{type(y).__name__} instead."
        )
    import dask.array as da

    values = np.asarray(y)
    if len(values) != X.shape[0]:
        raise ValueError(f"{name} must have as many rows as X ({X.shape[0]}), got {len(values)} instead.")
    return da.from_array(values, chunks=(X.chunks[0], *values.shape[1:]))
