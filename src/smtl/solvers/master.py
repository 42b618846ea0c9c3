r"""ADMM on the planes alone, without a look at the data.

The planes bound the losses from below, and so does their *master problem* the training problem,

.. math:: \min_W \; \Omega(W) + C \sum_i \max_k (\delta_{ik} - w_i'g_{ik}) + \tfrac{\rho}{2} \|W - c\|^2,

with :math:`\rho = 0`. The W-step of a task is a quadratic program over its few planes,

.. math::

    \max_{\alpha \in \text{simplex}} \; C(\delta'\alpha - b'G\alpha) - \tfrac{C^2}{2\mu} |G\alpha|^2,
    \qquad w = b + \tfrac{C}{\mu} G\alpha, \qquad b = s - u.

One iteration is: W-step; over-relaxation and the multipliers, :math:`V = 1.4\, W - 0.4\, S + U`;
:math:`S = \mathrm{prox}(V)` of the penalty and the term in :math:`\rho`; :math:`U = V - S`.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.admm import RELAXATION, balance, is_due, residuals
from smtl.solvers.planes import Bundle, Mixed
from smtl.solvers.problem import Problem

__all__ = ["Master"]

Float: TypeAlias = npt.NDArray[np.float64]


class Master:
    r"""A master problem, and where ADMM is with it.

    Parameters
    ----------
    bundle : Bundle
        The planes, which may become more and other ones between two steps.
    which : {0, 1}
        Which of the bundle's two sets of weights is this problem's.
    S, Z : ndarray of shape (n_features, n_tasks)
        Weights and multipliers to start from; :math:`Z = \mu U`.
    mu : float
        The penalty parameter to start with.
    """

    def __init__(self, bundle: Bundle, which: int, S: Float, Z: Float, mu: float) -> None:
        self.bundle = bundle
        self.which = which
        self.S, self.U, self.mu = S, Z / mu, mu
        self.n_iter = 0

    @property
    def Z(self) -> Float:
        """The multipliers."""
        return self.mu * self.U

    def step(self, problem: Problem, tol: float, centre: Float | None = None, rho: float = 0.0) -> Mixed:
        """Do one iteration, with its W-step to ``tol``, and return the planes that this mixes."""
        mu = self.mu
        self.W, mixed = self.bundle.w_step(problem, self.S - self.U, mu, tol, self.which)
        V = RELAXATION * self.W + (1.0 - RELAXATION) * self.S + self.U
        self.S_old = self.S
        if centre is None:
            self.S = problem.prox(V, 1.0 / mu)
        else:
            self.S = problem.prox((mu * V + rho * centre) / (mu + rho), 1.0 / (mu + rho))
        self.U = V - self.S
        self.n_iter += 1
        if is_due(self.n_iter):
            self.set_mu(mu * balance(*self.residuals()))
        return mixed

    def set_mu(self, mu: float) -> None:
        """Change mu and leave the multipliers as they are."""
        self.U = self.U * (self.mu / mu)
        self.mu = mu

    def residuals(self) -> tuple[float, float]:
        """Return the primal and the dual residual of the last iteration."""
        return residuals(self.W, self.S, self.S_old, self.Z, self.mu)
