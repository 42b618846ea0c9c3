r"""Any penalty plus a ridge term: strongly convex, with a conjugate that is finite everywhere."""

from __future__ import annotations

import math

import numpy as np

from smtl.penalties.base import Float, Norm, Penalty, rounding
from smtl.penalties.kernel import Kernel
from smtl.penalties.ridge import squared_norm

__all__ = ["Elastic"]


class Elastic(Penalty):
    r"""A penalty f plus a ridge term, :math:`\Omega(W) = f(W) + \tfrac{\rho}{2} \|W\|_F^2`.

    Parameters
    ----------
    penalty : Penalty
        The penalty f.
    ridge : float
        The weight :math:`\rho` of the ridge term, positive and finite.

    Notes
    -----
    The term makes the training problem strongly convex, so that its solution is unique, and lets
    correlated features share their weight. Its conjugate is finite everywhere, so that every dual point
    bounds the optimum.

    References
    ----------
    H. Zou and T. Hastie, Regularization and variable selection via the elastic net,
    Journal of the Royal Statistical Society B 67, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from smtl.penalties import L21
    >>> penalty = Elastic(L21(), ridge=2.0)
    >>> penalty
    Elastic(penalty=L21(), ridge=2.0)
    >>> penalty.value(np.array([[3.0], [4.0]]))
    30.0
    """

    def __init__(self, penalty: Penalty, ridge: float) -> None:
        if not isinstance(penalty, Penalty):
            raise TypeError(
                f"penalty must be an instance of smtl.penalties.Penalty, got {penalty!r} instead. "
                "Use smtl.penalties.get_penalty to make one from a name."
            )
        if not (isinstance(ridge, int | float | np.integer | np.floating) and math.isfinite(ridge) and ridge > 0.0):
            raise ValueError(f"ridge must be a finite number > 0, got {ridge!r} instead.")
        self.penalty = penalty
        self.ridge = float(ridge)

    @property
    def kernel(self) -> Kernel | None:  # type: ignore[override]
        """That of the penalty f, with the ridge term added; None where f has none."""
        kernel = self.penalty.kernel
        return None if kernel is None else kernel._replace(ridge=kernel.ridge + self.ridge)

    @property
    def rotates(self) -> bool:  # type: ignore[override]
        """Whether the penalty f does not change when the features are rotated."""
        return self.penalty.rotates

    def value(self, W: Float) -> float:
        r"""Return :math:`f(W) + \tfrac{\rho}{2} \|W\|_F^2`.

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
        >>> from smtl.penalties import L11
        >>> Elastic(L11(), ridge=1.0).value(np.array([[1.0, -1.0]]))
        3.0
        """
        return self.penalty.value(W) + 0.5 * self.ridge * squared_norm(W)

    def prox(self, M: Float, step: float) -> Float:
        r"""Return :math:`\operatorname{prox}_f\bigl(M/(1 + t\rho),\; t/(1 + t\rho)\bigr)`.

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
        >>> from smtl.penalties import L11
        >>> Elastic(L11(), ridge=1.0).prox(np.array([[4.0, -1.0]]), 1.0)
        array([[1.5, 0. ]])
        """
        curvature = 1.0 + step * self.ridge
        return self.penalty.prox(M / curvature, step / curvature)

    def conjugate(self, Z: Float) -> float:
        r"""Return :math:`\Omega^*(Z) = \max_W \langle Z, W\rangle - f(W) - \tfrac{\rho}{2}\|W\|_F^2`.

        The maximiser is :math:`\operatorname{prox}_f(Z/\rho, 1/\rho)`. For a norm with spectrum v the maximum
        is :math:`\tfrac{1}{2\rho} \sum_k \max(v_k(Z) - 1, 0)^2`.

        Parameters
        ----------
        Z : ndarray of shape (n_tasks, n_features)
            A dual point.

        Returns
        -------
        float
            The conjugate, always finite.

        Examples
        --------
        >>> import numpy as np
        >>> from smtl.penalties import L11, Ridge
        >>> Elastic(L11(), ridge=0.5).conjugate(np.array([[3.0, -1.0]]))
        4.0
        >>> Elastic(Ridge(), ridge=1.0).conjugate(np.array([[3.0, -1.0]]))
        2.5
        """
        if isinstance(self.penalty, Norm):
            return squared_norm(np.maximum(self.penalty.spectrum(Z) - 1.0, 0.0)) / (2.0 * self.ridge)
        W = self.penalty.prox(Z / self.ridge, 1.0 / self.ridge)
        return float(np.sum(Z * W)) - self.value(W)

    def lower_bound(self, Z: Float, d: float) -> tuple[float, float]:
        r"""Return :math:`\max_{0 \le s \le 1} \; s\,d - \Omega^*(sZ)`, and the s that attains it.

        For a norm with spectrum v the function is :math:`s\,d - \tfrac{1}{2\rho}\sum_k \max(s v_k - 1, 0)^2`,
        concave and quadratic between the points :math:`1/v_k`. With v sorted, the largest first, its slope at
        :math:`1/v_k` is :math:`d - (A_k/v_k - B_k)/\rho`, where :math:`A_k` and :math:`B_k` sum the first k
        squares and values. The last k with a slope that is not negative gives the maximiser
        :math:`s = (\rho d + B_k)/A_k`: exact, and no dearer than the sort. The spectrum is first raised by
        what rounding may have taken from it.

        Any other penalty takes the golden section of `Penalty.lower_bound`.

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
        >>> from smtl.penalties import L11
        >>> bound, s = Elastic(L11(), ridge=1.0).lower_bound(np.array([[2.0, 1.0]]), 1.0)
        >>> round(bound, 9), round(s, 9)
        (0.625, 0.75)
        """
        if not isinstance(self.penalty, Norm):
            return super().lower_bound(Z, d)
        if d <= 0.0:
            return 0.0, 0.0
        v = self.penalty.spectrum(Z)
        v = v + rounding(Z.size) * v.max(initial=0.0)
        v = np.sort(v[v > 1.0])[::-1]
        if v.size == 0:
            return d, 1.0
        squares, sums = np.cumsum(v * v), np.cumsum(v)
        k = max(int(np.count_nonzero(self.ridge * d + sums >= squares / v)), 1) - 1
        s = min(1.0, float((self.ridge * d + sums[k]) / squares[k]))
        conjugate = squared_norm(np.maximum(s * v - 1.0, 0.0)) / (2.0 * self.ridge)
        bound = s * d - conjugate - rounding(v.size) * (s * d + conjugate)
        return (bound, s) if bound > 0.0 else (0.0, 0.0)
