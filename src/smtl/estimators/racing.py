"""A race of candidates: few values of C first, losers dropped, and the C only of those that lead."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.points import Point
from smtl.metrics import get_metric

__all__ = ["METRICS", "PENALTIES", "Heat", "most_points", "race"]

Float: TypeAlias = npt.NDArray[np.float64]

# What a metric or penalty that is not given is chosen from; of equals the first is taken.
METRICS = ("log", "auc", "f1")
PENALTIES = ("ridge", "trace", "l21")

N_COARSE = 4  # values of C of a first look at a candidate
COARSE_TOL = 0.1  # gap of the models of a first look
COARSE_ITER = 15  # passes for each of them, at most
LEAD = 2.0  # standard errors by which a metric of the answers must lead, see `race`


class Heat(NamedTuple):
    """What is to be tried at once.

    Attributes
    ----------
    candidate : int
        The number of the candidate.
    Cs : ndarray
        Values of C, ascending.
    coarse : bool
        Whether it is a first look, whose models may stop early.
    """

    candidate: int
    Cs: Float
    coarse: bool


def race(
    candidates: Sequence[tuple[Any, Any, float]],
    grids: Sequence[Float],
    run: Callable[[Heat], Iterator[Point]],
    one_answer: bool = False,
) -> Iterator[Point]:
    """Try candidates, and drop those that are behind.

    First every metric with the first penalty, then the best metric with all the others, each at four values of C with
    models that stop early. The candidate that then leads is tried at the values of C around its best.

    A metric that is a function of the answers, such as F1, must lead by two standard errors of the difference over the
    folds. Its loss is flat where classes overlap: there a model that stops early is better than the final one will be.
    So must every metric whose scores are no log odds where a row gets one answer of several classes: the classes'
    scores are compared then, and the mean AUC, which each class has by itself, does not tell how well.

    Parameters
    ----------
    candidates : list of (metric, penalty, ridge)
        All combinations.
    grids : list of ndarray
        The values of C of each.
    run : callable
        Takes a `Heat`, and yields its points.
    one_answer : bool, default=False
        Whether a row gets one answer of several classes.

    Yields
    ------
    Point
        Whatever was tried; those of a first look are marked as coarse.

    Notes
    -----
    A first look takes about a third of the passes of a whole grid, a close one about as many. For three metrics and
    three penalties that makes about two whole grids.
    """
    seen: dict[int, Point] = {}
    metrics = [repr(metric) for metric, _, _ in candidates]
    for number in [metrics.index(metric) for metric in dict.fromkeys(metrics)]:
        seen[number] = yield from _first_look(number, grids[number], run)
    leader = metrics[_leader(candidates, seen, one_answer)]
    for number in range(len(candidates)):
        if metrics[number] == leader and number not in seen:
            seen[number] = yield from _first_look(number, grids[number], run)
    winner = max((number for number in seen if metrics[number] == leader), key=lambda number: seen[number].mean)
    yield from run(Heat(winner, _around(grids[winner], seen[winner].C), coarse=False))


def most_points(candidates: Sequence[tuple[Any, Any, float]], grids: Sequence[Float]) -> int:
    """Return how many points a race has at most.

    Parameters
    ----------
    candidates : list of (metric, penalty, ridge)
        All combinations.
    grids : list of ndarray
        The values of C of each.

    Returns
    -------
    int
        The number of points.

    Examples
    --------
    >>> candidates = [("log", "l21", 0.0), ("log", "trace", 0.0), ("auc", "l21", 0.0), ("auc", "trace", 0.0)]
    >>> most_points(candidates, [np.ones(20)] * 4)
    17
    """
    metrics = [repr(metric) for metric, _, _ in candidates]
    n_looks = len(set(metrics)) + max(metrics.count(metric) for metric in metrics) - 1
    grid = max(grids, key=len)
    return n_looks * len(_coarse_places(len(grid))) + min(len(grid), 2 * (_step(len(grid)) // 2) + 1)


def _first_look(number: int, grid: Float, run: Callable[[Heat], Iterator[Point]]) -> Generator[Point, None, Point]:
    """Yield the points of a few values of C, and return the best."""
    points = []
    for point in run(Heat(number, grid[_coarse_places(len(grid))], coarse=True)):
        points.append(point)
        yield point
    return max(points, key=lambda point: point.mean)


def _leader(candidates: Sequence[tuple[Any, Any, float]], seen: dict[int, Point], one_answer: bool) -> int:
    """Return the candidate that leads, the first of equals."""
    metrics = {number: get_metric(candidates[number][0]) for number in seen}
    wary = [n for n, metric in metrics.items() if metric.judges_answers or (one_answer and metric.probability is None)]
    others = [number for number in seen if number not in wary]
    if not others or not wary:
        return max(seen, key=lambda number: seen[number].mean)
    best, rival = (max(numbers, key=lambda number: seen[number].mean) for numbers in (others, wary))
    gain = seen[rival].guide - seen[best].guide
    gain = gain[~np.isnan(gain)]
    if len(gain) < 2 or gain.mean() <= LEAD * gain.std(ddof=1) / np.sqrt(len(gain)):
        return best
    return rival


def _step(n: int) -> int:
    return -(-n // N_COARSE)


def _coarse_places(n: int) -> npt.NDArray[np.int64]:
    return np.arange(_step(n) // 2, n, _step(n))


def _around(grid: Float, C: float) -> Float:
    """Return the values of a grid that are nearer to one of the first look than to the others."""
    place, width = int(np.argmin(np.abs(np.log(grid / C)))), _step(len(grid)) // 2
    return grid[max(0, place - width) : place + width + 1]
