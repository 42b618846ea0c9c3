"""SMTLClassifierCV and smtl_path against loops by hand, scikit-learn's own search, and brute force."""

import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from smtl import F2, L21, SMTLClassifier, SMTLClassifierCV, smtl_path
from smtl.estimators.fitting import Formula
from smtl.estimators.folds import make_folds
from smtl.estimators.held_out import HeldOut, fold_problems
from smtl.estimators.targets import read_targets
from smtl.estimators.thresholds import best_cut
from smtl.metrics import get_metric, metric_names
from smtl.penalties import get_penalty, penalty_names
from tests.seeds import new_rng, new_seed

pytestmark = pytest.mark.filterwarnings("ignore:Task")


def draw_multilabel():
    seed = int(new_rng().integers(2**31))
    X, Y = make_multilabel_classification(200, 10, n_classes=4, random_state=seed)
    Y[:10], Y[10:20] = 0, 1  # both classes in every column
    # Counts of words would give rows of equal scores, which rounding puts in one order or another.
    X += np.random.default_rng(seed).normal(scale=0.1, size=X.shape)
    return StandardScaler().fit_transform(X), Y


@pytest.fixture
def multilabel():
    return draw_multilabel()


@pytest.fixture
def own_rows():
    rng = new_rng()
    X = rng.standard_normal((240, 5))
    site = np.array(["north", "south", "west"])[rng.integers(0, 3, 240)]
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.standard_normal(240) > 0.8).astype(int)
    for name in np.unique(site):
        y[np.flatnonzero(site == name)[:16]] = [0, 1] * 8
    return X, y, site


def best_f1(positive, scores):
    """The best F1 of any cut, by trying them all."""
    yes = scores > np.append(scores, -np.inf)[:, None]
    tp = (yes & positive).sum(axis=1)
    return (2 * tp / (yes.sum(axis=1) + positive.sum())).max()


@pytest.mark.parametrize("metric", metric_names())
@pytest.mark.parametrize("penalty", penalty_names())
def test_every_point_of_a_path_is_a_cold_fit(multilabel, metric, penalty):
    X, Y = multilabel
    path = smtl_path(X[:80], Y[:80], metric=metric, penalty=penalty, Cs=6, tol=1e-3)
    assert np.all(path.gaps <= 1e-3)
    for k, C in enumerate(path.Cs):
        model = SMTLClassifier(metric, penalty, C=C, tol=1e-3, threshold=0.0).fit(X[:80], Y[:80])
        # Both are within the tolerance of the same optimum.
        assert path.objectives[k] == pytest.approx(model.objective_, rel=1e-3)
        assert path.dual_bounds[k] <= model.objective_ * (1 + 1e-9)
        assert model.dual_bound_ <= path.objectives[k] * (1 + 1e-9)


def test_a_path_with_ridge_and_own_rows(own_rows):
    X, y, site = own_rows
    path = smtl_path(X, y, tasks=site, metric="auc", penalty="trace", ridge=0.3, Cs=[3.0, 0.3], tol=1e-4)
    assert path.Cs.tolist() == [0.3, 3.0]
    for k, C in enumerate(path.Cs):
        model = SMTLClassifier("auc", "trace", ridge=0.3, C=C, tol=1e-4, threshold=0.0).fit(X, y, tasks=site)
        assert path.objectives[k] == pytest.approx(model.objective_, rel=1e-4)
        assert path.coefs[k] == pytest.approx(model.coef_, abs=0.05)  # ridge makes the optimum unique


def test_the_default_grid_begins_where_weights_do(multilabel):
    X, Y = multilabel
    path = smtl_path(X, Y, metric="auc", penalty="l21", Cs=4, tol=1e-6)
    assert path.Cs[-1] / path.Cs[0] == pytest.approx(1000.0)
    below = SMTLClassifier("auc", "l21", C=0.99 * path.Cs[0], tol=1e-9, threshold=0.0).fit(X, Y)
    assert not below.coef_.any()
    above = smtl_path(X, Y, metric="auc", penalty="l21", Cs=[1.5 * path.Cs[0]], tol=1e-9)
    assert above.coefs.any()


