"""Boosting joins where it adds to the other learners, and stays out elsewhere."""

from importlib.util import find_spec

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from smtl import SMTLEnsemble
from smtl.ensemble import ensemble, presets
from smtl.ensemble.learners import boosting
from smtl.ensemble.learners.wrapped import WrappedLearner
from smtl.ensemble.trial import MOST_TASKS, gain_of
from smtl.estimators.held_out import Fold, HeldOut
from smtl.estimators.targets import read_targets
from tests.seeds import new_rng, new_seed

N = 360
OTHERS = ["kernel", "linear", "forest", "coarse-forest"]
QUICK = {"kernel": {}, "linear": {"penalties": ("ridge",)}, "boosting": {}}


def stripes(rng, n, n_tasks=1):
    """Return labels that are stripes of a column each, and twenty columns of noise: rules that trees find."""
    X = rng.random((n, n_tasks + 20))
    return X, (np.floor(4 * X[:, :n_tasks]) % 2).astype(int)


def straight(rng, n, n_tasks=1):
    """Return labels of which a linear model knows all that can be known."""
    X = rng.standard_normal((n, 4))
    return X, (rng.random((n, n_tasks)) < expit(2 * X @ rng.standard_normal((4, n_tasks)))).astype(int)


# Where LightGBM is not installed, both are the same.
@pytest.fixture(params=["as installed", "scikit-learn's"] if find_spec("lightgbm") else ["as installed"])
def quick(request, monkeypatch):
    """Return how to make an ensemble of few learners, with boosting of either library on trial."""
    if request.param == "scikit-learn's":
        monkeypatch.setattr(boosting, "find_spec", lambda name: None)
    monkeypatch.setitem(presets.PRESETS, "balanced", QUICK)
    return lambda seed=None: SMTLEnsemble("roc_auc", cv=3, correction=False, random_state=seed)


def test_boosting_joins_the_preset_where_there_are_rules():
    X, Y = stripes(new_rng(), N + 1000)
    train, test = slice(N), slice(N, None)
    options = {"scoring": "roc_auc", "cv": 3, "correction": False}
    model = SMTLEnsemble(**options).fit(X[train], Y[train, 0])
    assert set(model.weights_) == {*OTHERS, "boosting"}
    assert model.weights_["boosting"] > 0
    without = SMTLEnsemble(learners=OTHERS, **options).fit(X[train], Y[train, 0])
    auc, auc_without = (roc_auc_score(Y[test, 0], one.predict_proba(X[test])[:, 1]) for one in (model, without))
    assert auc > auc_without


def test_boosting_joins(quick):
    X, Y = stripes(new_rng(), N)
    assert quick().fit(X, Y[:, 0]).weights_["boosting"] > 0


def test_boosting_stays_out_where_a_linear_model_is_exact(quick):
    X, Y = straight(new_rng(), N)
    model = quick().fit(X, Y[:, 0])
    assert set(model.weights_) == {"kernel", "linear"}
    assert not model.partial_


def test_several_classes(quick):
    X, _ = stripes(new_rng(), N)
    y = np.array(["low", "middle", "high"])[np.floor(6 * X[:, 0]).astype(int) % 3]
    assert quick().fit(X, y).weights_["boosting"] > 0


@pytest.mark.parametrize("n_tasks", [2, MOST_TASKS + 1])
def test_missing_labels(quick, n_tasks):
    rng = new_rng()
    X, Y = stripes(rng, N, n_tasks)
    holes = np.where(rng.random(Y.shape) < 0.2, np.nan, Y)
    assert quick().fit(X, holes).weights_["boosting"] > 0


def test_the_decision_is_the_same_for_the_same_seed(quick):
    rng, seed = new_rng(), new_seed()
    X, Y = stripes(rng, N)
    # Half of the labels at random: where the decision could go either way.
    y = np.where(rng.random(N) < 0.5, rng.integers(0, 2, N), Y[:, 0])
    assert quick(seed).fit(X, y).weights_ == quick(seed).fit(X, y).weights_


@pytest.mark.parametrize("learners", [["linear", "boosting"], ["linear"]])
def test_learners_that_are_named_are_not_on_trial(quick, monkeypatch, learners):
    def no_trial(*args):
        raise AssertionError("a trial was held")

    monkeypatch.setattr(ensemble, "gain_of", no_trial)
    X, Y = straight(new_rng(), N)
    assert set(quick().set_params(learners=learners).fit(X, Y[:, 0]).weights_) == set(learners)
    with pytest.raises(AssertionError, match="a trial was held"):
        quick().fit(X, Y[:, 0])


def test_no_trial_without_a_task_that_can_be_learnt():
    X, Y = straight(new_rng(), N)
    targets = read_targets(X, Y[:, 0])
    fold = Fold(np.arange(N // 2), np.arange(N // 2, N), np.array([], dtype=np.int64), None)
    held = HeldOut(targets, [fold], [np.zeros((N // 2, 1))])
    assert not gain_of(boosting.BoostingLearner(), X, targets, fold, [held]).is_worth_it


class _Oracle(WrappedLearner):
    """A learner that knows the log odds, or a noise of that size."""

    def __init__(self, scores):
        self.scores = scores

    def held_out_scores(self, X, targets, folds):
        assert len(targets.names) == self.scores.shape[1]
        return [self.scores[test] for _, test in folds]


def test_truth_is_worth_it_and_noise_is_not():
    rng = new_rng()
    odds = 3.0 * rng.standard_normal((N, 2))
    targets = read_targets(odds, (rng.random((N, 2)) < expit(odds)).astype(int))
    fold = Fold(np.arange(N // 2), np.arange(N // 2, N), targets.learnable(), None)
    blind = HeldOut(targets, [fold], [rng.standard_normal((N // 2, 2))])
    assert gain_of(_Oracle(odds), odds, targets, fold, [blind]).is_worth_it
    assert not gain_of(_Oracle(rng.standard_normal((N, 2))), odds, targets, fold, [blind]).is_worth_it
    # The same again adds nothing.
    known = HeldOut(targets, [fold], [odds[fold.test]])
    assert not gain_of(_Oracle(odds), odds, targets, fold, [known]).is_worth_it
