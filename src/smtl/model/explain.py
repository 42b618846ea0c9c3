"""What a model looks at: its largest weights, the features that all tasks share, the directions of a low rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["directions", "features_used", "that_matter", "top_features"]

# Singular values below this share of the largest are rounding errors.
_SMALL = 1e-6
# Weights below this share of the task's largest change no answer that anyone would notice.
_LEAST = 1e-3


def that_matter(coef: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which weights matter: those of at least a thousandth of their task's largest.

    Parameters
    ----------
    coef : ndarray of shape (n_tasks, n_features)
        Weights, of features on one scale.

    Returns
    -------
    ndarray of bool of shape (n_tasks, n_features)
        None of a task whose weights are all zero.

    Examples
    --------
    >>> that_matter(np.array([[1e-9, 1.0], [0.0, 0.0]]))
    array([[False,  True],
           [False, False]])
    """
    size = np.abs(coef)
    return np.asarray((size > 0.0) & (size >= _LEAST * size.max(axis=1, initial=0.0, keepdims=True)))


def features_used(coef: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the number of features that each task has a weight for that matters.

    Parameters
    ----------
    coef : ndarray of shape (n_tasks, n_features)
        Weights.

    Returns
    -------
    ndarray of int64 of shape (n_tasks,)
        Counts.

    Examples
    --------
    >>> features_used(np.array([[0.0, 1.0], [0.5, -1.0]]))
    array([1, 2])
    """
    return np.asarray(that_matter(coef).sum(axis=1), dtype=np.int64)


def top_features(weights: npt.NDArray[Any], names: Sequence[str], n: int) -> list[dict[str, Any]]:
    """Return the features with the largest weights, the largest first.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Of one task, or sizes over all tasks.
    names : sequence of str
        Of the features.
    n : int
        How many at the most.

    Returns
    -------
    list of dict
        ``feature`` and ``weight``; none that is zero.

    Examples
    --------
    >>> top_features(np.array([0.5, -2.0, 0.0]), ["beat", "key", "year"], 5)
    [{'feature': 'key', 'weight': -2.0}, {'feature': 'beat', 'weight': 0.5}]
    """
    order = np.argsort(-np.abs(weights), kind="stable")[:n]
    return [{"feature": names[j], "weight": float(weights[j])} for j in order if weights[j] != 0]


def directions(
    coef: npt.NDArray[Any], features: Sequence[str], tasks: Sequence[str], n: int, most: int = 10
) -> list[dict[str, Any]]:
    r"""Return the directions in feature space that the tasks' weights are made of.

    They are the right singular vectors of the weights, :math:`W = \sum_k \sigma_k u_k v_k^T`; a trace-norm penalty
    leaves few of them. The largest entry of each :math:`v_k` is positive.

    Parameters
    ----------
    coef : ndarray of shape (n_tasks, n_features)
        Weights.
    features, tasks : sequence of str
        Names.
    n : int
        Features and tasks of each direction.
    most : int, default=10
        Directions at the most.

    Returns
    -------
    list of dict
        ``size`` (the singular value), ``share`` of the sum of squares, ``features`` and ``tasks`` with their weights.

    Examples
    --------
    >>> found = directions(np.array([[3.0, 0.0], [6.0, 0.0]]), ["beat", "key"], ["calm", "sad"], n=1)
    >>> len(found), found[0]["features"], found[0]["tasks"][0]["task"]
    (1, [{'feature': 'beat', 'weight': 1.0}], 'sad')
    """
    U, sizes, V = np.linalg.svd(np.asarray(coef, dtype=np.float64), full_matrices=False)
    found = []
    for k in np.flatnonzero(sizes > _SMALL * sizes[0])[:most]:
        sign = 1.0 if V[k, np.abs(V[k]).argmax()] > 0 else -1.0
        found.append(
            {
                "size": float(sizes[k]),
                "share": float(sizes[k] ** 2 / np.sum(sizes**2)),
                "features": top_features(sign * V[k], features, n),
                "tasks": [
                    {"task": entry["feature"], "weight": entry["weight"]}
                    for entry in top_features(sign * U[:, k], tasks, n)
                ],
            }
        )
    return found
