r"""The paper's solver: ADMM (Algorithm 1) with Frank-Wolfe on the dual for the W-step (Algorithm 2).

It is the reference that the fast solver is compared with. The paper's errata are corrected:

- Algorithm 2 starts at a vertex, the true answer's plane: w = b, v = 0. Unless ``literal``, later calls go on from the
  mixture of planes where the last one stopped, a point of the same simplex, and stop when they are as exact as
  Algorithm 1 can use. Without that 1e-3 is out of reach in reasonable time.
- Its stopping rule is the gap :math:`C\,[\max_j(\Delta_j - w'g_j) - (\delta - w'g)]` of the mixed plane
  :math:`(\delta, g)`, nothing left out.
- Algorithms 3 and 4 are the metrics' oracles: the same maximum in :math:`O(n \log n)`, and AUC in a reading that is the
  maximum of something.
- Algorithm 1 stops on the certified gap, not on :math:`|S - W|_\infty`, and its mu balances the relative residuals.

All tasks take their Frank-Wolfe steps together, so that it has the same matrix products and the same oracles as the
fast solver.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.admm import first_mu, relative_residuals
from smtl.solvers.base import History, Solution, Solver, Start, Stopping
from smtl.solvers.certificate import Certificate
from smtl.solvers.planes import Mixed
from smtl.solvers.seam import Trainable

__all__ = ["PaperSolver", "frank_wolfe"]

Float: TypeAlias = npt.NDArray[np.float64]

EPS_F = 1e-5  # the gap at which the paper's Algorithm 2 stops, on its own scale
T_F = 5000  # the number of iterations at which it does
LEAST_MU = 0.1  # the least mu at first, as a part of its first value


class PaperSolver(Solver):
    """The paper's Algorithms 1 to 4.

    Parameters
    ----------
    inner_max_iter : int, default=100
        The most iterations of Algorithm 2, each a pass over the data.
    inner_tol : float, default=0.1
        Algorithm 2 stops when each task's gap is this fraction of the task's share of the outer gap.
    literal : bool, default=False
        Whether Algorithm 2 runs as printed: from the vertex every time, to the fixed gap epsilon_F = 1e-5 or for
        T_F = 5000 iterations. That asks for far more than Algorithm 1 can use.
    """

    name = "paper"

    def __init__(self, inner_max_iter: int = 100, inner_tol: float = 0.1, literal: bool = False) -> None:
        self.inner_max_iter = inner_max_iter
        self.inner_tol = inner_tol
        self.literal = literal

    def run(self, problem: Trainable, C: float, start: Start, stopping: Stopping) -> Solution:  # noqa: D102
        from smtl.kernels.residuals import balance, is_due

        S, Z, shift, W = start.S, start.Z, start.shift, start.S
        mixed = Mixed(np.zeros(problem.shape[0]), np.zeros(problem.shape))
        certificate, history = Certificate(), History(stopping.verbose)
        passes, primal, dual = 1, np.inf, np.inf
        mu = start.mu or 0.5 * first_mu(C, problem.one_pass(S, shift).slope)
        least_mu = LEAST_MU * mu
        for n_iter in range(1, stopping.max_iter + 1):
            S_old, S = S, problem.penalty.prox(W + Z / mu, 1.0 / mu)
            objective = problem.penalty.value(S) + C * float(problem.one_pass(S, shift).loss.sum())
            certificate.see_weights(objective, S, shift)
            W, mixed, inner = self._w_step(problem, C, S - Z / mu, mu, mixed, shift, certificate)
            passes += inner + 1
            certificate.see_planes(problem.penalty, C, *mixed)
            history.add(objective, certificate, primal, dual, passes)
            if certificate.gap <= stopping.tol:
                break
            Z = Z + mu * (W - S)
            primal, dual = relative_residuals(W, S, S_old, Z, mu)
            # Frank-Wolfe needs passes in proportion to 1/mu: what a small mu gains outside, it loses there.
            if is_due(n_iter):
                mu *= balance(primal, dual)
            mu = max(mu, least_mu / (1.0 + n_iter / 100.0))
        end = Start(S, Z, shift, mu, losses=problem.losses)
        return Solution(certificate, history.as_dict(), n_iter, certificate.gap <= stopping.tol, end)

    def _w_step(
        self, problem: Trainable, C: float, B: Float, mu: float, mixed: Mixed, shift: Float, certificate: Certificate
    ) -> tuple[Float, Mixed, int]:
        """Return Algorithm 2's answer, as printed or mended."""
        if self.literal:
            vertex = Mixed(np.zeros_like(mixed.delta), np.zeros_like(mixed.G))
            return frank_wolfe(problem, C, B, mu, vertex, shift, EPS_F * mu, T_F)
        gap = self.inner_tol * (certificate.objective - certificate.bound) / problem.shape[0]
        return frank_wolfe(problem, C, B, mu, mixed, shift, gap, self.inner_max_iter)


def frank_wolfe(
    problem: Trainable, C: float, B: Float, mu: float, mixed: Mixed, shift: Float, tol: float, max_iter: int
) -> tuple[Float, Mixed, int]:
    r"""Minimise :math:`C\,G_i(w) + \frac{\mu}{2}|w - b_i|^2` for each task (Algorithm 2).

    Parameters
    ----------
    problem : Trainable
        What the tasks belong to.
    C : float
        The weight of the loss.
    B : ndarray of shape (n_tasks, n_features)
        The points b.
    mu : float
        The penalty parameter.
    mixed : Mixed
        The mixed planes to start from.
    shift : ndarray of shape (n_tasks,)
        First guesses of the intercepts.
    tol : float
        The gap at which a task is done.
    max_iter : int
        The most iterations.

    Returns
    -------
    W : ndarray of shape (n_tasks, n_features)
        The minimisers.
    mixed : Mixed
        The mixed planes.
    n_iter : int
        Number of iterations, each a pass over the data.
    """
    ratio = C / mu
    shift = shift.copy()
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        W = B + ratio * mixed.G
        _, delta, G, _ = problem.one_pass(W, shift)
        ahead = (delta - mixed.delta) - np.einsum("ij,ij->i", W, G - mixed.G)
        if C * np.max(ahead) <= tol:
            break
        length = ratio * np.einsum("ij,ij->i", G - mixed.G, G - mixed.G)
        gamma = np.clip(ahead / np.maximum(length, 1e-300), 0.0, 1.0)
        mixed = Mixed(mixed.delta + gamma * (delta - mixed.delta), mixed.G + gamma[:, np.newaxis] * (G - mixed.G))
    return B + ratio * mixed.G, mixed, n_iter
