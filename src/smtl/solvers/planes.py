"""The planes that a bundle solver keeps, and what it asks of them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.problem import Problem

__all__ = ["Bundle", "Mixed"]

Float: TypeAlias = npt.NDArray[np.float64]

KEEP = 20  # passes for which a plane is kept at least when it has no weight
KEEP_PART = 1.0 / 3.0  # the part of all passes for which it is: what takes long goes in circles if it forgets too soon
# The factors of the W-steps are set up anew after so many planes, before rounding errors add up.
REBUILD = 25


class Mixed(NamedTuple):
    """One convex combination of planes per task.

    Attributes
    ----------
    delta : ndarray of shape (n_tasks,)
        Offsets.
    G : ndarray of shape (n_features, n_tasks)
        Slopes.
    """

    delta: Float
    G: Float


class Bundle:
    """The planes of all tasks, in arrays that grow; see `smtl.kernels.bundle` for what they hold.

    Two problems may share the planes: there are two sets of weights, and a plane is kept while it has weight in either.

    Parameters
    ----------
    n_features, n_tasks : int
        The shape of W.
    """

    def __init__(self, n_features: int, n_tasks: int) -> None:
        self._shape = n_features, n_tasks
        self.arrays: list[npt.NDArray[Any]] = []
        self._grow(8)
        for array in (self.G, self.delta, self.gram, self.age):
            array[:, 0] = 0.0
        self.alpha[:, :, 0] = 1.0
        self.size = np.ones(n_tasks, dtype=np.int64)
        self.n_added = 0

    def _grow(self, room: int) -> None:
        """Make room for so many planes a task. What lies behind a task's last plane is never read."""
        d, m = self._shape
        old = self.arrays
        self.arrays = [
            np.empty((m, room, d)),
            np.empty((m, room)),
            np.empty((m, room, room)),
            np.empty((2, m, room)),
            np.empty((m, room), dtype=np.int64),
        ]
        for new, previous in zip(self.arrays, old, strict=False):
            new[tuple(slice(0, length) for length in previous.shape)] = previous
        self.G, self.delta, self.gram, self.alpha, self.age = self.arrays
        # What the W-steps on the same planes leave to one another.
        self.t = np.empty((2, m))
        self.factor = np.empty((2, m, room, room))
        self.active = np.empty((2, m, room), dtype=np.int64)
        self.n_active = np.full((2, m), -1)

    def add(self, G: Float, delta: Float) -> None:
        """Drop what is no longer useful and add one plane to each task."""
        from smtl.kernels import bundle

        keep = max(KEEP, int(KEEP_PART * self.n_added))
        bundle.forget(keep, *self.arrays, self.size, self.active, self.n_active)
        self.n_added += 1
        if self.n_added % REBUILD == 0:
            self.n_active[:] = -1
        room = self.delta.shape[1]
        if self.size.max() == room:
            self._grow(2 * room)
        bundle.add(G.T, delta, *self.arrays, self.size)

    def keep_active(self) -> None:
        """Drop the planes without weight: those that another C has no use for would only slow the W-step down."""
        from smtl.kernels import bundle

        self.take_second_weights()
        self.age[:] = 0
        bundle.forget(0, *self.arrays, self.size, self.active, self.n_active)
        self.n_active[:] = -1

    def give_second_weights(self) -> None:
        """Give the second problem the weights of the first."""
        self.alpha[1] = self.alpha[0]
        self.n_active[1] = -1

    def take_second_weights(self) -> None:
        """Take the weights from the second problem, so that no plane is kept for its sake."""
        self.alpha[1], self.alpha[1, :, 0] = 0.0, 1.0
        self.n_active[1] = -1

    def planes(self, which: int) -> tuple[npt.NDArray[Any], ...]:
        """Return what a W-step of the problem ``which`` of the two takes, a row a task."""
        return (
            self.G,
            self.delta,
            self.gram,
            self.alpha[which],
            self.size,
            self.t[which],
            self.factor[which],
            self.active[which],
            self.n_active[which],
        )

    def w_step(self, problem: Problem, B: Float, mu: float, tol: float, which: int = 0) -> tuple[Float, Mixed]:
        """Return the W-step at ``B``, and the planes mixed as it has them, for the problem ``which`` of the two."""
        from smtl.kernels import bundle

        b = np.ascontiguousarray(B.T)
        W, mixed, mixed_delta = np.empty_like(b), np.empty_like(b), np.empty(len(b))
        planes = self.planes(which)

        def work(first: int, last: int) -> None:
            part = slice(first, last)
            bundle.w_step(
                b[part], problem.C, mu, tol, W[part], mixed[part], mixed_delta[part], *[array[part] for array in planes]
            )

        problem.for_each_group(work)
        return W.T, Mixed(mixed_delta, mixed.T)

    def work(self) -> float:
        """Return about how many multiplications a W-step takes."""
        n = self.size
        return float(n @ (self._shape[0] + 3 * n))

    def highest(self, W: Float) -> float:
        """Return the sum over the tasks of the highest plane's value at W, which the losses are not below."""
        from smtl.kernels import bundle

        return float(bundle.highest(np.ascontiguousarray(W.T), self.G, self.delta, self.size))
