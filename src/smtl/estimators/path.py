"""smtl_path: the models of many values of C, for little more than the price of the last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from smtl import messages
from smtl.estimators.checks import check_scale, check_tasks
from smtl.estimators.fitting import Formula, natural_C, problem_of
from smtl.estimators.progress import Progress
from smtl.estimators.targets import read_targets
from smtl.estimators.threads import threads
from smtl.estimators.weights import read_sample_weight, weigh, without_zeros
from smtl.metrics import Metric, get_metric
from smtl.notebook import html_table
from smtl.penalties import Penalty, get_penalty
from smtl.solvers import check_stopping, grid_of_Cs, solve_path

__all__ = ["SMTLPath", "smtl_path"]

Float: TypeAlias = npt.NDArray[np.float64]


class SMTLPath(NamedTuple):
    """The models of a path, in ascending order of C.

    Attributes
    ----------
    Cs : ndarray of shape (n_Cs,)
        Values of C.
    coefs : ndarray of shape (n_Cs, n_tasks, n_features)
        Weights.
    intercepts : ndarray of shape (n_Cs, n_tasks)
        Intercepts.
    objectives, dual_bounds : ndarray of shape (n_Cs,)
        The objectives reached, and the bounds below which no weights can bring them.
    gaps : ndarray of shape (n_Cs,)
        The certified relative gaps.
    n_iters : ndarray of int of shape (n_Cs,)
        Numbers of iterations.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smtl import smtl_path
    >>> smtl_path(*load_iris(return_X_y=True), metric="auc", Cs=5).coefs.shape
    (5, 3, 4)
    """

    Cs: Float
    coefs: Float
    intercepts: Float
    objectives: Float
    dual_bounds: Float
    gaps: Float
    n_iters: npt.NDArray[np.int64]

    def _repr_html_(self) -> str:
        features = np.any(self.coefs != 0.0, axis=1).sum(axis=1)
        names = ("C", "features used", "objective", "gap", "iterations")
        columns = (self.Cs, features, self.objectives, self.gaps, self.n_iters)
        return html_table(names, list(zip(*columns, strict=True)))


def smtl_path(
    X: Any,
    Y: Any,
    *,
    tasks: Any = None,
    metric: str | Metric = "f1",
    penalty: str | Penalty = "l21",
    ridge: float = 0.0,
    Cs: int | str | Iterable[float] = 20,
    fit_intercept: bool = True,
    solver: str = "auto",
    tol: float = 1e-3,
    max_iter: int = 5000,
    n_jobs: int | None = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    task_weight: Any = None,
    verbose: int = 0,
) -> SMTLPath:
    r"""Fit a model for each of many values of C, each started from the one before.

    Every model is as exact as one fitted by itself: its gap is certified to ``tol``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Features.
    Y : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Classes, or a matrix of 0 and 1 with a column a task. NaN: not labelled.
    tasks : array-like of shape (n_samples,), optional
        The task of each row, where each task has its own rows.
    metric, penalty, ridge, fit_intercept, solver
        As in `SMTLClassifier`.
    Cs : int, "paper" or iterable of float, default=20
        How many values, evenly spread on a log scale over three decades from the data's own critical C (below it, with
        any of the norms, all weights are zero); the 60 values of the paper; or the values.
    tol : float, default=1e-3
        The relative duality gap at which to stop, for each C.
    max_iter : int, default=5000
        The most iterations for each C. It warns if they do not suffice.
    n_jobs : int, default=None
        Threads to spread the tasks over.
    sample_weight : array-like of shape (n_samples,), optional
        What each row counts: a weight of k is k equal rows, one of 0 is no row.
    class_weight, task_weight
        As in `SMTLClassifier`.
    verbose : int, default=0
        Whether to show a progress bar.

    Returns
    -------
    SMTLPath
        A named tuple ``(Cs, coefs, intercepts, objectives, dual_bounds, gaps, n_iters)``, in ascending order of C. A
        task with one class only is constant.

    See Also
    --------
    SMTLClassifierCV : Chooses C by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from smtl import smtl_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = smtl_path(scale(X), y, metric="auc", penalty="l21", Cs=[0.3, 0.6, 10.0], tol=1e-6)
    >>> np.abs(path.coefs).max(axis=1).round(2)  # features enter one after the other
    array([[0.  , 0.  , 0.  , 0.  ],
           [0.  , 0.  , 0.37, 0.08],
           [0.  , 0.77, 0.55, 0.9 ]])
    >>> bool(path.gaps.max() <= 1e-6)
    True
    """
    X = check_array(X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), ensure_min_samples=2)
    check_scale(X)
    targets = read_targets(X, Y, tasks)
    X, targets, weights = without_zeros(X, targets, read_sample_weight(sample_weight, X))
    weigh(targets, weights, class_weight, task_weight)
    check_stopping(tol, max_iter)
    fitted = targets.learnable()
    if len(fitted) == 0:
        raise ValueError("Y must have a task with both classes, got only tasks with one class: there is no path.")
    formula, m = Formula(get_metric(metric), get_penalty(penalty, ridge), fit_intercept), len(targets.names)
    check_tasks(formula.metric, targets)
    coefs, solutions = [], []
    with threads(n_jobs) as (executor, n_threads):
        problem = problem_of(X, targets, formula, executor=executor, n_threads=n_threads)
        grid = grid_of_Cs(Cs, natural_C(problem, X))
        with Progress(None, len(grid), show=bool(verbose)) as progress:
            path = solve_path(problem, grid, solver, tol=tol, max_iter=max_iter, warn=False)
            for C, solution in zip(grid, path, strict=True):
                best = solution.certificate
                coef = np.zeros((m, X.shape[1]))
                coef[fitted] = best.W
                intercept = targets.constants()
                intercept[fitted] = best.intercept
                coefs.append((coef, intercept))
                solutions.append((best.objective, best.bound, best.gap, solution.n_iter))
                progress.step(f"C={C:.3g}")
    objectives, bounds, gaps, n_iters = (np.array(values) for values in zip(*solutions, strict=True))
    if np.any(gaps > tol):
        messages.warn(
            f"For {np.sum(gaps > tol)} of {len(grid)} values of C the solver stopped after max_iter={max_iter} "
            f"iterations above tol={tol:g}, at a certified relative gap of up to {gaps.max():.2g}; see gaps. Raise "
            "max_iter, raise tol, or leave out the largest values of C.",
            ConvergenceWarning,
        )
    return SMTLPath(
        grid, np.array([c for c, _ in coefs]), np.array([b for _, b in coefs]), objectives, bounds, gaps, n_iters
    )
