r"""Where to pass next if the losses are as good as smooth: at the minimum of a quadratic model of them.

.. math:: \min_W \; \Omega(W) + C \sum_i \left[ \tfrac12 (w - w_i)'H_i(w - w_i) - g_i'(w - w_i) \right]

around the weights :math:`w_i` of the last pass. The curvature :math:`H_i` is that of a sample of rows. That is good
enough near the optimum, where a path's next C starts, and only there; with another factor, in all tasks alike, it is
also good enough for the C after that. Nothing rests on it but how many passes there are: objective and bound come from
passes, as ever.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.admm import norm
from smtl.solvers.certificate import Certificate
from smtl.solvers.compiled import compiled_penalty, with_values
from smtl.solvers.problem import Problem

__all__ = ["Newton"]

Float: TypeAlias = npt.NDArray[np.float64]

# How many differences of rows tell a task's curvature: the more where they cost less than the passes that a C takes.
SAMPLE, LARGE_SAMPLE = 1024, 2048
# What is added to the diagonal, as a part of its mean: the sample may lack directions.
DAMPING = 0.03
# With C the curvature changes by about this power of it, until that has been measured, and in all tasks alike.
POWER, POWERS = -0.7, (-2.0, 1.0)
# The curvature of one C serves at most so many more. Only where one step was enough at each of them: elsewhere the
# next C has its own.
LAST_FOR = 3
# At most so many iterations on the model; they end when one moves by less than this part of the distance so far.
STEPS, NEAR = 60, 0.01
# A step is cut to this part of the weights, beyond which the curvature is another; so long a one is not taken at all.
LONGEST, TOO_LONG = 0.4, 3.0
# A step must leave no more than this part of the gap, else the curvature is measured again, and then there are no more.
LEAVES = 0.5
# Where even the start is farther than this from the last weights, a model is of no use, unless the gap to reach is so
# many digits finer than where the level method soon is.
FAR, FINE = 0.2, 0.5
# The level method then holds on to its centre by this part of the curvature, and by this one where there are no more
# steps for the rest of the path.
RHO, RHO_LAST = 0.1, 0.2
# Steps are for gaps of this size and below. They save about so many passes a C, and so many more for each digit.
SOON, PASSES, PASSES_A_DIGIT = 1e-2, 3.0, 9.0
# Where so many values of C in a row take more passes all the same, so many and so many for each digit, the others will,
# too: the loss is no longer smooth where the weights have come to.
MOST_PASSES, MOST_PASSES_A_DIGIT, IN_A_ROW = 6.0, 8.0, 2
# A multiplication of a matrix product in single precision costs this part of one of `Problem.work`.
PRODUCT, INVERSE, ROW = 0.05, 0.5, 2.0
# The curvature of all tasks may take so much memory.
MOST_BYTES = 256 * 2**20


class Newton:
    """The quadratic model, along a path.

    Parameters
    ----------
    problem : Problem
        Whose metric offers its curvature.

    Attributes
    ----------
    problem : Problem
        The same, or another one on the same data with another C.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._inverse: npt.NDArray[np.float32] | None = None
        self._nu = 0.0
        self._C = 0.0  # of which the model is
        self._measured = 0.0, 0.0  # C and nu, where the curvature was last measured
        self._power = POWER
        self._age, self._life = 0, 1  # of the curvature, in values of C
        self._n_steps, self._gap = 0, math.inf
        self._over = self._given_up = False
        self._sample = LARGE_SAMPLE if _work(problem, LARGE_SAMPLE) <= PASSES * problem.work() else SAMPLE
        self._in_a_row = 0  # values of C that have taken many passes

    def begin(self, moved: float, tol: float) -> None:
        """Begin with the next C.

        Parameters
        ----------
        moved : float
            How far the start is from the last C's weights, as a part of it.
        tol : float
            The relative gap to reach.
        """
        C = self.problem.C
        if self._inverse is not None:
            self._life = min(self._life + 1, 1 + LAST_FOR) if self._n_steps <= 1 and not self._over else 1
            change = (C / self._C) ** self._power
            self._nu *= change
            self._inverse /= np.float32(change)
        self._C = C
        self._age += 1
        self._n_steps, self._gap = 0, math.inf
        self._over = self._given_up or (moved > FAR and _digits(tol) < FINE)

    @staticmethod
    def pays(problem: Problem, tol: float, around_a_pass: float) -> bool:
        """Return whether it likely saves more than the curvature costs.

        Parameters
        ----------
        problem : Problem
            The problem.
        tol : float
            The relative gap to reach.
        around_a_pass : float
            What a pass costs beside its multiplications.

        Returns
        -------
        bool
            Never for a metric without curvature, a penalty that compiled code does not know, or too large a curvature.
        """
        if not problem.metric.has_curvature or compiled_penalty(problem.penalty) is None:
            return False
        d, m = problem.shape
        if 4 * m * d * d > MOST_BYTES:
            return False
        passes = PASSES + PASSES_A_DIGIT * _digits(tol)
        return tol <= SOON and _work(problem, SAMPLE) <= passes * (problem.work() + around_a_pass)

    def rho(self, otherwise: float | None) -> float | None:
        """Return how much the level method should hold on to its centre where it goes on from here.

        Parameters
        ----------
        otherwise : float, optional
            What to return where there were no steps.

        Returns
        -------
        float or None
            Its rho.
        """
        return RHO * self.problem.C * self._nu if self._n_steps > 0 else otherwise

    def end(self, n_iter: int, tol: float, rho: float | None) -> float | None:
        """End with a C: there are no more steps on this path where too often they were followed by many passes.

        Parameters
        ----------
        n_iter : int
            How many passes it has taken.
        tol : float
            The relative gap that was reached.
        rho : float, optional
            That of the level method.

        Returns
        -------
        float or None
            The rho for the next C.
        """
        many = self._n_steps > 0 and n_iter > MOST_PASSES + MOST_PASSES_A_DIGIT * _digits(tol)
        self._in_a_row = self._in_a_row + 1 if many else 0
        if self._in_a_row < IN_A_ROW:
            return rho
        self._given_up = True
        return RHO_LAST * self.problem.C * self._nu or rho

    def look(self, W: Float, G: Float, Z: Float, certificate: Certificate) -> Float | None:
        """Return the next point.

        Parameters
        ----------
        W : ndarray of shape (n_features, n_tasks)
            Where the last pass was.
        G : ndarray of shape (n_features, n_tasks)
            The slopes of its planes.
        Z : ndarray of shape (n_features, n_tasks)
            Multipliers to start from.
        certificate : Certificate
            The best so far.

        Returns
        -------
        ndarray of shape (n_features, n_tasks), or None
            None where there is no model, or it is not to be trusted: its minimum is far away, or the last one has
            brought too little, with a curvature of this C. Then it is None until the next C.
        """
        gap = certificate.objective - certificate.bound
        brings_little = not gap <= LEAVES * self._gap
        if self._over or (brings_little and self._age == 0):
            self._over = True
            return None
        if brings_little or self._inverse is None or (self._n_steps == 0 and self._age >= self._life):
            self._measure(W)
        self._gap = gap
        point = None if self._inverse is None else self._minimum(W, G, Z)
        self._over = point is None
        self._n_steps += point is not None
        return point

    def _measure(self, W: Float) -> None:
        """Measure the curvature at W, and how it changes with C."""
        self._inverse, self._age = self._invert(W), 0
        C, nu = self._measured
        if nu > 0.0 and self._nu > 0.0 and self._C > C:
            self._power = float(np.clip(math.log(self._nu / nu) / math.log(self._C / C), *POWERS))
        self._measured = self._C, self._nu

    def _minimum(self, W: Float, G: Float, Z: Float) -> Float | None:
        """Return the minimum of the model around W, or what is on the way to it; None if it is far away."""
        from smtl.kernels import newton

        compiled = compiled_penalty(self.problem.penalty)
        assert compiled is not None
        (kind, ridge), C = compiled, self.problem.C
        S = W.T.copy(order="C")
        newton.minimum(
            STEPS, NEAR, kind, with_values(kind), ridge, C, S.copy(), np.ascontiguousarray(G.T),
            self._inverse, self._nu, S, np.array(Z.T / (C * self._nu), order="C"),
        )  # fmt: skip
        length = norm(S - W.T) / max(norm(S), 1e-300)
        if not length <= TOO_LONG:  # NaN, too
            return None
        return (W.T + min(LONGEST / max(length, 1e-300), 1.0) * (S - W.T)).T

    def _invert(self, W: Float) -> npt.NDArray[np.float32] | None:
        """Return the inverses of the curvature at W plus nu, which is its mean; None if a task has none."""
        from scipy.linalg import lapack

        from smtl.kernels import newton

        H = self.problem.curvature(W, self._sample)
        diagonals = np.einsum("iff->if", H)
        means = diagonals.mean(axis=1, dtype=np.float64)
        self._nu = float(means.mean())
        if not (means.min() > 0.0 and np.isfinite(self._nu)):
            self._nu = 0.0
            return None
        diagonals += (self._nu + DAMPING * means)[:, None].astype(H.dtype)

        def work(first: int, last: int) -> bool:
            for A in H[first:last]:
                # LAPACK sees the transpose: its upper triangle is what is below the diagonal here.
                _, failed = lapack.spotrf(A.T, clean=0, overwrite_a=1)
                if not failed:
                    _, failed = lapack.spotri(A.T, overwrite_c=1)
                if failed:
                    return False
                newton.mirror(A)
            return True

        return H if all(self.problem.for_each_group(work)) else None


def _work(problem: Problem, n: int) -> float:
    """Return what a curvature from so many differences costs, in multiplications of `Problem.work`."""
    d, m = problem.shape
    return m * d * (n * (PRODUCT * d + ROW) + INVERSE * d * d)


def _digits(tol: float) -> float:
    """Return by how many digits the gap has to fall below where the level method soon is."""
    return math.log10(max(SOON / tol, 1.0)) if tol > 0.0 else math.inf
