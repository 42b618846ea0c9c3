r"""The level bundle method, where passes are dear: more is done on the planes, to save some of them.

There are two master problems on the same planes:

- the one without a centre gives the bound, by some iterations a pass;
- the other says where to pass next: at the point nearest to the last one where the planes promise a part, but not
  all, of what there is left to gain. Its :math:`\rho` is raised or lowered until that is so. Planes are to be
  trusted only near where they were found; to trust them too far is what the swinging of plain ADMM comes from.

When so many planes have come together that iterations on them cost more than a pass, the method ends.

References
----------
C. Lemarechal, A. Nemirovskii, Y. Nesterov, New variants of bundle methods, Mathematical Programming 69, 1995.
"""

from __future__ import annotations

import numpy as np

from smtl.solvers.master import Master
from smtl.solvers.proposers.base import Float, Proposer
from smtl.solvers.seam import Trainable
from smtl.solvers.state import Costs, State

__all__ = ["Level"]


class Level(Proposer):
    """The level bundle method."""

    name = "level"
    order = 50

    def __init__(self, state: State) -> None:
        self.first_pass = 1 if state.warm else state.settings.first_passes
        self.near: Master | None = None  # the master problem with a centre
        self.centre = state.point
        self.given_up = False

    @classmethod
    def suits(cls, problem: Trainable, costs: Costs, tol: float) -> bool:  # noqa: D102
        return True

    def propose(self, state: State) -> Float | None:  # noqa: D102
        if self.given_up or state.n_iter < self.first_pass:
            return None
        if self._too_dear(state):
            self._give_up(state)
            return None
        if self.near is None:
            state.bundle.give_second_weights()
            self.near = Master(
                state.problem.penalty, state.C, state.bundle, 1, state.master.S, state.master.Z, state.master.mu
            )
            self.centre = state.certificate.W
            state.rho = state.rho or state.master.mu
        state.see_planes(*state.master.steps(state.settings.bound_steps, state.C * state.inner_tol))
        if state.certificate.gap > state.tol:
            self._next_centre(state, self.near)
        return self.centre

    def _too_dear(self, state: State) -> bool:
        """Return whether iterations on the planes cost more than they save."""
        settings, costs = state.settings, state.costs
        return settings.steps_a_pass * (state.bundle.cost() + costs.beside_a_step) > costs.a_pass

    def _give_up(self, state: State) -> None:
        """Leave the rest to plain ADMM, from the best weights."""
        self.given_up = True
        if self.near is not None:
            state.master.start_again(state.certificate.W)
            state.bundle.take_second_weights()

    def _next_centre(self, state: State, near: Master) -> None:
        """Go to the next centre, and show the bound what was found on the way; rho follows from what it leaves."""
        settings, n = state.settings, state.n_iter
        assert state.rho is not None
        part = settings.next_tol * min(settings.next_tol_from / n, 1.0)
        for _ in range(settings.next_rounds):
            mixed = near.steps(settings.next_steps + n, state.C * state.inner_tol, self.centre, state.rho, part)
            promised = near.promised()
            if promised < state.certificate.objective:  # otherwise the planes know that a pass there gains nothing
                break
        state.see_planes(*mixed)
        self.centre = near.S
        left = (promised - state.certificate.bound) / state.gap if state.gap > 0.0 else settings.level
        factor = float(np.clip(settings.level / max(left, 1e-300), 1.0 / settings.most_change, settings.most_change))
        state.rho = max(state.rho * factor, settings.least_rho * near.mu)
