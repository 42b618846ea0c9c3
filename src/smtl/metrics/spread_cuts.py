r"""The oracle of a contingency table over parts: the driver looks for two cut-offs, and knows rows by buckets only.

The worst labelling misses the lowest positives and flags the highest negatives. For each class of a task the driver
has a list of buckets: how many scores, their sum, the highest and the lowest. That bounds what each labelling can be
worth, so it can run the whole search for the worst labelling and the intercept on these bounds
(`smtl.kernels.cuts`). Buckets that a cut fell into are divided by the parts, into finer ones or into single scores.
Once none is left the search was exact, and its labelling is the worst one of all rows. Scores that are all equal are
one bucket that is known exactly, however many they are.

What is sent does not depend on the number of rows, but for the number of rounds, which grows with its logarithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from smtl.metrics.spreading import Ask, Float, Round, Scored, SpreadOracle

if TYPE_CHECKING:
    from smtl.metrics.contingency import ContingencyMetric

__all__ = ["two_cuts"]

ROOM = 1024  # scores that the parts together may send for one class of a task in a round; a bin takes the room of four

Numbers = npt.NDArray[np.int64]


class Wishes(NamedTuple):
    """Which intervals of scores the parts are to look into; see `smtl.kernels.cuts.look_into`."""

    first: Numbers
    low: Float
    high: Float
    bins: Numbers
    at: Numbers


class Found(NamedTuple):
    """What rows are in these intervals: counts, sums and ends of bins; or single scores, each with its interval."""

    size: Numbers
    total: Float
    most: Float
    least: Float
    values: Float
    wish: Numbers


class Cut(NamedTuple):
    """Which rows of a class are above a cut: those of scores above ``score``, and ``taken`` of the ``tied`` equal ones.

    Arrays of shape (n_tasks, 2, 2): a labelling for each side of the best intercept, negatives and positives.
    """

    score: Float
    taken: Numbers
    tied: Numbers


def two_cuts(metric: ContingencyMetric, ask: Ask) -> SpreadOracle:
    """Return the spread oracle of a contingency metric that is concave in fp; see `smtl.metrics.spreading`.

    Parameters
    ----------
    metric : ContingencyMetric
        The metric.
    ask : Ask
        What is asked.

    Yields
    ------
    Round
        What the parts are to do.

    Returns
    -------
    delta, value : ndarray of shape (n_tasks,)
        The labellings' losses, mixed where there is an intercept, and the values.
    """
    m = len(ask.shift)
    classes = [_Rows(int(n)) for pair in zip(ask.n_neg, ask.n_pos, strict=True) for n in pair]
    found = _Labellings(m)
    wished: list[Numbers] = [np.zeros(1, dtype=np.int64)] * len(classes)
    while any(len(places) for places in wished):
        wishes = _wishes(classes, wished)
        looked = yield Round(_looked_into, wishes, joined=_joined)
        _divide(classes, wished, wishes, looked)
        for i in range(m):
            if len(wished[2 * i]) or len(wished[2 * i + 1]):
                wished[2 * i : 2 * i + 2] = found.search(metric, ask, i, classes[2 * i], classes[2 * i + 1])
    cut, own = found.cut, None
    if np.any((cut.taken > 0) & (cut.taken < cut.tied)):
        tied = np.array((yield Round(_tied, cut.score)))
        own = list(np.cumsum(tied, axis=0) - tied)
    yield Round(_coefficients, (cut, found.theta), own=own, last=True)
    if ask.with_intercept:
        ask.shift[:] = found.shift
    return found.delta, found.value


class _Rows:
    """The rows of one class of a task, in buckets."""

    def __init__(self, n: int) -> None:
        self.size, self.total = np.array([n]), np.zeros(1)
        self.high, self.low = np.array([np.inf]), np.array([-np.inf])

    def divided(self, places: Numbers, finer: Sequence[tuple[Any, ...]]) -> None:
        """Put finer buckets in the places of some."""
        for name, column in zip(("size", "total", "high", "low"), zip(*finer, strict=True), strict=True):
            pieces, values, start = [], getattr(self, name), 0
            for place, piece in zip(places.tolist(), column, strict=True):
                pieces += [values[start:place], piece]
                start = place + 1
            setattr(self, name, np.concatenate([*pieces, values[start:]]))

    def buckets(self) -> Any:
        """Return them as compiled code takes them."""
        from smtl.kernels.cuts import Buckets

        first, before = (np.concatenate([[0], np.cumsum(each)]) for each in (self.size, self.total))
        return Buckets(
            self.size, self.total, self.high, self.low, first, before, np.zeros(len(self.size), dtype=np.bool_)
        )

    def cut(self, n: int) -> tuple[float, int, int]:
        """Return what tells the n highest rows from the others."""
        if n == 0:
            return np.inf, 0, 0
        last = np.cumsum(self.size)
        j = int(np.searchsorted(last, n))
        return float(self.low[j]), int(n - last[j] + self.size[j]), int(self.size[j])


class _Labellings:
    """The worst labellings of all tasks: one, or the two on either side of the best intercept."""

    def __init__(self, m: int) -> None:
        self.delta, self.value, self.shift, self.theta = np.zeros(m), np.zeros(m), np.zeros(m), np.ones(m)
        shape = (m, 2, 2)
        self.cut = Cut(np.full(shape, np.inf), np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64))

    def search(
        self, metric: ContingencyMetric, ask: Ask, i: int, negatives: _Rows, positives: _Rows
    ) -> tuple[Numbers, Numbers]:
        """Find those of task i; return which buckets have to be divided for them to be exact."""
        from smtl.kernels.cuts import search_cuts

        neg, pos = negatives.buckets(), positives.buckets()
        start = float(ask.shift[i]) if ask.with_intercept else 0.0
        *labellings, theta, shift, value = search_cuts(
            metric._compiled(), metric.convex_in_fn, pos, neg, ask.with_intercept, start, ask.eps
        )
        touched = np.flatnonzero(neg.touched), np.flatnonzero(pos.touched)
        if len(touched[0]) or len(touched[1]):
            return touched
        left_a, left_b, right_a, right_b = labellings
        found, flagged = np.array([left_a, right_a]), np.array([left_b, right_b])
        losses = metric.losses(found.astype(float), flagged.astype(float), int(ask.n_pos[i]), int(ask.n_neg[i]))
        self.delta[i] = theta * losses[0] + ((1.0 - theta) * losses[1] if theta < 1.0 else 0.0)
        self.theta[i], self.shift[i], self.value[i] = theta, shift, value
        for side, (b, a) in enumerate(((left_b, left_a), (right_b, right_a))):
            for kind, (rows, n) in enumerate(((negatives, b), (positives, a))):
                for column, entry in zip(self.cut, rows.cut(n), strict=True):
                    column[i, side, kind] = entry
        return touched


def _wishes(classes: Sequence[_Rows], wished: Sequence[Numbers]) -> Wishes:
    """Return what the parts are to look into: few rows one by one, more of them by bins."""
    low, high, bins = [], [], []
    for rows, places in zip(classes, wished, strict=True):
        room = max(ROOM // max(len(places), 1), 8)
        for place in places[::-1].tolist():  # in ascending order
            low.append(rows.low[place])
            high.append(rows.high[place])
            bins.append(0 if rows.size[place] <= room else room // 4 if np.isfinite(rows.low[place]) else 1)
    sizes = np.array(bins, dtype=np.int64)
    first = np.concatenate([[0], np.cumsum([len(places) for places in wished])]).astype(np.int64)
    return Wishes(first, np.array(low), np.array(high), sizes, np.cumsum(sizes) - sizes)


def _divide(classes: Sequence[_Rows], wished: Sequence[Numbers], wishes: Wishes, found: Found) -> None:
    """Divide buckets as the parts have found."""
    if not (np.isfinite(found.values).all() and np.isfinite(found.total).all()):
        raise ValueError("Scores must be finite, got NaN or infinity; bring the features to one scale.")
    order = np.lexsort((-found.values, found.wish))
    values, ends = found.values[order], np.searchsorted(found.wish[order], np.arange(len(wishes.bins) + 1))
    for c, (rows, places) in enumerate(zip(classes, wished, strict=True)):
        finer: list[tuple[Any, ...]] = []
        for k in range(wishes.first[c + 1] - 1, wishes.first[c] - 1, -1):
            if wishes.bins[k] == 0:
                score, size = np.unique(-values[ends[k] : ends[k + 1]], return_counts=True)
                finer.append((size, -score * size, -score, -score))
            else:
                span = slice(wishes.at[k], wishes.at[k] + wishes.bins[k])
                columns: list[Any] = [column[span][::-1] for column in found[:4]]
                full = columns[0] > 0
                size, total, high, low = (column[full] for column in columns)
                finer.append((size, np.where(high == low, size * high, total), high, low))
        if finer:
            rows.divided(places, finer)


def _looked_into(scored: Scored, wishes: Wishes, own: Any) -> tuple[Any, Found]:
    """Send what rows are in the intervals."""
    from smtl.kernels.cuts import look_into

    n = int(wishes.bins.sum())
    room = len(scored.scores) if np.any(wishes.bins == 0) else 0
    values, wish = np.empty(room), np.empty(room, dtype=np.int64)
    size, total, most, least = np.zeros(n, dtype=np.int64), np.zeros(n), np.full(n, -np.inf), np.full(n, np.inf)
    n = look_into(scored.scores, scored.y, scored.ptr, *wishes, size, total, most, least, values, wish)
    return None, Found(size, total, most, least, values[:n].copy(), wish[:n].copy())


def _joined(found: Sequence[Found]) -> Found:
    """Return what several parts have found together."""
    size, total, most, least, values, wish = (list(column) for column in zip(*found, strict=True))
    return Found(
        np.add.reduce(size),
        np.add.reduce(total),
        np.maximum.reduce(most),
        np.minimum.reduce(least),
        np.concatenate(values),
        np.concatenate(wish),
    )


def _tied(scored: Scored, score: Float, own: Any) -> tuple[Any, Numbers]:
    """Send how many rows have the scores at which the cuts are."""
    tied = np.zeros(score.shape, dtype=np.int64)
    for i, (a, b) in enumerate(zip(scored.ptr[:-1], scored.ptr[1:], strict=True)):
        for kind, sign in enumerate((-1, 1)):
            of_class = scored.scores[a:b][scored.y[a:b] == sign]
            tied[i, :, kind] = [(of_class == at).sum() for at in score[i, :, kind]]
    return None, tied


def _coefficients(scored: Scored, common: tuple[Cut, Float], own: Any) -> tuple[Float, Any]:
    """Keep c: 2 on missed positives and -2 on false positives, mixed where there are two labellings."""
    cut, theta = common
    c = np.zeros(len(scored.scores))
    for i, (a, b) in enumerate(zip(scored.ptr[:-1], scored.ptr[1:], strict=True)):
        scores, y = scored.scores[a:b], scored.y[a:b]
        for side, part in enumerate((theta[i], 1.0 - theta[i])[: 1 if theta[i] == 1.0 else 2]):
            for kind, sign in enumerate((-1, 1)):
                before = 0 if own is None else own[i, side, kind]
                at, taken, tied = (column[i, side, kind] for column in cut)
                above = _above(scores, y == sign, at, taken, tied, before)
                wrong = above if sign < 0 else (y > 0) & ~above
                c[a:b][wrong] += 2.0 * sign * part
    return c, None


def _above(scores: Float, of_class: npt.NDArray[np.bool_], at: Any, taken: Any, tied: Any, before: Any) -> Any:
    """Return which rows of a class are above a cut; of equal scores, those taken are spread evenly over all parts.

    That is the rule of `smtl.kernels.labelling.write_top`.
    """
    above = of_class & (scores > at)
    if taken:
        equal = np.flatnonzero(of_class & (scores == at)) if taken < tied else of_class & (scores == at)
        if taken < tied:
            place = before + np.arange(len(equal))
            equal = equal[((place + 1) * taken) // tied > (place * taken) // tied]
        above[equal] = True
    return above
