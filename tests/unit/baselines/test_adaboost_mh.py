"""AdaBoost.MH: every stump against a search of all of them, and the bound of the training error in every round."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_multilabel_classification

from smtl.baselines import AdaBoostMH
from tests.seeds import new_rng


@pytest.fixture
def data():
    rng = new_rng()
    X, Y = make_multilabel_classification(60, 6, n_classes=4, random_state=rng.integers(2**31))
    X = np.round(X - 3 + rng.normal(size=X.shape), rng.integers(3))  # negative numbers, zeros and ties
    return X, Y


def block_weights(D, Y, right):
    """Weights of positives and negatives, of shape (2 sides, 2 classes, labels)."""
    return np.array([[(D * (c == Y))[right == side].sum(axis=0) for c in (1, 0)] for side in (0, 1)])


def quality(D, Y, right, algorithm):
    """Z for real values of a split, and for discrete ones: the smaller the better."""
    W = block_weights(D, Y, right)
    if algorithm == "real":
        return 2 * np.sqrt(W[:, 0] * W[:, 1]).sum()
    return np.sqrt(max(0.0, 1 - np.abs(W[:, 0] - W[:, 1]).sum() ** 2))


def replay(model, X, Y):
    """Yield the weights before each round, and the side of each row in it."""
    D = np.full(Y.shape, 1 / Y.size)
    for feature, cut, h in zip(model.features_, model.cuts_, model.values_, strict=True):
        right = (X[:, feature] > cut).astype(int)
        yield D, right, h
        D = D * np.exp(-(2 * Y - 1) * h[right])
        D /= D.sum()


@pytest.mark.parametrize("algorithm", ["real", "discrete"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_each_stump_is_the_best_of_all(data, algorithm, form):
    X, Y = data
    model = AdaBoostMH(8, algorithm=algorithm).fit(form(X), Y)
    for D, right, _ in replay(model, X, Y):
        best = min(
            quality(D, Y, (X[:, j] > cut).astype(int), algorithm)
            for j in range(X.shape[1])
            for cut in np.unique(X[:, j])[:-1]
        )
        assert quality(D, Y, right, algorithm) == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("algorithm", ["real", "discrete"])
def test_values_are_those_of_the_paper(data, algorithm):
    X, Y = data
    model = AdaBoostMH(8, algorithm=algorithm).fit(X, Y)
    for D, right, h in replay(model, X, Y):
        W = block_weights(D, Y, right)
        if algorithm == "real":
            np.testing.assert_allclose(h, 0.5 * np.log((W[:, 0] + 1 / Y.size) / (W[:, 1] + 1 / Y.size)))
        else:
            edge = np.abs(W[:, 0] - W[:, 1]).sum()
            np.testing.assert_allclose(np.abs(h), 0.5 * np.log((1 + edge) / (1 - edge)), rtol=1e-2)
            clear = np.abs(W[:, 0] - W[:, 1]) > 1e-9
            np.testing.assert_array_equal((h > 0)[clear], (W[:, 0] > W[:, 1])[clear])


@pytest.mark.parametrize("algorithm", ["real", "discrete"])
def test_the_normalisers_bound_the_hamming_loss_in_every_round(data, algorithm):
    X, Y = data
    model = AdaBoostMH(60, algorithm=algorithm).fit(X, Y)
    scores, bound = np.zeros(Y.shape), 1.0
    for (_, right, h), Z in zip(replay(model, X, Y), model.normalizers_, strict=True):
        scores += h[right]
        bound *= Z
        assert Z < 1
        # The bound is the mean of exp(-y f), of which the training error is a part.
        np.testing.assert_allclose(np.exp(-(2 * Y - 1) * scores).mean(), bound)
        assert ((scores > 0) != Y).mean() <= bound
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-12)


def test_one_label_and_one_feature_by_hand():
    # Cut at 2.5: left one yes of three, right all yes.
    X, y = np.array([[1.0], [2.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1, 1])
    model = AdaBoostMH(1).fit(X, y)
    assert model.cuts_.tolist() == [2.5]
    left, right = 0.5 * np.log((1 / 5 + 1 / 5) / (2 / 5 + 1 / 5)), 0.5 * np.log((2 / 5 + 1 / 5) / (1 / 5))
    np.testing.assert_allclose(model.values_[0, :, 0], [left, right])


def test_more_threads_give_the_same_stumps(data):
    one, four = (AdaBoostMH(20, n_jobs=jobs).fit(*data) for jobs in (1, 4))
    np.testing.assert_array_equal(one.features_, four.features_)
    np.testing.assert_array_equal(one.cuts_, four.cuts_)


def test_constant_features_leave_the_prior():
    Y = np.array([[0, 1]] * 7 + [[1, 0]] * 3)
    model = AdaBoostMH(50).fit(np.ones((10, 2)), Y)
    assert (model.predict(np.zeros((2, 2))) == [0, 1]).all()
    assert len(model.features_) < 50


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("low", [1.0, 1.0000001, -7.3])
def test_neighbouring_floats_are_told_apart(dtype, low):
    low = dtype(low)
    X = np.array([[low], [np.nextafter(low, dtype(9))]], dtype=dtype)
    Y = np.array([[0, 1], [1, 0]])
    np.testing.assert_array_equal(AdaBoostMH(1).fit(X, Y).predict(X), Y)


def test_entries_of_a_sparse_matrix_add_up():
    # Rows of 1, 3 and 5, the last one in two entries.
    X = sp.csr_array((np.array([1.0, 3.0, 1.0, 4.0]), np.zeros(4, dtype=int), np.array([0, 1, 2, 4])), shape=(3, 1))
    model = AdaBoostMH(1).fit(X, np.array([[0], [0], [1]]).ravel())
    assert model.cuts_.tolist() == [4.0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be a positive integer, got 0 instead"),
        ({"algorithm": "SAMME"}, "algorithm must be one of 'real', 'discrete', got 'SAMME' instead"),
    ],
)
def test_wrong_parameters(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        AdaBoostMH(**parameters).fit(*data)