def test_the_papers_grid(multilabel):
    X, Y = multilabel
    path = smtl_path(X[:50], Y[:50], metric="auc", Cs="paper", tol=0.1)
    parts = [1e-3 * i for i in range(1, 11)] + [1e-2 * i for i in range(1, 11)] + [1e-1 * i for i in range(1, 11)]
    parts += [2 * i for i in range(1, 11)] + [40 * i for i in range(1, 21)]
    np.testing.assert_allclose(path.Cs, sorted(parts))
    assert len(path.Cs) == 60


def test_a_path_keeps_constant_tasks_constant(multilabel):
    X, Y = multilabel
    path = smtl_path(X, np.column_stack([Y, np.ones(200, dtype=int)]), Cs=3)
    assert path.coefs.shape == (3, 5, 10)
    assert not path.coefs[:, 4].any()
    assert np.all(path.intercepts[:, 4] > 0)
    with pytest.raises(ValueError, match="there is no path"):
        smtl_path(X, np.zeros((200, 2)))


@pytest.mark.parametrize("Cs", [0, -3, 2.5, True, "papers", [], [1.0, -1.0], [np.nan], None, ["a"], np.array(5)])
def test_bad_grids(multilabel, Cs):
    X, Y = multilabel
    with pytest.raises(ValueError, match="Cs must"):
        smtl_path(X, Y, Cs=Cs)
    with pytest.raises(ValueError, match="Cs must"):
        SMTLClassifierCV(Cs=Cs).fit(X, Y)


@pytest.mark.parametrize("metric", ["auc", "log"])
def test_scores_are_those_of_a_loop_by_hand(multilabel, metric):
    """For metrics that do not look at the cut, a fold's score is that of a classifier fitted to the rest."""
    X, Y = multilabel
    Cs, splits = [0.1, 1.0], list(KFold(3).split(X))
    model = SMTLClassifierCV(metric, "trace", Cs=Cs, cv=splits, scoring="roc_auc").fit(X, Y)
    for j, C in enumerate(Cs):
        for k, (train, test) in enumerate(splits):
            fold = SMTLClassifier(metric, "trace", C=C, tol=2e-2, threshold=0.0).fit(X[train], Y[train])
            values = [roc_auc_score(Y[test, i], fold.decision_function(X[test])[:, i]) for i in range(4)]
            assert model.scores_[k, j] == pytest.approx(np.mean(values), abs=0.03)  # both within a gap of 0.02
    assert Cs[model.scores_.mean(axis=0).argmax()] == model.C_
    np.testing.assert_array_equal(model.Cs_, Cs)


def test_log_loss_is_judged_before_the_cut(multilabel):
    X, Y = multilabel
    uncut = SMTLClassifierCV("log", "ridge", Cs=[0.1, 1.0], cv=3, threshold=0.0).fit(X, Y)
    model = SMTLClassifierCV("log", "ridge", Cs=[0.1, 1.0], cv=3).fit(X, Y)
    assert np.any(model.thresholds_ != 0.0)
    np.testing.assert_allclose(model.scores_, uncut.scores_, rtol=1e-9)
    expected = -np.mean([log_loss(Y[:, i], model.predict_proba(X)[:, i]) for i in range(4)])
    assert model.score(X, Y) == pytest.approx(expected)
    iris, species = load_iris(return_X_y=True)
    classes = SMTLClassifierCV("log", Cs=[0.1], cv=3).fit(iris, species)
    raw = classes.decision_function(iris) + classes.thresholds_
    expected = -np.mean([log_loss(species == k, 1 / (1 + np.exp(-raw[:, k]))) for k in range(3)])
    assert classes.score(iris, species) == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["f1", "f2", "jaccard", "gmean", "error"])
def test_the_best_cut_is_the_best_of_all(metric):
    rng = new_rng()
    for _ in range(200):
        n = int(rng.integers(2, 12))
        y, s = rng.choice([-1, 1], n), rng.integers(0, 5, n) / 2.0
        y[:2] = [-1, 1]
        scorer = get_metric(metric)
        best = max(scorer.score(y, s - cut) for cut in [*(s - 0.25), s.max() + 1.0])
        assert scorer.score(y, s - best_cut(y, s, scorer)) == pytest.approx(best)


