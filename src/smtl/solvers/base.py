"""What every solver takes and returns."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from smtl import messages
from smtl.registry import Registered, unknown_name
from smtl.solvers.certificate import Certificate, FalseCertificateError
from smtl.solvers.planes import Bundle
from smtl.solvers.seam import Losses, Span, Trainable

__all__ = ["History", "Solution", "Solver", "Start", "Stopping", "check_stopping", "solve", "solver_names"]

Float: TypeAlias = npt.NDArray[np.float64]

logger = logging.getLogger("smtl")


@dataclass
class Start:
    """Where a solver may start from: what an earlier run has found.

    Attributes
    ----------
    S, Z : ndarray of shape (n_tasks, n_features)
        Weights and multipliers.
    shift : ndarray of shape (n_tasks,)
        Intercepts.
    mu : float, optional
        The penalty parameter of ADMM; None to have it chosen.
    rho : float, optional
        How much the level method holds on to its centre; None to have it chosen.
    losses : Losses, optional
        What the planes hold for.
    bundle : Bundle, optional
        The planes of the ``"bundle"`` solver. They hold for every penalty and every C. The solver that takes them over
        changes them.
    certificate : Certificate, optional
        Whose combination of planes bounds the objective for every penalty and every C.

    Examples
    --------
    >>> Start(S=np.zeros((2, 3)), Z=np.zeros((2, 3)), shift=np.zeros(2)).mu is None
    True
    """

    S: Float
    Z: Float
    shift: Float
    mu: float | None = None
    rho: float | None = None
    losses: Losses | None = field(default=None, repr=False)
    bundle: Bundle | None = field(default=None, repr=False)
    certificate: Certificate | None = field(default=None, repr=False)

    def without_planes(self) -> Start:
        """Return the part that may be taken to other losses: a first guess, from which any solver finds its way.

        Returns
        -------
        Start
            Without planes, and without the data they hold for.
        """
        return replace(self, losses=None, bundle=None, certificate=None)

    def into(self, span: Span) -> Start:
        """Return it in the span of a problem's rows, where the planes are other ones.

        Parameters
        ----------
        span : Span
            The problem there.

        Returns
        -------
        Start
            Without planes.
        """
        return replace(self.without_planes(), S=self.S @ span.Q, Z=self.Z @ span.Q)

    def for_problem(self, problem: Trainable) -> Start:
        """Return what of it is good for a problem, so that nothing of another problem gets into its solution.

        Parameters
        ----------
        problem : Trainable
            What is to be solved.

        Returns
        -------
        Start
            All of it if the problem has the same losses, otherwise all but the planes. Nothing that a solver overwrites
            is shared.
        """
        if self.S.shape != problem.shape or self.Z.shape != problem.shape or len(self.shift) != problem.shape[0]:
            raise ValueError(
                f"start must have weights and multipliers of shape {problem.shape}, (n_tasks, n_features), and an "
                f"intercept a task, got shapes {self.S.shape}, {self.Z.shape} and {self.shift.shape} instead. Start "
                "without one, or from a solution of a problem with the same features and tasks."
            )
        if not (np.isfinite(self.S).all() and np.isfinite(self.Z).all() and np.isfinite(self.shift).all()):
            raise ValueError("start must have finite weights, multipliers and intercepts, got NaN or infinity instead.")
        kept = self if problem.losses.are(self.losses) else self.without_planes()
        shift = self.shift.copy() if problem.with_intercept else np.zeros(problem.shape[0])
        return replace(kept, shift=shift)


class History:
    """What happened, one entry an iteration.

    Attributes
    ----------
    objective, bound : list of float
        The objective at the iteration's weights, and the best bound so far.
    primal_residual, dual_residual : list of float
        The relative residuals of ADMM.
    passes : list of int
        Passes over the data so far.
    seconds : list of float
        Since the start.
    """

    def __init__(self, verbose: int = 0) -> None:
        self.objective: list[float] = []
        self.bound: list[float] = []
        self.primal_residual: list[float] = []
        self.dual_residual: list[float] = []
        self.passes: list[int] = []
        self.seconds: list[float] = []
        self._started = time.perf_counter()
        self._verbose = verbose

    def add(self, objective: float, certificate: Certificate, primal: float, dual: float, passes: int) -> None:
        """Add an iteration, and log it.

        Parameters
        ----------
        objective : float
            The objective at this iteration's weights.
        certificate : Certificate
            The best so far.
        primal, dual : float
            Residuals.
        passes : int
            Passes over the data so far.
        """
        self.objective.append(objective)
        self.bound.append(certificate.bound)
        self.primal_residual.append(primal)
        self.dual_residual.append(dual)
        self.passes.append(passes)
        self.seconds.append(time.perf_counter() - self._started)
        if self._verbose and len(self.objective) % self._verbose == 0:
            logger.info(
                "iteration %d: objective %.6g, bound %.6g, gap %.2e",
                len(self.objective),
                certificate.objective,
                certificate.bound,
                certificate.gap,
                extra={"gap": certificate.gap, "objective": certificate.objective},
            )

    def as_dict(self) -> dict[str, Float]:
        """Return the entries as arrays.

        Returns
        -------
        dict
            One array a column.
        """
        return {key: np.asarray(value) for key, value in vars(self).items() if not key.startswith("_")}


@dataclass
class Solution:
    """What a solver returns.

    Attributes
    ----------
    certificate : Certificate
        The best weights and the best bound.
    history : dict
        See `History`.
    n_iter : int
        Number of iterations; with the bundle solver, each is one pass over the data.
    converged : bool
        Whether the gap reached the tolerance.
    start : Start
        To go on from.

    Examples
    --------
    >>> from smtl.metrics import AUC
    >>> from smtl.penalties import L11
    >>> from smtl.solvers import Problem, solve
    >>> from smtl.tasks import SharedRows
    >>> X = np.array([[4.0], [0.0]])
    >>> problem = Problem(SharedRows(X, np.array([[1], [-1]], dtype=np.int8)), AUC(), L11())
    >>> solution = solve(problem, C=10.0, tol=1e-6)
    >>> solution.converged
    True
    >>> solution.certificate.W.round(4)  # a margin of 1 between 0 and 4 w
    array([[0.25]])
    """

    certificate: Certificate
    history: dict[str, Float] = field(repr=False)
    n_iter: int
    converged: bool
    start: Start = field(repr=False)

    def out_of(self, span: Span) -> Solution:
        """Return the solution of the whole problem, from that in the span of its rows.

        Parameters
        ----------
        span : Span
            The problem that was solved.

        Returns
        -------
        Solution
            To go on from without planes.
        """
        back, start = span.Q.T, self.start
        G = self.certificate.G
        # Where a bound of zero is enough, no planes were mixed for one.
        certificate = replace(self.certificate, W=self.certificate.W @ back, G=G @ back if G.size else G)
        start = replace(start.without_planes(), S=start.S @ back, Z=start.Z @ back)
        return replace(self, certificate=certificate, start=start)


class Stopping(NamedTuple):
    """When a solver stops, and what it says on the way.

    Attributes
    ----------
    tol : float
        The relative gap to reach.
    max_iter : int
        The most iterations.
    verbose : int
        Log every so many of them; 0 for none.

    Examples
    --------
    >>> Stopping(tol=1e-3, max_iter=1000)
    Stopping(tol=0.001, max_iter=1000, verbose=0)
    """

    tol: float
    max_iter: int
    verbose: int = 0


class Solver(Registered, ABC):
    """A way to solve problems. A subclass that sets ``name`` is found under it by `solve`.

    What a solver has of options are parameters of its constructor.

    Examples
    --------
    >>> from smtl.solvers import Solver
    >>> Solver.known["paper"](literal=True)
    PaperSolver(inner_max_iter=100, inner_tol=0.1, literal=True)
    """

    known: ClassVar[dict[str, type[Any]]] = {}

    @abstractmethod
    def run(self, problem: Trainable, C: float, start: Start, stopping: Stopping) -> Solution:
        """Solve a problem.

        Parameters
        ----------
        problem : Trainable
            What to solve.
        C : float
            The weight of the loss.
        start : Start
            Where to start from; the solver may change it.
        stopping : Stopping
            When to stop.

        Returns
        -------
        Solution
            Weights, bound and history.
        """


def solver_names() -> list[str]:
    """Return the names of the solvers.

    Returns
    -------
    list of str
        Sorted.

    Examples
    --------
    >>> from smtl.solvers import solver_names
    >>> solver_names()
    ['auto', 'bundle', 'cutting-plane', 'paper']
    """
    return sorted(Solver.known)


def solve(
    problem: Trainable,
    C: float,
    solver: str = "auto",
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    start: Start | None = None,
    verbose: int = 0,
    warn: bool = True,
    **options: Any,
) -> Solution:
    """Solve a problem to a certified gap.

    Parameters
    ----------
    problem : Trainable
        What to solve: a `Problem`, or another that can do a pass over its data.
    C : float
        The weight of the loss.
    solver : str, default="auto"
        One of `solver_names`.
    tol : float, default=1e-3
        The relative gap to reach.
    max_iter : int, default=1000
        The most iterations. Where they are used up, a ConvergenceWarning says which gap was reached.
    start : Start, optional
        Where to start from. Planes are used only for the losses that they were made of; weights may come from anywhere.
    verbose : int, default=0
        Log every so many iterations.
    warn : bool, default=True
        Whether to warn.
    **options
        Parameters of the solver's class.

    Returns
    -------
    Solution
        Weights, bound and history.

    Examples
    --------
    >>> from smtl.metrics import AUC
    >>> from smtl.penalties import Ridge
    >>> from smtl.solvers import Problem, solve
    >>> from smtl.tasks import SharedRows
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> tasks = SharedRows(X, np.array([[1], [-1], [1]], dtype=np.int8))
    >>> solution = solve(Problem(tasks, AUC(), Ridge()), C=10.0, tol=1e-6)
    >>> solution.converged, round(solution.certificate.objective, 4)
    (True, 0.25)
    """
    if solver not in Solver.known:
        raise unknown_name("solver", solver, Solver.known)
    check_stopping(tol, max_iter)
    if not (isinstance(C, Real) and np.isfinite(float(C)) and C > 0.0):
        raise ValueError(f"C must be a positive number, got {C!r} instead.")
    start = Start(*_nothing(problem)) if start is None else start.for_problem(problem)
    span = problem.in_span()
    if span is not None:
        inside = solve(
            span.problem, C, solver, tol=tol, max_iter=max_iter, start=start.into(span), verbose=verbose, warn=warn,
            **options,
        )  # fmt: skip
        return inside.out_of(span)
    try:
        solution: Solution = Solver.known[solver](**options).run(
            problem, float(C), start, Stopping(tol, max_iter, verbose)
        )
    except FalseCertificateError as error:
        raise FalseCertificateError(f"{error} {_described(problem, C, solver)}") from error
    if warn and not solution.converged:
        messages.warn(
            f"The {solver} solver stopped after {solution.n_iter} iterations at a certified relative gap of "
            f"{solution.certificate.gap:.2g}, above tol={tol:g}. Raise max_iter, raise tol, or lower C; features on "
            "very different scales also slow it down (scale them).",
            ConvergenceWarning,
        )
    return solution


def check_stopping(tol: Any, max_iter: Any) -> None:
    """Raise ValueError if a solver could not know when to stop.

    Parameters
    ----------
    tol : float
        The relative gap to reach.
    max_iter : int
        The most iterations.

    Examples
    --------
    >>> check_stopping(1e-3, 0)
    Traceback (most recent call last):
    ValueError: max_iter must be a positive integer, got 0 instead.
    """
    if not (isinstance(tol, Real) and float(tol) > 0):
        raise ValueError(f"tol must be a positive number, got {tol!r} instead.")
    if not (isinstance(max_iter, Integral) and int(max_iter) >= 1):
        raise ValueError(f"max_iter must be a positive integer, got {max_iter!r} instead.")


def _nothing(problem: Trainable) -> tuple[Float, Float, Float]:
    """Return weights, multipliers and intercepts of zero."""
    return np.zeros(problem.shape), np.zeros(problem.shape), np.zeros(problem.shape[0])


def _described(problem: Trainable, C: float, solver: str) -> str:
    """Return what has to be known of a problem to find out why its certificate is false."""
    from smtl import __version__

    return f"{problem!r}, C={C!r}, solver={solver!r}; smtl {__version__}, numpy {np.__version__}."
