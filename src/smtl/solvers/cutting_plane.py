r"""The solver for the ridge penalty, which leaves the tasks apart: cutting planes, with steps from the best weights.

Where :math:`\Omega(W) = \tfrac12 \|W\|_F^2`, each task is a structural support vector machine of its own, and nothing
has to be split: the quadratic program of the bundle solver's W-step, at b = 0 and :math:`\mu = 1`, is the dual of

.. math:: \min_w \; \tfrac12 |w|^2 + C \max_k \, (\delta_k - w'g_k)

over the planes kept. Its value bounds the task's objective from below. The plain method (Joachims 2006) asks for the
next plane at its minimiser, which swings far about while the planes are few. As in Franc and Sonnenburg (2008) the
next plane is asked for on the way there from the best weights seen, but without a search along the line, which would
take several oracle calls: how far to go is learnt, further after a step that was an improvement and less far after one
that was not.

Each task goes on until its own relative gap is small enough. So no task is solved less well for having a small
objective, and the gap of the sum, which is reported, is smaller still.

References
----------
T. Joachims, Training linear SVMs in linear time, KDD 2006.

V. Franc, S. Sonnenburg, Optimized cutting plane algorithm for support vector machines, ICML 2008.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.penalties import Ridge
from smtl.penalties.base import rounding
from smtl.solvers.base import History, Solution, Solver, Start, Stopping
from smtl.solvers.certificate import Certificate
from smtl.solvers.planes import Bundle
from smtl.solvers.seam import Trainable

__all__ = ["CuttingPlaneSolver"]

Float: TypeAlias = npt.NDArray[np.float64]

FURTHER = 1.5  # the factor by which the next step is longer after an improvement
LESS_FAR = 0.8  # the factor by which it is shorter after none
LEAST_STEP = 0.05  # the shortest step, as a part of the way to the minimiser
INNER_TOL = 3e-2  # the part of the smallest gap that is left to which inner problems are solved


class CuttingPlaneSolver(Solver):
    """Cutting planes for the ridge penalty, each task to the same relative gap. It has no residuals: they are NaN."""

    name = "cutting-plane"

    def run(self, problem: Trainable, C: float, start: Start, stopping: Stopping) -> Solution:  # noqa: D102
        if type(problem.penalty) is not Ridge:  # a subclass may have another formula
            raise ValueError(
                "solver='cutting-plane' needs penalty='ridge', which leaves the tasks apart, got "
                f"{problem.penalty!r} instead; solver='bundle' takes any penalty."
            )
        m, zero = problem.shape[0], np.zeros(problem.shape)
        bundle, shift, point = start.bundle or Bundle(problem.shape), start.shift, start.S
        bundle.keep_active()
        bounds = Bounds(problem.shape)
        if start.certificate is not None:
            bounds.see(start.certificate.delta, start.certificate.G, C)
        W, intercept, objective = zero.copy(), np.zeros(m), np.full(m, np.inf)
        step = np.ones(m)
        history = History(stopping.verbose)
        eps = INNER_TOL
        for n_iter in range(1, stopping.max_iter + 1):
            value, delta, G, _ = problem.one_pass(point, shift, eps)
            reached = 0.5 * np.einsum("ij,ij->i", point, point) + C * value
            better = reached < objective
            W[better], intercept[better], objective[better] = point[better], shift[better], reached[better]
            if n_iter > 1:
                step = np.where(better, np.minimum(FURTHER * step, 1.0), np.maximum(LESS_FAR * step, LEAST_STEP))
            bundle.add(G, delta)
            minimiser, mixed = bundle.w_step(C, zero, 1.0, C * eps)
            bounds.see(*mixed, C)
            certificate = bounds.certificate(W, intercept, objective)
            history.add(float(reached.sum()), certificate, np.nan, np.nan, n_iter)
            gaps = objective - bounds.value
            lowest = int(np.argmin(gaps))
            Certificate(objective[lowest], bounds.value[lowest], terms=C * abs(bounds.delta[lowest])).check()
            open_ = gaps > stopping.tol * objective
            if not open_.any():
                break
            eps = INNER_TOL * float(gaps[open_].min()) / C
            point = W + step[:, np.newaxis] * (minimiser - W)
        end = Start(W, zero, intercept, losses=problem.losses, bundle=bundle, certificate=certificate)
        return Solution(certificate, history.as_dict(), n_iter, not open_.any(), end)


class Bounds:
    """The best lower bound of each task's objective, with the combination of planes that it is from.

    Parameters
    ----------
    shape : tuple of int
        The shape (n_tasks, n_features) of W.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self.value = np.zeros(shape[0])
        self.delta = np.zeros(shape[0])
        self.G = np.zeros(shape)

    def see(self, delta: Float, G: Float, C: float) -> None:
        """Take in one combination of planes per task: `Ridge.lower_bound` for each task by itself."""
        d = np.maximum(C * delta, 0.0)
        square = C * C * np.einsum("ij,ij->i", G, G) * (1.0 + rounding(G.shape[1]))
        s = np.minimum(d / np.maximum(square, 1e-300), 1.0)
        value = s * (d - 0.5 * s * square) - rounding(len(d)) * s * d
        better = value > self.value
        self.value[better], self.delta[better], self.G[better] = value[better], delta[better], G[better]

    def certificate(self, W: Float, intercept: Float, objective: Float) -> Certificate:
        """Return what is known of the sum over the tasks. Nothing is copied."""
        return Certificate(float(objective.sum()), float(self.value.sum()), W, intercept, self.delta, self.G)
