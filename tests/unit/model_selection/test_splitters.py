"""Splitters: what is spread evenly, that groups stay together, and that scikit-learn takes them for its own."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    cross_val_score,
    cross_validate,
)

import real_data
from smtl import SMTLClassifier, SMTLClassifierCV
from smtl.model_selection import (
    MultilabelStratifiedGroupKFold,
    MultilabelStratifiedGroupShuffleSplit,
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
)
from tests.seeds import new_rng, new_seed

needs_data = pytest.mark.skipif(not real_data.available(), reason="needs ../shared/data")
SPLITTERS = [
    lambda: MultilabelStratifiedKFold(4),
    lambda: MultilabelStratifiedKFold(4, shuffle=True, random_state=new_seed()),
    lambda: MultilabelStratifiedGroupKFold(4),
    lambda: MultilabelStratifiedGroupKFold(4, shuffle=True, random_state=new_seed()),
    lambda: MultilabelStratifiedShuffleSplit(4, test_size=0.3, random_state=new_seed()),
    lambda: MultilabelStratifiedShuffleSplit(4, test_size=0.3, train_size=0.4, random_state=new_seed()),
    lambda: MultilabelStratifiedGroupShuffleSplit(4, test_size=0.3, random_state=new_seed()),
    lambda: MultilabelStratifiedGroupShuffleSplit(4, test_size=0.3, train_size=0.4, random_state=new_seed()),
]


def draw(n=200, m=4, missing=0.0):
    rng = new_rng()
    Y = (rng.random((n, m)) < rng.beta(1, 2, m)).astype(float)
    Y[rng.random((n, m)) < missing] = np.nan
    return rng.standard_normal((n, 3)), Y, rng.integers(0, 40, n)


def unevenness(Y, tests):
    """The mean distance of the folds' shares of positives from that of all rows."""
    return np.mean([np.abs(Y[test].mean(axis=0) - Y.mean(axis=0)) for test in tests])


@pytest.mark.parametrize("make", SPLITTERS)
@pytest.mark.parametrize("form", ["labels", "missing", "binary", "classes"])
def test_parts_share_no_row_and_groups_are_never_split(make, form):
    splitter = make()
    X, Y, groups = draw(missing=0.2 if form == "missing" else 0.0)
    y = {"binary": Y[:, 0], "classes": np.array(["a", "b", "c"])[new_rng().integers(0, 3, len(Y))]}.get(form, Y)
    y[:2], y[2:4] = y[10], y[11]
    splits = list(splitter.split(X, y, groups))
    assert len(splits) == splitter.get_n_splits() == 4
    for train, test in splits:
        assert min(len(train), len(test)) > 0
        assert not set(train) & set(test)
        if "Group" in type(splitter).__name__:
            assert not set(groups[train]) & set(groups[test])
    if "KFold" in type(splitter).__name__:
        np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in splits])), np.arange(len(Y)))
    again = list(clone(splitter, safe=False).split(X, y, groups))
    for (train, test), (other, rest) in zip(splits, again, strict=True):
        np.testing.assert_array_equal(train, other)
        np.testing.assert_array_equal(test, rest)


def test_labels_are_more_even_than_by_chance():
    X, Y, _ = draw(400, 6)
    ours, chance = (
        unevenness(Y, [test for _, test in splitter(5, shuffle=True, random_state=new_seed()).split(X, Y)])
        for splitter in (MultilabelStratifiedKFold, KFold)
    )
    assert ours < 0.6 * chance


@needs_data
@pytest.mark.parametrize("name", ["flags", "emotions", "yeast"])
def test_labels_are_as_even_as_by_the_published_algorithm(name):
    """The pseudo-code of Sechidis 2011 on the positives alone, as iterative-stratification has it."""
    Y = real_data.load(name)[1]
    rng = new_rng()
    ours = [t for _, t in MultilabelStratifiedKFold(5, shuffle=True, random_state=new_seed()).split(Y, Y)]
    assert unevenness(Y, ours) <= unevenness(Y, published(Y, 5, rng))


def published(Y, n_folds, rng):
    """Iterative stratification, row by row."""
    wanted_rows, wanted = np.full(n_folds, len(Y) / n_folds), np.tile(Y.sum(axis=0) / n_folds, (n_folds, 1))
    left, fold = np.ones(len(Y), dtype=bool), np.zeros(len(Y), dtype=int)

    def put(k, first):
        best = np.flatnonzero(first == first.max())
        best = best[wanted_rows[best] == wanted_rows[best].max()]
        fold[k] = rng.choice(best)
        wanted_rows[fold[k]] -= 1
        wanted[fold[k]] -= Y[k]
        left[k] = False

    while (Y[left] > 0).any():
        counts = Y[left].sum(axis=0)
        label = int(np.argmin(np.where(counts > 0, counts, len(Y) + 1)))
        for k in rng.permutation(np.flatnonzero(left & (Y[:, label] > 0))):
            put(k, wanted[:, label])
    for k in np.flatnonzero(left):
        put(k, wanted_rows)
    return [np.flatnonzero(fold == k) for k in range(n_folds)]


def test_groups_are_as_even_as_by_scikit_learn_where_there_is_one_label():
    """Ours moves groups after they are dealt; over a few draws it must not be behind."""
    ours, known = [], []
    for _ in range(5):
        X, Y, groups = draw(300, 1)
        for splitter, found in ((MultilabelStratifiedGroupKFold, ours), (StratifiedGroupKFold, known)):
            splits = splitter(4, shuffle=True, random_state=new_seed()).split(X, Y[:, 0].astype(int), groups)
            found.append(unevenness(Y, [test for _, test in splits]))
    assert np.mean(ours) <= np.mean(known) + 1e-9


