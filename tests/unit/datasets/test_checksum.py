"""What the checksum tells apart, and what it does not."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smtl.datasets import Dataset
from smtl.datasets.checksum import checksum

VALUES = st.sampled_from([0.0, -0.0, 1.0, -2.5, 0.1, np.nan, np.inf, 5e-324])


@settings(deadline=None)
@given(arrays(np.float64, (6, 3), elements=VALUES), arrays(np.int8, (6, 2), elements=st.integers(0, 1)), st.randoms())
def test_order_sparsity_and_signs_of_zero_do_not_count(X, Y, random):
    expected = checksum(Dataset(X, Y))
    order = random.sample(range(6), 6)
    assert checksum(Dataset(X[order], Y[order])) == expected
    assert checksum(Dataset(sp.csr_matrix(X), sp.csr_matrix(Y))) == expected
    assert checksum(Dataset(sp.csc_matrix(X), Y.astype(float))) == expected
    assert checksum(Dataset(np.where(X == 0, -0.0, X), Y)) == expected
    explicit = sp.csr_matrix((X.ravel(), np.tile(np.arange(3), 6), np.arange(0, 19, 3)), shape=(6, 3))
    assert checksum(Dataset(explicit, Y)) == expected


@settings(deadline=None)
@given(st.integers(0, 5), st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_every_value_counts(i, j, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(6, 3)), rng.integers(0, 2, (6, 3)).astype(np.int8)
    expected = checksum(Dataset(X, Y))
    other, flipped = X.copy(), Y.copy()
    other[i, j] = np.nextafter(X[i, j], np.inf)
    flipped[i, j] ^= 1
    assert checksum(Dataset(other, Y)) != expected
    assert checksum(Dataset(X, flipped)) != expected
    assert checksum(Dataset(X[:, [1, 0, 2]], Y)) != expected
    assert checksum(Dataset(np.vstack([X, X[:1]]), np.vstack([Y, Y[:1]]))) != expected


def test_missing_labels_and_tasks_count():
    X, y = np.eye(3), np.array([1.0, 0.0, 0.0])
    tasks = np.array([0, 0, 1])
    different = [
        checksum(Dataset(X, y[:, None])),
        checksum(Dataset(X, np.array([[1.0], [0.0], [np.nan]]))),
        checksum(Dataset(X, y, tasks=tasks)),
        checksum(Dataset(X, y, tasks=1 - tasks)),
    ]
    assert len(set(different)) == 4


@pytest.mark.parametrize("n", [4095, 4096, 4097, 8193])
def test_blocks_of_rows_leave_none_out(n):
    X = np.arange(1.0, n + 1)[:, None]
    sums = [int(checksum(Dataset(X[part], np.ones((len(X[part]), 1)))), 16) for part in (slice(0, 7), slice(7, n))]
    assert checksum(Dataset(X, np.ones((n, 1)))) == f"{sum(sums) % 2**64:016x}"
