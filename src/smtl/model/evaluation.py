r"""How well a model does on rows with labels, and how sure that is.

Intervals are percentiles of the bootstrap: rows are drawn again with replacement, all tasks together, and every measure
is computed from how often each row was drawn. With the draws in the columns of a matrix, counts of right and wrong
answers, and the sums that AUC is made of, are products of sparse matrices with it.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.estimators.targets import Targets

__all__ = ["MEASURES", "auc_of_draws", "evaluate"]

Float: TypeAlias = npt.NDArray[np.float64]

MEASURES = ("precision", "recall", "f1", "auc")
# Entries of a block of draws.
_ENTRIES = 2**22


def evaluate(
    targets: Targets,
    scores: Float,
    answers: npt.NDArray[np.int8],
    *,
    draws: int = 1000,
    seed: int = 0,
    weights: Float | None = None,
) -> dict[str, Any]:
    """Return measures for each task and for all of them, with 95 % intervals.

    Parameters
    ----------
    targets : Targets
        The truth. What is not labelled does not count.
    scores, answers : ndarray of shape (n_samples, n_tasks), or (n_samples, 1) where tasks have their own rows
        From the model; answers are 0 and 1.
    draws : int, default=1000
        Draws of the bootstrap; 0 for no intervals.
    seed : int, default=0
        For the draws.
    weights : ndarray of shape (n_samples,), optional
        What each row counts in the measures; numbers of rows are numbers of rows all the same. Rows are drawn with
        equal chances, and bring their weights along.

    Returns
    -------
    dict
        ``tasks``: a list with ``rows``, ``positives``, ``predicted`` and, for each of `MEASURES`, a number and
        ``<measure>_interval``; ``macro``: means over the tasks that have both classes; ``micro``: answers of all tasks
        taken together. What is not defined is None.

    Examples
    --------
    >>> from smtl.estimators.targets import read_targets
    >>> truth = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> scores = np.array([[2.0, -1.0], [-1.0, 1.0], [1.0, -2.0], [1.0, -3.0]])
    >>> result = evaluate(read_targets(truth, truth), scores, (scores > 0).astype(np.int8), draws=100)
    >>> [round(task["f1"], 3) for task in result["tasks"]], round(result["macro"]["auc"], 3)
    ([0.8, 0.667], 0.812)
    """
    columns = [_Column(targets, i, scores, answers) for i in range(len(targets.names))]
    n = scores.shape[0]
    each = np.ones((n, 1), dtype=np.float32) if weights is None else weights[:, None]
    whole = _measures(columns, each)
    rng = np.random.default_rng(seed)
    parts = []
    at_once = max(1, min(draws, _ENTRIES // max(n, 1)))
    for start in range(0, draws, at_once):
        k = min(at_once, draws - start)
        drawn = np.empty((n, k), dtype=np.float32)
        for j in range(k):
            drawn[:, j] = np.bincount(rng.integers(n, size=n), minlength=n)
        parts.append(_measures(columns, drawn if weights is None else drawn * each))
    resampled = {key: np.concatenate([part[key] for part in parts], axis=-1) for key in whole} if parts else None

    def figures(key: str, at: tuple[int, ...] = ()) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for place, measure in enumerate(MEASURES):
            if (key, measure) == ("micro", "auc"):
                continue
            value[measure] = _number(whole[key][(place, *at, 0)])
            if resampled is not None:
                value[f"{measure}_interval"] = _interval(resampled[key][(place, *at)])
        return value

    return {
        "rows": n,
        "tasks": [
            {"rows": column.n_rows, "positives": column.n_pos, "predicted": column.n_yes} | figures("tasks", (i,))
            for i, column in enumerate(columns)
        ],
        "macro": figures("macro"),
        "micro": figures("micro"),
    }


class _Column:
    """One task's labels as sparse matrices, whose products with draws are what the measures are made of."""

    def __init__(self, targets: Targets, i: int, scores: Float, answers: npt.NDArray[np.int8]) -> None:
        y = targets.column(i)
        own = 0 if scores.shape[1] == 1 else i
        s, yes, n = scores[:, own], answers[:, own] > 0, len(y)
        self.n_rows, self.n_pos = int((y != 0).sum()), int((y > 0).sum())
        self.n_yes = int((yes & (y != 0)).sum())
        cells = [(y > 0) & yes, (y < 0) & yes, (y > 0) & ~yes]  # right and wrong yes, wrong no
        kind, row = np.nonzero(np.array(cells))
        self.cells = sp.csr_array((np.ones(len(row), dtype=np.float32), (kind, row)), shape=(3, n))
        self.both = 0 < self.n_pos < self.n_rows
        if not self.both:
            return
        self.y, self.s = y, s

    def auc(self, drawn: npt.NDArray[np.floating[Any]]) -> Float:
        """Return the share of pairs of a positive and a negative in the right order, ties for a half."""
        if not self.both:
            return np.full(drawn.shape[1], np.nan)
        return auc_of_draws(self.y, self.s, drawn)


