"""Every candidate of a small task whose first P rows are the positives: its Delta and its c, from the definitions."""

import itertools
import math
from functools import cache

import numpy as np

from smtl.metrics import NDCG, PRBEP, AveragePrecision, PartialAUC, PrecisionAtK


def of_rankings(loss, P, N):
    """All n! rankings, whatever the order within a class."""
    ranks = np.array(list(itertools.permutations(range(1, P + N + 1))))
    swapped = ranks[:, :P, None] > ranks[:, None, P:]
    c = np.concatenate([swapped.sum(axis=2), -swapped.sum(axis=1)], axis=1) / (P * N)
    return np.array([loss(np.sort(r)) for r in ranks[:, :P]]), c


def precision_loss(ranks):
    return 1 - np.mean([(i + 1) / r for i, r in enumerate(ranks)])


def gain_loss(ranks):
    return 1 - np.sum(1 / np.log2(ranks + 1)) / np.sum(1 / np.log2(np.arange(len(ranks)) + 2))


def of_answers(P, N):
    """All labellings that say yes P times."""
    y, delta, c = np.repeat([1, -1], [P, N]), [], []
    for yes in itertools.combinations(range(P + N), P):
        answer = np.where(np.isin(np.arange(P + N), yes), 1, -1)
        delta.append(np.mean(answer[:P] < 0))
        c.append(y - answer)
    return np.array(delta), np.array(c)


def of_tops(k, P, N):
    """All sets of k rows, compared by means."""
    delta, c = [0.0], [np.zeros(P + N)]
    k = min(k, P + N)
    for top in itertools.combinations(range(P + N), k):
        taken = np.isin(np.arange(P + N), top)
        missed, wrong = ~taken & (np.arange(P + N) < P), taken & (np.arange(P + N) >= P)
        loss = (min(k, P) - taken[:P].sum()) / k
        if loss > 0:
            delta.append(loss)
            c.append(loss * (missed / missed.sum() - wrong / wrong.sum()))
    return np.array(delta), np.array(c)


def of_sets(beta, P, N):
    """All ways to take beta N negatives, the last by a fraction, and all sets of inverted pairs of each."""
    K, delta, c = math.ceil(beta * N - 1e-12), [], []
    for chosen in itertools.permutations(range(N), K):
        share = np.zeros(N)
        share[list(chosen)] = 1.0
        share[chosen[-1]] = beta * N - (K - 1)
        for pairs in itertools.product([0, 1], repeat=P * K):
            inverted = np.zeros((P, N))
            inverted[:, list(chosen)] = np.reshape(pairs, (P, K))
            inverted *= share / (P * beta * N)
            delta.append(inverted.sum())
            c.append(np.concatenate([inverted.sum(axis=1), -inverted.sum(axis=0)]))
    return np.array(delta), np.array(c)


@cache
def _candidates(kind, parameter, P, N):
    if kind is AveragePrecision:
        return of_rankings(precision_loss, P, N)
    if kind is NDCG:
        return of_rankings(gain_loss, P, N)
    if kind is PRBEP:
        return of_answers(P, N)
    return {PrecisionAtK: of_tops, PartialAUC: of_sets}[kind](parameter, P, N)


def candidates(metric, P, N):
    return _candidates(type(metric), next(iter(vars(metric).values()), None), P, N)
