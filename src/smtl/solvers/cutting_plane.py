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
from smtl.solvers.base import History, Solution, Start, solver
from smtl.solvers.certificate import Certificate
from smtl.solvers.planes import Bundle
from smtl.solvers.problem import Problem

__all__ = ["solve_cutting_plane"]

Float: TypeAlias = npt.NDArray[np.float64]

# How far to go from the best weights towards the minimiser: the factors after an improvement and after none.
FURTHER, LESS_FAR, LEAST_STEP = 1.5, 0.8, 0.05
# The quadratic program and the intercept are solved to this fraction of the smallest gap that is left.
INNER_TOL = 3e-2


@solver("cutting-plane")
def solve_cutting_plane(problem: Problem, *, tol: float, max_iter: int, start: Start, verbose: int = 0) -> Solution:
    """Solve a problem with the ridge penalty, each task to the same relative gap.

    Parameters
    ----------
    problem : Problem
        What to solve; its penalty is `smtl.penalties.Ridge`.
    tol : float
        The relative gap that each task is to reach.
    max_iter : int
        The most passes over the data.
    start : Start
        Where to start from; changed.
    verbose : int, default=0
        Log every so many passes.

    Returns
    -------
    Solution
        Weights, bound and history. There are no residuals: they are NaN.
    """
    if type(problem.penalty) is not Ridge:  # a subclass may have another formula
        raise ValueError(
            "solver='cutting-plane' needs penalty='ridge', which leaves the tasks apart, got "
            f"{problem.penalty!r} instead; solver='bundle' takes any penalty."
        )
    C, (d, m) = problem.C, problem.shape
    zero = np.zeros((d, m), order="F")
    bundle, shift, point = start.bundle or Bundle(d, m), start.shift, start.S
    bundle.keep_active()
    bounds = Bounds(d, m)
    if start.certificate is not None:
        bounds.see(start.certificate.delta, start.certificate.G, C)
    W, intercept, objective = zero.copy(order="F"), np.zeros(m), np.full(m, np.inf)
    step = np.ones(m)
    history = History(verbose)
    eps = INNER_TOL
    for n_iter in range(1, max_iter + 1):
        delta, G, value = problem.planes(point, shift, eps=eps)
        reached = 0.5 * np.einsum("ij,ij->j", point, point) + C * value
        better = reached < objective
        W[:, better], intercept[better], objective[better] = point[:, better], shift[better], reached[better]
        if n_iter > 1:
            step = np.where(better, np.minimum(FURTHER * step, 1.0), np.maximum(LESS_FAR * step, LEAST_STEP))
        bundle.add(G, delta)
        minimiser, mixed = bundle.w_step(problem, zero, 1.0, tol=C * eps)
        bounds.see(*mixed, C)
        certificate = bounds.certificate(W, intercept, objective)
        history.add(float(reached.sum()), certificate, np.nan, np.nan, n_iter)
        gaps = objective - bounds.value
        lowest = int(np.argmin(gaps))
        Certificate(objective[lowest], bounds.value[lowest], terms=C * abs(bounds.delta[lowest])).check()
        open_ = gaps > tol * objective
        if not open_.any():
            break
        eps = INNER_TOL * float(gaps[open_].min()) / C
        point = np.asfortranarray(W + step * (minimiser - W))
    end = Start(W, zero, intercept, losses=problem.losses, bundle=bundle, certificate=certificate)
    return Solution(certificate, history.as_dict(), n_iter, not open_.any(), end)


class Bounds:
    """The best lower bound of each task's objective, with the combination of planes that it is from.

    Parameters
    ----------
    n_features, n_tasks : int
        The shape of W.
    """

    def __init__(self, n_features: int, n_tasks: int) -> None:
        self.value = np.zeros(n_tasks)
        self.delta = np.zeros(n_tasks)
        self.G = np.zeros((n_features, n_tasks), order="F")

    def see(self, delta: Float, G: Float, C: float) -> None:
        """Take in one combination of planes per task: `Ridge.lower_bound` for each task by itself."""
        d = np.maximum(C * delta, 0.0)
        square = C * C * np.einsum("ij,ij->j", G, G) * (1.0 + rounding(len(G)))
        s = np.minimum(d / np.maximum(square, 1e-300), 1.0)
        value = s * (d - 0.5 * s * square) - rounding(len(d)) * s * d
        better = value > self.value
        self.value[better], self.delta[better], self.G[:, better] = value[better], delta[better], G[:, better]

    def certificate(self, W: Float, intercept: Float, objective: Float) -> Certificate:
        """Return what is known of the sum over the tasks. Nothing is copied."""
        return Certificate(float(objective.sum()), float(self.value.sum()), W, intercept, self.delta, self.G)
