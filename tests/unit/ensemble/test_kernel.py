"""The kernel learner against scikit-learn's KernelRidge, and against weighted regression where labels are missing."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import KernelCenterer, StandardScaler

import smtl.ensemble.learners.kernel as module
from smtl.ensemble.learners.kernel import KernelLearner
from smtl.estimators.targets import read_targets
from tests.seeds import new_rng


@pytest.fixture
def drawn():
    rng = new_rng()
    X = rng.standard_normal((120, 3)) * [1.0, 10.0, 0.1] + 4.0
    Z = StandardScaler().fit_transform(X)
    Y = np.column_stack([(Z**2).sum(axis=1) > 3, Z[:, 0] * Z[:, 1] > 0]).astype(float)
    Y[0], Y[1] = 0, 1
    fold = rng.permutation(np.arange(120) % 3)
    return X, Z, Y, [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]


def centred_ridge(Z, Y, train, test, gamma, penalty):
    """Kernel ridge regression with an intercept, by scikit-learn."""
    centre = KernelCenterer().fit(rbf_kernel(Z[train], gamma=gamma))
    K = centre.transform(rbf_kernel(Z[train], gamma=gamma))
    mean = Y[train].mean(axis=0)
    model = KernelRidge(alpha=penalty, kernel="precomputed").fit(K, Y[train] - mean)
    return model.predict(centre.transform(rbf_kernel(Z[test], Z[train], gamma=gamma))) + mean


def test_with_all_rows_as_landmarks_it_is_kernel_ridge(drawn):
    X, Z, Y, folds = drawn
    learner = KernelLearner()
    scores = learner.held_out_scores(X, read_targets(X, Y), folds)
    for (train, test), found in zip(folds, scores, strict=True):
        wanted = centred_ridge(Z, Y, train, test, learner.gamma, learner.penalty)
        np.testing.assert_allclose(found, wanted, atol=1e-4)
    learner.fit(X, read_targets(X, Y))
    rows = np.arange(len(X))
    wanted = centred_ridge(Z, Y, rows, rows, learner.gamma, learner.penalty)
    np.testing.assert_allclose(learner.decision_function(X), wanted, atol=1e-4)


def test_width_and_penalty_have_the_best_auc(drawn):
    X, Z, Y, folds = drawn
    learner = KernelLearner()
    learner.held_out_scores(X, read_targets(X, Y), folds)
    order = np.concatenate([test for _, test in folds])
    median = learner.gamma * np.median(((Z[:, None] - Z) ** 2).sum(axis=2))
    assert np.min(np.abs(median - np.array(module.WIDTHS))) < 1e-9
    values = {}
    for width in module.WIDTHS:
        gamma = width / np.median(((Z[:, None] - Z) ** 2).sum(axis=2))
        for penalty in module.LAMBDAS:
            scores = np.concatenate([centred_ridge(Z, Y, *fold, gamma, penalty) for fold in folds])
            values[gamma, penalty] = roc_auc_score(Y[order], scores)
    chosen = min(values, key=lambda key: abs(key[0] - learner.gamma) + abs(key[1] - learner.penalty))
    assert values[chosen] >= max(values.values()) - 1e-3


def test_few_landmarks_are_near_all_of_them(drawn, monkeypatch):
    X, _, Y, folds = drawn
    exact = np.concatenate(KernelLearner().held_out_scores(X, read_targets(X, Y), folds))
    monkeypatch.setattr(module, "N_LANDMARKS", 60)
    monkeypatch.setattr(module, "BLOCK", 500)  # several blocks
    learner = KernelLearner()
    about = np.concatenate(learner.held_out_scores(X, read_targets(X, Y), folds))
    assert len(learner.landmarks) == 60
    for i in range(2):
        assert np.corrcoef(exact[:, i], about[:, i])[0, 1] > 0.7


def test_memory_bounds_the_landmarks(monkeypatch):
    monkeypatch.setattr(module, "MEMORY", 8 * 5000 * 40)
    assert len(module._landmarks(5000, 0)) == 40
    assert len(module._landmarks(30, 0)) == 30


def test_what_is_not_labelled_is_left_out(drawn, monkeypatch):
    X, Z, Y, folds = drawn
    monkeypatch.setattr(module, "N_FILLS", 3000)
    holes = Y.copy()
    holes[new_rng().random(120) < 0.3, 0] = np.nan
    holes[0], holes[1] = 0, 1
    learner = KernelLearner()
    learner.held_out_scores(X, read_targets(X, holes), folds)
    learner.penalty = 1.0
    learner.fit(X, read_targets(X, holes))
    known, rows = np.flatnonzero(~np.isnan(holes[:, 0])), np.arange(120)
    # On its labelled rows alone the task has another centre in kernel space, and the same intercept and function.
    wanted = centred_ridge(Z, holes[:, :1], known, rows, learner.gamma, 1.0)
    np.testing.assert_allclose(learner.decision_function(X)[:, :1], wanted, atol=2e-2)


def test_folds_that_leave_rows_out(drawn):
    X, Z, Y, folds = drawn
    train, test = folds[0]
    learner = KernelLearner()
    [scores] = learner.held_out_scores(X, read_targets(X, Y), [(train[5:], test)])
    wanted = centred_ridge(Z, Y, train[5:], test, learner.gamma, learner.penalty)
    np.testing.assert_allclose(scores, wanted, atol=1e-4)


def test_folds_that_test_rows_twice_or_never(drawn):
    X, Z, Y, _ = drawn
    rows, tests = np.arange(120), [np.arange(60), np.arange(30, 90)]
    folds = [(np.setdiff1d(rows, test), test) for test in tests]  # as many tests as rows, and not one of each
    learner = KernelLearner()
    scores = learner.held_out_scores(X, read_targets(X, Y), folds)
    for fold, found in zip(folds, scores, strict=True):
        np.testing.assert_allclose(found, centred_ridge(Z, Y, *fold, learner.gamma, learner.penalty), atol=1e-4)


def test_few_rows_of_many_tasks(drawn):
    X, Z, Y, folds = drawn
    Y = np.tile(Y, (1, 10))  # rows are turned to the eigenvectors here, where tasks are few the weights
    learner = KernelLearner()
    scores = learner.held_out_scores(X, read_targets(X, Y), folds)
    assert len(folds[0][1]) < len(module.LAMBDAS) * Y.shape[1]
    for fold, found in zip(folds, scores, strict=True):
        np.testing.assert_allclose(found, centred_ridge(Z, Y, *fold, learner.gamma, learner.penalty), atol=1e-4)


def test_predictions_do_not_depend_on_the_block(drawn, monkeypatch):
    X, _, Y, folds = drawn
    learner = KernelLearner()
    learner.held_out_scores(X, read_targets(X, Y), folds)
    learner.fit(X, read_targets(X, Y))
    whole = learner.decision_function(X)
    monkeypatch.setattr(module, "BLOCK", 200)
    np.testing.assert_allclose(learner.decision_function(X), whole, atol=1e-8)


def test_threads_change_nothing(drawn):
    X, _, Y, folds = drawn
    one, two = (KernelLearner(n_jobs=n).held_out_scores(X, read_targets(X, Y), folds) for n in (1, 2))
    np.testing.assert_allclose(np.concatenate(one), np.concatenate(two), atol=1e-9)


def test_sparse_features_and_holes_in_them(drawn):
    X, _, Y, folds = drawn
    targets = read_targets(X, Y)
    sparse = KernelLearner().held_out_scores(sp.csr_array(X), targets, folds)
    assert np.isfinite(np.concatenate(sparse)).all()
    X = X.copy()
    X[::7, 1] = np.nan
    assert np.isfinite(np.concatenate(KernelLearner().held_out_scores(X, targets, folds))).all()