def test_moving_groups_ends_where_no_move_helps():
    X, Y, groups = draw(150, 3)
    splits = MultilabelStratifiedGroupKFold(3).split(X, Y, groups)
    fold = np.empty(len(Y), dtype=int)
    for k, (_, test) in enumerate(splits):
        fold[test] = k
    classes = np.hstack([Y > 0, Y == 0, np.ones((len(Y), 1), dtype=bool)])
    classes = classes[:, classes.any(axis=0)]

    def distance(fold):
        counts = np.array([classes[fold == k].sum(axis=0) for k in range(3)])
        return np.sum((counts - classes.sum(axis=0) / 3) ** 2 / (classes.sum(axis=0) / 3))

    for group in np.unique(groups):
        for k in range(3):
            moved = np.where(groups == group, k, fold)
            if len(np.unique(moved)) == 3:
                assert distance(fold) <= distance(moved) + 1e-6


@pytest.mark.parametrize("size", [0.25, 50])
@pytest.mark.parametrize("name", ["test_size", "train_size"])
def test_sizes_are_nearly_those_asked_for(name, size):
    X, Y, _ = draw()
    for train, test in MultilabelStratifiedShuffleSplit(2, **{name: size}, random_state=new_seed()).split(X, Y):
        asked = test if name == "test_size" else train
        assert abs(len(asked) - 50) <= 8
        assert len(train) + len(test) == 200


def test_no_fold_is_empty_with_as_many_groups_as_folds():
    X, Y, _ = draw(60, 3)
    groups = np.repeat(np.arange(5), [40, 17, 1, 1, 1])
    for _, test in MultilabelStratifiedGroupKFold(5).split(X, Y, groups):
        assert len(np.unique(groups[test])) == 1


def test_scikit_learn_takes_them():
    X, Y = make_multilabel_classification(120, 5, n_classes=3, random_state=new_seed())
    groups = new_rng().integers(0, 20, 120)
    y = Y[:, 0]
    model = LogisticRegression()
    assert len(cross_val_score(model, X, y, cv=MultilabelStratifiedKFold(3))) == 3
    assert len(cross_val_score(model, X, y, groups=groups, cv=MultilabelStratifiedGroupKFold(3))) == 3
    split = MultilabelStratifiedGroupShuffleSplit(2, test_size=0.3, random_state=0)
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=split).fit(X, y, groups=groups)
    assert search.n_splits_ == 2
    assert "MultilabelStratifiedKFold" in repr(MultilabelStratifiedKFold(3))


@pytest.mark.filterwarnings("ignore:Task")
def test_missing_labels_in_scikit_learns_cross_validation():
    X, Y, _ = draw(120, 3, missing=0.1)
    found = cross_validate(SMTLClassifier("auc", C=1.0), X, Y, cv=MultilabelStratifiedKFold(3), error_score="raise")
    assert np.isfinite(found["test_score"]).all()


@pytest.mark.filterwarnings("ignore:Task")
def test_groups_stay_together_in_a_search_with_folds_of_its_own(monkeypatch):
    from smtl.estimators import weights

    X, Y, groups = draw(120, 3)
    seen = []
    plain = weights.make_folds
    monkeypatch.setattr(weights, "make_folds", lambda *a, **k: seen.append(plain(*a, **k)) or seen[-1])
    SMTLClassifierCV("auc", cv=4, Cs=2).fit(X, Y, groups=groups)
    SMTLClassifierCV("auc", cv=GroupKFold(4), Cs=2).fit(X, Y, groups=groups)
    for train, test in [*seen[0], *seen[1]]:
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MultilabelStratifiedKFold(1), "n_splits must be a whole number of at least 2, got 1 instead."),
        (lambda: MultilabelStratifiedKFold(shuffle=1), "shuffle must be True or False, got 1 instead."),
        (lambda: MultilabelStratifiedKFold(random_state=0), "random_state must be None where nothing is shuffled"),
        (lambda: next(MultilabelStratifiedKFold(9).split(np.eye(3), [0, 1, 1])), "n_splits must be at most the number"),
        (lambda: next(MultilabelStratifiedKFold(2).split(np.eye(3))), "y must be given"),
        (lambda: next(MultilabelStratifiedGroupKFold(2).split(np.eye(3), [0, 1, 1])), "groups must name a group"),
        (
            lambda: next(MultilabelStratifiedGroupKFold(3).split(np.eye(3), [0, 1, 1], [0, 0, 1])),
            "groups must be at least 3, one a fold, got 2 instead.",
        ),
        (lambda: MultilabelStratifiedShuffleSplit(0), "n_splits must be a positive whole number, got 0 instead."),
        (
            lambda: next(MultilabelStratifiedShuffleSplit(test_size=2.0).split(np.eye(3), [0, 1, 1])),
            "test_size must be a number between 0 and 1, or a number of rows below 3, got 2.0 instead.",
        ),
        (
            lambda: next(MultilabelStratifiedShuffleSplit(test_size=0.6, train_size=0.6).split(np.eye(3), [0, 1, 1])),
            "test_size and train_size must be at most all rows, got 0.6 and 0.6 instead.",
        ),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()
