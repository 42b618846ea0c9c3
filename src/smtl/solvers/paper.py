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

from smtl.solvers.admm import balance, first_mu, is_due, residuals
from smtl.solvers.base import History, Solution, Start, solver
from smtl.solvers.certificate import Certificate
from smtl.solvers.problem import Problem

__all__ = ["frank_wolfe", "solve_paper"]

Float: TypeAlias = npt.NDArray[np.float64]


# Where the paper's Algorithm 2 stops: its gap, on its own scale, and its number of iterations.
EPS_F, T_F = 1e-5, 5000
# mu does not fall below this multiple of its first value, at first.
LEAST_MU = 0.1


@solver("paper")
def solve_paper(
    problem: Problem,
    *,
    tol: float,
    max_iter: int,
    start: Start,
    verbose: int = 0,
    inner_max_iter: int = 100,
    inner_tol: float = 0.1,
    literal: bool = False,
) -> Solution:
    """Solve a problem by the paper's Algorithms 1 to 4.

    Parameters
    ----------
    problem : Problem
        What to solve.
    tol : float
        The relative gap to reach.
    max_iter : int
        The most iterations of Algorithm 1.
    start : Start
        Where to start from.
    verbose : int, default=0
        Log every so many iterations.
    inner_max_iter : int, default=100
        The most iterations of Algorithm 2, each a pass over the data.
    inner_tol : float, default=0.1
        Algorithm 2 stops when each task's gap is this fraction of the task's share of the outer gap.
    literal : bool, default=False
        Whether Algorithm 2 runs as printed: from the vertex every time, to the fixed gap epsilon_F = 1e-5 or for
        T_F = 5000 iterations. That asks for far more than Algorithm 1 can use.

    Returns
    -------
    Solution
        Weights, bound and history.
    """
    C, (d, m) = problem.C, problem.shape
    S, Z, shift = start.S, start.Z, start.shift
    W = S
    mixed, mixed_delta = np.zeros((d, m), order="F"), np.zeros(m)
    certificate, history = Certificate(), History(verbose)
    passes = 1
    primal = dual = np.inf
    _, G, _ = problem.planes(S, shift)
    mu = start.mu or 0.5 * first_mu(C, G)
    least_mu = LEAST_MU * mu
    for n_iter in range(1, max_iter + 1):
        S_old, S = S, problem.prox(W + Z / mu, 1.0 / mu)
        _, _, value = problem.planes(S, shift)
        objective = problem.objective(S, value)
        certificate.see_weights(objective, S, shift)
        inner_gap = inner_tol * (certificate.objective - certificate.bound) / m
        if literal:
            mixed, mixed_delta = np.zeros((d, m), order="F"), np.zeros(m)
            inner_gap, inner_max_iter = EPS_F * mu, T_F
        W, mixed, mixed_delta, inner = frank_wolfe(
            problem, S - Z / mu, mu, mixed, mixed_delta, shift, tol=inner_gap, max_iter=inner_max_iter
        )
        passes += inner + 1
        certificate.see_planes(problem, mixed_delta, mixed)
        history.add(objective, certificate, primal, dual, passes)
        if certificate.gap <= tol:
            break
        Z = Z + mu * (W - S)
        primal, dual = residuals(W, S, S_old, Z, mu)
        # Frank-Wolfe needs passes in proportion to 1/mu: what a small mu gains outside, it loses there.
        if is_due(n_iter):
            mu *= balance(primal, dual)
        mu = max(mu, least_mu / (1.0 + n_iter / 100.0))
    end = Start(S, Z, shift, mu, losses=problem.losses)
    return Solution(certificate, history.as_dict(), n_iter, certificate.gap <= tol, end)


def frank_wolfe(
    problem: Problem,
    B: Float,
    mu: float,
    mixed: Float,
    mixed_delta: Float,
    shift: Float,
    *,
    tol: float,
    max_iter: int,
) -> tuple[Float, Float, Float, int]:
    r"""Minimise :math:`C\,G_i(w) + \frac{\mu}{2}|w - b_i|^2` for each task (Algorithm 2).

    Parameters
    ----------
    problem : Problem
        What the tasks belong to.
    B : ndarray of shape (n_features, n_tasks)
        The points b.
    mu : float
        The penalty parameter.
    mixed, mixed_delta : ndarray
        Slopes and offsets of the mixed planes to start from.
    shift : ndarray of shape (n_tasks,)
        First guesses of the intercepts.
    tol : float
        The gap at which a task is done.
    max_iter : int
        The most iterations.

    Returns
    -------
    W : ndarray of shape (n_features, n_tasks)
        The minimisers.
    mixed, mixed_delta : ndarray
        Slopes and offsets of the mixed planes.
    n_iter : int
        Number of iterations, each a pass over the data.
    """
    ratio = problem.C / mu
    shift = shift.copy()
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        W = B + ratio * mixed
        delta, G, _ = problem.planes(W, shift)
        ahead = (delta - mixed_delta) - np.einsum("ij,ij->j", W, G - mixed)
        if problem.C * np.max(ahead) <= tol:
            break
        length = ratio * np.einsum("ij,ij->j", G - mixed, G - mixed)
        gamma = np.clip(ahead / np.maximum(length, 1e-300), 0.0, 1.0)
        mixed = (1.0 - gamma) * mixed + gamma * G
        mixed_delta = (1.0 - gamma) * mixed_delta + gamma * delta
    return B + ratio * mixed, mixed, mixed_delta, n_iter
