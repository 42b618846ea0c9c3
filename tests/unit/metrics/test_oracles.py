"""Each oracle against exhaustive enumeration, written here once more and in the slowest way."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import smtl.metrics
from smtl.metrics import AUC, AUCLabelling, ContingencyMetric, FBeta, GMean, Jaccard, Log, Metric
from tests.seeds import new_rng

LABELLINGS = {n: np.array(list(itertools.product([-1, 1], repeat=n))) for n in range(2, 9)}


# The formulas, independent of the classes' own.


def f_loss(beta):
    def loss(tp, fp, fn, tn):
        with np.errstate(invalid="ignore"):
            precision, recall = tp / np.maximum(tp + fp, 1), tp / (tp + fn)
            f = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        return 1 - np.where(tp > 0, f, 0.0)

    return loss


def jaccard_loss(tp, fp, fn, tn):
    return 1 - tp / (tp + fp + fn)


def gmean_loss(tp, fp, fn, tn):
    return 1 - np.sqrt(tp / (tp + fn) * (tn / (tn + fp)))


def swapped_pairs(tp, fp, fn, tn):
    return fp / (fp + tn) * (fn / (tp + fn))


def twice_the_errors(tp, fp, fn, tn):
    return 2.0 * (fp + fn)


LOSSES = {
    "f0.5": f_loss(0.5),
    "f1": f_loss(1.0),
    "f2": f_loss(2.0),
    "jaccard": jaccard_loss,
    "gmean": gmean_loss,
    "auc-labelling": swapped_pairs,
    "error": twice_the_errors,
}


def enumerate_labellings(loss, s, y):
    """The largest loss - s'(y - y'), over all 2^n labellings y'."""
    answers = LABELLINGS[len(y)]
    tp, fp = ((answers > 0) & (y > 0)).sum(axis=1), ((answers > 0) & (y < 0)).sum(axis=1)
    fn, tn = np.sum(y > 0) - tp, np.sum(y < 0) - fp
    return np.max(loss(tp, fp, fn, tn) - (y - answers) @ s)


def enumerate_tables(loss, s, y):
    """The same over all tables, each with its highest scores: O(P N), for more rows."""
    pos, neg = -np.sort(-s[y > 0]), -np.sort(-s[y < 0])
    a, b = np.arange(len(pos) + 1)[:, None], np.arange(len(neg) + 1)[None, :]
    missed = pos.sum() - np.concatenate([[0.0], np.cumsum(pos)])[:, None]
    flagged = np.concatenate([[0.0], np.cumsum(neg)])[None, :]
    return np.max(loss(a, b, len(pos) - a, len(neg) - b) - 2 * missed + 2 * flagged)


def hinge_of_pairs(s, y):
    return np.mean([max(0.0, 1.0 - (p - q)) for p in s[y > 0] for q in s[y < 0]])


def draw_labels(rng, n):
    y = np.where(rng.random(n) < rng.uniform(0.1, 0.9), 1, -1)
    y[rng.permutation(n)[:2]] = 1, -1
    return y


def draw_scores(rng, n):
    """On a grid (ties), or of any magnitude that Delta can be felt at, or far from zero."""
    kind = rng.integers(4)
    if kind == 0:
        return 0.25 * rng.integers(-4, 5, n)
    if kind == 1:
        return rng.normal(size=n) * 10.0 ** rng.uniform(-2, 1)
    if kind == 2:
        return rng.normal(size=n) / n
    return rng.normal(size=n) + rng.normal() * 10


@st.composite
def small_tasks(draw, max_rows=7):
    n = draw(st.integers(2, max_rows))
    y = np.array(
        draw(st.permutations([1, -1, *draw(st.lists(st.sampled_from([1, -1]), min_size=n - 2, max_size=n - 2))]))
    )
    grid = st.integers(-8, 8).map(lambda k: 0.25 * k)
    floats = st.floats(-100, 100, allow_subnormal=False)
    s = draw(hnp.arrays(np.float64, n, elements=draw(st.sampled_from([grid, floats]))))
    return s, y


def assert_attains(metric, s, y, wanted):
    """The plane attains the wanted value; for a labelling, it is that of one and of its own table."""
    delta, c = metric.oracle(s, y)
    assert delta - s @ c == pytest.approx(wanted, rel=1e-9, abs=1e-9 * (1 + np.abs(s).sum()))
    return delta, c


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=100, deadline=None)
@given(task=small_tasks())
def test_labelling_oracle_is_the_worst_of_all(name, task):
    s, y = task
    delta, c = assert_attains(smtl.metrics.get_metric(name), s, y, enumerate_labellings(LOSSES[name], s, y))
    answer = y - c
    assert np.isin(answer, [-1, 1]).all()
    tp, fp = np.sum((answer > 0) & (y > 0)), np.sum((answer > 0) & (y < 0))
    assert delta == pytest.approx(LOSSES[name](tp, fp, np.sum(y > 0) - tp, np.sum(y < 0) - fp), abs=1e-12)


