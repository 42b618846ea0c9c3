"""What the bundle solver knows, and what proposers of the next point are given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.admm import first_mu
from smtl.solvers.certificate import Certificate
from smtl.solvers.master import Master
from smtl.solvers.planes import Bundle
from smtl.solvers.seam import Pass, Trainable
from smtl.solvers.settings import Settings

__all__ = ["Costs", "State"]

Float: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Costs:
    """About how many multiplications the parts of a run take.

    Attributes
    ----------
    a_pass : float
        A pass over the data.
    beside_a_step : float
        An iteration on the planes, beside its quadratic programs.
    """

    a_pass: float
    beside_a_step: float

    @classmethod
    def of(cls, problem: Trainable, settings: Settings) -> Costs:
        """Return the costs of a problem.

        Parameters
        ----------
        problem : Trainable
            The problem.
        settings : Settings
            With what multiplications do not tell.

        Returns
        -------
        Costs
            The costs.
        """
        kernel = problem.penalty.kernel
        beside = settings.around_a_step if kernel is None else 0.0
        if kernel is not None and kernel.spectral:
            beside = settings.around_values + settings.cube * min(problem.shape) ** 3
        return cls(problem.cost() + settings.around_a_pass, beside)


@dataclass
class State:
    """What is known of a problem after some passes.

    Attributes
    ----------
    problem : Trainable
        The problem.
    C : float
        The weight of the loss.
    tol : float
        The relative gap to reach.
    settings : Settings
        The constants.
    bundle : Bundle
        The planes, those that have been of no use for long left out.
    master : Master
        The master problem on them, from where the start left it.
    point : ndarray of shape (n_tasks, n_features)
        Where the last pass was; at first, where the first is to be.
    intercept : ndarray of shape (n_tasks,)
        The best intercepts there, from which the next pass starts its search for them.
    warm : bool
        Whether planes and mu come from another run.
    mu_is_known : bool
        Whether mu does, or is chosen by now.
    rho : float or None
        How much the level method holds on to its centre; None where nothing is known of it.
    costs : Costs
        What a pass costs, and what an iteration.
    certificate : Certificate
        The best weights, and the best bound.
    n_iter : int
        The number of passes so far.
    kept : int
        The last pass whose planes are in the bundle.
    last : Pass or None
        What the last pass has told.
    objective : float
        The objective there.
    """

    problem: Trainable
    C: float
    tol: float
    settings: Settings
    bundle: Bundle
    master: Master
    point: Float
    intercept: Float
    warm: bool
    mu_is_known: bool
    rho: float | None
    costs: Costs
    certificate: Certificate = field(default_factory=Certificate)
    n_iter: int = 0
    kept: int = 0
    last: Pass | None = None
    objective: float = np.inf

    def do_pass(self) -> None:
        """Pass over the data at the point, and take in the objective there."""
        self.last = self.problem.one_pass(self.point, self.intercept, self.inner_tol)
        self.objective = self.problem.penalty.value(self.point) + self.C * float(self.last.loss.sum())
        self.n_iter += 1
        self.certificate.see_weights(self.objective, self.point, self.intercept)

    def keep_planes(self) -> None:
        """Add the planes of the last pass to the bundle, if they are not there yet."""
        assert self.last is not None
        if self.kept == self.n_iter:
            return
        self.kept = self.n_iter
        self.bundle.add(self.last.slope, self.last.delta)
        if not self.mu_is_known:
            self.mu_is_known = True
            self.master.set_mu(first_mu(self.C, self.last.slope))
            self.see_planes(self.last.delta, self.last.slope)  # at the critical C, that is all of the bound

    def see_planes(self, delta: Float, G: Float) -> None:
        """Take in one convex combination of planes per task.

        Parameters
        ----------
        delta : ndarray of shape (n_tasks,)
            Offsets.
        G : ndarray of shape (n_tasks, n_features)
            Slopes.
        """
        self.certificate.see_planes(self.problem.penalty, self.C, delta, G)

    @property
    def gap(self) -> float:
        """The distance of the best bound from the best objective."""
        return self.certificate.objective - self.certificate.bound

    @property
    def inner_tol(self) -> float:
        """How far from its optimum a task's inner problem may stay, on the scale of its loss."""
        if not np.isfinite(self.certificate.objective):
            return self.settings.inner_tol
        part = self.settings.inner_tol * self.certificate.gap / 1e-2
        part = float(np.clip(part, self.settings.least_inner_tol, self.settings.inner_tol))
        return part * self.gap / (self.C * self.problem.shape[0])
