"""One problem for many values of C, each solution the start of the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from smtl.solvers.base import Solution, Start, solve
from smtl.solvers.seam import Trainable

__all__ = ["PAPER_CS", "grid_of_Cs", "solve_path"]

Float: TypeAlias = npt.NDArray[np.float64]

# The default grid goes from the critical C up over so many decades.
DECADES = 3.0

_TEN = np.arange(1, 11)
# The paper's grid, 60 values from 0.001 to 800 as it lists them: 0.01 and 0.1 are there twice.
PAPER_CS: Float = np.sort(
    np.concatenate([_TEN / 1000.0, _TEN / 100.0, _TEN / 10.0, 2.0 * _TEN, 40.0 * _TEN, 40.0 * (_TEN + 10)])
)


def grid_of_Cs(Cs: int | str | Iterable[float], lowest: float) -> Float:
    """Return the values of C to try, in ascending order.

    Parameters
    ----------
    Cs : int, "paper" or iterable of float
        How many values, from ``lowest`` over three decades (a single one is the middle); the grid of the paper; or
        the values.
    lowest : float
        Where the grid begins if Cs is a number: the data's own `critical_C`.

    Returns
    -------
    ndarray of shape (n_Cs,)
        Positive values.

    Examples
    --------
    >>> grid_of_Cs(4, 0.25)
    array([  0.25,   2.5 ,  25.  , 250.  ])
    >>> len(grid_of_Cs("paper", 0.25))
    60
    """
    if isinstance(Cs, str):
        if Cs != "paper":
            raise ValueError(f"Cs must be a number of values, a list of them, or 'paper', got {Cs!r} instead.")
        return PAPER_CS.copy()
    if isinstance(Cs, Real):
        if not isinstance(Cs, Integral) or isinstance(Cs, bool) or Cs < 1:
            raise ValueError(
                f"Cs must be a positive whole number of values, a list of them, or 'paper', got {Cs!r} instead. For "
                f"one value of C, give [{Cs!r}]."
            )
        # A single value is that in the middle: at the lowest there is no model yet.
        return lowest * (np.logspace(0.0, DECADES, int(Cs)) if Cs > 1 else np.array([10.0 ** (DECADES / 2)]))
    try:
        values = np.sort(np.asarray(list(cast(Iterable[float], Cs)), dtype=np.float64).ravel())
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Cs must be a number of values, a list of positive numbers, or 'paper', got {Cs!r} instead."
        ) from error
    if len(values) == 0 or not (np.isfinite(values).all() and values[0] > 0.0):
        raise ValueError(f"Cs must hold positive numbers, got {Cs!r} instead.")
    return values


def solve_path(
    problem: Trainable,
    Cs: Iterable[float],
    solver: str = "auto",
    *,
    start: Start | None = None,
    **options: Any,
) -> Iterator[Solution]:
    """Solve a problem for one value of C after the other, each to the same certified gap as by itself.

    Weights, multipliers, mu and the planes that still have weight are carried over. Planes hold for every C, so that
    in ascending order of C most of the work is done once.

    Parameters
    ----------
    problem : Trainable
        What to solve.
    Cs : iterable of float
        Values of C; ascending is fastest.
    solver : str, default="auto"
        One of `solver_names`.
    start : Start, optional
        Where to start from.
    **options
        For `solve`: tol, max_iter, verbose, warn.

    Yields
    ------
    Solution
        One for each C.

    Examples
    --------
    >>> from smtl.metrics import AUC
    >>> from smtl.penalties import L11
    >>> from smtl.solvers import Problem
    >>> from smtl.tasks import SharedRows
    >>> X = np.array([[4.0], [0.0]])
    >>> problem = Problem(SharedRows(X, np.array([[1], [-1]], dtype=np.int8)), AUC(), L11())
    >>> path = solve_path(problem, [0.1, 0.25, 10.0], tol=1e-6)
    >>> [round(solution.certificate.objective, 4) for solution in path]
    [0.1, 0.25, 0.25]
    """
    span = problem.in_span()
    if span is not None:
        start = None if start is None else start.for_problem(problem).into(span)
        for solution in solve_path(span.problem, Cs, solver, start=start, **options):
            yield solution.out_of(span)
        return
    last = 0.0
    for C in map(float, Cs):
        if start is not None and last > 0.0:
            start = _onwards(start, C / last)
        solution = solve(problem, C, solver, start=start, **options)
        start = replace(solution.start, S=solution.certificate.W)  # nearer to the optimum than the last weights
        last = C
        yield solution


def _onwards(start: Start, factor: float) -> Start:
    """Return where to start a C that is so many times the last one."""
    if not start.S.any():
        return replace(start, mu=None, rho=None)  # nothing is known yet of how the weights will be
    # The curvature that the loss brings to the W-step grows with C, and mu is measured by it.
    return start if start.mu is None else replace(start, mu=start.mu * factor)
