r"""The oracle of a loss that is a sum over rows, over parts: each part adds up its own rows.

Without an intercept that is one round. With one, each round asks for sums at a few intercepts at once, since a round
costs more than the sums do: where the tangents meet, and on either side of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from smtl.metrics.spreading import Ask, Float, Round, Scored, SpreadOracle, added

if TYPE_CHECKING:
    from smtl.metrics.pointwise import PointwiseMetric

__all__ = ["sums"]

FIRST_STEP = 0.01  # on either side of the first guess, where nothing is known of how far intercepts move
ASIDE = 0.1  # of the bracket, on either side of where the tangents meet
MAX_ROUNDS = 60  # each divides the bracket; rounding ends a search long before


def sums(metric: PointwiseMetric, ask: Ask) -> SpreadOracle:
    """Return the spread oracle of a pointwise metric; see `smtl.metrics.spreading`.

    Parameters
    ----------
    metric : PointwiseMetric
        The metric.
    ask : Ask
        What is asked.

    Yields
    ------
    Round
        What the parts are to do.

    Returns
    -------
    delta, value : ndarray of shape (n_tasks,)
        The planes' offsets, and the losses.
    """
    m = len(ask.shift)
    if not ask.with_intercept:
        only = np.tile([1.0, 0.0], (m, 1))
        product, value = yield Round(_coefficients, (metric, np.zeros((m, 2)), only), last=True)
        return value + product, value
    search = _Search(ask)
    while search.open.any():
        at = search.candidates()
        value, slope = yield Round(_summed, (metric, at), joined=added)
        search.take(at, value, slope)
    product, _ = yield Round(_coefficients, (metric, *search.mixture()), last=True)
    moved = np.abs(search.best - ask.shift)
    ask.memory["step"] = np.maximum(moved, 1e-6 * (1.0 + np.abs(ask.shift)))
    ask.shift[:] = search.best
    return search.lowest() + product, search.value


class _Search:
    """The best intercepts of all tasks, by sums at several of them a round; see `smtl.kernels.intercept`."""

    def __init__(self, ask: Ask) -> None:
        m = len(ask.shift)
        self.eps, self.start = ask.eps, ask.shift.copy()
        self.step = ask.memory.get("step", np.full(m, FIRST_STEP)).copy()
        # The nearest points on either side: place, value and slope.
        self.left = np.tile([[-np.inf], [0.0], [0.0]], m)
        self.right = np.tile([[np.inf], [0.0], [0.0]], m)
        self.best, self.value, self.flat = self.start.copy(), np.full(m, np.inf), np.zeros(m, dtype=bool)
        self.open, self.rounds = np.ones(m, dtype=bool), 0

    def candidates(self) -> Float:
        """Return where to ask next, three intercepts a task; NaN for tasks that are done."""
        at = np.full((len(self.start), 3), np.nan)
        for i in np.flatnonzero(self.open).tolist():
            left, right = self.left[0, i], self.right[0, i]
            if self.rounds == 0:
                at[i] = self.start[i] + self.step[i] * np.array([-1.0, 0.0, 1.0])
            elif np.isinf(right):
                at[i] = left + self.step[i] * np.array([1.0, 4.0, 16.0])
            elif np.isinf(left):
                at[i] = right - self.step[i] * np.array([16.0, 4.0, 1.0])
            else:
                meet = left + (self._lowest(i) - self.left[1, i]) / self.left[2, i]
                if self.rounds % 3 == 2 or not left < meet < right:
                    meet = 0.5 * (left + right)  # so that the bracket shrinks whatever the pieces are
                aside = ASIDE * min(meet - left, right - meet)
                at[i] = meet - aside, meet, meet + aside
        return at

    def take(self, at: Float, value: Float, slope: Float) -> None:
        """Take in the sums at the candidates, and close the tasks that are near enough to their minimum."""
        self.rounds += 1
        for i in np.flatnonzero(self.open).tolist():
            before = self.left[0, i], self.right[0, i]
            for x, v, g in zip(at[i], value[i], slope[i], strict=True):
                self._take_one(i, x, v, g)
            after = self.left[0, i], self.right[0, i]
            if np.isinf(after[0]) or np.isinf(after[1]):
                self.step[i] *= 64.0 if self.rounds > 1 else 4.0
            near = self.flat[i] or self.value[i] - max(self._lowest(i), 0.0) <= self.eps
            self.open[i] = not (near or (before == after) or self.rounds >= MAX_ROUNDS)

    def _take_one(self, i: int, x: float, value: float, slope: float) -> None:
        if self.flat[i]:
            return
        if value < self.value[i] or slope == 0.0:
            self.best[i], self.value[i] = x, value
        if slope == 0.0:
            self.flat[i] = True
        elif slope < 0.0 and x > self.left[0, i]:
            self.left[:, i] = x, value, slope
        elif slope > 0.0 and x < self.right[0, i]:
            self.right[:, i] = x, value, slope

    def _theta(self, i: int) -> float:
        return float(self.right[2, i] / (self.right[2, i] - self.left[2, i]))

    def _lowest(self, i: int) -> float:
        """Return the lowest value that the tangents seen so far allow."""
        if self.flat[i]:
            return float(self.value[i])
        if np.isinf(self.left[0, i]) or np.isinf(self.right[0, i]):
            return -np.inf
        theta, at_zero = self._theta(i), [side[1, i] - side[2, i] * side[0, i] for side in (self.left, self.right)]
        return float(theta * at_zero[0] + (1.0 - theta) * at_zero[1])

    def lowest(self) -> Float:
        """Return what the mixed planes are worth at these scores, whatever the intercept: their slope in it is zero.

        Where the zero plane of the true answer is higher, it is taken instead.
        """
        return np.array([max(self._lowest(i), 0.0) for i in range(len(self.start))])

    def mixture(self) -> tuple[Float, Float]:
        """Return the two intercepts whose tangents are mixed, and the parts of these."""
        at, part = np.column_stack([self.best, self.best]), np.zeros((len(self.start), 2))
        for i in range(len(at)):
            if self.flat[i]:
                part[i] = 1.0, 0.0
            elif self._lowest(i) > 0.0:
                theta = self._theta(i)
                at[i], part[i] = (self.left[0, i], self.right[0, i]), (theta, 1.0 - theta)
        return at, part


def _summed(scored: Scored, common: Any, own: Any) -> tuple[Any, Any]:
    """Send the loss and its slope at each of the intercepts."""
    from smtl.kernels.parts import pointwise_sums

    metric, at = common
    value, slope = np.zeros(at.shape), np.zeros(at.shape)
    pointwise_sums(metric._compiled(), scored.scores, scored.y, _weights(scored), scored.ptr, at, value, slope)
    return None, (value, slope)


def _coefficients(scored: Scored, common: Any, own: Any) -> tuple[Float, Any]:
    """Keep c of the mixed tangents; send its product with the scores, and the loss at the first one."""
    from smtl.kernels.parts import pointwise_mixed

    metric, at, part = common
    c, product, value = np.empty(len(scored.scores)), np.zeros(len(at)), np.zeros(len(at))
    pointwise_mixed(
        metric._compiled(), scored.scores, scored.y, _weights(scored), scored.ptr, at, part, c, product, value
    )
    return c, (product, value)


def _weights(scored: Scored) -> Float:
    """Return the weights of the rows; none where all weigh the same."""
    return np.empty(0) if scored.weights is None else scored.weights