@pytest.mark.parametrize("cv", [KFold(4), RepeatedKFold(n_splits=4, n_repeats=3), ShuffleSplit(6, test_size=0.3)])
def test_a_folds_cuts_have_not_seen_its_rows(multilabel, cv):
    X, Y = multilabel
    targets = read_targets(X, Y)
    folds = fold_problems(X, targets, list(cv.split(X)), Formula(get_metric("auc"), get_penalty("l21")))
    held = HeldOut(targets, folds, [np.zeros((len(fold.test), 4)) for fold in folds])
    rows = np.concatenate([fold.test for fold in folds])
    for k, fold in enumerate(folds):
        assert set(rows[held.without(k)]) == set(rows) - set(fold.test)
    assert held.without(len(folds)).all()


@pytest.mark.parametrize("threshold", ["per-task", "shared", "smoothed", 2.0, -2.0])
@pytest.mark.parametrize("refit", [True, False])
def test_constant_tasks_keep_their_answer(multilabel, threshold, refit):
    X, Y = multilabel
    Y = np.column_stack([Y, np.zeros(200, dtype=int), np.ones(200, dtype=int)])
    model = SMTLClassifierCV("log", Cs=[0.3], cv=3, threshold=threshold, refit=refit).fit(X, Y)
    assert not model.predict(X)[:, 4].any()
    assert model.predict(X)[:, 5].all()


def test_scores_that_cannot_be_had_are_an_error(multilabel):
    X, Y = multilabel
    with pytest.raises(ValueError, match="No fold could be scored"):
        SMTLClassifierCV("auc", Cs=2, cv=LeaveOneOut()).fit(X[:30], Y[:30])
    with pytest.raises(ValueError, match=r"scikit-learn's scorers know no NaN"):
        SMTLClassifierCV("auc", scoring="accuracy").fit(X, np.where(Y[0] == Y, np.nan, Y))
    y = Y[:, 0].astype(float)
    y[50:60] = np.nan
    assert np.isfinite(SMTLClassifierCV("auc", Cs=2, scoring="accuracy").fit(X, y).scores_).all()
    with pytest.raises(ValueError, match="groups must be None unless cv is a number of folds"):
        SMTLClassifierCV("auc", cv=[(np.arange(100), np.arange(100, 200))]).fit(X, Y, groups=np.arange(200))


