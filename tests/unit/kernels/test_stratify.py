"""Iterative stratification against the paper's pseudo-code, and what it promises."""

import numpy as np
import pytest

from smtl.kernels.stratify import iterative_folds, neediest
from tests.seeds import new_rng


def pseudo_code(Y, shares, ties):
    """Algorithm 1 of the paper, with sets; what it leaves to chance is decided as the kernel's docstring says."""
    n, m = Y.shape
    labels_of = [{i for i in range(m) if Y[k, i] > 0} for k in range(n)]
    labelled = [k for k in range(n) if np.any(Y[k] != 0)]
    blank = [k for k in range(n) if not np.any(Y[k] != 0)]
    wanted_rows = [share * len(labelled) for share in shares]
    wanted = [[share * sum(i in labels for labels in labels_of) for share in shares] for i in range(m)]
    subsets = [set() for _ in shares]
    remaining = set(labelled)

    def put(k, first):
        best = [f for f in range(len(shares)) if first[f] == max(first)]
        best = [f for f in best if wanted_rows[f] == max(wanted_rows[g] for g in best)]
        chosen = best[int(ties[k] * len(best))]
        subsets[chosen].add(k)
        remaining.discard(k)
        wanted_rows[chosen] -= 1
        for i in labels_of[k]:
            wanted[i][chosen] -= 1

    while any(labels_of[k] for k in remaining):
        counts = [sum(i in labels_of[k] for k in remaining) for i in range(m)]
        label = min((i for i in range(m) if counts[i] > 0), key=lambda i: (counts[i], i))
        for k in sorted(k for k in remaining if label in labels_of[k]):
            put(k, wanted[label])
    for k in sorted(remaining):
        put(k, wanted_rows)
    for f, share in enumerate(shares):
        wanted_rows[f] += share * len(blank)
    for k in blank:
        put(k, wanted_rows)
    return np.array([next(f for f, subset in enumerate(subsets) if k in subset) for k in range(n)], dtype=np.int64)


def turns(Y):
    """The labels in the order of their turns and the rows dealt then: it does not depend on where rows go."""
    left, out = np.ones(len(Y), dtype=bool), []
    while (Y[left] > 0).any():
        counts = (Y[left] > 0).sum(axis=0)
        label = int(np.argmin(np.where(counts > 0, counts, len(Y) + 1)))
        rows = np.flatnonzero(left & (Y[:, label] > 0))
        out.append((label, rows))
        left[rows] = False
    return out


def draw(rng, n, m):
    """Labels of all sorts: rare and frequent ones, empty ones, rows and entries without label."""
    Y = np.where(rng.random((n, m)) < rng.beta(0.7, 1.5, m), 1, -1).astype(np.int8)
    Y[rng.random((n, m)) < rng.choice([0.0, 0.3, 0.9])] = 0
    Y[rng.random(n) < rng.choice([0.0, 0.3])] = 0
    return Y


def draw_shares(rng, n_folds):
    return np.full(n_folds, 1.0 / n_folds) if rng.random() < 0.5 else rng.dirichlet(np.full(n_folds, 3.0))


def counts_of(rows, folds, n_folds):
    return np.bincount(folds[rows], minlength=n_folds)


def test_as_the_pseudo_code():
    rng = new_rng()
    for _ in range(150):
        n, m, n_folds = rng.integers(1, 50), rng.integers(1, 8), rng.integers(2, 7)
        Y, shares, ties = draw(rng, n, m), draw_shares(rng, n_folds), rng.random(n)
        np.testing.assert_array_equal(iterative_folds(Y, shares, ties), pseudo_code(Y, shares, ties))


def test_of_each_label_rows_go_to_the_folds_that_want_most():
    """A fold that got rows at a label's turn wants, in the end, at most one row fewer than any other."""
    rng = new_rng()
    for _ in range(50):
        n, m, n_folds = rng.integers(1, 300), rng.integers(1, 12), rng.integers(2, 8)
        Y, shares = draw(rng, n, m), draw_shares(rng, n_folds)
        folds = iterative_folds(Y, shares, rng.random(n))
        assert folds.min() >= 0
        assert folds.max() < n_folds
        for label, rows in turns(Y):
            positive = np.flatnonzero(Y[:, label] > 0)
            wants = shares * len(positive) - counts_of(positive, folds, n_folds)
            got = np.unique(folds[rows])
            assert wants[got].min() >= wants.max() - 1 - 1e-9
        labelled = np.flatnonzero((Y != 0).any(axis=1))
        negative, blank = labelled[(Y[labelled] <= 0).all(axis=1)], np.setdiff1d(np.arange(n), labelled)
        for everything, rows in [(labelled, negative), (np.arange(n), blank)]:
            wants = shares * len(everything) - counts_of(everything, folds, n_folds)
            assert wants[np.unique(folds[rows])].min(initial=np.inf) >= wants.max() - 1 - 1e-9


def test_a_label_with_enough_rows_at_its_turn_is_in_every_fold():
    rng = new_rng()
    for _ in range(50):
        n, m, n_folds = rng.integers(20, 300), rng.integers(1, 20), rng.integers(2, 8)
        Y = draw(rng, n, m)
        folds = iterative_folds(Y, np.full(n_folds, 1.0 / n_folds), rng.random(n))
        for label, rows in turns(Y):
            before = np.setdiff1d(np.flatnonzero(Y[:, label] > 0), rows)
            if len(rows) >= n_folds - len(np.unique(folds[before])):
                assert len(np.unique(folds[Y[:, label] > 0])) == n_folds


