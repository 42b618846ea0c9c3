r"""Cut-offs chosen on held-out scores: one a task, one for all, or in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.held_out import HeldOut
from smtl.metrics import F1, ContingencyMetric, Error, Metric, get_metric

__all__ = ["Cuts", "best_cut", "choose_cuts", "cut_target"]

Float: TypeAlias = npt.NDArray[np.float64]

# A shared cut is looked for among so many quantiles of the scores of all tasks.
N_QUANTILES = 500
# How many positives' worth of trust the shared cut gets against a task's own.
SMOOTHING = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, np.inf)


def cut_target(metric: Metric, target: str | Metric | None = None) -> Metric:
    """Return the metric to choose cuts for.

    Parameters
    ----------
    metric : Metric
        What the model is trained on.
    target : str or Metric, optional
        What the cut is to be best for.

    Returns
    -------
    Metric
        The target; where there is none, the trained metric, or F1 where that is no function of the answers (AUC, log).

    Examples
    --------
    >>> from smtl import AUC, F2
    >>> cut_target(AUC()), cut_target(AUC(), "f2"), cut_target(F2())
    (F1(), F2(), F2())
    """
    if target is None:
        return metric if _is_of_answers(metric) else F1()
    chosen = get_metric(target)
    if not _is_of_answers(chosen):
        raise ValueError(
            f"threshold_metric must be a function of the answers, such as 'f1', 'f2', 'jaccard' or 'error', got "
            f"{target!r} instead: no cut makes it better or worse."
        )
    return chosen


def _is_of_answers(metric: Metric) -> bool:
    return metric.has_cut and isinstance(metric, ContingencyMetric | Error)


def best_cut(y: npt.ArrayLike, s: npt.ArrayLike, metric: Metric | None = None) -> float:
    """Return the threshold of the scores that makes a metric greatest.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels, +1 and -1.
    s : array-like of shape (n,)
        Scores.
    metric : Metric, optional
        What the cut is for; see `cut_target`.

    Returns
    -------
    float
        Half-way between two neighbouring scores; among equally good cuts, the one in the middle.

    Examples
    --------
    >>> best_cut([1, 1, -1, -1], [3.0, 1.0, 2.0, 0.0])
    0.5
    """
    order = np.argsort(-np.asarray(s, dtype=np.float64), kind="stable")
    target = cut_target(F1() if metric is None else metric)
    return _best_of_sorted(np.asarray(y)[order] > 0, np.asarray(s, dtype=np.float64)[order], target)


def _best_of_sorted(positive: npt.NDArray[np.bool_], scores: Float, target: Metric) -> float:
    """Return the best cut of scores in descending order."""
    n, hits = len(scores), np.cumsum(positive)
    # A cut after k + 1 rows is one only where the next score is lower.
    last = np.append(np.flatnonzero(scores[1:] < scores[:-1]), n - 1)
    losses = _losses(target, hits[last], last + 1 - hits[last], int(hits[-1]), n - int(hits[-1]))
    best = np.flatnonzero(losses <= losses.min() + 1e-12)
    k = last[best[len(best) // 2]]
    below = scores[k + 1] if k + 1 < n else scores[k] - 1.0
    return float(0.5 * (scores[k] + below))


def _losses(target: Metric, tp: npt.ArrayLike, fp: npt.ArrayLike, n_pos: int, n_neg: int) -> Float:
    """Return the loss of each contingency table."""
    a, b = np.ascontiguousarray(tp, dtype=np.float64), np.ascontiguousarray(fp, dtype=np.float64)
    if isinstance(target, ContingencyMetric):
        from smtl.kernels.tables import losses

        out = np.empty(len(a))
        losses(target._compiled(), a, b, float(n_pos), float(n_neg), out)
        return out
    return (n_pos - a) + b  # the number of errors


@dataclass
class Cuts:
    """Cut-offs of all tasks.

    Attributes
    ----------
    location : ndarray of shape (n_tasks,)
        What is taken off the scores before they are cut. Where tasks share a cut, and the metric leaves the place of
        the scores open (AUC), it is the point at which a task says yes as often as its labels do; otherwise 0.
    cut : ndarray of shape (n_tasks,)
        The cut-offs of what is left.
    by_fold : ndarray of shape (n_folds, n_tasks)
        ``location + cut`` as chosen without each of the folds: what that fold may be scored with.
    smoothing : float
        How many positives' worth of trust the shared cut has got: 0 for cuts of each task's own, infinite for a shared
        one.
    """

    location: Float
    cut: Float
    by_fold: Float
    smoothing: float


def choose_cuts(held: HeldOut, threshold: str | float, metric: Metric, target: Metric) -> Cuts:
    r"""Choose cut-offs on held-out scores.

    With the number :math:`p_i` of a task's positives and the smoothing :math:`\lambda`, a task's cut is

    .. math:: t_i = \frac{p_i\, t_i^{\text{own}} + \lambda\, t^{\text{shared}}}{p_i + \lambda}.

    Parameters
    ----------
    held : HeldOut
        Held-out scores.
    threshold : {"per-task", "shared", "smoothed"} or float
        :math:`\lambda = 0`, :math:`\lambda = \infty`, the :math:`\lambda` that does best when each fold is cut by what
        the other folds say; or a number, used as it is.
    metric : Metric
        What the models were trained on.
    target : Metric
        What the cuts are to be best for.

    Returns
    -------
    Cuts
        Cut-offs.
    """
    n_folds, m = held.n_folds, held.n_tasks
    if not isinstance(threshold, str):
        cut = np.full(m, float(threshold))
        return Cuts(np.zeros(m), cut, np.tile(cut, (n_folds, 1)), 0.0)
    # All the choices are made n_folds + 1 times: without each fold in turn, and with all of them.
    own, shared, location, trust = (np.zeros((n_folds + 1, m)) for _ in range(4))
    columns = [_Column(*column) for column in held.columns()]
    located = threshold != "per-task" and not metric.uses_intercept
    for i, column in enumerate(columns):
        for k in range(n_folds + 1):
            own[k, i], location[k, i], trust[k, i] = column.choose(k, target, located=located)
    if threshold != "per-task":
        for k in range(n_folds + 1):
            shared[k] = _shared_cut([column.without(k, location[k, i]) for i, column in enumerate(columns)], target)
    choices = {"per-task": (0.0,), "shared": (np.inf,), "smoothed": SMOOTHING}[threshold]
    mixed = [_mix(own, shared, trust, smoothing) for smoothing in choices]
    best = 0
    if len(choices) > 1:
        best = int(np.argmax([_held_out_score(columns, location + cuts, target) for cuts in mixed]))
    cuts = mixed[best]
    return Cuts(location[-1], cuts[-1], (location + cuts)[:-1], float(choices[best]))


class _Column:
    """One task's held-out labels and scores, sorted."""

    def __init__(self, y: npt.NDArray[np.int8], s: Float, fold: npt.NDArray[np.int64]) -> None:
        order = np.argsort(-s, kind="stable")
        self.positive, self.scores, self.fold = y[order] > 0, s[order], fold[order]

    def choose(self, k: int, target: Metric, *, located: bool) -> tuple[float, float, float]:
        """Return own cut, location and number of positives, without fold ``k``."""
        positive, scores = self.without(k, 0.0)
        n_pos = int(positive.sum())
        if n_pos == 0 or n_pos == len(positive):
            return 0.0, 0.0, 0.0
        location = float(0.5 * (scores[n_pos - 1] + scores[n_pos])) if located else 0.0
        return _best_of_sorted(positive, scores, target) - location, location, float(n_pos)

    def without(self, k: int, location: float) -> tuple[npt.NDArray[np.bool_], Float]:
        rows = self.fold != k
        return self.positive[rows], self.scores[rows] - location