def test_warnings_point_at_the_users_line(multilabel):
    X, Y = multilabel
    Y = np.column_stack([Y, np.zeros(200, dtype=int)])
    for fit in (lambda: SMTLClassifierCV("f1", Cs=[1e-9]).fit(X, Y), lambda: smtl_path(X, Y, max_iter=1, tol=1e-9)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit()
        assert caught
        assert {warning.filename for warning in caught} == {__file__}


def test_a_best_C_at_the_open_end_of_the_grid_is_reported(multilabel):
    X, _ = multilabel
    with pytest.warns(UserWarning, match=r"The best C, 1, is the largest of the 2 .* goes on to 10"):
        SMTLClassifierCV("auc", Cs=[1e-9, 1.0]).fit(X, X[:, :2] > 0)


@pytest.mark.parametrize("Cs", [[1.0], [1.0, 1.0]])
def test_a_flat_end_is_not(multilabel, recwarn, Cs):
    SMTLClassifierCV("auc", Cs=Cs).fit(*multilabel)
    assert not [warning for warning in recwarn if "largest" in str(warning.message)]


@pytest.mark.parametrize("seed", range(6))
def test_one_standard_error_among_several_candidates(seed):
    """Also where a candidate takes the lead late: the first seed is one of those."""
    X, Y = make_multilabel_classification(90, n_features=10, n_classes=3, random_state=seed)
    X = StandardScaler().fit_transform(X)
    options = {"Cs": 6, "cv": 3, "selection": "1se", "tol": 1e-2}
    model = SMTLClassifierCV("auc", ["l11", "l21"], **options).fit(X, Y)
    alone = SMTLClassifierCV("auc", model.penalty_, **options).fit(X, Y)
    assert model.C_ == alone.C_
    np.testing.assert_array_equal(model.coef_, alone.coef_)


@pytest.mark.parametrize("threshold", ["per-task", "shared", "smoothed"])
@pytest.mark.parametrize("estimator", [SMTLClassifier, lambda *a, **b: SMTLClassifierCV(*a, Cs=4, **b)])
def test_the_cut_of_a_task_with_one_positive(estimator, threshold):
    """No held-out positive says where it should be: yes is said about as often as the labels do, not to half of all."""
    said_yes = []
    for _ in range(10):  # a single one may be far off, where other tasks have a say in the cut
        X, Y = draw_multilabel()
        Y[:, 2] = 0
        Y[7, 2] = 1
        model = estimator("auc", threshold=threshold).fit(X, Y)
        said_yes.append(model.predict(X)[:, 2].mean())
    assert np.mean(said_yes) <= 0.2


def test_a_single_split_is_not_cut_by_its_own_labels(multilabel):
    X, Y = multilabel
    with pytest.raises(ValueError, match="cv must have at least two splits where thresholds are chosen"):
        SMTLClassifierCV("f1", cv=ShuffleSplit(1, random_state=0)).fit(X, Y)
    for options in ({"metric": "f1", "threshold": 0.0}, {"metric": "auc"}):
        model = SMTLClassifierCV(**options, Cs=3, cv=ShuffleSplit(1, random_state=0)).fit(X, Y)
        assert model.scores_.shape == (1, 3)


def test_Cs_may_be_used_up_by_reading(multilabel):
    X, Y = multilabel
    model = SMTLClassifierCV("auc", ["l21", "trace"], Cs=(C for C in [0.1, 1.0]), cv=2).fit(X, Y)
    assert len(model.cv_results_["param_C"]) == 4


def test_thresholds_come_from_the_held_out_scores(multilabel, monkeypatch):
    """By brute force: no cut of the held-out scores has a better F1; a fold is scored with what the others choose."""
    X, Y = multilabel
    seen = []
    from smtl.estimators import search

    def spy(held, *rest):
        seen.append((held, search_choose(held, *rest)))
        return seen[-1][1]

    search_choose = search.choose_cuts
    monkeypatch.setattr(search, "choose_cuts", spy)
    model = SMTLClassifierCV("auc", Cs=[0.3], cv=4, scoring="f1_macro", threshold="per-task").fit(X, Y)
    ((held, cuts),) = seen
    columns = [(y, s, held.fold[places]) for places, y, s in held.columns()]
    for i, (y, s, fold) in enumerate(columns):
        assert f1_score(y > 0, s > model.thresholds_[i]) == pytest.approx(best_f1(y > 0, s))
        for k in range(4):
            others, scores = y[fold != k] > 0, s[fold != k]
            assert f1_score(others, scores > cuts.by_fold[k, i]) == pytest.approx(best_f1(others, scores))
    expected = [
        np.mean([f1_score(y[f == k] > 0, s[f == k] > cuts.by_fold[k, i]) for i, (y, s, f) in enumerate(columns)])
        for k in range(4)
    ]
    np.testing.assert_allclose(model.scores_[:, 0], expected)
    np.testing.assert_allclose(model.intercept_, -model.thresholds_)


def test_shared_and_smoothed_thresholds(multilabel):
    X, Y = multilabel
    fit = {
        how: SMTLClassifierCV("f1", Cs=[0.3], cv=4, threshold=how).fit(X, Y)
        for how in ("per-task", "shared", "smoothed")
    }
    assert len(np.unique(fit["shared"].thresholds_)) == 1
    assert len(np.unique(fit["per-task"].thresholds_)) > 1
    assert (fit["per-task"].smoothing_, fit["shared"].smoothing_) == (0.0, np.inf)
    own, shared, smoothing = fit["per-task"].thresholds_, fit["shared"].thresholds_, fit["smoothed"].smoothing_
    n_pos = Y.sum(axis=0)
    mixed = shared if np.isinf(smoothing) else (n_pos * own + smoothing * shared) / (n_pos + smoothing)
    np.testing.assert_allclose(fit["smoothed"].thresholds_, mixed)
    # The smoothing is the best of those tried, so it is no worse than either end.
    assert fit["smoothed"].scores_.mean() >= max(fit[how].scores_.mean() for how in ("per-task", "shared")) - 1e-12
    auc = SMTLClassifierCV("auc", Cs=[0.3], cv=4, threshold="shared").fit(X, Y)
    assert len(np.unique(auc.thresholds_)) == 1
    number = SMTLClassifierCV("f1", Cs=[0.3], cv=4, threshold=0.5).fit(X, Y)
    np.testing.assert_array_equal(number.thresholds_, 0.5)


def test_the_cut_has_a_target_of_its_own():
    rng = new_rng()
    X = rng.standard_normal((1500, 5))
    y = (X @ [1.0, 1.0, 0, 0, 0] + 0.7 * rng.standard_normal(1500) > 2.0).astype(int)
    models = {
        target: SMTLClassifierCV("auc", Cs=[1.0], threshold_metric=target).fit(X, y) for target in ("f2", "f0.5", F2())
    }
    assert models["f2"].predict(X).sum() > models["f0.5"].predict(X).sum()
    np.testing.assert_array_equal(models["f2"].thresholds_, list(models.values())[2].thresholds_)
    with pytest.raises(ValueError, match="threshold_metric must be a function of the answers"):
        SMTLClassifierCV("f1", threshold_metric="auc").fit(X, y)


def test_metric_penalty_and_ridge_are_chosen_jointly(multilabel):
    X, Y = multilabel
    model = SMTLClassifierCV(["auc", "f1"], ["l21", "trace"], ridge=[0.0, 0.5], Cs=[0.1, 1.0], cv=3, scoring="auc").fit(
        X, Y
    )
    table = pd.DataFrame(model.cv_results_)
    assert len(table) == 16
    best = table.loc[table.mean_test_score.idxmax()]
    assert (model.metric_, model.penalty_, model.ridge_, model.C_) == (
        best.param_metric, best.param_penalty, best.param_ridge, best.param_C,
    )  # fmt: skip
    assert table.rank_test_score.min() == 1
    assert best.rank_test_score == 1
    np.testing.assert_allclose(
        table.mean_test_score, table[["split0_test_score", "split1_test_score", "split2_test_score"]].mean(axis=1)
    )
    rows = table[(table.param_metric == model.metric_) & (table.param_penalty == model.penalty_)]
    rows = rows[rows.param_ridge == model.ridge_]
    np.testing.assert_array_equal(model.scores_.mean(axis=0), rows.mean_test_score)
    with pytest.raises(ValueError, match="scoring must be given where metric is a list"):
        SMTLClassifierCV(["auc", "f1"]).fit(X, Y)


def test_one_standard_error(multilabel):
    X, Y = multilabel
    best = SMTLClassifierCV("auc", Cs=12, cv=5).fit(X, Y)
    sparing = clone(best).set_params(selection="1se").fit(X, Y)
    mean, error = best.scores_.mean(axis=0), best.scores_.std(axis=0, ddof=1) / np.sqrt(5)
    k = mean.argmax()
    assert best.Cs_[k] == best.C_
    assert best.Cs_[np.flatnonzero(mean >= mean[k] - error[k])[0]] == sparing.C_
    assert sparing.C_ <= best.C_


def test_the_final_model_is_a_classifier_with_that_C(multilabel):
    X, Y = multilabel
    model = SMTLClassifierCV("auc", Cs=5, cv=3).fit(X, Y)
    plain = SMTLClassifier("auc", C=model.C_, threshold=0.0).fit(X, Y)
    # It starts from the models of the folds, and ends elsewhere within the same gap.
    assert max(model.gap_, plain.gap_) <= 1e-3
    assert max(model.dual_bound_, plain.dual_bound_) <= min(model.objective_, plain.objective_)
    assert np.corrcoef(model.coef_.ravel(), plain.coef_.ravel())[0, 1] > 0.95
    assert not model.partial_
    mean = clone(model).set_params(refit=False).fit(X, Y)
    assert mean.C_ == model.C_
    assert not hasattr(mean, "gap_")
    folds = make_folds(3, X, Y, read_targets(X, Y), np.random.RandomState(0))
    each = [
        SMTLClassifier("auc", C=model.C_, tol=2e-2, threshold=0.0).fit(X[train], Y[train]).coef_ for train, _ in folds
    ]
    assert np.corrcoef(mean.coef_.ravel(), np.mean(each, axis=0).ravel())[0, 1] > 0.99
    np.testing.assert_array_equal(mean.thresholds_, model.thresholds_)
    assert not mean.partial_


@pytest.mark.parametrize("scoring", ["f1_macro", "f1_micro", "roc_auc", "accuracy", "average_precision"])
def test_names_of_scorers_mean_what_they_mean_in_scikit_learn(multilabel, scoring):
    X, Y = multilabel
    model = SMTLClassifierCV("auc", Cs=[0.1, 1.0], cv=3, scoring=scoring, threshold="per-task").fit(X, Y)
    assert np.isfinite(model.scores_).all()
    expected = sklearn.metrics.get_scorer(scoring)(model, X, Y)
    assert model.score(X, Y) == pytest.approx(expected)
    own = clone(model).set_params(scoring=sklearn.metrics.get_scorer(scoring)).fit(X, Y)
    np.testing.assert_allclose(own.scores_, model.scores_)


def test_a_scorer_of_ones_own_decides(multilabel):
    X, Y = multilabel
    few = make_scorer(lambda y, answers: -float(answers.sum()))
    model = SMTLClassifierCV("f1", Cs=[0.1, 1.0], cv=3, scoring=few).fit(X, Y)
    assert model.Cs_[model.scores_.mean(axis=0).argmax()] == model.C_
    with pytest.raises(ValueError, match="scoring must be None, one of smtl's metrics"):
        SMTLClassifierCV(scoring="f1_best").fit(X, Y)


def test_multiclass_and_binary():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = SMTLClassifierCV("auc", Cs=8, cv=StratifiedKFold(3), scoring="accuracy").fit(X, y)
    assert model.score(X, y) == np.mean(model.predict(X) == y)
    assert model.score(X, y) > 0.8
    f1 = SMTLClassifierCV("f1", Cs=8, cv=3).fit(X, y)
    assert f1.score(X, y) == pytest.approx(f1_score(y, f1.predict(X), average="macro"))
    binary = SMTLClassifierCV("f1", Cs=5, cv=3).fit(X, np.where(y == 2, "yes", "no"))
    assert set(binary.predict(X)) <= {"yes", "no"}
    assert binary.score(X, np.where(y == 2, "yes", "no")) == pytest.approx(f1_score(y == 2, binary.predict(X) == "yes"))


def test_own_rows_are_split_inside_each_task(own_rows):
    X, y, site = own_rows
    model = SMTLClassifierCV("auc", "trace", Cs=5, cv=4).fit(X, y, tasks=site)
    assert np.isfinite(model.scores_).all()
    own = model.decision_function(X, tasks=site)
    expected = np.mean([roc_auc_score(y[site == name], own[site == name]) for name in np.unique(site)])
    assert model.score(X, y, tasks=site) == pytest.approx(expected)
    micro = SMTLClassifierCV("f1", Cs=3, cv=4, scoring="f1_micro").fit(X, y, tasks=site)
    assert micro.score(X, y, tasks=site) == pytest.approx(f1_score(y, micro.predict(X, tasks=site)))
    with pytest.raises(ValueError, match="do not know which task a row belongs to"):
        SMTLClassifierCV("f1", scoring="accuracy").fit(X, y, tasks=site)


def test_holes_in_the_labels(multilabel):
    X, Y = multilabel
    holes = Y.astype(float)
    holes[new_rng().random(Y.shape) < 0.3] = np.nan
    holes[:20] = Y[:20]
    model = SMTLClassifierCV("f1", Cs=4, cv=3, scoring="f1_macro").fit(X, holes)
    assert np.isfinite(model.scores_).all()
    known = ~np.isnan(holes)
    answers = model.predict(X)
    expected = np.mean([f1_score(holes[known[:, i], i], answers[known[:, i], i]) for i in range(4)])
    assert model.score(X, holes) == pytest.approx(expected)


def test_rare_labels_are_named_and_trained(multilabel):
    X, Y = multilabel
    Y = pd.DataFrame(Y, columns=["a", "b", "c", "d"])
    Y["c"] = 0
    Y.loc[[3, 30, 60], "c"] = 1
    with pytest.warns(UserWarning, match="Task c has fewer positives, or negatives, than the 5 folds"):
        model = SMTLClassifierCV("auc", Cs=[10.0], cv=5).fit(X, Y)
    assert model.coef_[2].any()
    assert np.isfinite(model.scores_).all()
    assert np.isfinite(model.thresholds_).all()
    Y["c"] = 0
    with pytest.warns(UserWarning, match="only one class"):
        constant = SMTLClassifierCV("auc", Cs=[1.0], cv=3).fit(X, Y)
    assert not constant.predict(X)[:, 2].any()


@pytest.mark.parametrize("cv", [KFold(3), ShuffleSplit(4, random_state=0), 3])
def test_ways_to_split(multilabel, cv):
    X, Y = multilabel
    model = SMTLClassifierCV("f1", Cs=3, cv=cv).fit(X, Y)
    assert model.scores_.shape == (4 if isinstance(cv, ShuffleSplit) else 3, 3)
    five = SMTLClassifierCV("f1", Cs=3, cv=None).fit(X, Y)
    np.testing.assert_allclose(five.scores_, SMTLClassifierCV("f1", Cs=3, cv=5).fit(X, Y).scores_, rtol=1e-9)
    groups = np.arange(200) % 7
    grouped = SMTLClassifierCV("f1", Cs=3, cv=GroupKFold(7)).fit(X, Y, groups=groups)
    assert grouped.scores_.shape == (7, 3)


def test_threads_row_order_and_repetition(multilabel):
    X, Y = multilabel
    model = SMTLClassifierCV("log", "ridge", Cs=4, cv=3).fit(X, Y)
    threaded = clone(model).set_params(n_jobs=2).fit(X, Y)
    np.testing.assert_allclose(threaded.scores_, model.scores_, rtol=1e-9)  # sums of BLAS depend on where arrays lie
    np.testing.assert_allclose(threaded.coef_, model.coef_, atol=1e-9)
    order = new_rng().permutation(200)
    shuffled = clone(model).fit(X[order], Y[order])
    assert shuffled.scores_ == pytest.approx(model.scores_, abs=0.02)  # the solver's tolerance


def test_sparse_and_float32(multilabel):
    X, Y = multilabel
    X = np.where(np.abs(X) > 0.8, X, 0.0)
    dense = SMTLClassifierCV("auc", Cs=3, cv=3).fit(X, Y)
    sparse = SMTLClassifierCV("auc", Cs=3, cv=3).fit(sp.csr_array(X), Y)
    assert sparse.scores_ == pytest.approx(dense.scores_, abs=0.01)
    single = SMTLClassifierCV("auc", Cs=3, cv=3).fit(X.astype(np.float32), Y)
    assert single.coef_.dtype == single.intercept_.dtype == np.float32


def test_in_a_pipeline_with_names(multilabel):
    X, Y = multilabel
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(10)])
    model = SMTLClassifierCV("f1", Cs=3, cv=3).fit(frame, Y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    pipeline = make_pipeline(StandardScaler(), SMTLClassifierCV("f1", Cs=3, cv=3)).fit(frame, Y)
    assert pipeline.predict(frame).shape == Y.shape
    with pytest.raises(NotFittedError):
        SMTLClassifierCV().predict(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"selection": "2se"}, "selection must be 'best' or '1se', got '2se'"),
        (
            {"threshold": "best"},
            "threshold must be one of 'auto', 'expected', 'per-task', 'shared', 'smoothed', 'calibrated', ",
        ),
        ({"penalty": []}, "penalty must not be an empty list"),
        ({"metric": "f3"}, "metric must be one of"),
        ({"cv": 1}, "cv must be"),
        ({"tol": -1.0}, "tol must be a positive number"),
        ({"solver": "simplex"}, "solver must be one of"),
        ({"scoring": F2}, "scoring must be None, one of smtl's metrics"),
    ],
)
def test_bad_parameters(multilabel, parameters, message):
    X, Y = multilabel
    with pytest.raises(ValueError, match=message):
        SMTLClassifierCV(**{"Cs": 2, "cv": 2, **parameters}).fit(X, Y)


