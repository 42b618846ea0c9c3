"""What all the multi-label methods have in common, and scikit-learn's own checks of them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from smtl.baselines import (
    HOMER,
    MLCSSP,
    AdaBoostMH,
    BinaryRelevance,
    EnsembleOfClassifierChains,
    LabelPowerset,
    RAkEL,
)
from smtl.baselines._multilabel import OneClassTolerant, seeded
from tests.seeds import new_rng

METHODS = [
    BinaryRelevance(),
    LabelPowerset(),
    RAkEL(),
    RAkEL(overlapping=False, k=2),
    EnsembleOfClassifierChains(n_estimators=2),
    HOMER(),
    AdaBoostMH(20),
    AdaBoostMH(20, algorithm="discrete"),
    MLCSSP(),
]
# Its dual solver goes about the rows at random, and is not exact enough for the equivalence of weights and repetition.
EXACT_SVC = LinearSVC(dual=False, tol=1e-10, max_iter=10_000)
WITH_BASE = [method for method in METHODS if "estimator" in method.get_params()]
every_method = pytest.mark.parametrize("method", METHODS, ids=repr)
every_method_with_base = pytest.mark.parametrize("method", WITH_BASE, ids=repr)


@pytest.fixture
def seed():
    return int(new_rng().integers(2**31 - 1))


@pytest.fixture
def data(seed):
    X, Y = make_multilabel_classification(120, 8, n_classes=5, n_labels=2, random_state=seed)
    return X - X.mean(axis=0), Y


def scores(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([*METHODS, BinaryRelevance(EXACT_SVC), LabelPowerset(EXACT_SVC)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@every_method
def test_row_order_of_the_test_set_does_not_matter(method, data, seed):
    X, Y = data
    model = clone(method).set_params(random_state=seed).fit(X[:80], Y[:80])
    order = np.random.default_rng(seed).permutation(40)
    np.testing.assert_array_equal(model.predict(X[80:])[order], model.predict(X[80:][order]))
    np.testing.assert_allclose(scores(model, X[80:])[order], scores(model, X[80:][order]), atol=1e-12)


@pytest.mark.parametrize(
    "method",
    [
        BinaryRelevance(GaussianNB()),
        LabelPowerset(GaussianNB()),
        RAkEL(GaussianNB(), n_estimators=10),  # all sets of three labels of five
        AdaBoostMH(20),
        AdaBoostMH(20, algorithm="discrete"),
        MLCSSP(GaussianNB(), n_labels=5),
        HOMER(GaussianNB(), n_clusters=5),
    ],
    ids=repr,
)
def test_permuted_labels_permute_the_answers(method, data, seed):
    X, Y = data
    order = np.random.default_rng(seed).permutation(5)
    model, permuted = clone(method).fit(X, Y), clone(method).fit(X, Y[:, order])
    np.testing.assert_allclose(scores(permuted, X), scores(model, X)[:, order], atol=1e-9)
    clear = np.abs(scores(model, X) - (0.5 if hasattr(model, "predict_proba") else 0.0)) > 1e-6
    same = permuted.predict(X) == model.predict(X)[:, order]
    assert same[clear[:, order]].all()


@every_method
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array])
def test_sparse_X_is_the_same_as_dense(method, form, data, seed):
    X, Y = data
    X = np.where(np.abs(X) < 2, 0.0, X) / 5
    method = clone(method).set_params(random_state=seed)
    if "estimator" in method.get_params():
        method.set_params(estimator=LogisticRegression(C=0.1, tol=1e-9, max_iter=10_000))  # to the optimum
    dense, sparse = clone(method).fit(X, Y), clone(method).fit(form(X), Y)
    np.testing.assert_allclose(scores(sparse, form(X)), scores(dense, X), atol=1e-4)


@every_method
def test_labels_of_one_class_have_that_answer(method, data, seed):
    X, Y = data
    Y = Y.copy()
    Y[:, 1], Y[:, 3] = 1, 0
    model = clone(method).set_params(random_state=seed).fit(X, Y)
    assert (model.predict(X)[:, [1, 3]] == [1, 0]).all()
    assert np.isfinite(scores(model, X)).all()
    constant = clone(method).fit(X, np.tile([0, 1, 0], (120, 1)))
    assert (constant.predict(X) == [0, 1, 0]).all()


@every_method
def test_is_of_use(method, seed):
    X, Y = make_multilabel_classification(600, 20, n_classes=5, random_state=seed)
    X = StandardScaler().fit_transform(X)
    model = clone(method).set_params(random_state=seed).fit(X[:400], Y[:400])
    assert roc_auc_score(Y[400:], scores(model, X[400:])) > 0.6


@every_method
def test_the_seed_is_all_that_is_random(method, data, seed):
    if "estimator" in method.get_params():
        method = clone(method).set_params(estimator=DecisionTreeClassifier(max_features=2))
    X, Y = data
    with parallel_config("threading"):
        one, other = (clone(method).set_params(random_state=seed, n_jobs=jobs).fit(X, Y) for jobs in (None, 2))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(scores(one, X), scores(other, X))


@every_method
def test_takes_classes(method, seed):
    X, y = make_classification(150, n_informative=6, n_classes=3, class_sep=2.0, random_state=seed)
    names = np.array(["red", "green", "blue"])[y]
    model = clone(method).set_params(random_state=seed).fit(X, names)
    assert model.classes_.tolist() == ["blue", "green", "red"]
    assert (model.predict(X) == names).mean() > 0.5
    binary = clone(method).set_params(random_state=seed).fit(X, names == "red")
    assert binary.predict(X).dtype == bool
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        assert binary.predict_proba(X).shape == (150, 2)
    else:
        assert model.decision_function(X).shape == (150, 3)
        assert binary.decision_function(X).shape == (150,)


@every_method
def test_takes_frames_and_pipelines(method, data):
    X, Y = data
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    labels = pd.DataFrame(Y, columns=list("abcde"))
    model = clone(method).fit(frame, labels)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert make_pipeline(StandardScaler(), clone(method)).fit(X, Y).predict(X).shape == Y.shape


@every_method
def test_missing_labels_are_refused(method, data):
    X, Y = data
    Y = Y.astype(float)
    Y[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"y must have no missing labels: .* got NaN in row 7, column 2"):
        clone(method).fit(X, Y)
    Y[7, 2] = 2
    with pytest.raises(ValueError, match="must hold 0 and 1"):
        clone(method).fit(X, Y)


@every_method_with_base
def test_a_base_without_probabilities_will_do(method, data, seed):
    X, Y = data
    model = clone(method).set_params(estimator=LinearSVC(), random_state=seed).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert not hasattr(model, "predict_proba")
    if isinstance(model, LabelPowerset | HOMER):
        with pytest.raises(AttributeError) as caught:
            model.predict_proba  # noqa: B018
        assert "has no predict_proba: its base estimator LinearSVC() has none." in str(caught.value.__cause__)
    else:
        assert model.decision_function(X).shape == Y.shape
        assert ((model.decision_function(X) > 0) == model.predict(X)).all()


@every_method_with_base
def test_missing_features_are_left_to_the_base(method, data):
    X, Y = data
    X = np.where(new_rng().random(X.shape) < 0.1, np.nan, X)
    model = clone(method).set_params(estimator=HistGradientBoostingClassifier(max_iter=2))
    if isinstance(method, EnsembleOfClassifierChains):  # scikit-learn's ClassifierChain does not
        with pytest.raises(ValueError, match="Input X contains NaN"):
            model.fit(X, Y)
    else:
        assert model.fit(X, Y).predict(X).shape == Y.shape
    with pytest.raises(ValueError, match="Input X contains NaN"):
        clone(method).fit(X, Y)


def test_seeded_leaves_alone_what_is_set():
    rng = np.random.RandomState(0)
    base = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    assert isinstance(seeded(base, rng)[-1].random_state, int)
    assert base[-1].random_state is None
    assert seeded(BinaryRelevance(DecisionTreeClassifier(random_state=7)), rng).estimator.random_state == 7


@pytest.mark.parametrize("answer", [0, 1])
def test_one_class(answer):
    model = OneClassTolerant(LogisticRegression()).fit(np.eye(3), np.full(3, answer))
    assert model.predict(np.eye(3)).tolist() == [answer] * 3
    assert model.predict_proba(np.eye(3))[:, 1].tolist() == [answer] * 3
    assert (model.decision_function(np.eye(3)) > 0).tolist() == [answer == 1] * 3
    assert not hasattr(OneClassTolerant(LinearSVC()), "predict_proba")


def test_a_base_that_takes_no_weights_is_named(data):
    X, Y = data
    for method in (BinaryRelevance(KNeighborsClassifier()), HOMER(KNeighborsClassifier())):
        with pytest.raises(ValueError, match="estimator must take sample_weight in its fit where rows have weights"):
            method.fit(X, Y, sample_weight=np.arange(len(X)))


@pytest.mark.filterwarnings("ignore")
@every_method
def test_weights_are_repetition(method, data, seed):
    """Of several labels a row, to the tolerance of the base."""
    X, Y = data
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, len(X))
    weights[:40] = 1
    rows = rng.permutation(np.repeat(np.arange(len(X)), weights))
    if "estimator" in method.get_params():
        method = clone(method).set_params(estimator=LogisticRegression(tol=1e-10, max_iter=5000))
    method = clone(method).set_params(random_state=seed)
    weighted = clone(method).fit(X, Y, sample_weight=weights)
    repeated = clone(method).fit(X[rows], Y[rows])
    np.testing.assert_allclose(scores(weighted, X), scores(repeated, X), atol=1e-4)
