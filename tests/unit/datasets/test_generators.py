"""Data made to order: exact shares, the declared structure, and weights that can be recovered."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from smtl import SMTLClassifier
from smtl.datasets import make_multitask

SHARINGS = ("rows", "low-rank", "none")


@given(
    st.integers(1, 6),
    st.integers(20, 90),
    st.integers(1, 12),
    st.sampled_from(SHARINGS),
    st.booleans(),
    st.integers(0, 2**32 - 1),
    st.data(),
)
@settings(deadline=None)
def test_shares_and_flips_are_exact(m, n, d, sharing, own_rows, seed, data):
    imbalance = data.draw(st.lists(st.floats(0.2, 9.0), min_size=m, max_size=m))
    clean, noisy = (
        make_multitask(m, n, d, sharing=sharing, imbalance=imbalance, noise=noise, own_rows=own_rows, random_state=seed)
        for noise in (0.0, 0.1)
    )
    np.testing.assert_array_equal(clean.X, noisy.X)
    np.testing.assert_array_equal(clean.W, noisy.W)
    assert clean.X.shape == ((n * m if own_rows else n), d)
    assert clean.W.shape == (d, m)
    scores = clean.X @ clean.W + clean.intercepts
    for t in range(m):
        rows = clean.tasks == t if own_rows else slice(None)
        y, flipped = (made.Y[rows] if own_rows else made.Y[:, t] for made in (clean, noisy))
        assert y.sum() == flipped.sum() == round(n / (1 + imbalance[t]))
        np.testing.assert_array_equal(y, scores[rows, t] > 0)
        assert (y != flipped).sum() == 2 * round(0.1 * n / 2)
    np.testing.assert_allclose(np.linalg.norm(clean.W, axis=0), 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_weights_have_the_declared_structure(seed):
    rows = make_multitask(8, 50, 40, sharing="rows", n_informative=6, random_state=seed).W
    assert ((rows != 0).sum(axis=0) == 6).all()
    assert rows.any(axis=1).sum() == 6
    low = make_multitask(8, 50, 40, sharing="low-rank", rank=3, random_state=seed).W
    values = np.linalg.svd(low, compute_uv=False)
    assert values[3] < 1e-10 < 1e-2 < values[2]
    none = make_multitask(8, 50, 40, sharing="none", n_informative=6, random_state=seed).W
    assert ((none != 0).sum(axis=0) == 6).all()
    assert none.any(axis=1).sum() > 12
    assert np.linalg.matrix_rank(none) == 8


def test_the_same_seed_gives_the_same_data():
    one, same, other = (make_multitask(3, 40, 5, noise=0.1, random_state=seed) for seed in (7, 7, 8))
    for a, b in zip(one, same, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one.X, other.X)
    state = np.random.RandomState(7)
    np.testing.assert_array_equal(make_multitask(3, 40, 5, noise=0.1, random_state=state).X, one.X)


def mean_auc(made, first, W):
    return np.mean([roc_auc_score(made.Y[first:, t], made.X[first:] @ W[:, t]) for t in range(W.shape[1])])


@pytest.mark.parametrize(("sharing", "penalty"), [("rows", "l21"), ("low-rank", "trace")])
@pytest.mark.parametrize("seed", range(3))
def test_the_matching_penalty_recovers_the_weights(sharing, penalty, seed):
    made = make_multitask(6, 3000, 30, sharing=sharing, imbalance=3.0, noise=0.05, random_state=seed)
    model = SMTLClassifier(metric="auc", penalty=penalty, tol=1e-2).fit(made.X[:1000], made.Y[:1000])
    W = model.coef_.T
    assert mean_auc(made, 1000, W) > mean_auc(made, 1000, made.W) - 0.01
    cosines = (W * made.W).sum(axis=0) / np.linalg.norm(W, axis=0)
    assert cosines.min() > 0.95
    if sharing == "rows":
        largest = np.argsort(-np.linalg.norm(W, axis=1))[:3]
        assert set(largest) == set(np.flatnonzero(made.W.any(axis=1)))
    else:
        values = np.linalg.svd(W, compute_uv=False)
        assert (values[:2] ** 2).sum() > 0.95 * (values**2).sum()


def test_tasks_with_rows_of_their_own_train():
    made = make_multitask(4, 300, 10, imbalance=4.0, own_rows=True, random_state=0)
    assert made.Y.shape == made.tasks.shape == (1200,)
    model = SMTLClassifier(metric="auc", tol=1e-2).fit(made.X, made.Y, tasks=made.tasks)
    scores = model.decision_function(made.X, tasks=made.tasks)
    assert min(roc_auc_score(made.Y[made.tasks == t], scores[made.tasks == t]) for t in range(4)) > 0.95


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_tasks": 0}, ValueError, "n_tasks must be at least 1, got 0 instead"),
        ({"n_samples": 2.5}, TypeError, "n_samples must be a whole number, got 2.5 instead"),
        ({"n_samples": 1}, ValueError, "n_samples must be at least 2, got 1 instead"),
        ({"sharing": "all"}, ValueError, "sharing must be one of 'low-rank', 'none', 'rows', got 'all' instead"),
        ({"n_informative": 6}, ValueError, "n_informative must be from 1 to 5, got 6 instead"),
        ({"rank": 2}, ValueError, "rank must be None with sharing='rows', got 2 instead"),
        ({"sharing": "low-rank", "rank": 4}, ValueError, "rank must be from 1 to 3, got 4 instead"),
        ({"imbalance": [1, 2]}, ValueError, r"imbalance must be a number or one for each of 3 tasks, got \[1, 2\]"),
        ({"imbalance": -1}, ValueError, "imbalance must be positive and finite, got -1 instead"),
        ({"imbalance": 99}, ValueError, "imbalance must leave both classes among 20 rows, got 99 instead"),
        ({"noise": 1.0}, ValueError, "noise must be a number from 0 to 1, without 1, got 1.0 instead"),
        ({"noise": 0.5, "imbalance": 9}, ValueError, "noise must be at most 0.2, for as many positives as"),
    ],
)
def test_wrong_parameters_are_told(options, error, message):
    with pytest.raises(error, match=message):
        make_multitask(**{"n_tasks": 3, "n_samples": 20, "n_features": 5} | options)
