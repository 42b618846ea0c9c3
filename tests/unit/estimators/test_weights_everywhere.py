"""A weight of k is k equal rows: for every metric and penalty, in all estimators, and within groups."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier, SMTLClassifierCV, SMTLEnsemble, SMTLRanker, smtl_path
from smtl.baselines import MTLClassifier, StructSVM, ThresholdedLogistic
from smtl.metrics import metric_names
from smtl.model_selection import MultilabelStratifiedKFold
from tests.seeds import new_rng

PENALTIES = ["l11", "l21", "trace", "ridge"]
pytestmark = pytest.mark.filterwarnings("ignore")


def draw(rng, n=30, m=2, most=4):
    """Rows with both classes in all tasks, some labels missing, and whole numbers for weights, 0 among them."""
    X = rng.standard_normal((n, 3))
    Y = (X @ rng.standard_normal((3, m)) + rng.standard_normal((n, m)) > 0.3).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[:2] = np.array([[0.0], [1.0]])
    weights = rng.integers(0, most, n)
    weights[:2] = 1
    return X, Y, weights, np.repeat(np.arange(n), weights)


def agree(weighted, repeated):
    """Both are certified to be within their gaps of the same optimum."""
    assert weighted.dual_bound_ <= repeated.objective_ * (1 + 1e-9)
    assert repeated.dual_bound_ <= weighted.objective_ * (1 + 1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("metric", metric_names())
def test_a_weighted_fit_is_that_of_repeated_rows(metric, penalty):
    X, Y, weights, rows = draw(new_rng())
    made = {"C": 0.5, "threshold": 0.0, "tol": 1e-3}
    weighted = SMTLClassifier(metric, penalty, **made).fit(X, Y, sample_weight=weights)
    repeated = SMTLClassifier(metric, penalty, **made).fit(X[rows], Y[rows])
    agree(weighted, repeated)
    assert weighted.gap_ <= 1e-3
    got = weighted.score(X, Y, sample_weight=weights)
    assert got == pytest.approx(weighted.score(X[rows], Y[rows]), abs=1e-12)


@pytest.mark.parametrize("metric", metric_names())
def test_weights_that_are_no_whole_numbers_are_certified(metric):
    """A row of weight w is two rows whose weights add up to it."""
    rng = new_rng()
    X, Y, _, _ = draw(rng)
    weights, part = 3.0 * rng.random(len(X)) + 0.05, rng.uniform(0.1, 0.9, len(X))
    made = {"C": 0.5, "threshold": 0.0, "tol": 1e-3}
    whole = SMTLClassifier(metric, "l21", **made).fit(X, Y, sample_weight=weights)
    divided = np.concatenate([part * weights, (1.0 - part) * weights])
    parts = SMTLClassifier(metric, "l21", **made).fit(np.vstack([X, X]), np.vstack([Y, Y]), sample_weight=divided)
    agree(whole, parts)
    assert whole.gap_ <= 1e-3
    got = whole.score(X, Y, sample_weight=weights)
    assert got == pytest.approx(whole.score(np.vstack([X, X]), np.vstack([Y, Y]), sample_weight=divided), abs=1e-9)


@pytest.mark.parametrize("penalty", ["l21", "ridge"])
def test_paths(penalty):
    X, Y, weights, rows = draw(new_rng())
    made = {"metric": "f1", "penalty": penalty, "Cs": [0.1, 0.5, 2.0], "class_weight": {0: 1.0, 1: 2.0}, "tol": 1e-4}
    weighted = smtl_path(X, Y, sample_weight=weights, task_weight=[1.0, 3.0], **made)
    repeated = smtl_path(X[rows], Y[rows], task_weight=[1.0, 3.0], **made)
    assert (weighted.dual_bounds <= repeated.objectives * (1 + 1e-9)).all()
    assert (repeated.dual_bounds <= weighted.objectives * (1 + 1e-9)).all()
    last = {"C": 2.0, "penalty": penalty, "class_weight": {0: 1.0, 1: 2.0}, "task_weight": [1.0, 3.0]}
    fitted = SMTLClassifier("f1", tol=1e-4, threshold=0.0, **last).fit(X, Y, sample_weight=weights)
    assert weighted.objectives[-1] == pytest.approx(fitted.objective_, rel=2e-4)


@pytest.mark.parametrize(
    "made",
    [
        {"metric": "f1", "threshold": "per-task"},
        {"metric": "auc", "threshold": "auto", "calibration": "logistic"},
        {"metric": "log", "scoring": "f1_macro", "threshold": "smoothed", "class_weight": "balanced"},
        {"metric": "ap", "scoring": "ap", "threshold": 0.0},
    ],
    ids=lambda made: made["metric"],
)
def test_cross_validation_with_copies_in_one_fold(made):
    """With the same folds, copies of a row together, everything is the same to the gap of the folds' models.

    Where two cuts, or two values of C, are as good as one another, rounding decides between them: so most of a few
    draws have to agree, not all.
    """
    rng = new_rng()
    made = {"penalty": "ridge", "Cs": [0.05, 0.5], "tol": 1e-6, "solver": "bundle"} | made
    differences = [_differences_from_copies(rng, made) for _ in range(7)]
    assert np.median([of_scores for of_scores, _ in differences]) <= 0.05
    assert np.median([of_answers for _, of_answers in differences]) <= 0.05


def _differences_from_copies(rng, made):
    """Return how far held-out scores, and decisions, are from those of a search on repeated rows."""
    X, Y, weights, rows = draw(rng, 60, most=3)
    fold = rng.permutation(np.arange(60) % 3)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    of_copies = [(np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        # Models of the folds that are the same but for rounding, so that scores and cuts are.
        patch.setattr("smtl.estimators.candidates.FOLD_TOL", 1e-6)
        patch.setattr("smtl.estimators.candidates.FOLD_ITER", 2000)
        weighted = SMTLClassifierCV(cv=splits, **made).fit(X, Y, sample_weight=weights)
        repeated = SMTLClassifierCV(cv=of_copies, **made).fit(X[rows], Y[rows])
    got = weighted.score(X, Y, sample_weight=weights)
    assert got == pytest.approx(weighted.score(X[rows], Y[rows]), abs=1e-12)
    of_answers = np.abs(weighted.decision_function(X) - repeated.decision_function(X)).max()
    return np.abs(weighted.scores_ - repeated.scores_).max(), of_answers


def test_class_weights_in_cross_validation():
    rng = new_rng()
    X, Y, _, _ = draw(rng, 60)
    y = np.nan_to_num(Y[:, 0]).astype(int)
    made = {"metric": "log", "penalty": "ridge", "Cs": [0.5], "cv": 2, "threshold": 0.0, "tol": 1e-10}
    doubled = SMTLClassifierCV(class_weight={1: 3.0}, **made).fit(X, y)
    given = SMTLClassifierCV(**made).fit(X, y, sample_weight=np.where(y, 3.0, 1.0))
    np.testing.assert_allclose(doubled.coef_, given.coef_, atol=1e-10)
    np.testing.assert_allclose(doubled.scores_, given.scores_, atol=1e-12)
    several = SMTLClassifierCV(class_weight=[{1: 3.0}, None], **made).fit(X, Y)
    plain = SMTLClassifierCV(**made).fit(X, Y)
    # With ridge tasks do not meet: the other task is as it was, and this one says yes more often.
    np.testing.assert_allclose(several.coef_[1], plain.coef_[1], atol=1e-3)
    assert several.intercept_[0] > plain.intercept_[0]
    assert several.get_params()["class_weight"] == [{1: 3.0}, None]


def test_scorers_of_scikit_learn_are_told_of_weights():
    rng = new_rng()
    X, Y, weights, rows = draw(rng, 60, 1, most=3)
    y, fold = np.nan_to_num(Y[:, 0]).astype(int), rng.permutation(np.arange(60) % 2)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(2)]
    of_copies = [(np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(2)]
    made = {"penalty": "ridge", "Cs": [0.5], "scoring": "accuracy", "threshold": 0.0}
    weighted = SMTLClassifierCV("log", cv=splits, **made).fit(X, y, sample_weight=weights)
    repeated = SMTLClassifierCV("log", cv=of_copies, **made).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, atol=0.05)
    got = weighted.score(X, y, sample_weight=weights)
    assert got == pytest.approx(weighted.score(X[rows], y[rows]), abs=1e-12)
    unable = SMTLClassifierCV("log", cv=splits, **made | {"scoring": lambda model, X, y: 0.5})
    with pytest.raises(ValueError, match="scoring must take sample_weight where rows have weights"):
        unable.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("learners", [["linear"], ["kernel"], [("logistic", LogisticRegression())], ["forest"]])
def test_ensemble(learners):
    rng = new_rng()
    X, Y, weights, rows = draw(rng, 80, most=3)
    fold = rng.permutation(np.arange(80) % 3)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    of_copies = [(np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(3)]
    made = {"learners": learners, "correction": False, "threshold": 0.0}
    weighted = SMTLEnsemble(cv=splits, **made).fit(X, Y, sample_weight=weights)
    repeated = SMTLEnsemble(cv=of_copies, **made).fit(X[rows], Y[rows])
    # Trees and solvers go about copies in another order, so that little things differ.
    assert weighted.score_ == pytest.approx(repeated.score_, abs=0.1)
    got, wanted = weighted.decision_function(X), repeated.decision_function(X)
    assert np.mean(np.abs(got - wanted)) < 0.2 * (0.1 + wanted.std())
    assert np.isnan(weighted.held_out_scores_[weights == 0]).all()
    got = weighted.score(X, Y, sample_weight=weights)
    assert got == pytest.approx(weighted.score(X[rows], Y[rows]), abs=1e-12)


def test_an_ensemble_learns_the_rows_that_count():
    rng = new_rng()
    X = rng.standard_normal((300, 2))
    y = (X[:, 0] > 0).astype(int)
    wrong = rng.random(300) < 0.45
    y[wrong] = 1 - y[wrong]
    for learners in (["linear"], ["kernel"], ["forest"], ["boosting"], [LogisticRegression()]):
        model = SMTLEnsemble(learners=learners, cv=3, correction=False)
        told = model.fit(X, y, sample_weight=np.where(wrong, 1e-3, 1.0)).score(X, X[:, 0] > 0)
        assert told > 0.9, learners


def test_classifiers_that_take_no_weights_are_named():
    X, Y, weights, _ = draw(new_rng(), 40)
    ensemble = SMTLEnsemble(learners=["linear", ("near", KNeighborsClassifier())], cv=2)
    with pytest.raises(ValueError, match=r"learners must take sample_weight in their fit .* got 'near' instead"):
        ensemble.fit(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match="got 'steps' instead"):
        SMTLEnsemble(learners=[("steps", make_pipeline(StandardScaler(), SGDClassifier()))]).fit(
            X, Y, sample_weight=weights
        )


@pytest.mark.parametrize("metric", ["ap", "ndcg", "auc", "pauc", "prbep"])
def test_within_groups(metric):
    rng = new_rng()
    X, Y, weights, rows = draw(rng, 40)
    visit = rng.permutation(np.repeat(np.arange(5), 8))
    made = {"C": 2.0, "threshold": 0.0, "tol": 1e-4}
    weighted = SMTLClassifier(metric, "l21", **made).fit(X, Y, groups=visit, sample_weight=weights)
    repeated = SMTLClassifier(metric, "l21", **made).fit(X[rows], Y[rows], groups=visit[rows])
    agree(weighted, repeated)
    got = weighted.score(X, Y, groups=visit, sample_weight=weights)
    assert got == pytest.approx(weighted.score(X[rows], Y[rows], groups=visit[rows]), abs=1e-12)


@pytest.mark.parametrize("metric", ["ndcg", "ap"])
def test_ranker(metric):
    rng = new_rng()
    X, _, weights, rows = draw(rng, 40)
    grade = np.clip(np.round(X[:, 0] + 1.0 + 0.5 * rng.standard_normal(40)), 0, 3).astype(int)
    query = rng.permutation(np.repeat(np.arange(5), 8))
    made = {"C": 3.0, "tol": 1e-4}
    weighted = SMTLRanker(metric, **made).fit(X, grade, groups=query, sample_weight=weights)
    repeated = SMTLRanker(metric, **made).fit(X[rows], grade[rows], groups=query[rows])
    agree(weighted, repeated)
    got = weighted.score(X, grade, groups=query, sample_weight=weights)
    assert got == pytest.approx(weighted.score(X[rows], grade[rows], groups=query[rows]), abs=1e-12)
    some = SMTLRanker(metric, **made).fit(X, grade, groups=query, sample_weight=rng.random(40) + 0.1)
    assert some.gap_ <= 1e-4


@pytest.mark.parametrize(
    "estimator",
    [StructSVM("f1", C=1.0, threshold=0.0, tol=1e-4), MTLClassifier(C=1.0, threshold=0.0, tol=1e-4)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_baselines(estimator):
    X, Y, weights, rows = draw(new_rng())
    weighted = sklearn.clone(estimator).fit(X, Y, sample_weight=weights)
    agree(weighted, sklearn.clone(estimator).fit(X[rows], Y[rows]))


def test_thresholded_logistic():
    rng = new_rng()
    X, Y, weights, rows = draw(rng, 60)
    fold = rng.permutation(np.arange(60) % 3)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    of_copies = [(np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(3)]
    weighted = ThresholdedLogistic([0.1, 1.0], cv=splits, tol=1e-8).fit(X, Y, sample_weight=weights)
    repeated = ThresholdedLogistic([0.1, 1.0], cv=of_copies, tol=1e-8).fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, atol=1e-9)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-4)
    got = weighted.score(X, Y, sample_weight=weights)
    assert got == pytest.approx(weighted.score(X[rows], Y[rows]), abs=1e-12)


def test_metadata_routing():
    rng = new_rng()
    X, Y, weights, _ = draw(rng, 60)
    with sklearn.config_context(enable_metadata_routing=True):
        model = SMTLClassifier("f1", threshold=0.0)
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=GroupKFold(2).split(X, groups=np.arange(60) % 4))
        search.fit(X, Y, sample_weight=weights)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), model)
        splitter = MultilabelStratifiedKFold(2)
        scores = cross_val_score(pipeline, X, Y, cv=splitter, params={"sample_weight": weights})
        assert np.isfinite(scores).all()
        best = search.best_estimator_
    alone = SMTLClassifier("f1", threshold=0.0, C=best.C).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(best.coef_, alone.coef_)


def test_a_search_of_scikit_learn_with_missing_labels():
    X, Y, _, _ = draw(new_rng(), 60)
    assert np.isnan(Y).any()
    model, splitter = SMTLClassifier("auc", threshold=0.0), MultilabelStratifiedKFold(3)
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=splitter, error_score="raise").fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict(X).shape == Y.shape
