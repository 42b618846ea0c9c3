r"""The fast solver: planes that are kept across iterations, and proposers of where to find the next ones.

A plane :math:`\delta_j - w'g_j` of a task's loss does not depend on where it was found: it bounds the loss from below
ever after. One pass over the data gives the objective at some weights and a new plane for each task; all else is done
on the planes (`smtl.solvers.master`). Where to pass next is up to the proposers (`smtl.solvers.proposers`).
"""

from __future__ import annotations

import smtl.solvers.proposers  # noqa: F401 (its modules register themselves)
from smtl.solvers.base import History, Solution, Solver, Start, Stopping
from smtl.solvers.master import Master
from smtl.solvers.planes import Bundle
from smtl.solvers.proposers.base import Float, Proposer
from smtl.solvers.seam import Trainable
from smtl.solvers.settings import SETTINGS, Settings
from smtl.solvers.state import Costs, State

__all__ = ["BundleSolver"]


class BundleSolver(Solver):
    """Planes of every pass are kept; the first proposer with an answer says where the next pass is.

    Parameters
    ----------
    settings : Settings, optional
        Other constants than those of the package.
    """

    name = "bundle"

    def __init__(self, settings: Settings = SETTINGS) -> None:
        self.settings = settings

    def run(self, problem: Trainable, C: float, start: Start, stopping: Stopping) -> Solution:  # noqa: D102
        state = self._begin(problem, C, start, stopping.tol)
        suitable = [each for each in Proposer.known.values() if each.suits(problem, state.costs, stopping.tol)]
        proposers = [each(state) for each in sorted(suitable, key=lambda each: each.order)]
        history = History(stopping.verbose)
        while True:
            state.do_pass()
            point = None
            if state.certificate.gap > stopping.tol:
                point = _first_proposal(proposers, state)
            history.add(state.objective, state.certificate, *state.master.residuals, state.n_iter)
            if point is None or state.certificate.gap <= stopping.tol or state.n_iter == stopping.max_iter:
                break
            state.point = point
        return self._end(state, start, history)

    def _begin(self, problem: Trainable, C: float, start: Start, tol: float) -> State:
        """Return what is known before the first pass."""
        bundle = start.bundle or Bundle(problem.shape)
        bundle.keep_active()
        master = Master(problem.penalty, C, bundle, 0, start.S, start.Z, start.mu or 1.0)
        state = State(
            problem,
            C,
            tol,
            self.settings,
            bundle,
            master,
            point=start.S,
            intercept=start.shift,
            warm=start.bundle is not None and start.mu is not None,
            mu_is_known=start.mu is not None,
            rho=start.rho,
            costs=Costs.of(problem, self.settings),
        )
        if start.certificate is not None:
            state.see_planes(start.certificate.delta, start.certificate.G)
        return state

    def _end(self, state: State, start: Start, history: History) -> Solution:
        """Return the solution, and where the next run may start from."""
        master = state.master
        # A raised mu is not handed on if there was no time to bring it down again.
        mu = start.mu if state.n_iter <= self.settings.unadapted and start.mu is not None else master.mu
        end = Start(
            master.S, master.Z, state.intercept, mu, state.rho, state.problem.losses, state.bundle, state.certificate
        )
        converged = state.certificate.gap <= state.tol
        return Solution(state.certificate, history.as_dict(), state.n_iter, converged, end)


def _first_proposal(proposers: list[Proposer], state: State) -> Float | None:
    """Return the point that the first proposer with an answer has."""
    for proposer in proposers:
        if proposer.needs_planes:
            state.keep_planes()
        point = proposer.propose(state)
        if point is not None:
            return point
    return None
