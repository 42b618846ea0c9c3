"""Whether a dear learner is worth its cost: it is tried on one fold and a few tasks, beside what is there already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from smtl.ensemble.combination import combine
from smtl.ensemble.learners import Learner
from smtl.estimators.held_out import Fold, HeldOut
from smtl.estimators.targets import Targets

__all__ = ["Gain", "gain_of"]

MOST_TASKS = 4  # tasks that the trial looks at
CLEARLY = 2.0  # standard errors that the gain in log loss must have
LEAST = 0.03  # what it must be of the log loss of constant answers; measured by: python benchmarks/boosting.py


class Gain(NamedTuple):
    """What a learner adds to the others on a fold.

    Attributes
    ----------
    log_loss : float
        By how much the mean log loss of a label falls.
    error : float
        Its standard error.
    constant : float
        The mean log loss of the best constant answers: what there is to gain at most, nearly.

    Examples
    --------
    >>> Gain(0.05, 0.01, 0.6).is_worth_it
    True
    """

    log_loss: float
    error: float
    constant: float

    @property
    def is_worth_it(self) -> bool:
        """Whether the gain pays for the time, and is more than chance would bring."""
        return self.log_loss > max(LEAST * self.constant, CLEARLY * self.error)


def gain_of(learner: Learner, X: Any, targets: Targets, fold: Fold, others: Sequence[HeldOut]) -> Gain:
    """Return what a learner adds to the others on a fold, for a few tasks.

    Parameters
    ----------
    learner : Learner
        What is tried.
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    targets : Targets
        Labels, of tasks that share their rows.
    fold : Fold
        The first of the folds.
    others : sequence of HeldOut
        Held-out scores of the learners that are there already, over all folds.

    Returns
    -------
    Gain
        Nothing gained where the fold has no task to learn.

    Examples
    --------
    >>> from smtl.ensemble.learners.kernel import KernelLearner
    >>> from smtl.estimators.targets import read_targets
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> targets = read_targets(X, (X**2).sum(axis=1) > 1.5)
    >>> fold = Fold(np.arange(100), np.arange(100, 200), targets.learnable(), None)
    >>> blind = HeldOut(targets, [fold], [np.zeros((100, 1))])
    >>> gain_of(KernelLearner(), X, targets, fold, [blind]).is_worth_it
    True
    """
    tasks = _some_tasks(targets.part(fold.train), fold)
    if len(tasks) == 0:
        return Gain(0.0, 0.0, 0.0)
    weights = None if targets.weights is None else targets.weights[:, tasks]
    of_task = None if targets.task_weight is None else targets.task_weight[tasks]
    some = replace(targets, kind="multilabel", classes=tasks, names=targets.names[tasks], Y=targets.Y[:, tasks])
    some.weights, some.task_weight = weights, of_task
    n = len(fold.test)

    def held(scores: Any) -> HeldOut:
        return HeldOut(some, [fold], [scores])

    before = [held(other.scores[:n][:, tasks]) for other in others]
    after = [*before, held(learner.held_out_scores(X, some, [(fold.train, fold.test)])[0])]
    before, after = ([one.weighed() for one in helds] for helds in (before, after))
    gain = _losses(before) - _losses(after)
    error = gain.std() / np.sqrt(max(len(gain), 1))
    return Gain(float(gain.mean()), float(error), _constant_loss(before[0]))


def _some_tasks(train: Targets, fold: Fold) -> Any:
    """Return the tasks with the most labels of their rarer class: those on which a trial says most."""
    n_pos, n_neg = train.counts()
    rarer = np.minimum(n_pos, n_neg)[fold.usable]
    return np.sort(fold.usable[np.argsort(-rarer, kind="stable")[:MOST_TASKS]])


def _losses(helds: Sequence[HeldOut]) -> Any:
    """Return the log loss of each label by the best combination of learners."""
    odds = helds[0].with_scores(combine(helds).log_odds([held.scores for held in helds]))
    return np.concatenate([np.logaddexp(0.0, -y * s) for _, y, s in odds.columns()])


def _constant_loss(held: HeldOut) -> float:
    """Return the mean log loss of the best constant answer of each task."""
    columns = [y > 0 for _, y, _ in held.columns()]
    shares = np.array([yes.mean() for yes in columns])
    entropy = -(xlogy(shares, shares) + xlogy(1.0 - shares, 1.0 - shares))
    return float(np.average(entropy, weights=[len(yes) for yes in columns]))
