r"""The oracle of a contingency table over parts: what can be in the worst labelling goes to the driver.

The worst labelling misses the lowest positives and flags the highest negatives. The parts send the scores of all
positives, and of those negatives that can be flagged at all: where the formula is concave in the false positives, a
negative pays for its flag only with a score above a floor that is known beforehand (see `smtl.kernels.labelling`). The
driver searches for the two cut-offs, and for the intercept, and tells each part which of its rows are answered wrongly.
Where the search leaves the intercepts that the floor was for, the parts are asked again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from smtl.metrics.spreading import Ask, Float, Offsets, Round, Scored, SpreadOracle, by_part, by_task, counts_of

if TYPE_CHECKING:
    from smtl.metrics.contingency import ContingencyMetric

__all__ = ["two_cuts"]

FURTHER = 2.0  # how much further than the last search went the next one may go before the parts are asked again


def two_cuts(metric: ContingencyMetric, ask: Ask) -> SpreadOracle:
    """Return the spread oracle of a contingency metric; see `smtl.metrics.spreading`.

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
    from smtl.kernels.parts import price_of_a_flag

    m, formula, start = len(ask.shift), metric._compiled(), np.zeros(len(ask.shift))
    price = np.array([price_of_a_flag(formula, *size) for size in zip(ask.n_pos, ask.n_neg, strict=True)])
    most = np.zeros(m)
    if ask.with_intercept:
        start[:] = ask.shift
        most = start + ask.memory.get("further", np.zeros(m))
    found, open_, lengths = _Labellings(m), np.ones(m, dtype=bool), np.zeros((0, m), dtype=np.int64)
    while open_.any():
        # With a little to spare for rounding.
        floor = -most - price - 1e-9 * (1.0 + np.abs(most)) if metric.concave_in_fp else np.full(m, -np.inf)
        sent = yield Round(_flaggable, (floor, open_))
        fresh = np.array([part[2] for part in sent])
        lengths = np.where(open_, fresh, lengths if len(lengths) else 0)
        scores, ptr = by_task([part[0] for part in sent], list(fresh))
        positive, _ = by_task([part[1] for part in sent], list(fresh))
        for i in np.flatnonzero(open_).tolist():
            rows = slice(ptr[i], ptr[i + 1])
            reach = most[i] if metric.concave_in_fp else np.inf
            needed = found.search(metric, ask, i, scores[rows], positive[rows], float(start[i]), reach)
            if needed is None:
                open_[i] = False
            else:
                most[i] = needed
    if ask.with_intercept:
        ask.shift[:] = found.shift
        ask.memory["further"] = FURTHER * np.maximum(found.shift - start, 0.0) + price
    wrong = by_part(np.concatenate(found.wrong), list(lengths))
    yield Round(_coefficients, found.theta, own=wrong, last=True)
    return found.delta, found.value


class _Labellings:
    """The worst labellings of all tasks: one, or the two on either side of the best intercept."""

    def __init__(self, m: int) -> None:
        self.delta, self.value, self.shift, self.theta = np.zeros(m), np.zeros(m), np.zeros(m), np.ones(m)
        self.wrong: list[Any] = [None] * m  # of each row sent: 1 if wrong in the left labelling, plus 2 if in the right

    def search(
        self, metric: ContingencyMetric, ask: Ask, i: int, scores: Float, positive: Any, start: float, most: float
    ) -> float | None:
        """Find those of task i; return the intercept up to which negatives have to be known, None if they are."""
        from smtl.kernels.parts import search_labelling, sorted_rows

        n_pos, n_neg = int(ask.n_pos[i]), int(ask.n_neg[i])
        rows_pos, rows_neg = np.flatnonzero(positive), np.flatnonzero(~positive)
        (pos, order_pos), (neg, order_neg) = sorted_rows(scores[rows_pos]), sorted_rows(scores[rows_neg])
        *labellings, theta, shift, value, needed = search_labelling(
            metric._compiled(), metric.concave_in_fp, pos, neg, n_neg, ask.with_intercept, start, ask.eps, most
        )
        if not np.isnan(needed):
            return float(needed)
        a, b, right_a, right_b = labellings
        losses = metric.losses(np.array([a, right_a], float), np.array([b, right_b], float), n_pos, n_neg)
        self.delta[i] = theta * losses[0] + ((1.0 - theta) * losses[1] if theta < 1.0 else 0.0)
        self.theta[i], self.shift[i], self.value[i] = theta, shift, value
        sorted_pos, sorted_neg = (pos, rows_pos[order_pos]), (neg, rows_neg[order_neg])
        self.wrong[i] = _wrong(len(scores), sorted_pos, sorted_neg, a, b)
        if theta < 1.0:
            self.wrong[i] += 2 * _wrong(len(scores), sorted_pos, sorted_neg, right_a, right_b)
        return None


def _wrong(n: int, pos: tuple[Float, Offsets], neg: tuple[Float, Offsets], a: int, b: int) -> Any:
    """Return which rows a labelling answers wrongly, as 0 and 1."""
    from smtl.kernels.parts import write_answers

    c = np.zeros(n)
    write_answers(c, *pos, *neg, a, b)
    return (c != 0).astype(np.uint8)


def _flaggable(scored: Scored, common: Any, own: Any) -> tuple[Any, Any]:
    """Keep which rows can be answered wrongly; send their scores and classes, of the tasks that are asked for."""
    floor, asked = common
    lengths = np.diff(scored.ptr)
    chosen = (scored.y > 0) | ((scored.y < 0) & (scored.scores > np.repeat(floor, lengths)))
    sent = chosen & np.repeat(asked, lengths)
    return chosen, (scored.scores[sent], scored.y[sent] > 0, counts_of(sent, scored.ptr))


def _coefficients(scored: Scored, theta: Any, wrong: Any) -> tuple[Float, Any]:
    """Keep c: 2 on missed positives and -2 on false positives, mixed where there are two labellings."""
    chosen = scored.kept
    part = np.repeat(theta, np.diff(scored.ptr))[chosen]
    c = np.zeros(len(scored.scores))
    c[chosen] = 2.0 * scored.y[chosen] * (part * (wrong & 1) + (1.0 - part) * (wrong >> 1))
    return c, None
