"""Iterative stratification of rows with several labels each.

K. Sechidis, G. Tsoumakas, I. Vlahavas, On the stratification of multi-label data, ECML PKDD 2011. Labels are taken from
the rarest on, because rows of a rare label, once dealt badly, cannot be made up for; each row goes to the fold that
still wants most rows of the label.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def positive_rows(Y):
    """Return the positive rows of all labels, one label after another, and where each label's begin."""
    n, m = Y.shape
    start = np.zeros(m + 1, np.int64)
    for k in range(n):
        for i in range(m):
            if Y[k, i] > 0:
                start[i + 1] += 1
    for i in range(m):
        start[i + 1] += start[i]
    rows = np.empty(start[m], np.int64)
    filled = start.copy()
    for k in range(n):
        for i in range(m):
            if Y[k, i] > 0:
                rows[filled[i]] = k
                filled[i] += 1
    return rows, start


@njit(cache=True, nogil=True)
def iterative_folds(Y, proportions, ties):
    """Return the fold of each row of ``Y``, of shape (n, m).

    The label with the fewest rows left to deal, the first among equals, has its rows dealt in their order: each to the
    fold that wants most of the label, then to the one that wants most rows, then as the row's number in ``ties`` (in
    [0, 1)) has it. Rows with labels but no positive one go to the folds that want most rows, and so do, at the end,
    rows without any label. A fold wants its share of ``proportions``, less what it was given.
    """
    n, m = Y.shape
    n_folds = len(proportions)
    rows, start = positive_rows(Y)
    left = np.empty(m, np.int64)
    wanted = np.empty((m, n_folds))
    for i in range(m):
        left[i] = start[i + 1] - start[i]
        for f in range(n_folds):
            wanted[i, f] = proportions[f] * left[i]
    blank = np.ones(n, np.bool_)
    n_blank = n
    for k in range(n):
        for i in range(m):
            if Y[k, i] != 0:
                blank[k] = False
                n_blank -= 1
                break
    wanted_rows = np.empty(n_folds)
    for f in range(n_folds):
        wanted_rows[f] = proportions[f] * (n - n_blank)
    fold = np.full(n, -1, np.int64)

    while True:
        label = -1
        for i in range(m):
            if left[i] > 0 and (label < 0 or left[i] < left[label]):
                label = i
        if label < 0:
            break
        for r in range(start[label], start[label + 1]):
            k = rows[r]
            if fold[k] >= 0:
                continue
            f = neediest(wanted[label], wanted_rows, ties[k])
            fold[k] = f
            wanted_rows[f] -= 1.0
            for i in range(m):
                if Y[k, i] > 0:
                    wanted[i, f] -= 1.0
                    left[i] -= 1

    for last in range(2):
        if last == 1:
            for f in range(n_folds):
                wanted_rows[f] += proportions[f] * n_blank
        for k in range(n):
            if fold[k] < 0 and (last == 1 or not blank[k]):
                f = neediest(wanted_rows, wanted_rows, ties[k])
                fold[k] = f
                wanted_rows[f] -= 1.0
    return fold