@settings(max_examples=250, deadline=None)
@given(task=small_tasks(max_rows=10))
def test_auc_oracle_is_the_hinge_loss_of_all_pairs(task):
    s, y = task
    delta, c = assert_attains(AUC(), s, y, hinge_of_pairs(s, y))
    assert 0 <= delta <= 1
    assert c.sum() == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(task=small_tasks(max_rows=5))
def test_auc_oracle_is_the_worst_of_all_sets_of_inverted_pairs(task):
    s, y = task
    pairs = list(itertools.product(np.flatnonzero(y > 0), np.flatnonzero(y < 0)))
    best = -np.inf
    for chosen in itertools.product([0, 1], repeat=len(pairs)):
        c = np.zeros(len(y))
        for inverted, (p, q) in zip(chosen, pairs, strict=True):
            c[p] += inverted / len(pairs)
            c[q] -= inverted / len(pairs)
        best = max(best, sum(chosen) / len(pairs) - s @ c)
    assert_attains(AUC(), s, y, best)


@settings(max_examples=200, deadline=None)
@given(task=small_tasks(max_rows=10))
def test_log_oracle_is_the_tangent(task):
    s, y = task
    delta, c = assert_attains(Log(), s, y, np.logaddexp(0.0, -y * s).sum())
    np.testing.assert_allclose(c, y * 0.5 * (1.0 - np.tanh(0.5 * y * s)), atol=1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.abs(c)
        entropy = -np.where(p > 0, p * np.log(p), 0.0) - np.where(p < 1, (1 - p) * np.log1p(-p), 0.0)
    assert delta == pytest.approx(entropy.sum(), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("beta", [0.1, 0.5, 1.0, 2.0, 5.0])
def test_fbeta_oracle_on_two_thousand_tasks_at_once(beta):
    rng = new_rng()
    sizes = rng.integers(2, 9, 2000)
    tasks = [(draw_scores(rng, n), draw_labels(rng, n)) for n in sizes]
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    scores, labels = np.concatenate([s for s, _ in tasks]), np.concatenate([y for _, y in tasks]).astype(np.int8)
    delta, c, value = FBeta(beta).planes(scores, labels, ptr, shift=np.zeros(len(tasks)), with_intercept=False, eps=0.0)
    for i, (s, y) in enumerate(tasks):
        wanted = pytest.approx(enumerate_labellings(f_loss(beta), s, y), abs=1e-9 * (1 + np.abs(s).sum()))
        assert value[i] == wanted
        assert delta[i] - s @ c[ptr[i] : ptr[i + 1]] == wanted


METRICS = [FBeta(0.1), FBeta(0.5), FBeta(1), FBeta(2), Jaccard(), GMean(), AUCLabelling()]
FORMULAS = [*map(f_loss, (0.1, 0.5, 1, 2)), jaccard_loss, gmean_loss, swapped_pairs]


@pytest.mark.parametrize(("metric", "loss"), list(zip(METRICS, FORMULAS, strict=True)), ids=map(repr, METRICS))
def test_labelling_oracle_on_more_rows(metric, loss):
    rng = new_rng()
    for n in rng.integers(9, 201, 100):
        s, y = draw_scores(rng, n), draw_labels(rng, n)
        assert_attains(metric, s, y, enumerate_tables(loss, s, y))


def test_both_enumerations_agree():
    rng = new_rng()
    for n in rng.integers(2, 9, 100):
        s, y = draw_scores(rng, n), draw_labels(rng, n)
        for loss in FORMULAS:
            assert enumerate_tables(loss, s, y) == pytest.approx(enumerate_labellings(loss, s, y), abs=1e-9)


def test_auc_oracle_on_more_rows():
    rng = new_rng()
    for n in rng.integers(9, 201, 100):
        s, y = draw_scores(rng, n), draw_labels(rng, n)
        delta, c = assert_attains(AUC(), s, y, hinge_of_pairs(s, y))
        inverted = s[y > 0][:, None] - 1.0 < s[y < 0][None, :]
        assert delta == pytest.approx(inverted.mean())
        np.testing.assert_allclose(c[y > 0], inverted.sum(axis=1) / inverted.size)
        np.testing.assert_allclose(c[y < 0], -inverted.sum(axis=0) / inverted.size)


def test_fbeta_where_a_sweep_that_never_goes_back_is_wrong():
    """For beta < 1 the best number of false positives falls again as more positives are found."""
    metric, found = FBeta(0.1), 0
    rng = np.random.default_rng(0)
    for _ in range(1000):
        s, y = rng.normal(size=7) * 0.5, draw_labels(rng, 7)
        pos, neg = -np.sort(-s[y > 0]), -np.sort(-s[y < 0])
        P, N = len(pos), len(neg)
        best_b = [
            max(range(N + 1), key=lambda b: metric.delta(a, b, P - a, N - b) + 2 * neg[:b].sum()) for a in range(P + 1)
        ]
        found += any(np.diff(best_b) < 0)
        assert_attains(metric, s, y, enumerate_labellings(f_loss(0.1), s, y))
    assert found > 10


def test_tied_scores_are_taken_evenly_spread():
    y = np.repeat([1, -1], [2, 100])
    s = np.where(y > 0, 10.0, 0.0)
    delta, c = CostlyHalf().oracle(s, y)
    flagged = np.flatnonzero(c[y < 0])
    assert delta == 50
    assert len(flagged) == 50
    assert np.diff(flagged).max() <= 3


class CostlyHalf(ContingencyMetric):
    """Worst when half of the negatives are flagged."""

    concave_in_fp = True

    def delta(self, tp, fp, fn, tn):
        return fn + min(fp, tn)


@pytest.mark.parametrize("name", smtl.metrics.metric_names())
@pytest.mark.parametrize("kind", [list, tuple, np.float32])
def test_scores_and_labels_may_be_any_array_like(name, kind):
    rng = new_rng()
    s, y = 0.25 * rng.integers(-4, 5, 9), draw_labels(rng, 9)
    metric = smtl.metrics.get_metric(name)
    wanted = metric.oracle(s, y)
    convert = kind if kind in (list, tuple) else lambda values: np.repeat(values, 2).astype(kind)[::2]
    delta, c = metric.oracle(convert(s), convert(y))
    assert delta == wanted[0]
    np.testing.assert_array_equal(c, wanted[1])


@pytest.mark.parametrize("name", smtl.metrics.metric_names())
def test_other_tasks_do_not_change_a_task(name):
    """Each task's plane is the same to the last bit whatever the other tasks are."""
    rng = new_rng()
    metric, m, n = smtl.metrics.get_metric(name), 5, 12
    scores = rng.normal(size=m * n)
    y = np.concatenate([draw_labels(rng, n) for _ in range(m)]).astype(np.int8)
    guess = rng.normal(size=m)
    for with_intercept in (False, True):
        shift = guess.copy()
        together = metric.planes(scores, y, np.arange(m + 1) * n, shift=shift, with_intercept=with_intercept, eps=1e-6)
        for i in range(m):
            rows, alone = slice(i * n, (i + 1) * n), guess[i : i + 1].copy()
            delta, c, value = metric.planes(
                scores[rows], y[rows], np.array([0, n]), shift=alone, with_intercept=with_intercept, eps=1e-6
            )
            assert (delta[0], value[0], alone[0]) == (together[0][i], together[2][i], shift[i])
            np.testing.assert_array_equal(c, together[1][rows])


@pytest.mark.parametrize("name", ["auc", "f1", "log"])
@pytest.mark.parametrize("n_scores", [1, 3])
def test_as_many_scores_as_labels(name, n_scores):
    """Or compiled code would read what is not there."""
    with pytest.raises(ValueError, match=r"scores .* got "):
        smtl.metrics.get_metric(name).oracle(np.zeros(n_scores), [1, -1])


class Pairs(Metric):
    """Does not depend on the intercept, and does not say so: its coefficients sum to zero but for rounding."""

    def score(self, y, s):
        return AUC().score(y, s)

    def oracle(self, scores, y):
        inverted = (scores[y > 0][:, None] - scores[y < 0] < 1.0) / (np.sum(y > 0) * np.sum(y < 0))
        c = np.zeros(len(y))
        c[y > 0], c[y < 0] = inverted.sum(axis=1), -inverted.sum(axis=0)
        return float(inverted.sum()), c


def test_an_intercept_that_makes_no_difference():
    rng = new_rng()
    ptr = np.arange(0, 101 * 9, 9)
    y = np.concatenate([rng.permutation(np.repeat([1, -1], [3, 6])) for _ in range(100)]).astype(np.int8)
    scores = rng.normal(size=len(y))
    _, c, value = Pairs().planes(scores, y, ptr, shift=np.zeros(100), with_intercept=True, eps=1e-3)
    _, _, wanted = AUC().planes(scores, y, ptr, shift=np.zeros(100), with_intercept=False, eps=0.0)
    np.testing.assert_allclose(value, wanted, atol=1e-9)
    np.testing.assert_allclose(np.add.reduceat(c, ptr[:-1]), 0.0, atol=1e-9)
