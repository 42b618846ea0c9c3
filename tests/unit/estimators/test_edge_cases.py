"""What goes wrong in practice, and what then happens."""

import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from smtl import SMTLClassifier
from smtl.metrics import ContingencyMetric
from tests.seeds import new_rng


@pytest.fixture
def data():
    rng = new_rng()
    X = rng.standard_normal((80, 6))
    Y = (X @ rng.standard_normal((6, 3)) + rng.standard_normal((80, 3)) > 0.5).astype(int)
    Y[:2], Y[2:4] = 0, 1
    return X, Y


@pytest.mark.parametrize("metric", ["f1", "auc", "error", "log"])
@pytest.mark.parametrize("value", [0, 1])
def test_a_task_with_one_class_is_constant(data, metric, value):
    X, Y = data
    with_constant = np.insert(Y, 1, value, axis=1)
    with pytest.warns(UserWarning, match=r"Task 1 has only one class \(or no label\) in the training data"):
        model = SMTLClassifier(metric, C=0.3, tol=1e-6).fit(X, with_constant)
    np.testing.assert_array_equal(model.predict(X)[:, 1], value)
    np.testing.assert_array_equal(model.coef_[1], 0.0)
    others = SMTLClassifier(metric, C=0.3, tol=1e-6).fit(X, Y)
    np.testing.assert_array_equal(model.coef_[[0, 2, 3]], others.coef_)
    assert model.objective_ == others.objective_


def test_a_task_without_labels_is_constant(data):
    X, Y = data
    labels = np.insert(Y.astype(float), 0, np.nan, axis=1)
    with pytest.warns(UserWarning, match="Task 0 has only one class"):
        model = SMTLClassifier().fit(X, labels)
    np.testing.assert_array_equal(model.predict(X)[:, 0], 0)
    assert 0 < model.predict(X)[:, 1:].mean() < 1


def test_all_tasks_constant(data):
    X, _ = data
    with pytest.warns(UserWarning, match=r"Tasks 0, 1 \(2 in all\) have only one class"):
        model = SMTLClassifier().fit(X, np.tile([0, 1], (80, 1)))
    np.testing.assert_array_equal(model.predict(X), np.tile([0, 1], (80, 1)))
    assert model.gap_ == 0.0


@pytest.mark.parametrize("metric", ["f1", "auc", "auc-labelling", "error", "log", "gmean"])
def test_one_positive(metric):
    rng = new_rng()
    X = rng.standard_normal((30, 3))
    X[7] = [4.0, 4.0, 4.0]
    y = np.zeros(30, dtype=int)
    y[7] = 1
    model = SMTLClassifier(metric, C=10.0, threshold=0.0).fit(X, y)
    assert model.gap_ <= 1e-3
    assert model.decision_function(X).argmax() == 7


def test_duplicate_rows_count_twice(data):
    """Error and log loss are sums: a row given twice weighs twice."""
    X, Y = data
    twice = SMTLClassifier("log", C=0.1, tol=1e-6).fit(np.vstack([X, X]), np.vstack([Y, Y]))
    once = SMTLClassifier("log", C=0.2, tol=1e-6).fit(X, Y)
    assert twice.objective_ == pytest.approx(once.objective_, rel=2e-6)
    # AUC is a mean over pairs: duplicates change nothing.
    twice = SMTLClassifier("auc", C=3.0, tol=1e-6).fit(np.vstack([X, X]), np.vstack([Y, Y]))
    once = SMTLClassifier("auc", C=3.0, tol=1e-6).fit(X, Y)
    assert twice.objective_ == pytest.approx(once.objective_, rel=2e-6)


@pytest.mark.parametrize("metric", ["f1", "auc", "log"])
def test_a_constant_feature_gets_no_weight(data, metric):
    X, Y = data
    plain = SMTLClassifier(metric, tol=1e-6, C=0.3).fit(X, Y)
    padded = SMTLClassifier(metric, tol=1e-6, C=0.3).fit(np.column_stack([X, np.full(80, 3.0)]), Y)
    assert padded.objective_ == pytest.approx(plain.objective_, rel=2e-6)
    assert np.abs(padded.coef_[:, -1]).max() < 1e-3


def test_only_constant_features(data):
    _, Y = data
    with pytest.warns(UserWarning, match="all weights zero"):
        model = SMTLClassifier("auc").fit(np.ones((80, 2)), Y)
    assert model.gap_ <= 1e-3
    assert len(model.null_tasks_) == 3


