"""Whole groups of rows dealt to folds, so that every fold has its share of every class."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def change(counts, have, share, total, sign):
    r"""Return by how much a fold's chi-squared distance from its share changes with a group more (+1) or less (-1).

    The distance is the sum over the classes of :math:`(n_k - s N_k)^2 / (s N_k)`.
    """
    value = 0.0
    for k in range(len(counts)):
        if counts[k] != 0.0:
            wanted = share * total[k]
            value += counts[k] * (counts[k] + sign * 2.0 * (have[k] - wanted)) / wanted
    return value


@njit(cache=True, nogil=True)
def swap_change(first, second, have, share, total):
    """Return by how much a fold's distance changes with one group in place of another."""
    value = 0.0
    for k in range(len(first)):
        step = second[k] - first[k]
        if step != 0.0:
            wanted = share * total[k]
            value += step * (step + 2.0 * (have[k] - wanted)) / wanted
    return value


@njit(cache=True, nogil=True)
def group_folds(counts, shares, order, partners):
    """Return the fold of each group.

    ``counts`` has a row a group: how many of its rows are of each class. The groups are dealt in ``order``, each to the
    fold whose distance from its share falls most. Then groups move, or change places with one of their ``partners``
    (a row of group numbers for each sweep and group), as long as that lowers the distance.
    """
    n_groups, n_classes = counts.shape
    n_folds = len(shares)
    total = counts.sum(axis=0)
    have = np.zeros((n_folds, n_classes))
    fold = np.zeros(n_groups, np.int64)
    members = np.zeros(n_folds, np.int64)
    for place in range(n_groups):
        g = order[place]
        best, least = 0, np.inf
        for f in range(n_folds):
            value = change(counts[g], have[f], shares[f], total, 1.0)
            # So many folds are still empty as there are groups left: they must get one each.
            if members[f] > 0 and np.sum(members == 0) >= n_groups - place:
                value = np.inf
            if value < least:
                best, least = f, value
        fold[g] = best
        members[best] += 1
        have[best] += counts[g]

    for sweep in range(partners.shape[0]):
        improved = False
        for place in range(n_groups):
            g = order[place]
            f = fold[g]
            leaving = change(counts[g], have[f], shares[f], total, -1.0)
            best, other, least = -1, -1, -1e-9
            for to in range(n_folds):
                if to != f and members[f] > 1:
                    value = leaving + change(counts[g], have[to], shares[to], total, 1.0)
                    if value < least:
                        best, least = to, value
            for p in range(partners.shape[2]):
                h = partners[sweep, g, p]
                to = fold[h]
                if to != f:
                    value = swap_change(counts[g], counts[h], have[f], shares[f], total)
                    value += swap_change(counts[h], counts[g], have[to], shares[to], total)
                    if value < least:
                        best, other, least = to, h, value
            if best < 0:
                continue
            improved = True
            fold[g] = best
            have[f] -= counts[g]
            have[best] += counts[g]
            if other >= 0:
                fold[other] = f
                have[best] -= counts[other]
                have[f] += counts[other]
            else:
                members[f] -= 1
                members[best] += 1
        if not improved:
            break
    return fold
