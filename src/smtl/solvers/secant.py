r"""Second derivatives that learn from the steps that are taken: matrices, corrected by BFGS for every task at once.

With matrices :math:`H_i`, steps S and the gradient's changes Y on them (vectors in rows), BFGS makes of each task's H

.. math:: B = H - U'M^{-1}U, \quad U = \begin{pmatrix} SH \\ Y \end{pmatrix}, \quad
          M = \begin{pmatrix} SHS' & L \\ L' & -D \end{pmatrix},

where D is the diagonal of :math:`SY'` and L what is below it, so that :math:`(B + \mu I)^{-1}` follows from
:math:`(H + \mu I)^{-1}` by the formula of Woodbury.

References
----------
R. H. Byrd, J. Nocedal, R. B. Schnabel, Representations of quasi-Newton matrices and their use in limited memory
methods, Mathematical Programming 63, 1994.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.curvature import Matrices

__all__ = ["Secant"]

Float: TypeAlias = npt.NDArray[np.float64]


class Secant:
    """Matrices, and what the steps since they were made have shown, in the frame of the matrices.

    Parameters
    ----------
    matrices : Matrices
        The matrices.
    memory : int
        How many steps to remember.

    Attributes
    ----------
    age : int
        The number of steps seen.

    Examples
    --------
    >>> from smtl.solvers.curvature import OwnMatrices
    >>> model = Secant(OwnMatrices(np.eye(2)[np.newaxis], np.empty((1, 2, 2))), memory=5)
    >>> step = np.array([[1.0, 0.0]])
    >>> model.learn(step, 3.0 * step)  # the gradient changes three times as fast as the matrix says
    >>> model.set_mu(1.0), model.times(step), model.inverse_times(4.0 * step)
    (True, array([[3., 0.]]), array([[1., 0.]]))
    """

    def __init__(self, matrices: Matrices, memory: int) -> None:
        self.matrices, self.memory = matrices, memory
        self.age = 0
        self._steps: list[Float] = []
        self._changes: list[Float] = []
        self._U: Float | None = None

    def learn(self, step: Float, change: Float) -> None:
        """Take in a step, and by how much the gradient has changed on it; `set_mu` has to follow.

        Parameters
        ----------
        step, change : ndarray of shape (n_tasks, n_features)
            Not in the frame. A task's pair counts where their product is positive beyond rounding.
        """
        self.age += 1
        step, change = self.matrices.into_frame(step), self.matrices.into_frame(change)
        product = np.einsum("ij,ij->i", step, change)
        sizes = np.einsum("ij,ij->i", step, step) * np.einsum("ij,ij->i", change, change)
        known = (product > 1e-12 * np.sqrt(sizes))[:, np.newaxis]
        self._steps.append(np.where(known, step, 0.0))
        self._changes.append(np.where(known, change, 0.0))
        del self._steps[: -self.memory], self._changes[: -self.memory]
        self.matrices.rescale(self._steps[-1], self._changes[-1])
        self._U = None

    def set_mu(self, mu: float) -> bool:
        r"""Make ready for :math:`(B_i + \mu I)^{-1}`; return whether that is possible."""
        if not self.matrices.set_mu(mu):
            return False
        if not self._steps:
            return True
        if self._U is None:
            self._U, self._M = self._compact()
        self._V = self.matrices.inverse_times(self._U)
        try:
            self._K = np.linalg.inv(self._M - self._U @ self._V.transpose(0, 2, 1))
        except np.linalg.LinAlgError:
            return False
        self._KV = self._K @ self._V
        return bool(np.isfinite(self._KV).all())

    def times(self, vectors: Float) -> Float:
        """Return each task's B times its vector; both of shape (n_tasks, n_features)."""
        rows = vectors[:, np.newaxis]
        products = self.matrices.times(rows)
        if self._U is not None:
            products = (
                products - np.linalg.solve(self._M, self._U @ rows.transpose(0, 2, 1)).transpose(0, 2, 1) @ self._U
            )
        return products[:, 0]

    def inverse_times(self, vectors: Float) -> Float:
        r"""Return each task's :math:`(B + \mu I)^{-1}` times its vector; both of shape (n_tasks, n_features)."""
        rows = vectors[:, np.newaxis]
        products = self.matrices.inverse_times(rows)
        if self._U is not None:
            products += (rows @ self._V.transpose(0, 2, 1)) @ self._KV
        return products[:, 0]

    def _compact(self) -> tuple[Float, Float]:
        """Return U and M; a pair that does not count has a row and a column of the unit matrix in M."""
        S, Y = np.stack(self._steps, axis=1), np.stack(self._changes, axis=1)
        n = S.shape[1]
        SH, SY = self.matrices.times(S), S @ Y.transpose(0, 2, 1)
        M = np.zeros((len(S), 2 * n, 2 * n))
        M[:, :n, :n] = SH @ S.transpose(0, 2, 1)
        M[:, :n, n:] = np.tril(SY, -1)
        M[:, n:, :n] = M[:, :n, n:].transpose(0, 2, 1)
        k = np.arange(n)
        M[:, n + k, n + k] = -SY[:, k, k]
        M[:, k, k] += SY[:, k, k] == 0.0
        M[:, n + k, n + k] -= SY[:, k, k] == 0.0
        return np.concatenate([SH, Y], axis=1), M
