"""Several tasks judged within groups of rows, through the estimators."""

import numpy as np
import pytest

from smtl import SMTLClassifier, SMTLClassifierCV, SMTLRanker
from smtl.metrics import get_metric
from tests.seeds import new_rng

# A group or two of one class only is what chance brings along.
pytestmark = pytest.mark.filterwarnings("ignore:.*groups have rows of one")


@pytest.fixture
def visits():
    """Two questions about the rows of each visit; what differs between visits says nothing of either."""
    rng = new_rng()
    visit = np.repeat(np.arange(40), rng.integers(4, 10, 40))
    X = rng.normal(size=(len(visit), 5))
    Y = (X[:, :2] + 0.5 * rng.normal(size=(len(visit), 2)) > 0.3).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    X += 3 * rng.normal(size=(40, 5))[visit]
    order = rng.permutation(len(visit))
    return X[order], Y[order], visit[order]


def mean_over_groups(metric, Y, scores, visit):
    """Over the groups with both classes, then over the tasks."""
    means = []
    for i in range(Y.shape[1]):
        values = []
        for k in np.unique(visit):
            rows = (visit == k) & ~np.isnan(Y[:, i])
            if len(set(Y[rows, i])) == 2:
                values.append(get_metric(metric).score(np.where(Y[rows, i] > 0, 1, -1), scores[rows, i]))
        means.append(np.mean(values))
    return np.mean(means)


@pytest.mark.parametrize("metric", ["ap", "auc"])
def test_loss_and_score_are_means_over_groups(visits, metric):
    X, Y, visit = visits
    model = SMTLClassifier(metric, C=20.0, tol=1e-4).fit(X, Y, groups=visit)
    score = model.score(X, Y, groups=visit)
    assert score == pytest.approx(mean_over_groups(metric, Y, model.decision_function(X), visit))
    assert model.objective_ >= 20.0 * 2 * (1 - score)  # it is at least what two tasks are short of
    assert model.gap_ <= 1e-4
    # A shift of whole groups changes no order within them.
    same = SMTLClassifier(metric, C=20.0, tol=1e-4).fit(X + new_rng().normal(size=(40, 5))[visit], Y, groups=visit)
    assert same.objective_ == pytest.approx(model.objective_, rel=3e-4)
    assert SMTLClassifier(metric, C=20.0).fit(X, Y).objective_ != pytest.approx(model.objective_, rel=1e-2)


def test_tasks_with_rows_of_their_own(visits):
    X, Y, visit = visits
    rows = ~np.isnan(Y).any(axis=1)
    X, Y, visit = X[rows], Y[rows], visit[rows]
    both = np.concatenate([X, X]), np.concatenate([Y[:, 0], Y[:, 1]]), np.repeat(["a", "b"], len(X))
    own = SMTLClassifier("ap", C=5.0, tol=1e-5, threshold=0.0).fit(
        both[0], both[1], tasks=both[2], groups=np.tile(visit, 2)
    )
    shared = SMTLClassifier("ap", C=5.0, tol=1e-5, threshold=0.0).fit(X, Y, groups=visit)
    assert own.objective_ == pytest.approx(shared.objective_, rel=2e-5)
    assert own.score(both[0], both[1], tasks=both[2], groups=np.tile(visit, 2)) == pytest.approx(
        mean_over_groups("ap", Y, np.column_stack([X @ w for w in own.coef_]), visit)
    )


def test_one_question_is_the_ranker(visits):
    X, Y, visit = visits
    y = np.nan_to_num(Y[:, 0]).astype(int)
    model = SMTLClassifier("ndcg", "ridge", C=7.0, tol=1e-5, threshold=0.0).fit(X, y, groups=visit)
    ranker = SMTLRanker("ndcg", C=7.0, tol=1e-5).fit(X, y, groups=visit)
    assert model.objective_ == pytest.approx(ranker.objective_, rel=2e-5)
    assert model.score(X, y, groups=visit) == pytest.approx(ranker.score(X, y, groups=visit), abs=1e-2)


def test_cross_validation_within_groups(visits):
    X, Y, visit = visits
    model = SMTLClassifierCV("ap", "l21", Cs=3, cv=3, within_groups=True).fit(X, Y, groups=visit)
    assert model.score(X, Y, groups=visit) == pytest.approx(
        mean_over_groups("ap", Y, model.decision_function(X), visit)
    )
    final = SMTLClassifier("ap", "l21", C=model.C_, threshold=0.0).fit(X, Y, groups=visit)
    assert model.objective_ == pytest.approx(final.objective_, rel=2e-3)
    # Within the groups of rows that have not been seen, too: the whole order tells little here.
    together = SMTLClassifierCV("ap", "l21", Cs=3, cv=3).fit(X, Y, groups=visit)
    assert model.scores_.mean(axis=0).max() > together.scores_.mean(axis=0).max()


def test_groups_that_say_nothing(visits):
    X, _, visit = visits
    y = (visit % 2).astype(int)  # each group is of one class
    Y = np.column_stack([y, np.arange(len(y)) % 2])
    with pytest.warns(UserWarning, match="Task 0 has no group with both classes in the training data"):
        model = SMTLClassifier("ap").fit(X, Y, groups=visit)
    assert not model.coef_[0].any()
    assert model.coef_[1].any()
    with pytest.warns(UserWarning, match=r"1 of 2 groups have rows of one class only, over all tasks"):
        SMTLClassifier("auc", threshold=0.0).fit(X[:6], [0, 1, 0, 1, 1, 1], groups=[0, 0, 0, 0, 1, 1])


def test_what_groups_cannot_do(visits):
    X, Y, visit = visits
    with pytest.raises(
        ValueError, match=r"metric must be one of the order, .* got Log\(\) instead: .*fit_intercept=False"
    ):
        SMTLClassifier().fit(X, Y, groups=visit)
    with pytest.raises(ValueError, match="groups must have one entry a row"):
        SMTLClassifier("ap").fit(X, Y, groups=visit[:-1])
    with pytest.raises(ValueError, match="groups must name a group for every row, got None instead"):
        SMTLClassifierCV("ap", within_groups=True).fit(X, Y)
    model = SMTLClassifier("ap", threshold=0.0).fit(X, Y, groups=visit)
    with pytest.raises(ValueError, match="groups must be given to score a model that was trained within groups"):
        model.score(X, Y)


def test_without_an_intercept_any_metric_will_do(visits):
    X, Y, visit = visits
    model = SMTLClassifier("f1", fit_intercept=False).fit(X, Y, groups=visit)
    assert model.gap_ <= 1e-3
    assert not model.intercept_.any()
