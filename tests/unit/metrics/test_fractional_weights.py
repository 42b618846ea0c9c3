"""Weights that are no whole numbers, against all candidates of rows that are divided into quarters."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score

from smtl.metrics import (
    F1,
    MCC,
    NDCG,
    PRBEP,
    AUCLabelling,
    AveragePrecision,
    BalancedError,
    FBeta,
    GMean,
    Jaccard,
    PrecisionAtK,
    get_metric,
    metric_names,
)
from smtl.metrics.weighting import weighted_planes
from tests.seeds import new_rng

CONTINGENCY = [F1(), FBeta(2), FBeta(0.2), Jaccard(), GMean(), MCC(), BalancedError(), AUCLabelling()]


def draw(rng, most):
    """A task whose rows weigh some quarters, and the same in quarters of rows, the highest of each class first."""
    quarters = [rng.multinomial(rng.integers(1, most + 1) - 1, np.full(k, 1 / k)) + 1 for k in rng.integers(1, 3, 2)]
    weights = np.concatenate(quarters) / 4.0
    y = np.repeat(np.array([1, -1], dtype=np.int8), [len(part) for part in quarters])
    s = rng.choice([0.1, 1.0, 4.0]) * rng.standard_normal(len(y))
    s = np.where(rng.random(len(y)) < 0.3, np.round(s), s)
    pos, neg = (np.sort(np.repeat(s[y == sign], part))[::-1] for sign, part in zip((1, -1), quarters, strict=True))
    return s, y, weights, pos, neg


def interpolated(metric, P, N):
    """Delta of a weight of missed positives and one of flagged negatives, linear in each between whole numbers."""
    ends = [np.unique(np.append(np.arange(np.floor(total + 1e-9) + 1), total)) for total in (P, N)]
    table = np.array([[metric.delta(P - m, f, m, N - f) for f in ends[1]] for m in ends[0]])

    def delta(m, f):
        return np.interp(m, ends[0], [np.interp(f, ends[1], row) for row in table])

    return delta


def worst_labelling(metric, pos, neg):
    """Of all labellings of quarters of rows."""
    P, N = len(pos), len(neg)
    delta = interpolated(metric, P / 4, N / 4)
    table = np.array([[delta(m / 4, f / 4) for f in range(N + 1)] for m in range(P + 1)])
    wrong = np.array(list(itertools.product([0, 1], repeat=P + N)))
    losses = table[wrong[:, :P].sum(axis=1), wrong[:, P:].sum(axis=1)]
    return np.max(losses - 0.5 * wrong[:, :P] @ pos + 0.5 * wrong[:, P:] @ neg)


def worst_ranking(metric, pos, neg):
    """Of all rankings of quarters of rows that keep the order within the classes."""
    P, N = len(pos), len(neg)
    E = (lambda r: 1.0 / r) if isinstance(metric, AveragePrecision) else (lambda r: 1.0 / np.log2(1.0 + r))
    u = (lambda i: i) if isinstance(metric, AveragePrecision) else (lambda i: 1)
    ideal = sum(0.25 * u(k // 4 + 1) * E(k // 4 + 1) for k in range(P))
    best = -np.inf
    for where in itertools.combinations(range(P + N), P):
        above = np.array(where) - np.arange(P)  # quarters of negatives above each of the positives
        value = 0.0
        for k in range(P):
            for j in range(above[k]):
                i, n = k // 4 + 1, j // 4 + 1
                value += u(i) * (E(i + n - 1) - E(i + n)) / 16 / ideal - (pos[k] - neg[j]) / (P * N)
        best = max(best, value)
    return best


def worst_top(metric, pos, neg):
    """Of all tops of quarters of rows that fall short by a whole number of positives, or by as many as can be."""
    P, N = len(pos), len(neg)
    labelling = isinstance(metric, PRBEP)
    size = P if labelling else min(4 * metric.k, P + N)
    most, least = min(size, P), max(size - N, 0)
    best = 0.0
    for missed in itertools.product([False, True], repeat=P):
        missing = sum(missed)
        short = missing - (P - most)  # in quarters
        if not 0 < short <= most - least or not (labelling or short % 4 == 0 or short == most - least):
            continue
        for flagged in itertools.combinations(range(N), size - (P - missing)):
            loss = short / size
            if labelling:
                value = loss + 0.5 * neg[list(flagged)].sum() - 0.5 * pos[list(missed)].sum()
            else:
                value = loss * (1.0 + neg[list(flagged)].mean() - pos[list(missed)].mean())
            best = max(best, value)
    return best


WORST = [
    *((metric, worst_labelling) for metric in CONTINGENCY),
    *((metric, worst_ranking) for metric in (AveragePrecision(), NDCG())),
    *((metric, worst_top) for metric in (PRBEP(), PrecisionAtK(1), PrecisionAtK(2))),
]


@pytest.mark.parametrize(("metric", "worst"), WORST, ids=lambda value: getattr(value, "__name__", repr(value)))
def test_the_oracle_finds_the_worst_answer(metric, worst):
    rng = new_rng()
    for _ in range(40):
        s, y, weights, pos, neg = draw(rng, 6 if worst is worst_labelling else 7)
        order = rng.permutation(len(y))
        no = {"shift": np.zeros(1), "with_intercept": False, "eps": 0.0}
        delta, c, value = weighted_planes(metric, s[order], y[order], np.array([0, len(y)]), weights[order], **no)
        assert value[0] == pytest.approx(worst(metric, pos, neg), abs=1e-9)
        assert delta[0] - s[order] @ c == pytest.approx(value[0], abs=1e-9)


@pytest.mark.parametrize("metric", CONTINGENCY, ids=repr)
def test_the_worst_numbers_of_errors_of_many_rows(metric):
    """Of all that quarters of rows can be missed and flagged; too many rows to look at each labelling."""
    rng = new_rng()
    for _ in range(20):
        quarters = [rng.integers(1, 8, k) for k in rng.integers(1, 25, 2)]
        y = np.repeat(np.array([1, -1], dtype=np.int8), [len(part) for part in quarters])
        s = rng.choice([0.03, 0.1, 1.0]) * rng.standard_normal(len(y)) + rng.choice([0.0, 0.3]) * y
        s = np.round(s, rng.choice([1, 8]))
        pos, neg = (np.sort(np.repeat(s[y == sign], part)) for sign, part in zip((1, -1), quarters, strict=True))
        lost, gained = (np.append(0.0, 0.5 * np.cumsum(part)) for part in (pos, neg[::-1]))
        delta = interpolated(metric, len(pos) / 4, len(neg) / 4)
        losses = np.array([delta(np.arange(len(pos) + 1) / 4, f / 4) for f in range(len(neg) + 1)]).T
        _, _, value = planes_of(metric, s, y, np.concatenate(quarters) / 4.0)
        assert value[0] == pytest.approx(np.max(losses - lost[:, None] + gained), abs=1e-9)


def planes_of(metric, s, y, weights, **changed):
    given = {"shift": np.zeros(1), "with_intercept": False, "eps": 0.0, **changed}
    return weighted_planes(metric, s, y, np.array([0, len(y)]), weights, **given)


def draw_many(rng):
    n = int(rng.integers(6, 40))
    y = rng.choice(np.array([1, -1, -1], dtype=np.int8), n)
    y[:2] = 1, -1
    s = rng.choice([0.1, 1.0, 4.0]) * rng.standard_normal(n)
    s = np.where(rng.random(n) < 0.3, np.round(s), s)
    return s, y, rng.choice([0.1, 1.0, 7.0]) * rng.random(n) + 1e-3


@pytest.mark.parametrize("name", metric_names())
def test_planes_bound_the_loss_and_rows_may_be_divided(name):
    rng, metric = new_rng(), get_metric(name)
    for _ in range(25):
        s, y, weights = draw_many(rng)
        delta, c, value = planes_of(metric, s, y, weights)
        size = 1.0 + weights @ np.abs(s)
        assert value[0] >= -1e-9
        assert delta[0] - s @ c == pytest.approx(value[0], abs=1e-9 * size)
        other = rng.choice([0.1, 3.0]) * rng.standard_normal(len(s))
        below = planes_of(metric, other, y, weights)[2][0]
        assert delta[0] - other @ c <= below + 1e-9 * (size + weights @ np.abs(other))
        # Two rows of a half weight are the row.
        k, part = int(rng.integers(len(y))), rng.random() * 0.98 + 0.01
        divided = np.append(weights, part * weights[k])
        divided[k] -= divided[-1]
        halves = planes_of(metric, np.append(s, s[k]), np.append(y, y[k]), divided)[2][0]
        assert halves == pytest.approx(value[0], abs=1e-8 * size)


@pytest.mark.parametrize("name", metric_names())
def test_a_little_more_weight_is_a_little_more(name):
    """Nothing jumps at whole numbers."""
    rng, metric = new_rng(), get_metric(name)
    for _ in range(10):
        s, y, _ = draw_many(rng)
        weights = rng.integers(1, 5, len(y)).astype(np.float64)
        value = planes_of(metric, s, y, weights)[2][0]
        near = planes_of(metric, s, y, weights + rng.uniform(-1e-6, 1e-6, len(y)))[2][0]
        assert near == pytest.approx(value, abs=1e-4 * (1.0 + weights @ np.abs(s)))


@pytest.mark.parametrize("metric", [metric for metric in map(get_metric, metric_names()) if metric.uses_intercept])
def test_the_best_intercept(metric):
    rng, eps = new_rng(), 1e-6
    for _ in range(10):
        s, y, weights = draw_many(rng)
        shift = rng.standard_normal(1)
        delta, c, value = planes_of(metric, s, y, weights, shift=shift, with_intercept=True, eps=eps)
        size = 1.0 + weights @ np.abs(s)
        assert abs(c.sum()) <= 1e-9 * (1.0 + np.abs(c).sum())
        assert delta[0] - s @ c >= value[0] - eps - 1e-9 * size
        at = planes_of(metric, s + shift, y, weights)[2][0]
        assert at == pytest.approx(value[0], abs=1e-8 * size)
        for x in shift + rng.choice([1e-3, 0.1, 2.0], 20) * rng.standard_normal(20):
            assert value[0] <= planes_of(metric, s + x, y, weights)[2][0] + eps + 1e-8 * size


def test_large_weights_are_no_more_work():
    """Beyond a hundred errors a row Delta is read off at every so many of them."""
    rng = new_rng()
    s, y, weights = draw_many(rng)
    large = 1e6 * weights
    _, _, value = planes_of(F1(), s / large.sum(), y, large)
    smaller = 1e4 * weights
    _, _, wanted = planes_of(F1(), s / smaller.sum(), y, smaller)
    assert value == pytest.approx(wanted, rel=1e-2)


def test_scores_of_weighted_rows():
    rng = new_rng()
    s, y, weights = draw_many(rng)
    wanted = average_precision_score(y, s, sample_weight=weights)
    assert AveragePrecision().score(y, s, weights) == pytest.approx(wanted, abs=1e-12)
    assert NDCG().score(y, s, np.ones(len(y))) == pytest.approx(ndcg_score([y > 0], [s]), abs=1e-12)
    # The top two by weight: the first, and half of the second.
    assert PrecisionAtK(2).score([1, -1, 1], [3.0, 2.0, 1.0], [1.5, 1.0, 4.0]) == pytest.approx(0.75)
    assert PRBEP().score([1, -1, 1], [3.0, 2.0, 1.0], [0.5, 0.5, 0.5]) == pytest.approx(0.5)
