r"""What the two ADMM solvers share: the choice of mu, and the residuals."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.settings import SETTINGS

__all__ = ["first_mu", "norm", "relative_residuals"]

Float: TypeAlias = npt.NDArray[np.float64]


def first_mu(C: float, G: Float) -> float:
    """Return the mu to start with, from the slopes of the first planes.

    Parameters
    ----------
    C : float
        The weight of the loss.
    G : ndarray of shape (n_tasks, n_features)
        The slopes.

    Returns
    -------
    float
        Positive.

    Examples
    --------
    >>> first_mu(10.0, np.array([[1.0, 0.0], [0.0, 3.0]]))
    40.0
    """
    return SETTINGS.first_mu * C * float(np.mean(np.einsum("ij,ij->i", G, G))) or 1.0


def relative_residuals(W: Float, S: Float, S_old: Float, Z: Float, mu: float) -> tuple[float, float]:
    """Return the primal and the dual residual, relative to what they are residuals of.

    Parameters
    ----------
    W, S, S_old, Z : ndarray of shape (n_tasks, n_features)
        The variables of ADMM, S also before the step.
    mu : float
        The penalty parameter.

    Returns
    -------
    primal, dual : float
        Relative residuals.

    Examples
    --------
    >>> I = np.eye(2)
    >>> relative_residuals(I, I, 2 * I, I, 0.5)
    (0.0, 0.5)
    """
    tiny = 1e-300
    primal = norm(W - S) / max(norm(W), norm(S), tiny)
    dual = mu * norm(S - S_old) / max(norm(Z), tiny)
    return primal, dual


def norm(A: Float) -> float:
    """Return the Frobenius norm, with fewer steps on the way than NumPy's: it is asked for often, of small arrays.

    Parameters
    ----------
    A : ndarray
        Of any shape.

    Returns
    -------
    float
        The norm.

    Examples
    --------
    >>> norm(np.array([[3.0], [4.0]]))
    5.0
    """
    entries = A.ravel(order="K")
    return math.sqrt(entries @ entries)
