"""ThresholdedLogistic against the same procedure written out with scikit-learn."""

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from smtl.baselines import ThresholdedLogistic
from tests.seeds import new_rng

SEED = int(new_rng().integers(2**32))
CS = [0.003, 0.1, 3.0]


def data(n=120, d=5, m=3):
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, d))
    Y = (X @ rng.standard_normal((d, m)) + 1.5 * rng.standard_normal((n, m)) > 1.0).astype(int)
    Y[::7], Y[1::7] = 1, 0  # both classes in all folds
    return X, Y


def best_f1(y, s):
    """The best F1 that any cut of the scores gives."""
    cuts = np.append(np.sort(s) - 1e-12, np.inf)
    return max(f1_score(y, s > cut, zero_division=0) for cut in cuts)


@pytest.mark.parametrize("scoring", [None, "auc"])
def test_the_procedure_written_out(scoring):
    X, Y = data()
    folds = list(KFold(3).split(X))
    model = ThresholdedLogistic(CS, cv=folds, scoring=scoring).fit(X, Y)
    held = np.zeros((len(CS), *Y.shape))
    for train, test in folds:
        for j, C in enumerate(CS):
            for i in range(Y.shape[1]):
                peer = LogisticRegression(C=C, max_iter=1000, tol=1e-6).fit(X[train], Y[train, i])
                held[j, test, i] = peer.decision_function(X[test])
    if scoring == "auc":
        values = [[roc_auc_score(Y[test], s[test]) for _, test in folds] for s in held]
        assert model.scores_ == pytest.approx(np.array(values).T, abs=0.01), f"seed {SEED}"
    assert CS[int(np.argmax(model.scores_.mean(axis=0)))] == model.C_
    scores = held[CS.index(model.C_)]
    for i, (y, s) in enumerate(zip(Y.T, scores.T, strict=True)):
        reached = f1_score(y, s > model.thresholds_[i], zero_division=0)
        assert reached >= best_f1(y, s) - 0.03, f"seed {SEED}"  # warm starts change scores in the fourth digit
    for i in range(Y.shape[1]):
        peer = LogisticRegression(C=model.C_, max_iter=1000).fit(X, Y[:, i])
        assert model.coef_[i] == pytest.approx(peer.coef_[0], rel=1e-6, abs=1e-9)
        assert model.predict_proba(X)[:, i] == pytest.approx(peer.predict_proba(X)[:, 1])
        cut = peer.decision_function(X) - model.thresholds_[i]
        assert model.decision_function(X)[:, i] == pytest.approx(cut)


def test_a_fold_is_judged_with_thresholds_of_the_others():
    # Scores that no model can predict: a cut chosen on the fold itself would look better than chance.
    rng = np.random.default_rng(SEED)
    X, Y = rng.standard_normal((200, 3)), (rng.random((200, 40)) < 0.3).astype(int)
    model = ThresholdedLogistic([1.0], cv=4, threshold_metric="error").fit(X, Y)
    # Accuracy of saying no is 0.7; choosing the cut where it is judged would show more than that by a margin.
    assert model.scores_.mean() <= max(1 - Y.mean(), Y.mean()) + 0.01, f"seed {SEED}"


def test_thresholds_are_better_than_none_on_rare_labels():
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((1500, 4))
    Y = (X @ rng.standard_normal((4, 3)) + 2 * rng.standard_normal((1500, 3)) > 4.0).astype(int)
    tuned = ThresholdedLogistic([1.0]).fit(X[:1000], Y[:1000])
    plain = ThresholdedLogistic([1.0], threshold=0.0).fit(X[:1000], Y[:1000])
    assert tuned.score(X[1000:], Y[1000:]) > plain.score(X[1000:], Y[1000:]), f"seed {SEED}"
    assert not plain.thresholds_.any()


def test_any_number_of_jobs():
    X, Y = data()
    with joblib.parallel_config("threading"):
        one, two = (ThresholdedLogistic(CS, cv=3, n_jobs=n_jobs).fit(X, Y) for n_jobs in [1, 2])
    assert np.array_equal(one.decision_function(X), two.decision_function(X))
    assert np.array_equal(one.scores_, two.scores_)


def test_the_grid():
    X, Y = data()
    assert ThresholdedLogistic(3, cv=2).fit(X, Y).Cs_ == pytest.approx([1e-4, 1.0, 1e4])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": 0}, "Cs must be a positive whole number"),
        ({"Cs": [-1.0]}, "Cs must hold positive numbers"),
        ({"cv": 1}, "cv must be between 2 and the number of rows"),
        ({"scoring": "accuracy"}, "scoring must be None, one of smtl's metrics, .* got 'accuracy' instead"),
        (
            {"threshold": "best"},
            "threshold must be one of 'auto', 'expected', 'per-task', 'shared', 'smoothed', 'calibrated', ",
        ),
        ({"threshold_metric": "auc"}, "threshold_metric must be a function of the answers"),
    ],
)
def test_errors(parameters, message):
    X, Y = data()
    with pytest.raises(ValueError, match=message):
        ThresholdedLogistic(**parameters).fit(X, Y)


def expected_failures(estimator):
    # As for scikit-learn's own FixedThresholdClassifier: "Threshold at probability 0.5 does not hold".
    tuned = isinstance(estimator.threshold, str)
    return {"check_classifiers_train": "the answer need not be the more probable class"} if tuned else {}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [ThresholdedLogistic([0.1, 1.0], cv=2, threshold=threshold) for threshold in ["per-task", 0.0]],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
