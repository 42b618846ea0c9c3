"""Folds: what is spread evenly, that the order of rows does not matter, and the forms cv may have."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold

import real_data
from smtl.estimators.folds import make_folds, rare_tasks, stratified_folds
from smtl.estimators.targets import Targets, read_targets
from tests.seeds import new_rng, new_seed

needs_data = pytest.mark.skipif(not real_data.available(), reason="needs ../shared/data")


def random_state():
    return np.random.RandomState(new_seed())


def even(n_folds):
    return np.full(n_folds, 1.0 / n_folds)


def shared(Y):
    return Targets("multilabel", np.arange(Y.shape[1]), np.arange(Y.shape[1]), Y.astype(np.int8))


def own(y, task):
    names = np.arange(task.max() + 1)
    return Targets("tasks", np.array([0, 1]), names, y.astype(np.int8), task.astype(np.int64))


def draw_shared(rng, n, m, missing=0.0):
    Y = np.where(rng.random((n, m)) < rng.beta(1, 2, m), 1, -1)
    Y[rng.random((n, m)) < missing] = 0
    return shared(Y)


def draw_own(rng, n, m):
    task = rng.choice(m, n, p=rng.dirichlet(np.ones(m)))
    return own(rng.choice([1, -1, 0], n, p=rng.dirichlet([2, 5, 1])), np.append(task[1:], m - 1))


def counts(classes, folds, n_folds):
    """How many rows of each column of a mask are in each fold, of shape (n_folds, n_columns)."""
    return np.array([classes[folds == k].sum(axis=0) for k in range(n_folds)])


def classes_of(targets):
    """A mask of the rows of each class: the positives of each task, then the negatives."""
    columns = np.array([targets.column(i) for i in range(len(targets.names))]).T
    return np.hstack([columns > 0, columns < 0])


@pytest.mark.parametrize("shares", [[0.25] * 4, [0.5, 0.3, 0.2], [0.9, 0.1]])
@pytest.mark.parametrize("kind", ["shared", "partly labelled", "own"])
@pytest.mark.parametrize("form", ["C", "F", "float32", "csr", "csc"])
def test_the_order_of_the_rows_does_not_matter(form, kind, shares):
    rng = new_rng()
    n = int(rng.integers(5, 400))
    targets = draw_own(rng, n, 4) if kind == "own" else draw_shared(rng, n, 4, 0.5 if kind == "partly labelled" else 0)
    X = rng.standard_normal((n, 7))
    convert = {
        "C": np.ascontiguousarray,
        "F": np.asfortranarray,
        "float32": lambda X: X.astype(np.float32),
        "csr": sp.csr_array,
        "csc": sp.csc_array,
    }[form]
    seed = rng.integers(2**31)
    folds = stratified_folds(convert(X), targets, shares, np.random.RandomState(seed))
    order = rng.permutation(n)
    permuted = stratified_folds(convert(X[order]), targets.part(order), shares, np.random.RandomState(seed))
    np.testing.assert_array_equal(permuted, folds[order])
    again = stratified_folds(convert(X), targets, shares, np.random.RandomState(seed))
    np.testing.assert_array_equal(again, folds)


@pytest.mark.parametrize("kind", ["shared", "own"])
@pytest.mark.parametrize("d", [1, 3, 40])
def test_nor_where_rows_coincide(kind, d):
    """Rows that differ in their labels only, or not at all: how many of each there are in each fold stays the same."""
    rng = new_rng()
    n = 503  # BLAS treats the last rows otherwise than the rest
    targets = draw_own(rng, n, 3) if kind == "own" else draw_shared(rng, n, 3)
    X = rng.standard_normal((6, d))[rng.integers(0, 6, n)].astype(rng.choice([np.float32, np.float64]))
    seed, order = rng.integers(2**31), rng.permutation(n)

    def contents(rows):
        part = targets.part(rows)
        folds = stratified_folds(X[rows], part, even(3), np.random.RandomState(seed))
        labels = part.Y if part.task is None else np.column_stack([part.Y, part.task])
        return np.unique(np.column_stack([X[rows], labels, folds]), axis=0, return_counts=True)

    for one, other in zip(contents(np.arange(n)), contents(order), strict=True):
        np.testing.assert_array_equal(one, other)


def test_nor_where_single_precision_cannot_tell_rows_apart():
    """So many rows that some products coincide in float32."""
    rng = new_rng()
    n = 20_000
    X, targets = rng.standard_normal((n, 12)).astype(np.float32), draw_shared(rng, n, 2)
    seed, order = rng.integers(2**31), rng.permutation(n)
    folds = stratified_folds(X, targets, even(5), np.random.RandomState(seed))
    permuted = stratified_folds(X[order], targets.part(order), even(5), np.random.RandomState(seed))
    np.testing.assert_array_equal(permuted, folds[order])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_a_category_is_in_all_folds(form, noise):
    """What held-out rows say of a category is what the others say of it, and not the opposite."""
    rng = new_rng()
    level = rng.integers(16, size=400)
    yes = np.isin(level, rng.permutation(16)[:5]) ^ (rng.random(400) < noise)
    folds = stratified_folds(
        form(np.eye(16)[level]), shared(np.where(yes, 1.0, -1.0)[:, None]), even(5), random_state()
    )
    share = np.empty(400)
    for k in range(5):
        train = folds != k
        n_yes, n = np.bincount(level[train & yes], minlength=16), np.bincount(level[train], minlength=16)
        share[folds == k] = ((n_yes + yes.mean()) / (n + 1))[level[folds == k]]
    assert roc_auc_score(yes, share) > 0.95 - 1.5 * noise


def test_copies_of_a_row_stay_together():
    rng = new_rng()
    X, copies = rng.standard_normal((60, 3)), rng.integers(1, 5, size=60)
    X[:, 1] = X[:, 1] > 0
    y, row = rng.choice([-1.0, 1.0], size=60), np.repeat(np.arange(60), copies)
    folds = stratified_folds(X[row], shared(y[row, None]), even(4), random_state())
    assert all(len(set(folds[row == i])) == 1 for i in range(60))


def test_other_numbers_give_other_folds():
    rng = new_rng()
    X = rng.standard_normal((200, 3))
    for targets in (draw_shared(rng, 200, 3), draw_own(rng, 200, 3)):
        one, other = (stratified_folds(X, targets, even(5), random_state()) for _ in range(2))
        assert 0.6 < np.mean(one != other) < 0.95  # 0.8 of the rows are in another of five folds by chance


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_folds_are_alike_in_what_the_labels_do_not_tell(share):
    """Where a fold is larger, it does not get the rows at one end."""
    rng = new_rng()
    X = rng.standard_normal((4000, 1))
    for targets in (draw_shared(rng, 4000, 2), draw_own(rng, 4000, 2)):
        folds = stratified_folds(X, targets, [share, 1 - share], random_state())
        error = np.sqrt(1 / (4000 * share) + 1 / (4000 * (1 - share)))
        assert abs(X[folds == 0].mean() - X[folds == 1].mean()) < 6 * error


@pytest.mark.parametrize("missing", [0.0, 0.6])
@pytest.mark.parametrize("equal", [True, False])
def test_the_smallest_class_is_spread_to_within_one_row(equal, missing):
    rng = new_rng()
    for _ in range(20):
        n, n_folds = int(rng.integers(10, 300)), int(rng.integers(2, 7))
        targets = draw_shared(rng, n, int(rng.integers(1, 8)), missing)
        shares = even(n_folds) if equal else rng.dirichlet(np.full(n_folds, 4.0))
        folds = stratified_folds(rng.standard_normal((n, 2)), targets, shares, random_state())
        classes = classes_of(targets)
        sizes = classes.sum(axis=0)
        smallest = np.argmin(np.where(sizes > 0, sizes, n + 1))
        spread = counts(classes, folds, n_folds)[:, smallest]
        assert np.abs(spread - shares * sizes[smallest]).max() < 1 + 1e-9
        assert not equal or np.ptp(spread) <= 1


@pytest.mark.parametrize("n_classes", [2, 3, 9])
def test_one_label_a_row_is_spread_to_within_one_row(n_classes):
    """A binary or multi-class problem: as StratifiedKFold, but fold sizes too differ by one row at most."""
    rng = new_rng()
    for _ in range(20):
        n, n_folds = int(rng.integers(30, 300)), int(rng.integers(2, 7))
        y = rng.choice(n_classes, n, p=rng.dirichlet(np.ones(n_classes)))
        y[:n_classes] = np.arange(n_classes)
        X = rng.standard_normal((n, 2))
        folds = stratified_folds(X, read_targets(X, y), even(n_folds), random_state())
        assert np.ptp(counts(y[:, None] == np.arange(n_classes), folds, n_folds), axis=0).max() <= 1
        assert np.ptp(np.bincount(folds, minlength=n_folds)) <= 1


def test_so_is_a_label_that_shares_no_row_whatever_the_others_do():
    rng = new_rng()
    for _ in range(30):
        n, n_folds = int(rng.integers(30, 300)), int(rng.integers(2, 7))
        targets = draw_shared(rng, n, int(rng.integers(2, 7)))
        alone = rng.random(n) < rng.random()
        label = rng.integers(targets.Y.shape[1])
        targets.Y[alone] = -1
        targets.Y[:, label] = np.where(alone, 1, -1)
        shares = rng.dirichlet(np.full(n_folds, 4.0))
        folds = stratified_folds(rng.standard_normal((n, 2)), targets, shares, random_state())
        spread = np.bincount(folds[alone], minlength=n_folds)
        assert np.abs(spread - shares * alone.sum()).max() < 1 + 1e-9


@pytest.mark.parametrize("missing", [0.0, 0.6])
@pytest.mark.parametrize("shares", [[0.2] * 5, [0.6, 0.2, 0.2]])
def test_overlapping_labels_are_spread_better_than_by_chance(shares, missing):
    """On average over all classes, and the more so for the small ones, of which chance leaves folds without."""
    rng = new_rng()
    n, n_folds = 300, len(shares)
    far, far_by_chance, lacking, lacking_by_chance = 0.0, 0.0, 0, 0
    for _ in range(10):
        targets = draw_shared(rng, n, 10, missing)
        classes = classes_of(targets)
        sizes = classes.sum(axis=0)
        folds = stratified_folds(rng.standard_normal((n, 2)), targets, shares, random_state())
        by_chance = rng.permutation(np.repeat(np.arange(n_folds), np.round(np.multiply(shares, n)).astype(int)))
        # Fold sizes give way to the labels, by a few rows.
        assert np.abs(np.bincount(folds) - np.multiply(shares, n)).max() < 0.1 * n
        spread, spread_by_chance = counts(classes, folds, n_folds), counts(classes, by_chance, n_folds)
        far += np.abs(spread - np.outer(shares, sizes)).mean()
        far_by_chance += np.abs(spread_by_chance - np.outer(shares, sizes)).mean()
        small = (sizes * min(shares) >= 1) & (sizes < 30)
        lacking += (spread[:, small] == 0).any(axis=0).sum()
        lacking_by_chance += (spread_by_chance[:, small] == 0).any(axis=0).sum()
    assert far < 0.7 * far_by_chance
    assert lacking <= lacking_by_chance


def test_own_rows_are_spread_to_within_one_row():
    rng = new_rng()
    for _ in range(30):
        n, m, n_folds = int(rng.integers(10, 400)), int(rng.integers(1, 9)), int(rng.integers(2, 7))
        targets = draw_own(rng, n, m)
        folds = stratified_folds(rng.standard_normal((n, 2)), targets, even(n_folds), random_state())
        of_tasks = counts(classes_of(targets), folds, n_folds)
        assert np.ptp(of_tasks, axis=0).max() <= 1
        assert np.ptp(of_tasks[:, :m] + of_tasks[:, m:], axis=0).max() <= 2
        assert np.ptp(counts(targets.Y[:, None] == [1, -1, 0], folds, n_folds), axis=0).max() <= 1
        assert np.ptp(np.bincount(folds, minlength=n_folds)) <= 1


def test_own_rows_in_unequal_folds():
    rng = new_rng()
    for _ in range(30):
        n, n_folds = int(rng.integers(10, 400)), int(rng.integers(2, 7))
        targets, shares = draw_own(rng, n, 5), rng.dirichlet(np.full(n_folds, 2.0))
        folds = stratified_folds(rng.standard_normal((n, 2)), targets, shares, random_state())
        classes = classes_of(targets)
        # A fold's turns come once in 1 / share; between the turns of one, the others have 1 more or fewer each.
        allowed = 1 + n_folds * shares[:, None]
        assert np.all(np.abs(counts(classes, folds, n_folds) - np.outer(shares, classes.sum(axis=0))) <= allowed)
        assert np.all(np.abs(np.bincount(folds, minlength=n_folds) - shares * n) <= 0.5 + 0.5 * n_folds * shares + 1e-9)


def test_small_tasks_do_not_give_all_positives_to_one_fold():
    y, task = np.tile([1, -1, -1, -1, -1], 40), np.repeat(np.arange(40), 5)
    X = new_rng().standard_normal((200, 2))
    for shares in (even(5), [0.8, 0.2]):
        folds = stratified_folds(X, own(y, task), shares, random_state())
        assert np.abs(np.bincount(folds[y > 0]) - np.multiply(shares, 40)).max() <= 1


@pytest.mark.parametrize("kind", ["binary", "multilabel", "own"])
def test_rows_without_label_are_spread(kind):
    rng = new_rng()
    n, n_folds = 300, 4
    targets = draw_own(rng, n, 3) if kind == "own" else draw_shared(rng, n, 1 if kind == "binary" else 6)
    blank = rng.random(n) < 0.4
    targets.Y[blank] = 0
    blank = targets.Y == 0 if kind == "own" else blank
    folds = stratified_folds(rng.standard_normal((n, 2)), targets, even(n_folds), random_state())
    # They make up for what the labels leave uneven.
    assert np.ptp(np.bincount(folds, minlength=n_folds)) <= 1
    labelled = np.bincount(folds[~blank], minlength=n_folds)
    assert np.ptp(np.bincount(folds[blank], minlength=n_folds)) <= 1 + np.ptp(labelled)


@pytest.mark.parametrize("proportions", [[0.5, 0.6], [1.5, -0.5], [1.0, 0.0], [[0.5, 0.5]], 1.0, [np.nan, 0.5], []])
def test_proportions_that_are_none(proportions):
    with pytest.raises(ValueError, match=r"^proportions must be positive numbers of sum 1, one a fold, got "):
        stratified_folds(np.eye(4), shared(np.ones((4, 1))), proportions, random_state())


# The forms of cv.


def problem(rng, n=60, m=3):
    X = rng.standard_normal((n, 4))
    Y = (rng.random((n, m)) < 0.4).astype(int)
    return X, Y, read_targets(X, Y)


@pytest.mark.parametrize("number", [2, np.int64(3), 7, 60])
@pytest.mark.parametrize("kind", ["shared", "own"])
def test_a_number_of_folds(kind, number):
    rng = new_rng()
    X, Y, targets = problem(rng)
    if kind == "own":
        targets = draw_own(rng, 60, 4)
    pairs = make_folds(number, X, Y, targets, np.random.RandomState(3))
    assert len(pairs) == number
    folds = stratified_folds(X, targets, even(number), np.random.RandomState(3))
    for k, (train, test) in enumerate(pairs):
        np.testing.assert_array_equal(test, np.flatnonzero(folds == k))
        np.testing.assert_array_equal(np.sort(np.append(train, test)), np.arange(60))
        assert train.dtype == test.dtype == np.int64
        assert len(test) > 0


@pytest.mark.parametrize("number", [-1, 0, 1, 61, 10**9])
def test_too_few_or_too_many_folds(number):
    X, Y, targets = problem(new_rng())
    with pytest.raises(ValueError, match=r"cv must be between 2 and the number of rows \(60\).*, got " + str(number)):
        make_folds(number, X, Y, targets, random_state())


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("splitter", [KFold, ShuffleSplit, RepeatedKFold])
def test_a_splitter(splitter, seed):
    X, Y, targets = problem(new_rng())
    cv = splitter(5, shuffle=True, random_state=seed) if splitter is KFold else splitter(random_state=seed)
    pairs = make_folds(cv, X, Y, targets, random_state())
    assert_same_pairs(pairs, cv.split(X, Y))
    assert_same_pairs(make_folds(cv.split(X), X, Y, targets, random_state()), pairs)


def assert_same_pairs(pairs, wanted):
    for pair, other in zip(pairs, wanted, strict=True):
        for part, rows in zip(pair, other, strict=True):
            np.testing.assert_array_equal(part, rows)
            assert part.dtype == np.int64


def test_a_splitter_gets_groups_and_labels():
    rng = new_rng()
    X, Y, targets = problem(rng)
    groups = rng.integers(0, 6, 60)
    for train, test in make_folds(GroupKFold(3), X, Y, targets, random_state(), groups):
        assert not set(groups[train]) & set(groups[test])
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        make_folds(GroupKFold(3), X, Y, targets, random_state())
    y = Y[:, 0]
    assert_same_pairs(
        make_folds(StratifiedKFold(3), X, y, read_targets(X, y), random_state()), StratifiedKFold(3).split(X, y)
    )
    with pytest.raises(ValueError, match=r"Supported target types are.*Got 'multilabel-indicator' instead"):
        make_folds(StratifiedKFold(3), X, Y, targets, random_state())


@pytest.mark.parametrize("form", [list, tuple, iter, np.array])
def test_pairs(form):
    X, Y, targets = problem(new_rng())
    rows = [([2, 1, 0], [5, 3, 4]), ([3, 4, 59], [0, 1, 2])]
    wanted = [tuple(map(np.array, pair)) for pair in rows]
    assert_same_pairs(make_folds(form(rows), X, Y, targets, random_state()), wanted)


def test_masks():
    X, Y, targets = problem(new_rng())
    first = np.arange(60) < 20
    wanted = [(np.arange(20, 60), np.arange(20)), (np.arange(20), np.arange(20, 60))]
    assert_same_pairs(make_folds([(~first, first), (first, ~first)], X, Y, targets, random_state()), wanted)
    assert_same_pairs(make_folds([(list(~first), np.arange(20))], X, Y, targets, random_state()), wanted[:1])


GOOD = ([0, 1], [2])


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (5.0, "cv must be a number of folds, .* of row numbers, got 5.0 instead"),
        (True, "cv must be a number of folds, .* got True instead"),
        ("5", "cv must be a number of folds, .* got '5' instead"),
        (KFold, r"cv must be a splitter, got the class KFold instead; call it: KFold\(\)"),
        ([], "cv must give at least one split, got none"),
        ([GOOD, 3], r"split 1 of cv must be a pair \(train, test\) of row numbers, got 3 instead"),
        ([[0, 1, 2]], r"split 0 of cv must be a pair .* got \[0, 1, 2\] instead"),
        ([0, 1], "split 0 of cv must be a pair .* got 0 instead"),
        ([GOOD, ([0], [])], "test of split 1 of cv must have at least one row, got none"),
        ([([], [0])], "train of split 0 of cv must have at least one row, got none"),
        ([([0], np.zeros(60, dtype=bool))], "test of split 0 of cv must have at least one row, got none"),
        ([([0], np.ones(59, dtype=bool))], r"test of split 0 of cv must have an entry a row \(60\).*, got 59 instead"),
        ([([0, 60], [1])], "train of split 0 of cv must hold row numbers between 0 and 59, got 60 instead"),
        ([([0], [1, -1])], "test of split 0 of cv must hold row numbers between 0 and 59, got -1 instead"),
        ([([0], np.array([2**64 - 1], dtype=np.uint64))], "between 0 and 59, got 18446744073709551615 instead"),
        ([([0.0, 1.0], [2])], r"train of split 0 of cv must be .* got \[0.0, 1.0\], of shape \(2,\) and type float64"),
        ([([0, 1], 2)], r"test of split 0 of cv must be a list of row numbers or a mask, got 2, of shape \(\)"),
        ([([[0, 1]], [2])], r"train of split 0 of cv must be a list .* of shape \(1, 2\)"),
        ([(["a"], [2])], "train of split 0 of cv must be a list of row numbers or a mask"),
        (
            [GOOD, ([0, 1, 2], [2, 3, 1])],
            "train and test of split 1 of cv must not share rows, got 2 in both.* row 2",
        ),
        ([([0, 1, 1], [2])], "train of split 0 of cv must name a row once, got row 1 more often"),
    ],
)
def test_what_cv_cannot_be(cv, message):
    X, Y, targets = problem(new_rng())
    with pytest.raises(ValueError, match=message) as caught:
        make_folds(cv, X, Y, targets, random_state())
    assert len(str(caught.value)) < 250


def test_an_error_inside_an_iterable_is_not_hidden():
    def pairs():
        yield GOOD
        raise OSError("no such file")

    X, Y, targets = problem(new_rng())
    with pytest.raises(OSError, match=re.escape("no such file")):
        make_folds(pairs(), X, Y, targets, random_state())


@pytest.mark.parametrize("kind", ["shared", "own"])
def test_rare_tasks(kind):
    rng = new_rng()
    for _ in range(30):
        targets = draw_own(rng, 60, 8) if kind == "own" else draw_shared(rng, 25, 12, 0.5)
        n_folds = int(rng.integers(2, 8))
        wanted = []
        for i in range(len(targets.names)):
            column = targets.column(i).tolist()
            fewest = min(column.count(1), column.count(-1))
            if 0 < fewest < n_folds:
                wanted.append(i)
        rare = rare_tasks(targets, n_folds)
        assert rare.tolist() == wanted
        assert rare.dtype == np.int64


# Real data.


def label_distribution(Y, folds, n_folds):
    """The paper's measure LD: by how much the odds of a label in a fold differ from those in all rows, on average."""
    positive = counts(Y, folds, n_folds)
    negative = counts(1 - Y, folds, n_folds)
    return np.mean(np.abs(positive / negative - Y.sum(axis=0) / (1 - Y).sum(axis=0)))


