"""What a fitted model does: tasks whose answers do not depend on the row, or are worth no more than a constant."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl import messages
from smtl.estimators.held_out import HeldOut, own_scores
from smtl.estimators.rules import CutRule
from smtl.estimators.scoring import answer_counts
from smtl.estimators.targets import Targets
from smtl.estimators.thresholds import ends_of_cuts
from smtl.estimators.weights import in_copies
from smtl.groups import Groups
from smtl.metrics import AUC, Metric

__all__ = [
    "idle_tasks",
    "keep_cuts_inside",
    "null_tasks",
    "report_answers",
    "report_broken",
    "report_constants",
    "report_zero_weights",
]

Float: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[np.int64]

NULL = 1e-6  # weights that are smaller than the largest task's by this factor count as zero
NEARLY = 0.1  # answers are nearly all the same when the rarer one is rarer than the rarer label by this factor


def null_tasks(coef: npt.NDArray[Any], fitted: Numbers) -> Numbers:
    """Return which of the fitted tasks have no weights to speak of.

    Parameters
    ----------
    coef : ndarray of shape (n_tasks, n_features)
        Weights.
    fitted : ndarray of int64
        The tasks that were fitted.

    Returns
    -------
    ndarray of int64
        Some of them.

    Examples
    --------
    >>> null_tasks(np.array([[1.0, 2.0], [0.0, 1e-9]]), np.arange(2))
    array([1])
    """
    sizes = np.abs(coef[fitted]).max(axis=1, initial=0.0)
    return np.asarray(fitted[sizes <= NULL * sizes.max(initial=0.0)])


def idle_tasks(scores: Float, targets: Targets) -> npt.NDArray[np.bool_]:
    """Return the tasks whose weights change no answer: a task's mean score in place of its scores gives the same.

    Examples
    --------
    >>> targets = Targets("multilabel", np.arange(2), np.arange(2), np.zeros((2, 2), dtype=np.int8))
    >>> idle_tasks(np.array([[1.0, 1.0], [-1.0, 0.9]]), targets)
    array([False,  True])
    """
    m = len(targets.names)
    if targets.task is not None:
        yes = np.bincount(targets.task[scores > 0], minlength=m)
        rows = np.bincount(targets.task, minlength=m)
        return np.asarray((yes == 0) | (yes == rows))
    if targets.kind != "multiclass":
        return np.asarray((scores > 0).all(axis=0) | (scores <= 0).all(axis=0))
    mean, winner = scores.mean(axis=0), scores.argmax(axis=1)
    first, second = -np.partition(-scores, 1, axis=1)[:, :2].T
    return np.array([not np.where(winner == i, mean[i] < second, mean[i] > first).any() for i in range(m)])


def report_constants(targets: Targets, fitted: Numbers) -> None:
    """Warn of tasks that have no model, for want of labels."""
    constant = np.setdiff1d(np.arange(len(targets.names)), fitted)
    groups = targets.groups_of(fitted)
    if groups is not None:
        report_groups(groups)
    if len(constant) and targets.group is not None:
        messages.warn(
            f"{targets.in_words(constant)} no group with both classes in the training data: no loss is defined there, "
            "and the answer is constant. The other tasks are not affected."
        )
    elif len(constant):
        messages.warn(
            f"{targets.in_words(constant)} only one class (or no label) in the training data: no "
            "loss is defined there, and the answer is constant. The other tasks are not affected."
        )


def report_groups(groups: Groups) -> None:
    """Warn of groups that say nothing of the order."""
    left_out, used = int(groups.n_left_out.sum()), int(groups.n_used.sum())
    if left_out:
        messages.warn(
            f"{left_out} of {left_out + used} groups have rows of one class only, over all tasks: they say nothing of "
            "the order, and are left out."
        )


def report_zero_weights(targets: Targets, zero: Numbers, C: float, gap: float) -> None:
    """Warn of tasks whose weights are zero."""
    if len(zero):
        messages.warn(
            f"{targets.in_words(zero)} all weights zero at C={C:.4g}, to within a gap of "
            f"{gap:.2g} of the optimum: the answer is the same for every row. Raise C, lower tol, or "
            "choose another metric or penalty; see null_tasks_."
        )


def report_broken(rule: CutRule, held: HeldOut | None, targets: Targets) -> npt.NDArray[Any]:
    """Warn of tasks for which a rule cannot promise what it says, and return their names.

    Parameters
    ----------
    rule : CutRule
        The rule.
    held : HeldOut or None
        Held-out scores.
    targets : Targets
        The labels of all rows.

    Returns
    -------
    ndarray
        Names of tasks.
    """
    if held is None:
        return targets.names[:0]
    tasks, reason = rule.broken(held)
    tasks = np.intersect1d(tasks, targets.learnable())
    if len(tasks):
        messages.warn(
            f"{targets.in_words(tasks)} too few labels for a promise: {reason}, at a confidence of 95 %. The cut is "
            "the most careful one that held-out rows give; label more rows, or ask for less."
        )
    return np.asarray(targets.names[tasks])


def keep_cuts_inside(model: Any, X: Any, targets: Targets) -> None:
    """Move the thresholds of a model that are beyond all training rows of their task, though its weights are not zero.

    The models that thresholds are chosen on are others than the final one: where scores vary little, all of them can
    be on one side.

    Parameters
    ----------
    model : SMTLClassifier or SMTLClassifierCV
        The fitted model.
    X : ndarray or sparse array of shape (n_samples, n_features)
        The training rows.
    targets : Targets
        Their labels.
    """
    if targets.kind == "multiclass":
        return  # the highest score is answered, and no cut decides by itself
    fitted = targets.learnable()
    scores = _training_scores(X, targets, model.coef_, model.intercept_)
    if targets.row_weight is not None:
        rows = in_copies(targets.row_weight)
        targets, scores = targets.part(rows), scores[rows]
    idle = np.setdiff1d(np.flatnonzero(idle_tasks(scores, targets)), null_tasks(model.coef_, fitted))
    for i in np.intersect1d(idle, fitted):
        rows = targets.column(i) != 0
        own = scores[rows] if targets.task is not None else scores[rows, i]
        move = np.clip(0.0, *ends_of_cuts(targets.column(i)[rows], own))
        model.thresholds_[i] += move
        model.intercept_[i] -= move


def report_answers(model: Any, X: Any, targets: Targets, held: HeldOut | None, by_fold: Float, target: Metric) -> None:
    """Add tasks to a model's null ones that always answer the same, and warn of answers that are worth little.

    Parameters
    ----------
    model : SMTLClassifier or SMTLClassifierCV
        The fitted model.
    X : ndarray or sparse array of shape (n_samples, n_features)
        The training rows.
    targets : Targets
        Their labels.
    held : HeldOut or None
        Held-out scores, where there are any that mean something for a task by itself.
    by_fold : ndarray of shape (n_folds, n_tasks)
        The cuts of each fold.
    target : Metric
        What answers are judged by.
    """
    fitted = targets.learnable()
    scores = _training_scores(X, targets, model.coef_, model.intercept_)
    idle = np.intersect1d(fitted, np.flatnonzero(idle_tasks(scores, targets)))
    zero = null_tasks(model.coef_, fitted)
    model.null_tasks_ = targets.names[np.union1d(zero, idle)]
    small = np.setdiff1d(idle, zero)
    if len(small):
        messages.warn(
            f"{targets.in_words(small)} weights too small at C={model.C_:.4g} to bring any row across the threshold: "
            "the answer is always the same. Raise C, or choose another metric ('log', 'auc') or threshold; see "
            "null_tasks_."
        )
    watched = np.setdiff1d(fitted, np.union1d(zero, idle))
    watched = watched[~_report_nearly_constant(targets, scores, watched)]
    if held is None:
        return
    useless = watched[(_gain(held, by_fold, target) <= 0.0)[watched] & ~_ranks(held)[watched]]
    if len(useless):
        messages.warn(
            f"{targets.in_words(useless)} answers that are no better on held-out rows than a constant one, by "
            f"{target!r}: the features tell little about it, or labels are too few. Look at its labels, add rows or "
            "features, or leave it out."
        )


def _training_scores(X: Any, targets: Targets, coef: npt.NDArray[Any], intercept: npt.NDArray[Any]) -> Float:
    """Return the scores of the training rows: a column a task, or each row's own."""
    offset = 0.0 if targets.offset is None else targets.offset
    if targets.task is not None:
        return np.asarray(own_scores(X, coef, targets.task) + intercept[targets.task] + offset, dtype=np.float64)
    return np.asarray(X @ coef.T + intercept + offset, dtype=np.float64)


