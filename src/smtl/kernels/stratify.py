"""Iterative stratification of rows with several labels each.

K. Sechidis, G. Tsoumakas, I. Vlahavas, On the stratification of multi-label data, ECML PKDD 2011. Labels are taken from
the rarest on, because rows of a rare label, once dealt badly, cannot be made up for; each row goes to the fold that
still wants most rows of the label.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import boolean, float64, int8, int64, njit, types


@njit(int64(float64[::1], float64[::1], float64), cache=True, nogil=True)
def neediest(first, second, tie):
    """Return the fold of largest ``first``, then of largest ``second``; among equals, ``tie`` in [0, 1) decides."""
    best = 0
    equals = 1
    for f in range(1, len(first)):
        if first[f] > first[best] or (first[f] == first[best] and second[f] > second[best]):
            best = f
            equals = 1
        elif first[f] == first[best] and second[f] == second[best]:
            equals += 1
    skip = int(tie * equals)
    chosen = best
    for f in range(best + 1, len(first)):
        if skip == 0:
            break
        if first[f] == first[best] and second[f] == second[best]:
            chosen = f
            skip -= 1
    return chosen


@njit(
    types.void(
        int8[:, ::1],
        int64[::1],
        int64[::1],
        boolean[::1],
        float64[::1],
        float64[:, ::1],
        float64[::1],
        float64[::1],
        float64[::1],
        float64[::1],
        int64[::1],
    ),
    cache=True,
    nogil=True,
)
def deal(Y, rows, start, blank, left, wanted, wanted_rows, wanted_blank, ties, weights, fold):
    """Fill ``fold``, which is -1 everywhere; see `iterative_folds`.

    The positive rows of label i are ``rows[start[i]:start[i + 1]]``, of which a weight of ``left[i]`` is to be dealt.
    ``wanted`` is how many of them each fold wants, a row a label; ``wanted_rows`` how many rows with labels, and
    ``wanted_blank`` how many without.
    """
    n, m = Y.shape
    n_folds = len(wanted_rows)
    rest = 1e-9 * weights.min() if n > 0 else 0.0  # what rounding may leave of a label that is dealt
    while True:
        label = -1
        for i in range(m):
            if left[i] > rest and (label < 0 or left[i] < left[label]):
                label = i
        if label < 0:
            break
        for r in range(start[label], start[label + 1]):
            k = rows[r]
            if fold[k] >= 0:
                continue
            f = neediest(wanted[label], wanted_rows, ties[k])
            fold[k] = f
            wanted_rows[f] -= weights[k]
            for i in range(m):
                if Y[k, i] > 0:
                    wanted[i, f] -= weights[k]
                    left[i] -= weights[k]

    for last in range(2):
        if last == 1:
            for f in range(n_folds):
                wanted_rows[f] += wanted_blank[f]
        for k in range(n):
            if fold[k] < 0 and (last == 1 or not blank[k]):
                f = neediest(wanted_rows, wanted_rows, ties[k])
                fold[k] = f
                wanted_rows[f] -= weights[k]


def iterative_folds(Y: Any, proportions: Any, ties: Any, weights: Any = None) -> Any:
    """Return the fold of each row of ``Y``, of shape (n, m).

    The label with the fewest rows left to deal, the first among equals, has its rows dealt in their order: each to the
    fold that wants most of the label, then to the one that wants most rows, then as the row's number in ``ties`` (in
    [0, 1)) has it. Rows with labels but no positive one go to the folds that want most rows, and so do, at the end,
    rows without any label. A fold wants its share of ``proportions``, less what it was given. A row counts as many as
    its weight says.
    """
    Y = np.ascontiguousarray(Y, dtype=np.int8)
    n, m = Y.shape
    each = np.ones(n) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    labels, rows = np.nonzero(Y.T > 0)
    rows = np.ascontiguousarray(rows)
    start = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=m))])
    left = np.bincount(labels, each[rows], minlength=m).astype(np.float64)
    blank = ~Y.any(axis=1)
    fold = np.full(n, -1)
    wanted, wanted_rows, wanted_blank = (np.multiply.outer(a, proportions) for a in (left, each @ ~blank, each @ blank))
    deal(Y, rows, start, blank, left, wanted, wanted_rows, wanted_blank, ties, each, fold)
    return fold
