"""Which rows matter, and hinge losses, against plain sorting and trying every intercept."""

import numpy as np
import pytest

from smtl.kernels import hinge


def draw(rng, m=3):
    sizes = rng.integers(5, 40, m)
    ptr = np.cumsum([0, *sizes])
    y = rng.choice([-1, 0, 1], ptr[-1]).astype(np.int8)
    for i in range(m):
        y[ptr[i] : ptr[i] + 2] = 1, -1
    scores = rng.choice([rng.normal(size=ptr[-1]), rng.integers(-3, 4, ptr[-1]).astype(float)])
    return scores, y, ptr


def test_smallest():
    rng = np.random.default_rng()
    for n in range(1, 30):
        values = rng.integers(0, 10, n).astype(float) if rng.random() < 0.5 else rng.normal(size=n)
        for count in range(1, n + 1):
            assert hinge.smallest(np.append(values, np.nan), n, count) == np.sort(values)[count - 1]


@pytest.mark.parametrize("trial", range(10))
def test_the_rows_of_the_worst_scores(trial):
    rng = np.random.default_rng()
    scores, y, ptr = draw(rng)
    c = np.where(rng.random(len(y)) < 0.3, y, 0) * rng.random(len(y))
    rows = np.empty(len(y), dtype=np.int64)
    rows = rows[: hinge.choose_rows(scores, y, ptr, c, 2.0, 3, rows)]
    assert (np.diff(rows) > 0).all()
    assert (y[rows] != 0).all()
    for i in range(len(ptr) - 1):
        for sign in (1, -1):
            of_class = ptr[i] + np.flatnonzero(y[ptr[i] : ptr[i + 1]] == sign)
            taken, left = np.intersect1d(of_class, rows), np.setdiff1d(of_class, rows)
            count = min(2 * np.count_nonzero(c[of_class]) + 3, len(of_class))
            assert len(taken) >= count
            if len(left):
                worst = np.sort(sign * scores[of_class])[count - 1]
                assert (sign * scores[taken]).max() == worst  # ties are taken whole
                assert (sign * scores[left]).min() > worst


@pytest.mark.parametrize("trial", range(10))
def test_losses_at_the_best_of_all_intercepts(trial):
    rng = np.random.default_rng()
    scores, y, ptr = draw(rng)
    margin = 10.0 ** rng.uniform(-2, 1, len(ptr) - 1)
    wanted = 0.0
    for i, a in enumerate(margin):
        s, labels = scores[ptr[i] : ptr[i + 1]], y[ptr[i] : ptr[i + 1]]
        s, labels = s[labels != 0], labels[labels != 0]
        wanted += min(2.0 * np.maximum(a - labels * (s + b), 0.0).sum() for b in a * labels - s)
    np.testing.assert_allclose(hinge.losses(scores, y, ptr, margin), wanted)


def test_trim_and_balance():
    rng = np.random.default_rng()
    _, y, ptr = draw(rng)
    v = np.where(rng.random(len(y)) < 0.5, y, 0).astype(float)
    before = v.copy()
    hinge.trim(v, ptr)
    assert ((v == before) | (v == 0.0)).all()
    for i in range(len(ptr) - 1):
        assert v[ptr[i] : ptr[i + 1]].sum() == 0.0
        assert np.abs(v[ptr[i] : ptr[i + 1]]).sum() == 2 * min(
            (before[ptr[i] : ptr[i + 1]] == s).sum() for s in (1, -1)
        )

    for v in (np.array([1.0, 0.5, -1.0, -0.5 + 1e-13]), np.array([1.0, 1.0, -1.0, -1e-9]), np.array([1.0, -0.9, 0.0])):
        old = v.copy()
        hinge.balance_rows(v)
        assert abs(v.sum()) <= 1e-15
        assert (np.abs(v) <= 1.0).all()
        assert (v * old >= 0.0).all()
    np.testing.assert_array_equal(np.flatnonzero(old == 0.0), np.flatnonzero(v == 0.0))


def test_factors_of_the_free_rows_and_no_room_for_too_many():
    rng = np.random.default_rng()
    X, ptr = rng.normal(size=(12, 3)), np.array([0, 5, 12])
    v = np.array([0.5, -0.2, 0.0, 1.0, 0.3, -1.0, 0.1, 0.9, 0.0, 0.0, -0.5, 0.0])
    is_free, t, L = np.empty(12, dtype=bool), np.empty(2), np.zeros((2, 6, 6))
    free, n_free = np.empty((2, 6), dtype=np.int64), np.empty(2, dtype=np.int64)
    assert hinge.factorise(X, ptr, v, is_free, t, L, free, n_free)
    np.testing.assert_array_equal(is_free, (np.abs(v) > 0.0) & (np.abs(v) < 1.0))
    for i in range(2):
        rows = X[ptr[i] : ptr[i + 1]][free[i, : n_free[i]]]
        factor = np.tril(L[i, : n_free[i], : n_free[i]])
        np.testing.assert_allclose(factor @ factor.T, rows @ rows.T + t[i])
    assert not hinge.factorise(X, np.array([0, 12, 12]), np.full(12, 0.5), is_free, t, L, free, n_free)
