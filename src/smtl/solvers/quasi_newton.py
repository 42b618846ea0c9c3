r"""L-BFGS for every task at once, where the penalty is ridge and leaves the tasks apart.

Each task has curvature pairs and a step length of its own; the passes are shared. A step that does not lower its
task's objective enough is halved, with the next pass of all the others.

References
----------
D. C. Liu, J. Nocedal, On the limited memory BFGS method for large scale optimization, Mathematical Programming 45,
1989.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.base import Start
from smtl.solvers.place import Place
from smtl.solvers.settings import SETTINGS

__all__ = ["QuasiNewton"]

Float: TypeAlias = npt.NDArray[np.float64]


class QuasiNewton:
    """Proposes steps of L-BFGS, on a half of the weights' squares plus C times the losses.

    Parameters
    ----------
    C : float
        The weight of the loss.
    start : Start
        Where to start from.
    """

    def __init__(self, C: float, start: Start) -> None:
        self.C = C
        m = len(start.S)
        self.pairs: list[tuple[Float, Float, Float]] = []  # changes of weights and gradient, and 1 / their product
        self.W, self.intercept = start.S, start.shift
        self.Z: Float = np.zeros_like(start.S)
        self.mu: float | None = None
        self.value, self.gradient = np.full(m, np.inf), np.zeros(start.S.shape)
        self.way, self.promise = np.zeros(start.S.shape), np.zeros(m)
        self.length = np.ones(m)

    def propose(self, place: Place) -> tuple[Float, Float] | None:
        """Return where to pass next, after a pass at ``place``, with a first guess of the intercepts; or None."""
        value = 0.5 * np.einsum("ij,ij->i", place.W, place.W) + self.C * place.loss
        gradient = place.W + place.gradient
        better = value <= self.value + SETTINGS.enough_descent * self.length * self.promise
        if not better.any() and self.length.max() < 1e-12:
            return None
        if self.pairs or np.isfinite(self.value).all():
            self._remember(place.W - self.W, gradient - self.gradient)
        first = np.isinf(self.value)
        keep = better[:, np.newaxis]
        self.W, self.gradient = np.where(keep, place.W, self.W), np.where(keep, gradient, self.gradient)
        self.value = np.where(better, value, self.value)
        self.intercept = np.where(better, place.intercept, self.intercept)
        way = -self._inverse_times(self.gradient)
        promise = np.einsum("ij,ij->i", way, self.gradient)
        self.length = np.where(better, 1.0, SETTINGS.halving * self.length)
        if first.any():
            # All of the objective is the most that there is to gain: half of the step that would gain it.
            square = np.maximum(np.einsum("ij,ij->i", gradient, gradient), 1e-300)
            way, promise = -gradient * (0.5 * value / square)[:, np.newaxis], -0.5 * value
        self.way, self.promise = np.where(keep, way, self.way), np.where(better, promise, self.promise)
        W = self.W + self.length[:, np.newaxis] * self.way
        return (W, self.intercept) if np.isfinite(W).all() else None

    def _remember(self, step: Float, change: Float) -> None:
        """Keep a pair for each task; one of length zero where the task has not moved."""
        product = np.einsum("ij,ij->i", step, change)
        known = product > 1e-12 * np.einsum("ij,ij->i", change, change)
        self.pairs.append((step, change, np.where(known, 1.0 / np.where(known, product, 1.0), 0.0)))
        del self.pairs[: -SETTINGS.pairs]

    def _inverse_times(self, gradient: Float) -> Float:
        """Return the inverse of the second derivatives, as the pairs have it, times a vector a task."""
        q, parts = gradient.copy(), []
        for step, change, weight in reversed(self.pairs):
            part = weight * np.einsum("ij,ij->i", step, q)
            q -= part[:, np.newaxis] * change
            parts.append(part)
        scale = np.ones(len(q))
        for _, change, weight in self.pairs:  # the newest that is known decides
            square = np.einsum("ij,ij->i", change, change)
            scale = np.where(weight > 0.0, 1.0 / np.maximum(weight * square, 1e-300), scale)
        q *= scale[:, np.newaxis]
        for (step, change, weight), part in zip(self.pairs, reversed(parts), strict=True):
            q += (part - weight * np.einsum("ij,ij->i", change, q))[:, np.newaxis] * step
        return q
