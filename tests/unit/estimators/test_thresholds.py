"""Cuts against brute force: all cuts tried, and the rules compared by hand."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier, SMTLClassifierCV
from smtl.estimators.calibration import logistic_curves
from smtl.estimators.cut_rules import calibrated_rules, mixed_rules
from smtl.estimators.held_out import Fold, HeldOut
from smtl.estimators.scoring import TaskScorer, columns_of_fold, fold_scores
from smtl.estimators.targets import read_targets
from smtl.estimators.thresholds import choose_cuts
from smtl.metrics import AUC, F1, Log, get_metric
from tests.seeds import new_rng

pytestmark = pytest.mark.filterwarnings("ignore:Task")


def held_out(scores, Y, n_folds, tasks=None):
    """HeldOut of given scores, row k in fold k modulo n_folds."""
    none = np.zeros(0, dtype=np.int64)
    folds = [Fold(none, np.arange(k, len(Y), n_folds), none, None) for k in range(n_folds)]
    return HeldOut(read_targets(Y, Y, tasks), folds, [scores[fold.test] for fold in folds])


def draw(n=60, m=3):
    rng = new_rng()
    Y = (rng.random((n, m)) < np.linspace(0.15, 0.5, m)).astype(int)
    Y[:4], Y[4:8] = 0, 1
    return Y + rng.standard_normal((n, m)), Y


def all_cuts(scores):
    s = np.unique(scores)
    return [s[0] - 1.0, *(0.5 * (s[1:] + s[:-1])), s[-1] + 1.0]


def test_one_cut_of_the_log_odds_is_the_best_for_all_tasks_together():
    scores, Y = draw()
    held = held_out(scores, Y, 3)
    cuts = choose_cuts(held, "calibrated", Log(), F1(), TaskScorer(F1(), pooled=True))
    assert cuts.rule == "calibrated"
    for chosen, without in [(cuts.cut, None), *((cuts.by_fold[k], k) for k in range(3))]:
        rows = np.arange(60) % 3 != (3 if without is None else without)
        curves = logistic_curves(held, without)
        odds = curves.log_odds(scores)[rows]
        best = max(f1_score(Y[rows], odds > cut, average="micro") for cut in all_cuts(odds))
        assert f1_score(Y[rows], scores[rows] > chosen, average="micro") == pytest.approx(best)
        # One cut of the log odds: whatever is above it in one task is above all that is below it in any.
        yes = scores[rows] > chosen
        assert odds[yes].min() >= odds[~yes].max() - 1e-9


@pytest.mark.parametrize("name", ["f1", "f2", "jaccard", "error", "gmean"])
def test_no_cut_is_expected_to_be_better(name):
    """The metric of the counts to be expected, at every cut, from probabilities worked out one by one."""
    metric = get_metric(name)
    scores, Y = draw()
    held = held_out(scores, Y, 3)
    cuts = choose_cuts(held, "expected", Log(), metric)
    assert cuts.rule == "expected"
    for chosen, without in [(cuts.cut, None), *((cuts.by_fold[k], k) for k in range(3))]:
        rows = np.arange(60) % 3 != (3 if without is None else without)
        odds = logistic_curves(held, without).log_odds(scores)[rows]
        for s, p, cut in zip(scores[rows].T, (1 / (1 + np.exp(-odds))).T, chosen, strict=True):

            def loss(at, s=s, p=p):
                tp, fp = p[s > at].sum(), (1 - p[s > at]).sum()
                return float(metric.losses(np.array([tp]), np.array([fp]), p.sum(), (1 - p).sum())[0])

            assert loss(cut) == pytest.approx(min(map(loss, all_cuts(s))), abs=1e-9)


def test_as_many_answers_as_labels():
    scores, Y = draw()
    cuts = choose_cuts(held_out(scores, Y, 3), "cardinality", Log(), F1())
    assert (scores > cuts.cut).sum() == Y.sum()
    assert cuts.rule == "cardinality"


def test_no_pair_of_cuts_beats_the_per_task_ones():
    scores, Y = draw(24, 2)
    cuts = choose_cuts(held_out(scores, Y, 3), "per-task", Log(), F1())
    best = max(
        f1_score(Y, scores > np.array(pair), average="macro") for pair in itertools.product(*map(all_cuts, scores.T))
    )
    assert f1_score(Y, scores > cuts.cut, average="macro") == pytest.approx(best)


@pytest.mark.parametrize("scorer", [TaskScorer(F1()), TaskScorer(F1(), pooled=True), TaskScorer(get_metric("error"))])
@pytest.mark.parametrize("metric", [Log(), AUC()])
def test_auto_is_the_expected_cut_unless_another_is_clearly_better(scorer, metric):
    scores, Y = draw()
    held = held_out(scores, Y, 3)
    cuts = choose_cuts(held, "auto", metric, scorer.metric, scorer)

    def nested(rule):
        return [scorer(columns_of_fold(held, k, rule.whole[k], answers=True)) for k in range(3)]

    usual, *others = calibrated_rules(held, scorer.metric, pooled=scorer.pooled, levels=False)
    others = mixed_rules(held, "auto", metric, scorer.metric) + others
    assert usual.name == "expected"
    assert {rule.name for rule in others} == {"per-task", "shared", "smoothed", "calibrated", "cardinality"}
    gains = {id(rule): [b - a for a, b in zip(nested(usual), nested(rule), strict=True)] for rule in others}
    clear = [rule for rule in others if np.mean(gains[id(rule)]) > 3 * np.std(gains[id(rule)], ddof=1) / np.sqrt(3)]
    expected = max(clear, key=lambda rule: np.mean(nested(rule)), default=usual)
    as_good = [rule.whole[:-1] for rule in [usual, *others] if np.allclose(nested(rule), nested(expected))]
    lowest, highest = np.quantile(scores, [0.01, 0.99], axis=0)
    if not scorer.pooled:
        as_good = [np.clip(by_fold, lowest, highest) for by_fold in as_good]
    assert any(np.allclose(cuts.by_fold, by_fold) for by_fold in as_good)
    np.testing.assert_allclose(cuts.spread, np.std(cuts.by_fold, axis=0, ddof=1))


@pytest.mark.parametrize("rule", ["expected", "per-task", "shared", "smoothed", "calibrated", "cardinality"])
def test_a_folds_cut_has_not_seen_its_labels(rule):
    scores, Y = draw()
    before = choose_cuts(held_out(scores, Y, 3), rule, Log(), F1()).by_fold[1]
    if rule == "smoothed":  # how near to the shared cut, all folds decide
        return
    Y[1::3] = 1 - Y[1::3]
    np.testing.assert_allclose(choose_cuts(held_out(scores, Y, 3), rule, Log(), F1()).by_fold[1], before)


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("metric", ["f1", "f2", "jaccard", "error", "gmean"])
@pytest.mark.parametrize("kind", ["multilabel", "multiclass", "tasks", "holes"])
def test_counting_all_at_once_is_scoring_one_by_one(kind, metric, pooled):
    rng = new_rng()
    scores, Y = draw()
    tasks = None
    if kind == "multiclass":
        Y = np.concatenate([np.arange(3).repeat(3), rng.integers(0, 3, 51)])
    elif kind == "tasks":
        scores, tasks, Y = scores[:, 0], np.arange(60) // 20, Y[:, 0]
    elif kind == "holes":
        Y = np.where(rng.random(Y.shape) < 0.2, np.nan, Y)
        scores[rng.random(Y.shape) < 0.1] = np.nan
    held = held_out(scores, Y, 3, tasks)
    scorer = TaskScorer(get_metric(metric), pooled=pooled)
    cuts = rng.standard_normal((4, 3, 3))
    expected = [
        [scorer(columns_of_fold(held, k, cut[k], answers=True)) for k in range(3)] for cut in cuts
    ]  # fmt: skip
    np.testing.assert_allclose(fold_scores(held, cuts, scorer), expected)


def drawn():
    rng = new_rng()
    X = rng.standard_normal((240, 5))
    Y = (X @ rng.standard_normal((5, 4)) + rng.standard_normal((240, 4)) > [0.0, 1.0, 2.0, 2.5]).astype(int)
    Y[:10], Y[10:20] = 0, 1
    return StandardScaler().fit_transform(X), Y


@pytest.fixture
def data():
    return drawn()


def test_the_spread_and_the_rule_are_reported(data):
    model = SMTLClassifierCV("log", Cs=[1.0], cv=4).fit(*data)
    assert model.threshold_rule_ in ("expected", "per-task", "shared", "smoothed", "calibrated", "cardinality")
    assert model.threshold_spread_.shape == (4,)
    assert np.all(model.threshold_spread_ >= 0.0)
    assert model.threshold_spread_.any()
    given = SMTLClassifierCV("log", Cs=[1.0], cv=4, threshold=0.5).fit(*data)
    assert given.threshold_rule_ == "given"
    np.testing.assert_array_equal(given.threshold_spread_, 0.0)


def test_cuts_follow_the_scoring():
    """Trained on the same loss at the same C: only the cuts differ."""
    short = []
    for _ in range(4):  # one draw by itself may miss by chance
        X, Y = drawn()
        fitted = {
            scoring: SMTLClassifierCV("log", Cs=[1.0], scoring=scoring).fit(X, Y)
            for scoring in ("f1_macro", "f1_micro", "f2", make_scorer(accuracy_score))
        }
        coefs = [model.coef_ for model in fitted.values()]
        for coef in coefs[1:]:
            np.testing.assert_allclose(coef, coefs[0], rtol=1e-9)
        assert fitted["f2"].predict(X).sum() >= fitted["f1_macro"].predict(X).sum()  # F2 prefers recall
        exact = [accuracy_score(Y, model.predict(X)) for model in fitted.values()]
        short.append(max(exact) - exact[-1])
    assert np.mean(short) <= 0.05  # cut for it on held-out rows


@pytest.mark.parametrize("kind", ["multiclass", "tasks", "holes"])
@pytest.mark.parametrize("threshold", ["auto", "expected", "calibrated", "cardinality"])
def test_every_kind_of_targets(data, kind, threshold):
    X, Y = data
    tasks = None
    if kind == "multiclass":
        # Each class has a side of its own: one between two others has no log odds to cut.
        Y = (X[:, :3] + 0.5 * new_rng().standard_normal((240, 3))).argmax(axis=1)
    elif kind == "tasks":
        Y, tasks = Y[:, 1], np.arange(240) % 3
    else:
        Y = np.where(new_rng().random(Y.shape) < 0.2, np.nan, Y)
    for model in (SMTLClassifierCV("auc", Cs=3, cv=3, threshold=threshold), SMTLClassifier("log", threshold=threshold)):
        model.fit(X, Y, tasks)
        assert np.all(np.isfinite(model.thresholds_))
        assert len(np.unique(model.predict(X, tasks))) > 1


def test_no_cut_of_a_mean_over_the_tasks_is_beyond_all_rows():
    """F1 of a task without signal is best where all are answered yes."""
    rng = new_rng()
    scores, Y = rng.standard_normal((200, 2)), (rng.random((200, 2)) < [0.4, 0.01]).astype(int)
    Y[:4], Y[4:8] = 0, 1
    held = held_out(scores, Y, 4)
    yes = scores > choose_cuts(held, "auto", Log(), F1()).cut
    assert np.all((yes.sum(axis=0) > 0) & (yes.sum(axis=0) < 200))
