r"""What a solver knows for sure: the best weights it has seen, and a bound below which nothing can go.

For any convex combination of planes per task, with slopes G and offsets d,

.. math:: \min_W P(W) \;\ge\; \max_{0 \le s \le 1} \; s\,C \sum_i d_i - \Omega^*(s\,C\,G),

since each combination lies below its task's loss, and the scale s mixes in the zero plane of the true answer. The
planes of a task with an intercept lie below its loss for every intercept, so the bound holds for an unpenalised one.

A bound above the objective of any weights proves that something is wrong: a plane above its loss, or a conjugate that
is not the penalty's. It raises `FalseCertificateError`. What rounding can do is told apart: `ROUNDING` of the
objective, and `ROUNDING_OF_TERMS` of :math:`C \sum_i |d_i|`, from which the bound is made.

A mixture of combinations is a combination. The best one so far, mixed with a part of the newest, is mostly better than
either: the newest ones swing around what satisfies the penalty's constraint. It saves nearly a third of the passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.penalties import Penalty
from smtl.penalties.base import rounding
from smtl.solvers.settings import SETTINGS

__all__ = ["Certificate", "FalseCertificateError"]

Float: TypeAlias = npt.NDArray[np.float64]

ROUNDING = 1e-9  # the part of the objective by which rounding may lift a bound above it
ROUNDING_OF_TERMS = (
    1e-13  # the part of the bound's terms by which it may, where they cancel: 500 units in the last place
)
PARTS = (0.1, 0.3, 0.6, 1.0)  # of the newest combination to try in the mixture


class FalseCertificateError(RuntimeError):
    """A lower bound came out above an objective: a metric or a penalty breaks its rules, or there is a bug.

    Examples
    --------
    >>> Certificate(objective=1.0, bound=1.5).gap
    Traceback (most recent call last):
    smtl.solvers.certificate.FalseCertificateError: The bound 1.5 is above the objective 1.0, which no weights can ...
    """


@dataclass
class Certificate:
    r"""The best objective and the best bound seen so far.

    Attributes
    ----------
    objective : float
        The least objective seen, at ``W`` and ``intercept``.
    bound : float
        The greatest lower bound seen.
    W : ndarray of shape (n_tasks, n_features)
        The best weights.
    intercept : ndarray of shape (n_tasks,)
        Their intercepts.
    delta : ndarray of shape (n_tasks,)
        Offsets of the combination of planes that the bound is from.
    G : ndarray of shape (n_tasks, n_features)
        Its slopes.
    terms : float
        The largest :math:`C \sum_i |d_i|` that a bound was made from.

    Examples
    --------
    >>> Certificate(objective=2.0, bound=1.5).gap
    0.25
    """

    objective: float = np.inf
    bound: float = 0.0
    W: Float = field(default_factory=lambda: np.zeros((0, 0)))
    intercept: Float = field(default_factory=lambda: np.zeros(0))
    delta: Float = field(default_factory=lambda: np.zeros(0))
    G: Float = field(default_factory=lambda: np.zeros((0, 0)))
    terms: float = 0.0

    @property
    def gap(self) -> float:
        """The relative gap (objective - bound) / objective: how far from the optimum the weights can be at most."""
        self.check()
        if not np.isfinite(self.objective):
            return np.inf
        # Within the tolerance for rounding, a bound above the objective is one that is met.
        return max((self.objective - self.bound) / self.objective, 0.0) if self.objective > 0.0 else 0.0

    def check(self) -> None:
        """Raise `FalseCertificateError` if the bound is above the objective by more than rounding explains."""
        if self.bound > self.objective + ROUNDING * abs(self.objective) + ROUNDING_OF_TERMS * self.terms:
            raise FalseCertificateError(
                f"The bound {self.bound!r} is above the objective {self.objective!r}, which no weights can be below. "
                "A metric or a penalty of your own may break a rule: check_metric and check_penalty of smtl.testing "
                "tell. Otherwise this is a bug in smtl: please report it with all of this message and, if you can, the "
                "data."
            )

    def see_weights(self, objective: float, W: Float, intercept: Float) -> None:
        """Take in weights and their objective.

        Parameters
        ----------
        objective : float
            The objective at ``W``.
        W : ndarray of shape (n_tasks, n_features)
            Weights. Kept, not copied.
        intercept : ndarray of shape (n_tasks,)
            Intercepts. Copied.
        """
        if objective < self.objective:
            self.objective, self.W, self.intercept = objective, W, intercept.copy()

    def see_planes(self, penalty: Penalty, C: float, delta: Float, G: Float) -> None:
        """Take in one convex combination of planes per task.

        Parameters
        ----------
        penalty : Penalty
            The problem's penalty.
        C : float
            The weight of the loss.
        delta : ndarray of shape (n_tasks,)
            The combined offsets.
        G : ndarray of shape (n_tasks, n_features)
            The combined slopes, in C order.
        """
        self.terms = max(self.terms, C * float(np.abs(delta).sum()))
        if not self.G.size:
            self.delta, self.G = np.zeros(len(delta)), np.zeros(G.shape)
        kernel = penalty.kernel
        if kernel is None or kernel.dual_norm is None or kernel.ridge > 0.0:
            self._try_parts(penalty, C, delta, G)
            return
        from smtl.kernels import formulas, mixing

        # A first combination is taken whole.
        n = 0 if self.bound == 0.0 else SETTINGS.spectral_steps if kernel.spectral else SETTINGS.mixing_steps
        ball = mixing.Ball(formulas.address(kernel.dual_norm, formulas.SIZE), C, rounding(G.size))
        old, new = mixing.Combination(self.delta, self.G), mixing.Combination(delta, G)
        self.bound = mixing.mix(n, ball, self.bound, old, new)

    def _try_parts(self, penalty: Penalty, C: float, delta: Float, G: Float) -> None:
        """Mix in the best of some parts, for any penalty."""
        old_delta, old_G = self.delta, self.G
        for part in PARTS if self.bound > 0.0 else PARTS[-1:]:
            d = (1.0 - part) * old_delta + part * delta
            g = (1.0 - part) * old_G + part * G
            bound, _ = penalty.lower_bound(C * g, C * float(d.sum()))
            if bound <= self.bound:
                break  # from the best to the newest, bounds rise and then fall
            self.bound, self.delta, self.G = bound, d, g