@pytest.mark.parametrize("penalty", ["l11", "l21", "trace", "ridge"])
def test_more_features_than_rows(penalty):
    rng = new_rng()
    X = rng.standard_normal((25, 300))
    Y = (X[:, :2] > 0).astype(int)
    Y[:2], Y[2:4] = 0, 1
    model = SMTLClassifier("auc", penalty, C=100.0, tol=1e-2).fit(X, Y)
    assert model.gap_ <= 1e-2
    assert model.score(X, Y) == 1.0  # so many features separate any labels


def test_trust_in_the_planes_has_its_limits():
    """Here the level method once held on to its centre ever less, and swung around the optimum for 5000 passes."""
    rng = np.random.default_rng(2053)
    X = rng.standard_normal((25, 300))
    Y = (X[:, :2] > 0).astype(int)
    Y[:2], Y[2:4] = 0, 1
    assert SMTLClassifier("auc", "l11", C=100.0, tol=1e-2, max_iter=1000).fit(X, Y).gap_ <= 1e-2


@pytest.mark.parametrize("metric", ["f1", "auc"])
def test_200_tasks(metric):
    rng = new_rng()
    X = rng.standard_normal((60, 5))
    Y = (X @ rng.standard_normal((5, 200)) + rng.standard_normal((60, 200)) > 0.7).astype(int)
    Y[:2], Y[2:4] = 0, 1
    model = SMTLClassifier(metric, tol=1e-2).fit(X, Y)
    assert model.coef_.shape == (200, 5)
    assert model.gap_ <= 1e-2


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("metric", ["f1", "auc"])
def test_huge_and_tiny_features(data, scale, metric):
    """The scale of all features together is only a matter of units; C="auto" goes with it."""
    X, Y = data
    one, other = SMTLClassifier(metric, tol=1e-5).fit(X, Y), SMTLClassifier(metric, tol=1e-5).fit(X * scale, Y)
    assert other.gap_ <= 1e-5
    np.testing.assert_allclose(other.coef_ * scale, one.coef_, atol=0.05 * np.abs(one.coef_).max())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_features_on_different_scales(data):
    X, Y = data
    model = SMTLClassifier("auc", tol=1e-2).fit(X * 10.0 ** np.arange(-3, 3), Y)
    assert np.all(np.isfinite(model.coef_))
    assert model.dual_bound_ <= model.objective_


@pytest.mark.parametrize("metric", ["f1", "auc"])
@pytest.mark.parametrize("penalty", ["l11", "l21", "trace"])
def test_null_tasks_are_reported(data, metric, penalty):
    X, Y = data
    with pytest.warns(
        UserWarning, match=r"Tasks 0, 1, 2 \(3 in all\) have all weights zero at C=1e-06, to within a gap of"
    ):
        model = SMTLClassifier(metric, penalty, C=1e-6).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert model.null_tasks_.tolist() == [0, 1, 2]
    assert model.gap_ <= 1e-3


