"""Weights of rows, classes and tasks in the estimators: a weight of k is k equal rows."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    check_sample_weights_not_overwritten,
    check_sample_weights_shape,
)

from smtl import SMTLClassifier, SMTLClassifierCV, SMTLEnsemble
from smtl.estimators.weights import in_copies
from tests.seeds import new_rng

CHECKS = [
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    check_sample_weights_not_overwritten,
    check_sample_weights_shape,
]

EXACT = ["ap", "ndcg", "pauc", "precision@k", "f1", "jaccard", "gmean"]


def draw(rng, n=40, m=3):
    X = rng.standard_normal((n, 4))
    Y = (X @ rng.standard_normal((4, m)) + 0.5 * rng.standard_normal((n, m)) > 0.3).astype(float)
    Y[:2] = np.array([[0.0], [1.0]])
    return X, Y, rng.integers(0, 4, n)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        *[(SMTLClassifier(), check) for check in [*CHECKS, check_class_weight_classifiers]],
        *[(SMTLClassifierCV(), check) for check in CHECKS],
        *itertools.product(
            [
                # Folds, cuts and boosted trees, and metrics with a tight gap and one optimum.
                SMTLClassifier("auc"),
                SMTLClassifierCV("auc", "ridge", tol=1e-9),
                SMTLEnsemble(preset="best"),
                *(SMTLClassifier(name, "ridge", C=1.0, threshold=0.0, tol=1e-12) for name in EXACT),
            ],
            CHECKS[:2],
        ),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_checks_of_scikit_learn(estimator, check):
    check(type(estimator).__name__, estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("metric", "penalty", "solver"),
    [
        ("log", "l21", "bundle"),
        ("auc", "trace", "bundle"),
        ("f1", "l11", "bundle"),
        ("error", "ridge", "cutting-plane"),
        ("jaccard", "l21", "paper"),
        ("ap", "ridge", "bundle"),
    ],
)
def test_a_weighted_fit_is_that_of_repeated_rows(metric, penalty, solver):
    rng = new_rng()
    X, Y, weights = draw(rng)
    weights[:2] = 1  # both classes stay
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[:2] = np.array([[0.0], [1.0]])
    rows = np.repeat(np.arange(len(X)), weights)
    made = {"C": 0.5, "threshold": 0.0, "solver": solver, "tol": 1e-2 if solver == "paper" else 1e-4}
    weighted = SMTLClassifier(metric, penalty, **made).fit(X, Y, sample_weight=weights)
    repeated = SMTLClassifier(metric, penalty, **made).fit(X[rows], Y[rows])
    # Both are certified to be within the gap of the same optimum.
    assert weighted.dual_bound_ <= repeated.objective_ * (1 + 1e-9)
    assert repeated.dual_bound_ <= weighted.objective_ * (1 + 1e-9)
    got = weighted.score(X, Y, sample_weight=weights)
    assert got == pytest.approx(weighted.score(X[rows], Y[rows]), abs=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_own_rows_and_sparse_features():
    rng = new_rng()
    X, Y, weights = draw(rng, 60, 1)
    site = np.repeat([0, 1, 2], 20)
    y = np.where(np.arange(60) % 20 < 2, np.arange(60) % 2, Y[:, 0]).astype(int)
    weights[np.arange(60) % 20 < 2] = 2
    rows = np.repeat(np.arange(60), weights)
    weighted = SMTLClassifier("auc", "l21", C=1.0, threshold="per-task").fit(
        sp.csr_array(X), y, tasks=site, sample_weight=weights
    )
    repeated = SMTLClassifier("auc", "l21", C=1.0, threshold="per-task").fit(
        sp.csr_array(X[rows]), y[rows], tasks=site[rows]
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)
    got = weighted.score(X, y, sample_weight=weights, tasks=site)
    assert got == pytest.approx(weighted.score(X[rows], y[rows], tasks=site[rows]), abs=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_class_weights_are_weights_of_the_classes():
    rng = new_rng()
    X, Y, _ = draw(rng)
    y = Y[:, 0].astype(int)
    other = compute_sample_weight("balanced", y)
    made = {"C": 0.5, "threshold": 0.0, "tol": 1e-6}
    balanced = SMTLClassifier("log", class_weight="balanced", **made).fit(X, y)
    given = SMTLClassifier("log", **made).fit(X, y, sample_weight=other)
    np.testing.assert_allclose(balanced.coef_, given.coef_, atol=1e-8)
    several = SMTLClassifier("log", class_weight="balanced", **made).fit(X, Y)
    by_hand = [{k: compute_sample_weight("balanced", Y[:, i])[Y[:, i] == k][0] for k in (0, 1)} for i in range(3)]
    listed = SMTLClassifier("log", class_weight=by_hand, **made).fit(X, Y)
    np.testing.assert_allclose(several.coef_, listed.coef_, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
def test_task_weights_multiply_losses():
    rng = new_rng()
    X, Y, _ = draw(rng)
    # With ridge the tasks do not meet: a task's weight is its own C.
    made = {"penalty": "ridge", "threshold": 0.0, "tol": 1e-8}
    weighted = SMTLClassifier("log", C=0.5, task_weight={0: 2.0}, **made).fit(X, Y)
    np.testing.assert_allclose(weighted.coef_[0], SMTLClassifier("log", C=1.0, **made).fit(X, Y).coef_[0], atol=1e-3)
    np.testing.assert_allclose(weighted.coef_[1], SMTLClassifier("log", C=0.5, **made).fit(X, Y).coef_[1], atol=1e-3)


def test_heavy_rows_of_a_rare_class_are_dealt_in_copies():
    """As the repeated rows are, so that no fold lacks the class."""
    rng = new_rng()
    X = rng.standard_normal((40, 3))
    y = np.repeat([1, 0], [1, 39])
    weights = np.where(y, 6, rng.integers(1, 3, 40))
    rows = rng.permutation(np.repeat(np.arange(40), weights))
    made = {"penalty": "ridge", "Cs": [0.1, 1.0], "cv": 3, "tol": 1e-8}
    weighted = SMTLClassifierCV("log", **made).fit(X, y, sample_weight=weights)
    repeated = SMTLClassifierCV("log", **made).fit(X[rows], y[rows])
    assert np.isfinite(weighted.scores_).all()
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, atol=1e-6)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-4)


def test_copies_are_in_proportion():
    rng = new_rng()
    weights = rng.random(300)
    share = np.bincount(in_copies(weights), minlength=300) / len(in_copies(weights))
    np.testing.assert_allclose(share, weights / weights.sum(), atol=1e-4)


@pytest.mark.parametrize(
    ("parameters", "fitted", "words"),
    [
        ({}, {"sample_weight": [-1.0] + [1.0] * 39}, "sample_weight must be non-negative with a positive sum"),
        ({"class_weight": "half"}, {}, "class_weight must be 'balanced', a dict or a list of dicts, got 'half'"),
        ({"class_weight": [None]}, {}, r"class_weight must have one entry a task \(3\)"),
        ({"class_weight": {2: 1.0}}, {}, r"class_weight must name classes of y \(0, 1\), got 2"),
        ({"task_weight": [1.0, 0.0, 1.0]}, {}, "task_weight must be positive numbers"),
        ({"task_weight": {7: 2.0}}, {}, r"task_weight must name tasks \(0, 1, 2\), got 7"),
        (
            {"threshold": "recall>=0.9"},
            {"sample_weight": [0.5] * 40},
            r"threshold must be something else than 'recall>=0\.9' where rows have weights that are no whole numbers",
        ),
    ],
)
def test_weights_without_meaning(parameters, fitted, words):
    X, Y, _ = draw(new_rng())
    with pytest.raises(ValueError, match=words):
        SMTLClassifier(C=1.0, **parameters).fit(X, Y, **fitted)
