r"""Proximal Newton: where a quadratic model of the losses has its minimum with the penalty.

At weights V, with the gradient g and the second derivatives H of C times the losses, the next pass is at the minimum of

.. math:: \Omega(W) + \sum_i g_i'(w_i - v_i) + \tfrac12 (w_i - v_i)'H_i(w_i - v_i),

which is found by ADMM: a product with :math:`(H_i + \mu I)^{-1}` for each task, and the penalty's prox. Its weights
and multipliers go on from model to model. A minimum that turns out no better is gone back from by half, then the
model is solved more exactly.

References
----------
J. D. Lee, Y. Sun, M. A. Saunders, Proximal Newton-type methods for minimizing composite functions, SIAM Journal on
Optimization 24, 2014.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf, dpotri

from smtl.penalties import Penalty
from smtl.solvers.admm import norm
from smtl.solvers.base import Start
from smtl.solvers.curvature import Curvature
from smtl.solvers.place import Place

__all__ = ["Newton"]

Float: TypeAlias = npt.NDArray[np.float64]
Single: TypeAlias = npt.NDArray[np.float32]
Indices: TypeAlias = npt.NDArray[np.intp]

# Measured by: python benchmarks/speed.py log
REUSE = 0.1  # the part by which a task's second derivatives may have changed before its matrix is computed anew
REUSE_SLOW = 0.01  # that part where the last model has not halved the length of the steps from place to place
RELAXATION = 1.6  # of ADMM's steps
EXACT = 0.03  # a model is solved when a step moves the weights by this part of the way from the last place,
EXACT_DUAL = 0.3  # and when it leaves of the gradient, relative to the multipliers, this part of the relative gap
MORE_EXACT = 0.1  # the factor of both after a model that has led nowhere
MOST_STEPS = 200  # steps on one model
BALANCE_EVERY, BALANCE = 10, 3.0  # steps between looks at mu; it changes where it is wrong by this factor
MOST_CHANGE = 10.0  # the most that mu changes by
HALVINGS = 6  # of the way to a minimum that was no better, before the model is solved anew
LEAST = 1e-30  # second derivatives below it, and above its inverse, are beyond single precision
SLOW = 20  # places within which the gap has to be halved; otherwise there is nothing more to propose
MOST_FAILURES = 14  # places in a row that were no better, after which there is nothing more to propose


class Newton:
    """Proposes minima of quadratic models.

    Parameters
    ----------
    penalty : Penalty
        The penalty.
    C : float
        The weight of the loss.
    curvature : Curvature
        The losses' second derivatives.
    start : Start
        Where to start from.
    """

    def __init__(self, penalty: Penalty, C: float, curvature: Curvature, start: Start) -> None:
        self.penalty, self.C, self.curvature = penalty, C, curvature
        self.S, self.Z, self.mu = start.S, start.Z, start.mu
        self.best: Place | None = None
        self.target = start.S, start.shift
        self.failures = 0
        self._n_places, self._due, self._goal = 0, SLOW, 0.5
        self._far, self._last = np.inf, start.S
        self._inverse = np.zeros((0, 0, 0))

    def propose(self, place: Place) -> tuple[Float, Float] | None:
        """Return where to pass next, after a pass at ``place``, with a first guess of the intercepts; or None."""
        self._n_places += 1
        if place.gap <= self._goal:
            self._due, self._goal = self._n_places + SLOW, 0.5 * place.gap
        if self._n_places > self._due:
            return None
        if self.best is None or place.objective < self.best.objective:
            self.best, self.failures, exact = place, 0, 1.0
        else:
            self.failures += 1
            if self.failures > MOST_FAILURES:
                return None
            round_, turn = divmod(self.failures, HALVINGS + 1)
            if turn:
                W, intercept = self.target
                self.target = 0.5 * (W + self.best.W), 0.5 * (intercept + self.best.intercept)
                return self.target
            exact = MORE_EXACT**round_
        best = self.best
        far = norm(best.W - self._last)
        reuse = REUSE if far <= 0.5 * self._far else REUSE_SLOW
        self._far, self._last = far, best.W
        with np.errstate(over="ignore", invalid="ignore"):  # numbers beyond single precision: there is no model
            changed = self.curvature.move(best.W, best.intercept, reuse)
            if not LEAST < np.abs(self.curvature.H).max() < 1.0 / LEAST or not self._solve_model(best, changed, exact):
                return None
        if not np.isfinite(self.S).all():
            return None
        intercept = best.intercept - np.einsum("ij,ij->i", self.curvature.mean, self.S - best.W)
        self.target = self.S, intercept
        return self.target

    def _solve_model(self, best: Place, changed: Indices, exact: float) -> bool:
        """Move S to the minimum of the model; return whether that was possible."""
        if self.mu is None:
            self.mu = self.C * float(np.einsum("ijj->", self.curvature.H)) / best.W.size or 1.0
        possible = self._factor(changed if len(self._inverse) else np.arange(len(best.W)))
        for n_steps in range(1, MOST_STEPS + 1):
            if not possible:
                return False
            S, mu = self.S, self.mu
            W = best.W + _times(self._inverse, mu * (S - best.W) - self.Z - best.gradient)
            V = RELAXATION * W + (1.0 - RELAXATION) * S + self.Z / mu
            self.S = np.ascontiguousarray(self.penalty.prox(V, 1.0 / mu), dtype=np.float64)
            self.Z = mu * (V - self.S)
            primal, dual = norm(W - self.S), norm(self.S - S)
            if max(primal, dual) <= EXACT * exact * norm(self.S - best.W):
                left = self.C * _times(self.curvature.H, W - self.S) + mu * (self.S - S)
                if norm(left) <= EXACT_DUAL * exact * best.gap * norm(self.Z):
                    break
            if n_steps % BALANCE_EVERY == 0:
                possible = self._balance(primal, mu * dual)
        return True

    def _balance(self, primal: float, dual: float) -> bool:
        """Change mu where one relative residual is far larger than the other; return whether it can be that."""
        ratio = primal / max(norm(self.S), 1e-300) * norm(self.Z) / max(dual, 1e-300)
        factor = float(np.sqrt(ratio))
        if self.mu is None or 1.0 / BALANCE <= factor <= BALANCE:
            return True
        self.mu *= float(np.clip(factor, 1.0 / MOST_CHANGE, MOST_CHANGE))
        return self._factor(np.arange(len(self.S)))

    def _factor(self, tasks: Indices) -> bool:
        """Invert the matrices of some tasks, with mu on their diagonal; return whether they are all positive."""
        H = self.curvature.H
        if not len(self._inverse):
            self._inverse = np.empty(H.shape)  # single precision is too little: mu may be 1e-7 of H
        for i in tasks:
            A = self.C * H[i].astype(np.float64)
            A.flat[:: len(A) + 1] += self.mu
            factor, singular = dpotrf(A.T, lower=0, clean=1, overwrite_a=1)
            if singular:
                return False
            half, _ = dpotri(factor, lower=0, overwrite_c=1)
            inverse = self._inverse[i]
            np.add(half, half.T, out=inverse)
            inverse.flat[:: len(A) + 1] *= 0.5
        return True


def _times(matrices: Float | Single, vectors: Float) -> Float:
    """Return the product of a matrix and a vector for each task, in the precision of the matrices."""
    products: Float = np.matmul(matrices, vectors.astype(matrices.dtype)[:, :, np.newaxis])[:, :, 0]
    return products
