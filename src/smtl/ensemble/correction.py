r"""The joint layer: what the learners' scores for all tasks say about each task beyond their shared combination."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.ensemble.combination import Combination
from smtl.estimators.held_out import HeldOut, own_scores
from smtl.estimators.targets import Targets
from smtl.estimators.threads import threads
from smtl.metrics import Log
from smtl.penalties import Penalty, get_penalty
from smtl.solvers import Problem, Solution, critical_C, grid_of_Cs, solve, solve_path

__all__ = ["Correction", "fit_correction", "score_features"]

Float: TypeAlias = npt.NDArray[np.float64]
Tasks: TypeAlias = npt.NDArray[np.int64]

PENALTIES = ("trace", "l21")  # what may tie the tasks together
N_CS = 7  # values of C a penalty, over three decades from the critical one
FOLD_TOL = 2e-2  # relative gap of the models of the folds
FOLD_ITER = 100  # their passes for each C
TOL = 1e-3  # relative gap of the final model
MAX_ITER = 2_000  # its passes
N_FEW = 500  # rows at which a gain must be two standard errors; with many rows one is enough


@dataclass
class Correction:
    r"""A joint linear model that is added to the log odds of the combination.

    It solves :math:`\min_W \Omega(W) + C \sum_i \min_{b_i} G_i(S^0_i + Z w_i + b_i)`, where :math:`G_i` is the log
    loss, :math:`S^0_i` the log odds of the combination, and Z the held-out scores of all tasks (see `score_features`).

    Attributes
    ----------
    coef : ndarray of shape (n_tasks, n_score_features)
        Weights.
    intercept : ndarray of shape (n_tasks,)
        Intercepts.
    penalty : str
        The name of the penalty.
    C : float
        The weight of the loss.
    gain : float
        By how much the mean log loss of held-out rows is less than without the correction.
    standard_error : float
        The standard error of the gain, over the folds.
    certified_gap : float
        The relative duality gap of the model.

    Examples
    --------
    >>> model = Correction(np.array([[0.5]]), np.array([0.1]), "trace", 1.0, 0.02, 0.01, 1e-3)
    >>> model.log_odds(np.array([[2.0]]))
    array([[1.1]])
    """

    coef: Float
    intercept: Float
    penalty: str
    C: float
    gain: float
    standard_error: float
    certified_gap: float

    def log_odds(self, Z: Float, task: Tasks | None = None) -> Float:
        """Return what is to be added to the log odds.

        Parameters
        ----------
        Z : ndarray of shape (n, n_score_features)
            What `score_features` returns.
        task : ndarray of int64 of shape (n,), optional
            The task of each row, where each has its own.

        Returns
        -------
        ndarray of shape (n, n_tasks) or (n,)
            Log odds.
        """
        if task is None:
            return np.asarray(Z @ self.coef.T + self.intercept)
        return np.asarray(own_scores(Z, self.coef, task) + self.intercept[task])


def score_features(combination: Combination, scores: Sequence[Float], task: Tasks | None = None) -> Float:
    """Return what the correction of a task may look at.

    Where tasks share rows, that is the log odds of all tasks by the combination: the answers to other questions about
    the row. The scores of every learner for every task say little more, and take longer. Where a row belongs to one
    task, it is the scores of all learners for that task.

    Parameters
    ----------
    combination : Combination
        How the learners were put together.
    scores : list of ndarray of shape (n, n_tasks) or (n,)
        Scores of each learner.
    task : ndarray of int64 of shape (n,), optional
        The task of each row, for vectors.

    Returns
    -------
    ndarray of shape (n, n_tasks) or (n, n_learners)
        About standardised; 0, the mean, where a score is not known.

    Examples
    --------
    >>> from smtl.ensemble.combination import Standard
    >>> from smtl.estimators.calibration import Curves
    >>> same = np.ones(2)
    >>> combination = Combination(Standard(np.zeros((1, 2)), np.ones((1, 2))), np.array([2.0]), Curves(same, same))
    >>> score_features(combination, [np.array([[1.0, np.nan]])])
    array([[1., 0.]])
    """
    if task is not None:
        columns = [combination.standard.apply(k, values, task) for k, values in enumerate(scores)]
        return np.nan_to_num(np.column_stack(columns))
    # The weighted sum of standardised scores is that of log odds, without the curves. Its spread is at most the sum
    # of the weights.
    total = combination.weighted(scores)
    return np.nan_to_num(total / max(float(combination.weights.sum()), 1e-12))


def fit_correction(
    held: HeldOut, Z: Float, *, always: bool = False, n_jobs: int | None = None
) -> tuple[Correction, HeldOut] | None:
    """Fit a correction, if it gains more than chance would.

    Where tasks are judged within groups, the loss of a task is the mean over its groups of that of their rows.

    Penalty and C are those of the least log loss on held-out folds. The gain over no correction must be more than one
    standard error over the folds, and more where rows are few: :math:`1 + 500/n` of them with n rows.

    Parameters
    ----------
    held : HeldOut
        Held-out log odds of the combination.
    Z : ndarray of shape (n_entries, n_score_features)
        What `score_features` says of the same rows.
    always : bool, default=False
        Whether to keep a correction that gains less.
    n_jobs : int, optional
        Threads, for folds side by side. The result does not depend on them.

    Returns
    -------
    correction : Correction
        Fitted to all rows.
    corrected : HeldOut
        Held-out log odds with the correction: each fold's by a model of the others.

    None where the correction does not gain enough, or there is no task to correct.
    """
    best: tuple[float, float, str, float, Float] | None = None
    scored = np.isfinite(held.scores)
    S0 = np.where(scored, held.scores, 0.0)
    # What has no score counts as not labelled.
    targets = replace(held.targets, Y=np.where(scored, held.targets.Y, 0).astype(np.int8), offset=S0)
    targets = replace(targets, weights=_within_groups(targets), group=None)
    before = _fold_losses(held.with_scores(S0), targets)
    if held.n_folds < 2 or held.n_tasks < 2 or not np.isfinite(before).any():
        return None  # a single task has no other to learn from
    for name in PENALTIES:
        for C, added, losses in _along_path(held, targets, Z, get_penalty(name, 0.0), n_jobs):
            gains = before - losses
            gains = gains[np.isfinite(gains)]
            gain, error = float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
            if best is None or gain > best[0]:
                best = gain, error, name, C, added
    if best is None:
        return None
    gain, error, name, C, added = best
    if not always and gain <= (1.0 + N_FEW / len(targets.Y)) * error:
        return None
    corrected = held.with_scores(np.where(scored, S0 + added, np.nan))
    return _final(targets, Z, name, C, gain, error, n_jobs), corrected


def _within_groups(targets: Targets) -> Float | None:
    """Return what each label counts, so that the loss of a task is the mean over its groups; None if all the same."""
    if targets.group is None:
        return targets.weights
    known, m = targets.Y != 0, len(targets.names)
    task = np.broadcast_to(np.arange(m), known.shape) if targets.task is None else targets.task
    group = targets.group[:, None] if targets.task is None else targets.group
    place = np.where(known, group * m + task, 0)
    each = np.where(known, 1.0 if targets.weights is None else targets.weights, 0.0)
    mass = np.bincount(place.ravel(), each.ravel(), m * (int(targets.group.max()) + 1))
    of_task, n_groups = (values.reshape(-1, m).sum(axis=0) for values in (mass, (mass > 0.0).astype(np.float64)))
    # A group counts as many rows as one of its task has on average.
    scale = np.where(mass > 0.0, 1.0 / np.where(mass > 0.0, mass, 1.0), 0.0).reshape(-1, m)
    scale *= of_task / np.maximum(n_groups, 1.0)
    return np.where(known, each * scale.ravel()[place], 1.0)


def _fold_losses(held: HeldOut, targets: Targets) -> Float:
    """Return the log loss of each fold, averaged over its tasks; NaN where it has no labels."""
    Y = targets.Y.astype(np.float64)
    known = np.where(Y != 0, 1.0 if targets.weights is None else targets.weights, 0.0)
    losses = np.where(Y != 0, known * np.logaddexp(0.0, -Y * held.scores), 0.0)
    out = np.full(held.n_folds, np.nan)
    for k in range(held.n_folds):
        rows = held.fold == k
        if targets.task is None:
            total, n = losses[rows].sum(axis=0), known[rows].sum(axis=0)
        else:
            total = np.bincount(targets.task[rows], losses[rows], held.n_tasks)
            n = np.bincount(targets.task[rows], known[rows], held.n_tasks)
        if n.any():
            out[k] = np.mean(total[n > 0] / n[n > 0])
    return out


def _problem(targets: Targets, Z: Float, penalty: Penalty, **threading: Any) -> tuple[Problem, Tasks]:
    """Return the problem of the tasks that have both classes, and which these are."""
    usable = targets.learnable()
    tasks, offset = targets.tasks(Z, usable), targets.flat_offset(usable)
    return Problem(tasks, Log(), penalty, with_intercept=True, offset=offset, **threading), usable


def _along_path(
    held: HeldOut, targets: Targets, Z: Float, penalty: Penalty, n_jobs: int | None
) -> Iterator[tuple[float, Float, Float]]:
    """Yield each C, what the models of the other folds add to each entry, and the losses of the folds with it.

    The path ends where the loss has risen twice.
    """
    if len(targets.learnable()) == 0:
        return
    assert targets.offset is not None
    S0 = targets.offset
    lowest = critical_C(_problem(targets, Z, penalty)[0])
    if not np.isfinite(lowest):
        return
    Cs = grid_of_Cs(N_CS, lowest)
    paths = [_fold_path(targets.only(np.flatnonzero(held.without(k))), Z, penalty, Cs) for k in range(held.n_folds)]
    last, rises = np.inf, 0
    for C in Cs:
        added = np.zeros_like(S0)
        with threads(n_jobs) as (executor, _):
            models = list(map(next, paths) if executor is None else executor.map(next, paths))
        for k, model in enumerate(models):
            rows = held.fold == k
            task = None if targets.task is None else targets.task[rows]
            added[rows] = _added(Z[rows], model, len(targets.names), task)
        losses = _fold_losses(held.with_scores(S0 + added), targets)
        yield float(C), added, losses
        loss = float(np.nanmean(losses))
        rises, last = (rises + 1 if loss > last else 0), loss
        if rises == 2:
            return


def _fold_path(part: Targets, Z: Float, penalty: Penalty, Cs: Float) -> Iterator[tuple[Solution | None, Tasks]]:
    if len(part.learnable()) == 0:
        yield from ((None, part.learnable()) for _ in Cs)
        return
    problem, usable = _problem(part, Z, penalty)
    for solution in solve_path(problem, Cs, tol=FOLD_TOL, max_iter=FOLD_ITER, warn=False):
        yield solution, usable


def _added(Z: Float, model: tuple[Solution | None, Tasks], n_tasks: int, task: Tasks | None) -> Float:
    """Return what a fold's model adds to some rows; nothing for tasks it has no model of."""
    solution, usable = model
    coef, intercept = np.zeros((n_tasks, Z.shape[1])), np.zeros(n_tasks)
    if solution is not None:
        coef[usable], intercept[usable] = solution.certificate.W, solution.certificate.intercept
    return Correction(coef, intercept, "", 0.0, 0.0, 0.0, 0.0).log_odds(Z, task)


def _final(
    targets: Targets, Z: Float, name: str, C: float, gain: float, error: float, n_jobs: int | None
) -> Correction:
    """Return the correction fitted to all rows."""
    with threads(n_jobs) as (executor, n_threads):
        problem, usable = _problem(targets, Z, get_penalty(name, 0.0), executor=executor, n_threads=n_threads)
        best: Any = solve(problem, C, tol=TOL, max_iter=MAX_ITER, warn=False).certificate
    coef, intercept = np.zeros((len(targets.names), Z.shape[1])), np.zeros(len(targets.names))
    coef[usable], intercept[usable] = best.W, best.intercept
    return Correction(coef, intercept, name, C, gain, error, best.gap)
