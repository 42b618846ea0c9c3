"""Oracles of weighted rows against all rankings, labellings and sets of the repeated rows, ties included."""

import itertools

import numpy as np
import pytest

from smtl.metrics import (
    AUC,
    F1,
    MCC,
    AUCLabelling,
    BalancedError,
    Error,
    FBeta,
    GMean,
    Jaccard,
    PartialAUC,
)
from smtl.metrics.weighting import weighted_planes
from tests.candidates import candidates
from tests.seeds import new_rng
from tests.unit.metrics.test_ranking import METRICS, SIZES, draw

CASES = 2000
LABELLINGS = [F1(), FBeta(0.5), FBeta(2), Jaccard(), GMean(), MCC(), BalancedError(), AUCLabelling(), Error()]
ANSWERS = {n: np.array(list(itertools.product([-1, 1], repeat=n))) for n in range(2, 8)}


def parted(rng, n):
    """Whole weights of sum n."""
    ends = np.flatnonzero(np.append(rng.random(n - 1) < 0.6, True)) + 1
    return np.diff(ends, prepend=0)


def draw_case(rng, P, N):
    """Scores, labels and weights of some rows, positives first, and the repeated rows."""
    of_pos, of_neg = parted(rng, P), parted(rng, N)
    weights = np.concatenate([of_pos, of_neg])
    y = np.repeat(np.array([1, -1], dtype=np.int8), [len(of_pos), len(of_neg)])
    s = draw(rng, len(of_pos), len(of_neg))
    return s, y, weights, np.repeat(np.arange(len(y)), weights)


def plane(metric, s, y, weights, rng):
    """The plane of the rows in any order."""
    order = rng.permutation(len(y))
    delta, permuted, value = weighted_planes(
        metric,
        s[order],
        y[order],
        np.array([0, len(y)]),
        weights[order].astype(np.float64),
        shift=np.zeros(1),
        with_intercept=False,
        eps=0.0,
    )
    c = np.empty(len(y))
    c[order] = permuted
    return delta[0], c, value[0]


def check(metric, case, losses_at, rng):
    """The plane attains the worst of all candidates, and is nowhere above it."""
    s, y, weights, rows = case
    delta, c, value = plane(metric, s, y, weights, rng)
    rounding = 1e-9 * (1 + np.abs(s[rows]).sum())
    assert abs(value - losses_at(s[rows])) <= rounding, case  # pytest.approx takes longer than all the rest
    assert abs(delta - s @ c - value) <= rounding, case
    u = draw(rng, np.sum(y > 0), np.sum(y < 0))
    assert delta - u @ c <= losses_at(u[rows]) + 1e-9 * (1 + np.abs(u[rows]).sum()), (u, case)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_the_worst_of_all_rankings(metric):
    rng = new_rng()
    for number in range(CASES):
        P, N = SIZES[number % len(SIZES)]
        if isinstance(metric, PartialAUC) and P * N > 6:
            P, N = 2, 3
        every_delta, every_c = candidates(metric, P, N)
        check(metric, draw_case(rng, P, N), lambda s, d=every_delta, c=every_c: np.max(d - c @ s), rng)


@pytest.mark.parametrize("metric", LABELLINGS, ids=repr)
def test_the_worst_of_all_labellings(metric):
    rng = new_rng()
    known = {}
    for _ in range(CASES):
        P, N = (int(k) for k in rng.integers(1, 4, 2))
        answers, y = ANSWERS[P + N], np.repeat([1, -1], [P, N])
        if (P, N) not in known:
            tp, fp = (answers[:, :P] > 0).sum(axis=1), (answers[:, P:] > 0).sum(axis=1)
            known[P, N] = np.array(
                [metric.delta(float(a), float(b), float(P - a), float(N - b)) for a, b in zip(tp, fp, strict=True)]
                if hasattr(metric, "concave_in_fp")
                else 2.0 * (P - tp + fp)
            )
        losses = known[P, N]
        check(metric, draw_case(rng, P, N), lambda s, d=losses, a=answers, y=y: np.max(d - (y - a) @ s), rng)


def test_the_hinge_loss_of_all_pairs():
    rng = new_rng()
    for _ in range(CASES):
        P, N = (int(k) for k in rng.integers(1, 8, 2))
        check(
            AUC(),
            draw_case(rng, P, N),
            lambda s, P=P: np.mean(np.maximum(0.0, 1.0 - s[:P, None] + s[None, P:])),
            rng,
        )
