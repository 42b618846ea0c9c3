r"""ADMM on the planes alone, without a look at the data.

The planes bound the losses from below, and so does their *master problem* the training problem,

.. math:: \min_W \; \Omega(W) + C \sum_i \max_k (\delta_{ik} - w_i'g_{ik}) + \tfrac{\rho}{2} \|W - c\|^2,

with :math:`\rho = 0`. The W-step of a task is a quadratic program over its few planes,

.. math::

    \max_{\alpha \in \text{simplex}} \; C(\delta'\alpha - b'G\alpha) - \tfrac{C^2}{2\mu} |G\alpha|^2,
    \qquad w = b + \tfrac{C}{\mu} G\alpha, \qquad b = s - u.

One iteration is: W-step; over-relaxation and the multipliers, :math:`V = 1.4\, W - 0.4\, S + U`;
:math:`S = \mathrm{prox}(V)` of the penalty and the term in :math:`\rho`; :math:`U = V - S`.

For the penalties of this library many iterations are one call of compiled code, and an iteration costs about as much as
its quadratic programs. Any other penalty is asked for its prox each time.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.admm import RELAXATION, balance, is_due, norm, residuals
from smtl.solvers.compiled import compiled_penalty, with_values
from smtl.solvers.planes import Bundle, Mixed
from smtl.solvers.problem import Problem

__all__ = ["Master"]

Float: TypeAlias = npt.NDArray[np.float64]

# How much mu is raised by where the weights are nearly right, and the planes would lead far away from them.
CAUTION = 10.0


class Master:
    r"""A master problem, and where ADMM is with it.

    Parameters
    ----------
    problem : Problem
        Whose planes they are.
    bundle : Bundle
        The planes, which may become more and other ones between two steps.
    which : {0, 1}
        Which of the bundle's two sets of weights is this problem's.
    S, Z : ndarray of shape (n_features, n_tasks)
        Weights and multipliers to start from; :math:`Z = \mu U`.
    mu : float
        The penalty parameter to start with.
    """

    def __init__(self, problem: Problem, bundle: Bundle, which: int, S: Float, Z: Float, mu: float) -> None:
        self.problem = problem
        self.bundle = bundle
        self.which = which
        self.S, self.U, self.mu = S, Z / mu, mu
        self.n_iter = 0
        self.residuals = 0.0, 0.0  # the primal and the dual one of the last iteration
        self._compiled = compiled_penalty(problem.penalty)

    @property
    def Z(self) -> Float:
        """The multipliers."""
        return self.mu * self.U

    def steps(self, n: int, tol: float, centre: Float | None = None, rho: float = 0.0, near: float = 0.0) -> Mixed:
        """Do up to n iterations, with W-steps to ``tol``, and return the planes that the last one mixes.

        They end where one moves S by no more than ``near`` times its distance from the centre.
        """
        if centre is None:
            centre, near = self.S, 0.0
        if self._compiled is not None:
            return self._compiled_steps(n, tol, centre, rho, near, *self._compiled)
        for _ in range(n):
            S_old, mixed = self.S, self._step(tol, centre, rho)
            if norm(self.S - S_old) <= near * norm(self.S - centre):
                break
        return mixed

    def _step(self, tol: float, centre: Float, rho: float) -> Mixed:
        S, mu = self.S, self.mu
        W, mixed = self.bundle.w_step(self.problem, S - self.U, mu, tol, self.which)
        V = RELAXATION * W + (1.0 - RELAXATION) * S + self.U
        self.S = self.problem.prox((mu * V + rho * centre) / (mu + rho), 1.0 / (mu + rho))
        self.U = V - self.S
        self.n_iter += 1
        self.residuals = residuals(W, self.S, S, self.Z, mu)
        if is_due(self.n_iter):
            self.set_mu(mu * balance(*self.residuals))
        return mixed

    def _compiled_steps(
        self, n: int, tol: float, centre: Float, rho: float, near: float, kind: int, ridge: float
    ) -> Mixed:
        from smtl.kernels import master

        S, U, c = self.S.T.copy(), np.array(self.U.T, order="C"), np.ascontiguousarray(centre.T)
        mixed, mixed_delta = np.empty_like(S), np.empty(len(S))
        self.mu, self.n_iter, *residuals = master.steps(
            n, kind, with_values(kind), ridge, self.problem.C, rho, c, near, tol, self.mu, self.n_iter,
            S, U, mixed, mixed_delta, *self.bundle.planes(self.which),
        )  # fmt: skip
        self.S, self.U, self.residuals = S.T, U.T, (residuals[0], residuals[1])
        return Mixed(mixed_delta, mixed.T)

    def promised(self) -> float:
        """Return what the objective would be at S if the planes were all of the losses: no less than any bound."""
        if self._compiled is None:
            return self.problem.objective(self.S, self.bundle.highest(self.S))
        from smtl.kernels import master

        (kind, ridge), bundle = self._compiled, self.bundle
        S = np.ascontiguousarray(self.S.T)
        return float(
            master.promised(kind, with_values(kind), ridge, self.problem.C, S, bundle.G, bundle.delta, bundle.size)
        )

    def set_mu(self, mu: float) -> None:
        """Change mu and leave the multipliers as they are."""
        self.U = self.U * (self.mu / mu)
        self.mu = mu

    def start_again(self, S: Float) -> None:
        """Go on from other weights, with caution: mu is raised, and soon free to change."""
        self.S, self.n_iter = np.asfortranarray(S), 0
        self.set_mu(CAUTION * self.mu)
