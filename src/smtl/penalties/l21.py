r"""The norm of features: the tasks select their features together."""

from __future__ import annotations

import numpy as np

from smtl.penalties.base import Float, Norm
from smtl.penalties.kernel import Kernel, shrunk, size_of

__all__ = ["L21"]


def shrink(W: Float, step: float) -> None:
    """Overwrite W by its prox: each feature's weights are shortened by the step."""
    kept = np.zeros(W.shape[1])
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            kept[j] += W[i, j] * W[i, j]
    for j in range(len(kept)):
        # At or below the threshold the ratio is exactly 1; where both are 0, nothing is left to shorten.
        length = max(np.sqrt(kept[j]), step)
        kept[j] = 1.0 - step / length if length > 0.0 else 0.0
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            W[i, j] *= kept[j]


def dual_norm(Z: Float) -> float:
    """Return the largest norm of a feature's entries."""
    squares = np.zeros(Z.shape[1])
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            squares[j] += Z[i, j] * Z[i, j]
    largest = 0.0
    for j in range(len(squares)):
        largest = max(largest, squares[j])
    return float(np.sqrt(largest))


class L21(Norm):
    r"""The norm :math:`\Omega(W) = \sum_j \|w^j\|_2`, with :math:`w^j` the weights of feature j in all tasks.

    A feature is kept or dropped for all tasks together. The dual norm is the largest of these norms.

    References
    ----------
    A. Argyriou, T. Evgeniou and M. Pontil, Convex multi-task feature learning, Machine Learning 73, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> W = np.array([[3.0, 0.0], [4.0, -1.0]])
    >>> L21().value(W), L21().dual_norm(W)
    (6.0, 5.0)
    """

    name = "l21"
    kernel = Kernel(shrink, dual_norm)

    def spectrum(self, W: Float) -> Float:
        r"""Return the norms :math:`\|w^j\|_2`.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            Weights.

        Returns
        -------
        ndarray of shape (n_features,)
            One for each feature.

        Examples
        --------
        >>> import numpy as np
        >>> L21().spectrum(np.array([[3.0, 0.0], [4.0, -1.0]]))
        array([5., 1.])
        """
        norms: Float = np.sqrt(np.einsum("ij,ij->j", W, W))  # makes no array of squares
        return norms

    def prox(self, M: Float, step: float) -> Float:
        r"""Return the features' weights :math:`\max(1 - t / \|m^j\|_2, 0)\, m^j`.

        Parameters
        ----------
        M : ndarray of shape (n_tasks, n_features)
            The point to start from.
        step : float
            The step t, positive.

        Returns
        -------
        ndarray of shape (n_tasks, n_features)
            A new array.

        Examples
        --------
        >>> import numpy as np
        >>> L21().prox(np.array([[6.0, 0.0], [8.0, -1.0]]), 5.0)
        array([[ 3.,  0.],
               [ 4., -0.]])
        """
        return shrunk(shrink, M, step)

    def dual_norm(self, Z: Float) -> float:  # noqa: D102
        return size_of(dual_norm, Z)
