"""SMTLEnsemble: every form of labels and features, what it keeps, and how it stops."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import GroupKFold, RepeatedKFold
from sklearn.tree import DecisionTreeClassifier

from smtl import SMTLEnsemble
from smtl.ensemble.learners.kernel import KernelLearner
from tests.seeds import new_rng

# Cheap learners: most of what is tested here does not depend on which they are.
CHEAP = {"learners": ["kernel", ("logistic", LogisticRegression())], "cv": 3}


@pytest.fixture
def drawn():
    rng = new_rng()
    X = rng.standard_normal((300, 6))
    Y = (X[:, :3] ** 2 + X[:, 1:4] + rng.standard_normal((300, 3)) > [1.0, 2.0, 3.0]).astype(int)
    Y[:20], Y[20:40] = 0, 1
    return X, Y


def test_several_labels(drawn):
    X, Y = drawn
    model = SMTLEnsemble(preset="fast", cv=3).fit(X[:200], Y[:200])
    assert set(model.weights_) == {"kernel", "linear", "forest"}
    assert sum(model.weights_.values()) == pytest.approx(1.0)
    assert model.predict(X[200:]).shape == model.predict_proba(X[200:]).shape == (100, 3)
    assert np.mean([f1_score(Y[200:, i], model.predict(X[200:])[:, i]) for i in range(3)]) == pytest.approx(
        model.score(X[200:], Y[200:])
    )
    assert roc_auc_score(Y[200:], model.predict_proba(X[200:])) > 0.6
    np.testing.assert_array_equal(model.decision_function(X[200:]) > 0, model.predict(X[200:]) == 1)
    np.testing.assert_allclose(
        expit(model.decision_function(X[200:]) + model.thresholds_), model.predict_proba(X[200:]), atol=1e-12
    )


def test_how_sure_the_cuts_are(drawn):
    X, Y = drawn
    fold = new_rng().permutation(np.arange(300) % 3)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    fitted = SMTLEnsemble(learners=["linear"], correction=False, cv=splits, threshold="per-task").fit(X, Y)
    assert fitted.threshold_rule_ == "per-task"
    for i, spread in enumerate(fitted.threshold_spread_):
        # Each fold's cut is the best of the other two; where several are, any of them will do.
        cuts = [best_cuts(fitted.held_out_scores_[fold != k, i], Y[fold != k, i]) for k in range(3)]
        assert min(abs(np.std(chosen, ddof=1) - spread) for chosen in product(*cuts)) < 1e-9
    given = SMTLEnsemble(learners=["linear"], cv=splits, threshold=0.25).fit(X, Y)
    assert (given.threshold_rule_, given.threshold_spread_.tolist()) == ("given", [0.0, 0.0, 0.0])


def best_cuts(scores, y):
    """Return the cuts at which F1 is best: between two neighbouring scores, or 1 beyond the last."""
    ordered = np.unique(scores)
    cuts = np.concatenate([[ordered[0] - 1], (ordered[1:] + ordered[:-1]) / 2, [ordered[-1] + 1]])
    values = np.array([f1_score(y, scores > cut, zero_division=0.0) for cut in cuts])
    return cuts[values > values.max() - 1e-12]


def test_the_leaderboard(drawn):
    X, Y = drawn
    model = SMTLEnsemble(learners=["kernel", ("logistic", LogisticRegression()), DummyClassifier()], cv=3).fit(X, Y)
    board = model.leaderboard_
    assert sorted(board["learner"]) == ["dummyclassifier", "kernel", "logistic"]
    assert np.all(np.diff(board["score"]) <= 0)
    assert np.all(board["seconds"] > 0)
    assert dict(zip(board["learner"], board["weight"], strict=True)) == model.weights_
    assert model.weights_["dummyclassifier"] == 0.0
    assert "dummyclassifier" not in model.learners_
    assert model.score_ >= board["score"].max() - 0.1


def test_held_out_scores_are_of_models_that_have_not_seen_the_rows(drawn):
    X, Y = drawn
    noise = new_rng().integers(0, 2, Y.shape)
    noise[:20], noise[20:40] = 0, 1
    model = SMTLEnsemble(learners=[DecisionTreeClassifier(), "kernel"], cv=3).fit(X, noise)
    assert model.held_out_scores_.shape == (300, 3)
    # A tree knows its training rows by heart.
    assert roc_auc_score(noise, model.held_out_scores_) < 0.7


def test_probabilities_are_calibrated(drawn):
    rng = new_rng()
    X = rng.standard_normal((3000, 4))
    p = expit(2 * X[:, :2] - [0.0, 2.0])
    Y = (rng.random(p.shape) < p).astype(int)
    model = SMTLEnsemble(**CHEAP).fit(X[:1000], Y[:1000])
    assert np.abs(model.predict_proba(X[1000:]) - p[1000:]).mean() < 0.06


def test_classes_have_one_answer_a_row(drawn):
    X, _ = drawn
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0] + X[:, 1], [-1.0, 0.5])]
    model = SMTLEnsemble(**CHEAP).fit(X, y)
    probability = model.predict_proba(X)
    assert model.classes_.tolist() == ["high", "low", "middle"]
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probability.argmax(axis=1)])
    assert model.decision_function(X).shape == (300, 3)
    assert not model.thresholds_.any()
    assert model.score(X, y) == pytest.approx(f1_score(y, model.predict(X), average="macro"))


def test_two_classes(drawn):
    X, Y = drawn
    y = np.where(Y[:, 0] == 1, "yes", "no")
    model = SMTLEnsemble("f1_macro", **CHEAP).fit(X, y)
    assert model.decision_function(X).shape == (300,)
    assert model.predict_proba(X).shape == (300, 2)
    assert set(model.predict(X)) == {"yes", "no"}
    assert model.correction_ is None  # there is no other task


def test_missing_labels_and_constant_tasks(drawn):
    X, Y = drawn
    rng = new_rng()
    holes = np.where(rng.random(Y.shape) < 0.3, np.nan, Y)
    holes[:20], holes[20:40] = 0, 1
    holes = np.column_stack([holes, np.ones(300), np.full(300, np.nan)])
    with pytest.warns(UserWarning, match=r"Tasks 3, 4 \(2 in all\) have only one class"):
        model = SMTLEnsemble(preset="fast", cv=3).fit(X, holes)
    answers = model.predict(X)
    assert np.all(answers[:, 3] == 1)
    assert np.ptp(answers[:, 4]) == 0
    assert roc_auc_score(Y, model.predict_proba(X)[:, :3]) > 0.6
    assert np.isnan(model.held_out_scores_[:, 3:]).all()
    assert 0 < model.score(X, holes) <= 1


def test_rare_labels(drawn):
    X, Y = drawn
    Y[:, 1], Y[:, 2] = 0, 0
    Y[7, 1], Y[:3, 2] = 1, 1
    with pytest.warns(UserWarning, match="fewer positives"):
        model = SMTLEnsemble(preset="fast").fit(X, Y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.predict(X)[:, 1].mean() < 0.5


@pytest.mark.parametrize("scoring", ["f1_macro", "f1_micro", "roc_auc"])
def test_tasks_with_rows_of_their_own(scoring):
    rng = new_rng()
    X = rng.standard_normal((360, 4))
    site = rng.permutation(np.repeat(["north", "south", "west"], 120))
    y = (np.where(site == "west", -1, 1) * X[:, 0] + 0.5 * rng.standard_normal(360) > 0.3).astype(int)
    model = SMTLEnsemble(scoring, learners=["kernel", "linear"], cv=3).fit(X, y, tasks=site)
    assert set(model.weights_) == {"kernel", "kernel-per-task", "linear"}
    own = model.decision_function(X, tasks=site)
    every = model.decision_function(X)
    assert every.shape == (360, 3)
    np.testing.assert_allclose(every[np.arange(360), np.searchsorted(model.task_names_, site)], own, atol=1e-8)
    assert np.mean(model.predict(X, tasks=site) == y) > 0.7
    assert model.held_out_scores_.shape == (360,)
    assert model.score(X, y, tasks=site) > 0.6
    with pytest.raises(ValueError, match="tasks must be given to score"):
        model.score(X, y)


def test_features_with_holes_and_sparse_features_and_frames(drawn):
    X, Y = drawn
    holes = X.copy()
    holes[new_rng().random(X.shape) < 0.1] = np.nan
    assert np.isfinite(SMTLEnsemble(preset="fast", cv=3).fit(holes, Y).predict_proba(holes)).all()
    model = SMTLEnsemble(preset="fast", cv=3).fit(sp.csc_array(np.where(np.abs(X) > 0.4, X, 0.0)), Y)
    assert np.isfinite(model.predict_proba(sp.coo_array(X))).all()
    frame, labels = pd.DataFrame(X, columns=list("abcdef")), pd.DataFrame(Y, columns=["u", "v", "w"])
    model = SMTLEnsemble(**CHEAP).fit(frame, labels)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.task_names_.tolist() == ["u", "v", "w"]
    assert model.score(frame, labels) == model.score(frame, Y)


def test_the_same_seed_gives_the_same_model_with_any_number_of_threads(drawn):
    X, Y = drawn
    one, other = (
        SMTLEnsemble(preset="fast", cv=3, random_state=7, n_jobs=n).fit(X, Y).decision_function(X) for n in (1, 2)
    )
    np.testing.assert_allclose(one, other, atol=1e-8)


def test_other_folds(drawn):
    X, Y = drawn
    groups = np.arange(300) // 10
    SMTLEnsemble(**{**CHEAP, "cv": GroupKFold(3)}).fit(X, Y, groups=groups)
    repeated = SMTLEnsemble(**{**CHEAP, "cv": RepeatedKFold(n_splits=2, n_repeats=2)}).fit(X, Y)
    assert np.isfinite(repeated.held_out_scores_).all()
    half = SMTLEnsemble(
        **{**CHEAP, "cv": [(np.arange(100, 300), np.arange(50)), (np.arange(100), np.arange(150, 250))]}
    )
    scores = half.fit(X, Y).held_out_scores_
    np.testing.assert_array_equal(np.isnan(scores[:, 0]), ~np.isin(np.arange(300), [*range(50), *range(150, 250)]))


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "f1", "auc", "roc_auc", "average_precision"])
def test_scoring_of_two_classes(drawn, scoring):
    X, Y = drawn
    model = SMTLEnsemble(scoring, **CHEAP).fit(X, Y[:, 0])
    assert np.isfinite(model.score_)
    assert model.score(X, Y[:, 0]) > model.score_ - 0.2


@pytest.mark.parametrize("correction", [True, False])
def test_correction_can_be_asked_for(drawn, correction):
    X, Y = drawn
    model = SMTLEnsemble(correction=correction, **CHEAP).fit(X, Y)
    assert (model.correction_ is not None) == correction
    if correction:
        assert model.correction_.certified_gap <= 1e-3
        assert np.isfinite([model.correction_.gain, model.correction_.standard_error]).all()


def test_noise_does_not_give_a_constant_answer():
    seed = int(new_rng().integers(2**31))
    X, y = make_classification(300, flip_y=0.3, random_state=seed)
    model = SMTLEnsemble(preset="fast", cv=3).fit(X, y)
    assert 0.1 < np.mean(model.predict(X)) < 0.9


def test_the_time_limit_skips_learners(drawn):
    X, Y = drawn
    with pytest.warns(UserWarning, match="has used up its time_limit of 0.001 s before logistic"):
        model = SMTLEnsemble(time_limit=1e-3, **CHEAP).fit(X, Y)
    assert model.partial_
    assert list(model.weights_) == ["kernel"]
    assert not SMTLEnsemble(time_limit=1e6, **CHEAP).fit(X, Y).partial_


class Interrupting(LogisticRegression):
    """Ctrl-C after so many fits."""

    n_left = 0

    def fit(self, X, y):
        if Interrupting.n_left == 0:
            raise KeyboardInterrupt
        Interrupting.n_left -= 1
        return super().fit(X, y)


def test_ctrl_c_keeps_what_is_done(drawn):
    X, Y = drawn
    Interrupting.n_left = 4
    model = SMTLEnsemble(learners=["kernel", Interrupting()], cv=3)
    with pytest.warns(UserWarning, match="The fit was interrupted before interrupting"):
        model.fit(X, Y)
    assert model.partial_
    assert model.predict(X).shape == Y.shape
    Interrupting.n_left = 0
    with pytest.raises(KeyboardInterrupt):
        SMTLEnsemble(learners=[Interrupting()], cv=3).fit(X, Y)


class Column(LogisticRegression):
    """Looks at one feature only."""

    def __init__(self, column=0, n_fits=None):
        super().__init__()
        self.column = column
        self.n_fits = n_fits

    def fit(self, X, y):
        if self.n_fits is not None:
            if Interrupting.n_left == 0:
                raise KeyboardInterrupt
            Interrupting.n_left -= 1
        return super().fit(X[:, [self.column]], y)

    def decision_function(self, X):
        return super().decision_function(X[:, [self.column]])


def test_ctrl_c_in_the_final_fit():
    rng = new_rng()
    X = rng.standard_normal((300, 2))
    y = (2.0 * X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(300) > 0).astype(int)
    Interrupting.n_left = 3  # three folds, and no fit more
    model = SMTLEnsemble(learners=[("lesser", Column(1, n_fits=3)), ("greater", Column(0))], cv=3)
    with pytest.warns(UserWarning, match="The final fit was interrupted. The ensemble is made of greater"):
        model.fit(X, y)
    assert model.partial_
    assert list(model.learners_) == ["greater"]
    assert model.weights_ == {"lesser": 0.0, "greater": 1.0}
    assert np.mean(model.predict(X) == y) > 0.7


def test_a_fit_that_fails_changes_nothing(drawn):
    X, Y = drawn
    model = SMTLEnsemble(**CHEAP).fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, Y[:-1])
    np.testing.assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"threshold": "best"}, "threshold must be one of 'auto', 'expected', 'per-task', 'shared', 'smoothed'"),
        ({"correction": "always"}, "correction must be 'auto', True or False, got 'always' instead."),
        ({"time_limit": -1}, "time_limit must be a positive number of seconds or None, got -1 instead."),
        ({"preset": "slow"}, "preset must be one of 'fast', 'balanced', 'best', got 'slow' instead."),
        ({"scoring": "f3"}, "scoring must be"),
        ({"cv": 1}, "cv must be between 2"),
        ({"n_jobs": 0}, "n_jobs must be a whole number other than 0"),
    ],
)
def test_bad_parameters(drawn, parameters, words):
    X, Y = drawn
    with pytest.raises(ValueError, match=words):
        SMTLEnsemble(**parameters).fit(X, Y)


def test_before_and_after_fit(drawn):
    X, Y = drawn
    model = SMTLEnsemble(**CHEAP)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert clone(model).get_params()["cv"] == 3
    with pytest.raises(ValueError, match="scikit-learn's scorers know no NaN"):
        SMTLEnsemble("accuracy", **CHEAP).fit(X, np.where(Y[0, 0] == Y, Y.astype(float), np.nan))


def test_a_number_cuts_the_log_odds(drawn):
    X, Y = drawn
    model = SMTLEnsemble(threshold=0.5, **CHEAP).fit(X, Y)
    np.testing.assert_array_equal(model.thresholds_, 0.5)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > expit(0.5))


def test_a_weight_is_for_the_better_learner(drawn):
    """Labels of a circle: a linear model says nothing about them."""
    rng = new_rng()
    X = rng.standard_normal((300, 2))
    Y = np.column_stack([(X**2).sum(axis=1) > 1.4, (X**2).sum(axis=1) > 2.5]).astype(int)
    model = SMTLEnsemble(**CHEAP).fit(X, Y)
    assert model.weights_["kernel"] > 0.8
    assert isinstance(next(iter(model.learners_.values())), KernelLearner)
