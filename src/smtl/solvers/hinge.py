r"""A path's next C, where the losses are as good as hinge losses of few rows.

With an intercept, an answer of the F-measure with as many false positives as false negatives, k of P, costs
:math:`\Delta = k / P`, whatever beta. So the loss is at least that of a hinge with the margin :math:`a = 1 / 4P`,

.. math:: G(w) \ge \min_\beta \sum_r 2 (a - y_r (w'x_r + \beta))_+,

and where the classes can be told apart, once the weights are not small, it is hardly more. For the error rate the two
are the same. A hinge loss rests on the rows that are answered wrong or nearly so, which the last C has shown, and on
each of them by itself: what takes the bundle's planes dozens of passes over the data, ADMM on these rows (see
`smtl.kernels.box_qp` for its W-step) does in a few iterations, without any.

Its weights are a guess, its multipliers, mixed, are a plane of the loss: so the bound holds. A pass over all rows then
tells the objective, as ever. Where that is not near enough, the C is left to the bundle.
"""

from __future__ import annotations

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
# They must be at most this part of all, and take no more memory than this, nor must the factors of the W-steps.
FEW, MOST_BYTES = 0.4, 256 * 2**20
# Iterations between two looks at the gap of the hinge problem, looks at most, and the part of the tolerance to reach.
STEPS, LOOKS, PART = 5, 3, 0.7
# The pass that follows finds the intercepts to this part of the tolerance.
EPS = 0.05
# So many passes a C; each shows rows that were missing.
PASSES = 4


