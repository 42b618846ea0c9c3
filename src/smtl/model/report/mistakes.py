"""The mistakes that a model is surest of, and which features led to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.model.scores import classifier_of, columns_in_order, inside, some_rows

__all__ = ["explained", "surest"]

Rows: TypeAlias = npt.NDArray[np.intp]


def surest(
    y: npt.NDArray[np.int8], scores: npt.NDArray[np.float64], yes: npt.NDArray[np.bool_], n: int
) -> dict[str, Rows]:
    """Return the rows of the mistakes that a model is surest of.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels +1 and -1; 0 for rows that do not count.
    scores : ndarray of shape (n_samples,)
        Scores.
    yes : ndarray of bool of shape (n_samples,)
        The model's answers.
    n : int
        Rows of each kind at the most.

    Returns
    -------
    dict
        ``wrong_yes``, the highest score first, and ``wrong_no``, the lowest first.

    Examples
    --------
    >>> y, scores = np.array([-1, -1, 1, 1], dtype=np.int8), np.array([0.5, 2.0, -1.0, 3.0])
    >>> surest(y, scores, scores > 0, 5)
    {'wrong_yes': array([1, 0]), 'wrong_no': array([2])}
    """
    up, down = np.flatnonzero((y < 0) & yes), np.flatnonzero((y > 0) & ~yes)
    return {
        "wrong_yes": up[np.argsort(-scores[up], kind="stable")[:n]],
        "wrong_no": down[np.argsort(scores[down], kind="stable")[:n]],
    }


def explained(
    model: Any, X: Any, cells: Sequence[tuple[int, int]], n: int
) -> list[tuple[list[tuple[int, float]], float | None]]:
    """Return what the scores of some rows are made of.

    Parameters
    ----------
    model : SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Features.
    cells : sequence of (int, int)
        A row and a task each.
    n : int
        Features of each at the most.

    Returns
    -------
    list of (list of (int, float), float or None)
        For each cell, the features with the largest contributions, and the sum of all others and the intercept. A
        contribution is the weight times the feature on the model's scale; with the rest, they add up to the score. An
        ensemble's scores are no such sums: of these, nothing and None.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier(fit_intercept=False).fit([[0.0, 1.0], [1.0, 0.0], [3.0, 0.0]], [0, 1, 1])
    >>> X = np.array([[2.0, 1.0]])
    >>> [(parts, rest)] = explained(model, X, [(0, 0)], n=2)
    >>> np.isclose(sum(value for _, value in parts) + rest, model.decision_function(X)[0])
    np.True_
    """
    final = classifier_of(model)
    if not hasattr(final, "coef_"):
        return [([], None) for _ in cells]
    rows = np.unique([row for row, _ in cells]).astype(np.intp)
    place = {row: k for k, row in enumerate(rows.tolist())}
    Z = some_rows(X, rows)
    if len(rows):
        with columns_in_order():
            Z = inside(model, Z)
    found: list[tuple[list[tuple[int, float]], float | None]] = []
    for row, task in cells:
        values = Z[[place[row]]]
        parts = np.ravel(values.toarray() if sp.issparse(values) else values) * final.coef_[task]
        order = np.argsort(-np.abs(parts), kind="stable")[:n]
        largest = [(int(j), float(parts[j])) for j in order if parts[j] != 0]
        rest = float(parts.sum() - sum(value for _, value in largest) + final.intercept_[task])
        found.append((largest, rest))
    return found
