"""Sums of the logistic loss and its derivatives: one pass over the rows, one exponential a row."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, njit, types

N_FACTORS = 64  # factors of at most 2 whose product is taken before its logarithm: fewer logarithms, no overflow


@njit(
    types.void(float64[::1], float64[::1], float64[::1], int64[::1], float64[::1], float64[::1], float64[:, ::1]),
    cache=True,
    nogil=True,
)
def curve_sums(scores, wanted, each, ptr, slope, intercept, out):
    """Write a row of sums for each task, whose entries are ``ptr[i]:ptr[i + 1]``.

    An entry counts what ``each`` says; that is empty where all count the same.
    With the log odds o = slope * s + intercept and p = expit(o): the loss log(1 + e^o) - wanted * o, then wanted - p,
    p (1 - p), (wanted - p) s, p (1 - p) s, and p (1 - p) s^2.
    """
    for i in range(len(ptr) - 1):
        loss = g_b = h_bb = g_a = h_ab = h_aa = 0.0
        product = 1.0
        for k in range(ptr[i], ptr[i + 1]):
            s = scores[k]
            odds = slope[i] * s + intercept[i]
            e = np.exp(-abs(odds))
            p = (1.0 if odds >= 0.0 else e) / (1.0 + e)
            rest, weight = wanted[k] - p, p * (1.0 - p)
            if len(each) > 0:
                loss += each[k] * (max(odds, 0.0) - wanted[k] * odds + np.log1p(e))
                rest *= each[k]
                weight *= each[k]
            else:
                loss += max(odds, 0.0) - wanted[k] * odds
                product *= 1.0 + e
                if (k - ptr[i]) % N_FACTORS == N_FACTORS - 1:
                    loss += np.log(product)
                    product = 1.0
            g_b += rest
            h_bb += weight
            g_a += rest * s
            h_ab += weight * s
            h_aa += weight * s * s
        out[i, 0], out[i, 1], out[i, 2] = loss + np.log(product), g_b, h_bb
        out[i, 3], out[i, 4], out[i, 5] = g_a, h_ab, h_aa


@njit(
    float64(
        float64[:, ::1], float64[::1], float64[::1], int64[::1], float64[::1], float64[::1], float64[::1], float64[::1]
    ),
    cache=True,
    nogil=True,
)
def weighted_loss(scores, yes, each, task, weights, intercept, by_weight, by_intercept):
    """Return the log loss of weighted scores, and write its derivatives; ``yes`` is 0 or 1.

    An entry counts what ``each`` says; that is empty where all count the same.
    """
    by_weight[:] = 0.0
    by_intercept[:] = 0.0
    loss = 0.0
    product = 1.0
    for k in range(len(yes)):
        odds = intercept[task[k]]
        for j in range(len(weights)):
            odds += scores[k, j] * weights[j]
        e = np.exp(-abs(odds))
        p = (1.0 if odds >= 0.0 else e) / (1.0 + e)
        rest = p - yes[k]
        if len(each) > 0:
            loss += each[k] * (max(odds, 0.0) - yes[k] * odds + np.log1p(e))
            rest *= each[k]
        else:
            loss += max(odds, 0.0) - yes[k] * odds
            product *= 1.0 + e
            if k % N_FACTORS == N_FACTORS - 1:
                loss += np.log(product)
                product = 1.0
        for j in range(len(weights)):
            by_weight[j] += scores[k, j] * rest
        by_intercept[task[k]] += rest
    return loss + np.log(product)
