r"""One linear model for all tasks: the problem of some labels, the data's own scale of C, and the solution."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from smtl.estimators.targets import Targets
from smtl.metrics import Metric
from smtl.penalties import Penalty
from smtl.solvers import Problem, Solution, Start, critical_C, solve

__all__ = ["Formula", "LinearModel", "Solving", "fit_linear", "largest_entry", "natural_C", "problem_of", "start_of"]

Float: TypeAlias = npt.NDArray[np.float64]

# C="auto" is this multiple of the data's own critical value.
AUTO = 20.0


class Formula(NamedTuple):
    """What is minimised, but for C.

    Attributes
    ----------
    metric : Metric
        What is trained on.
    penalty : Penalty
        What ties the tasks together.
    with_intercept : bool
        Whether each task has an intercept.
    """

    metric: Metric
    penalty: Penalty
    with_intercept: bool = True


class Solving(NamedTuple):
    """How a problem is solved.

    Attributes
    ----------
    solver : str
        The name of the solver.
    tol : float
        The relative gap to reach.
    max_iter : int
        The most iterations.
    verbose : int
        Log every so many iterations.
    """

    solver: str = "auto"
    tol: float = 1e-3
    max_iter: int = 5000
    verbose: int = 0


class LinearModel(NamedTuple):
    """Weights and intercepts of all tasks; those that cannot be learnt are constant.

    Attributes
    ----------
    coef : ndarray of shape (n_tasks, n_features)
        Weights.
    intercept : ndarray of shape (n_tasks,)
        Intercepts.
    C : float
        The C that was used; NaN where no task can be learnt.
    solution : Solution or None
        What the solver returned; None where no task can be learnt.
    """

    coef: Float
    intercept: Float
    C: float
    solution: Solution | None


def problem_of(
    X: Any,
    targets: Targets,
    formula: Formula,
    *,
    executor: ThreadPoolExecutor | None = None,
    n_threads: int = 1,
) -> Problem:
    """Return the problem of the tasks that can be learnt.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    targets : Targets
        Labels; some task has both classes.
    formula : Formula
        What is minimised.
    executor, n_threads
        As in `Problem`.

    Returns
    -------
    Problem
        Everything but C.
    """
    learnable = targets.learnable()
    return Problem(
        targets.tasks(X, learnable),
        formula.metric,
        formula.penalty,
        with_intercept=formula.with_intercept,
        offset=targets.flat_offset(learnable),
        executor=executor,
        n_threads=n_threads,
    )


def natural_C(problem: Problem, X: Any) -> float:
    """Return the data's own scale for C: the critical value, around which the weights become zero.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    X : ndarray or sparse array of shape (n_samples, n_features)
        Its features.

    Returns
    -------
    float
        Positive.
    """
    C = critical_C(problem)
    # Where slopes are nothing but rounding errors, there is nothing to learn, and any C will do.
    return C if C * largest_entry(X) < 1e12 else 1.0 / AUTO


def largest_entry(X: Any) -> float:
    """Return the largest absolute value of X.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.

    Returns
    -------
    float
        0 where there is none.

    Examples
    --------
    >>> largest_entry(np.array([[1.0, -2.0]]))
    2.0
    """
    values = X.data if sp.issparse(X) else X
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def fit_linear(
    X: Any,
    targets: Targets,
    formula: Formula,
    C: float | str,
    solving: Solving,
    *,
    start: Start | None = None,
    threading: tuple[ThreadPoolExecutor | None, int] = (None, 1),
    warn: bool = True,
) -> LinearModel:
    """Fit a model to data that are checked already.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features.
    targets : Targets
        Labels.
    formula : Formula
        What is minimised.
    C : float or "auto"
        Weight of the loss; "auto" is 20 times the data's critical value.
    solving : Solving
        How.
    start : Start, optional
        Where to start from; left aside if it is of other features or tasks.
    threading : (executor, n_threads)
        Threads to spread the tasks over.
    warn : bool, default=True
        Whether to warn where the gap is not reached.

    Returns
    -------
    LinearModel
        Weights and intercepts.
    """
    learnable = targets.learnable()
    coef, intercept = np.zeros((len(targets.names), X.shape[1])), targets.constants()
    if len(learnable) == 0:
        return LinearModel(coef, intercept, np.nan, None)
    problem = problem_of(X, targets, formula, executor=threading[0], n_threads=threading[1])
    C = AUTO * natural_C(problem, X) if isinstance(C, str) else float(C)
    if start is not None and start.S.shape != problem.shape:
        start = None
    solution = solve(
        problem,
        C,
        solving.solver,
        tol=solving.tol,
        max_iter=solving.max_iter,
        start=start,
        verbose=solving.verbose,
        warn=warn,
    )
    coef[learnable], intercept[learnable] = solution.certificate.W, solution.certificate.intercept
    return LinearModel(coef, intercept, C, solution)


def start_of(coef: Float, intercept: Float) -> Start:
    """Return given weights as where a solver starts from.

    Parameters
    ----------
    coef : ndarray of shape (n_tasks, n_features)
        Weights of the tasks that can be learnt.
    intercept : ndarray of shape (n_tasks,)
        Their intercepts.

    Returns
    -------
    Start
        The multipliers are zero.

    Examples
    --------
    >>> start_of(np.ones((2, 3)), np.zeros(2)).S.shape
    (2, 3)
    """
    S = np.array(coef, dtype=np.float64, order="C")
    return Start(S=S, Z=np.zeros_like(S), shift=np.array(intercept, dtype=np.float64))
