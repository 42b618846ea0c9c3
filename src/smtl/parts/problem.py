r"""The training problem of rows that are in parts: what solvers ask is answered by spread oracles."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.fitting import Formula
from smtl.metrics import Metric
from smtl.metrics.spreading import Ask
from smtl.parts.curvature import PartsCurvature
from smtl.parts.part import Fold, Sums, Where
from smtl.parts.passes import PassLog
from smtl.parts.rows import Rows
from smtl.solvers import Start
from smtl.solvers.seam import Losses, Pass

__all__ = ["PartsProblem", "Scaling"]

Float: TypeAlias = npt.NDArray[np.float64]


class Scaling:
    r"""Features on one scale, folded into the weights: X itself is neither changed nor copied.

    With :math:`\tilde x = (x - \mu) / \sigma`, scores are :math:`\tilde x'w = x'v - \mu'v` with :math:`v = w / \sigma`,
    and slopes :math:`(X'c - \mu \sum_k c_k) / \sigma`.

    Parameters
    ----------
    mean, deviation : ndarray of shape (n_features,)
        :math:`\mu` and :math:`\sigma`.

    Examples
    --------
    >>> Scaling(np.array([1.0, 0.0]), np.array([2.0, 1.0])).unscaled(np.array([[4.0, 3.0]]))
    (array([[2., 3.]]), array([-2.]))
    """

    def __init__(self, mean: Float, deviation: Float) -> None:
        self.mean, self.deviation = mean, deviation

    def unscaled(self, W: Float) -> tuple[Float, Float]:
        """Return weights for the features as they are, and what is then added to the scores.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            Weights for scaled features.

        Returns
        -------
        V : ndarray of shape (n_tasks, n_features)
            Weights.
        at_zero : ndarray of shape (n_tasks,)
            The scores of a row of zeros.
        """
        V = W / self.deviation
        return V, -(V @ self.mean)

    def scaled(self, start: Start) -> Start:
        """Return weights of the features as they are as weights for scaled ones, to start from.

        Parameters
        ----------
        start : Start
            Weights and intercepts.

        Returns
        -------
        Start
            For scaled features.
        """
        return replace(start, S=start.S * self.deviation, shift=start.shift + start.S @ self.mean)

    def slopes(self, sums: Sums) -> Float:
        """Return slopes for scaled features.

        Parameters
        ----------
        sums : Sums
            Those of the features as they are.

        Returns
        -------
        ndarray of shape (n_tasks, n_features)
            Slopes.
        """
        return (sums.slope - np.outer(sums.total, self.mean)) / self.deviation


class PartsProblem:
    """Parts of rows, a metric and a penalty: what `smtl.solvers.solve` takes instead of a `Problem`.

    Parameters
    ----------
    rows : Rows
        Who holds the parts.
    counts : (n_pos, n_neg)
        Positives and negatives of all tasks, without the rows of ``fold``: arrays of shape (n_tasks,).
    n_features : int
        The number of features.
    formula : Formula
        What is minimised.
    n_products : int
        Multiplications that the scores of one task take.
    chosen : ndarray of int64, optional
        The tasks that are trained; all of them by default.
    fold : Fold, optional
        Rows to leave out.
    weighted : bool, default=False
        Whether rows have weights.
    scaling : Scaling, optional
        What the features are brought to one scale by.
    means : ndarray of shape (n_features,), optional
        The means of the features as they are.
    log : PassLog, optional
        Where passes are kept, so that a run that was stopped can go on.
    watch : callable, optional
        Called after each pass with the seconds that it took.
    """

    def __init__(
        self,
        rows: Rows,
        counts: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
        n_features: int,
        formula: Formula,
        *,
        n_products: int,
        chosen: npt.NDArray[np.int64] | None = None,
        fold: Fold | None = None,
        weighted: bool = False,
        scaling: Scaling | None = None,
        means: Float | None = None,
        log: PassLog | None = None,
        watch: Callable[[float], None] | None = None,
    ) -> None:
        n_tasks = len(counts[0])
        self.rows, self.metric, self.penalty = rows, formula.metric, formula.penalty
        self.with_intercept = formula.with_intercept and formula.metric.uses_intercept
        self.chosen = np.arange(n_tasks) if chosen is None else chosen
        self.n_pos, self.n_neg = (count[self.chosen] for count in counts)
        self.fold = fold
        self.scaling = scaling or Scaling(np.zeros(n_features), np.ones(n_features))
        self._n_tasks, self._n_features, self._n_products = n_tasks, n_features, n_products
        self._log, self._watch = log, watch
        self._means = np.zeros(n_features) if means is None else means
        self._memory: dict[str, Any] = {}
        self._weighted = weighted
        self._which = fold, self.chosen.tobytes()

    def __repr__(self) -> str:
        return (
            f"PartsProblem(metric={self.metric!r}, penalty={self.penalty!r}, {self.rows.n_parts} parts in "
            f"{type(self.rows).__name__}, (n_tasks, n_features)={self.shape}, with_intercept={self.with_intercept}, "
            f"fold={self.fold})"
        )

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (n_tasks, n_features) of W."""
        return len(self.chosen), self._n_features

    @property
    def losses(self) -> Losses:
        """What the planes of this problem hold for."""
        return Losses(
            self.rows,
            self.metric,
            dict(vars(self.metric)),
            self.with_intercept,
            self._which,
        )

    def cost(self) -> float:
        """Return about how many multiplications a pass takes.

        Returns
        -------
        float
            As of a problem in memory, and what is beside the arithmetic.
        """
        labels = float(self.n_pos.sum() + self.n_neg.sum())
        return self._n_products * len(self.chosen) + 50.0 * labels + self.rows.overhead

    def curvature(self) -> PartsCurvature | None:
        """Return the losses' second derivatives, or None where they are not known, or too large to be sent.

        Returns
        -------
        PartsCurvature or None
            Nothing is computed yet.
        """
        if not self.metric.smooth or type(self.metric).curvatures is Metric.curvatures:
            return None
        curvature = PartsCurvature(self, self._means, None if self._log is None else self._log.beside("curvature"))
        return curvature if curvature.fits() else None

    def where(self, W: Float, intercept: Float, tasks: npt.NDArray[np.intp]) -> Where:
        """Return where some of the tasks are asked, as parts take it.

        Parameters
        ----------
        W : ndarray of shape (n_asked, n_features)
            Weights.
        intercept : ndarray of shape (n_asked,)
            What is added to the scores.
        tasks : ndarray of int of shape (n_asked,)
            The tasks, of those that are trained.

        Returns
        -------
        Where
            For the features as they are.
        """
        V, at_zero = self.scaling.unscaled(W)
        return Where(np.ascontiguousarray(V), at_zero + intercept, self._n_tasks, self.chosen[tasks], self.fold)

    def in_span(self) -> None:
        """Return None: rotations are for data in memory."""

    def one_pass(self, W: Float, intercept: Float, eps: float = 0.0) -> Pass:
        """Ask the oracle of every task at W, by rounds over all parts.

        Parameters
        ----------
        W : ndarray of shape (n_tasks, n_features)
            Where to ask.
        intercept : ndarray of shape (n_tasks,)
            With an intercept: a first guess for each task, overwritten by the best one.
        eps : float, default=0.0
            How far from its minimum over the intercept a loss may be.

        Returns
        -------
        Pass
            Losses and planes.
        """
        known = None if self._log is None else self._log.replayed(W, intercept, eps, self._memory)
        if known is not None:
            return known
        started, asked_at = time.perf_counter(), intercept.copy()
        where = self.where(W, np.zeros(len(W)), np.arange(len(W)))
        ask = Ask(self.n_pos, self.n_neg, intercept, self.with_intercept, eps, self._memory, self._weighted)
        oracle, run = self.metric.spread(ask), self.rows.begin(where)
        sums, answer = None, None
        while True:
            try:
                todo = oracle.send(answer)
            except StopIteration as end:
                delta, loss = end.value
                break
            if todo.last:
                sums = run.sums(todo)
                answer = sums.sent
            else:
                answer = run.answer(todo)
        assert sums is not None
        result = Pass(loss, delta, self.scaling.slopes(sums))
        if self._log is not None:
            self._log.add(W, asked_at, eps, intercept, self._memory, result)
        if self._watch is not None:
            self._watch(time.perf_counter() - started)
        return result
