"""MTLClassifier against linear programming, and against the core it stands on."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.utils.estimator_checks import parametrize_with_checks

from smtl import SMTLClassifier
from smtl.baselines import MTLClassifier
from tests.seeds import new_rng

SEED = int(new_rng().integers(2**32))


def data():
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((60, 5))
    Y = (X @ rng.standard_normal((5, 3)) + rng.standard_normal((60, 3)) > 0.3).astype(int)
    Y[0], Y[1] = 1, 0
    return X, Y


def test_with_the_l11_norm_it_is_a_linear_program():
    X, Y = data()
    n, d = X.shape
    C, exact = 0.1, 0.0
    for y in 2 * Y.T - 1:
        # w = w+ - w-, an intercept and one slack a row: 1 - y (x'w + b) <= slack.
        signed = y[:, None] * X
        left = -np.hstack([signed, -signed, y[:, None], -y[:, None], np.eye(n)])
        cost = np.concatenate([np.ones(2 * d), np.zeros(2), np.full(n, 2 * C)])
        done = linprog(cost, A_ub=left, b_ub=-np.ones(n))
        assert done.success
        exact += done.fun
    model = MTLClassifier("l11", C=C, tol=1e-5, max_iter=20_000).fit(X, Y)
    assert model.objective_ == pytest.approx(exact, rel=2e-5), f"seed {SEED}"
    assert model.dual_bound_ <= exact * (1 + 1e-9)


@pytest.mark.parametrize("penalty", ["l11", "l21", "trace"])
def test_it_is_the_core_with_the_error_rate(penalty):
    X, Y = data()
    ours, core = MTLClassifier(penalty).fit(X, Y), SMTLClassifier("error", penalty).fit(X, Y)
    assert np.array_equal(ours.coef_, core.coef_)
    assert ours.score(X, Y) == pytest.approx(np.mean(ours.predict(X) == Y))


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([MTLClassifier("ridge", tol=1e-9)])
def test_scikit_learn_check(estimator, check):
    check(estimator)
