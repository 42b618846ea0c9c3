r"""The trace norm: the tasks share a subspace of few dimensions."""

from __future__ import annotations

import numpy as np

from smtl.penalties.base import Float, Norm
from smtl.penalties.kernel import Kernel, shrunk, size_of

__all__ = ["Trace"]

SMALLEST_STEP = 1e-4  # of the prox by a Gram matrix, as a part of the largest singular value; see the notes of `Trace`


def shrink(W: Float, step: float) -> None:
    """Overwrite W by its prox: singular values are shortened by the step. By the Gram matrix of the small side."""
    wide = W.shape[0] <= W.shape[1]
    n = min(W.shape)
    A = np.empty((n, max(W.shape)))  # W or its transpose
    largest = 0.0
    for i in range(n):
        for j in range(A.shape[1]):
            A[i, j] = W[i, j] if wide else W[j, i]
            largest = max(largest, abs(A[i, j]))
    if largest == 0.0:
        return
    for i in range(n):
        for j in range(A.shape[1]):
            A[i, j] /= largest  # so that no square overflows or vanishes
    step /= largest
    squares, V = np.linalg.eigh(np.dot(A, A.T))
    kept = np.empty((n, n))
    for k in range(n):
        # At or below the threshold the ratio is exactly 1; where both are 0, nothing is left to shorten.
        length = np.sqrt(max(squares[k], step * step))
        factor = 1.0 - step / length if length > 0.0 else 0.0
        for i in range(n):
            kept[i, k] = V[i, k] * factor * largest
    A = np.dot(np.dot(kept, V.T), A)
    for i in range(n):
        for j in range(A.shape[1]):
            if wide:
                W[i, j] = A[i, j]
            else:
                W[j, i] = A[i, j]


def dual_norm(Z: Float) -> float:
    """Return the largest singular value, by the Gram matrix of the small side."""
    A = np.ascontiguousarray(Z if Z.shape[0] <= Z.shape[1] else Z.T)
    largest = 0.0
    for a in A.ravel():
        largest = max(largest, abs(a))
    if largest == 0.0:
        return 0.0
    A = A / largest  # so that no square overflows or vanishes
    return float(largest * np.sqrt(np.linalg.eigvalsh(np.dot(A, A.T))[-1]))


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
      result is within :math:`\epsilon\sigma_1^2/t \approx 10^{-12}\sigma_1` of the exact one. Smaller steps take the
      singular value decomposition, but not in compiled loops, whose results are certified in any case;
    - the spectrum, thus the value, always takes the singular value decomposition, without vectors: weights of
      low rank are the usual case, and there the Gram matrix would be wrong in the eighth digit.

    References
    ----------
    J.-F. Cai, E. J. Candes and Z. Shen, A singular value thresholding algorithm for
    matrix completion, SIAM Journal on Optimization 20, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> W = np.array([[3.0, 0.0, 0.0], [0.0, -4.0, 0.0]])
    >>> Trace().value(W), Trace().dual_norm(W)
    (7.0, 4.0)
    """

    name = "trace"
    kernel = Kernel(shrink, dual_norm, spectral=True)
    rotates = True

    def spectrum(self, W: Float) -> Float:
        r"""Return the singular values :math:`\sigma_k(W)`.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            Weights.

        Returns
        -------
        ndarray of shape (min(n_tasks, n_features),)
            The largest first.

        Examples
        --------
        >>> import numpy as np
        >>> Trace().spectrum(np.array([[3.0, 0.0, 0.0], [0.0, -4.0, 0.0]]))
        array([4., 3.])
        """
        return np.asarray(np.linalg.svd(W, compute_uv=False), dtype=np.float64)

    def dual_norm(self, Z: Float) -> float:  # noqa: D102
        return size_of(dual_norm, Z)

    def prox(self, M: Float, step: float) -> Float:
        r"""Return :math:`\sum_k \max(\sigma_k - t, 0)\, u_k v_k'` for :math:`M = \sum_k \sigma_k u_k v_k'`.

        With the eigenvectors U of :math:`MM'` this is
        :math:`U \operatorname{diag}(\max(1 - t/\sigma_k, 0))\, U' M`, and with those of :math:`M'M` its
        mirror image.

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
        >>> Trace().prox(np.array([[3.0, 0.0], [0.0, 1.0]]), 2.0)
        array([[1., 0.],
               [0., 0.]])
        """
        if step < SMALLEST_STEP * self.dual_norm(M):
            U, values, Vt = np.linalg.svd(M, full_matrices=False)
            return np.asarray((U * np.maximum(values - step, 0.0)) @ Vt)
        return shrunk(shrink, M, step)
