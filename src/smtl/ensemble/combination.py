r"""One weight a learner, shared by all tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from smtl.estimators.calibration import Curves, logistic_curves
from smtl.estimators.held_out import HeldOut

__all__ = ["Combination", "Standard", "combine", "shared_weights", "standardise"]

Float: TypeAlias = npt.NDArray[np.float64]
Tasks: TypeAlias = npt.NDArray[np.int64]

RIDGE = 1e-6  # of the weights, a row: keeps them finite where the classes can be told apart without error
N_LABELS = 1_000_000  # labels that the weights are fitted on, at most


class Standard(NamedTuple):
    """Mean and spread of scores.

    Attributes
    ----------
    location, scale : ndarray of shape (n_learners, n_tasks)
        What is taken off, and what the rest is divided by.
    """

    location: Float
    scale: Float

    def apply(self, k: int, scores: Float, task: Tasks | None = None) -> Float:
        """Return the scores of one learner, standardised.

        Parameters
        ----------
        k : int
            The number of the learner.
        scores : ndarray of shape (n, n_tasks) or (n,)
            Its scores.
        task : ndarray of int64 of shape (n,), optional
            The task of each row, for a vector.

        Returns
        -------
        ndarray
            Of the shape of ``scores``.
        """
        chosen = slice(None) if task is None else task
        return np.asarray((scores - self.location[k, chosen]) / self.scale[k, chosen])


class Combination(NamedTuple):
    """How the scores of several learners become log odds.

    Attributes
    ----------
    standard : Standard
        Mean and spread of each learner's scores.
    weights : ndarray of shape (n_learners,)
        Weights of the standardised scores, not negative.
    curves : Curves
        From the weighted sum to log odds.
    """

    standard: Standard
    weights: Float
    curves: Curves

    def log_odds(self, scores: Sequence[Float], task: Tasks | None = None) -> Float:
        """Return log odds.

        Parameters
        ----------
        scores : list of ndarray of shape (n, n_tasks) or (n,)
            One for each learner; what has no weight is not looked at.
        task : ndarray of int64 of shape (n,), optional
            The task of each row, for vectors.

        Returns
        -------
        ndarray
            Of the shape of each of ``scores``.
        """
        return self.curves.log_odds(self.weighted(scores, task), task)

    def weighted(self, scores: Sequence[Float], task: Tasks | None = None) -> Float:
        """Return the weighted sum of standardised scores.

        Parameters
        ----------
        scores, task
            As in `log_odds`.

        Returns
        -------
        ndarray
            Of the shape of each of ``scores``.
        """
        total = np.zeros(np.shape(scores[0]))
        for k, weight in enumerate(self.weights):
            if weight > 0.0:
                total += weight * self.standard.apply(k, scores[k], task)
        return total


def combine(helds: Sequence[HeldOut]) -> Combination:
    """Put learners together by their held-out scores.

    Parameters
    ----------
    helds : list of HeldOut
        Held-out scores, one a learner, of the same rows; NaN at the same places.

    Returns
    -------
    Combination
        Shared weights, and a logistic curve a task.

    Examples
    --------
    >>> from smtl.estimators.held_out import Fold
    >>> from smtl.estimators.targets import read_targets
    >>> scores, none = np.array([[2.0], [1.0], [1.5], [0.0]]), np.zeros(0, dtype=np.int64)
    >>> targets, fold = read_targets(scores, [1, 1, 0, 0]), Fold(none, np.arange(4), none, None)
    >>> combination = combine([HeldOut(targets, [fold], [values]) for values in (scores, -scores)])
    >>> bool(combination.weights[0] > 0), float(combination.weights[1])
    (True, 0.0)
    """
    first = helds[0]
    columns = [held.columns() for held in helds]
    task = np.repeat(np.arange(first.n_tasks), [len(y) for _, y, _ in columns[0]])
    y = np.concatenate([y for _, y, _ in columns[0]])
    scores = np.column_stack([np.concatenate([s for _, _, s in column]) for column in columns])
    fold = first.fold[np.concatenate([places for places, _, _ in columns[0]])]
    standardised, standard = standardise(scores, task, first.n_tasks, fold)
    weights, _ = shared_weights(standardised, y, task, first.n_tasks, _counted(first, columns[0]))
    level = Curves(np.zeros(first.n_tasks), np.zeros(first.n_tasks))
    sums = Combination(standard, weights, level).weighted([held.scores for held in helds], first.targets.task)
    return Combination(standard, weights, logistic_curves(first.with_scores(sums), weighted=True))


def _counted(held: HeldOut, columns: list[tuple[Any, Any, Any]]) -> Float | None:
    """Return what each label counts, those of one task after another; None where all count the same."""
    weights, of_task = held.targets.weights, held.targets.task_weight
    if weights is None and of_task is None:
        return None
    each = [np.ones(len(places)) for places, _, _ in columns]
    if weights is not None:
        each = [
            weights[places] if weights.ndim == 1 else weights[places, i] for i, (places, _, _) in enumerate(columns)
        ]
    return np.concatenate(each if of_task is None else [of_task[i] * part for i, part in enumerate(each)])


def standardise(scores: Float, task: Tasks, n_tasks: int, fold: Tasks | None = None) -> tuple[Float, Standard]:
    """Bring the scores of each learner for each task to mean 0 and standard deviation 1.

    With folds it is the standard deviation inside the folds. A learner that says the same of all rows differs between
    the folds only, and these differences are noise.

    Parameters
    ----------
    scores : ndarray of shape (n_labels, n_learners)
        Scores.
    task : ndarray of int64 of shape (n_labels,)
        The task of each.
    n_tasks : int
        How many tasks there are.
    fold : ndarray of int64 of shape (n_labels,), optional
        The fold of each.

    Returns
    -------
    standardised : ndarray of shape (n_labels, n_learners)
        Scores that are all the same become 0.
    standard : Standard
        To do the same with other scores.

    Examples
    --------
    >>> standardise(np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1]), 2)[0].ravel()
    array([-1.,  1.,  0.])
    """
    n_learners = scores.shape[1]
    count = np.maximum(np.bincount(task, minlength=n_tasks), 1)
    location, scale = np.zeros((n_learners, n_tasks)), np.ones((n_learners, n_tasks))
    out = np.empty_like(scores)
    for k in range(n_learners):
        location[k] = np.bincount(task, scores[:, k], n_tasks) / count
        out[:, k] = scores[:, k] - location[k, task]
        inside = out[:, k] - _means(out[:, k], task if fold is None else task + n_tasks * fold)
        spread = np.sqrt(np.bincount(task, inside**2, n_tasks) / count)
        scale[k] = np.where(spread > 1e-12 * (1.0 + np.abs(location[k])), spread, np.inf)
        out[:, k] /= scale[k, task]
    return out, Standard(location, scale)


def _means(values: Float, group: Tasks) -> Float:
    """Return the mean of each value's group."""
    sums, counts = np.bincount(group, values), np.bincount(group)
    return np.asarray((sums / np.maximum(counts, 1))[group])


