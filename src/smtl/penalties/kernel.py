"""A penalty's formulas for compiled loops, and their use from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Kernel", "shrunk", "size_of"]

Float: TypeAlias = npt.NDArray[np.float64]


class Kernel(NamedTuple):
    r"""What compiled loops are told of a penalty: a norm, and the weight of a ridge term beside it.

    The formulas are functions in what numba compiles: loops over plain arrays. They are compiled when a model is
    fitted. They must not raise.

    Attributes
    ----------
    shrink : callable
        Called with a matrix and a step t; overwrites the matrix by the prox of t times the norm.
    dual_norm : callable or None
        Called with a matrix; returns the dual norm of the norm. Not needed where there is a ridge term.
    ridge : float
        The weight :math:`\rho` of :math:`\tfrac{\rho}{2} \|W\|_F^2`.
    spectral : bool
        Whether the formulas need singular values, which are dear.

    Examples
    --------
    >>> from smtl.penalties import L21, Elastic
    >>> Elastic(L21(), ridge=0.5).kernel.ridge
    0.5
    """

    shrink: Callable[[Float, float], None]
    dual_norm: Callable[[Float], float] | None = None
    ridge: float = 0.0
    spectral: bool = False


def shrunk(formula: Callable[[Float, float], None], M: npt.ArrayLike, step: float) -> Float:
    """Return what a shrink makes of a copy of M.

    Parameters
    ----------
    formula : callable
        As `Kernel.shrink`.
    M : array-like of shape (n_tasks, n_features)
        The point to start from.
    step : float
        The step.

    Returns
    -------
    ndarray of shape (n_tasks, n_features)
        The prox.

    Examples
    --------
    >>> from smtl.penalties import L11
    >>> shrunk(L11.kernel.shrink, [[3.0, -0.5]], 1.0)
    array([[2., 0.]])
    """
    from smtl.kernels import formulas

    S = np.array(M, dtype=np.float64, order="C")
    formulas.apply_shrink(formulas.address(formula, formulas.SHRINK), S, float(step))
    return S


def size_of(formula: Callable[[Float], float], Z: npt.ArrayLike) -> float:
    """Return what a formula like `Kernel.dual_norm` gives for Z.

    Parameters
    ----------
    formula : callable
        The formula.
    Z : array-like of shape (n_tasks, n_features)
        A dual point.

    Returns
    -------
    float
        The dual norm.

    Examples
    --------
    >>> from smtl.penalties import L11
    >>> size_of(L11.kernel.dual_norm, [[3.0, -0.5]])
    3.0
    """
    from smtl.kernels import formulas

    Z = np.ascontiguousarray(Z, dtype=np.float64)
    return float(formulas.apply_size(formulas.address(formula, formulas.SIZE), Z))
