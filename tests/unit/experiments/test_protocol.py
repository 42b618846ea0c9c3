"""Splits, scaling and measures, against scikit-learn on the same arrays."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import metrics
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from smtl import SMTLClassifier
from smtl.experiments.imbalance import imbalanced, parse_ratio
from smtl.experiments.protocol import TaskFolds, mean_f1, measures, scores_of, seed_of, split
from tests.seeds import new_rng


@pytest.fixture
def data():
    rng = new_rng()
    X = rng.normal(size=(120, 6))
    Y = (X @ rng.normal(size=(6, 4)) + rng.normal(size=(120, 4)) > 0.8).astype(int)
    Y[:3] = 1  # every task has both classes
    Y[3:6] = 0
    return X, Y


def test_measures_are_those_of_scikit_learn(data):
    _, Y = data
    scores = new_rng().normal(size=Y.shape)
    answers = (scores > 0).astype(int)
    got = measures(Y, scores, answers)
    assert got["macro_f1"] == pytest.approx(metrics.f1_score(Y, answers, average="macro", zero_division=0))
    assert got["micro_f1"] == pytest.approx(metrics.f1_score(Y, answers, average="micro"))
    assert got["auc"] == pytest.approx(metrics.roc_auc_score(Y, scores, average="macro"))
    assert got["average_precision"] == pytest.approx(metrics.average_precision_score(Y, scores, average="macro"))
    assert got["hamming_loss"] == pytest.approx(metrics.hamming_loss(Y, answers))
    assert got["subset_accuracy"] == pytest.approx(metrics.accuracy_score(Y, answers))


def test_measures_leave_out_what_is_not_known(data):
    _, Y = data
    rng = new_rng()
    scores = rng.normal(size=Y.shape)
    answers = (scores > 0).astype(int)
    hidden = rng.random(Y.shape) < 0.3
    hidden[:6] = False
    some = np.where(hidden, np.nan, Y)
    tasks = [(Y[~h, i], answers[~h, i], scores[~h, i]) for i, h in enumerate(hidden.T)]
    got = measures(some, scores, answers)
    assert got["macro_f1"] == pytest.approx(np.mean([metrics.f1_score(y, a, zero_division=0) for y, a, _ in tasks]))
    assert got["auc"] == pytest.approx(np.mean([metrics.roc_auc_score(y, s) for y, _, s in tasks]))
    assert got["micro_f1"] == pytest.approx(metrics.f1_score(Y[~hidden], answers[~hidden]))
    assert got["hamming_loss"] == pytest.approx(np.mean(Y[~hidden] != answers[~hidden]))
    assert mean_f1(some, answers) == got["macro_f1"]


def test_a_task_with_one_class_has_no_auc():
    Y = np.array([[1, 0], [0, 0]])
    got = measures(Y, Y - 0.5, Y)
    assert got["auc"] == 1.0
    assert got["macro_f1"] == 0.5  # a task without positives counts as 0, as in scikit-learn
    assert np.isnan(measures(Y[:, 1:], Y[:, 1:] - 0.5, Y[:, 1:])["auc"])


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_a_split_is_scaled_by_its_training_part(data, stratified, convert):
    X, Y = data
    numbered = np.column_stack([X, np.arange(len(X))])
    parts = split(convert(numbered), Y, 3, stratified=stratified)
    scaler = (StandardScaler if convert is np.asarray else MaxAbsScaler)()
    dense = [part.toarray() if sp.issparse(part) else part for part in (parts.X, parts.X_test)]
    # The last column tells which rows they are: it is scaled by an increasing function.
    order = np.argsort(np.concatenate([dense[0][:, -1], dense[1][:, -1]]))
    assert np.array_equal(np.concatenate([parts.Y, parts.Y_test])[order], Y)
    rows = np.flatnonzero(np.isin(order, np.arange(len(parts.Y))))
    assert len(rows) == 72
    expected = scaler.fit(convert(numbered[rows])).transform(convert(numbered[rows]))
    assert dense[0] == pytest.approx(expected.toarray() if sp.issparse(expected) else expected)


def test_splits_are_the_same_every_time_and_differ_by_seed(data):
    X, Y = data
    one, same, other = split(X, Y, 1), split(X, Y, 1), split(X, Y, 2)
    assert np.array_equal(one.X, same.X)
    assert not np.array_equal(one.X, other.X)
    assert seed_of("yeast", 0) == 341603776  # for ever: a study that goes on must go on with the same splits


def test_a_stratified_split_has_its_share_of_the_rarest_label():
    rng = new_rng()
    Y = (rng.random((200, 3)) < [0.05, 0.3, 0.5]).astype(int)
    Y[:5, 0] = 1
    parts = split(rng.normal(size=(200, 2)), Y, 0)
    assert abs(parts.Y[:, 0].sum() - 0.6 * Y[:, 0].sum()) < 1.0


def test_missing_features_are_filled(data):
    X, Y = data
    X = np.where(new_rng().random(X.shape) < 0.1, np.nan, X)
    parts = split(X, Y, 0)
    assert np.isfinite(parts.X).all()
    assert np.isfinite(parts.X_test).all()


def test_a_split_needs_rows_on_both_sides(data):
    X, Y = data
    with pytest.raises(ValueError, match="rows on both sides"):
        split(X[:1], Y[:1], 0)


@pytest.mark.parametrize(
    "model",
    [SMTLClassifier("auc"), ClassifierChain(LogisticRegression()), MultiOutputClassifier(LogisticRegression())],
    ids=lambda model: type(model).__name__,
)
def test_scores_rank_as_the_model_does(data, model):
    X, Y = data
    scores = scores_of(model.fit(X, Y), X)
    assert scores.shape == Y.shape
    assert metrics.roc_auc_score(Y, scores) > 0.7


def test_scores_of_a_model_without_any():
    with pytest.raises(TypeError, match="decision_function or predict_proba"):
        scores_of(MultiOutputClassifier(RidgeClassifier()), np.zeros((1, 1)))


def test_folds_are_stratified_for_all_tasks(data):
    X, Y = data
    folds = list(TaskFolds(4).split(X, Y))
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(Y)))
    rarest = Y.sum(axis=0).argmin()
    counts = [Y[test, rarest].sum() for _, test in folds]
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("ratio", [1.0, 5.0, 10.0])
def test_imbalance_is_what_was_asked(ratio):
    Y = (new_rng().random((3000, 3)) < [0.2, 0.5, 0.9]).astype(int)
    skewed = imbalanced(Y, ratio, seed=0)
    known = np.isfinite(skewed)
    assert np.array_equal(skewed[known], Y[known])
    for y in skewed.T:
        n_pos, n_neg = np.sum(y == 1), np.sum(y == 0)
        assert abs(n_neg - ratio * n_pos) <= max(1.0, ratio) / 2 + 0.5
    # Nothing is forgotten without need: one of the classes is whole, but for what the ratio leaves over.
    for y, full in zip(skewed.T, Y.T, strict=True):
        left_pos, left_neg = full.sum() - np.sum(y == 1), len(full) - full.sum() - np.sum(y == 0)
        assert left_pos == 0 or left_neg < max(1.0, ratio)


def test_wrong_imbalance():
    with pytest.raises(ValueError, match="positive number as in"):
        parse_ratio("emotions@1:x")
