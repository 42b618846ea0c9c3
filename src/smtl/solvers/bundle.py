r"""The fast solver: ADMM whose W-step works on a bundle of planes that is kept across iterations.

A plane :math:`\Delta_j - w'g_j` of a task's loss does not depend on where ADMM is: found once, it bounds the loss from
below ever after. So the W-step of a task is a quadratic program over the few planes kept,

.. math::

    \max_{\alpha \in \text{simplex}} \; C(\delta'\alpha - b'G\alpha) - \tfrac{C^2}{2\mu} |G\alpha|^2,
    \qquad w = b + \tfrac{C}{\mu} G\alpha, \qquad b = s - z/\mu,

and one pass over the data per iteration gives the objective and a new plane for each task. One iteration is:
W-step; over-relaxation :math:`\hat W = 1.4\, W - 0.4\, S`; :math:`S = \mathrm{prox}_{\Omega/\mu}(\hat W + Z/\mu)`;
:math:`Z \mathrel{+}= \mu(\hat W - S)`. The W-step's mixed planes are what the certificate needs.

The pass is at S, but for every third one: S swings around the optimum, and the mean of where it has been is several
times nearer to it. On hard problems this saves a third of the passes.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.admm import RELAXATION, balance, first_mu, residuals
from smtl.solvers.base import History, Solution, Start, solver
from smtl.solvers.certificate import Certificate
from smtl.solvers.problem import Problem

__all__ = ["Bundle", "solve_bundle"]

Float: TypeAlias = npt.NDArray[np.float64]

# A plane is dropped when it has been without weight for so many passes.
KEEP = 20
# The W-step and the intercept are solved to this fraction of the gap: to more of it while the gap is large, where
# precision would be wasted, than near the end, where the lack of it would stall the outer iterations.
INNER_TOL_FIRST, INNER_TOL_LAST = 3e-2, 1e-3
# After so many passes, every third is at the mean of S. The mean forgets at this rate, at first faster (3 / n).
MEAN_FROM, MEAN_EVERY, MEAN_RATE = 15, 3, 0.015


class Bundle:
    """The planes of all tasks, in arrays that grow; see `smtl.kernels.bundle` for what they hold.

    Parameters
    ----------
    n_features, n_tasks : int
        The shape of W.
    """

    def __init__(self, n_features: int, n_tasks: int) -> None:
        self._shape = n_features, n_tasks
        self.arrays: list[npt.NDArray[Any]] = []
        self._grow(8)
        for array in self.arrays:
            array[:, 0] = 0.0
        self.alpha[:, 0] = 1.0
        self.size = np.ones(n_tasks, dtype=np.int64)
        self.W = np.zeros((n_tasks, n_features))
        self.mixed = np.zeros((n_tasks, n_features))
        self.mixed_delta = np.zeros(n_tasks)

    def _grow(self, room: int) -> None:
        """Make room for so many planes a task. What lies behind a task's last plane is never read."""
        d, m = self._shape
        old = self.arrays
        self.arrays = [
            np.empty((m, room, d)),
            np.empty((m, room)),
            np.empty((m, room, room)),
            np.empty((m, room)),
            np.empty((m, room), dtype=np.int64),
        ]
        for new, previous in zip(self.arrays, old, strict=False):
            new[tuple(slice(0, length) for length in previous.shape)] = previous
        self.G, self.delta, self.gram, self.alpha, self.age = self.arrays

    def add(self, G: Float, delta: Float) -> None:
        """Drop what is no longer useful and add one plane to each task."""
        from smtl.kernels import bundle

        bundle.forget(KEEP, *self.arrays, self.size)
        room = self.delta.shape[1]
        if self.size.max() == room:
            self._grow(2 * room)
        bundle.add(G.T, delta, *self.arrays, self.size)

    def keep_active(self) -> None:
        """Drop the planes without weight: those that another C has no use for would only slow the W-step down."""
        from smtl.kernels import bundle

        self.age[:] = 0
        bundle.forget(0, *self.arrays, self.size)

    def w_step(self, problem: Problem, B: Float, mu: float, tol: float) -> Float:
        """Return the W-step at ``B``; the mixed planes are in ``mixed`` and ``mixed_delta``."""
        from smtl.kernels import bundle

        b = np.ascontiguousarray(B.T)

        def work(first: int, last: int) -> None:
            part = slice(first, last)
            bundle.w_step(
                b[part], problem.C, mu, tol, 20 * self.delta.shape[1], self.G[part], self.delta[part], self.gram[part],
                self.alpha[part], self.size[part], self.W[part], self.mixed[part], self.mixed_delta[part],
            )  # fmt: skip

        problem.for_each_group(work)
        return self.W.T


@solver("bundle")
def solve_bundle(
    problem: Problem, *, tol: float, max_iter: int, start: Start | None = None, verbose: int = 0
) -> Solution:
    """Solve a problem by ADMM on a bundle of planes.

    Parameters
    ----------
    problem : Problem
        What to solve.
    tol : float
        The relative gap to reach.
    max_iter : int
        The most passes over the data.
    start : Start, optional
        Where to start from.
    verbose : int, default=0
        Log every so many passes.

    Returns
    -------
    Solution
        Weights, bound and history.
    """
    C, (d, m) = problem.C, problem.shape
    if start is None:
        start = Start(np.zeros((d, m), order="F"), np.zeros((d, m), order="F"), np.zeros(m))
    S, Z, shift, mu = start.S, start.Z, start.shift.copy(), start.mu
    bundle, certificate, history = start.bundle or Bundle(d, m), Certificate(), History(verbose)
    bundle.keep_active()
    if start.certificate is not None:
        certificate.see_planes(problem, start.certificate.delta, start.certificate.G)
    primal = dual = np.inf
    inner_tol = INNER_TOL_FIRST  # on the scale of a task's loss
    mean = S
    for n_iter in range(1, max_iter + 1):
        at_mean = n_iter > MEAN_FROM and n_iter % MEAN_EVERY == 0
        here = problem.like(mean, S) if at_mean else S
        delta, G, value = problem.planes(here, shift, eps=inner_tol)
        objective = problem.objective(here, value)
        certificate.see_weights(objective, here, shift)
        mu = mu or first_mu(C, G)
        bundle.add(G, delta)
        inner_tol = _inner_tol(certificate) * (certificate.objective - certificate.bound) / (C * m)
        W = bundle.w_step(problem, S - Z / mu, mu, tol=C * inner_tol)
        certificate.see_planes(problem, bundle.mixed_delta, bundle.mixed.T)
        history.add(objective, certificate, primal, dual, n_iter)
        if certificate.gap <= tol:
            break
        relaxed = RELAXATION * W + (1.0 - RELAXATION) * S
        S_old, S = S, problem.prox(relaxed + Z / mu, 1.0 / mu)
        Z = Z + mu * (relaxed - S)
        mean = mean + max(MEAN_RATE, 3.0 / (n_iter + 3)) * (S - mean)
        primal, dual = residuals(W, S, S_old, Z, mu)
        mu *= balance(n_iter, primal, dual)
    end = Start(S, Z, shift, mu, bundle, certificate)
    return Solution(certificate, history.as_dict(), n_iter, certificate.gap <= tol, end)


def _inner_tol(certificate: Certificate) -> float:
    """Return the fraction of the gap to solve the inner problems to."""
    return float(np.clip(INNER_TOL_FIRST * certificate.gap / 1e-2, INNER_TOL_LAST, INNER_TOL_FIRST))
