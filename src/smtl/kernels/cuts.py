r"""The worst labelling of rows that are known by buckets only: counts, sums and ends of scores instead of the scores.

A bucket of n scores between ``low`` and ``high`` that add up to ``total`` tells how much its k highest can add up to at
most: the smaller of ``k high`` and ``total - (n - k) low``. So buckets tell the most that each labelling can be worth,
and a labelling whose cuts fall between buckets, or into one of equal scores, is worth exactly that. If the labelling
that may be worth most is of that kind, it is the worst one; otherwise the buckets that its cuts fall into have to be
looked into (see `smtl.metrics.spread_cuts`).

Buckets are in descending order of their scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from smtl.kernels import intercept
from smtl.kernels.labelling import most_for_a_flag


class Buckets(NamedTuple):
    """The rows of one class of a task, by buckets; compiled code takes it as it is.

    Attributes
    ----------
    size : ndarray of int64 of shape (n_buckets,)
        Rows of each bucket, at least one.
    total, high, low : ndarray of shape (n_buckets,)
        The sum of their scores, the highest and the lowest. A bucket of equal scores is known exactly.
    first : ndarray of int64 of shape (n_buckets + 1,)
        The number of rows in the buckets before.
    before : ndarray of shape (n_buckets + 1,)
        The sum of their scores.
    touched : ndarray of bool of shape (n_buckets,)
        Receives True where a cut has fallen into a bucket that is not known exactly.
    """

    size: np.ndarray
    total: np.ndarray
    high: np.ndarray
    low: np.ndarray
    first: np.ndarray
    before: np.ndarray
    touched: np.ndarray


@njit(cache=True, nogil=True)
def bucket_of(rows, b, j):
    """Return the bucket of the row of rank ``b``, beginning at bucket ``j``."""
    while rows.first[j] > b:
        j -= 1
    while rows.first[j + 1] <= b:
        j += 1
    return j


@njit(cache=True, nogil=True)
def top_of_bucket(rows, j, k):
    """Return the most that the ``k`` highest scores of bucket ``j`` can add up to."""
    n = rows.size[j]
    if rows.high[j] == rows.low[j]:
        return k * rows.high[j]
    if k == 0:
        return 0.0
    if k == n:
        return rows.total[j]
    return min(k * rows.high[j], rows.total[j] - (n - k) * rows.low[j])


@njit(cache=True, nogil=True)
def kink(rows, j):
    """Return how many scores of bucket ``j`` are as high as can be where its highest add up to the most."""
    n = rows.size[j]
    if rows.high[j] == rows.low[j]:
        return n
    return min(max(int((rows.total[j] - n * rows.low[j]) / (rows.high[j] - rows.low[j])), 0), n - 1)


@njit(cache=True, nogil=True)
def top(rows, b, j):
    """Return the most that the ``b`` highest scores can add up to; ``j`` is the bucket of the last or of the next."""
    return rows.before[j] + top_of_bucket(rows, j, b - rows.first[j])


@njit(cache=True, nogil=True)
def gain(formula, a, n_pos, neg, n_neg, b, j, shift):
    """Return what one flag more than ``b`` adds; ``j`` is the bucket of the negative that gets it."""
    k = b - neg.first[j]
    score = neg.high[j]
    if score != neg.low[j]:
        score = top_of_bucket(neg, j, k + 1) - top_of_bucket(neg, j, k)
    fn = float(n_pos - a)
    raised = formula(float(a), b + 1.0, fn, n_neg - b - 1.0) - formula(float(a), float(b), fn, float(n_neg - b))
    return raised + 2.0 * (score + shift)


@njit(cache=True, nogil=True)
def best_flags(formula, a, n_pos, neg, n_neg, b, j, shift):
    """Return how many flags are worth most where ``a`` positives are found, and the bucket of the next negative.

    The loss is concave in the flags, so it is a search uphill from ``b``, in steps that double and are halved again.
    """
    last = len(neg.size) - 1
    up = False
    if b < n_neg:
        j = bucket_of(neg, b, j)
        up = gain(formula, a, n_pos, neg, n_neg, b, j, shift) > 0.0
    if up:
        low, step = b, 1  # one more than `low` flags gains
        high = b + 1
        while high < n_neg:
            j = bucket_of(neg, high, j)
            if gain(formula, a, n_pos, neg, n_neg, high, j, shift) <= 0.0:
                break
            low = high
            step *= 2
            high = min(low + step, n_neg)
        while high - low > 1:
            middle = (low + high) // 2
            j = bucket_of(neg, middle, j)
            if gain(formula, a, n_pos, neg, n_neg, middle, j, shift) > 0.0:
                low = middle
            else:
                high = middle
        b = high
    elif b > 0:
        j = bucket_of(neg, b - 1, j)
        if gain(formula, a, n_pos, neg, n_neg, b - 1, j, shift) < 0.0:
            high, step = b - 1, 1  # the flag after `high` ones loses
            low = b - 2
            while low >= 0:
                j = bucket_of(neg, low, j)
                if gain(formula, a, n_pos, neg, n_neg, low, j, shift) >= 0.0:
                    break
                high = low
                step *= 2
                low = high - step
            low = max(low, -1)
            while high - low > 1:
                middle = (low + high) // 2
                j = bucket_of(neg, middle, j)
                if gain(formula, a, n_pos, neg, n_neg, middle, j, shift) < 0.0:
                    high = middle
                else:
                    low = middle
            b = high
    return b, last if b == n_neg else bucket_of(neg, b, j)


@njit(cache=True, nogil=True)
def worst_cuts(formula, convex, pos, n_pos, neg, n_neg, shift):
    """Return ``(a, b, value)`` of the labelling that may be worth most at scores raised by ``shift``.

    Where the loss is convex in the true positives, the best of those within a bucket are at its ends or at its kink.
    """
    b, jb, ja = 0, 0, 0
    best_a, best_b, best = 0, 0, -np.inf
    all_pos = pos.before[len(pos.size)]
    a = 0
    while True:
        b, jb = best_flags(formula, a, n_pos, neg, n_neg, b, jb, shift)
        flagged = top(neg, b, jb) + b * shift
        missed = 0.0  # exactly, where none is
        if a < n_pos:
            missed = (all_pos - top(pos, a, ja)) + (n_pos - a) * shift
        value = formula(float(a), float(b), float(n_pos - a), float(n_neg - b)) + 2.0 * flagged - 2.0 * missed
        if value > best:
            best_a, best_b, best = a, b, value
        if a == n_pos:
            return best_a, best_b, best
        if convex:
            at_kink = pos.first[ja] + kink(pos, ja)
            a = at_kink if a < at_kink else min(at_kink + 1 if a == at_kink else pos.first[ja + 1], pos.first[ja + 1])
        else:
            a += 1
        if a < n_pos:
            ja = bucket_of(pos, a, ja)


@njit(cache=True, nogil=True)
def touch(rows, b):
    """Mark the bucket that the cut behind the ``b`` highest rows falls into, unless that is known exactly."""
    if 0 < b < rows.first[-1]:
        j = bucket_of(rows, b, 0)
        if rows.first[j] < b and rows.high[j] > rows.low[j]:
            rows.touched[j] = True


@njit(cache=True, nogil=True)
def score_of_rank(rows, b):
    """Return about the score of the row of rank ``b``; its bucket is marked unless it is known exactly."""
    j = bucket_of(rows, b, 0)
    if rows.high[j] > rows.low[j]:
        rows.touched[j] = True
        return rows.total[j] / rows.size[j]
    return rows.high[j]


@njit(cache=True, nogil=True)
def search_cuts(formula, convex, pos, neg, with_intercept, start, eps):
    """Return the two labellings of the plane of one task, and what came of the search for its intercept.

    It is that of `smtl.kernels.labelling.labelling_planes` if no bucket is touched.
    """
    n_pos, n_neg = pos.first[-1], neg.first[-1]
    state = np.empty(intercept.SIZE)
    step = 0.0
    if with_intercept:
        price = max(0.5 * most_for_a_flag(formula, n_pos, n_neg), 1e-6)
        upper, lower = score_of_rank(pos, n_pos - 1 - (3 * n_pos) // 4), score_of_rank(pos, n_pos - 1 - n_pos // 4)
        spread = upper - lower
        step = 0.05 * (min(spread, price) if spread > 0.0 else price)
    left_a = left_b = right_a = right_b = 0
    intercept.begin(state, step)
    while True:
        x = intercept.propose(state, start, eps)
        if np.isnan(x):
            break
        a, b, seen = worst_cuts(formula, convex, pos, n_pos, neg, n_neg, x)
        touch(pos, a)
        touch(neg, b)
        side = intercept.take(state, x, seen, 2.0 * (b - (n_pos - a)) if with_intercept else 0.0)
        if side <= 0:
            left_a, left_b = a, b
        if side >= 0:
            right_a, right_b = a, b
    return (
        left_a,
        left_b,
        right_a,
        right_b,
        intercept.left_weight(state),
        state[intercept.BEST_X],
        state[intercept.BEST_VALUE],
    )


@njit(cache=True, nogil=True)
def look_into(scores, y, ptr, first, low, high, bins, at, count, total, most, least, values, wish):
    """Divide rows whose scores are in the wished-for intervals into bins, or copy their scores; return how many.

    The intervals of the negatives of task i are ``first[2 i]:first[2 i + 1]`` and those of its positives follow, in
    ascending order. Interval k is divided into ``bins[k]`` bins of equal width, which begin at ``at[k]``; where there
    are none, scores are copied to ``values``, and k to ``wish``.
    """
    n = 0
    for i in range(len(ptr) - 1):
        if first[2 * i] == first[2 * i + 2]:
            continue
        for row in range(ptr[i], ptr[i + 1]):
            if y[row] == 0:
                continue
            s = scores[row]
            left = first[2 * i + (y[row] > 0)]
            right = first[2 * i + (y[row] > 0) + 1]
            if left == right or s < low[left]:
                continue
            while right - left > 1:  # the last interval that begins at the score or below
                middle = (left + right) // 2
                if low[middle] <= s:
                    left = middle
                else:
                    right = middle
            if s > high[left]:
                continue
            if bins[left] == 0:
                values[n] = s
                wish[n] = left
                n += 1
                continue
            place = at[left]
            if bins[left] > 1:
                share = (s - low[left]) / (high[left] - low[left])
                place += min(int(share * bins[left]), bins[left] - 1)
            count[place] += 1
            total[place] += s
            most[place] = max(most[place], s)
            least[place] = min(least[place], s)
    return n
