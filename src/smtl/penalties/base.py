r"""What a penalty must provide: its value, its prox, its conjugate, and the lower bound built from that."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.penalties.kernel import Kernel
from smtl.registry import Registered

__all__ = ["Float", "Norm", "Penalty", "rounding"]

Float: TypeAlias = npt.NDArray[np.float64]


def rounding(size: int) -> float:
    r"""Bound the relative rounding error of a sum of squares, or of a largest singular value, in float64.

    Parameters
    ----------
    size : int
        How many numbers enter it.

    Returns
    -------
    float
        ``(8 + size)`` units in the last place: the worst case, far above what is usual. A lower bound that
        gives this much away stays one in floating point: 2e-15 for one number, 4e-10 for two million.

    Examples
    --------
    >>> rounding(103 * 14) < 1e-12
    True
    """
    return (8 + size) * float(np.finfo(np.float64).eps)


class Penalty(Registered, ABC):
    r"""A convex penalty :math:`\Omega` of the weights of all tasks.

    A subclass that sets ``name`` is found under it by `smtl.penalties.get_penalty`, and needs no other
    registration. `smtl.testing.check_penalty` tells whether a penalty keeps what follows.

    Attributes
    ----------
    kernel : Kernel or None
        Its formulas for compiled loops, of which `prox` and the dual norm are then made; None to have its methods
        called each time. It is not inherited.
    rotates : bool
        Whether it does not change when the features are rotated: :math:`\Omega(WQ') = \Omega(W)` for every Q with
        orthonormal columns, and so for the conjugate.

    Notes
    -----
    Conventions.

    - ``W``, ``M`` and ``Z`` are float64 arrays of shape ``(n_tasks, n_features)`` in C order: row i holds task i's
      weights. So is what a prox returns.
    - No method modifies its arguments.
    - :math:`\Omega` is convex, :math:`\Omega(W) \ge 0` and :math:`\Omega(0) = 0`; hence
      :math:`\Omega^*(Z) \ge 0` and :math:`\Omega^*(0) = 0`.
    - Parameters of the constructor are kept in attributes of the same name, so that ``repr`` shows how to
      rebuild it.

    Examples
    --------
    A penalty on the negative weights only. What is not given, here ``lower_bound``, is derived:

    >>> import numpy as np
    >>> from smtl.testing import check_penalty
    >>> class Negative(Penalty):
    ...     def value(self, W):
    ...         return 0.5 * float(np.sum(np.minimum(W, 0.0) ** 2))
    ...     def prox(self, M, step):
    ...         return np.where(M < 0.0, M / (1.0 + step), M)
    ...     def conjugate(self, Z):
    ...         return 0.5 * float(np.sum(Z**2)) if np.all(Z <= 0.0) else np.inf
    >>> check_penalty(Negative())
    """

    known: ClassVar[dict[str, type[Any]]] = {}
    # A class that changes the formula has to give prox and conjugate again; its bound comes from the conjugate.
    rests_on: ClassVar[dict[str, tuple[str, ...]]] = {
        "prox": ("value",),
        "conjugate": ("value",),
        "lower_bound": ("value", "conjugate"),
        "rotates": ("value", "prox", "conjugate"),
    }
    kernel: Kernel | None = None
    rotates: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "kernel" not in vars(cls):
            cls.kernel = None  # a subclass of L21 may have another prox: what it does not say itself is not known

    @abstractmethod
    def value(self, W: Float) -> float:
        r"""Return :math:`\Omega(W)`.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            Weights.

        Returns
        -------
        float
            Non-negative, and 0 at ``W = 0``.
        """

    @abstractmethod
    def prox(self, M: Float, step: float) -> Float:
        r"""Return :math:`\arg\min_W \; t\,\Omega(W) + \tfrac12 \|W - M\|_F^2`.

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
        """

    @abstractmethod
    def conjugate(self, Z: Float) -> float:
        r"""Return :math:`\Omega^*(Z) = \sup_W \langle Z, W\rangle - \Omega(W)`.

        Parameters
        ----------
        Z : ndarray of shape (n_tasks, n_features)
            A dual point.

        Returns
        -------
        float
            Non-negative, possibly infinite.
        """

    def lower_bound(self, Z: Float, d: float) -> tuple[float, float]:
        r"""Return :math:`\max_{0 \le s \le 1} \; s\,d - \Omega^*(sZ)`, and the s that attains it.

        With :math:`Z = C\,G` and :math:`d = C \sum_i d_i` from one convex combination of planes for each
        task, this bounds the optimum of :math:`\Omega(W) + C \sum_i G_i(w_i)` from below; s < 1 mixes in the
        zero plane of the true answer. Here, for a penalty of which nothing more is known, by golden section:
        the function is concave, and 0 at s = 0. A part in 10^12 is given away, so that rounding cannot lift
        the bound above the maximum.

        Parameters
        ----------
        Z : ndarray of shape (n_tasks, n_features)
            The planes' combined slope.
        d : float
            The planes' combined offset.

        Returns
        -------
        bound : float
            Non-negative; never above the maximum.
        s : float
            In [0, 1], with ``bound <= s * d - conjugate(s * Z)``.
        """
        if d <= 0.0:
            return 0.0, 0.0
        s, height = _maximise(lambda s: s * d - self.conjugate(s * Z))
        kept = 1.0 - 1e-12
        bound = kept * height - rounding(0) * s * d
        return (bound, kept * s) if bound > 0.0 else (0.0, 0.0)


class Norm(Penalty):
    r"""A norm that sums a spectrum :math:`v(W) \ge 0`: :math:`\Omega(W) = \sum_k v_k(W)`.

    The spectrum is what the norm makes sparse: the entries' magnitudes (l11), one norm per feature (l21), or
    the singular values (trace). The dual norm is then the largest of it,
    :math:`\Omega^\circ(Z) = \max_k v_k(Z)`, and the conjugate is the indicator of the dual unit ball.

    A subclass provides `spectrum` and `prox`.

    Examples
    --------
    >>> import numpy as np
    >>> from smtl.penalties import get_penalty
    >>> W = np.array([[3.0, 0.0], [4.0, -1.0]])
    >>> for name in ["l11", "l21"]:
    ...     norm = get_penalty(name)
    ...     print(name, norm.spectrum(W), norm.value(W), norm.dual_norm(W))
    l11 [3. 0. 4. 1.] 8.0 4.0
    l21 [5. 1.] 6.0 5.0
    """

    rests_on: ClassVar[dict[str, tuple[str, ...]]] = {
        "value": ("spectrum",),
        "prox": ("spectrum",),
        "dual_norm": ("spectrum", "value"),
        "conjugate": ("spectrum", "dual_norm"),
        "lower_bound": ("spectrum", "dual_norm", "conjugate"),
    }

    @abstractmethod
    def spectrum(self, W: Float) -> Float:
        r"""Return the numbers :math:`v_k(W) \ge 0` whose sum is the norm.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            Weights.

        Returns
        -------
        ndarray of shape (n_values,)
            In no particular order.
        """

    def value(self, W: Float) -> float:
        r"""Return :math:`\Omega(W) = \sum_k v_k(W)`.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            Weights.

        Returns
        -------
        float
            The norm.
        """
        return float(self.spectrum(W).sum())

    def dual_norm(self, Z: Float) -> float:
        r"""Return :math:`\Omega^\circ(Z) = \max_{\Omega(W) \le 1} \langle Z, W\rangle = \max_k v_k(Z)`.

        It is also the smallest step whose prox of Z is zero.

        Parameters
        ----------
        Z : ndarray of shape (n_tasks, n_features)
            A dual point.

        Returns
        -------
        float
            The dual norm.
        """
        return float(self.spectrum(Z).max(initial=0.0))

    def conjugate(self, Z: Float) -> float:
        r"""Return 0 where :math:`\Omega^\circ(Z) \le 1`, and infinity elsewhere.

        Parameters
        ----------
        Z : ndarray of shape (n_tasks, n_features)
            A dual point.

        Returns
        -------
        float
            0 or infinity.
        """
        return 0.0 if self.dual_norm(Z) <= 1.0 else np.inf

    def lower_bound(self, Z: Float, d: float) -> tuple[float, float]:
        r"""Return :math:`s\,d` with the largest feasible scale, :math:`s = \min(1, 1/\Omega^\circ(Z))`.

        The dual norm is first raised by what rounding may have taken from it.

        Parameters
        ----------
        Z : ndarray of shape (n_tasks, n_features)
            The planes' combined slope.
        d : float
            The planes' combined offset.

        Returns
        -------
        bound : float
            ``s * d``, or 0 where d is negative.
        s : float
            The scale; 0 where d is not positive.

        Examples
        --------
        >>> import numpy as np
        >>> from smtl.penalties import L11
        >>> bound, s = L11().lower_bound(np.array([[4.0, -1.0]]), 2.0)
        >>> round(bound, 9), round(s, 9)
        (0.5, 0.25)
        """
        if d <= 0.0:
            return 0.0, 0.0
        ceiling = self.dual_norm(Z) * (1.0 + rounding(Z.size))
        s = 1.0 if ceiling <= 1.0 else 1.0 / ceiling
        return s * d, s


def _maximise(h: Callable[[float], float]) -> tuple[float, float]:
    """Maximise a concave h with h(0) = 0, -inf on the right perhaps, over [0, 1]: the argument, the value."""
    golden = 0.5 * (5.0**0.5 - 1.0)
    # Halving first makes the precision relative to the maximiser, however small that is.
    high, h_high = 1.0, h(1.0)
    while (h_half := h(0.5 * high)) >= h_high:
        high, h_high = 0.5 * high, h_half
        if high < 1e-60:
            return 0.0, 0.0
    best = (h_high, high)
    a, b = 0.5 * high, min(1.0, 2.0 * high)
    left, right = b - golden * (b - a), a + golden * (b - a)
    h_left, h_right = h(left), h(right)
    while b - a > 1e-13 * high:
        best = max(best, (h_left, left), (h_right, right))
        if h_left >= h_right:
            b, right, h_right = right, left, h_left
            left = b - golden * (b - a)
            h_left = h(left)
        else:
            a, left, h_left = left, right, h_right
            right = a + golden * (b - a)
            h_right = h(right)
    return best[1], best[0]
