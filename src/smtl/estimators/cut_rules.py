r"""Rules by which cut-offs follow from held-out scores, each worked out without every fold in turn."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from smtl.estimators.calibration import Curves, logistic_curves
from smtl.estimators.held_out import HeldOut
from smtl.metrics import Metric

__all__ = ["LEVELS", "SMOOTHING", "Rule", "at_log_odds", "best_of_sorted", "calibrated_rules", "mixed_rules"]

Float: TypeAlias = npt.NDArray[np.float64]
Part: TypeAlias = tuple[npt.NDArray[np.bool_], Float]

N_QUANTILES = 500  # quantiles of the scores of all tasks among which a shared cut is looked for
SMOOTHING = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, np.inf)  # trust in the shared cut, in positives
LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)  # probabilities at which a cut is tried for a score of unknown form


class Rule(NamedTuple):
    """Cuts by one rule: without each of the folds, and last with all of them.

    Attributes
    ----------
    name : str
        What the rule is called.
    location : ndarray of shape (n_folds + 1, n_tasks)
        What is taken off the scores.
    cut : ndarray of shape (n_folds + 1, n_tasks)
        The cuts of what is left.
    smoothing : float
        The trust in the shared cut.
    """

    name: str
    location: Float
    cut: Float
    smoothing: float

    @property
    def whole(self) -> Float:
        """The cuts of the scores themselves."""
        return self.location + self.cut


class _Column:
    """One task's held-out labels and scores, from the highest score down."""

    def __init__(self, places: npt.NDArray[np.int64], y: npt.NDArray[np.int8], scores: Float) -> None:
        order = np.argsort(-scores, kind="stable")
        self.places, self.positive, self.scores = places[order], y[order] > 0, scores[order]

    def part(self, kept: npt.NDArray[np.bool_]) -> Part:
        """Return labels and scores of some of all entries."""
        mine = kept[self.places]
        return self.positive[mine], self.scores[mine]


def mixed_rules(held: HeldOut, threshold: str, metric: Metric, target: Metric) -> list[Rule]:
    """Return cuts of each task's own, shared ones, and what lies between them.

    Parameters
    ----------
    held : HeldOut
        Held-out scores.
    threshold : {"auto", "per-task", "shared", "smoothed"}
        Which of them.
    metric : Metric
        What the models were trained on.
    target : Metric
        What the cuts are to be best for.

    Returns
    -------
    list of Rule
        One for each smoothing.
    """
    n_folds, m = held.n_folds, held.n_tasks
    own, shared, location, trust = (np.zeros((n_folds + 1, m)) for _ in range(4))
    columns = [_Column(*column) for column in held.columns()]
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
    if threshold == "per-task":
        return [Rule("per-task", location, own, 0.0)]
    names = {0.0: "per-task", np.inf: "shared"}
    return [
        Rule(names.get(smoothing, "smoothed"), location, _mix(own, shared, trust, smoothing), smoothing)
        for smoothing in ((np.inf,) if threshold == "shared" else SMOOTHING)
    ]