def _report_nearly_constant(targets: Targets, scores: Float, watched: Numbers) -> npt.NDArray[np.bool_]:
    """Warn of tasks that answer nearly always the same, and return which of those looked at do."""
    tp, fp, n_pos, n_neg = answer_counts(targets, scores)[:, watched]
    yes, n = tp + fp, n_pos + n_neg
    same = np.minimum(yes, n - yes) < NEARLY * np.minimum(n_pos, n_neg)
    if same.any():
        shares = ", ".join(f"{100 * share:.3g} %" for share in (yes / n)[same][:8])
        messages.warn(
            f"{targets.in_words(watched[same])} nearly the same answer for every row (yes to {shares}). Where "
            "features tell little, that is what F1 asks for: choose another scoring or threshold, or "
            "metric='log' or 'auc', or add rows or features."
        )
    return np.asarray(same)


def _gain(held: HeldOut, by_fold: Float, target: Metric) -> Float:
    """Return by how much held-out answers are better than the better constant one; infinity where that is not known."""
    tables = np.zeros((4, held.n_tasks))
    for k in range(held.n_folds):
        rows = held.fold == k
        part, scores = held.targets.part(np.flatnonzero(rows)), held.scores[rows]
        tables += answer_counts(part, scores - (by_fold[k] if part.task is None else by_fold[k][part.task]))
    out = np.full(held.n_tasks, np.inf)
    for i, (tp, fp, n_pos, n_neg) in enumerate(tables.T):
        # With fewer rows of a class than folds, one answer more or less decides.
        if min(n_pos, n_neg) >= held.n_folds:
            losses = target.losses(np.array([tp, 0.0, n_pos]), np.array([fp, 0.0, n_neg]), int(n_pos), int(n_neg))
            out[i] = losses[1:].min() - losses[0]
    return out


def _ranks(held: HeldOut) -> npt.NDArray[np.bool_]:
    """Return the tasks whose held-out AUC is above one half by more than two standard errors.

    Of these the features do tell something, though no cut makes much of it: as with F1 where most labels are yes.
    """
    out = np.zeros(held.n_tasks, dtype=bool)
    for i, (_, y, scores) in enumerate(held.columns()):
        n_pos, n_neg = np.count_nonzero(y > 0), np.count_nonzero(y < 0)
        if n_pos and n_neg:
            error = np.sqrt((n_pos + n_neg + 1) / (12.0 * n_pos * n_neg))  # of the rank-sum test
            out[i] = AUC().score(y, scores) > 0.5 + 2.0 * error
    return out
