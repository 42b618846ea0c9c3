r"""Check a metric from outside: its oracle against all labellings, its planes by the inequalities they must keep."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.metrics.base import Float, Labels, Metric, Planes
from smtl.metrics.contingency import ContingencyMetric
from smtl.metrics.pointwise import PointwiseMetric
from smtl.testing.formulas import check_loss, check_table, exhaustive, near_ties, tabulate, worst_tables
from smtl.testing.parts import check_spread
from smtl.testing.weights import check_weights

__all__ = ["check_metric"]

Task: TypeAlias = tuple[Float, Labels]  # scores and labels

# Relative to the size of the terms that are compared.
_RTOL = 1e-10
# So many rows have few enough labellings to try them all.
_MAX_ROWS = 8
_SMALL = [(P, N) for P in range(1, _MAX_ROWS) for N in range(1, _MAX_ROWS) if P + N <= _MAX_ROWS]
# The formula alone is cheap: a false claim may show on larger tables only.
_TABLES = [(P, N) for P in (1, 2, 3, 5, 8, 12) for N in (1, 2, 3, 5, 8, 12)]


def check_metric(metric: Metric, *, n_trials: int = 20, random_state: int | np.random.Generator = 0) -> None:
    r"""Raise an error if a metric is wrong.

    Every right metric has these properties. They are checked in this order, so that the first to fail tells what is
    wrong:

    - for a `ContingencyMetric`: ``delta`` is finite, non-negative, 0 at the true answer, and concave in ``fp`` or
      convex in ``fn`` where that is claimed;
    - for a `PointwiseMetric`: ``loss`` is finite, non-negative, non-increasing and convex, and its slope a subgradient;
    - ``oracle`` returns a finite :math:`\Delta` and c, and does not modify its arguments;
    - for a `ContingencyMetric` :math:`\Delta` and c are those of a labelling, and
      :math:`G(s) = \Delta - s'c` is the largest over all :math:`2^n` of them; for a `PointwiseMetric` it is the sum
      of the losses;
    - :math:`G(s) \ge 0`; :math:`\sum_k c_k = 0` where ``uses_intercept`` is False; the plane is nowhere above the
      loss, :math:`G(u) \ge \Delta - u'c` for every u, which also means that G is convex; the order of the rows does
      not matter;
    - ``planes`` is ``oracle`` for each of several tasks, with c = 0 on rows without a label; with an intercept, value
      and shift are a minimum of :math:`G(s + b)` over b up to ``eps``, c sums to zero and the plane is within ``eps``
      of the value;
    - ``spread``, on rows divided into 1 to 20 parts, finds a plane as good as that of ``planes``;
    - ``score`` is finite, and nothing scores higher than perfect scores;
    - planes and score of weighted rows are those of repeated rows, where the metric knows weights;
    - a copy, and a pickled one, has the same oracle.

    Parameters
    ----------
    metric : Metric
        What to check.
    n_trials : int, default=20
        How many random tasks to try, of at most 8 rows: with ties, with one positive or one negative, with scores of
        magnitudes between 0 and 1e6. Tasks that ``check_task`` refuses are left out.
    random_state : int or numpy.random.Generator, default=0
        What draws them.

    Raises
    ------
    AssertionError
        It names the metric, the property that does not hold, and the numbers that show it.

    Examples
    --------
    >>> from smtl.metrics import Jaccard
    >>> check_metric(Jaccard())
    >>> class Hasty(Jaccard):
    ...     def oracle(self, scores, y):
    ...         return 1.0, 2.0 * (y > 0)  # always the labelling that finds nothing
    >>> check_metric(Hasty())
    Traceback (most recent call last):
    ...
    AssertionError: Hasty(): the plane of oracle must attain the largest Delta - s'c over all labellings, got ...
    """
    rng = np.random.default_rng(random_state)
    watched = _Watched(metric)
    sizes, refusal = _accepted(metric, _SMALL)
    if isinstance(metric, ContingencyMetric):
        for size in [*_accepted(metric, _TABLES)[0], *sizes] or _TABLES:
            check_table(metric, *size, watched.fail)
    if isinstance(metric, PointwiseMetric):
        check_loss(metric, watched.fail)
    if not sizes:
        watched.fail(f"check_task must accept some task of at most {_MAX_ROWS} rows, got {refusal!r} instead.")
    tasks = [_draw_task(rng, sizes, trial) for trial in range(n_trials)]
    # One property after the other, so that the blame falls on the right method.
    for task in tasks:
        _check_oracle(watched, *task, rng)
    if isinstance(metric, ContingencyMetric):
        _check_search(watched, metric, 15 * n_trials, rng)
    for trial in range(0, n_trials, 3):
        _check_planes(watched, tasks[trial : trial + 3], rng)
    if metric.uses_intercept:
        for trial in range(0, n_trials, 6):
            _check_intercept(watched, tasks[trial : trial + 3], 1e-2 if trial % 4 else 0.0, rng)
    for trial in range(0, n_trials, 3):
        check_spread(metric, _flat(tasks[trial : trial + 3], rng), False, 0.0, rng, watched.fail)
        if metric.uses_intercept:
            check_spread(metric, _flat(tasks[trial : trial + 3], rng), True, 1e-3, rng, watched.fail)
    for task in tasks:
        _check_score(watched, *task)
    for trial in range(0, n_trials, 3):
        flat = _flat(tasks[trial : trial + 3], rng)
        others = [_draw_scores(rng, flat[1], kind) for kind in range(6)]
        check_weights(metric, flat, others, rng, watched.fail)
    _check_copies(watched, tasks)


class _Watched:
    """A metric each call of which is checked for what holds whatever the arguments."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self._tables: dict[tuple[int, int], Float] = {}

    def fail(self, what: str) -> NoReturn:
        raise AssertionError(f"{self.metric!r}: {what}")

    def at_most(self, small: float, large: float, size: float, what: str, **where: object) -> None:
        """Fail unless small <= large, up to rounding of terms of that size; NaN fails."""
        if not small <= large + _RTOL * size:
            self.fail(f"{what}, got {small!r} > {large!r} at {_listed(where)} instead.")

    def close(self, got: float, wanted: float, size: float, what: str, **where: object) -> None:
        """Fail unless both are the same, up to rounding of terms of that size; NaN fails."""
        if not abs(got - wanted) <= _RTOL * size:
            self.fail(f"{what}, got {got!r} instead of {wanted!r} at {_listed(where)}.")

    def oracle(self, s: Float, y: Labels) -> tuple[float, Float]:
        arguments = s.copy(), y.copy()
        delta, c = self.metric.oracle(*arguments)
        self._unchanged("oracle", {"scores": (s, arguments[0]), "y": (y, arguments[1])})
        if not isinstance(c, np.ndarray) or c.shape != s.shape or c.dtype != np.float64:
            got = f"{c.dtype} of shape {c.shape}" if isinstance(c, np.ndarray) else repr(c)
            self.fail(f"oracle must return c as float64 of shape {s.shape}, got {got} instead.")
        if not (np.isfinite(delta) and np.isfinite(c).all()):
            self.fail(f"oracle must be finite, got {(delta, c)!r} at {_listed({'s': s, 'y': y})} instead.")
        return float(delta), c

    def value(self, s: Float, y: Labels) -> float:
        delta, c = self.oracle(s, y)
        return delta - float(s @ c)

    def planes(self, s: Float, y: Labels, ptr: npt.NDArray[np.int64], shift: Float, eps: float | None) -> Planes:
        """Return the planes, with an intercept unless eps is None."""
        arguments = s.copy(), y.copy(), ptr.copy()
        delta, c, value = self.metric.planes(*arguments, shift=shift, with_intercept=eps is not None, eps=eps or 0.0)
        pairs = {"scores": (s, arguments[0]), "y": (y, arguments[1]), "ptr": (ptr, arguments[2])}
        self._unchanged("planes", pairs)
        m = len(ptr) - 1
        for name, got, shape in (("delta", delta, (m,)), ("c", c, s.shape), ("value", value, (m,))):
            if got.shape != shape:
                self.fail(f"planes must return {name} of shape {shape}, got {got.shape} instead.")
            if not np.isfinite(got).all():
                where = _listed({"s": s, "y": y, "ptr": ptr})
                self.fail(f"planes must be finite, got {name} = {got!r} at {where} instead.")
        if (wrong := np.flatnonzero((y == 0) & (c != 0))).size:
            k = int(wrong[0])
            self.fail(
                f"planes must return c = 0 on rows with y = 0, got {float(c[k])!r} at row {k} of y = {y!r} instead."
            )
        return delta, c, value

    def table(self, metric: ContingencyMetric, y: Labels) -> Float:
        size = int(np.sum(y > 0)), int(np.sum(y < 0))
        if size not in self._tables:
            self._tables[size] = tabulate(metric, *size)
        return self._tables[size]

    def _unchanged(self, method: str, arguments: dict[str, tuple[Any, Any]]) -> None:
        for name, (before, after) in arguments.items():
            if not np.array_equal(before, after):
                self.fail(f"{method} must not modify its {name}, but it turned {before!r} into {after!r}.")


