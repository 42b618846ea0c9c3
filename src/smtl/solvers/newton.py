r"""Proximal Newton: where a quadratic model of the losses has its minimum with the penalty.

At the best weights V so far, with the gradient g of C times the losses there, the next pass is at the minimum of

.. math:: \Omega(W) + \sum_i g_i'(w_i - v_i) + \tfrac12 (w_i - v_i)'B_i(w_i - v_i),

which `smtl.solvers.splitting` finds. B begins as multiples of one matrix for all tasks where these share their rows
(`smtl.solvers.curvature`), and learns from every step (`smtl.solvers.secant`). Where a step was too long, or the model
is some steps old and no longer fast, second derivatives of each task are computed anew, if they are not too dear.

A step that gains too little is shortened, to where the line between the slopes at both ends is zero, or nearly so.

References
----------
J. D. Lee, Y. Sun, M. A. Saunders, Proximal Newton-type methods for minimizing composite functions, SIAM Journal on
Optimization 24, 2014.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.penalties import Penalty
from smtl.solvers.base import Start
from smtl.solvers.curvature import Curvature, Matrices
from smtl.solvers.place import Place
from smtl.solvers.secant import Secant
from smtl.solvers.settings import SETTINGS
from smtl.solvers.splitting import Splitting

__all__ = ["Newton"]

Float: TypeAlias = npt.NDArray[np.float64]


class _Step(NamedTuple):
    """The way from the best place to the minimum of a model.

    Attributes
    ----------
    W, intercept : ndarray
        The change of weights and intercepts.
    more : float
        By how much the penalty is greater at its end.
    length : float
        The part of it that was gone.
    """

    W: Float
    intercept: Float
    more: float
    length: float


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
    dearest : float
        How many multiplications matrices may cost.
    start : Start
        Where to start from.
    """

    def __init__(self, penalty: Penalty, C: float, curvature: Curvature, dearest: float, start: Start) -> None:
        self.penalty, self.C, self.curvature = penalty, C, curvature
        self.has_common, self.has_own = (cost <= dearest for cost in curvature.costs())
        self.splitting = Splitting(penalty, start.S, start.Z, start.mu)
        self.model: Secant | None = None
        self.best: Place | None = None
        self.last: Place | None = None
        self.step: _Step | None = None
        self._gain, self._is_fast = np.inf, False  # of the last step that was kept
        self._n_places, self._due, self._goal = 0, SETTINGS.slow, 0.5

    @property
    def Z(self) -> Float:
        """Multipliers to go on from, for another C."""
        return self.splitting.Z

    @property
    def mu(self) -> float | None:
        """The penalty parameter that belongs to them."""
        return self.splitting.mu

    def propose(self, place: Place) -> tuple[Float, Float] | None:
        """Return where to pass next, after a pass at ``place``, with a first guess of the intercepts; or None."""
        if self._is_slow(place.gap):
            return None
        if self.model is not None and self.last is not None:
            self.model.learn(place.W - self.last.W, place.gradient - self.last.gradient)
        self.last = place
        if self.step is not None and self.best is not None:
            slopes = [self.step.more + float(np.vdot(at.gradient, self.step.W)) for at in (self.best, place)]
            if not place.objective <= self.best.objective + SETTINGS.enough * self.step.length * slopes[0]:
                return self._shorter(self.best, self.step, *slopes)
        gain = np.inf if self.best is None else self.best.objective - place.objective
        self._is_fast, self._gain = gain <= SETTINGS.fast * self._gain, gain
        self.best = place
        return self._longest(place) if self._bring_model(place) else None

    def _is_slow(self, gap: float) -> bool:
        """Return whether the gap has not been halved for long."""
        self._n_places += 1
        if gap <= self._goal:
            self._due, self._goal = self._n_places + SETTINGS.slow, 0.5 * gap
        return self._n_places > self._due

    def _shorter(self, best: Place, step: _Step, first: float, last: float) -> tuple[Float, Float] | None:
        """Return a point nearer to the best place, from the slopes of the objective there and at the last place."""
        part = float(np.clip(-first / max(last - first, 1e-300), SETTINGS.shortest, SETTINGS.longest))
        length = part * step.length
        self.step = step._replace(length=length)
        if length < SETTINGS.least_length:
            return None
        return best.W + length * step.W, best.intercept + length * step.intercept

    def _bring_model(self, place: Place) -> bool:
        """See to it that there is a model; return whether there is."""
        shortened = self.step is not None and self.step.length < 1.0
        if shortened:
            self.splitting.S = place.W
        if self.model is not None:
            is_old = self.model.age >= SETTINGS.renew and not self._is_fast
            if not (self.has_own and (shortened or is_old)):
                return True
        matrices: Matrices | None
        if self.model is None and self.has_common:
            matrices = self.curvature.common(place.W, place.intercept, self.C)
        else:
            matrices = self.curvature.own(place.W, place.intercept, self.C)
        if matrices is None:
            return False
        self.model = Secant(matrices, SETTINGS.pairs)
        return True

    def _longest(self, place: Place) -> tuple[Float, Float] | None:
        """Return the minimum of the model at the best place, with a first guess of the intercepts."""
        assert self.model is not None
        if not self.splitting.minimise(self.model, place):
            return None
        W = self.splitting.S
        way = W - place.W
        self.step = _Step(
            way,
            -np.einsum("ij,ij->i", self.curvature.mean, way),
            self.penalty.value(W) - self.penalty.value(place.W),
            1.0,
        )
        return W, place.intercept + self.step.intercept
