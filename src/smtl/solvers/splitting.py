r"""The minimum of a quadratic model of the losses plus the penalty, by ADMM with Anderson acceleration.

It minimises :math:`\Omega(W) + \sum_i g_i'(w_i - v_i) + \tfrac12 (w_i - v_i)'B_i(w_i - v_i)`. A step takes the
penalty's prox and a product with :math:`(B_i + \mu I)^{-1}` for each task; it is a map of one variable
:math:`V = S + Z/\mu` whose fixed point is sought, by combining the last few steps.

References
----------
A. Fu, J. Zhang, S. Boyd, Anderson accelerated Douglas-Rachford splitting, SIAM Journal on Scientific Computing 42,
2020.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.penalties import Penalty
from smtl.solvers.admm import norm
from smtl.solvers.place import Place
from smtl.solvers.secant import Secant
from smtl.solvers.settings import SETTINGS

__all__ = ["Anderson", "Splitting"]

Float: TypeAlias = npt.NDArray[np.float64]


class Anderson:
    """Combines the last steps of a fixed-point map to the one with the least residual.

    Parameters
    ----------
    memory : int
        How many differences to combine.
    relaxation : float
        Of a step without combination.

    Examples
    --------
    >>> anderson, x = Anderson(memory=1, relaxation=1.0), np.zeros(1)
    >>> for _ in range(3):
    ...     x = anderson.next_point(x, 2.0 - 0.5 * x)  # the residual of a linear map, zero at 4
    >>> float(x[0].round(6))
    4.0
    """

    def __init__(self, memory: int, relaxation: float) -> None:
        self.memory, self.relaxation = memory, relaxation
        self.forget()

    def forget(self) -> None:
        """Begin anew, for another map."""
        self._points: list[Float] = []
        self._residuals: list[Float] = []
        self._least = np.inf

    def next_point(self, point: Float, residual: Float) -> Float:
        """Return where to go from a point.

        Parameters
        ----------
        point : ndarray
            The point.
        residual : ndarray of the same shape
            What the map moves it by.

        Returns
        -------
        ndarray of the same shape
            The next point.
        """
        size = norm(residual)
        if size > 2.0 * self._least:
            self.forget()  # combining has led away
        self._least = min(size, self._least)
        self._points.append(point.ravel())
        self._residuals.append(residual.ravel())
        del self._points[: -self.memory - 1], self._residuals[: -self.memory - 1]
        if len(self._points) == 1:
            return point + self.relaxation * residual
        changes = np.diff(self._residuals, axis=0)
        A = changes @ changes.T
        A.flat[:: len(A) + 1] *= 1.0 + 1e-8
        A.flat[:: len(A) + 1] += 1e-300
        weights = np.linalg.solve(A, changes @ self._residuals[-1])
        ends = self._points[-1] + self._residuals[-1] - weights @ (changes + np.diff(self._points, axis=0))
        combined: Float = ends.reshape(point.shape)
        return combined


class _Outside:
    """A model as it is outside of its frame."""

    def __init__(self, model: Secant) -> None:
        self.model, self.frame = model, model.matrices
        self.set_mu = model.set_mu

    def times(self, vectors: Float) -> Float:
        return self.frame.out_of_frame(self.model.times(self.frame.into_frame(vectors)))

    def inverse_times(self, vectors: Float) -> Float:
        return self.frame.out_of_frame(self.model.inverse_times(self.frame.into_frame(vectors)))


class Splitting:
    """ADMM on models, one after the other; weights, multipliers and mu go on from each to the next.

    Parameters
    ----------
    penalty : Penalty
        The penalty.
    S, Z : ndarray of shape (n_tasks, n_features)
        Weights and multipliers to start from.
    mu : float, optional
        The penalty parameter; None to have it chosen.
    """

    def __init__(self, penalty: Penalty, S: Float, Z: Float, mu: float | None) -> None:
        self.penalty, self.S, self.Z, self.mu = penalty, S, Z, mu

    def minimise(self, model: Secant, place: Place) -> bool:
        """Move S to the minimum of the model at a place; return whether that was possible."""
        if self.mu is None:
            self.mu = model.matrices.trace() / self.S.size or 1.0
        if not model.set_mu(self.mu):
            return False
        frame = model.matrices
        if not self.penalty.rotates:
            return self._solve(_Outside(model), place.W, place.gradient, place.gap)
        # All of it in the frame, where products are cheapest.
        self.S, self.Z = frame.into_frame(self.S), frame.into_frame(self.Z)
        solved = self._solve(model, frame.into_frame(place.W), frame.into_frame(place.gradient), place.gap)
        self.S, self.Z = frame.out_of_frame(self.S), frame.out_of_frame(self.Z)
        return solved

    def _solve(self, model: Secant | _Outside, start: Float, gradient: Float, gap: float) -> bool:
        """Move S and Z to the minimum of the model at ``start``; return whether that was possible."""
        assert self.mu is not None
        anderson = Anderson(SETTINGS.combined, SETTINGS.relaxation)
        V = self.S + self.Z / self.mu
        for n_steps in range(1, SETTINGS.most_steps + 1):
            before, mu = self.S, self.mu
            self.S = np.ascontiguousarray(self.penalty.prox(V, 1.0 / mu), dtype=np.float64)
            self.Z = mu * (V - self.S)
            away = self.S - start
            moved = model.inverse_times(mu * away - self.Z - gradient) - away
            primal, dual = norm(moved), norm(self.S - before)
            if not np.isfinite(primal):
                return False
            if n_steps > 1 and max(primal, dual) <= SETTINGS.exact * norm(away):
                left = model.times(moved) + mu * moved  # what is left of the model's gradient with the multipliers
                if norm(left) <= SETTINGS.exact_dual * gap * norm(self.Z):
                    break
            V = anderson.next_point(V, moved)
            if n_steps % SETTINGS.balance_every == 0 and self._balance(primal, mu * dual):
                anderson.forget()
                V = self.S + self.Z / self.mu
                if not model.set_mu(self.mu):
                    return False
        return True

    def _balance(self, primal: float, dual: float) -> bool:
        """Change mu where one relative residual is far larger than the other; return whether it has changed."""
        assert self.mu is not None
        ratio = primal / max(norm(self.S), 1e-300) * norm(self.Z) / max(dual, 1e-300)
        factor = float(np.sqrt(ratio))
        if 1.0 / SETTINGS.balance <= factor <= SETTINGS.balance:
            return False
        self.mu *= float(np.clip(factor, 1.0 / SETTINGS.most_balance, SETTINGS.most_balance))
        return True
