r"""What the two ADMM solvers share: the choice of mu, and the residuals."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["RELAXATION", "balance", "first_mu", "is_due", "norm", "residuals"]

Float: TypeAlias = npt.NDArray[np.float64]

# Over-relaxation of the W-step.
RELAXATION = 1.4

# mu starts at this multiple of C times the mean squared slope, the curvature that one plane brings to the W-step.
FIRST_MU = 0.8


def first_mu(C: float, G: Float) -> float:
    """Return the mu to start with, from the slopes of the first planes.

    Parameters
    ----------
    C : float
        The weight of the loss.
    G : ndarray of shape (n_features, n_tasks)
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
    return FIRST_MU * C * float(np.mean(np.einsum("ij,ij->j", G, G))) or 1.0


def residuals(W: Float, S: Float, S_old: Float, Z: Float, mu: float) -> tuple[float, float]:
    """Return the primal and the dual residual, relative to what they are residuals of.

    Parameters
    ----------
    W, S, S_old, Z : ndarray of shape (n_features, n_tasks)
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
    >>> residuals(I, I, 2 * I, I, 0.5)
    (0.0, 0.5)
    """
    tiny = 1e-300
    primal = norm(W - S) / max(norm(W), norm(S), tiny)
    dual = mu * norm(S - S_old) / max(norm(Z), tiny)
    return primal, dual


def is_due(n_iter: int) -> bool:
    """Return whether mu may be changed after so many iterations.

    It is changed ever more rarely, as ADMM is sure to converge only once mu stands still.

    Parameters
    ----------
    n_iter : int
        The number of iterations done.

    Returns
    -------
    bool
        Whether to `balance`.

    Examples
    --------
    >>> [n for n in range(1, 21) if is_due(n)]
    [3, 5, 10, 15, 20]
    """
    wait = 5 if n_iter <= 50 else 25 if n_iter <= 200 else 100
    return n_iter == 3 or n_iter % wait == 0


def balance(primal: float, dual: float) -> float:
    """Return the factor for mu that evens out the relative residuals (Wohlberg 2017).

    Parameters
    ----------
    primal, dual : float
        Relative residuals.

    Returns
    -------
    float
        The factor.

    Examples
    --------
    >>> balance(0.4, 0.1)
    2.0
    >>> balance(0.11, 0.1)
    1.0
    """
    factor = min(max(math.sqrt(primal / max(dual, 1e-300)), 0.2), 5.0)
    return factor if abs(math.log(factor)) > 0.4 else 1.0


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
