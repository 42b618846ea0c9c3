"""The candidates of a cross-validated search: their values of C, and the points that are tried one after another."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.checks import check_tasks
from smtl.estimators.choosing import Candidate, Choice
from smtl.estimators.fitting import Formula, Solving
from smtl.estimators.points import Point, forget_losers
from smtl.estimators.progress import Progress
from smtl.estimators.racing import COARSE_ITER, COARSE_TOL, Heat, most_points, race
from smtl.estimators.search import Data, Scoring, search
from smtl.metrics import get_metric
from smtl.penalties import get_penalty
from smtl.solvers import grid_of_Cs

__all__ = ["Candidates"]

Float: TypeAlias = npt.NDArray[np.float64]

# Models of the folds serve to compare values of C: to this gap, or so many passes for each C.
FOLD_TOL = 2e-2
FOLD_ITER = 50


@dataclass(frozen=True)
class Candidates:
    """What a search tries.

    Attributes
    ----------
    choice : Choice
        What is chosen, and for what.
    Cs : int, "paper" or list of float
        Values of C; see `smtl.solvers.grid_of_Cs`.
    selection : {"best", "1se"}
        How one point will be chosen.
    with_intercept : bool
        Whether each task has an intercept.
    solving : Solving
        How the final model will be solved; models of the folds stop earlier.
    """

    choice: Choice
    Cs: Any
    selection: str
    with_intercept: bool
    solving: Solving

    def formula(self, number: int) -> Formula:
        """Return what is minimised for a candidate."""
        metric, penalty, ridge = self.names[number]
        return Formula(get_metric(metric), get_penalty(penalty, ridge), self.with_intercept)

    @property
    def names(self) -> list[Candidate]:
        """Metric, penalty and ridge of each candidate, as they were given."""
        return self.choice.candidates

    def grids(self, data: Data) -> list[Float]:
        """Return the values of C of each candidate."""
        values: Any = list(self.Cs) if isinstance(self.Cs, Iterator) else self.Cs
        return [self._grid(values, data, self.formula(number)) for number in range(len(self.names))]

    def _grid(self, Cs: Any, data: Data, formula: Formula) -> Float:
        check_tasks(formula.metric, data.targets)
        if len(data.targets.learnable()) == 0:
            return grid_of_Cs(Cs, 1.0)
        return grid_of_Cs(Cs, data.natural_C(formula))

    def tried(
        self, data: Data, grids: list[Float], executor: Executor | None, progress: Progress
    ) -> tuple[list[Point], bool]:
        """Return the points that were done, and whether there should have been more.

        Parameters
        ----------
        data : Data
            What is cross-validated on.
        grids : list of ndarray
            The values of C of each candidate.
        executor : Executor or None
            To run folds side by side.
        progress : Progress
            It is told of each point, and may ask to stop.

        Returns
        -------
        points : list of Point
            At least one.
        partial : bool
            Whether Ctrl-C or a callback has ended the search.
        """
        points: list[Point] = []

        def run(heat: Heat) -> Iterator[Point]:
            return self._points(data, heat, executor)

        whole = (point for number, Cs in enumerate(grids) for point in run(Heat(number, Cs, coarse=False)))
        try:
            one_answer = data.targets.kind == "multiclass"
            for point in race(self.names, grids, run, one_answer) if self.choice.racing else whole:
                points.append(point)
                forget_losers(points, self.selection)
                if progress.step(f"C={point.C:.3g} scores {point.mean:.4f}", len(data.splits)):
                    return points, len(points) < self.most_points(grids)
        except KeyboardInterrupt:
            if not points:
                raise
            return points, True
        return points, False

    def most_points(self, grids: list[Float]) -> int:
        """Return how many points there are at most."""
        return most_points(self.names, grids) if self.choice.racing else sum(map(len, grids))

    def _points(self, data: Data, heat: Heat, executor: Executor | None) -> Iterator[Point]:
        """Yield the points of some values of C of one candidate."""
        formula, kind, choice = self.formula(heat.candidate), data.targets.kind, self.choice
        tol, max_iter = (COARSE_TOL, COARSE_ITER) if heat.coarse else (FOLD_TOL, FOLD_ITER)
        scoring = Scoring(
            choice.scorer(formula.metric, kind),
            choice.threshold,
            choice.cut_target(formula.metric, kind),
            cut_later=self.selection == "best",
            guide=choice.guide(formula.metric, kind),
        )
        given = self.solving
        solving = Solving(given.solver, max(given.tol, tol), min(given.max_iter, max_iter))
        for point in search(data, heat.candidate, formula, heat.Cs, scoring, solving, executor):
            point.coarse = heat.coarse
            yield point