def calibrated_rules(held: HeldOut, target: Metric, *, pooled: bool, levels: bool) -> list[Rule]:
    r"""Return cuts that rest on log odds: the best to be expected, and those at one place of all tasks' log odds.

    With log odds, and so a probability :math:`p_k`, for each row, the hits to be expected of a cut t are
    :math:`\sum_{k: s_k > t} p_k`, the false positives :math:`\sum_{k: s_k > t} (1 - p_k)`, and so on. "expected" is the
    cut at which the metric of these expected counts is best. It varies less than one that is chosen by the labels, as
    all rows have a part in the curve, and only the few positives at the margin in the count of labels.

    Parameters
    ----------
    held : HeldOut
        Held-out scores.
    target : Metric
        What the cuts are to be best for.
    pooled : bool
        Whether the target is that of all tasks taken together instead of the mean over the tasks.
    levels : bool
        Whether to add cuts at fixed probabilities.

    Returns
    -------
    list of Rule
        "expected"; "calibrated", the best place of the log odds by the labels; "cardinality", where yes is said as
        often as all labels do; one for each level.
    """
    columns = [_Column(*column) for column in held.columns()]
    ends = np.array([(c.scores[-1] - 1.0, c.scores[0] + 1.0) if len(c.scores) else (0.0, 0.0) for c in columns])
    fixed = logit(np.array(LEVELS)) if levels else np.zeros(0)
    expected, *tables = np.zeros((3 + len(fixed), held.n_folds + 1, held.n_tasks))
    for k in reversed(range(held.n_folds + 1)):
        curves, kept = logistic_curves(held, k), held.without(k)
        parts = [column.part(kept) for column in columns]
        odds = [(y, a * s + b) for (y, s), a, b in zip(parts, curves.slope, curves.intercept, strict=True)]
        positive, everything = np.concatenate([y for y, _ in odds]), np.concatenate([s for _, s in odds])
        n_pos = int(positive.sum())
        if pooled or not 0 < n_pos < len(positive):
            order = np.argsort(-everything, kind="stable")
            positive, everything = positive[order], everything[order]
        if not 0 < n_pos < len(positive):
            places = np.zeros(2)
        else:
            best = best_of_sorted(positive, everything, target) if pooled else _shared_cut(odds, target)
            places = np.array([best, -_middle(-everything, n_pos)])
        for table, place in zip(tables, [*places, *fixed], strict=True):
            table[k] = np.clip(at_log_odds(curves, place), *ends.T)
        if pooled and len(everything):
            expected[k] = at_log_odds(curves, best_of_sorted(expit(everything), everything, target))
        elif not pooled:
            found = [
                best_of_sorted(expit(o), s, target) if len(s) else None
                for (_, s), (_, o) in zip(parts, odds, strict=True)
            ]
            expected[k] = [expected[-1, i] if cut is None else cut for i, cut in enumerate(found)]
        expected[k] = np.clip(expected[k], *ends.T)
    names = ["expected", "calibrated", "cardinality", *["calibrated"] * len(fixed)]
    none = np.zeros((held.n_folds + 1, held.n_tasks))
    return [Rule(name, none, table, np.inf) for name, table in zip(names, [expected, *tables], strict=True)]


def at_log_odds(curves: Curves, place: float | Float) -> Float:
    """Return the scores at which the curves reach some log odds; where a curve is flat, beyond all scores."""
    with np.errstate(divide="ignore", invalid="ignore"):
        at = (place - curves.intercept) / curves.slope
    return np.where(curves.slope > 0.0, at, np.where(curves.intercept > place, -np.inf, np.inf))


def best_of_sorted(positive: npt.NDArray[Any], scores: Float, target: Metric) -> float:
    """Return the best cut of scores in descending order; among equally good ones, the one in the middle.

    ``positive`` says of each score whether its label is yes, or how probable that is.
    """
    n, n_pos = len(scores), float(positive.sum())
    # A cut after the k highest is one only where the next score is lower; after none and after all it always is.
    cuts = np.concatenate([[0], np.flatnonzero(scores[1:] < scores[:-1]) + 1, [n]])
    hits = np.concatenate([[0.0], np.cumsum(positive)])[cuts]
    # Sums of probabilities may be beyond the whole by a rounding error, of which some formulas take a root.
    hits, wrong = np.minimum(hits, n_pos), np.clip(cuts - hits, 0.0, n - n_pos)
    losses = target.losses(hits, wrong, n_pos, n - n_pos)
    best = np.flatnonzero(losses <= losses.min() + 1e-12)
    k = cuts[best[len(best) // 2]]
    above = scores[k - 1] if k > 0 else scores[0] + 2.0
    below = scores[k] if k < n else scores[-1] - 2.0
    return float(0.5 * (above + below))


def _own_cut(positive: npt.NDArray[np.bool_], scores: Float, target: Metric, *, located: bool) -> tuple[float, float]:
    """Return a task's own cut, less its location, and the location."""
    location = _place_of_share(positive, scores) if located else 0.0
    return best_of_sorted(positive, scores, target) - location, location


def _place_of_share(positive: npt.NDArray[np.bool_], scores: Float) -> float:
    """Return the cut of scores in descending order that says yes as often as the labels do; both classes are there."""
    n_pos = int(positive.sum())
    return float(0.5 * (scores[n_pos - 1] + scores[n_pos]))


def _middle(values: Float, k: int) -> float:
    """Return the middle between the k least values and the rest; there are both."""
    return float(0.5 * np.partition(values, [k - 1, k])[k - 1 : k + 1].sum())


def _blind_cut(scores: Float, labels: npt.NDArray[np.int8]) -> float:
    """Return the cut that says yes as often as the labels do, for a task without a scored row of one of the classes.

    So it is with a single positive: the one fold that tests it has none to train on.
    """
    share = np.mean(labels[labels != 0] > 0) if labels.any() else 0.0
    return float(np.quantile(scores, 1.0 - share)) if len(scores) else 0.0


def _shared_cut(columns: list[Part], target: Metric) -> float:
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