@needs_data
@pytest.mark.parametrize(("name", "factor"), [("yeast", 0.3), ("cal500", 0.95)])
def test_labels_of_real_data_are_spread_better_than_by_a_shuffle(name, factor):
    X, Y, _ = real_data.load(name)
    targets = read_targets(X, Y)
    means, lacking = [], []
    for draw in ("stratified", "shuffled"):
        values, missing = [], 0
        for _ in range(20):
            if draw == "stratified":
                folds = stratified_folds(X, targets, even(5), random_state())
            else:
                folds = np.empty(len(Y), dtype=int)
                for k, (_, test) in enumerate(KFold(5, shuffle=True).split(X)):
                    folds[test] = k
            values.append(label_distribution(Y, folds, 5))
            missing += (counts(Y, folds, 5) == 0).any(axis=0).sum()
        means.append(np.mean(values))
        lacking.append(missing)
    assert means[0] < factor * means[1]
    if name == "cal500":  # of 174 labels, those with few positives
        assert lacking[0] < 0.1 * lacking[1]


@needs_data
def test_tasks_of_landmine_are_spread():
    X, y, tasks = real_data.load("landmine")
    targets = read_targets(X, y, tasks)
    pairs = make_folds(5, X, y, targets, random_state())
    n_pos = np.array([targets.part(test).counts()[0] for _, test in pairs])
    assert np.ptp(n_pos, axis=0).max() <= 1
    assert len(rare_tasks(targets, 5)) == (targets.counts()[0] < 5).sum()