def _listed(where: dict[str, object]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in where.items())


def _size(s: Float, *planes: tuple[float, Float]) -> float:
    """Return the size of the terms of planes at s; sums of scores count even where c is 0, as oracles add them up."""
    terms = 1.0 + float(np.abs(s).sum())
    return terms + sum(abs(delta) + float(np.abs(s) @ np.abs(c)) for delta, c in planes)


def _accepted(metric: Metric, sizes: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], ValueError | None]:
    """Return the numbers of positives and negatives that check_task lets pass, and its last error."""
    accepted, refusal = [], None
    for size in sizes:
        try:
            metric.check_task(*size)
        except ValueError as error:
            refusal = error
        else:
            accepted.append(size)
    return accepted, refusal


def _draw_task(rng: np.random.Generator, sizes: list[tuple[int, int]], trial: int) -> Task:
    """Draw a task; every second one is as skewed as can be."""
    skewed = [(P, N) for P, N in sizes if (P, N)[trial // 2 % 2] == 1] if trial % 2 else []
    choice = skewed or sizes
    P, N = choice[int(rng.integers(len(choice)))]
    y = rng.permutation(np.repeat(np.array([1, -1], dtype=np.int8), [P, N]))
    return _draw_scores(rng, y, kind=trial), y


def _draw_scores(rng: np.random.Generator, y: Labels, kind: int | None = None) -> Float:
    """Draw scores that oracles have trouble with: ties, right or wrong answers, many magnitudes."""
    n = len(y)
    kind = int(rng.integers(6)) if kind is None else kind % 6
    s: Float = rng.standard_normal(n)
    if kind == 0:
        s = 0.25 * rng.integers(-4, 5, n).astype(np.float64)
    elif kind == 1:
        s = np.full(n, s[0] if rng.random() < 0.5 else 0.0)
    elif kind == 2:
        s *= 10.0 ** rng.uniform(-3.0, 6.0)
    elif kind == 3:
        s *= 0.3 / n
    elif kind == 4:
        s = float(rng.choice([-1.0, 1.0])) * y * rng.random(n) + 0.5 * s
    else:
        s *= rng.choice([0.0, 1.0, 1.0, 1e6], n)
    return s


def _check_plane(watched: _Watched, s: Float, y: Labels) -> tuple[float, Float]:
    """Check the oracle at one point, against what is known of the kind of metric; return the plane."""
    plane = delta, c = watched.oracle(s, y)
    value, size, metric = delta - float(s @ c), _size(s, plane), watched.metric
    if isinstance(metric, ContingencyMetric):
        if not np.isin(c * y, (0.0, 2.0)).all():
            watched.fail(f"oracle must return c = y - y' of a labelling y', got c = {c!r} for y = {y!r} instead.")
        table = watched.table(metric, y)
        found = float(table[int(np.sum((y > 0) & (c == 0))), int(np.sum((y < 0) & (c != 0)))])
        watched.close(delta, found, 1.0 + found, "Delta of oracle must be delta of its labelling", c=c, y=y)
        what = "the plane of oracle must attain the largest Delta - s'c over all labellings"
        watched.close(value, exhaustive(table, s, y), size, what, s=s, y=y)
    if isinstance(metric, PointwiseMetric):
        total = sum(metric.loss(float(t))[0] for t in y * s)
        watched.close(value, total, size, "the plane of oracle must attain the sum of the losses", s=s, y=y)
    watched.at_most(-value, 0.0, size, "the loss must be at least 0, as the true answer's is: -G(s) <= 0", s=s, y=y)
    if not metric.uses_intercept and not abs(c.sum()) <= _RTOL * np.abs(c).sum():
        watched.fail(f"c must sum to zero, or uses_intercept be True, got {c!r} of sum {c.sum()!r} instead.")
    return plane


def _others(s: Float, y: Labels, rng: np.random.Generator) -> Iterator[Float]:
    """Scores at which a wrong plane of s would show: far ones, near ones, on the way to the right answer."""
    scale = float(np.abs(s).max())
    for _ in range(4):
        yield _draw_scores(rng, y)
    for step in (1.0, 1e-2, scale, 1e-4 * scale):
        yield s + step * rng.normal(size=len(s))
    yield s + y * rng.random()
    yield -s
    yield 0.5 * s
    yield s + rng.normal() * (np.arange(len(s)) == rng.integers(len(s)))


def _check_oracle(watched: _Watched, s: Float, y: Labels, rng: np.random.Generator) -> None:
    plane = _check_plane(watched, s, y)
    for u in _others(s, y, rng):
        other = _check_plane(watched, u, y)
        for (at, (delta, c)), (here, below) in (((s, plane), (u, other)), ((u, other), (s, plane))):
            watched.at_most(
                delta - float(here @ c),
                below[0] - float(here @ below[1]),
                _size(here, below, (delta, c)),
                "the plane of oracle must bound the loss from below: Delta(s) - u'c(s) <= G(u)",
                s=at,
                u=here,
                y=y,
            )
    order = rng.permutation(len(s))
    what = "the loss must not depend on the order of the rows"
    watched.close(watched.value(s[order], y[order]), plane[0] - float(s @ plane[1]), _size(s, plane), what, s=s, y=y)


def _check_search(watched: _Watched, metric: ContingencyMetric, n_draws: int, rng: np.random.Generator) -> None:
    """Check the oracle on more rows than can be labelled in all ways, at the scores that are hardest for it."""
    tables = [tabulate(metric, *size) for size in _accepted(metric, _TABLES)[0] if min(size) >= 5]
    for draw in range(n_draws if tables else 0):
        table = tables[draw % len(tables)]
        s, y = near_ties(table, rng)
        what = "the plane of oracle must attain the largest Delta - s'c over all labellings"
        watched.close(watched.value(s, y), worst_tables(table, s, y), _size(s), what, s=s, y=y)


def _flat(tasks: list[Task], rng: np.random.Generator) -> tuple[Float, Labels, npt.NDArray[np.int64]]:
    """Join tasks into one, with rows in between that have scores and no labels."""
    scores, labels = [], []
    for s, y in tasks:
        keep = rng.permutation(np.repeat([True, False], [len(y), int(rng.integers(3))]))
        wide, marked = 10.0 * rng.normal(size=len(keep)), np.zeros(len(keep), dtype=np.int8)
        wide[keep], marked[keep] = s, y
        scores.append(wide)
        labels.append(marked)
    ptr = np.cumsum([0, *map(len, scores)], dtype=np.int64)
    return np.concatenate(scores), np.concatenate(labels), ptr


def _check_planes(watched: _Watched, tasks: list[Task], rng: np.random.Generator) -> None:
    scores, y, ptr = _flat(tasks, rng)
    delta, c, value = watched.planes(scores, y, ptr, rng.normal(size=len(tasks)), None)
    for i, (s, labels) in enumerate(tasks):
        rows = ptr[i] + np.flatnonzero(y[ptr[i] : ptr[i + 1]])
        plane, at = (float(delta[i]), c[rows]), {"s": s, "y": labels}
        size = _size(s, plane)
        watched.close(float(value[i]), watched.value(s, labels), size, "value of planes must be that of oracle", **at)
        what = "delta - s'c of planes must be the value"
        watched.close(plane[0] - float(s @ plane[1]), float(value[i]), size, what, **at)
        _check_bound(watched, plane, labels, rng)


def _check_bound(watched: _Watched, plane: tuple[float, Float], y: Labels, rng: np.random.Generator) -> None:
    for kind in range(6):
        u = _draw_scores(rng, y, kind)
        below = watched.oracle(u, y)
        watched.at_most(
            plane[0] - float(u @ plane[1]),
            below[0] - float(u @ below[1]),
            _size(u, plane, below),
            "a plane of planes must bound the loss from below: delta - u'c <= G(u)",
            u=u,
            y=y,
            plane=plane,
        )


def _least(loss: Callable[[float], float], reach: float, n: int) -> float:
    """Return the least value of a convex function on the line, a sum over n rows, by golden section."""
    low, high = (_far_enough(loss, start, n) for start in (-reach, reach))
    ratio = 0.5 * (5.0**0.5 - 1.0)
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    at_a, at_b = loss(a), loss(b)
    least = min(at_a, at_b)
    for _ in range(64):  # 0.618 ** 64 is 4e-14
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = loss(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = loss(b)
        least = min(least, at_a, at_b)
    return least


def _far_enough(loss: Callable[[float], float], b: float, n: int) -> float:
    """Return b, doubled for as long as a sum over n rows falls by more than the rounding of scores as large as b."""
    while abs(b) < 1e12 and loss(b) < loss(0.5 * b) - _RTOL * n * abs(b):
        b *= 2.0
    return b


def _check_intercept(watched: _Watched, tasks: list[Task], eps: float, rng: np.random.Generator) -> None:
    scores, y, ptr = _flat(tasks, rng)
    guess = rng.normal(size=len(tasks)) * rng.choice([0.0, 1.0, 100.0], len(tasks))
    shift = guess.copy()
    delta, c, value = watched.planes(scores, y, ptr, shift, eps)
    for i, (s, labels) in enumerate(tasks):
        rows = ptr[i] + np.flatnonzero(y[ptr[i] : ptr[i + 1]])
        plane, got = (float(delta[i]), c[rows]), float(value[i])

        def loss(b: float, s: Float = s, labels: Labels = labels) -> float:
            return watched.value(s + b, labels)

        at = {"s": s, "y": labels, "eps": eps, "guess": float(guess[i]), "shift": float(shift[i])}
        reach = 2.0 * float(np.abs(s).max()) + 1.0
        size = _size(s, plane) + len(s) * reach
        least = _least(loss, reach, len(s))
        what = "with an intercept, value of planes must be at most eps above the least G(s + b) over b"
        watched.at_most(got, least + eps, size, what, **at)
        what = "with an intercept, value of planes must be at least the least G(s + b) over b"
        watched.at_most(least, got, size, what, **at)
        watched.close(loss(float(shift[i])), got, size, "G(s + shift) must be the value of planes", **at)
        if not abs(plane[1].sum()) <= _RTOL * (1.0 + np.abs(plane[1]).sum()):
            watched.fail(
                f"with an intercept, c of planes must sum to zero over each task, got {plane[1]!r} of sum "
                f"{plane[1].sum()!r} at {_listed(at)} instead."
            )
        height = plane[0] - float(s @ plane[1])
        watched.at_most(height, got, size, "with an intercept, delta - s'c must not exceed the value", **at)
        what = "with an intercept, delta - s'c must be at most eps below the value"
        watched.at_most(got - eps, height, size, what, **at)
        _check_bound(watched, plane, labels, rng)


def _check_score(watched: _Watched, s: Float, y: Labels) -> None:
    perfect = y * (1.0 + float(np.abs(s).max()))
    results = []
    for scores in (perfect, s):
        arguments = y.copy(), scores.copy()
        score = watched.metric.score(*arguments)
        watched._unchanged("score", {"y": (y, arguments[0]), "s": (scores, arguments[1])})
        if not isinstance(score, float) or not np.isfinite(score):
            watched.fail(f"score must be a finite float, got {score!r} at y = {y!r}, s = {scores!r} instead.")
        results.append(float(score))
    what = "score must be greatest for perfect scores: score(y, s) <= score(y, large y)"
    watched.at_most(results[1], results[0], abs(results[1]), what, y=y, s=s)


def _check_copies(watched: _Watched, tasks: list[Task]) -> None:
    copies = {"copy.deepcopy": copy.deepcopy(watched.metric)}
    try:
        pickle.dumps(type(watched.metric))
    except (pickle.PicklingError, AttributeError):
        pass  # a class defined inside a function; no fault of the metric
    else:
        copies["pickle"] = pickle.loads(pickle.dumps(watched.metric))
    for how, twin in copies.items():
        for s, y in tasks:
            wanted, got = watched.oracle(s, y), _Watched(twin).oracle(s, y)
            if wanted[0] != got[0] or not np.array_equal(wanted[1], got[1]):
                watched.fail(f"oracle must survive {how}, got {got!r} instead of {wanted!r} at s = {s!r}, y = {y!r}.")