def auc_of_draws(y: npt.NDArray[Any], s: Float, drawn: npt.NDArray[np.floating[Any]]) -> Float:
    """Return the AUC of each draw of rows: the share of pairs in the right order, ties for a half.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels +1 and -1, both there; 0 for rows that do not count.
    s : ndarray of shape (n,)
        Scores.
    drawn : ndarray of shape (n, n_draws)
        How often each row was drawn, or what it weighs.

    Returns
    -------
    ndarray of shape (n_draws,)
        NaN for a draw without one of the classes.

    Examples
    --------
    >>> auc_of_draws(np.array([1, -1, -1]), np.array([0.5, 0.0, 1.0]), np.ones((3, 1), dtype=np.float32))
    array([0.5])
    """
    # Negatives lie between two distinct scores of positives, or on one of them: 2k + 1 places for k scores.
    n, pos, neg = len(y), np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    values, place = np.unique(s[pos], return_inverse=True)
    between = np.searchsorted(values, s[neg], "left") + np.searchsorted(values, s[neg], "right")
    k = len(values)
    above = sp.csr_array((np.ones(len(pos), dtype=np.float32), (place, pos)), shape=(k, n))
    below = sp.csr_array((np.ones(len(neg), dtype=np.float32), (between, neg)), shape=(2 * k + 1, n))
    positives, negatives = (above @ drawn).astype(np.float64), (below @ drawn).astype(np.float64)
    fewer = np.cumsum(negatives, axis=0)[0:-1:2] + 0.5 * negatives[1::2]
    pairs = positives.sum(axis=0) * negatives.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray((positives * fewer).sum(axis=0) / pairs)


def _measures(columns: list[_Column], drawn: npt.NDArray[np.floating[Any]]) -> dict[str, Float]:
    """Return measures of each draw: of shape (4, n_tasks, n_draws) for the tasks, (4, n_draws) for all together."""
    counts = np.array([column.cells @ drawn for column in columns], dtype=np.float64)
    auc = np.array([column.auc(drawn) for column in columns])
    tasks = np.stack([*_from_counts(counts.transpose(1, 0, 2)), auc])
    both = np.array([column.both for column in columns])
    pooled = np.stack([*_from_counts(counts.sum(axis=0)), np.full(drawn.shape[1], np.nan)])
    return {"tasks": tasks, "macro": _mean(tasks[:, both]), "micro": pooled}


def _from_counts(counts: Float) -> tuple[Float, Float, Float]:
    """Return precision, recall and F1; not defined without positives, and 0 for no answer of yes."""
    right, wrong, missed = counts
    with np.errstate(invalid="ignore", divide="ignore"):
        none = right + missed == 0
        precision = np.where(right + wrong == 0, 0.0, right / (right + wrong))
        recall = right / (right + missed)
        f1 = 2 * right / (2 * right + wrong + missed)
    return np.where(none, np.nan, precision), recall, np.where(none, np.nan, f1)


def _mean(values: Float) -> Float:
    """Return the mean over the tasks that have a value."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=1) / known.sum(axis=1))


def _interval(values: Float) -> list[float] | None:
    known = values[~np.isnan(values)]
    return [float(value) for value in np.quantile(known, [0.025, 0.975])] if len(known) else None


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
