r"""Cut-offs chosen on held-out scores: one a task, one for all, or in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.held_out import HeldOut
from smtl.metrics import F1, Metric, get_metric

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
        return metric if metric.judges_answers else F1()
    chosen = get_metric(target)
    if not chosen.judges_answers:
        raise ValueError(
            f"threshold_metric must be a function of the answers, such as 'f1', 'f2', 'jaccard' or 'error', got "
            f"{target!r} instead: no cut makes it better or worse."
        )
    return chosen


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
        Half-way between two neighbouring scores, or 1 beyond the last; among equally good cuts, the one in the middle.

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
    n, n_pos = len(scores), int(positive.sum())
    # A cut after the k highest is one only where the next score is lower; after none and after all it always is.
    cuts = np.concatenate([[0], np.flatnonzero(scores[1:] < scores[:-1]) + 1, [n]])
    hits = np.concatenate([[0.0], np.cumsum(positive)])[cuts]
    losses = target.losses(hits, cuts - hits, n_pos, n - n_pos)
    best = np.flatnonzero(losses <= losses.min() + 1e-12)
    k = cuts[best[len(best) // 2]]
    above = scores[k - 1] if k > 0 else scores[0] + 2.0
    below = scores[k] if k < n else scores[-1] - 2.0
    return float(0.5 * (above + below))


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
        ``location + cut`` as chosen without the rows of each of the folds: what that fold may be scored with. Of a task
        that has one class only without them, it is that of all folds.
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
    columns = [_Column(held, *column) for column in held.columns()]
    located = threshold != "per-task" and not metric.uses_intercept
    for k in reversed(range(n_folds + 1)):
        kept = held.without(k)
        parts = [column.part(kept) for column in columns]
        for i, (positive, scores) in enumerate(parts):
            if 0 < positive.sum() < len(positive):
                own[k, i], location[k, i] = _own_cut(positive, scores, target, located=located)
                trust[k, i] = positive.sum()
            elif k < n_folds:
                own[k, i], location[k, i] = own[-1, i], location[-1, i]
            elif not metric.has_cut:
                blind = _blind_cut(scores, held.targets.column(i))
                own[k, i], location[k, i] = (0.0, blind) if located else (blind, 0.0)
        if threshold != "per-task":
            shared[k] = _shared_cut([(p, s - at) for (p, s), at in zip(parts, location[k], strict=True)], target)
    choices = {"per-task": (0.0,), "shared": (np.inf,), "smoothed": SMOOTHING}[threshold]
    mixed = [own if threshold == "per-task" else _mix(own, shared, trust, smoothing) for smoothing in choices]
    best = 0
    if len(choices) > 1:
        best = int(np.argmax([_held_out_score(columns, location + cuts, target) for cuts in mixed]))
    cuts = mixed[best]
    return Cuts(location[-1], cuts[-1], (location + cuts)[:-1], float(choices[best]))


class _Column:
    """One task's held-out labels and scores, from the highest score down."""

    def __init__(self, held: HeldOut, places: npt.NDArray[np.int64], y: npt.NDArray[np.int8], scores: Float) -> None:
        order = np.argsort(-scores, kind="stable")
        self.places, self.positive, self.scores = places[order], y[order] > 0, scores[order]
        self.fold = held.fold[self.places]

    def part(self, kept: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], Float]:
        """Return labels and scores of some of all entries."""
        mine = kept[self.places]
        return self.positive[mine], self.scores[mine]


def _own_cut(positive: npt.NDArray[np.bool_], scores: Float, target: Metric, *, located: bool) -> tuple[float, float]:
    """Return a task's own cut, less its location, and the location."""
    n_pos = int(positive.sum())
    location = float(0.5 * (scores[n_pos - 1] + scores[n_pos])) if located else 0.0
    return _best_of_sorted(positive, scores, target) - location, location


def _blind_cut(scores: Float, labels: npt.NDArray[np.int8]) -> float:
    """Return the cut that says yes as often as the labels do, for a task without a scored row of one of the classes.

    So it is with a single positive: the one fold that tests it has none to train on.
    """
    share = np.mean(labels[labels != 0] > 0) if labels.any() else 0.0
    return float(np.quantile(scores, 1.0 - share)) if len(scores) else 0.0


def _shared_cut(columns: list[tuple[npt.NDArray[np.bool_], Float]], target: Metric) -> float:
    """Return the cut that is best for the mean over the tasks."""
    columns = [(positive, scores) for positive, scores in columns if positive.any() and not positive.all()]
    if not columns:
        return 0.0
    everything = np.concatenate([scores for _, scores in columns])
    cuts = np.unique(np.append(np.quantile(everything, np.linspace(0, 1, N_QUANTILES)), everything.min() - 1.0))
    total = np.zeros(len(cuts))
    for positive, scores in columns:
        said_yes = np.searchsorted(-scores, -cuts, side="left")  # scores above the cut
        tp = np.concatenate([[0.0], np.cumsum(positive)])[said_yes]
        n_pos = int(positive.sum())
        total += target.losses(tp, said_yes - tp, n_pos, len(positive) - n_pos)
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
