r"""Check a penalty from outside: by inequalities that a wrong value, prox or conjugate breaks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from smtl.penalties.base import Float, Norm, Penalty
from smtl.penalties.kernel import Kernel, shrunk, size_of

__all__ = ["check_penalty"]

# Relative to the size of the terms that are compared.
_RTOL = 1e-8
# A subgradient is known up to rounding, and a conjugate may be infinite one unit in the last place further.
_INSIDE = 1.0 - 1e-7
_GRID = [float(s) for s in (*np.linspace(0.0, 1.0, 17), *np.geomspace(1e-6, 1.0, 14))]


def check_penalty(
    penalty: Penalty,
    *,
    shape: tuple[int, int] = (4, 6),
    n_trials: int = 20,
    random_state: int | np.random.Generator = 0,
) -> None:
    r"""Raise an error if a penalty is wrong.

    Every right penalty has these properties. They are checked in this order, so that the first to fail
    tells which method is wrong:

    - :math:`\Omega(0) = 0`, :math:`\Omega \ge 0`, and :math:`\Omega` is convex along segments;
    - for :math:`p = \operatorname{prox}(M, t)` and every U, the three-point inequality
      :math:`t\Omega(p) + \tfrac12\|p - M\|^2 + \tfrac12\|U - p\|^2 \le t\Omega(U) + \tfrac12\|U - M\|^2`;
    - for a `Norm`: homogeneity, :math:`\langle Z, W\rangle \le \Omega(W)\,\Omega^\circ(Z)`, and the dual norm
      is the smallest step whose prox is zero;
    - :math:`\langle Z, W\rangle \le \Omega(W) + \Omega^*(Z)`, with equality at :math:`W = p, Z = (M - p)/t`;
    - ``lower_bound`` is not above what its own s gives, and not below the best s of a grid;
    - ``kernel`` is None, or its formulas, compiled, give the same prox and the same dual norm;
    - no method modifies its arguments, and the prox keeps the shape.

    Parameters
    ----------
    penalty : Penalty
        What to check.
    shape : tuple of int, default=(4, 6)
        ``(n_tasks, n_features)`` of the matrices to try.
    n_trials : int, default=20
        How many random matrices to try, of magnitudes between 1e-6 and 1e6: dense, sparse, with rows or
        columns of zeros, and of low rank.
    random_state : int or numpy.random.Generator, default=0
        What draws them.

    Raises
    ------
    AssertionError
        It names the penalty, the property that does not hold, and the numbers that show it.

    Examples
    --------
    >>> from smtl.penalties import L11
    >>> check_penalty(L11())
    >>> class Wrong(L11):
    ...     def prox(self, M, step):
    ...         return super().prox(M, 2 * step)
    >>> check_penalty(Wrong())
    Traceback (most recent call last):
    ...
    AssertionError: Wrong(): prox must satisfy the three-point inequality ...
    """
    rng = np.random.default_rng(random_state)
    watched = _Watched(penalty)
    # Magnitude 1 comes first: there the numbers of a message are easiest to follow.
    scales = [1.0 if trial == 0 else 10.0 ** rng.uniform(-6.0, 6.0) for trial in range(n_trials)]
    trials = [
        (scale * _draw(rng, shape, kind=trial), scale * 10.0 ** rng.uniform(-2.0, 0.5))
        for trial, scale in enumerate(scales)
    ]
    # One property after the other, so that the blame falls on the right method.
    _check_zero(watched, shape)
    for M, _ in trials:
        _check_value(watched, M, rng)
    for M, step in trials:
        _check_prox(watched, M, step, rng)
        _check_kernel(watched, M, step)
    if isinstance(penalty, Norm):
        for M, _ in trials:
            _check_norm(watched, penalty, M, rng)
    for M, step in trials:
        _check_conjugate(watched, M, step, rng)
    for M, step in trials:
        _check_lower_bound(watched, M, step, rng)


class _Watched:
    """A penalty each call of which is checked for what holds whatever the arguments."""

    def __init__(self, penalty: Penalty) -> None:
        self.penalty = penalty

    def fail(self, what: str) -> None:
        raise AssertionError(f"{self.penalty!r}: {what}")

    def at_most(self, small: float, large: float, size: float, what: str, **where: object) -> None:
        """Fail unless small <= large, up to rounding of terms of that size; NaN fails."""
        if not small <= large + _RTOL * size:
            arguments = ", ".join(f"{name} = {value!r}" for name, value in where.items())
            self.fail(f"{what}, got {small!r} > {large!r} at {arguments} instead.")

    def value(self, W: Float) -> float:
        before = W.copy()
        value = self.penalty.value(W)
        self._unchanged("value", before, W)
        return value

    def prox(self, M: Float, step: float) -> Float:
        before = M.copy()
        p = self.penalty.prox(M, step)
        self._unchanged("prox", before, M)
        if p.shape != M.shape:
            self.fail(f"prox must keep the shape {M.shape}, got {p.shape} instead.")
        if not np.isfinite(p).all():
            self.fail(f"prox must be finite, got {p!r} for step {step!r} and M = {M!r} instead.")
        return p

    def conjugate(self, Z: Float) -> float:
        before = Z.copy()
        conjugate = self.penalty.conjugate(Z)
        self._unchanged("conjugate", before, Z)
        return conjugate

    def lower_bound(self, Z: Float, d: float) -> tuple[float, float]:
        before = Z.copy()
        bound, s = self.penalty.lower_bound(Z, d)
        self._unchanged("lower_bound", before, Z)
        return bound, s

    def _unchanged(self, method: str, before: Float, after: Float) -> None:
        if not np.array_equal(before, after):
            self.fail(f"{method} must not modify its argument, but it turned {before!r} into {after!r}.")


def _draw(rng: np.random.Generator, shape: tuple[int, int], kind: int | None = None) -> Float:
    """Draw a matrix of magnitude 1 with one of the structures that penalties look for."""
    W = rng.standard_normal(shape)
    kind = int(rng.integers(5)) if kind is None else kind % 5
    if kind == 1:
        W *= rng.random(shape) < 0.4
    elif kind == 2:
        W *= rng.random((shape[0], 1)) < 0.5
    elif kind == 3:
        W *= rng.random((1, shape[1])) < 0.5
    elif kind == 4:
        rank = int(rng.integers(1, min(shape) + 1))
        W = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    return W


def _half_square(A: Float) -> float:
    return 0.5 * float(np.sum(A * A))


def _check_zero(penalty: _Watched, shape: tuple[int, int]) -> None:
    zero = np.zeros(shape)
    if not abs(value := penalty.value(zero)) <= 1e-12:
        penalty.fail(f"value must be 0 at W = 0, got {value!r} instead.")
    if not abs(conjugate := penalty.conjugate(zero)) <= 1e-12:
        penalty.fail(f"conjugate must be 0 at Z = 0, got {conjugate!r} instead.")
    if (p := penalty.prox(zero, 1.0)).any():
        penalty.fail(f"prox must be 0 at M = 0, got {p!r} instead.")


def _check_value(penalty: _Watched, A: Float, rng: np.random.Generator) -> None:
    B = float(np.abs(A).max()) * _draw(rng, A.shape)
    for W in (A, -A, B):
        if not (value := penalty.value(W)) >= 0.0:
            penalty.fail(f"value must be non-negative, got {value!r} for W = {W!r} instead.")
    for start, end in ((A, B), (A, 0.0 * A), (A, -A), (A, A + 1e-3 * B)):
        share = rng.uniform(0.05, 0.95)
        chord = share * penalty.value(start) + (1.0 - share) * penalty.value(end)
        penalty.at_most(
            penalty.value(share * start + (1.0 - share) * end),
            chord,
            chord,
            "value must be convex: inside a segment at most the mean of its ends",
            start=start,
            end=end,
            share=share,
        )


def _competitors(penalty: _Watched, M: Float, p: Float, step: float, rng: np.random.Generator) -> Iterator[Float]:
    """Points that a wrong prox would lose against; any point may be tried, also other results of the prox."""
    scale = float(np.abs(M).max())
    yield np.zeros_like(M)
    yield M
    for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0):
        yield factor * p
        yield factor * M
        yield p + (factor - 1.0) * (M - p)
        yield penalty.prox(M, factor * step)
    for size in (1.0, 1e-1, 1e-2, 1e-3, 1e-4):
        yield p + size * scale * _draw(rng, M.shape)
        yield p + size * p * _draw(rng, M.shape)
    yield np.where(rng.random(M.shape) < 0.5, p, 0.0)
    yield np.where(rng.random((M.shape[0], 1)) < 0.5, p, 0.0)
    yield np.where(rng.random((1, M.shape[1])) < 0.5, p, 0.0)
    yield scale * _draw(rng, M.shape)


def _check_kernel(watched: _Watched, M: Float, step: float) -> None:
    kernel = watched.penalty.kernel
    if kernel is None:
        return
    if not (isinstance(kernel, Kernel) and kernel.ridge >= 0.0 and (kernel.dual_norm is not None or kernel.ridge > 0)):
        watched.fail(
            "kernel must be None or a smtl.penalties.Kernel with a dual norm or a positive ridge, got "
            f"{kernel!r} instead."
        )
    room = _RTOL * float(np.abs(M).max())
    curvature = 1.0 + step * kernel.ridge
    p, of_kernel = watched.prox(M, step), shrunk(kernel.shrink, M / curvature, step / curvature)
    if not np.abs(p - of_kernel).max() <= room:
        watched.fail(f"kernel must have the same prox, got {of_kernel!r} for {p!r} at M = {M!r} and step {step!r}.")
    if kernel.ridge == 0.0 and kernel.dual_norm is not None:
        size = size_of(kernel.dual_norm, M)
        bound, expected = watched.lower_bound(M, 1.0)[0], 1.0 / max(size, 1.0)
        if not abs(bound - expected) <= _RTOL * expected:
            watched.fail(
                f"kernel must have the same dual norm, got {size!r} at Z = {M!r}, with which lower_bound(Z, 1) would "
                f"be {expected!r} and not {bound!r}."
            )


def _check_prox(penalty: _Watched, M: Float, step: float, rng: np.random.Generator) -> None:
    p = penalty.prox(M, step)
    at_p = step * penalty.value(p) + _half_square(p - M)
    for U in _competitors(penalty, M, p, step, rng):
        at_u = step * penalty.value(U) + _half_square(U - M)
        penalty.at_most(
            at_p + _half_square(U - p),
            at_u,
            at_u,
            "prox must satisfy the three-point inequality "
            "t Omega(p) + |p - M|^2/2 + |U - p|^2/2 <= t Omega(U) + |U - M|^2/2",
            t=step,
            M=M,
            p=p,
            U=U,
        )


def _check_norm(watched: _Watched, norm: Norm, M: Float, rng: np.random.Generator) -> None:
    W = _draw(rng, M.shape)
    factor = 10.0 ** rng.uniform(-3.0, 3.0)
    value, dual = norm.value(M), norm.dual_norm(M)
    for what, got, wanted in (
        ("value", norm.value(-factor * M), factor * value),
        ("dual_norm", norm.dual_norm(-factor * M), factor * dual),
    ):
        if not abs(got - wanted) <= _RTOL * wanted:
            watched.fail(f"{what} must scale with its argument, got {got!r} instead of {wanted!r}.")
    size = float(np.linalg.norm(M) * np.linalg.norm(W))
    watched.at_most(
        abs(float(np.sum(M * W))),
        norm.value(W) * dual,
        size,
        "dual_norm must satisfy <Z, W> <= value(W) dual_norm(Z)",
        Z=M,
        W=W,
    )
    if not dual > 0.0:
        if M.any():
            watched.fail(f"dual_norm must be positive where Z is not 0, got {dual!r} for Z = {M!r} instead.")
        return
    if np.abs(watched.prox(M, (1.0 + 1e-6) * dual)).max() > _RTOL * np.abs(M).max():
        watched.fail(f"dual_norm is too small: at a larger step than {dual!r} the prox of Z = {M!r} is not 0.")
    if not watched.prox(M, (1.0 - 1e-4) * dual).any():
        watched.fail(f"dual_norm is too large: already at a smaller step than {dual!r} the prox of Z = {M!r} is 0.")


def _check_conjugate(penalty: _Watched, M: Float, step: float, rng: np.random.Generator) -> None:
    p = penalty.prox(M, step)
    subgradient = _INSIDE * (M - p) / step
    value, conjugate, inner = penalty.value(p), penalty.conjugate(subgradient), float(np.sum(subgradient * p))
    size = value + float(np.linalg.norm(subgradient) * np.linalg.norm(p))
    if not abs(value + conjugate - inner) <= (1.0 - _INSIDE) * value + 10 * _RTOL * size:
        penalty.fail(
            "conjugate must satisfy Omega(p) + Omega*(Z) = <Z, p> at p = prox(M, t), Z = (M - p)/t, got "
            f"{value!r} + {conjugate!r} != {inner!r} for M = {M!r} and step {step!r} instead."
        )
    scale = 10.0 ** rng.uniform(-6.0, 6.0)
    for Z in (*(c * subgradient for c in (0.5, 1.0, 1.001, 1.1)), scale * _draw(rng, M.shape)):
        conjugate = penalty.conjugate(Z)
        if not conjugate >= 0.0:
            penalty.fail(f"conjugate must be non-negative, got {conjugate!r} for Z = {Z!r} instead.")
        for W in (p, 10.0 * p, M, Z, scale * _draw(rng, M.shape), np.sign(Z)):
            inner = float(np.sum(Z * W))
            value = penalty.value(W)
            size = value + float(np.linalg.norm(Z) * np.linalg.norm(W))
            penalty.at_most(
                inner,
                value + conjugate,
                size,
                "conjugate must satisfy <Z, W> <= Omega(W) + Omega*(Z) for all W",
                Z=Z,
                W=W,
            )


def _check_lower_bound(penalty: _Watched, M: Float, step: float, rng: np.random.Generator) -> None:
    subgradient = (M - penalty.prox(M, step)) / step
    for Z in (10.0 ** rng.uniform(-1.0, 2.0) * subgradient, M):
        grid = [(s, penalty.conjugate(s * Z)) for s in _GRID]
        size = float(np.linalg.norm(Z))
        d = 10.0 ** rng.uniform(-3.0, 3.0) * size
        for offset in (d, d * size, 0.0, -d):
            _check_one_bound(penalty, Z, offset, grid)


def _check_one_bound(penalty: _Watched, Z: Float, d: float, grid: list[tuple[float, float]]) -> None:
    bound, s = penalty.lower_bound(Z, d)
    if not 0.0 <= s <= 1.0:
        penalty.fail(f"lower_bound must return s in [0, 1], got {s!r} for d = {d!r} and Z = {Z!r} instead.")
    # By concavity, with height 0 at s = 0, the height at a slightly smaller s loses no more than that share.
    reached = _INSIDE * s * d - penalty.conjugate(_INSIDE * s * Z)
    if not _INSIDE * bound <= reached + _RTOL * s * abs(d):
        penalty.fail(
            "lower_bound must not exceed s d - Omega*(s Z) at the s that it returns, got "
            f"{bound!r} > {reached!r} at s = {s!r} for d = {d!r} and Z = {Z!r} instead."
        )
    near = [(other, penalty.conjugate(other * Z)) for other in (0.99 * s, min(1.0, 1.01 * s))]
    best, at = max((other * d - conjugate, other) for other, conjugate in grid + near)
    if not bound >= best - 1e-6 * best - _RTOL * s * abs(d):
        penalty.fail(
            "lower_bound must be the largest s d - Omega*(s Z) over s in [0, 1], got "
            f"{bound!r} at s = {s!r} < {best!r} at s = {at!r} for d = {d!r} and Z = {Z!r} instead."
        )
