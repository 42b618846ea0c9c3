"""Plain ADMM: one iteration on the planes a pass, and the next pass at its S. It suits every problem."""

from __future__ import annotations

from smtl.solvers.proposers.base import Float, Proposer
from smtl.solvers.seam import Trainable
from smtl.solvers.state import Costs, State

__all__ = ["Plain"]


class Plain(Proposer):
    """Plain ADMM on the planes."""

    name = "plain"
    order = 100

    @classmethod
    def suits(cls, problem: Trainable, costs: Costs, tol: float) -> bool:  # noqa: D102
        return True

    def propose(self, state: State) -> Float:  # noqa: D102
        state.see_planes(*state.master.steps(1, state.C * state.inner_tol))
        return state.master.S
