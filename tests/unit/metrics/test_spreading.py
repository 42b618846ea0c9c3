"""Spread oracles against the plain ones, whatever the parts are."""

from __future__ import annotations

import numpy as np
import pytest

from smtl.metrics import ContingencyMetric, Metric, PointwiseMetric, get_metric, metric_names
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


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize("with_intercept", [False, True])
def test_spread_oracle_is_the_plain_one(metric, with_intercept):
    if with_intercept and not metric.uses_intercept:
        pytest.skip("there is no intercept")
    rng, eps = new_rng(), 1e-6
    for _ in range(12):
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
            if not (with_intercept and isinstance(metric, PointwiseMetric)):  # which search for it in another way
                np.testing.assert_allclose(got, c.reshape(m, n).T, rtol=1e-9, atol=1e-9 / n)
                np.testing.assert_allclose(got_delta, delta, rtol=1e-9, atol=1e-12 + size.max())


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
