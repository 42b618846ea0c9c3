"""The planes that a bundle solver keeps, and what it asks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.settings import SETTINGS

if TYPE_CHECKING:
    from smtl.kernels.bundle import Mixture

__all__ = ["Bundle", "Mixed"]

Float: TypeAlias = npt.NDArray[np.float64]


class Mixed(NamedTuple):
    """One convex combination of planes per task.

    Attributes
    ----------
    delta : ndarray of shape (n_tasks,)
        Offsets.
    G : ndarray of shape (n_tasks, n_features)
        Slopes.
    """

    delta: Float
    G: Float


class Bundle:
    """The planes of all tasks, in arrays that grow; see `smtl.kernels.bundle` for what they hold.

    Two problems may share the planes: there are two mixtures, and a plane is kept while it has weight in either.

    Parameters
    ----------
    shape : tuple of int
        The shape (n_tasks, n_features) of W.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        from smtl.kernels.bundle import Planes

        m, d = shape
        self.n_added = 0
        self.planes = Planes(
            np.zeros((m, 1, d)), np.zeros((m, 1)), np.zeros((m, 1, 1)), np.zeros((m, 1), np.int64), np.ones(m, np.int64)
        )
        self.mixtures = self._new_mixtures(np.ones((2, m, 1)))
        self._grow(8)

    def _new_mixtures(self, alpha: Float) -> tuple[Mixture, Mixture]:
        """Return mixtures of these weights, whose factors are still to be set up."""
        from smtl.kernels.bundle import Mixture

        m, room = alpha.shape[1:]
        one, other = (
            Mixture(a, np.empty(m), np.empty((m, room, room)), np.empty((m, room), np.int64), np.full(m, -1, np.int64))
            for a in alpha
        )
        return one, other

    def _grow(self, room: int) -> None:
        """Make room for so many planes a task."""
        m, d = self.planes.G.shape[0], self.planes.G.shape[2]
        before = self.planes.delta.shape[1]
        wider = self.planes._replace(
            G=np.empty((m, room, d)),
            delta=np.empty((m, room)),
            gram=np.empty((m, room, room)),
            age=np.empty((m, room), dtype=np.int64),
        )
        wider.G[:, :before], wider.delta[:, :before] = self.planes.G, self.planes.delta
        wider.gram[:, :before, :before], wider.age[:, :before] = self.planes.gram, self.planes.age
        alpha = np.empty((2, m, room))
        alpha[:, :, :before] = [mixture.alpha for mixture in self.mixtures]
        self.planes, self.mixtures = wider, self._new_mixtures(alpha)

    def add(self, G: Float, delta: Float) -> None:
        """Drop what is no longer useful and add one plane to each task."""
        from smtl.kernels import bundle

        keep = max(SETTINGS.keep, int(SETTINGS.keep_part * self.n_added))
        bundle.forget(keep, self.planes, self.mixtures)
        self.n_added += 1
        if self.n_added % SETTINGS.rebuild == 0:
            for mixture in self.mixtures:
                mixture.n_active[:] = -1
        room = self.planes.delta.shape[1]
        if self.planes.size.max() == room:
            self._grow(2 * room)
        bundle.add(G, delta, self.planes, self.mixtures)

    def keep_active(self) -> None:
        """Drop the planes without weight: those that another C has no use for would only slow the W-step down."""
        from smtl.kernels import bundle

        self.take_second_weights()
        self.planes.age[:] = 0
        bundle.forget(0, self.planes, self.mixtures)
        self.mixtures[0].n_active[:] = -1

    def give_second_weights(self) -> None:
        """Give the second problem the weights of the first."""
        first, second = self.mixtures
        second.alpha[:] = first.alpha
        second.n_active[:] = -1

    def take_second_weights(self) -> None:
        """Take the weights from the second problem, so that no plane is kept for its sake."""
        second = self.mixtures[1]
        second.alpha[:] = 0.0
        second.alpha[:, 0] = 1.0
        second.n_active[:] = -1

    def w_step(self, C: float, B: Float, mu: float, tol: float, which: int = 0) -> tuple[Float, Mixed]:
        """Return the W-step at ``B``, and the planes mixed as it has them, for the problem ``which`` of the two."""
        from smtl.kernels import bundle

        answer = bundle.Answer(np.empty(B.shape), np.empty(B.shape), np.empty(len(B)))
        bundle.w_step(B, C, mu, tol, answer, self.planes, self.mixtures[which])
        return answer.W, Mixed(answer.mixed_delta, answer.mixed)

    def cost(self) -> float:
        """Return about how many multiplications a W-step takes."""
        n = self.planes.size
        return float(n @ (self.planes.G.shape[2] + 3 * n))

    def highest(self, W: Float) -> float:
        """Return the sum over the tasks of the highest plane's value at W, which the losses are not below."""
        from smtl.kernels import bundle

        return float(bundle.highest(W, self.planes))
