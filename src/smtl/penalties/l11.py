r"""The entrywise norm: each task selects its own features."""

from __future__ import annotations

import numpy as np

from smtl.penalties.base import Float, Norm
from smtl.penalties.kernel import Kernel, shrunk, size_of

__all__ = ["L11"]


def shrink(W: Float, step: float) -> None:
    """Overwrite W by its soft-thresholded entries."""
    w = W.ravel()
    for k in range(len(w)):
        w[k] -= min(max(w[k], -step), step)


def dual_norm(Z: Float) -> float:
    """Return the largest magnitude of an entry."""
    largest = 0.0
    for z in Z.ravel():
        largest = max(largest, abs(z))
    return largest


class L11(Norm):
    r"""The entrywise norm :math:`\Omega(W) = \sum_{ij} |w_{ij}|`: each task selects its own features.

    Its dual norm is the largest magnitude of an entry.

    References
    ----------
    R. Tibshirani, Regression shrinkage and selection via the lasso, Journal of the
    Royal Statistical Society B 58, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> W = np.array([[3.0, -0.5], [0.0, 2.0]])
    >>> L11().value(W), L11().dual_norm(W)
    (5.5, 3.0)
    """

    name = "l11"
    kernel = Kernel(shrink, dual_norm)

    def spectrum(self, W: Float) -> Float:
        r"""Return the magnitudes :math:`|w_{ij}|`.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            Weights.

        Returns
        -------
        ndarray of shape (n_tasks * n_features,)
            The magnitudes.

        Examples
        --------
        >>> import numpy as np
        >>> L11().spectrum(np.array([[3.0, -0.5]]))
        array([3. , 0.5])
        """
        return np.abs(W.ravel())

    def prox(self, M: Float, step: float) -> Float:
        r"""Return the soft-thresholded :math:`\operatorname{sign}(m_{ij}) \max(|m_{ij}| - t, 0)`.

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
        >>> L11().prox(np.array([[3.0, -0.5], [0.0, -2.0]]), 1.0)
        array([[ 2.,  0.],
               [ 0., -1.]])
        """
        return shrunk(shrink, M, step)

    def dual_norm(self, Z: Float) -> float:  # noqa: D102
        return size_of(dual_norm, Z)
