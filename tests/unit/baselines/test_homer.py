"""HOMER against its definition, written once more along the tree."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from smtl.baselines import HOMER, BinaryRelevance, EnsembleOfClassifierChains, LabelPowerset
from smtl.baselines.homer import _assign, balanced_kmeans
from tests.seeds import new_rng


@pytest.fixture
def seed():
    return int(new_rng().integers(2**31 - 1))


@pytest.fixture
def data(seed):
    return make_multilabel_classification(200, 6, n_classes=8, random_state=seed)


@pytest.mark.parametrize("n_clusters", [1, 8, 20])
@pytest.mark.parametrize(
    "base",
    [
        BinaryRelevance(),
        LabelPowerset(GaussianNB()),
        EnsembleOfClassifierChains(GaussianNB(), n_estimators=2, random_state=0),
    ],
    ids=repr,
)
def test_with_one_level_it_is_its_base(data, base, n_clusters):
    X, Y = data
    model, alone = HOMER(base, n_clusters=n_clusters).fit(X, Y), base.fit(X, Y)
    assert model.label_tree_ == tuple(range(8))
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X))


def leaves(tree):
    return [tree] if isinstance(tree, int) else [label for child in tree for label in leaves(child)]


def descend(tree, X, Y, X_test):
    """Return answers and probabilities of the labels of a tree, given that one of them is a yes."""
    answers, probabilities = np.zeros((len(X_test), 8), dtype=int), np.zeros((len(X_test), 8))
    for child in tree:
        labels = leaves(child)
        has = Y[:, labels].any(axis=1)
        if has.all() or not has.any():
            said, p = np.full(len(X_test), has.all(), dtype=int), np.full(len(X_test), float(has.all()))
        else:
            base = GaussianNB().fit(X, has)
            said, p = base.predict(X_test).astype(int), base.predict_proba(X_test)[:, 1]
        if isinstance(child, int):
            answers[:, child], probabilities[:, child] = said, p
        elif has.any():
            below, p_below = descend(child, X[has], Y[has], X_test)
            answers[:, labels] = (below * said[:, None])[:, labels]
            probabilities[:, labels] = (p_below * p[:, None])[:, labels]
    return answers, probabilities


@pytest.mark.parametrize("n_clusters", [2, 3, 4])
@pytest.mark.parametrize("clustering", ["balanced", "random"])
def test_against_a_recursive_twin(data, seed, n_clusters, clustering):
    X, Y = data
    model = HOMER(GaussianNB(), n_clusters=n_clusters, clustering=clustering, random_state=seed).fit(X[:150], Y[:150])
    answers, probabilities = descend(model.label_tree_, X[:150], Y[:150], X[150:])
    np.testing.assert_array_equal(model.predict(X[150:]), answers)
    np.testing.assert_allclose(model.predict_proba(X[150:]), probabilities, atol=1e-12)


@pytest.mark.parametrize("clustering", ["balanced", "random"])
def test_the_tree_is_balanced(data, seed, clustering):
    X, Y = data
    Y = np.hstack([Y, 1 - Y, Y[::-1]])
    tree = HOMER(DecisionTreeClassifier(), clustering=clustering, random_state=seed).fit(X, Y).label_tree_
    assert sorted(leaves(tree)) == list(range(24))

    def check(node):
        if isinstance(node, int):
            return
        sizes = [len(leaves(child)) for child in node]
        assert 2 <= len(sizes) <= 3
        assert max(sizes) <= -(-sum(sizes) // 3)
        for child in node:
            check(child)

    check(tree)


def test_labels_that_never_occur(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(60, 3)), np.zeros((60, 9), dtype=int)
    Y[:30, 0] = 1
    model = HOMER(random_state=seed).fit(X, Y)
    assert not model.predict(X)[:, 1:].any()
    assert not model.predict_proba(X)[:, 1:].any()


def test_labels_that_go_together_stay_together(seed):
    rng = np.random.default_rng(seed)
    topics = np.eye(3, dtype=int)[rng.integers(3, size=300)]
    Y = np.repeat(topics, 3, axis=1)
    X = topics + rng.normal(size=(300, 3))
    clusters = [HOMER(GaussianNB(), random_state=seed + i).fit(X, Y).label_tree_ for i in range(20)]
    assert ((0, 1, 2), (3, 4, 5), (6, 7, 8)) in [tuple(sorted(tree)) for tree in clusters]


def test_matching_is_stable(seed):
    rng = np.random.default_rng(seed)
    distances, capacity = rng.random((23, 5)), 5
    cluster = _assign(distances, capacity)
    assert np.bincount(cluster, minlength=5).max() <= capacity
    for point in range(23):
        for c in range(5):
            if distances[point, c] < distances[point, cluster[point]]:
                inside = cluster == c
                assert inside.sum() == capacity
                assert distances[inside, c].max() < distances[point, c]
    order = rng.permutation(23)
    np.testing.assert_array_equal(_assign(distances[order], capacity), cluster[order])


def test_kmeans_with_room_for_all_finds_clusters(seed):
    rng = np.random.default_rng(seed)
    points = np.repeat([0.0, 100.0], 10)[:, None] + rng.random((20, 1))
    cluster = balanced_kmeans(points, 2, np.random.RandomState(seed))
    assert len(set(cluster[:10])) == len(set(cluster[10:])) == 1
    assert cluster[0] != cluster[-1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 2.5}, "n_clusters must be a positive integer, got 2.5 instead"),
        ({"clustering": "em"}, "clustering must be one of 'balanced', 'random', got 'em' instead"),
    ],
)
def test_wrong_parameters(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        HOMER(LogisticRegression(), **parameters).fit(*data)