def _shared_cut(columns: list[tuple[npt.NDArray[np.bool_], Float]], target: Metric) -> float:
    """Return the cut that is best for the mean over the tasks."""
    columns = [(positive, scores) for positive, scores in columns if positive.any() and not positive.all()]
    if not columns:
        return 0.0
    cuts = np.unique(np.quantile(np.concatenate([scores for _, scores in columns]), np.linspace(0, 1, N_QUANTILES)))
    total = np.zeros(len(cuts))
    for positive, scores in columns:
        said_yes = np.searchsorted(-scores, -cuts, side="left")  # scores above the cut
        tp = np.concatenate([[0], np.cumsum(positive)])[said_yes]
        n_pos = int(positive.sum())
        total += _losses(target, tp, said_yes - tp, n_pos, len(positive) - n_pos)
    best = np.flatnonzero(total <= total.min() + 1e-12)
    return float(cuts[best[len(best) // 2]])


def _mix(own: Float, shared: Float, trust: Float, smoothing: float) -> Float:
    if np.isinf(smoothing):
        return shared
    with np.errstate(invalid="ignore"):
        return np.where(trust > 0.0, (trust * own + smoothing * shared) / (trust + smoothing), shared)


def _held_out_score(columns: list[_Column], cuts: Float, target: Metric) -> float:
    """Return the mean score of the folds, each cut by what the others say."""
    values = []
    for i, column in enumerate(columns):
        for k in np.unique(column.fold):
            rows = column.fold == k
            y = np.where(column.positive[rows], 1, -1)
            if (y > 0).any() and (y < 0).any():
                values.append(target.score(y, column.scores[rows] - cuts[k, i]))
    return float(np.mean(values)) if values else 0.0
