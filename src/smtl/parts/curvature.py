r"""Second derivatives of losses over parts of the rows: guesses that say where to pass next, never what is true.

One look at X gives, for each task, the sums of :math:`v_k`, :math:`v_k x_k` and :math:`v_k (x_k - o)(x_k - o)'` over
all rows, for second derivatives v and any centre o. They are added up where they are, and tell the matrix about the
weighted mean, which an intercept asks for.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.parts.part import Part, Where, tasks_of
from smtl.solvers.curvature import LEAST, Matrices, OwnMatrices

if TYPE_CHECKING:
    from smtl.metrics import Metric
    from smtl.parts.passes import PassLog
    from smtl.parts.problem import PartsProblem

__all__ = ["PartsCurvature"]

Float: TypeAlias = npt.NDArray[np.float64]
Single: TypeAlias = npt.NDArray[np.float32]

MOST_BYTES = 16 * 2**20  # of the matrices of all tasks: each part sends so much, and eight parts at once are added


class PartsCurvature:
    """Second derivatives of losses that are sums over rows in parts; see `smtl.solvers.curvature.RowCurvature`.

    Parameters
    ----------
    problem : PartsProblem
        The problem.
    means : ndarray of shape (n_features,)
        About the means of the features: float32 is enough for squares about them.
    log : PassLog, optional
        Where matrices are kept, so that a run that was stopped can go on.
    """

    def __init__(self, problem: PartsProblem, means: Float, log: PassLog | None) -> None:
        self.problem, self._log = problem, log
        self.centre = means if problem.with_intercept else problem.scaling.mean
        self.mean: Float = np.zeros(problem.shape)
        self._room: Float | None = None  # for the matrices of all tasks and their inverses

    def fits(self) -> bool:
        """Return whether the matrices of all tasks are small enough to be sent."""
        m, d = self.problem.shape
        return 4 * m * d**2 <= MOST_BYTES

    def costs(self) -> tuple[float, float]:  # noqa: D102
        labels = float(self.problem.n_pos.sum() + self.problem.n_neg.sum())
        # One look at the rows gives the matrices of all tasks, and reading them is what takes time.
        return np.inf, 0.5 * labels * self.problem.shape[1] ** 2

    def common(self, W: Float, intercept: Float, C: float) -> Matrices | None:  # noqa: D102
        return None

    def own(self, W: Float, intercept: Float, C: float) -> Matrices | None:  # noqa: D102
        memory: dict[str, Any] = {}
        known = None if self._log is None else self._log.replayed(W, intercept.copy(), 0.0, memory)
        if known is None:
            memory = self._computed(W, intercept)
            if self._log is not None:
                self._log.add_beside(W, intercept, 0.0, memory)
        self.mean[:] = memory["mean"]
        if self._room is None:
            self._room = np.empty((2, *memory["H"].shape))
        H, inverse = self._room
        np.multiply(memory["H"], C, out=H)
        largest = np.einsum("ijj->ij", H).max(initial=0.0)  # of a positive matrix it is on the diagonal
        return OwnMatrices(H, inverse) if LEAST < largest < 1.0 / LEAST else None

    def _computed(self, W: Float, intercept: Float) -> dict[str, npt.NDArray[Any]]:
        """Return matrices and weighted means of all tasks."""
        problem = self.problem
        where = problem.where(W, intercept, np.arange(len(W)))
        total, first, squares = problem.rows.summed(_squares, where, problem.metric, self.centre)
        scaling, mean = problem.scaling, np.zeros(problem.shape)
        if problem.with_intercept:
            middle = first / np.maximum(total, 1e-300)[:, np.newaxis]
            aside = middle - self.centre
            squares = squares - total[:, None, None] * aside[:, :, None] * aside[:, None, :]
            mean = (middle - scaling.mean) / scaling.deviation
        H = squares / np.outer(scaling.deviation, scaling.deviation)
        return {"H": H.astype(np.float32), "mean": mean}


def _second(part: Part, where: Where, metric: Metric) -> tuple[Any, Float]:
    """Return the rows of a part, and the second derivatives of their losses."""
    tasks, weights = tasks_of(part, where)
    scores = tasks.scores(where.W, 0, tasks.n_tasks)
    second = metric.curvatures(scores, tasks.y, tasks.ptr, where.at_zero)
    assert second is not None
    return tasks, second if weights is None else second * weights


def _by_task(values: Float, ptr: npt.NDArray[np.int64]) -> Float:
    return np.array([values[a:b].sum() for a, b in pairwise(ptr)])


def _squares(part: Part, where: Where, metric: Metric, centre: Float) -> tuple[Float, Float, Float | Single]:
    """Return sums of second derivatives, of their products with the rows, and of those with squares about a centre."""
    tasks, second = _second(part, where, metric)
    squares = [tasks.squares(i, second[a:b], centre) for i, (a, b) in enumerate(pairwise(tasks.ptr))]
    return _by_task(second, tasks.ptr), tasks.slopes(second, 0, tasks.n_tasks), np.stack(squares)
