"""Features as learners take them, against dense computations."""

import numpy as np
import pytest
import scipy.sparse as sp

from smtl.ensemble.learners.features import FULL_FROM, N_COMPONENTS, Features, SparseScaler, SparseToDense
from tests.seeds import new_rng

N = 150


def drawn(rng, n=N, n_full=3, n_rare=40):
    """Return full columns among rare ones, and which are full."""
    full = rng.normal(5, 3, (n, n_full))
    rare = rng.normal(0, 2, (n, n_rare)) * (rng.random((n, n_rare)) < 0.03)
    order = rng.permutation(n_full + n_rare)
    return np.hstack([full, rare])[:, order], order < n_full


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_columns_of_a_large_spread_are_brought_to_1(form):
    rng = new_rng()
    X, _ = drawn(rng)
    X[:, 0] *= 100.0
    other = drawn(rng, 20)[0]
    spread = X.std(axis=0)
    assert (spread > 1).any()
    assert (spread < 1).any()
    scaler = SparseScaler().fit(form(X))
    expected = np.where(spread > 1, 1.0 / np.where(spread > 1, spread, 1.0), 1.0)
    np.testing.assert_allclose(scaler.scale, expected, rtol=1e-9)
    found = scaler.transform(form(other))
    assert sp.issparse(found)
    np.testing.assert_allclose(found.toarray(), other * expected, rtol=1e-9)
    assert found.nnz == np.count_nonzero(other)  # nothing is taken off: zeros stay zeros


def test_full_columns_are_kept_and_the_others_are_reduced_as_by_singular_vectors():
    rng = new_rng()
    X, full = drawn(rng)
    other = drawn(rng, 20)[0]
    assert np.array_equal(full, np.count_nonzero(X, axis=0) >= FULL_FROM * N)
    to_dense = SparseToDense(int(rng.integers(1000))).fit(sp.csr_array(X))
    found = to_dense.transform(sp.csr_array(other))
    # As many directions as the rows have: a rotation, and one scale for all. Empty columns have none.
    rest, n_full = X[:, ~full], full.sum()
    _, values, components = np.linalg.svd(rest, full_matrices=False)
    components = components[values > 1e-9 * values.max()]
    assert found.shape == (20, n_full + len(components))
    np.testing.assert_allclose(found[:, :n_full], other[:, full] - X[:, full].mean(axis=0), atol=1e-10)
    spread = np.sqrt(np.max((rest @ components.T).var(axis=0)))
    rotated = other[:, ~full] @ components.T / spread
    gram = rotated @ rotated.T
    np.testing.assert_allclose(found[:, n_full:] @ found[:, n_full:].T, gram, atol=1e-6 * np.abs(gram).max())


def test_no_more_directions_than_the_limit():
    rng = new_rng()
    X = sp.random_array((200, 400), density=0.02, rng=rng, format="csr")
    found = SparseToDense(0).fit(X).transform(X)
    assert found.shape == (200, N_COMPONENTS)
    # No other directions of that number keep more of the matrix; randomised ones lose little.
    best = np.linalg.svd(X.toarray(), compute_uv=False)[:N_COMPONENTS]
    assert 0.9 * (best**2).sum() < (found**2).sum() <= (best**2).sum() * (1 + 1e-9)


@pytest.mark.parametrize("only", ["full", "rare"])
def test_columns_of_one_sort_only(only):
    rng = new_rng()
    X, full = drawn(rng)
    X = X[:, full if only == "full" else ~full]
    found = SparseToDense(0).fit(sp.csr_array(X)).transform(sp.csr_array(X))
    assert found.shape == (N, np.linalg.matrix_rank(X))
    if only == "full":
        np.testing.assert_allclose(found, X - X.mean(axis=0), atol=1e-10)
    else:
        np.testing.assert_allclose(found @ found.T, X @ X.T, atol=1e-6 * np.abs(X @ X.T).max())


def test_features_are_filled_scaled_and_made_dense():
    rng = new_rng()
    X, full = drawn(rng)
    X[3, np.flatnonzero(full)[0]] = np.nan
    features = Features(scale=True, dense=True)
    found = features.fit_transform(sp.csr_array(X))
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    kept = filled[:, full] / np.maximum(filled[:, full].std(axis=0), 1.0)
    np.testing.assert_allclose(found[:, : full.sum()], kept - kept.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(features.transform(sp.csr_array(X)), found, atol=1e-12)
