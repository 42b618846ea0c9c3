"""What holds for every learner."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

import smtl.ensemble.learners.linear as linear
from smtl.ensemble.learners import Learner, learner_names
from smtl.ensemble.learners.forest import ForestLearner
from smtl.ensemble.learners.linear import LinearLearner
from smtl.ensemble.learners.own_rows import PerTask, Pooled
from smtl.ensemble.learners.wrapped import WrappedLearner
from smtl.ensemble.presets import PRESETS, make_learners
from smtl.estimators.targets import read_targets
from tests.seeds import new_rng

SMALL = {"forest": {"n_trees": 20}, "coarse-forest": {"n_trees": 20}, "linear": {"penalties": ("ridge",)}}
# Distance-based, tree-less, and without probabilities.
OTHERS = [KNeighborsClassifier(), GaussianNB(), LinearSVC()]


def make(kind):
    if isinstance(kind, str):
        return Learner.known[kind](**SMALL.get(kind, {}))
    return WrappedLearner(kind)


@pytest.fixture
def drawn():
    rng = new_rng()
    X = rng.standard_normal((240, 6))
    Y = (X[:, :3] + 0.5 * rng.standard_normal((240, 3)) > [0.0, 0.5, 1.0]).astype(float)
    Y[:30], Y[30:60] = 0, 1
    fold = rng.permutation(np.arange(240) % 3)
    return X, Y, [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]


ALL = pytest.mark.parametrize("kind", [*learner_names(), *OTHERS], ids=str)


@ALL
def test_held_out_scores_know_the_labels_and_are_not_the_training_rows(drawn, kind):
    X, Y, folds = drawn
    learner = make(kind)
    scores = learner.held_out_scores(X, read_targets(X, Y), folds)
    assert [part.shape for part in scores] == [(len(test), 3) for _, test in folds]
    rows = np.concatenate([test for _, test in folds])
    assert roc_auc_score(Y[rows], np.concatenate(scores)) > 0.55
    learner.fit(X, read_targets(X, Y))
    assert roc_auc_score(Y, learner.decision_function(X)) > roc_auc_score(Y[rows], np.concatenate(scores)) - 0.02


# The linear and the kernel learner choose their penalties by the scores of the test rows.
@pytest.mark.parametrize("kind", ["boosting", "forest", "coarse-forest", *OTHERS], ids=str)
def test_labels_of_test_rows_do_not_matter(drawn, kind):
    X, Y, folds = drawn
    train, test = folds[0]
    changed = Y.copy()
    changed[test] = 1 - changed[test]
    [one] = make(kind).held_out_scores(X, read_targets(X, Y), [(train, test)])
    [other] = make(kind).held_out_scores(X, read_targets(X, changed), [(train, test)])
    np.testing.assert_array_equal(one, other)


@ALL
def test_missing_labels_and_a_task_without_any(drawn, kind):
    X, Y, folds = drawn
    rng = new_rng()
    holes = np.column_stack([Y, np.ones(240), np.full(240, np.nan)])
    holes[:, :3][rng.random(Y.shape) < 0.3] = np.nan
    learner = make(kind)
    targets = read_targets(X, holes)
    scores = np.concatenate(learner.held_out_scores(X, targets, folds))
    rows = np.concatenate([test for _, test in folds])
    assert roc_auc_score(Y[rows], scores[:, :3]) > 0.52
    learner.fit(X, targets)
    assert learner.decision_function(X).shape == (240, 5)
    assert np.isfinite(learner.decision_function(X)).all()


@ALL
def test_features_with_holes_and_sparse_features(drawn, kind):
    X, Y, folds = drawn
    holes = X.copy()
    holes[new_rng().random(X.shape) < 0.1] = np.nan
    for features in (holes, sp.csr_array(np.where(np.abs(X) > 0.3, X, 0.0))):
        learner = make(kind)
        scores = np.concatenate(learner.held_out_scores(features, read_targets(X, Y), folds))
        assert np.isfinite(scores).all()
        learner.fit(features, read_targets(X, Y))
        assert learner.decision_function(features[:5]).shape == (5, 3)


@ALL
def test_the_same_seed_gives_the_same_scores(drawn, kind):
    X, Y, folds = drawn
    one, other = (np.concatenate(make(kind).held_out_scores(X, read_targets(X, Y), folds)) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_linear_is_the_model_with_the_least_log_loss(drawn, monkeypatch):
    monkeypatch.setattr(linear, "TOL", 1e-4)
    monkeypatch.setattr(linear, "MAX_ITER", 1000)
    X, Y, folds = drawn
    targets, learner = read_targets(X, Y), LinearLearner(penalties=("ridge",))
    scores = np.concatenate(learner.held_out_scores(X, targets, folds))
    rows = np.concatenate([test for _, test in folds])
    theirs = np.empty_like(scores)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for train, test in folds:
        for i in range(3):
            model = LogisticRegression(C=learner.C).fit(Z[train], Y[train, i])
            theirs[np.isin(rows, test), i] = model.decision_function(Z[rows[np.isin(rows, test)]])
    np.testing.assert_allclose(scores, theirs, atol=0.03 * np.abs(theirs).max())


def test_linear_chooses_on_a_part_of_many_rows(drawn, monkeypatch):
    X, Y, folds = drawn
    targets = read_targets(X, Y)
    whole = LinearLearner(penalties=("ridge",))
    one = np.concatenate(whole.held_out_scores(X, targets, folds))
    monkeypatch.setattr(linear, "N_CHOOSING", 120)
    part = LinearLearner(penalties=("ridge",))
    other = np.concatenate(part.held_out_scores(X, targets, folds))
    assert other.shape == one.shape
    for i in range(3):
        assert np.corrcoef(one[:, i], other[:, i])[0, 1] > 0.9


@pytest.fixture
def own_rows():
    rng = new_rng()
    X = rng.standard_normal((360, 4))
    task = rng.permutation(np.arange(360) % 3)
    # Of the third task the first feature says the opposite.
    y = (np.where(task == 2, -1, 1) * X[:, 0] + 0.5 * rng.standard_normal(360) > 0).astype(int)
    fold = rng.permutation(np.arange(360) % 3)
    return X, read_targets(X, y, task), [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]


@pytest.mark.parametrize("preset", PRESETS)
def test_tasks_with_rows_of_their_own(own_rows, preset, monkeypatch):
    for name in PRESETS[preset].keys() & {"forest", "coarse-forest"}:
        monkeypatch.setitem(PRESETS[preset], name, {"n_trees": 20})
    monkeypatch.setitem(ForestLearner.one_task, "n_trees", 20)
    X, targets, folds = own_rows
    rows = np.concatenate([test for _, test in folds])
    for name, learner in make_learners("auto", preset, 0, None, own_rows=True).items():
        scores = np.concatenate(learner.held_out_scores(X, targets, folds))
        assert scores.shape == (360,), name
        assert roc_auc_score(targets.Y[rows], scores) > 0.6, name
        learner.fit(X, targets)
        own = learner.decision_function(X, targets.task)
        every = learner.decision_function(X)
        assert every.shape == (360, 3)
        np.testing.assert_allclose(every[np.arange(360), targets.task], own, atol=1e-8)


def test_a_task_by_itself_that_has_one_class(own_rows):
    X, targets, folds = own_rows
    targets.Y[targets.task == 1] = 1
    learner = PerTask(WrappedLearner, {"estimator": LogisticRegression()})
    scores = np.concatenate(learner.held_out_scores(X, targets, folds))
    rows = np.concatenate([test for _, test in folds])
    np.testing.assert_array_equal(np.isnan(scores), targets.task[rows] == 1)
    learner.fit(X, targets)
    assert not learner.decision_function(X)[:, 1].any()


def test_pooled_sees_the_task(own_rows):
    X, targets, folds = own_rows
    learner = Pooled(WrappedLearner(LogisticRegression()), scale=False)
    learner.held_out_scores(X, targets, folds)
    learner.fit(X, targets)
    # A linear model of all rows has one slope, and an intercept a task.
    scores = learner.decision_function(X)
    np.testing.assert_allclose(np.ptp(scores - scores[:, :1], axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("learners", "preset", "words"),
    [
        ("auto", "slow", "preset must be one of 'fast', 'balanced', 'best', got 'slow' instead."),
        ("forest", "fast", "learners must be 'auto' or a list of names"),
        ([], "fast", "learners must be 'auto' or a list of names"),
        (["tree"], "fast", "a learner must be one of 'boosting', 'coarse-forest', 'forest', 'kernel', 'linear'"),
        ([LogisticRegression], "fast", "learners must hold names, or classifiers"),
        (["linear", "linear"], "fast", "learners must have different names, got 'linear' twice"),
    ],
)
def test_bad_learners(learners, preset, words):
    with pytest.raises(ValueError, match=words):
        make_learners(learners, preset, 0, None, own_rows=False)


@pytest.mark.parametrize("sparse", [False, True])
def test_boosting_by_xgboost(monkeypatch, sparse):
    pytest.importorskip("xgboost")
    import smtl.ensemble.learners.boosting as module

    monkeypatch.setattr(module, "find_spec", lambda name: True if name == "xgboost" else None)
    rng = new_rng()
    X = np.where(rng.random((300, 4)) < 0.7, rng.normal(size=(300, 4)), 0.0)
    Y = (X[:, :3] > [0.2, -0.5, 0.0]).astype(int)
    learner = module.BoostingLearner()
    assert type(learner.estimator).__name__ == "XGBClassifier"
    data = sp.csr_array(X) if sparse else X
    learner.fit(data[:200], read_targets(X[:200], Y[:200]))
    right = (learner.decision_function(data[200:]) > 0.0) == Y[200:]
    assert right.mean() > 0.9  # each task is one threshold


def test_without_either_library_boosting_is_scikit_learns(monkeypatch):
    import smtl.ensemble.learners.boosting as module

    monkeypatch.setattr(module, "find_spec", lambda _: None)
    assert type(module.boosted_trees(1)).__name__ == "HistGradientBoostingClassifier"
