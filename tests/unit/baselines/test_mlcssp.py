"""MLCSSP: leverages, reconstruction, and what it becomes when all labels are drawn."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from smtl.baselines import MLCSSP, BinaryRelevance, LabelPowerset
from smtl.baselines.mlcssp import leverage_scores
from tests.seeds import new_rng


@pytest.fixture
def seed():
    return int(new_rng().integers(2**31 - 1))


@pytest.fixture
def data(seed):
    X, Y = make_multilabel_classification(150, 6, n_classes=8, n_labels=3, random_state=seed)
    return X, np.where(np.random.default_rng(seed).random(Y.shape) < 0.2, 1 - Y, Y)  # of full rank


@pytest.mark.parametrize("k", [1, 3, 8])
def test_leverages_are_those_of_the_singular_vectors(data, k):
    Y = data[1]
    Vt = scipy.linalg.svd(Y.astype(float), full_matrices=False)[2]
    np.testing.assert_allclose(leverage_scores(Y, k), (Vt[:k] ** 2).sum(axis=0), atol=1e-9)


def test_leverages_of_a_smaller_rank(data):
    Y = data[1][:, [0, 1, 1, 2, 2, 2]]
    assert leverage_scores(Y, 5).sum() == pytest.approx(3)
    np.testing.assert_allclose(leverage_scores(Y, 5), [1, 1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3])


@pytest.mark.parametrize("threshold", ["auto", 0.5])
@pytest.mark.parametrize("n_labels", [8, 1.0])
def test_with_all_labels_it_is_its_base(data, n_labels, threshold):
    X, Y = data
    model, base = MLCSSP(n_labels=n_labels, threshold=threshold).fit(X, Y), BinaryRelevance().fit(X, Y)
    np.testing.assert_allclose(model.reconstruction_, np.eye(8), atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X) + 0.5, base.predict_proba(X), atol=1e-7)
    clear = np.abs(base.predict_proba(X) - 0.5) > 1e-6
    np.testing.assert_array_equal(model.predict(X)[clear], base.predict(X)[clear])


def test_reconstruction_is_the_pseudo_inverse(data, seed):
    X, Y = data
    model = MLCSSP(n_labels=3, random_state=seed).fit(X, Y)
    np.testing.assert_allclose(model.reconstruction_, np.linalg.pinv(Y[:, model.labels_]) @ Y, atol=1e-9)
    outputs = BinaryRelevance().fit(X, Y[:, model.labels_]).predict_proba(X)
    np.testing.assert_allclose(
        model.decision_function(X), outputs @ model.reconstruction_ - model.thresholds_, atol=1e-12
    )


def test_with_all_labels_the_reconstruction_is_exact_whatever_their_rank(data, seed):
    X, Y = data
    Y = np.hstack([Y[:, :3], Y[:, :3]])
    model = MLCSSP(n_labels=6, random_state=seed).fit(X, Y)
    assert model.labels_.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(Y @ model.reconstruction_, Y, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X)[:, :3], model.predict(X)[:, 3:])


def test_labels_are_drawn_by_leverage(data):
    X, Y = data
    Y = Y[:, :4]
    n, leverages = 600, leverage_scores(Y, 1)
    drawn = np.bincount(
        [MLCSSP(_Nothing(), n_labels=1, threshold=0.5, random_state=i).fit(X, Y).labels_[0] for i in range(n)],
        minlength=4,
    )
    assert np.abs(drawn / n - leverages).max() < 6 * np.sqrt(0.25 / n)


class _Nothing(BinaryRelevance):
    def _fit_labels(self, X, Y, weights):
        pass


def test_default_number_of_labels(data):
    X, Y = data
    assert len(MLCSSP().fit(X, Y).labels_) == 4
    assert len(MLCSSP().fit(X, Y[:, :3]).labels_) == 3
    rng = new_rng()
    assert len(MLCSSP(_Nothing()).fit(X, rng.integers(2, size=(150, 60))).labels_) == 6


def test_constant_labels_are_not_drawn(data, seed):
    X, Y = data
    Y = Y.copy()
    Y[:, [2, 5]] = [1, 0]
    model = MLCSSP(n_labels=6, random_state=seed).fit(X, Y)
    assert model.labels_.tolist() == [0, 1, 3, 4, 6, 7]
    assert (model.predict(X)[:, [2, 5]] == [1, 0]).all()


def test_automatic_thresholds_are_the_best_for_the_reconstructed_labels(data, seed):
    X, Y = data
    model = MLCSSP(n_labels=3, random_state=seed).fit(X, Y)
    reconstructed = Y[:, model.labels_] @ model.reconstruction_

    def f1(label, cut):
        yes = reconstructed[:, label] > cut
        return 2 * (yes & (Y[:, label] > 0)).sum() / max(1, yes.sum() + Y[:, label].sum())

    for label in range(8):
        others = np.linspace(-1, 2, 301)
        assert f1(label, model.thresholds_[label]) >= max(f1(label, cut) for cut in others) - 1e-9
    np.testing.assert_allclose(model.thresholds_[model.labels_], 0.5, atol=1e-6)


def test_any_multi_label_method_learns_the_drawn_labels(data, seed):
    X, Y = data
    model = MLCSSP(LabelPowerset(), n_labels=3, random_state=seed).fit(X, Y)
    outputs = LabelPowerset().fit(X, Y[:, model.labels_]).predict_proba(X)
    np.testing.assert_allclose(
        model.decision_function(X), outputs @ model.reconstruction_ - model.thresholds_, atol=1e-12
    )


def test_a_base_without_probabilities_gives_answers(data, seed):
    X, Y = data
    model = MLCSSP(LinearSVC(random_state=0), n_labels=3, threshold=0.5, random_state=seed).fit(X, Y)
    answers = BinaryRelevance(LinearSVC(random_state=0)).fit(X, Y[:, model.labels_]).predict(X)
    np.testing.assert_allclose(model.decision_function(X) + 0.5, answers @ model.reconstruction_, atol=1e-12)


@pytest.mark.parametrize("n_labels", [0, 9, 1.5, True, "all"])
def test_wrong_number_of_labels(data, n_labels):
    with pytest.raises(ValueError, match="n_labels must be an integer from 1 to 8, the number of labels, a share in"):
        MLCSSP(LogisticRegression(), n_labels=n_labels).fit(*data)


def test_wrong_threshold(data):
    with pytest.raises(ValueError, match="threshold must be 'auto' or a number, got 'half' instead"):
        MLCSSP(threshold="half").fit(*data)
