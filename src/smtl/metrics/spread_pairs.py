r"""The pairwise AUC oracle over parts: the rarer class is sorted on the driver, and the parts count.

Three rounds. The parts send the scores of the rarer class. The driver sends them back sorted, and each part finds the
place of its rows of the other class among them, which tells their inverted pairs, and counts the places. The sum of
those counts tells the inverted pairs of the rarer class. For P rows of the rarer class: :math:`O(n \log P)` work and
:math:`O(P)` numbers sent a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from smtl.metrics.spreading import Ask, Float, Round, Scored, SpreadOracle, by_part, by_task, counts_of

__all__ = ["pairs"]


def pairs(ask: Ask) -> SpreadOracle:
    """Return the spread oracle of `smtl.metrics.AUC`; see `smtl.metrics.spreading`.

    Parameters
    ----------
    ask : Ask
        What is asked; there is no intercept.

    Yields
    ------
    Round
        What the parts are to do.

    Returns
    -------
    delta, value : ndarray of shape (n_tasks,)
        The fractions of inverted pairs, and the losses.
    """
    from smtl.kernels.parts import sorted_rows

    n_pos, n_neg = ask.n_pos, ask.n_neg
    sign = np.where(n_pos <= n_neg, 1, -1).astype(np.int8)
    sent = yield Round(_rarer, sign)
    lengths = [part[1] for part in sent]
    few, ptr = by_task([part[0] for part in sent], lengths)
    ordered, order = np.empty_like(few), np.empty(len(few), dtype=np.int64)
    for a, b in pairwise(ptr):
        ordered[a:b], rows = sorted_rows(few[a:b] - 1.0)
        order[a:b] = a + rows
    numbers = np.int32 if max(n_pos.max(initial=0), n_neg.max(initial=0)) < 2**31 else np.int64
    at_most, margins = yield Round(_counted, (sign, ordered, ptr, numbers), joined=_joined, exact=True)
    margin = np.sort(margins, axis=0).sum(axis=0)  # the same whatever the order

    inverted, total = np.empty(len(few), dtype=at_most.dtype), np.empty(len(sign))
    for i, (a, b) in enumerate(pairwise(ptr)):
        counts = at_most[a + i : b + i + 1].astype(np.int64)
        above = counts[::-1].cumsum()[::-1][1:]  # the rows beyond each place
        inverted[order[a:b]] = above
        total[i] = above.sum(dtype=np.float64)
        margin[i] += np.dot(above, few[order[a:b]])
    weight = 1.0 / (n_pos.astype(np.float64) * n_neg)
    yield Round(_coefficients, (sign, weight), own=by_part(inverted, lengths), last=True)
    return total * weight, (total - margin) * weight


def _rarer(scored: Scored, sign: Any, own: Any) -> tuple[Any, Any]:
    """Send the scores of the rarer class, with the sign that makes it the positive one."""
    of_task = np.repeat(sign, np.diff(scored.ptr))
    chosen = scored.y == of_task
    return None, (scored.scores[chosen] * of_task[chosen], counts_of(chosen, scored.ptr))


def _counted(scored: Scored, common: Any, own: Any) -> tuple[Any, Any]:
    """Keep how many pairs each row of the other class has inverted; send the counts of their places."""
    from smtl.kernels.parts import count_inverted

    sign, few, few_ptr, numbers = common
    inverted = np.empty(len(scored.scores), dtype=numbers)
    at_most, margin = np.zeros(len(few) + len(sign), dtype=np.int64), np.zeros(len(sign))
    count_inverted(scored.scores, scored.y, scored.ptr, sign, few, few_ptr, inverted, at_most, margin)
    return inverted, (at_most.astype(numbers), margin[np.newaxis])


def _joined(sent: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Add up the counts of places, and keep the margins apart."""
    at_most, margins = zip(*sent, strict=True)
    return reduce(np.add, at_most), np.concatenate(margins)


def _coefficients(scored: Scored, common: Any, own: Any) -> tuple[Float, Any]:
    """Keep c: of either class the signed number of inverted pairs, over P N."""
    sign, weight = common
    lengths = np.diff(scored.ptr)
    of_task = np.repeat(sign, lengths)
    inverted = scored.kept
    chosen = scored.y == of_task
    inverted[chosen] = own
    c: Float = inverted * np.repeat(weight, lengths)
    c[scored.y < 0] *= -1.0
    return c, None
