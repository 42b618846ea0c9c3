"""The pairs that tell the curvature of the AUC loss, against all pairs."""

import numpy as np
import pytest
from scipy import sparse

from smtl.kernels.curvature import pairs_at_margin
from smtl.metrics import AUC
from smtl.tasks import OwnRows, SharedRows


def draw(rng, n, positive):
    X = rng.normal(size=(n, 4))
    y = np.where(rng.random(n) < positive, 1, -1).astype(np.int8)
    y[rng.random(n) < 0.1] = 0
    y[:2] = 1, -1
    return X, y, X @ rng.normal(size=4)


@pytest.mark.parametrize("positive", [0.2, 0.8])
def test_pairs_are_near_the_margin_and_spread_over_all_that_are(positive):
    rng = np.random.default_rng()
    _, y, s = draw(rng, 500, positive)
    y, s, width, T = np.tile(y, 2), np.concatenate([s, 2.0 * s]), 0.25, 3000
    p, q, weight = np.empty((2, T), np.int64), np.empty((2, T), np.int64), np.empty(2)
    pairs_at_margin(s, y, np.array([0, 500, 1000]), width, p, q, weight)
    for i in range(2):
        s_i, y_i = s[500 * i : 500 * (i + 1)], y[500 * i : 500 * (i + 1)]
        assert np.all(y_i[p[i]] == 1)
        assert np.all(y_i[q[i]] == -1)
        few = s_i[y_i == (1 if positive < 0.5 else -1)]
        bucket = np.ptp(few) / (4 * len(few) - 1)
        assert np.abs(s_i[p[i]] - s_i[q[i]] - 1.0).max() <= width + 1.001 * bucket
        margins = s_i[y_i == 1][:, np.newaxis] - s_i[y_i == -1]
        inner, outer = (np.mean(np.abs(margins - 1.0) <= width + by) for by in (-1.001 * bucket, 1.001 * bucket))
        assert inner <= 2.0 * width * T * weight[i] <= outer
        assert len(np.unique(p[i])) > 0.9 * len(np.unique(np.nonzero(np.abs(margins - 1.0) < 0.9 * width)[0]))


@pytest.mark.parametrize("positive", [0.2, 0.8])
def test_about_the_second_difference_of_the_loss(positive):
    rng = np.random.default_rng()
    X, y, s = draw(rng, 1500, positive)
    v = rng.normal(size=4)
    z, ptr = X @ v, np.array([0, len(y)])
    h = 0.25 / (np.sqrt(2.0) * z.std())
    p, q, a = AUC().curvature(s, y, ptr, 4096)
    told = a[0] * np.sum((z[p[0]] - z[q[0]]) ** 2)

    def loss(step):
        value = AUC().planes(s + step * z, y, ptr, shift=np.zeros(1), with_intercept=False, eps=0.0)[2]
        return float(value[0])

    assert told == pytest.approx((loss(h) - 2.0 * loss(0.0) + loss(-h)) / h**2, rel=0.3)


def test_no_pair_at_the_margin():
    y, s = np.array([1, -1, 1, -1], dtype=np.int8), np.zeros(4)
    p, q, a = AUC().curvature(s, y, np.array([0, 4]), 16)
    assert a[0] == 0.0
    assert not p.any()
    assert not q.any()


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, np.float32, sparse.csr_matrix, sparse.csc_matrix])
def test_differences(kind):
    rng = np.random.default_rng()
    X = rng.normal(size=(30, 3)).astype(np.float32).astype(np.float64)
    Y = np.where(rng.random((30, 2)) < 0.5, 1, -1).astype(np.int8)
    a, b = rng.integers(15, size=(2, 8))
    np.testing.assert_allclose(SharedRows(kind(X), Y).differences(a, b, 1), X[a] - X[b], rtol=1e-6, atol=1e-6)
    own = OwnRows(kind(X), Y[:, 0], np.array([0, 15, 30]))
    np.testing.assert_allclose(own.differences(a, b, 1), X[15 + a] - X[15 + b], rtol=1e-6, atol=1e-6)
