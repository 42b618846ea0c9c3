r"""The trace norm: the tasks share a subspace of few dimensions."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from smtl.penalties.base import Array, Norm

__all__ = ["Trace"]

# The squares of the Gram matrix must neither overflow nor lose digits to underflow.
_SMALLEST_GRAM, _LARGEST_GRAM = 1e-200, 1e300
_SMALLEST_STEP = 1e-4
# Eigenvalues of the Gram matrix below this part of the largest are rounding errors.
_RANK = 1e-13


class Trace(Norm):
    r"""The trace norm :math:`\Omega(W) = \sum_k \sigma_k(W)`, the sum of the singular values.

    It makes W of low rank: the tasks' weights are combinations of a few directions. The dual norm is the
    largest singular value.

    Notes
    -----
    The eigenvectors of the Gram matrix of the small side cost a fraction of a singular value
    decomposition, but squaring costs digits: an eigenvalue is known to :math:`\epsilon\sigma_1^2`, hence
    :math:`\sigma_k` to :math:`\epsilon\sigma_1^2/\sigma_k`, which is :math:`10^{-8}\sigma_1` where it is
    zero. So

    - the dual norm takes the Gram matrix, as the largest singular value loses nothing;
    - the prox takes it for steps :math:`t \ge 10^{-4}\sigma_1`: only the :math:`\sigma_k > t` enter, and the
      result is within :math:`\epsilon\sigma_1^2/t \approx 10^{-12}\sigma_1` of the exact one. Smaller steps,
      and matrices so large or so small that squares would overflow or vanish, take the singular value
      decomposition;
    - the spectrum, thus the value, always takes the singular value decomposition, without vectors: weights of
      low rank are the usual case, and there the Gram matrix would be wrong in the eighth digit.

    References
    ----------
    J.-F. Cai, E. J. Candes and Z. Shen, A singular value thresholding algorithm for
    matrix completion, SIAM Journal on Optimization 20, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> W = np.array([[3.0, 0.0], [0.0, -4.0], [0.0, 0.0]])
    >>> Trace().value(W), Trace().dual_norm(W)
    (7.0, 4.0)
    """

    name = "trace"
    kernel = ("values", 0.0)

    def spectrum(self, W: Array) -> npt.NDArray[np.float64]:
        r"""Return the singular values :math:`\sigma_k(W)`.

        Parameters
        ----------
        W : ndarray of shape (n_features, n_tasks)
            Weights.

        Returns
        -------
        ndarray of shape (min(n_features, n_tasks),)
            The largest first.

        Examples
        --------
        >>> import numpy as np
        >>> Trace().spectrum(np.array([[3.0, 0.0], [0.0, -4.0], [0.0, 0.0]]))
        array([4., 3.])
        """
        values: npt.NDArray[np.float64] = np.linalg.svd(W.astype(np.float64, copy=False), compute_uv=False)
        return values

    def dual_norm(self, Z: Array) -> float:
        r"""Return the largest singular value :math:`\sigma_1(Z)`.

        Parameters
        ----------
        Z : ndarray of shape (n_features, n_tasks)
            A dual point.

        Returns
        -------
        float
            The dual norm.

        Examples
        --------
        >>> import numpy as np
        >>> Trace().dual_norm(np.array([[3.0, 4.0]]))
        5.0
        """
        gram = _small_gram(Z)
        if not _SMALLEST_GRAM < gram.trace() < _LARGEST_GRAM:
            return super().dual_norm(Z)
        return math.sqrt(np.linalg.eigvalsh(gram)[-1])

    def prox(self, M: Array, step: float) -> Array:
        r"""Return :math:`\sum_k \max(\sigma_k - t, 0)\, u_k v_k'` for :math:`M = \sum_k \sigma_k u_k v_k'`.

        With the eigenvectors V of :math:`M'M` this is
        :math:`M V \operatorname{diag}(\max(1 - t/\sigma_k, 0))\, V'`, and with those of :math:`MM'` its
        mirror image.

        Parameters
        ----------
        M : ndarray of shape (n_features, n_tasks)
            The point to start from.
        step : float
            The step t, positive.

        Returns
        -------
        ndarray of shape (n_features, n_tasks)
            A new array of the dtype of ``M``, Fortran ordered.

        Examples
        --------
        >>> import numpy as np
        >>> Trace().prox(np.array([[3.0, 0.0], [0.0, 1.0]]), 2.0)
        array([[1., 0.],
               [0., 0.]])
        """
        step = float(step)
        gram = _small_gram(M)
        if not _SMALLEST_GRAM < gram.trace() < _LARGEST_GRAM:
            return _prox_by_svd(M, step)
        squares, V = np.linalg.eigh(gram)
        if step * step < _SMALLEST_STEP**2 * squares[-1]:
            return _prox_by_svd(M, step)
        # At or below the threshold the ratio is exactly 1.
        kept = 1.0 - step / np.sqrt(np.maximum(squares, step * step))
        shrink = ((V * kept) @ V.T).astype(M.dtype, copy=False)
        # `shrink` is symmetric; the product of the transposes is in Fortran order.
        p: Array = (shrink @ M.T).T if M.shape[0] >= M.shape[1] else (M.T @ shrink).T
        return p

    def like(self, M: Array, S: Array) -> Array:
        r"""Return the part of M in the row space of S (or its column space, where that has fewer dimensions).

        Its rank is at most that of S.

        Parameters
        ----------
        M, S : ndarray of shape (n_features, n_tasks)
            Weights.

        Returns
        -------
        ndarray of shape (n_features, n_tasks)
            A new array of the dtype of ``M``.

        Examples
        --------
        >>> import numpy as np
        >>> Trace().like(np.array([[3.0, 1.0], [1.0, 1.0]]), np.array([[2.0, 0.0], [1.0, 0.0]])).round(9)
        array([[3., 0.],
               [1., 0.]])
        """
        largest = float(np.abs(S).max(initial=0.0)) or 1.0  # of which the square might overflow
        values, vectors = np.linalg.eigh(_small_gram(S / largest))
        space = vectors[:, values > _RANK * values[-1]]
        projector = (space @ space.T).astype(M.dtype, copy=False)
        p: Array = (projector @ M.T).T if M.shape[0] >= M.shape[1] else (M.T @ projector).T
        return p


def _small_gram(M: Array) -> npt.NDArray[np.float64]:
    M = M.astype(np.float64, copy=False)
    gram: npt.NDArray[np.float64] = M.T @ M if M.shape[0] >= M.shape[1] else M @ M.T
    return gram


def _prox_by_svd(M: Array, step: float) -> Array:
    U, values, Vt = np.linalg.svd(M.astype(np.float64, copy=False), full_matrices=False)
    p: Array = ((Vt.T * np.maximum(values - step, 0.0)) @ U.T).T.astype(M.dtype, copy=False)
    return p