def test_a_bar_on_standard_error(multilabel, capfd):
    X, Y = multilabel
    SMTLClassifierCV("auc", Cs=3, cv=2, verbose=1).fit(X, Y)
    shown = capfd.readouterr()
    assert "6/6" in shown.err
    assert shown.out == ""


@pytest.mark.skipif(parse_version(sklearn.__version__) < parse_version("1.9"), reason="scikit-learn has no callbacks")
def test_callbacks_hear_of_every_step_and_may_stop(multilabel):
    X, Y = multilabel

    class Listener:
        def __init__(self, stop_after):
            self.steps, self.stop_after, self.ended = [], stop_after, False

        def setup(self, estimator, context):
            self.total = context.max_subtasks

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            if context.parent is not None:
                self.steps.append(context.task_name)
            return len(self.steps) >= self.stop_after

        def teardown(self, estimator, context):
            self.ended = True

    listener = Listener(10**6)
    whole = SMTLClassifierCV("auc", Cs=4, cv=3).set_callbacks(listener).fit(X, Y)
    assert (len(listener.steps), listener.total, listener.ended) == (12, 12, True)
    assert not whole.partial_
    listener = Listener(6)
    with pytest.warns(UserWarning, match="interrupted after 2 values of C"):
        partial = SMTLClassifierCV("auc", Cs=4, cv=3).set_callbacks(listener).fit(X, Y)
    assert partial.partial_
    np.testing.assert_allclose(partial.scores_, whole.scores_[:, :2], rtol=1e-9)
    assert partial.predict(X).shape == Y.shape


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_control_c_leaves_what_was_done(n_jobs):
    """A real process, a real signal."""
    program = f"""
        import os, signal, threading, time, warnings
        import numpy as np
        from smtl import SMTLClassifierCV
        from smtl.estimators import candidates
        rng = np.random.default_rng({new_seed()})
        X = rng.standard_normal((4000, 40))
        Y = (X @ rng.standard_normal((40, 10)) + 3 * rng.standard_normal((4000, 10)) > 3).astype(int)
        search, begun = candidates.search, threading.Event()

        def watched(*arguments, **options):
            for point in search(*arguments, **options):
                yield point
                begun.set()  # the first is kept, and the second has been asked for

        def interrupt():
            begun.wait()
            time.sleep({new_rng().uniform(0.0, 0.3)})
            os.kill(os.getpid(), signal.SIGINT)

        candidates.search = watched
        signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts with & ignores it
        threading.Thread(target=interrupt).start()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = SMTLClassifierCV("f1", Cs=np.logspace(-3, 1, 2000), n_jobs={n_jobs}).fit(X, Y)
        assert model.partial_
        assert any("interrupted" in str(w.message) for w in caught)
        assert 1 <= len(model.Cs_) < 2000
        assert model.predict(X).shape == Y.shape
        print("usable", len(model.Cs_))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usable")


def test_interrupted_before_anything_is_known(multilabel, monkeypatch):
    from smtl.estimators import candidates

    def interrupted(*_, **__):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(candidates, "search", interrupted)
    with pytest.raises(KeyboardInterrupt):
        SMTLClassifierCV().fit(*multilabel)


def test_objects_will_do_for_names(multilabel):
    X, Y = multilabel
    named = SMTLClassifierCV("f2", "l21", Cs=3, cv=3).fit(X, Y)
    objects = SMTLClassifierCV(F2(), L21(), Cs=3, cv=3).fit(X, Y)
    np.testing.assert_array_equal(named.coef_, objects.coef_)
