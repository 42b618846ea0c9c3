r"""The entrywise norm: each task selects its own features."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from smtl.penalties.base import Array, Norm

__all__ = ["L11"]


class L11(Norm):
    r"""The entrywise norm :math:`\Omega(W) = \sum_{ji} |w_{ji}|`: each task selects its own features.

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
    kernel = ("entries", 0.0)

    def spectrum(self, W: Array) -> npt.NDArray[np.float64]:
        r"""Return the magnitudes :math:`|w_{ji}|`.

        Parameters
        ----------
        W : ndarray of shape (n_features, n_tasks)
            Weights.

        Returns
        -------
        ndarray of shape (n_features * n_tasks,)
            In the order of the memory of ``W``.

        Examples
        --------
        >>> import numpy as np
        >>> L11().spectrum(np.array([[3.0, -0.5]]))
        array([3. , 0.5])
        """
        return np.abs(W.ravel(order="K")).astype(np.float64, copy=False)

    def prox(self, M: Array, step: float) -> Array:
        r"""Return the soft-thresholded :math:`\operatorname{sign}(m_{ji}) \max(|m_{ji}| - t, 0)`.

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
        >>> L11().prox(np.array([[3.0, -0.5], [0.0, -2.0]]), 1.0)
        array([[ 2.,  0.],
               [ 0., -1.]])
        """
        # A NumPy float64 would turn float32 weights into float64.
        step = float(step)
        return M - np.clip(M, -step, step)
