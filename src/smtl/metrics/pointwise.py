r"""Metrics that are a sum over rows of a convex loss of the margin."""

from __future__ import annotations

import functools
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Metric, Offsets, Planes, compiled, plane_of_one
from smtl.metrics.spread_sums import sums
from smtl.metrics.spreading import Ask, SpreadOracle

__all__ = ["PointwiseMetric"]

# Compiled losses, by class.
_COMPILED: dict[Any, Any] = {}


class PointwiseMetric(Metric):
    r"""A metric trained on :math:`G(s) = \sum_k \ell(y_k s_k)` with a convex loss :math:`\ell` of the margin.

    A subclass writes `loss`, the value and the slope of :math:`\ell`, as a static method in plain arithmetic: it is
    compiled when a model is fitted. The plane at s is the tangent: :math:`c_k = -y_k \ell'(y_k s_k)` and
    :math:`\Delta = G(s) + s'c`.

    Examples
    --------
    The squared hinge loss:

    >>> from smtl.testing import check_metric
    >>> class SquaredHinge(PointwiseMetric):
    ...     smooth = True  # the slope is continuous: trained by a solver for smooth losses
    ...
    ...     @staticmethod
    ...     def loss(margin):
    ...         short = max(0.0, 1.0 - margin)
    ...         return short * short, -2.0 * short
    ...     def score(self, y, s):
    ...         return float(np.mean((np.asarray(y) > 0) == (np.asarray(s) > 0)))
    >>> check_metric(SquaredHinge())
    """

    rests_on: ClassVar[dict[str, tuple[str, ...]]] = {
        "oracle": ("loss",),
        "planes": ("loss",),
        "smooth": ("loss",),
        "spread": ("loss",),
        "curvatures": ("loss",),
    }

    @staticmethod
    @abstractmethod
    def loss(margin: float) -> tuple[float, float]:
        r"""Return :math:`\ell(t)` and its slope :math:`\ell'(t)` at the margin t.

        Parameters
        ----------
        margin : float
            The margin :math:`t = y s`.

        Returns
        -------
        value : float
            Non-negative, convex and non-increasing in the margin.
        slope : float
            A subgradient.
        """

    def oracle(self, scores: npt.ArrayLike, y: npt.ArrayLike) -> tuple[float, Float]:
        """Return the tangent plane at the scores.

        Parameters
        ----------
        scores : array-like of shape (n,)
            The scores s.
        y : array-like of shape (n,)
            Labels, +1 and -1, at least one of each.

        Returns
        -------
        Delta : float
            The plane's offset.
        c : ndarray of shape (n,)
            The plane's coefficients.
        """
        return plane_of_one(functools.partial(PointwiseMetric.planes, self), scores, y)

    def planes(
        self,
        scores: Float,
        y: Labels,
        ptr: Offsets,
        *,
        shift: Float,
        with_intercept: bool,
        eps: float,
        weights: Float | None = None,
    ) -> Planes:
        """Return the planes of all tasks; see `Metric.planes`.

        Parameters
        ----------
        scores, y, ptr, shift, with_intercept, eps
            As in `Metric.planes`.
        weights : ndarray of shape (n_rows,), optional
            What each row counts.

        Returns
        -------
        delta, c, value : ndarray
            As in `Metric.planes`.
        """
        from smtl.kernels.pointwise import pointwise_planes

        m = len(ptr) - 1
        delta, value, c = np.empty(m), np.empty(m), np.empty(len(scores))
        each = np.empty(0) if weights is None else weights
        pointwise_planes(self._compiled(), scores, y, each, ptr, with_intercept, shift, eps, c, delta, value)
        return delta, c, value

    def curvatures(self, scores: Float, y: Labels, ptr: Offsets, shift: Float) -> Float:
        """Return the second derivatives of all rows, by differences of the slope; see `Metric.curvatures`.

        Parameters
        ----------
        scores, y, ptr, shift
            As in `Metric.curvatures`.

        Returns
        -------
        ndarray of shape (n_rows,)
            As in `Metric.curvatures`.

        Examples
        --------
        >>> from smtl.metrics import Log
        >>> Log().curvatures(np.zeros(2), np.array([1, -1], dtype=np.int8), np.array([0, 2]), np.zeros(1)).round(6)
        array([0.25, 0.25])
        """
        from smtl.kernels.pointwise import pointwise_curvatures

        second = np.empty(len(scores))
        pointwise_curvatures(self._compiled(), scores, y, ptr, shift, second)
        return second

    def spread(self, ask: Ask) -> SpreadOracle:  # noqa: D102
        return sums(self, ask)

    def _compiled(self) -> Any:
        """Return `loss` in compiled form."""
        loss = type(self).loss
        if loss not in _COMPILED:
            from numba import float64, njit, types

            signature = types.UniTuple(float64, 2)(float64)
            _COMPILED[loss] = compiled(f"loss of {self!r}", njit(signature, error_model="numpy"), loss)
        return _COMPILED[loss]