class Hinge:
    """The hinge problem of few rows, along a path.

    Parameters
    ----------
    problem : Problem
        The problem on all rows.

    Attributes
    ----------
    problem : Problem
        The same, or another one on the same data with another C.
    loss : float
        The mean loss of the tasks at the last C. Whoever else solves a C sets it.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.loss = np.inf
        tasks, margin = problem.tasks, problem.metric.hinge_margin
        counts = [(int(np.sum(y == 1)), int(np.sum(y == -1))) for y in np.split(tasks.y, tasks.ptr[1:-1])]
        self._margin = np.array([margin(n_pos, n_neg) for n_pos, n_neg in counts])
        self._n_pos = float(np.mean([n_pos for n_pos, _ in counts]))
        self._forget()
        self._lack = 0.0  # what the hinge losses lack of the losses, as a part of the objective
        self._rest = self._n_failures = 0
        self._seen: list[tuple[int, npt.NDArray[np.int64], Float, float]] = []

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
            and 8 * m * (d + 3) ** 2 <= MOST_BYTES
        )

    def solve(
        self, start: Start, certificate: Certificate, history: History, tol: float, max_iter: int
    ) -> Start | None:
        """Solve the problem at the next C, if that can be done.

        Parameters
        ----------
        start : Start
            Where to start from. Its intercepts are overwritten.
        certificate : Certificate
            It takes in weights and bounds.
        history : History
            It takes in the passes.
        tol : float
            The relative gap to reach.
        max_iter : int
            The most passes; one of them is left to the bundle.

        Returns
        -------
        Start or None
            Where it has ended, if the gap has been reached.
        """
        problem, (d, m), mu = self.problem, self.problem.shape, start.mu
        self._rest = max(self._rest - 1, 0)
        if self._rest or mu is None or problem.metric.hinge_lack(self.loss, self._n_pos, d) > tol:
            return None
        for _ in range(min(PASSES, max_iter - 1)):
            if len(self._rows) == 0:
                # What the multipliers were for planes they are not for rows, and ADMM would leap.
                start = replace(start, mu=CAUTION * mu)
            elif self._are_few() and not (history.passes and self._lack > tol):
                start = self._solve_few(start, certificate, tol)
            else:
                break
            eps = EPS * tol * certificate.bound / (problem.C * m)
            _, _, value = problem.planes(start.S, start.shift, eps, self._see)
            objective = problem.objective(start.S, value)
            certificate.see_weights(objective, start.S, start.shift)
            history.add(objective, certificate, 0.0, 0.0, len(history.passes) + 1)
            self._take_rows()
            self._lack = problem.C * (float(value.sum()) - self._hinge_loss) / objective
            if certificate.gap <= tol:
                self.loss = float(value.mean())
                return start
        self._n_failures += 1
        self._rest = self._n_failures  # longer each time
        self._forget()
        return None

    def _forget(self) -> None:
        """Begin anew with the next pass."""
        self._rows, self._v = np.empty(0, dtype=np.int64), np.empty(0)

    def _are_few(self) -> bool:
        n = len(self._rows)
        return n <= FEW * len(self.problem.tasks.y) and 8 * n * self.problem.shape[0] <= MOST_BYTES

    def _see(self, first: int, last: int, scores: Float, c: Float) -> None:
        """Choose rows of a group of tasks; see ``seen`` of `Problem.planes`."""
        from smtl.kernels import hinge

        tasks = self.problem.tasks
        ptr, y = tasks.ptr[first : last + 1] - tasks.ptr[first], tasks.y[tasks.ptr[first] : tasks.ptr[last]]
        rows = np.empty(len(scores), dtype=np.int64)
        rows = rows[: hinge.choose_rows(scores, y, ptr, c, FACTOR, MORE, rows)]
        loss = hinge.losses(scores, y, ptr, self._margin[first:last])
        self._seen.append((first, rows + tasks.ptr[first], c[rows], loss))

    def _take_rows(self) -> None:
        """Take the rows that the pass has shown, and keep those of the old ones that have multipliers."""
        self._seen.sort(key=lambda part: part[0])  # threads may have ended in another order
        _, rows, c, losses = zip(*self._seen, strict=True)
        self._seen = []
        self._hinge_loss = sum(losses)
        kept, v = self._rows[self._v != 0.0], self._v[self._v != 0.0]
        self._rows = np.union1d(np.concatenate(rows), kept)
        self._v = np.zeros(len(self._rows))
        if len(kept):
            self._v[np.searchsorted(self._rows, kept)] = v
        else:
            self._v[:] = 0.5 * np.concatenate(c)  # the answer that the pass has found, to begin with
            self._round()

    def _round(self) -> None:
        """Have no free rows."""
        from smtl.kernels import hinge

        self._v = np.trunc(self._v)
        hinge.trim(self._v, self._ptr())

    def _ptr(self) -> npt.NDArray[np.int64]:
        """Return where each task's rows begin."""
        return np.searchsorted(self._rows, self.problem.tasks.ptr)

    def _solve_few(self, start: Start, certificate: Certificate, tol: float) -> Start:
        """Do iterations of ADMM on the rows until their problem is solved, or nearly so."""
        from smtl.kernels import hinge

        problem, (d, m), ptr = self.problem, self.problem.shape, self._ptr()
        compiled, mu = compiled_penalty(problem.penalty), start.mu
        assert compiled is not None
        assert mu is not None
        (kind, ridge), C = compiled, problem.C
        X, y = problem.tasks.rows(self._rows), problem.tasks.y[self._rows]
        is_free, t, n_free = np.empty(len(y), dtype=np.bool_), np.empty(m), np.empty(m, dtype=np.int64)
        L, free = np.empty((m, d + 3, d + 3)), np.empty((m, d + 3), dtype=np.int64)
        if not hinge.factorise(X, ptr, self._v, is_free, t, L, free, n_free):
            self._round()
            hinge.factorise(X, ptr, self._v, is_free, t, L, free, n_free)
        S, U = start.S.T.copy(order="C"), np.array(start.Z.T / mu, order="C")
        mixed, delta, n_iter = np.empty((m, d)), np.empty(m), 0
        for _ in range(LOOKS):
            mu, n_iter = hinge.steps(
                STEPS, kind, with_values(kind), ridge, C, tol, mu, n_iter, S, U, mixed, delta,
                X, y, ptr, self._margin, self._v, is_free, t, L, free, n_free,
            )  # fmt: skip
            if not (np.isfinite(S).all() and np.isfinite(mixed).all()):
                self._forget()  # no bound is taken from what has overflowed
                return start
            certificate.see_planes(problem, delta, mixed.T)
            objective = problem.objective(S.T, hinge.losses(hinge.few_scores(S, X, ptr), y, ptr, self._margin))
            if objective - certificate.bound <= PART * tol * objective:
                break
        return replace(start, S=S.T, Z=mu * U.T, mu=mu)
