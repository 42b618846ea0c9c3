r"""Cut-offs chosen on held-out scores: one a task, one for all, in between, or whichever is best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.cut_rules import Rule, best_of_sorted, calibrated_rules, mixed_rules
from smtl.estimators.held_out import HeldOut
from smtl.estimators.rules import CutRule
from smtl.estimators.scoring import TaskScorer, fold_scores
from smtl.metrics import F1, Metric, get_metric

__all__ = ["Cuts", "Judge", "best_cut", "choose_cuts", "cut_target", "ends_of_cuts"]

Float: TypeAlias = npt.NDArray[np.float64]

Judge: TypeAlias = Callable[[int, Float], float]

CLEARLY = 3.0  # standard errors over the folds that an unusual rule must gain; folds are few
EITHER_SIDE = 0.01  # share of the held-out rows that cuts by "auto" leave on either side, at least


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
    return best_of_sorted(np.asarray(y)[order] > 0, np.asarray(s, dtype=np.float64)[order], target)


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
    rule : str
        How the cuts were chosen: "expected", "per-task", "shared", "smoothed", "calibrated", "cardinality", "uncut",
        "given", or as a rule is written, such as "recall>=0.9".

    Examples
    --------
    >>> Cuts(np.zeros(1), np.ones(1), np.array([[0.5], [1.5]]), 0.0, "per-task").spread.round(2)
    array([0.71])
    """

    location: Float
    cut: Float
    by_fold: Float
    smoothing: float
    rule: str = "given"

    @property
    def spread(self) -> Float:
        """The standard deviation of each task's cut over the folds; 0 where there are fewer than two."""
        return self.by_fold.std(axis=0, ddof=1) if len(self.by_fold) > 1 else np.zeros(len(self.cut))


def choose_cuts(
    held: HeldOut,
    threshold: str | float | CutRule,
    metric: Metric,
    target: Metric,
    scorer: TaskScorer | None = None,
    judge: Judge | None = None,
) -> Cuts:
    r"""Choose cut-offs on held-out scores.

    With the number :math:`p_i` of a task's positives and the smoothing :math:`\lambda`, a task's cut is

    .. math:: t_i = \frac{p_i\, t_i^{\text{own}} + \lambda\, t^{\text{shared}}}{p_i + \lambda}.

    Parameters
    ----------
    held : HeldOut
        Held-out scores.
    threshold : {"auto", "expected", "per-task", "shared", "smoothed", "calibrated", "cardinality"}, float or CutRule
        The cut with the best score to be expected by the log odds of the rows (see
        `smtl.estimators.cut_rules.calibrated_rules`); :math:`\lambda = 0`, :math:`\lambda = \infty`, the
        :math:`\lambda` that does best when each fold is cut by what the other folds say; one cut of all tasks' log
        odds, the best one by the labels or the one that says yes as often as all labels do; or a number, used as it is.
        ``"auto"`` is the first, unless another gains clearly when each fold is cut by what the other folds say: more
        than three standard errors over the folds. Where a row has one answer, and the metric gives probabilities, the
        most probable answer, without a cut, is tried as well; of several classes it comes first, and ``"expected"``
        must gain one standard error. For a mean over the tasks, cuts are kept from being beyond all rows of a task.
    metric : Metric
        What the models were trained on.
    target : Metric
        What the cuts are to be best for.
    scorer : TaskScorer, optional
        What the rules of ``"auto"`` are compared by; by default the mean of ``target`` over the tasks. Where it takes
        all tasks together, so does the best cut of the log odds.
    judge : callable, optional
        ``judge(k, cuts)`` is the score of fold k with cuts of shape (n_tasks,), for ``"auto"`` and a score that is no
        `TaskScorer`. One cut of the log odds is then also tried at some probabilities.

    Returns
    -------
    Cuts
        Cut-offs.

    Examples
    --------
    >>> from smtl.estimators.held_out import Fold
    >>> from smtl.estimators.targets import read_targets
    >>> from smtl.metrics import Log
    >>> scores, none = np.array([[2.0], [0.0], [-1.0], [3.0], [1.0], [-2.0]]), np.zeros(0, dtype=np.int64)
    >>> targets = read_targets(scores, [1, 1, 0, 1, 0, 0])
    >>> folds = [Fold(none, np.arange(3), none, None), Fold(none, np.arange(3, 6), none, None)]
    >>> cuts = choose_cuts(HeldOut(targets, folds, [scores[:3], scores[3:]]), "per-task", Log(), F1())
    >>> cuts.cut, cuts.by_fold.ravel(), cuts.spread.round(2)
    (array([-0.5]), array([ 2. , -0.5]), array([1.77]))
    """
    n_folds, m = held.n_folds, held.n_tasks
    if isinstance(threshold, CutRule):
        whole = np.array([threshold.cuts(held, k) for k in range(n_folds + 1)])
        return Cuts(np.zeros(m), whole[-1], whole[:-1], 0.0, threshold.text)
    if not isinstance(threshold, str):
        cut = np.full(m, float(threshold))
        return Cuts(np.zeros(m), cut, np.tile(cut, (n_folds, 1)), 0.0)
    scorer = TaskScorer(target) if scorer is None else scorer
    known = judge is None
    if threshold == "auto":
        mixed = mixed_rules(held, threshold, metric, target)
        expected, *others = calibrated_rules(held, target, pooled=scorer.pooled, levels=not known)
        rules, asked = [expected, *mixed, *others], [0.0, *[CLEARLY if known else 0.0] * len(mixed)]
        asked += [CLEARLY] * len(others)
        if metric.probability is not None and held.targets.kind in ("binary", "multiclass"):
            # One answer a row is the most probable one, unless cuts are worth it. Of several classes it is what people
            # expect, and the cuts of one class are not made for it alone.
            none = np.zeros((n_folds + 1, m))
            rules = [Rule("uncut", none, none, 0.0), *rules]
            asked = [0.0, 0.0 if held.targets.kind == "binary" else 1.0, *asked[1:]]
    else:
        if threshold in ("expected", "calibrated", "cardinality"):
            found = calibrated_rules(held, target, pooled=scorer.pooled, levels=False)
            rules = [rule for rule in found if rule.name == threshold]
        else:
            rules = mixed_rules(held, threshold, metric, target)
        scorer, judge, asked = TaskScorer(target), None, [0.0] * len(rules)
    best = rules[_best_rule(held, rules, np.array(asked), scorer, judge)] if len(rules) > 1 else rules[0]
    if threshold == "auto":
        as_it_is = scorer.pooled or not known or best.name == "uncut"
        whole = best.whole if as_it_is else _inside(held, best.whole)
        return Cuts(np.zeros(m), whole[-1], whole[:-1], best.smoothing, best.name)
    return Cuts(best.location[-1], best.cut[-1], best.whole[:-1], best.smoothing, best.name)


