r"""The default solver: for smooth losses a model of their curvature says where to pass next, for others planes do.

Planes rebuild slowly what the gradient and some curvature of a smooth loss know at once. So none are kept for it. Each
pass gives the objective, and its tangent planes, scaled to be dual feasible, the bound, as in the other solvers. Where
to pass next say

- `smtl.solvers.quasi_newton` where the penalty is ridge and leaves the tasks apart,
- `smtl.solvers.newton` for all other penalties, where second derivatives are known and not too dear.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.penalties import Penalty, Ridge
from smtl.solvers.base import History, Solution, Solver, Start, Stopping
from smtl.solvers.bundle import BundleSolver
from smtl.solvers.certificate import Certificate
from smtl.solvers.newton import Newton
from smtl.solvers.place import Place
from smtl.solvers.quasi_newton import QuasiNewton
from smtl.solvers.seam import Pass, Trainable
from smtl.solvers.settings import SETTINGS, Settings

__all__ = ["AutoSolver", "CurvatureModel"]

Float: TypeAlias = npt.NDArray[np.float64]


class CurvatureModel(Protocol):
    """What says where to pass next."""

    @property
    def Z(self) -> Float:
        """Multipliers of shape (n_tasks, n_features) to go on from, for another C."""

    @property
    def mu(self) -> float | None:
        """The penalty parameter that belongs to them."""

    def propose(self, place: Place) -> tuple[Float, Float] | None:
        """Return weights and a first guess of the intercepts, or None where there is nothing more to propose."""


def model_for(problem: Trainable, C: float, start: Start) -> CurvatureModel | None:
    """Return what is best for a smooth problem, or None where planes are."""
    if not problem.losses.metric.smooth:
        return None
    if type(problem.penalty) is Ridge:  # a subclass may have another formula
        return QuasiNewton(C, start)
    curvature = problem.curvature()
    dearest = SETTINGS.dearest * problem.cost()
    if curvature is None or min(curvature.costs()) > dearest:
        return None
    return Newton(problem.penalty, C, curvature, dearest, start)


class AutoSolver(Solver):
    """A model of the curvature says where to pass next; planes where there is none, or where it leads nowhere.

    There are no residuals of what it does by itself: they are NaN.

    Parameters
    ----------
    settings : Settings, optional
        Constants of the bundle solver.
    """

    name = "auto"

    def __init__(self, settings: Settings = SETTINGS) -> None:
        self.settings = settings

    def run(self, problem: Trainable, C: float, start: Start, stopping: Stopping) -> Solution:  # noqa: D102
        planes = BundleSolver(self.settings)
        model = model_for(problem, C, start)
        if model is None:
            return planes.run(problem, C, start, stopping)
        begin = replace(start, S=start.S.copy(), shift=start.shift.copy())
        solution = _follow(
            model, problem, C, start, stopping._replace(max_iter=min(stopping.max_iter, SETTINGS.last_pass))
        )
        if solution.converged or solution.n_iter == stopping.max_iter:
            return solution
        # From the first weights: where the model leads nowhere, it may have gone far off.
        left = stopping._replace(max_iter=stopping.max_iter - solution.n_iter)
        return _joined(solution, planes.run(problem, C, begin, left))


def _follow(model: CurvatureModel, problem: Trainable, C: float, start: Start, stopping: Stopping) -> Solution:
    """Pass where the model says, until the gap is reached or it has nothing more to propose."""
    penalty, m = problem.penalty, problem.shape[0]
    certificate, history = Certificate(), History(stopping.verbose)
    if start.certificate is not None:
        certificate.see_planes(penalty, C, start.certificate.delta, start.certificate.G)
    here, intercept, eps = start.S, start.shift, SETTINGS.smooth_inner_tol
    for n_iter in range(1, stopping.max_iter + 1):
        told = problem.one_pass(here, intercept, eps)
        objective = penalty.value(here) + C * float(told.loss.sum())
        certificate.see_weights(objective, here, intercept)
        certificate.see_planes(penalty, C, told.delta, told.slope)
        _see_scaled(certificate, penalty, C, here, told, stopping.tol)
        history.add(objective, certificate, np.nan, np.nan, n_iter)
        if certificate.gap <= stopping.tol:
            break
        proposal = model.propose(Place(here, intercept.copy(), told.loss, -C * told.slope, objective, certificate.gap))
        if proposal is None:
            break
        here, intercept = proposal[0], proposal[1].copy()
        eps = SETTINGS.smooth_inner_tol * (certificate.objective - certificate.bound) / (C * m)
    best, shift = certificate.W, certificate.intercept
    end = Start(best, model.Z, shift, model.mu, losses=problem.losses, certificate=certificate)
    return Solution(certificate, history.as_dict(), n_iter, certificate.gap <= stopping.tol, end)


def _see_scaled(certificate: Certificate, penalty: Penalty, C: float, W: Float, told: Pass, tol: float) -> None:
    r"""Show the certificate the planes of a pass at the scale at which they are feasible, if that may end the run.

    Scaled by s, the plane's offset falls by s at the most. That of a smooth loss at its highest falls by no more than
    :math:`(1-s)\,w_i'g_i` at first, a few times or a hundred times less; never slower, as it is concave.
    """
    _, s = penalty.lower_bound(C * told.slope, C * float(told.delta.sum()))
    if told.scaled is None or not 0.0 < s < 1.0:
        return
    hoped = C * (float(told.delta.sum()) - (1.0 - s) * float(np.vdot(W, told.slope)))
    if certificate.objective - hoped <= tol * certificate.objective:
        delta = told.scaled(s)
        if np.isfinite(delta).all():
            certificate.see_planes(penalty, C, delta, s * told.slope)


def _joined(first: Solution, second: Solution) -> Solution:
    """Return what two runs for one C have found together: the second went on from the best weights of the first."""
    history = {key: np.concatenate([first.history[key], second.history[key]]) for key in first.history}
    for key in ("passes", "seconds"):
        history[key][first.n_iter :] += history[key][first.n_iter - 1]
    best = second.certificate
    best.see_weights(first.certificate.objective, first.certificate.W, first.certificate.intercept)
    converged = second.converged
    return Solution(best, history, first.n_iter + second.n_iter, converged, second.start)
