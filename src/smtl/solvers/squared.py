r"""Multi-task regression: :math:`\min_W \frac{1}{2n} \sum_i |y_i - X_i w_i - b_i|^2 + \alpha\,\Omega(W)`.

Two ways, by the norm.

- **l11 and l21**: block coordinate descent on Gram matrices, over a working set of features that grows until no
  feature outside violates the optimality condition. A cycle costs :math:`O(pqm)` for p features in the set, q of them
  not zero, whatever the number of rows; the data is looked at once for each working set.
- **Any other norm** (the trace norm): accelerated proximal gradient with restarts where the momentum points uphill. A
  step costs a product with the Gram matrix, or two with X where that is less, and a prox.

Both end with a certificate. With residuals R, :math:`\theta = sR/n` is a dual point for every s for which
:math:`s\,\Omega^\circ(X'R/n) \le \alpha`, and bounds the objective by :math:`s \langle Y, R\rangle/n - s^2|R|^2/2n`.

References
----------
J. Liu, S. Ji, J. Ye, Multi-task feature learning via efficient l2,1-norm minimization, UAI 2009.

S. Ji, J. Ye, An accelerated gradient method for trace norm minimization, ICML 2009.

B. O'Donoghue, E. Candes, Adaptive restart for accelerated gradient schemes, Foundations of Computational Mathematics
15, 2015.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.penalties import L11, L21, Norm
from smtl.penalties.base import rounding
from smtl.solvers.certificate import Certificate
from smtl.solvers.squared_data import Squares

__all__ = ["largest_alpha", "lower_bound", "solve_squared"]

Float: TypeAlias = npt.NDArray[np.float64]

# Up to so many features are all in the working set from the beginning; otherwise it has room for so many new ones.
ALL, FIRST = 64, 32
# A working set is solved to this part of the gap that is left, and to no more than is asked for in the end.
INNER, LAST = 0.03, 0.9
# Gram matrices may have so many entries, or as many as X.
GRAM_ENTRIES = 2**22
# The gap is looked at every so many proximal steps.
EVERY = 10


def largest_alpha(squares: Squares, penalty: Norm) -> float:
    r"""Return the least :math:`\alpha` for which W = 0 is optimal, :math:`\Omega^\circ(X'Y/n)`.

    Parameters
    ----------
    squares : Squares
        The data.
    penalty : Norm
        The norm.

    Returns
    -------
    float
        The dual norm of the gradient at zero.

    Examples
    --------
    >>> largest_alpha(Squares(np.array([[-1.0], [1.0]]), np.array([[-3.0], [3.0]])), L21())
    3.0
    """
    return penalty.dual_norm(squares.B)


def lower_bound(penalty: Norm, alpha: float, Q: Float, inner: float, square: float) -> float:
    r"""Return the largest :math:`s \langle Y, R\rangle/n - s^2|R|^2/2n` with :math:`s\,\Omega^\circ(X'R/n) \le \alpha`.

    Parameters
    ----------
    penalty : Norm
        The norm.
    alpha : float
        Its weight.
    Q : ndarray of shape (n_tasks, n_features)
        :math:`X'R/n`.
    inner, square : float
        :math:`\langle Y, R\rangle/n` and :math:`|R|^2/n`.

    Returns
    -------
    float
        Not above the optimum, nor below zero.

    Examples
    --------
    >>> round(lower_bound(L21(), 1.0, np.array([[2.0]]), 9.0, 9.0), 9)
    3.375
    """
    if not (inner > 0.0 and square > 0.0):
        return 0.0
    given_away = rounding(Q.size)
    ceiling = penalty.dual_norm(Q) * (1.0 + given_away)
    s = inner / square
    if s * ceiling > alpha:
        s = alpha / ceiling
    return max(0.0, s * inner * (1.0 - given_away) - 0.5 * s * s * square)


def solve_squared(
    squares: Squares, penalty: Norm, alpha: float, *, tol: float, max_iter: int, start: Float | None = None
) -> tuple[Certificate, int]:
    """Solve a regression problem to a certified gap.

    Parameters
    ----------
    squares : Squares
        The data.
    penalty : Norm
        The norm.
    alpha : float
        Its weight, positive.
    tol : float
        The relative gap to reach.
    max_iter : int
        The most cycles, or proximal steps.
    start : ndarray of shape (n_tasks, n_features), optional
        Weights to start from.

    Returns
    -------
    certificate : Certificate
        Weights, intercepts, objective and bound.
    n_iter : int
        Number of cycles or steps.

    Examples
    --------
    >>> squares = Squares(np.array([[-1.0], [1.0]]), np.array([[-3.0], [3.0]]))
    >>> certificate, _ = solve_squared(squares, L21(), 1.0, tol=1e-9, max_iter=100)
    >>> certificate.W, round(certificate.objective, 9)
    (array([[2.]]), 2.5)
    """
    certificate = Certificate()
    if start is None or not start.any():
        Q = squares.B
        certificate.see_weights(0.5 * squares.c, np.zeros(squares.shape), squares.y_mean)
        certificate.bound = lower_bound(penalty, alpha, Q, squares.c, squares.c)
    else:
        Q = see(certificate, squares, penalty, alpha, np.array(start))
    if certificate.gap <= tol:
        return certificate, 0
    if isinstance(penalty, L11 | L21):
        return certificate, coordinate_descent(certificate, squares, penalty, alpha, Q, tol, max_iter)
    return certificate, proximal_gradient(certificate, squares, penalty, alpha, Q, tol, max_iter)


def see(certificate: Certificate, squares: Squares, penalty: Norm, alpha: float, W: Float) -> Float:
    """Look at weights, with the data itself; return the negative gradient there."""
    R = squares.residuals(W)
    Q = squares.gradient(R)
    square = float(R @ R) / squares.n
    certificate.see_weights(0.5 * square + alpha * penalty.value(W), W, squares.intercept(W))
    bound = lower_bound(penalty, alpha, Q, float(squares.y @ R) / squares.n, square)
    certificate.bound = max(certificate.bound, bound)
    return Q


def coordinate_descent(
    certificate: Certificate, squares: Squares, penalty: L11 | L21, alpha: float, Q: Float, tol: float, max_iter: int
) -> int:
    """Solve by block coordinate descent on growing sets of features; return the number of cycles."""
    from smtl.kernels.coordinate import descend

    by_rows = isinstance(penalty, L21)
    d = squares.shape[1]
    W = certificate.W
    chosen, H = np.zeros(0, dtype=np.int64), np.zeros((0, 0, 1))
    if d <= ALL:
        chosen, H = np.arange(d), squares.gram(slice(None))
    n_iter = 0
    while n_iter < max_iter and certificate.gap > tol:
        if len(chosen) < d:
            slope = np.sqrt(np.einsum("ij,ij->j", Q, Q)) if by_rows else np.abs(Q).max(axis=0)
            outside = np.ones(d, dtype=bool)
            outside[chosen] = False
            if slope[outside].max(initial=0.0) > alpha:  # something outside the set has to change
                chosen = _working_set(slope, W)
                H = squares.gram(chosen)
        part = np.ascontiguousarray(W[:, chosen].T)  # the kernel goes from feature to feature
        n_iter += descend(
            H,
            np.ascontiguousarray(squares.B[:, chosen].T),
            squares.c,
            alpha,
            by_rows,
            part,
            np.ascontiguousarray(Q[:, chosen].T),
            # Where there are features outside the set, its own optimum is not what is looked for.
            0.0 if len(chosen) == d else INNER * (certificate.objective - certificate.bound),
            LAST * tol,
            max_iter - n_iter,
        )
        W = np.zeros_like(W)
        W[:, chosen] = part.T
        Q = see(certificate, squares, penalty, alpha, W)
    return n_iter


def _working_set(slope: Float, W: Float) -> npt.NDArray[np.int64]:
    """Return the features with weights, and those of the largest gradients."""
    d = len(slope)
    kept = np.any(W != 0.0, axis=0)
    size = min(d, FIRST + 2 * int(kept.sum()))
    return np.sort(np.argpartition(np.where(kept, -np.inf, -slope), size - 1)[:size])


def proximal_gradient(
    certificate: Certificate, squares: Squares, penalty: Norm, alpha: float, Q: Float, tol: float, max_iter: int
) -> int:
    """Solve by accelerated proximal gradient with restarts; return the number of steps."""
    apply = _hessian(squares)
    B, c = squares.B, squares.c
    W, HW = certificate.W, B - Q
    L = _largest_curvature(apply, squares.shape)
    V, HV, t = W, HW, 1.0
    for n_iter in range(1, max_iter + 1):
        while True:
            step = penalty.prox(V + (B - HV) / L, alpha / L)
            H_step = apply(step)
            D = step - V
            curvature, square = float(np.vdot(D, H_step - HV)), float(np.vdot(D, D))
            if curvature <= L * square * (1.0 + 1e-9):
                break
            L = 1.1 * curvature / square
        if float(np.vdot(V - step, step - W)) > 0.0:
            t = 1.0
        t_next = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        momentum = (t - 1.0) / t_next
        V = step + momentum * (step - W)
        HV = H_step + momentum * (H_step - HW)
        W, HW, t = step, H_step, t_next
        if n_iter % EVERY == 0 or n_iter == max_iter:
            fitted = float(np.vdot(B, W))
            square = max(c - 2.0 * fitted + float(np.vdot(W, HW)), 0.0)
            bound = lower_bound(penalty, alpha, B - HW, c - fitted, square)
            objective = 0.5 * square + alpha * penalty.value(W)
            if objective - max(bound, certificate.bound) <= LAST * tol * objective or n_iter == max_iter:
                see(certificate, squares, penalty, alpha, W)
                if certificate.gap <= tol:
                    return n_iter
    return max_iter


def _hessian(squares: Squares) -> Callable[[Float], Float]:
    """Return what multiplies weights with the Gram matrices: the matrices themselves, or X twice where that is less."""
    m, d = squares.shape
    n_matrices = 1 if squares.complete else m
    if n_matrices * d * d > max(GRAM_ENTRIES, squares.X.shape[0] * d):
        return lambda W: squares.B - squares.gradient(squares.residuals(W))
    H = squares.gram(slice(None))
    if squares.complete:
        shared = np.ascontiguousarray(H[:, :, 0])
        return lambda W: W @ shared
    own = np.ascontiguousarray(np.moveaxis(H, 2, 0))
    return lambda W: np.matmul(own, W[:, :, np.newaxis])[:, :, 0]


def _largest_curvature(apply: Callable[[Float], Float], shape: tuple[int, int]) -> float:
    """Return about the largest eigenvalue, from below: a step that proves too long for it raises it."""
    V = np.random.RandomState(0).standard_normal(shape)
    size = 0.0
    for _ in range(20):
        V /= np.linalg.norm(V) or 1.0
        V = apply(V)
        size = float(np.linalg.norm(V))
    return size or 1.0
