r"""The row norm: the tasks select their features together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from smtl.penalties.base import Array, Norm

__all__ = ["L21"]


class L21(Norm):
    r"""The row norm :math:`\Omega(W) = \sum_j \|w^j\|_2`, with :math:`w^j` the weights of feature j.

    A feature is kept or dropped for all tasks together. The dual norm is the largest norm of a row.

    References
    ----------
    A. Argyriou, T. Evgeniou and M. Pontil, Convex multi-task feature learning, Machine Learning 73, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> W = np.array([[3.0, 4.0], [0.0, -1.0]])
    >>> L21().value(W), L21().dual_norm(W)
    (6.0, 5.0)
    """

    name = "l21"
    kernel = ("features", 0.0)

    def spectrum(self, W: Array) -> npt.NDArray[np.float64]:
        r"""Return the row norms :math:`\|w^j\|_2`.

        Parameters
        ----------
        W : ndarray of shape (n_features, n_tasks)
            Weights.

        Returns
        -------
        ndarray of shape (n_features,)
            One for each feature.

        Examples
        --------
        >>> import numpy as np
        >>> L21().spectrum(np.array([[3.0, 4.0], [0.0, -1.0]]))
        array([5., 1.])
        """
        W = W.astype(np.float64, copy=False)
        # einsum makes no array of squares: as fast as others on small weights, twice as fast on 100,000 x 20.
        norms: npt.NDArray[np.float64] = np.sqrt(np.einsum("ji,ji->j", W, W))
        return norms

    def prox(self, M: Array, step: float) -> Array:
        r"""Return the rows :math:`\max(1 - t / \|m^j\|_2, 0)\, m^j`.

        Parameters
        ----------
        M : ndarray of shape (n_features, n_tasks)
            The point to start from.
        step : float
            The step t, positive.

        Returns
        -------
        ndarray of shape (n_features, n_tasks)
            A new array of the dtype of ``M``.

        Examples
        --------
        >>> import numpy as np
        >>> L21().prox(np.array([[6.0, 8.0], [0.0, -1.0]]), 5.0)
        array([[ 3.,  4.],
               [ 0., -0.]])
        """
        step = float(step)
        # At or below the threshold the ratio is exactly 1; a step of 0 divides by 1 instead.
        kept = 1.0 - step / np.maximum(self.spectrum(M), step or 1.0)
        return M * kept.astype(M.dtype, copy=False)[:, np.newaxis]
