"""Scores and slopes against a plain loop over tasks and rows, for every way to hold the data."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from smtl.tasks import OwnRows, SharedRows
from tests.seeds import new_rng

N, D, M = 11, 5, 4
HOLD = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "csr_array": sp.csr_array,
    "csc_array": sp.csc_array,
    "csr_matrix": sp.csr_matrix,
    "csc_matrix": sp.csc_matrix,
}
LAYOUTS = ["shared", "own"]
RANGES = [(0, M), (0, 1), (1, 3), (M - 1, M)]


def data(rng, dtype):
    """Features with zeros, so that sparse ones are, and with no more digits than float32 has."""
    return (rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.6)).astype(np.float32).astype(dtype)


def build(rng, layout, hold, dtype):
    """Return tasks, and the rows of each as plain arrays in float64."""
    X = data(rng, dtype)
    if layout == "shared":
        Y = rng.choice([-1, 0, 1], (N, M)).astype(np.int8)
        return SharedRows(HOLD[hold](X), Y), [X.astype(np.float64)] * M, Y.T.ravel()
    ptr = np.array([0, 2, 3, 8, N])
    y = rng.choice([-1, 0, 1], N).astype(np.int8)
    parts = [X[a:b].astype(np.float64) for a, b in pairwise(ptr)]
    return OwnRows(HOLD[hold](X), y, ptr), parts, y


def tolerance(dtype):
    return {"rtol": 0.0, "atol": 1e-5 if dtype == np.float32 else 1e-12}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("hold", HOLD)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_and_slopes(layout, hold, dtype):
    rng = new_rng()
    tasks, parts, y = build(rng, layout, hold, dtype)
    np.testing.assert_array_equal(tasks.y, y)
    assert tasks.y.dtype == np.int8
    assert (tasks.n_features, tasks.n_tasks) == (D, M)
    assert tasks.ptr.tolist() == np.cumsum([0, *map(len, parts)]).tolist()
    for order in "FC":
        W = np.array(rng.normal(size=(M, D)), order=order)
        for first, last in RANGES:
            wanted = [sum(row[f] * W[i, f] for f in range(D)) for i in range(first, last) for row in parts[i]]
            scores = tasks.scores(W, first, last)
            assert scores.dtype == np.float64
            assert scores.flags.c_contiguous
            np.testing.assert_allclose(scores, wanted, **tolerance(dtype))
            c = rng.normal(size=len(wanted))
            slopes = tasks.slopes(c, first, last)
            assert slopes.dtype == np.float64
            assert slopes.flags.c_contiguous
            assert slopes.shape == (last - first, D)
            offset = 0
            for i in range(first, last):
                wanted = np.zeros(D)
                for row in parts[i]:
                    wanted += c[offset] * row
                    offset += 1
                np.testing.assert_allclose(slopes[i - first], wanted, **tolerance(dtype))


@pytest.mark.parametrize("hold", HOLD)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_and_slopes_are_adjoint(layout, hold):
    rng = new_rng()
    tasks, _, _ = build(rng, layout, hold, np.float64)
    W = rng.normal(size=(M, D))
    for first, last in RANGES:
        scores = tasks.scores(W, first, last)
        c = rng.normal(size=scores.shape)
        assert scores @ c == pytest.approx(np.sum(W[first:last] * tasks.slopes(c, first, last)), abs=1e-10)


@pytest.mark.parametrize("hold", HOLD)
def test_shared_rows_are_own_rows_repeated(hold):
    rng = new_rng()
    X, Y = data(rng, np.float64), rng.choice([-1, 0, 1], (N, M)).astype(np.int8)
    shared = SharedRows(HOLD[hold](X), Y)
    own = OwnRows(HOLD[hold](np.tile(X, (M, 1))), Y.T.ravel(), np.arange(M + 1) * N)
    np.testing.assert_array_equal(shared.y, own.y)
    np.testing.assert_array_equal(shared.ptr, own.ptr)
    W = rng.normal(size=(M, D))
    for first, last in RANGES:
        scores = shared.scores(W, first, last)
        np.testing.assert_allclose(scores, own.scores(W, first, last), atol=1e-12)
        np.testing.assert_allclose(shared.slopes(scores, first, last), own.slopes(scores, first, last), atol=1e-10)


@pytest.mark.parametrize("hold", HOLD)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_arguments_and_data_are_not_modified(layout, hold):
    rng = new_rng()
    tasks, parts, _ = build(rng, layout, hold, np.float64)
    W, c = rng.normal(size=(M, D)), rng.normal(size=int(tasks.ptr[-1]))
    before = W.copy(), c.copy(), np.vstack(parts).copy()
    first_time = tasks.scores(W, 0, M), tasks.slopes(c, 0, M)
    second_time = tasks.scores(W, 0, M), tasks.slopes(c, 0, M)
    np.testing.assert_array_equal(W, before[0])
    np.testing.assert_array_equal(c, before[1])
    np.testing.assert_array_equal(np.vstack(parts), before[2])
    for once, again in zip(first_time, second_time, strict=True):
        np.testing.assert_array_equal(once, again)


@pytest.mark.parametrize("hold", ["C order", "Fortran order"])
def test_dense_data_are_not_copied(hold):
    X = HOLD[hold](np.ones((N, D)))
    assert SharedRows(X, np.ones((N, M), dtype=np.int8)).X is X
    tasks = OwnRows(X, np.ones(N, dtype=np.int8), np.array([0, 4, N]))
    X[:] = 2.0
    np.testing.assert_array_equal(tasks.scores(np.ones((2, D)), 0, 2), 2.0 * D)