def _best_rule(held: HeldOut, rules: list[Rule], asked: Float, scorer: TaskScorer, judge: Judge | None) -> int:
    """Return the rule that scores best when each fold is cut by what the others say; of equals the first.

    The usual rules are asked for nothing. Another must gain over the best of them as many standard errors over the
    folds as it is asked for.
    """
    if judge is None:
        scores = fold_scores(held, np.array([rule.whole[:-1] for rule in rules]), scorer)
    else:
        scores = np.array([[judge(k, rule.whole[k]) for k in range(held.n_folds)] for rule in rules])
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    if scores.shape[1] == 0:
        return 0
    means = scores.mean(axis=1)
    usual = int(np.argmax(np.where(asked == 0.0, means, -np.inf)))
    gain = scores - scores[usual]
    if gain.shape[1] < 2:
        return usual  # one fold says nothing of the error
    error = gain.std(axis=1, ddof=1) / np.sqrt(gain.shape[1])
    better = (asked > 0.0) & (gain.mean(axis=1) > asked * error)
    return int(np.argmax(np.where(better, means, -np.inf))) if better.any() else usual


def _inside(held: HeldOut, cuts: Float) -> Float:
    """Return cuts that leave a few held-out rows on either side: no task answers the same to all.

    At least one row in a hundred, or half as many as there are labels of that class if these are rarer.
    """
    out = cuts.copy()
    for i, (_, y, scores) in enumerate(held.columns()):
        if len(scores):
            out[:, i] = np.clip(out[:, i], *ends_of_cuts(y, scores))
    return out


def ends_of_cuts(y: npt.ArrayLike, s: npt.ArrayLike) -> tuple[float, float]:
    """Return between which cuts a few rows are on either side.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels, +1 and -1.
    s : array-like of shape (n,)
        Scores.

    Returns
    -------
    lowest, highest : float
        One row in a hundred is below and above, or half as many as there are labels of that class if these are rarer.

    Examples
    --------
    >>> ends_of_cuts([1, 1, -1, -1] * 50, np.arange(200.0))
    (1.99, 197.01)
    """
    share = float(np.mean(np.asarray(y) > 0))
    at = [min(EITHER_SIDE, 0.5 * (1.0 - share)), 1.0 - min(EITHER_SIDE, 0.5 * share)]
    lowest, highest = np.quantile(np.asarray(s, dtype=np.float64), at)
    return float(lowest), float(highest)
