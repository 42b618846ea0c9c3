"""The same problem in scikit-learn: linear support vector machines and logistic regression."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from smtl import SMTLClassifier
from tests.seeds import new_rng


@pytest.fixture
def data():
    seed = new_rng().integers(2**31)
    X, y = make_classification(150, 12, n_informative=5, weights=[0.7], flip_y=0.1, random_state=int(seed))
    return X, y


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array, sp.csr_matrix], ids=lambda f: f.__name__)
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_error_with_ridge_is_the_linear_svm(data, form, C):
    X, y = data
    peer = LinearSVC(loss="hinge", C=2 * C, fit_intercept=False, tol=1e-8, max_iter=1_000_000).fit(X, y)
    sign = 2 * y - 1

    def objective(w):
        return 0.5 * w @ w + 2 * C * np.maximum(0, 1 - sign * (X @ w)).sum()

    model = SMTLClassifier("error", "ridge", C=C, fit_intercept=False, tol=1e-6).fit(form(X), y)
    assert model.objective_ == pytest.approx(objective(peer.coef_[0]), rel=1e-4)
    assert objective(model.coef_[0]) == pytest.approx(model.objective_, rel=1e-9)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_log_with_ridge_is_logistic_regression(data, fit_intercept):
    X, y = data
    peer = LogisticRegression(C=0.5, fit_intercept=fit_intercept, tol=1e-10, max_iter=10_000).fit(X, y)
    model = SMTLClassifier("log", "ridge", C=0.5, fit_intercept=fit_intercept, tol=1e-8, threshold=0.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=2e-3)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=2e-3)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-3)
    sign = 2 * y - 1
    w = peer.coef_[0]
    optimum = 0.5 * w @ w + 0.5 * np.logaddexp(0, -sign * (X @ w + peer.intercept_[0])).sum()
    assert model.objective_ == pytest.approx(optimum, rel=1e-6)
    assert model.dual_bound_ <= optimum * (1 + 1e-9)


def test_log_with_l11_is_l1_logistic_regression(data):
    X, y = data
    peer = LogisticRegression(C=0.2, l1_ratio=1.0, solver="liblinear", fit_intercept=False, tol=1e-10, max_iter=10_000)
    try:
        peer.fit(X, y)
        assert (peer.coef_ == 0).any()
    except (AssertionError, ValueError, TypeError):
        peer = LogisticRegression(C=0.2, penalty="l1", solver="liblinear", fit_intercept=False, tol=1e-10)
        peer.fit(X, y)
    w, sign = peer.coef_[0], 2 * y - 1
    optimum = np.abs(w).sum() + 0.2 * np.logaddexp(0, -sign * (X @ w)).sum()
    model = SMTLClassifier("log", "l11", C=0.2, fit_intercept=False, tol=1e-7).fit(X, y)
    assert model.objective_ == pytest.approx(optimum, rel=1e-5)
