r"""Where to start on a path if the losses are as good as hinge losses of few rows.

With an intercept, an answer of the F-measure with as many false positives as false negatives, k of P, costs
:math:`\Delta = k / P`, whatever beta. So the loss is at least that of a hinge with the margin :math:`a = 1 / 4P`,

.. math:: G(w) \ge \min_\beta \sum_r 2 (a - y_r (w'x_r + \beta))_+,

and on data that can be told apart, once the weights are not small, it is hardly more. For the error rate the two are
the same. A hinge loss rests on the rows that are answered wrong or nearly so, which the last C has shown, and on each of
them by itself: what takes the bundle's planes dozens of passes over the data, ADMM on these rows does in a few
iterations, without any.

Its weights are where the next C starts, and its multipliers, mixed, are a plane of the loss, so that the bound holds.
A pass over all rows then tells the objective, as ever; where that is not near enough, the bundle goes on from there.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.base import History, Start
from smtl.solvers.certificate import Certificate
from smtl.solvers.compiled import compiled_penalty, with_values
from smtl.solvers.master import CAUTION
from smtl.solvers.problem import Problem

__all__ = ["Hinge"]

Float: TypeAlias = npt.NDArray[np.float64]

# The rows to take of either class: so many times as many as are answered wrong, and so many more.
FACTOR, MORE = 2.0, 32
# They must be at most this part of all, and take no more memory than this, nor their factors.
FEW, MOST_BYTES = 0.4, 256 * 2**20
# Iterations between two looks at the gap of the hinge problem, looks, and the part of the tolerance to reach.
STEPS, LOOKS, PART = 5, 3, 0.7
# The W-step gets the margins right to this part of the tolerance.
MARGIN_TOL = 1.0
# The pass that follows finds the intercepts to this part of the tolerance.
EPS = 0.05
# A C is tried again with the rows that were missing, so often. After a failure values of C are left to
# the bundle: what the hinge lacks of the loss is about half as much at the next one, on a grid of usual spacing.
ROUNDS = 4


class Hinge:
    """The hinge problem of few rows, along a path.

    Parameters
    ----------
    problem : Problem
        The problem on all rows. Its C may change.

    Attributes
    ----------
    loss : float
        The mean loss of the tasks at the last C, to be set where that was solved otherwise.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        tasks, metric = problem.tasks, problem.metric
        counts = [
            (int(np.sum(y == 1)), int(np.sum(y == -1))) for y in np.split(tasks.y, tasks.ptr[1:-1])
        ]
        self._margin = np.array([metric.hinge_margin(n_pos, n_neg) for n_pos, n_neg in counts])
        self.loss = np.inf
        self._rows = np.empty(0, dtype=np.int64)
        self._v = np.empty(0)
        self._seen: list[tuple[int, npt.NDArray[np.int64], Float, float]] = []
        self._lack = 0.0
        self._rest = 0
        self._n_failures = 0

    @staticmethod
    def is_for(problem: Problem) -> bool:
        """Return whether there is a hinge problem for this one.

        Parameters
        ----------
        problem : Problem
            The problem.

        Returns
        -------
        bool
            Whether the metric has a hinge, there is an intercept, compiled code knows the penalty, and the data are
            dense and not too wide.
        """
        d, m = problem.shape
        return (
            problem.metric.has_hinge
            and problem.with_intercept
            and compiled_penalty(problem.penalty) is not None
            and problem.tasks.is_dense
            and 8 * m * (d + 2) ** 2 <= MOST_BYTES
        )

    def see(self, first: int, last: int, scores: Float, c: Float) -> None:
        """Take in what a pass over all rows has found; see ``seen`` of `Problem.planes`."""
        from smtl.kernels import hinge

        tasks = self.problem.tasks
        ptr = tasks.ptr[first : last + 1] - tasks.ptr[first]
        rows, size = np.empty(len(scores), dtype=np.int64), np.empty(last - first, dtype=np.int64)
        y = tasks.y[tasks.ptr[first] : tasks.ptr[last]]
        rows = rows[: hinge.choose_rows(scores, y, ptr, c, FACTOR, MORE, rows, size)]
        loss = hinge.losses(scores, y, ptr, self._margin[first:last])
        self._seen.append((first, rows + tasks.ptr[first], c[rows], loss))

    def solve(self, start: Start, certificate: Certificate, history: History, tol: float, max_iter: int) -> Start | None:
        """Solve the problem at the next C as far as the hinge problem does; one pass a time that it is solved.

        Parameters
        ----------
        start : Start
            Where to start from.
        certificate : Certificate
            It takes in weights and bounds.
        history : History
            It takes in the passes.
        tol : float
            The relative gap to reach.
        max_iter : int
            The most passes.

        Returns
        -------
        Start or None
            Where it has ended, if the gap has been reached.
        """
        problem, (_, m) = self.problem, self.problem.shape
        self._rest = max(self._rest - 1, 0)
        if self._rest or start.mu is None or not problem.metric.hinge_is_close(self.loss, tol):
            return None
        for _ in range(min(ROUNDS, max_iter)):
            if len(self._rows):
                if not self._are_few() or (history.passes and self._lack > tol):
                    break
                start = self._solve_few(start, certificate, tol)
            else:
                # What the multipliers were for planes they are not for rows, and ADMM would leap.
                start = replace(start, mu=CAUTION * start.mu)
            eps = EPS * tol * certificate.bound / (problem.C * m)
            _, _, value = problem.planes(start.S, start.shift, eps, self.see)
            objective = problem.objective(start.S, value)
            certificate.see_weights(objective, start.S, start.shift)
            history.add(objective, certificate, 0.0, 0.0, len(history.passes) + 1)
            self.take(objective, value)
            if certificate.gap <= tol:
                return start
        self._n_failures += 1
        self._rest = self._n_failures
        self._rows, self._v = self._rows[:0], self._v[:0]
        return None

    def take(self, objective: float, value: Float) -> None:
        """Take in the objective and the losses of the pass that was seen, and the rows that it has shown to matter.

        Parameters
        ----------
        objective : float
            The objective.
        value : ndarray of shape (n_tasks,)
            The losses.
        """
        from smtl.kernels import hinge

        self._seen.sort(key=lambda part: part[0])  # threads may have ended in another order
        _, parts, coefficients, losses = zip(*self._seen, strict=True)
        self._seen = []
        self._lack = self.problem.C * (float(np.sum(value)) - sum(losses)) / objective
        rows, c = np.concatenate(parts), np.concatenate(coefficients)
        kept = self._v != 0.0
        if kept.any():
            old, v = self._rows[kept], self._v[kept]
            self._rows = np.union1d(rows, old)
            self._v = np.zeros(len(self._rows))
            self._v[np.searchsorted(self._rows, old)] = v
        else:
            # The answer that the pass has found is a start as good as any.
            self._rows, self._v = rows, np.trunc(0.5 * c)
            hinge.trim(self._v, np.searchsorted(rows, self.problem.tasks.ptr))

    def _are_few(self) -> bool:
        n, d = len(self._rows), self.problem.shape[0]
        return 0 < n <= FEW * len(self.problem.tasks.y) and 8 * n * d <= MOST_BYTES

    def _solve_few(self, start: Start, certificate: Certificate, tol: float) -> Start:
        """Do iterations of ADMM on the rows until their problem is solved."""
        from smtl.kernels import hinge

        problem, (d, m) = self.problem, self.problem.shape
        compiled = compiled_penalty(problem.penalty)
        assert compiled is not None
        assert start.mu is not None
        (kind, ridge), C, mu = compiled, problem.C, start.mu
        tasks = problem.tasks
        ptr = np.searchsorted(self._rows, tasks.ptr)
        X, y, v = tasks.rows(self._rows), tasks.y[self._rows], self._v
        is_free, t, n_free = np.empty(len(v), dtype=np.bool_), np.empty(m), np.empty(m, dtype=np.int64)
        L, free = np.empty((m, d + 2, d + 2)), np.empty((m, d + 2), dtype=np.int64)
        if not hinge.factorise(X, ptr, v, is_free, t, L, free, n_free):
            return start
        S, U = start.S.T.copy(order="C"), np.array(start.Z.T / mu, order="C")
        mixed, delta, n_iter = np.empty((m, d)), np.empty(m), 0
        for _ in range(LOOKS):
            mu, n_iter = hinge.steps(
                STEPS, kind, with_values(kind), ridge, C, MARGIN_TOL * tol, mu, n_iter, S, U, mixed, delta,
                X, y, ptr, self._margin, v, is_free, t, L, free, n_free,
            )  # fmt: skip
            certificate.see_planes(problem, delta, mixed.T)
            objective = problem.objective(S.T, hinge.losses(hinge.few_scores(S, X, ptr), y, ptr, self._margin))
            if objective - certificate.bound <= PART * tol * objective:
                break
        return replace(start, S=S.T, Z=mu * U.T, mu=mu)
