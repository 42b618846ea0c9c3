r"""Half the squared Frobenius norm: the tasks are learned apart, as by a linear support vector machine."""

from __future__ import annotations

from smtl.penalties.base import Float, Penalty, rounding
from smtl.penalties.kernel import Kernel

__all__ = ["Ridge", "squared_norm"]


def squared_norm(W: Float) -> float:
    r"""Return :math:`\|W\|_F^2`.

    Parameters
    ----------
    W : ndarray
        Of any shape.

    Returns
    -------
    float
        The sum of the squares.

    Examples
    --------
    >>> import numpy as np
    >>> squared_norm(np.array([[3.0, 4.0]]))
    25.0
    """
    entries = W.ravel(order="K")
    return float(entries @ entries)


def keep(W: Float, step: float) -> None:
    """Leave W as it is: there is no norm beside the ridge term."""


class Ridge(Penalty):
    r"""Half the squared Frobenius norm, :math:`\Omega(W) = \tfrac12 \|W\|_F^2`.

    It does not link the tasks: each is learned by itself. It is its own conjugate.

    References
    ----------
    A. E. Hoerl and R. W. Kennard, Ridge regression: biased estimation for nonorthogonal
    problems, Technometrics 12, 1970.

    Examples
    --------
    >>> import numpy as np
    >>> Ridge().value(np.array([[3.0, 4.0]]))
    12.5
    """

    name = "ridge"
    kernel = Kernel(keep, ridge=1.0)
    rotates = True

    def value(self, W: Float) -> float:
        r"""Return :math:`\tfrac12 \|W\|_F^2`.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            Weights.

        Returns
        -------
        float
            The penalty.

        Examples
        --------
        >>> import numpy as np
        >>> Ridge().value(np.array([[1.0, -1.0]]))
        1.0
        """
        return 0.5 * squared_norm(W)

    def prox(self, M: Float, step: float) -> Float:
        r"""Return :math:`M / (1 + t)`.

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
        >>> Ridge().prox(np.array([[3.0, 6.0]]), 2.0)
        array([[1., 2.]])
        """
        return M / (1.0 + float(step))

    def conjugate(self, Z: Float) -> float:
        r"""Return :math:`\tfrac12 \|Z\|_F^2`.

        Parameters
        ----------
        Z : ndarray of shape (n_tasks, n_features)
            A dual point.

        Returns
        -------
        float
            The conjugate.

        Examples
        --------
        >>> import numpy as np
        >>> Ridge().conjugate(np.array([[1.0, -1.0]]))
        1.0
        """
        return 0.5 * squared_norm(Z)

    def lower_bound(self, Z: Float, d: float) -> tuple[float, float]:
        r"""Return :math:`s\,d - \tfrac12 s^2 \|Z\|_F^2` at its maximiser, :math:`s = \min(1, d / \|Z\|_F^2)`.

        The square is first raised by what rounding may have taken from it.

        Parameters
        ----------
        Z : ndarray of shape (n_tasks, n_features)
            The planes' combined slope.
        d : float
            The planes' combined offset.

        Returns
        -------
        bound : float
            Never above the maximum.
        s : float
            The scale; 0 where d is not positive.

        Examples
        --------
        >>> import numpy as np
        >>> bound, s = Ridge().lower_bound(np.array([[2.0, 0.0]]), 2.0)
        >>> round(bound, 9), round(s, 9)
        (0.5, 0.5)
        """
        if d <= 0.0:
            return 0.0, 0.0
        square = squared_norm(Z) * (1.0 + rounding(Z.size))
        s = 1.0 if d >= square else d / square
        # The terms stay below s * d.
        return s * (d - 0.5 * s * square) - rounding(0) * s * d, s