def test_a_label_whose_rows_all_go_with_rarer_labels_can_miss_a_fold():
    """Not every label with as many rows as folds is in all of them: the rows of the last went where others wanted."""
    Y = np.array([[-1, 1, -1, 1], [-1, -1, 1, 1], [1, -1, -1, -1], [-1, -1, -1, -1]], dtype=np.int8)
    # Row 2 goes to fold 0 by its tie, row 0 to fold 1, which has fewer rows; then all is even, and the tie sends row 1
    # to fold 1 as well.
    assert iterative_folds(Y, np.array([0.5, 0.5]), np.array([0.0, 0.9, 0.0, 0.0])).tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("equal", [True, False])
def test_the_rarest_label_is_spread_to_within_one_row(equal):
    rng = new_rng()
    for _ in range(50):
        n, m, n_folds = rng.integers(1, 300), rng.integers(1, 12), rng.integers(2, 8)
        Y = draw(rng, n, m)
        shares = np.full(n_folds, 1.0 / n_folds) if equal else draw_shares(rng, n_folds)
        folds = iterative_folds(Y, shares, rng.random(n))
        if (Y > 0).any():
            label, rows = turns(Y)[0]
            assert len(rows) == (Y[:, label] > 0).sum()
            counts = counts_of(rows, folds, n_folds)
            assert np.abs(counts - shares * len(rows)).max() < 1 + 1e-9
            assert not equal or np.ptp(counts) <= 1


@pytest.mark.parametrize("equal", [True, False])
def test_disjoint_labels_are_spread_to_within_one_row(equal):
    rng = new_rng()
    for _ in range(50):
        n, m, n_folds = rng.integers(1, 300), rng.integers(1, 12), rng.integers(2, 8)
        classes = rng.choice(m + 1, n, p=rng.dirichlet(np.ones(m + 1)))
        Y = np.where(classes[:, None] == np.arange(m), 1, -1).astype(np.int8)  # the last class: no positive label
        shares = np.full(n_folds, 1.0 / n_folds) if equal else draw_shares(rng, n_folds)
        folds = iterative_folds(Y, shares, rng.random(n))
        for i in range(m):
            rows = np.flatnonzero(classes == i)
            counts = counts_of(rows, folds, n_folds)
            assert np.abs(counts - shares * len(rows)).max() < 1 + 1e-9
            assert not equal or np.ptp(counts) <= 1
        assert not equal or np.ptp(counts_of(np.arange(n), folds, n_folds)) <= 1


def test_no_fold_is_empty():
    rng = new_rng()
    for _ in range(100):
        n_folds = rng.integers(2, 12)
        n = n_folds + rng.integers(0, 4)
        folds = iterative_folds(draw(rng, n, rng.integers(1, 12)), np.full(n_folds, 1.0 / n_folds), rng.random(n))
        assert len(np.unique(folds)) == n_folds


@pytest.mark.parametrize("equal", [True, False])
def test_rows_without_label_are_dealt_by_themselves(equal):
    """However many there are, they do not keep the negatives of a label from being spread."""
    rng = new_rng()
    for _ in range(30):
        n, n_folds = rng.integers(50, 300), rng.integers(2, 6)
        Y = rng.choice([1, -1, 0], (n, 1), p=[0.1, 0.3, 0.6]).astype(np.int8)
        shares = np.full(n_folds, 1.0 / n_folds) if equal else rng.dirichlet(np.full(n_folds, 20.0))
        folds = iterative_folds(Y, shares, rng.random(n))
        for sign in (1, -1, 0):
            rows = np.flatnonzero(Y[:, 0] == sign)
            assert np.abs(counts_of(rows, folds, n_folds) - shares * len(rows)).max() < 2 + 1e-9


def test_the_same_numbers_give_the_same_folds():
    rng = new_rng()
    Y, shares, ties = draw(rng, 200, 5), np.full(4, 0.25), rng.random(200)
    np.testing.assert_array_equal(iterative_folds(Y, shares, ties), iterative_folds(Y, shares, ties))
    assert any((iterative_folds(Y, shares, ties) != iterative_folds(Y, shares, rng.random(200))).any() for _ in "123")


@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (0, 0), (1, 1)])
def test_nothing_or_hardly_anything_to_deal(shape):
    folds = iterative_folds(np.zeros(shape, dtype=np.int8), np.full(5, 0.2), np.zeros(shape[0]))
    assert folds.dtype == np.int64
    assert sorted(folds) == list(range(shape[0]))


def test_neediest():
    first, second = np.array([1.0, 3.0, 3.0, 2.0, 3.0, 3.0]), np.array([9.0, 5.0, 4.0, 9.0, 5.0, 5.0])
    equals = [1, 4, 5]
    for tie in (0.0, 0.2, 0.4, 0.7, np.nextafter(1.0, 0.0)):
        assert neediest(first, second, tie) == equals[int(3 * tie)]
        assert neediest(first, np.arange(6.0), tie) == 5
        assert neediest(np.arange(6.0)[::-1].copy(), second, tie) == 0