def test_nan_and_infinity_in_X(data):
    X, Y = data
    for value, word in [(np.nan, "NaN"), (np.inf, "infinity")]:
        bad = X.copy()
        bad[3, 2] = value
        with pytest.raises(ValueError, match=word):
            SMTLClassifier().fit(bad, Y)
        with pytest.raises(ValueError, match=word):
            SMTLClassifier().fit(sp.csr_array(bad), Y)
        with pytest.raises(ValueError, match=word):
            SMTLClassifier().fit(X, Y).predict(bad)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, Y: (X, Y[:-1]), "inconsistent numbers of samples"),
        (lambda X, Y: (X[:, 0], Y), "Expected 2D array, got 1D array"),
        (lambda X, Y: (X * 1e120, Y), "X must have its largest absolute value between 1e-100 and 1e+100, got"),
        (lambda X, Y: (X * 1e-120, Y), "X must have its largest absolute value between 1e-100 and 1e+100, got"),
        (lambda X, Y: (X.astype("f4") * np.float32(1e35), Y), "between 1e-30 and 1e+30, got"),
        (lambda X, Y: (X, Y * 2), "Y of shape (80, 3) must hold 0 and 1 (NaN: not labelled), got"),
        (lambda X, Y: (X, np.where(Y == 1, "a", "b")), "must hold 0 and 1"),
        (lambda X, Y: (X, X[:, 0]), "Unknown label type"),
        (lambda X, Y: (X, np.full(80, np.nan)), "y must have at least one label, got only NaN instead."),
        (lambda X, Y: (X, None), "requires y to be passed"),
        (lambda X, Y: (X, np.where(Y[:, 0] == 1, np.inf, 0.0)), "contains infinity"),
        (lambda X, Y: (X, Y, np.arange(80)), "y must have shape (n_samples,) where tasks is given, got shape (80, 3)"),
        (lambda X, Y: (X, Y[:, 0], np.arange(79)), "inconsistent numbers of samples"),
        (lambda X, Y: (X, Y.sum(axis=1) + 10, np.zeros(80)), "y must have two classes where tasks is given, got"),
    ],
)
def test_wrong_data(data, change, message):
    X, Y = data
    Y[:4] = [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]
    with pytest.raises(ValueError, match=re.escape(message)):
        SMTLClassifier().fit(*change(X, Y))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"metric": "f3"}, "metric must be one of 'ap', 'auc', 'auc-labelling', 'balanced-error', 'error'"),
        ({"metric": 3}, "or an instance of smtl.metrics.Metric, got 3 instead."),
        ({"penalty": "l12"}, "penalty must be one of 'l11', 'l21', 'ridge', 'trace'"),
        ({"solver": "newton"}, "solver must be one of 'auto', 'bundle', 'cutting-plane', 'paper', got 'newton'"),
        ({"C": 0.0}, "C must be a positive number or 'auto', got 0.0 instead."),
        ({"C": "large"}, "C must be a positive number or 'auto', got 'large' instead."),
        ({"C": np.nan}, "C must be a positive number or 'auto', got nan instead."),
        ({"ridge": -1.0}, "ridge must be a finite number >= 0, got -1.0 instead."),
        ({"threshold": "best"}, "'recall>=0.9', 'top-2' or a number, got 'best' instead."),
        ({"tol": 0.0}, "tol must be a positive number, got 0.0 instead."),
        ({"max_iter": 0}, "max_iter must be a positive integer, got 0 instead."),
    ],
)
def test_wrong_parameters(data, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SMTLClassifier(**parameters).fit(*data)


def test_tasks_at_predict_time(data):
    X, Y = data
    plain = SMTLClassifier("auc").fit(X, Y)
    with pytest.raises(ValueError, match="tasks must be None for a model that was fitted without tasks"):
        plain.predict(X, tasks=np.zeros(80))
    model = SMTLClassifier("auc").fit(X, Y[:, 0], tasks=np.arange(80) % 2)
    with pytest.raises(ValueError, match=r"tasks must be among the 2 tasks of the training data, got .*7.* instead"):
        model.predict(X, tasks=np.full(80, 7))
    with pytest.raises(ValueError, match=r"tasks must have one entry a row of X \(80\), got 79 instead"):
        model.predict(X, tasks=np.zeros(79))
    with pytest.raises(ValueError, match="tasks must be given to score a model that was fitted with tasks"):
        model.score(X, Y[:, 0])


def test_not_fitted(data):
    with pytest.raises(NotFittedError):
        SMTLClassifier().predict(data[0])


def test_a_metric_that_is_not_defined_on_the_data(data):
    class Lift(ContingencyMetric):
        def delta(self, tp, fp, fn, tn):
            return 1.0 - tp / (tp + fp)

    with pytest.raises(ValueError, match=r"Lift\(\) is not defined on a task of .* delta\(tp=0, fp=0"):
        SMTLClassifier(Lift()).fit(*data)


def test_non_convergence_warns(data):
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 iterations at a certified relative gap of 0\.\d+"):
        model = SMTLClassifier("f1", max_iter=2, tol=1e-8).fit(*data)
    assert model.gap_ > 1e-8
    assert model.n_iter_ == 2


@pytest.mark.parametrize("metric", ["f1", "auc"])
def test_memory_beyond_X(metric):
    rng = new_rng()
    X = rng.standard_normal((200_000, 100))
    Y = (X[:, :10] + rng.standard_normal((200_000, 10)) > 1.5).astype(np.int8)
    SMTLClassifier(metric, max_iter=2, tol=0.9).fit(X[:100], Y[:100])  # compile first
    tracemalloc.start()
    try:
        with pytest.warns(ConvergenceWarning):
            SMTLClassifier(metric, max_iter=4, tol=1e-6, threshold=0.0).fit(X, Y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= 1.6 * X.nbytes


def test_memory_of_sparse_data():
    rng = new_rng()
    columns = rng.integers(0, 5_000, 200_000)
    X = sp.csr_array((rng.random(200_000), columns, np.arange(0, 200_001, 10)), shape=(20_000, 5_000))
    Y = (rng.random((20_000, 3)) < 0.2).astype(np.int8)
    tracemalloc.start()
    try:
        with pytest.warns(ConvergenceWarning):
            SMTLClassifier("auc", max_iter=3, tol=1e-6).fit(X, Y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.1 * 8 * X.shape[0] * X.shape[1]
