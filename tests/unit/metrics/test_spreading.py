"""Spread oracles against the plain ones, whatever the parts are."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from smtl.metrics import ContingencyMetric, Metric, PointwiseMetric, get_metric, metric_names, spread_cuts
from smtl.metrics.spreading import Ask, Scored, by_part, by_task, planes_of_parts
from tests.seeds import new_rng


class WorstRow(Metric):
    """A metric of a user's, with nothing but an oracle."""

    def score(self, y, s):
        return float(np.min(y * s))

    def oracle(self, scores, y):
        k = np.argmin(y * scores)
        c = np.zeros(len(y))
        if y[k] * scores[k] >= 1:
            return 0.0, c
        c[k] = y[k]
        return 1.0, c


class Costs(ContingencyMetric):
    """A formula of a user's that claims nothing about itself."""

    def delta(self, tp, fp, fn, tn):
        return (3.0 * fn + fp) / (3.0 * (tp + fn) + fp + tn)


class SquaredHinge(PointwiseMetric):
    """A loss of a user's."""

    @staticmethod
    def loss(margin):
        short = max(0.0, 1.0 - margin)
        return short * short, -2.0 * short

    def score(self, y, s):
        return float(np.mean((y > 0) == (s > 0)))


METRICS = [*map(get_metric, metric_names()), WorstRow(), Costs(), SquaredHinge()]


def tasks_in_parts(rng, metric):
    """Return scores, labels and the part of each row: with ties, without labels, with empty and one-class parts."""
    while True:
        m, n_parts, n = (int(rng.integers(*span)) for span in ((1, 4), (1, 21), (6, 100)))
        s = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-2.0, 1.0)
        s = np.round(s) if rng.random() < 0.3 else s * (rng.random() > 0.1)
        y = np.where(rng.random((n, m)) < rng.choice([0.1, 0.5, 0.9]), 1, -1).astype(np.int8)
        y[rng.random((n, m)) < 0.1] = 0
        y[0], y[1] = 1, -1
        order = rng.permutation(n)
        s, y = s[order], y[order]
        if rng.random() < 0.3:
            s, y = s[np.argsort(y[:, 0])], y[np.argsort(y[:, 0])]  # classes apart
        try:
            for column in y.T:
                metric.check_task(int((column > 0).sum()), int((column < 0).sum()))
        except ValueError:
            continue
        return s, y, np.sort(rng.integers(0, n_parts, n)), n_parts


def check_bound(metric, rng, y, with_intercept, delta, c, s):
    """Check that planes are nowhere above the losses, near s and far from it."""
    n, m = y.shape
    for step in 10.0 ** rng.uniform(-3.0, 1.0, 3):
        u = s + step * rng.normal(size=s.shape)
        _, _, loss = metric.planes(
            u.T.ravel(), y.T.ravel(), np.arange(m + 1) * n, shift=np.zeros(m), with_intercept=with_intercept, eps=0.0
        )
        size = 1e-9 * (1.0 + np.abs(u).sum(axis=0) * (1.0 + np.abs(c).max()))
        assert np.all(delta - np.einsum("ij,ij->j", u, c) <= loss + size)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize("with_intercept", [False, True])
def test_spread_oracle_is_the_plain_one(metric, with_intercept, monkeypatch):
    if with_intercept and not metric.uses_intercept:
        pytest.skip("there is no intercept")
    rng, eps = new_rng(), 1e-6
    for trial in range(12):
        monkeypatch.setattr(spread_cuts, "ROOM", 1024 if trial % 3 == 0 else 8)  # few rows, by many rounds
        s, y, part, n_parts = tasks_in_parts(rng, metric)
        n, m = s.shape
        parts = [
            Scored(s[rows].T.ravel(), y[rows].T.ravel(), np.arange(m + 1) * int(rows.sum()))
            for rows in (part == p for p in range(n_parts))
        ]
        guess = rng.normal(size=m)
        plain, spread = guess.copy(), guess.copy()
        delta, c, value = metric.planes(
            s.T.ravel(), y.T.ravel(), np.arange(m + 1) * n, shift=plain, with_intercept=with_intercept, eps=eps
        )
        memory: dict = {}
        for _again in range(2):  # what the metric remembers of the first time must not change the second
            spread[:] = guess
            ask = Ask((y > 0).sum(axis=0), (y < 0).sum(axis=0), spread, with_intercept, eps, memory)
            got_delta, by_parts, got_value = planes_of_parts(metric, parts, ask)
            got = np.concatenate([one.reshape(m, -1).T for one in by_parts])
            size = 1e-9 * (1.0 + np.abs(s).sum(axis=0) * (1.0 + np.abs(got).max()))
            slack = eps if with_intercept else 0.0
            assert np.all(np.abs(got_value - value) <= slack + size)
            height = got_delta - np.einsum("ij,ij->j", s, got)
            assert np.all(height <= got_value + size)
            assert np.all(height >= got_value - slack - size)
            assert np.all(got[y == 0] == 0.0)
            if with_intercept:
                assert np.all(np.abs(got.sum(axis=0)) <= 1e-9 * (1.0 + np.abs(got).sum(axis=0)))
            check_bound(metric, rng, y, with_intercept, got_delta, got, s)
            if with_intercept and isinstance(metric, PointwiseMetric):
                continue  # they search for it in another way
            # Of tied rows any number may be wrong at the best intercept of a loss that is linear in a count. Rounding
            # decides then which of the planes it is: all have the same value there.
            for i in range(m):
                tied = len(np.unique(s[y[:, i] != 0, i])) < np.sum(y[:, i] != 0)
                if isinstance(metric, ContingencyMetric) and with_intercept and tied:
                    continue
                np.testing.assert_allclose(got[:, i], c.reshape(m, n)[i], rtol=1e-9, atol=1e-9 / n)
                np.testing.assert_allclose(got_delta[i], delta[i], rtol=1e-9, atol=1e-12 + size.max())


