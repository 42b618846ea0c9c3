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
from smtl.solvers.curvature import Indices, Single

if TYPE_CHECKING:
    from smtl.metrics import Metric
    from smtl.parts.passes import PassLog
    from smtl.parts.problem import PartsProblem

__all__ = ["PartsCurvature"]

Float: TypeAlias = npt.NDArray[np.float64]

MOST_BYTES = 16 * 2**20  # of the matrices of all tasks: each part sends so much, and eight parts at once are added

FEW_FEATURES = 100  # up to here a matrix takes no longer than to find out whether it has changed


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
        self.H: Single = np.zeros((0, 0, 0), dtype=np.float32)
        self.mean: Float = np.zeros(problem.shape)
        self._at = np.zeros(problem.shape), np.zeros(problem.shape[0])

    def fits(self) -> bool:
        """Return whether the matrices of all tasks are small enough to be sent."""
        m, d = self.problem.shape
        return 4 * m * d**2 <= MOST_BYTES

    def cost(self) -> float:  # noqa: D102
        labels = float(self.problem.n_pos.sum() + self.problem.n_neg.sum())
        return 0.5 * labels * self.problem.shape[1] ** 2

    def move(self, W: Float, intercept: Float, reuse: float) -> Indices:  # noqa: D102
        memory: dict[str, Any] = {}
        first = not len(self.H)
        if first:
            self.H = np.zeros((*self.mean.shape, self.mean.shape[1]), dtype=np.float32)
        known = None if self._log is None else self._log.replayed(W, intercept.copy(), reuse, memory)
        if known is None:
            cheap = first or W.shape[1] <= FEW_FEATURES
            asked = np.arange(len(W)) if cheap else self._changed(W, intercept, reuse)
            memory = {"changed": asked, **self._computed(W, intercept, asked)}
            if self._log is not None:
                self._log.add_beside(W, intercept, reuse, memory)
        changed: Indices = memory["changed"]
        self.H[changed], self.mean[changed] = memory["H"], memory["mean"]
        self._at[0][changed], self._at[1][changed] = W[changed], intercept[changed]
        return changed

    def _changed(self, W: Float, intercept: Float, reuse: float) -> Indices:
        """Return the tasks whose rows' derivatives have changed by more than a part."""
        problem, every = self.problem, np.arange(len(W))
        here, before = (problem.where(*at, every) for at in ((W, intercept), self._at))
        difference, total = problem.rows.summed(_differences, here, before, problem.metric)
        return np.flatnonzero(difference > reuse * total)

    def _computed(self, W: Float, intercept: Float, changed: Indices) -> dict[str, npt.NDArray[Any]]:
        """Return matrices and weighted means of some tasks."""
        problem, d = self.problem, self.problem.shape[1]
        if not len(changed):
            return {"H": np.zeros((0, d, d), dtype=np.float32), "mean": np.zeros((0, d))}
        where = problem.where(W[changed], intercept[changed], changed)
        total, first, squares = problem.rows.summed(_squares, where, problem.metric, self.centre)
        scaling, mean = problem.scaling, np.zeros((len(changed), d))
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


def _differences(part: Part, here: Where, before: Where, metric: Metric) -> tuple[Float, Float]:
    """Return by how much second derivatives differ between two places, and their sums at the first."""
    (tasks, second), (_, other) = _second(part, here, metric), _second(part, before, metric)
    return _by_task(np.abs(second - other), tasks.ptr), _by_task(second, tasks.ptr)


def _squares(part: Part, where: Where, metric: Metric, centre: Float) -> tuple[Float, Float, Float | Single]:
    """Return sums of second derivatives, of their products with the rows, and of those with squares about a centre."""
    tasks, second = _second(part, where, metric)
    squares = [tasks.squares(i, second[a:b], centre) for i, (a, b) in enumerate(pairwise(tasks.ptr))]
    return _by_task(second, tasks.ptr), tasks.slopes(second, 0, tasks.n_tasks), np.stack(squares)
