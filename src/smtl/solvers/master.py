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

from smtl.penalties import Penalty
from smtl.solvers.admm import norm, relative_residuals
from smtl.solvers.planes import Bundle, Mixed

__all__ = ["Master"]

Float: TypeAlias = npt.NDArray[np.float64]


class Master:
    r"""A master problem, and where ADMM is with it.

    Parameters
    ----------
    penalty : Penalty
        The penalty.
    C : float
        The weight of the loss.
    bundle : Bundle
        The planes, which may become more and other ones between two steps.
    which : {0, 1}
        Which of the bundle's two mixtures is this problem's.
    S, Z : ndarray of shape (n_tasks, n_features)
        Weights and multipliers to start from; :math:`Z = \mu U`.
    mu : float
        The penalty parameter to start with.
    """

    def __init__(self, penalty: Penalty, C: float, bundle: Bundle, which: int, S: Float, Z: Float, mu: float) -> None:
        self.penalty, self.C = penalty, C
        self.bundle, self.which = bundle, which
        self.S, self.U, self.mu = S, Z / mu, mu
        self.n_iter = 0
        self.residuals = 0.0, 0.0  # the primal and the dual one of the last iteration

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
        if self.penalty.kernel is not None:
            return self._compiled_steps(n, tol, centre, rho, near)
        for _ in range(n):
            S_old, mixed = self.S, self._step(tol, centre, rho)
            if norm(self.S - S_old) <= near * norm(self.S - centre):
                break
        return mixed

    def _step(self, tol: float, centre: Float, rho: float) -> Mixed:
        from smtl.kernels.residuals import RELAXATION, balance, is_due

        S, mu = self.S, self.mu
        W, mixed = self.bundle.w_step(self.C, S - self.U, mu, tol, self.which)
        V = RELAXATION * W + (1.0 - RELAXATION) * S + self.U
        M = (mu * V + rho * centre) / (mu + rho)
        self.S = np.ascontiguousarray(self.penalty.prox(M, 1.0 / (mu + rho)), dtype=np.float64)
        self.U = V - self.S
        self.n_iter += 1
        self.residuals = relative_residuals(W, self.S, S, self.Z, mu)
        if is_due(self.n_iter):
            self.set_mu(mu * balance(*self.residuals))
        return mixed

    def _compiled_steps(self, n: int, tol: float, centre: Float, rho: float, near: float) -> Mixed:
        from smtl.kernels import bundle, formulas, master

        kernel = self.penalty.kernel
        assert kernel is not None
        shrink = formulas.address(kernel.shrink, formulas.SHRINK)
        goal = master.Goal(shrink, kernel.ridge, self.C, centre, rho, near, tol)
        admm = master.Admm(self.S.copy(), self.U.copy())
        answer = bundle.Answer(np.empty(self.S.shape), np.empty(self.S.shape), np.empty(len(self.S)))
        self.mu, self.n_iter, *residuals = master.steps(
            n, goal, admm, self.mu, self.n_iter, answer, self.bundle.planes, self.bundle.mixtures[self.which]
        )
        self.S, self.U, self.residuals = admm.S, admm.U, (residuals[0], residuals[1])
        return Mixed(answer.mixed_delta, answer.mixed)

    def promised(self) -> float:
        """Return what the objective would be at S if the planes were all of the losses: no less than any bound."""
        return self.penalty.value(self.S) + self.C * self.bundle.highest(self.S)

    def set_mu(self, mu: float) -> None:
        """Change mu and leave the multipliers as they are."""
        self.U = self.U * (self.mu / mu)
        self.mu = mu

    def start_again(self, S: Float) -> None:
        """Go on from other weights, with mu soon free to change."""
        self.S, self.n_iter = S, 0