@pytest.mark.parametrize("scale", [0.0, 1e-7, 1e-3, 1.0])
@pytest.mark.parametrize("with_intercept", [False, True])
@pytest.mark.parametrize("positive", [0.01, 0.6])
def test_cuts_need_few_numbers(scale, with_intercept, positive):
    """At W = 0, near it and far from it: the plane of many rows, for less than a tenth of their scores."""
    rng, n, n_parts = new_rng(), 200_000, 2
    y = np.where(rng.random(n) < positive, 1, -1).astype(np.int8)
    s = scale * (rng.normal(size=n) + 1.5 * (y > 0) - 2.0)
    parts = [
        Scored(scores, labels, np.array([0, len(scores)]))
        for scores, labels in zip(np.array_split(s, n_parts), np.array_split(y, n_parts), strict=True)
    ]
    metric, plain, spread = get_metric("f1"), np.zeros(1), np.zeros(1)
    _, c, value = metric.planes(s, y, np.array([0, n]), shift=plain, with_intercept=with_intercept, eps=1e-6)
    sent = []
    ask = Ask(np.array([(y > 0).sum()]), np.array([(y < 0).sum()]), spread, with_intercept, 1e-6, {})
    oracle = counted(metric.spread(ask), sent)
    delta, by_parts, got_value = planes_of_parts(SpreadBy(oracle), parts, ask)
    got = np.concatenate(by_parts)
    size = 1e-9 * (1.0 + np.abs(s).sum())
    np.testing.assert_allclose(got_value, value, rtol=0.0, atol=size)
    np.testing.assert_allclose(delta[0] - s @ got, value[0], rtol=0.0, atol=size + 1e-6)
    check_bound(metric, rng, y[:, None], with_intercept, delta, got[:, None], s[:, None])
    if scale != 1e-7:  # where cuts differ by less than rounding
        np.testing.assert_allclose(got, c, rtol=1e-9, atol=1e-9)
    assert sum(sent) < 0.1 * 8 * n


class SpreadBy:
    def __init__(self, oracle):
        self.oracle = oracle

    def spread(self, ask):
        return self.oracle


def counted(oracle, sent):
    """Yield the rounds of an oracle, and note how many bytes go to the parts and come from them."""
    answer = None
    while True:
        try:
            todo = oracle.send(answer)
        except StopIteration as end:
            return end.value
        function = todo.function
        answer = yield todo._replace(function=Counting(function, sent))


class Counting:
    def __init__(self, function, sent):
        self.function, self.sent = function, sent

    def __call__(self, *arguments):
        kept, answer = self.function(*arguments)
        self.sent.append(len(pickle.dumps((arguments[1:], answer))))
        return kept, answer


def test_a_subclass_with_another_oracle_is_gathered():
    class Rounded(type(get_metric("auc"))):
        def oracle(self, scores, y):
            return 0.0, np.zeros(len(y))

    assert Rounded.spread is Metric.spread


def test_by_part_undoes_by_task():
    rng = new_rng()
    lengths = [rng.integers(0, 4, size=3) for _ in range(5)]
    pieces = [rng.normal(size=int(length.sum())) for length in lengths]
    flat, ptr = by_task(pieces, lengths)
    assert ptr[-1] == len(flat)
    for piece, back in zip(pieces, by_part(flat, lengths), strict=True):
        np.testing.assert_array_equal(piece, back)


def test_what_is_quick_stays_quick():
    """Only the metrics of the order send all scores."""
    gathering = {metric.name for metric in map(get_metric, metric_names()) if type(metric).spread is Metric.spread}
    assert gathering == {"ap", "ndcg", "pauc", "prbep", "precision@k"}
