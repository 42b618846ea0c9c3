"""The W-step with a hinge loss against scikit-learn's support vector machine, and against its own dual."""

import numpy as np
import pytest
from sklearn.svm import SVC

from smtl.kernels.box_qp import maximise


def solve(X, y, a, b, C, mu, tol, v=None):
    """Solve from v, or from nothing, in arrays with room to spare; return v, w, g, and which rows are free."""
    n, d = X.shape
    v = np.zeros(n) if v is None else v
    is_free, L, free = np.zeros(n, dtype=bool), np.full((d + 3, d + 3), np.nan), np.full(d + 3, -1)
    w, g, work, lacking = np.empty(d), np.empty(d), np.full((2, d + 3), np.nan), np.empty(n, dtype=np.int64)
    t = float((X * X).sum(axis=1).max())
    n_free = maximise(X, y, a, b, C, mu, tol, v, is_free, t, L, free, 0, w, g, work, lacking)
    assert sorted(free[:n_free]) == np.flatnonzero(is_free).tolist()
    return v, w, g, is_free


def primal(X, y, a, b, C, mu, w):
    """The objective at w, at the best intercept, which is where a row is at its margin."""
    hinge = min(np.maximum(a - y * (X @ w + beta), 0.0).sum() for beta in a * y - X @ w)
    return 2.0 * C * hinge + 0.5 * mu * (w - b) @ (w - b)


def dual(X, y, a, b, C, mu, v):
    g = X.T @ v
    return 2.0 * C * (a * np.abs(v).sum() - b @ g) - 2.0 * C * C / mu * g @ g


def draw(rng):
    n, d = int(rng.integers(4, 60)), int(rng.integers(1, 8))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.3:
        X[n // 2 :] = X[: n - n // 2]  # rows that are there twice
    y = np.where(X[:, 0] + rng.normal(size=n) * rng.choice([0.1, 1.0, 5.0]) > 0.3, 1, -1).astype(np.int8)
    y[:2] = 1, -1
    return X, y, 10.0 ** rng.uniform(-2, 1), 10.0 ** rng.uniform(-2, 1), 10.0 ** rng.uniform(-2, 1)


@pytest.mark.parametrize("trial", range(20))
def test_it_is_a_support_vector_machine(trial):
    X, y, a, C, mu = draw(np.random.default_rng())
    mu = max(mu, 2e-3 * C / a)  # beyond that, the peer takes its time
    tol = 1e-5 * a
    _, w, _, _ = solve(X, y, a, np.zeros(X.shape[1]), C, mu, tol)
    # With w = a w~, both losses are the same but for a factor mu a^2.
    peer = SVC(kernel="linear", C=2.0 * C / (mu * a), tol=1e-6).fit(X, y)
    ours, theirs = (primal(X, y, a, 0.0 * w, C, mu, each) for each in (w, a * peer.coef_[0]))
    assert ours <= theirs * (1.0 + 1e-9) + 4.0 * C * len(y) * tol


@pytest.mark.parametrize("trial", range(20))
def test_no_gap_to_the_dual_near_any_point_and_from_any_start(trial):
    rng = np.random.default_rng()
    X, y, a, C, mu = draw(rng)
    b = rng.normal(size=X.shape[1]) * 10.0 ** rng.uniform(-2, 1)
    k = int(rng.integers(1, min(np.sum(y == 1), np.sum(y == -1)) + 1))
    v = np.zeros(len(y))
    v[rng.permutation(np.flatnonzero(y == 1))[:k]], v[rng.permutation(np.flatnonzero(y == -1))[:k]] = 1.0, -1.0
    tol = 1e-5 * a
    v, w, g, is_free = solve(X, y, a, b, C, mu, tol, v)
    np.testing.assert_allclose(g, X.T @ v, atol=1e-9 * (1.0 + np.abs(X).sum()))
    np.testing.assert_allclose(w, b + 2.0 * C / mu * g)
    assert (v * y >= 0.0).all()
    assert np.abs(v).max() <= 1.0
    assert abs(v.sum()) <= 1e-9 * len(v)
    assert set(np.abs(v[~is_free])) <= {0.0, 1.0}
    above, below = primal(X, y, a, b, C, mu, w), dual(X, y, a, b, C, mu, v)
    size = 2.0 * C * len(y) * (a + np.abs(X @ b).max() + np.abs(X @ w).max())
    assert below <= above + 1e-9 * size
    assert above <= below + 4.0 * C * len(y) * tol + 1e-8 * size


def test_the_factor_holds_for_the_next_point():
    """The free rows and their factor are kept, and lead to the same end as none."""
    rng = np.random.default_rng()
    X, y, a, C, mu = draw(rng)
    n, d = X.shape
    v, is_free, L, free = (
        np.zeros(n),
        np.zeros(n, dtype=bool),
        np.empty((d + 3, d + 3)),
        np.empty(d + 3, dtype=np.int64),
    )
    w, g, work, lacking, n_free = np.empty(d), np.empty(d), np.empty((2, d + 3)), np.empty(n, dtype=np.int64), 0
    t, tol = float((X * X).sum(axis=1).max()), 1e-5 * a
    for _ in range(5):
        b = rng.normal(size=d)
        n_free = maximise(X, y, a, b, C, mu, tol, v, is_free, t, L, free, n_free, w, g, work, lacking)
        kept, anew = (primal(X, y, a, b, C, mu, each) for each in (w, solve(X, y, a, b, C, mu, tol)[1]))
        assert abs(kept - anew) <= 4.0 * C * n * tol + 1e-8 * anew