def shared_weights(
    scores: Float, y: npt.NDArray[Any], task: Tasks, n_tasks: int, each: Float | None = None
) -> tuple[Float, Float]:
    r"""Return the weights of the learners, and an intercept for each task.

    They minimise the log loss over the labels of all tasks,

    .. math:: \min_{v \ge 0,\, b} \; \sum_k \log\bigl(1 + e^{-y_k (s_k' v + b_{i(k)})}\bigr)
              + \tfrac{\rho}{2} \|v\|^2,

    with the scores :math:`s_k` of the learners for label k of task :math:`i(k)`, and a :math:`\rho` that only matters
    where the first term has no minimum. It is a convex problem with few variables, solved by L-BFGS-B.

    Parameters
    ----------
    scores : ndarray of shape (n_labels, n_learners)
        Standardised scores.
    y : ndarray of shape (n_labels,)
        Labels, +1 and -1.
    task : ndarray of int64 of shape (n_labels,)
        The task of each.
    n_tasks : int
        How many tasks there are.
    each : ndarray of shape (n_labels,), optional
        What each label counts.

    Returns
    -------
    weights : ndarray of shape (n_learners,)
        Non-negative.
    intercept : ndarray of shape (n_tasks,)
        0 for a task without labels.

    Examples
    --------
    A learner that knows, and one that is always wrong:

    >>> y = np.array([1, 1, -1, -1, 1, -1])
    >>> good = y * [2.0, 1.0, 1.0, -0.5, -0.5, 1.0]
    >>> weights, _ = shared_weights(np.column_stack([good, -good]), y, np.zeros(6, dtype=int), 1)
    >>> bool(weights[0] > 0), float(weights[1])
    (True, 0.0)
    """
    if len(y) > N_LABELS:
        part = np.random.RandomState(0).permutation(len(y))[:N_LABELS]
        scores, y, task, each = scores[part], y[part], task[part], None if each is None else each[part]
    from smtl.kernels.logistic import weighted_loss  # predicting imports no numba

    counted = np.zeros(0) if each is None else np.ascontiguousarray(each)
    n_learners, n = scores.shape[1], float(max(len(y), 1) if each is None else counted.sum())
    yes = (np.asarray(y) > 0).astype(np.float64)
    scores, task = np.ascontiguousarray(scores, dtype=np.float64), np.asarray(task, dtype=np.int64)

    def loss(x: Float) -> tuple[float, Float]:
        v, b = x[:n_learners], x[n_learners:]
        slope = np.empty(n_learners + n_tasks)
        total = weighted_loss(scores, yes, counted, task, v, b, slope[:n_learners], slope[n_learners:])
        slope /= n
        slope[:n_learners] += RIDGE * v
        return total / n + 0.5 * RIDGE * float(v @ v), slope

    # A learner that says the same of all rows has no slope, and would keep any weight that it starts with.
    weights = np.where(scores.any(axis=0), 1.0 / max(n_learners, 1), 0.0)
    start = np.concatenate([weights, _logits(yes, task, n_tasks)])
    bounds = [(0.0, None)] * n_learners + [(None, None)] * n_tasks
    options = {"maxiter": 500, "ftol": 1e-12, "gtol": 1e-8}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return found[:n_learners], found[n_learners:]


def _logits(yes: Float, task: Tasks, n_tasks: int) -> Float:
    """Return the log odds of yes of each task, with half a label more of each class."""
    n_pos, n = np.bincount(task, yes, n_tasks), np.bincount(task, minlength=n_tasks)
    return np.log((n_pos + 0.5) / (n - n_pos + 0.5))
