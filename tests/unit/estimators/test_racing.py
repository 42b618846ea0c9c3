"""The race: what it drops stays dropped, and it costs no more than it says."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifierCV
from smtl.estimators.points import Point
from smtl.estimators.racing import METRICS, PENALTIES, most_points, race
from tests.seeds import new_rng

pytestmark = pytest.mark.filterwarnings("ignore:Task", "ignore:The best C")

CANDIDATES = [(metric, penalty, 0.0) for metric in METRICS for penalty in PENALTIES]


def point(candidate, C, score, *, coarse):
    none = np.zeros(0)
    scores = np.full(2, score)
    return Point(candidate, C, scores, none, none, 0.0, None, None, none, none, none, scores, None, coarse)


def run_with(score):
    tried = []

    def run(heat):
        tried.append(heat)
        for C in heat.Cs:
            yield point(heat.candidate, C, score(heat.candidate, C, heat.coarse), coarse=heat.coarse)

    return run, tried


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 12, 20, 60])
def test_only_the_leader_is_looked_at_closely(n):
    rng = new_rng()
    grids = [np.geomspace(1.0, 1000.0, n) * (1 + k) for k in range(9)]
    merit = rng.permutation(9)
    run, tried = run_with(lambda number, C, coarse: merit[number] - 0.1 * abs(np.log(C / grids[number][n // 2])))
    points = list(race(CANDIDATES, grids, run))
    assert len(points) <= most_points(CANDIDATES, grids)
    first = [heat.candidate for heat in tried if heat.coarse]
    assert [CANDIDATES[number][1] for number in first[:3]] == [PENALTIES[0]] * 3
    leader = max(first[:3], key=lambda number: merit[number])
    assert {CANDIDATES[number][0] for number in first[3:]} == {CANDIDATES[leader][0]}
    (last,) = [heat for heat in tried if not heat.coarse]
    assert merit[last.candidate] == max(merit[number] for number in first)
    # The value that is best on the whole grid is in it.
    assert grids[last.candidate][n // 2] in last.Cs


def test_what_looks_bad_first_is_not_looked_at_again():
    """A candidate that would be the best is lost by its first look: it is not picked."""
    grids = [np.geomspace(1.0, 1000.0, 20)] * 9
    run, tried = run_with(lambda number, C, coarse: (0.1 if coarse else 9.0) if number == 0 else 0.5 - 0.01 * number)
    points = list(race(CANDIDATES, grids, run))
    assert 0 not in {p.candidate for p in points if not p.coarse}
    assert sum(heat.candidate == 0 for heat in tried) == 1


@pytest.fixture
def noisy():
    rng = new_rng()
    X = rng.standard_normal((300, 12))
    S = X @ rng.standard_normal((12, 2)) @ rng.standard_normal((2, 5)) / 4 + rng.logistic(size=(300, 5))
    Y = (np.quantile(S, [0.9, 0.85, 0.8, 0.7, 0.6], axis=0).diagonal() < S).astype(int)
    return StandardScaler().fit_transform(X), Y


@pytest.mark.parametrize("scoring", [None, "f1_micro", "auc", "accuracy"])
def test_the_winner_was_never_dropped(noisy, scoring):
    X, Y = noisy
    model = SMTLClassifierCV(scoring=scoring).fit(X, Y)
    table = pd.DataFrame(model.cv_results_)
    close = table[~table.coarse]
    assert set(zip(close.param_metric, close.param_penalty, strict=True)) == {(model.metric_, model.penalty_)}
    best = close.loc[close.mean_guide.idxmax()]
    assert best.param_C == model.C_
    np.testing.assert_array_equal(model.Cs_, close.param_C)
    first = table[table.coarse].groupby(["param_metric", "param_penalty"]).mean_guide.max()
    assert first.idxmax() == (model.metric_, model.penalty_)
    assert len(first) == 5  # three metrics, then two more penalties for one of them


def test_it_takes_less_than_three_whole_searches(noisy):
    X, Y = noisy
    model = SMTLClassifierCV().fit(X, Y)
    passes = [
        SMTLClassifierCV(metric, penalty, refit=False, threshold=0.0).fit(X, Y).cv_results_["mean_n_iter"].sum()
        for metric in METRICS
        for penalty in PENALTIES
    ]
    assert model.cv_results_["mean_n_iter"].sum() <= 3.0 * np.mean(passes)


def test_what_is_given_is_not_raced(noisy):
    X, Y = noisy
    plain = SMTLClassifierCV("auc", Cs=6, cv=3).fit(X, Y)
    assert (plain.metric_, plain.penalty_, len(plain.Cs_)) == ("auc", "l21", 6)
    assert not plain.cv_results_["coarse"].any()
    np.testing.assert_array_equal(plain.cv_results_["mean_guide"], plain.cv_results_["mean_test_score"])
    penalty = SMTLClassifierCV("auc", "auto", Cs=6, cv=3).fit(X, Y)
    assert set(penalty.cv_results_["param_metric"]) == {"auc"}
    assert set(penalty.cv_results_["param_penalty"]) == set(PENALTIES)
    metric = SMTLClassifierCV(penalty="trace", Cs=6, cv=3).fit(X, Y)
    assert set(metric.cv_results_["param_metric"]) == set(METRICS)
    assert metric.penalty_ == "trace"


def test_the_default_is_no_constant_answer():
    """Where the F1 loss is flat: it was the default once, and answered yes to everything."""
    seed = int(new_rng().integers(2**31))
    X, y = make_classification(400, 20, n_informative=5, n_clusters_per_class=1, flip_y=0.3, random_state=seed)
    answers = SMTLClassifierCV().fit(StandardScaler().fit_transform(X), y).predict(StandardScaler().fit_transform(X))
    assert 0.1 < answers.mean() < 0.98
    assert np.mean(answers == y) > max(np.mean(y), 1 - np.mean(y)) + 0.05


def test_classes_and_their_score():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = SMTLClassifierCV(cv=3).fit(X[::2], y[::2])
    rival = LogisticRegression().fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert np.mean(model.predict(X[1::2]) == y[1::2]) >= rival - 0.05
