r"""Scores as probabilities by steps: isotonic regression a task, drawn to its logistic curve where rows are few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import isotonic_regression

from smtl.estimators.calibration import Curves, logistic_curves
from smtl.estimators.held_out import HeldOut

__all__ = ["Steps", "isotonic_steps"]

Float: TypeAlias = npt.NDArray[np.float64]

SHRINKAGE = 100.0  # weight of the logistic curve, in rows of the rarer class


@dataclass
class Steps:
    r"""A rising function of the score for each task: :math:`v_i\, g_i(s) + (1 - v_i)\, \sigma(a_i s + b_i)`.

    Attributes
    ----------
    curves : Curves
        The logistic part.
    trust : ndarray of shape (n_tasks,)
        The weight :math:`v_i` of the steps: :math:`p_i / (p_i + 100)` with p_i rows of the rarer class.
    scores, shares : ndarray of shape (n_knots,)
        Where the steps of all tasks are, one task after another, and how high; between them :math:`g_i` is straight,
        beyond them it is constant.
    ptr : ndarray of int64 of shape (n_tasks + 1,)
        The knots of task i are ``ptr[i]:ptr[i + 1]``; there may be none.

    Examples
    --------
    >>> curves = Curves(np.array([1.0]), np.array([0.0]))
    >>> steps = Steps(curves, np.array([1.0]), np.array([0.0, 1.0]), np.array([0.2, 0.6]), np.array([0, 2]))
    >>> steps.probability(np.array([[-3.0], [0.5]])).ravel()
    array([0.2, 0.4])
    """

    curves: Curves
    trust: Float
    scores: Float
    shares: Float
    ptr: npt.NDArray[np.int64]

    def probability(self, scores: Float, task: npt.NDArray[np.int64] | None = None) -> Float:
        """Return the probability of yes.

        Parameters
        ----------
        scores : ndarray of shape (n, n_tasks) or (n,)
            Scores, a column a task; or a vector where each row has a task of its own.
        task : ndarray of int64 of shape (n,), optional
            The task of each row, for a vector.

        Returns
        -------
        ndarray
            Of the shape of ``scores``.
        """
        out = self.curves.probability(scores, task)
        for i in range(len(self.trust)):
            knots = slice(self.ptr[i], self.ptr[i + 1])
            places = (slice(None), i) if task is None else task == i
            if self.ptr[i] < self.ptr[i + 1]:
                steps = np.interp(scores[places], self.scores[knots], self.shares[knots])
                out[places] = self.trust[i] * steps + (1.0 - self.trust[i]) * out[places]
        return out


def isotonic_steps(held: HeldOut) -> Steps:
    """Fit rising steps to each task's held-out scores.

    Parameters
    ----------
    held : HeldOut
        Held-out scores.

    Returns
    -------
    Steps
        Of a task with few rows of a class they are near the logistic curve.

    Notes
    -----
    The likelihood of steps is greatest with probabilities of 0 and 1 at the ends. With p positives and n negatives
    labels count as :math:`(p + 1)/(p + 2)` and :math:`1/(n + 2)`, as for the logistic curve.

    References
    ----------
    B. Zadrozny, C. Elkan, Transforming classifier scores into accurate multiclass probability estimates, KDD 2002.

    Examples
    --------
    >>> from smtl.estimators.held_out import Fold
    >>> from smtl.estimators.targets import read_targets
    >>> X, none = np.array([[2.0], [1.0], [-1.0], [-2.0]]), np.zeros(0, dtype=np.int64)
    >>> steps = isotonic_steps(HeldOut(read_targets(X, [1, 0, 1, 0]), [Fold(none, np.arange(4), none, None)], [X]))
    >>> bool(np.all(np.diff(steps.shares) >= 0)), steps.trust.round(3)
    (True, array([0.02]))
    """
    curves, trust, ptr = logistic_curves(held), np.zeros(held.n_tasks), np.zeros(held.n_tasks + 1, dtype=np.int64)
    scores, shares = [np.zeros(0)], [np.zeros(0)]
    for i, (_, y, s) in enumerate(held.columns()):
        n_pos, n_neg = np.count_nonzero(y > 0), np.count_nonzero(y < 0)
        rarer = min(n_pos, n_neg)
        if rarer:
            trust[i] = rarer / (rarer + SHRINKAGE)
            wanted = np.where(y > 0, (n_pos + 1.0) / (n_pos + 2.0), 1.0 / (n_neg + 2.0))
            places, level = _steps_of(s, wanted)
            scores.append(places)
            shares.append(level)
        ptr[i + 1] = ptr[i] + (len(scores[-1]) if rarer else 0)
    return Steps(curves, trust, np.concatenate(scores), np.concatenate(shares), ptr)


def _steps_of(scores: Float, wanted: Float) -> tuple[Float, Float]:
    """Return the two ends of each step, and their heights."""
    places, which, counts = np.unique(scores, return_inverse=True, return_counts=True)
    means = np.bincount(which.ravel(), wanted) / counts
    level = np.asarray(isotonic_regression(means, sample_weight=counts.astype(np.float64)))
    ends = np.ones(len(level), dtype=bool)
    ends[1:-1] = (level[1:-1] != level[:-2]) | (level[1:-1] != level[2:])
    return places[ends], level[ends]
