"""Models that start from given scores."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier, SMTLClassifierCV
from smtl.metrics import get_metric
from smtl.penalties import get_penalty
from tests.seeds import new_rng


@pytest.fixture
def data():
    rng = new_rng()
    X = rng.standard_normal((150, 4))
    Y = (X @ rng.standard_normal((4, 3)) + rng.standard_normal((150, 3)) > 0.4).astype(int)
    return X, Y, rng.standard_normal((150, 3))


def objective(model, X, Y, offset):
    scores = model.decision_function(X, offset=offset) + model.thresholds_
    total = get_penalty(model.penalty).value(model.coef_)
    for y, s in zip(np.where(Y > 0, 1, -1).T, scores.reshape(len(scores), -1).T, strict=True):
        delta, c = get_metric(model.metric).oracle(s, y)
        total += model.C_ * (delta - s @ c)
    return total


@pytest.mark.parametrize("metric", ["f1", "auc", "log"])
def test_the_objective_is_that_of_offset_plus_model(data, metric):
    X, Y, offset = data
    model = SMTLClassifier(metric, "trace", C=5.0, threshold=0.0, tol=1e-6).fit(X, Y, offset=offset)
    assert objective(model, X, Y, offset) == pytest.approx(model.objective_, rel=1e-9)
    alone = SMTLClassifier(metric, "trace", C=5.0, threshold=0.0, tol=1e-6).fit(X, Y)
    assert objective(alone, X, Y, offset) > model.objective_


def test_no_offset_is_an_offset_of_zero(data):
    X, Y, offset = data
    zero, none = (SMTLClassifier(tol=1e-6).fit(X, Y, offset=o) for o in (0.0 * offset, None))
    np.testing.assert_array_equal(zero.coef_, none.coef_)
    np.testing.assert_array_equal(zero.predict(X, offset=0.0 * offset), none.predict(X))


def test_a_constant_offset_is_taken_up_by_the_intercept(data):
    X, Y, _ = data
    moved, plain = (
        SMTLClassifier("log", C=1.0, tol=1e-8, threshold=0.0).fit(X, Y, offset=o) for o in (np.full(Y.shape, 2.0), None)
    )
    assert moved.objective_ == pytest.approx(plain.objective_, rel=2e-8)
    # An objective that is right to 1e-8 makes weights that are right to about its root.
    np.testing.assert_allclose(moved.coef_, plain.coef_, atol=1e-2)
    np.testing.assert_allclose(moved.intercept_ + 2.0, plain.intercept_, atol=1e-2)


def test_the_scores_of_logistic_regression_leave_nothing_to_correct(data):
    """Started from the optimum of the same problem without a penalty, any penalty holds the weights at zero."""
    X, Y, _ = data
    peer = LogisticRegression(C=1e8, tol=1e-10, max_iter=10_000).fit(X, Y[:, 0])
    model = SMTLClassifier("log", "l21", C=1e-2, threshold=0.0, tol=1e-6)
    with pytest.warns(UserWarning, match="all weights zero"):
        model.fit(X, Y[:, 0], offset=peer.decision_function(X))
    assert np.abs(model.coef_).max() < 1e-6
    np.testing.assert_allclose(
        model.predict_proba(X, offset=peer.decision_function(X)), peer.predict_proba(X), atol=1e-4
    )


def test_scores_answers_and_probabilities_take_it(data):
    X, Y, offset = data
    model = SMTLClassifier("log").fit(X, Y, offset=offset)
    correction = model.decision_function(X, offset=np.zeros_like(offset))
    scores = model.decision_function(X, offset=offset)
    np.testing.assert_allclose(scores, correction + offset)
    np.testing.assert_array_equal(model.predict(X, offset=offset), scores > 0)
    np.testing.assert_allclose(model.predict_proba(X, offset=offset), 1 / (1 + np.exp(-scores - model.thresholds_)))
    y = np.where(Y > 0, 1, -1)
    expected = np.mean([get_metric("log").score(y[:, i], (scores + model.thresholds_)[:, i]) for i in range(3)])
    assert model.score(X, Y, offset=offset) == pytest.approx(expected)


def test_a_forgotten_offset_is_told(data):
    X, Y, offset = data
    model = SMTLClassifier().fit(X, Y, offset=offset)
    with pytest.warns(UserWarning, match="fitted with an offset and none is given"):
        model.predict(X)


@pytest.mark.parametrize("wrong", ["shape", "nan", "rows"])
def test_an_offset_that_does_not_fit_is_refused(data, wrong):
    X, Y, offset = data
    bad = {"shape": offset[:, :2], "nan": np.where(offset > 1, np.nan, offset), "rows": offset[:-1]}[wrong]
    with pytest.raises(ValueError, match=r"offset must be finite scores of shape \(150, 3\)"):
        SMTLClassifier().fit(X, Y, offset=bad)
    model = SMTLClassifier().fit(X, Y, offset=offset)
    with pytest.raises(ValueError, match=r"offset must be finite scores of shape \(150, 3\)"):
        model.predict(X, offset=bad)


def test_own_rows_in_any_order(data):
    X, Y, offset = data
    rng = new_rng()
    y, o, site = Y[:, 0], offset[:, 0], np.tile(["a", "b", "c"], 50)
    first = SMTLClassifier("f1", "trace", tol=1e-7).fit(X, y, tasks=site, offset=o)
    order = rng.permutation(150)
    second = SMTLClassifier("f1", "trace", tol=1e-7).fit(X[order], y[order], tasks=site[order], offset=o[order])
    assert second.objective_ == pytest.approx(first.objective_, rel=1e-6)
    np.testing.assert_allclose(
        first.decision_function(X, tasks=site, offset=o) - first.decision_function(X, tasks=site, offset=0 * o), o
    )


def test_one_class_tasks_and_missing_labels_and_several_classes(data):
    X, Y, offset = data
    Y = Y.astype(float)
    Y[::7, 1] = np.nan
    Y[:, 2] = 1.0
    with pytest.warns(UserWarning, match="only one class"):
        model = SMTLClassifier("f1", tol=1e-6, C=3.0).fit(X, Y, offset=offset)
    rest = SMTLClassifier("f1", tol=1e-6, C=3.0).fit(X, Y[:, :2], offset=offset[:, :2])
    assert model.objective_ == pytest.approx(rest.objective_, rel=1e-6)
    classes = np.argmax(offset + 0.1 * new_rng().standard_normal(offset.shape), axis=1)
    several = SMTLClassifier("log").fit(X, classes, offset=offset)
    assert np.mean(several.predict(X, offset=offset) == classes) > 0.8


def test_cuts_are_chosen_on_scores_with_the_offset(data):
    """The ranking is in the offset: a cut chosen without it would be nowhere near."""
    X, _, offset = data
    Y = (offset > 1.0).astype(int)
    model = SMTLClassifier("auc").fit(X, Y, offset=10.0 * offset + 100.0)
    assert np.mean(model.predict(X, offset=10.0 * offset + 100.0) == Y) > 0.9


@pytest.mark.parametrize("metric", ["auc", "log"])
def test_cross_validation_takes_it(data, metric):
    X, Y, offset = data
    Y = (2.0 * offset + X[:, :3] + 0.5 * new_rng().standard_normal(Y.shape) > 0.5).astype(int)
    model = SMTLClassifierCV(metric, "l21", Cs=5, cv=3, scoring="auc").fit(X, Y, offset=2.0 * offset)
    alone = SMTLClassifierCV(metric, "l21", Cs=5, cv=3, scoring="auc").fit(X, Y)
    assert model.scores_.mean() > alone.scores_.mean()
    expected = roc_auc_score(Y, model.decision_function(X, offset=2.0 * offset))
    assert model.score(X, Y, offset=2.0 * offset) == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"scoring must be .* where an offset is given"):
        SMTLClassifierCV(metric, "l21", scoring="accuracy").fit(X, Y, offset=offset)


def test_metadata_routing(data):
    X, Y, offset = data
    with sklearn.config_context(enable_metadata_routing=True):
        model = SMTLClassifier("log").set_fit_request(offset=True).set_score_request(offset=True)
        model.set_decision_function_request(offset=True).set_predict_request(offset=True)
        pipeline = make_pipeline(StandardScaler(), model).fit(X, Y, offset=offset)
        by_hand = SMTLClassifier("log").fit(StandardScaler().fit_transform(X), Y, offset=offset)
        np.testing.assert_allclose(pipeline[-1].coef_, by_hand.coef_)
        np.testing.assert_array_equal(
            pipeline.predict(X, offset=offset), by_hand.predict(StandardScaler().fit_transform(X), offset=offset)
        )
        result = cross_validate(model, X, Y, params={"offset": offset}, cv=3, error_score="raise")
    assert np.isfinite(result["test_score"]).all()
