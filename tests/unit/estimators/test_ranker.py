"""SMTLRanker: one question, with queries and grades."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from smtl import SMTLClassifier, SMTLRanker
from tests.seeds import new_rng


@pytest.fixture
def queries():
    rng = new_rng()
    query = np.repeat(np.arange(30), rng.integers(3, 15, 30))
    X = rng.normal(size=(len(query), 6))
    # What is added to a query's rows is the same for all of them, and says nothing of their order.
    truth = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=len(query))
    X += rng.normal(size=(30, 6))[query]
    grade = np.clip(np.round(truth), 0, 3).astype(int)
    order = rng.permutation(len(query))
    return X[order], grade[order], query[order]


@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_mean_ndcg(queries, gain):
    X, grade, query = queries
    model = SMTLRanker(gain=gain, tol=1e-4).fit(X, grade, groups=query)
    worth = 2**grade - 1 if gain == "exponential" else grade
    several = [query == k for k in np.unique(query) if np.ptp(grade[query == k])]
    wanted = np.mean([ndcg_score([worth[rows]], [model.predict(X)[rows]]) for rows in several])
    assert model.score(X, grade, groups=query) == pytest.approx(wanted)
    assert model.n_groups_ == len(several)
    assert model.n_groups_left_out_ == len(np.unique(query)) - len(several)
    assert model.gap_ <= 1e-4
    assert model.dual_bound_ <= model.objective_
    # No other weights are better: some near ones, and zero.
    assert model.objective_ >= model.C_ * (1 - wanted)


@pytest.mark.parametrize(
    ("metric", "score"), [("ap", average_precision_score), ("auc", roc_auc_score)], ids=["ap", "auc"]
)
def test_yes_is_what_is_relevant(queries, metric, score):
    X, grade, query = queries
    model = SMTLRanker(metric, relevant=2).fit(X, grade, groups=query)
    yes = (grade >= 2).astype(int)
    several = [query == k for k in np.unique(query) if np.ptp(yes[query == k])]
    wanted = np.mean([score(yes[rows], model.predict(X)[rows]) for rows in several])
    assert model.score(X, grade, groups=query) == pytest.approx(wanted)
    same = SMTLRanker(metric).fit(X, yes, groups=query)
    np.testing.assert_array_equal(model.coef_, same.coef_)


def test_queries_matter_and_their_names_do_not(queries):
    X, grade, query = queries
    model = SMTLRanker("auc", C=10.0, tol=1e-5).fit(X, grade > 0, groups=query)
    named = clone(model).fit(X, grade > 0, groups=[f"query {k}" for k in query])
    assert named.objective_ == pytest.approx(model.objective_, rel=2e-5)
    whole = clone(model).fit(X, grade > 0)
    plain = SMTLClassifier("auc", "ridge", C=10.0, tol=1e-5, threshold=0.0).fit(X, grade > 0)
    assert whole.objective_ == pytest.approx(plain.objective_, rel=2e-5)
    # A shift of a query's features changes no order within it.
    shifted = X + new_rng().normal(size=(30, 6))[query]
    assert clone(model).fit(shifted, grade > 0, groups=query).objective_ == pytest.approx(model.objective_, rel=2e-5)
    assert model.score(shifted, grade > 0, groups=query) == pytest.approx(model.score(X, grade > 0, groups=query))


def test_sparse_and_float32(queries):
    X, grade, query = queries
    model = SMTLRanker(tol=1e-6).fit(X, grade, groups=query)
    sparse = SMTLRanker(tol=1e-6).fit(sp.csr_array(X), grade, groups=query)
    np.testing.assert_allclose(sparse.predict(X), model.predict(sp.csc_array(X)), atol=1e-2)
    assert SMTLRanker().fit(X.astype(np.float32), grade, groups=query).predict(X.astype(np.float32)).dtype == np.float32


def test_nothing_to_order():
    X = new_rng().normal(size=(6, 2))
    with pytest.warns(UserWarning, match="No group has rows of different relevance"):
        model = SMTLRanker().fit(X, [1, 1, 0, 0, 2, 2], groups=[0, 0, 1, 1, 2, 2])
    assert not model.coef_.any()
    assert np.isnan(model.score(X, np.ones(6)))
    with pytest.warns(UserWarning, match="1 of 2 groups have rows of one relevance only"):
        SMTLRanker().fit(X, [1, 0, 0, 0, 0, 0], groups=[0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize(
    ("parameters", "y", "text"),
    [
        ({"metric": "f1"}, [0, 1], r"metric must be one of the order, such as 'ndcg', 'ap' or 'auc', got F1\(\)"),
        ({}, [0, -1], r"y must hold grades of relevance, whole numbers from 0 to 30, got -1 instead"),
        ({}, [0.5, 1], r"y must hold .* got 0\.5 instead"),
        ({}, ["a", "b"], r"Unknown label type: y must hold grades of relevance, which are numbers"),
        ({"gain": "cubic"}, [0, 1], r"gain must be 'exponential' or 'linear', got 'cubic' instead"),
        ({"metric": "ap", "relevant": 0}, [0, 1], r"relevant must be a grade, a whole number from 1 on, got 0 instead"),
        ({"C": -1}, [0, 1], r"C must be a positive number or 'auto', got -1 instead"),
    ],
)
def test_bad_input(parameters, y, text):
    with pytest.raises(ValueError, match=text):
        SMTLRanker(**parameters).fit(np.eye(2), y)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([SMTLRanker(), SMTLRanker("ap")])
def test_scikit_learn_check(estimator, check):
    check(estimator)
