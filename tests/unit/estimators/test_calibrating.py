"""Probabilities of any scores, against scikit-learn's curves and steps, and of models that have none by themselves."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from smtl import SMTLClassifier, SMTLClassifierCV, calibrate, load_model, save_model
from smtl.model.scores import probabilities_of, task_scores
from tests.seeds import new_rng

pytestmark = pytest.mark.filterwarnings("ignore:Task")


def draw(n=400, m=3):
    rng = new_rng()
    X = rng.standard_normal((n, 6))
    chance = expit(1.5 * X @ rng.standard_normal((6, m)) + rng.normal(-0.5, 0.5, m))
    return X, (rng.random((n, m)) < chance).astype(int), chance


def platts_labels(y):
    n_pos, n_neg = y.sum(), (1 - y).sum()
    return np.where(y > 0, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))


def platts_curve(s, y):
    """The greatest likelihood of soft labels: each row twice, as yes and as no, with weights."""
    soft, rows = platts_labels(y), np.concatenate([s, s])[:, None]
    model = LogisticRegression(C=1e12, tol=1e-10, max_iter=10000)
    return model.fit(rows, np.repeat([1, 0], len(s)), sample_weight=np.concatenate([soft, 1 - soft]))


def test_one_label_has_platts_curve():
    rng = new_rng()
    s = rng.normal(scale=3.0, size=300)
    y = (rng.random(300) < expit(0.7 * s - 1)).astype(int)
    found, new = calibrate(s, y), rng.normal(scale=3.0, size=50)
    np.testing.assert_allclose(found(new), platts_curve(s, y).predict_proba(new[:, None]), atol=1e-4)


def test_one_label_has_the_steps_of_isotonic_regression_drawn_to_the_curve():
    rng = new_rng()
    s = rng.normal(size=300).round(1)
    y = (rng.random(300) < expit(2 * s)).astype(int)
    new, trust = rng.normal(size=50), min(y.sum(), (1 - y).sum())
    trust /= trust + 100.0
    steps = IsotonicRegression(out_of_bounds="clip").fit(s, platts_labels(y)).predict(new)
    expected = trust * steps + (1 - trust) * platts_curve(s, y).predict_proba(new[:, None])[:, 1]
    np.testing.assert_allclose(calibrate(s, y, method="isotonic")(new)[:, 1], expected, atol=1e-4)


@pytest.mark.parametrize("method", ["logistic", "isotonic"])
def test_rare_labels_are_drawn_to_the_others(method):
    """A label of four rows whose scores are the wrong way round has no falling curve, nor one that is sure."""
    rng = new_rng()
    s = rng.normal(size=(500, 4))
    Y = (rng.random((500, 4)) < expit(2 * s)).astype(int)
    s[:, 3], Y[:, 3] = np.arange(500), np.arange(500) < 4
    p = calibrate(s, Y, method=method)(s)[:, 3]
    assert np.all(np.diff(p) >= -1e-12)
    assert p.max() < 0.1


@pytest.mark.parametrize("method", ["logistic", "isotonic"])
@pytest.mark.parametrize("metric", ["auc", "f1"])
def test_models_without_probabilities_have_them(metric, method):
    X, Y, chance = draw(1500)
    model = SMTLClassifier(metric, "ridge", calibration=method).fit(X[:800], Y[:800])
    rest, p = Y[800:], model.predict_proba(X[800:])
    assert p.shape == rest.shape
    for i in range(3):
        share = np.full(len(rest), Y[:800, i].mean())
        assert log_loss(rest[:, i], p[:, i]) < log_loss(rest[:, i], share) - 0.02
    assert np.abs(p - chance[800:]).mean() < 0.12
    scores = model.decision_function(X[800:])
    order = np.argsort(scores, axis=0)
    assert np.all(np.diff(np.take_along_axis(p, order, axis=0), axis=0) >= -1e-12)
    assert not hasattr(SMTLClassifier(metric).fit(X[:100], Y[:100]), "predict_proba")


def test_cross_validation_calibrates_by_the_scores_that_it_has():
    X, Y, _ = draw()
    plain = SMTLClassifierCV("auc", Cs=3, cv=3, threshold="smoothed").fit(X, Y)
    model = SMTLClassifierCV("auc", Cs=3, cv=3, threshold="smoothed", calibration="logistic").fit(X, Y)
    np.testing.assert_array_equal(plain.predict(X), model.predict(X))
    p = model.predict_proba(X)
    assert np.abs(p.mean(axis=0) - Y.mean(axis=0)).max() < 0.1  # on the training rows, roughly
    no_refit = SMTLClassifierCV("auc", Cs=3, cv=3, refit=False, calibration="isotonic").fit(X, Y)
    assert np.abs(no_refit.predict_proba(X).mean(axis=0) - Y.mean(axis=0)).max() < 0.1


def test_shapes_for_all_kinds_of_targets(tmp_path: Path):
    X, Y, _ = draw(200)
    model = SMTLClassifier("auc", calibration="isotonic").fit(X, Y[:, 0])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert np.corrcoef(model.predict_proba(X)[:, 1], model.decision_function(X))[0, 1] > 0.5
    model = SMTLClassifier("f1", calibration="logistic").fit(*load_iris(return_X_y=True))
    assert model.predict_proba(load_iris().data).shape == (150, 3)
    np.testing.assert_allclose(model.predict_proba(load_iris().data).sum(axis=1), 1.0)
    site = np.repeat(["north", "south"], 100)
    model = SMTLClassifier("auc", calibration="isotonic").fit(X, Y[:, 0], tasks=site)
    p = model.predict_proba(X, tasks=site)
    assert p.shape == (200, 2)
    np.testing.assert_allclose(p[:100, 1], model.predict_proba(X)[:100, 0])
    constant = np.column_stack([Y, np.zeros(200, dtype=int)])
    model = SMTLClassifierCV("auc", Cs=2, cv=3, calibration="logistic").fit(X, constant)
    assert np.all(model.predict_proba(X)[:, 3] < 0.01)
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_allclose(probabilities_of(model, task_scores(model, X)), model.predict_proba(X))


def test_labels_that_are_missing_or_in_other_forms():
    rng = new_rng()
    s = rng.normal(size=(200, 2))
    Y = (rng.random((200, 2)) < expit(s)).astype(float)
    holes = np.where(rng.random((200, 2)) < 0.3, np.nan, Y)
    known = ~np.isnan(holes[:, 0])
    np.testing.assert_allclose(
        calibrate(s[:, 0], holes[:, 0])(s[:, 0]), calibrate(s[known, 0], Y[known, 0])(s[:, 0]), atol=1e-6
    )
    site = np.where(rng.random(200) < 0.5, "a", "b")
    found = calibrate(s[:, 0], Y[:, 0], tasks=site)
    assert found(s[:, 0], tasks=site).shape == (200, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: calibrate([1.0, 2.0], [0, 1], method="platt"), "calibration must be 'logistic', 'isotonic' or None"),
        (lambda: calibrate([1.0, np.nan], [0, 1]), "scores must be finite numbers of shape"),
        (lambda: calibrate([1.0, 2.0], [[0, 1], [1, 0]]), "scores must be finite numbers of shape"),
        (lambda: calibrate(np.eye(2), np.eye(2))(np.ones((2, 3))), "scores must have a column a task"),
        (lambda: SMTLClassifier(calibration=True).fit(np.eye(2), [0, 1]), "calibration must be 'logistic'"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
