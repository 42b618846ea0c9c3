"""MTLRegressor against scikit-learn's Lasso, certificates computed by hand, and itself in other forms."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.metrics import r2_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from smtl.baselines import MTLRegressor, MTLRegressorClassifier
from smtl.kernels.coordinate import shrink_row
from smtl.penalties import get_penalty
from tests.seeds import new_rng

SEED = int(new_rng().integers(2**32))
NORMS = ["l11", "l21", "trace"]


@pytest.fixture
def rng():
    return np.random.default_rng(SEED)


def data(rng, n=60, d=8, m=4):
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d)) + 3.0 * rng.standard_normal(d)
    W = np.where(rng.random((d, 1)) < 0.5, rng.standard_normal((d, m)), 0.0)
    return X, X @ W + rng.standard_normal((n, m)) + 5.0


def objective(model, X, Y, penalty, n=None):
    """The objective at the model's own weights, from its definition; NaN targets are left out."""
    R = Y - X @ np.atleast_2d(model.coef_).T - model.intercept_
    n = np.mean((~np.isnan(Y)).sum(axis=0)) if n is None else n
    return np.nansum(R**2) / (2 * n) + model.alpha_ * get_penalty(penalty).value(np.atleast_2d(model.coef_))


@pytest.mark.parametrize("penalty", NORMS)
@pytest.mark.parametrize("shape", [(60, 8, 4), (25, 150, 3), (40, 5, 1)], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_certificate_computed_by_hand(rng, penalty, shape, fit_intercept):
    X, Y = data(rng, *shape)
    n = len(X)
    model = MTLRegressor(penalty, tol=1e-7, fit_intercept=fit_intercept).fit(X, Y)
    assert model.objective_ == pytest.approx(objective(model, X, Y, penalty), rel=1e-9), f"seed {SEED}"
    # Any matrix T of column sums 0 whose X'T has dual norm alpha at most is a dual point.
    centre = (lambda A: A - A.mean(axis=0)) if fit_intercept else (lambda A: A)
    Xc, Yc = centre(X), centre(Y)
    R = Yc - Xc @ model.coef_.T
    T = R / n
    T *= min(np.sum(Yc * R) / np.sum(R**2), model.alpha_ / get_penalty(penalty).dual_norm((Xc.T @ T).T))
    dual = np.sum(Yc * T) - n / 2 * np.sum(T**2)
    assert dual <= model.objective_ * (1 + 1e-10)
    assert model.dual_bound_ <= model.objective_ * (1 + 1e-12)
    assert model.objective_ - dual <= 1e-5 * model.objective_
    assert model.gap_ <= 1e-7


def test_the_l11_norm_is_a_lasso_for_each_task(rng):
    X, Y = data(rng)
    ours = MTLRegressor("l11", alpha=0.2, tol=1e-10).fit(X, Y)
    peer = np.array([Lasso(alpha=0.2, tol=1e-12, max_iter=100_000).fit(X, y).coef_ for y in Y.T])
    assert ours.coef_ == pytest.approx(peer, abs=1e-4 * np.abs(peer).max()), f"seed {SEED}"


def test_own_rows_with_the_l11_norm_are_lassos_of_their_own(rng):
    X, Y = data(rng, n=90)
    task = rng.permutation(np.repeat([0, 1, 2], [20, 30, 40]))
    ours = MTLRegressor("l11", alpha=0.2, tol=1e-10).fit(X, Y[:, 0], tasks=task)
    for i in range(3):
        rows = task == i
        # Our loss is divided by the mean number of rows, 30, theirs by the task's own.
        peer = Lasso(alpha=0.2 * 30 / rows.sum(), tol=1e-12, max_iter=100_000).fit(X[rows], Y[rows, 0])
        assert ours.coef_[i] == pytest.approx(peer.coef_, abs=1e-4 * np.abs(peer.coef_).max() + 1e-6), f"seed {SEED}"
        assert ours.predict(X[rows], tasks=task[rows]) == pytest.approx(peer.predict(X[rows]), abs=1e-3)


@pytest.mark.parametrize("penalty", NORMS)
def test_missing_targets_are_rows_that_a_task_does_not_have(rng, penalty):
    X, Y = data(rng)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    shared = MTLRegressor(penalty, tol=1e-8).fit(X, Y)
    rows, task = np.nonzero(~np.isnan(Y))
    own = MTLRegressor(penalty, tol=1e-8).fit(X[rows], Y[rows, task], tasks=task)
    assert shared.alpha_ == pytest.approx(own.alpha_)
    assert shared.objective_ == pytest.approx(own.objective_, rel=1e-7), f"seed {SEED}"
    assert shared.objective_ == pytest.approx(objective(shared, X, Y, penalty), rel=1e-9)
    assert max(shared.gap_, own.gap_) <= 1e-8
    expected = np.mean([r2_score(y[k], p[k]) for y, p in zip(Y.T, shared.predict(X).T, strict=True) for k in [y == y]])
    assert shared.score(X, Y) == pytest.approx(expected)
    assert own.score(X[rows], Y[rows, task], tasks=task) == pytest.approx(
        r2_score(Y[rows, task], own.predict(X[rows], tasks=task))
    )


@pytest.mark.parametrize("penalty", NORMS)
@pytest.mark.parametrize("own_rows", [False, True])
def test_sparse_is_dense(rng, penalty, own_rows):
    X, Y = data(rng, d=50)
    X *= rng.random(X.shape) < 0.2
    tasks = {"tasks": rng.integers(0, 3, len(X))} if own_rows else {}
    y = Y[:, 0] if own_rows else Y
    dense = MTLRegressor(penalty, tol=1e-9).fit(X, y, **tasks)
    for kind in [sp.csr_array, sp.csc_array, sp.csr_matrix]:
        sparse = MTLRegressor(penalty, tol=1e-9).fit(kind(X), y, **tasks)
        assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-8), f"seed {SEED}"
        assert sparse.predict(kind(X)) == pytest.approx(dense.predict(X), abs=1e-3 * np.abs(Y).max())


@pytest.mark.parametrize("penalty", NORMS)
def test_the_intercept_is_not_penalised(rng, penalty):
    X, Y = data(rng)
    here = MTLRegressor(penalty, tol=1e-9).fit(X, Y)
    there = MTLRegressor(penalty, tol=1e-9).fit(X + 1000.0, Y - 500.0)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-7), f"seed {SEED}"
    assert there.predict(X + 1000.0) + 500.0 == pytest.approx(here.predict(X), abs=1e-3)


@pytest.mark.parametrize("penalty", NORMS)
def test_above_the_largest_alpha_all_weights_are_zero(rng, penalty):
    X, Y = data(rng)
    top = MTLRegressor(penalty).fit(X, Y).alpha_max_
    assert not MTLRegressor(penalty, alpha=top * (1 + 1e-9)).fit(X, Y).coef_.any(), f"seed {SEED}"
    below = MTLRegressor(penalty, alpha=0.99 * top, tol=1e-9).fit(X, Y)
    assert below.coef_.any()
    assert MTLRegressor(penalty, alpha=2 * top).fit(X, Y).intercept_ == pytest.approx(Y.mean(axis=0))


@pytest.mark.parametrize("own_rows", [False, True])
def test_many_features_few_of_them_needed(rng, own_rows):
    # The working set has to find them: more features than it starts with, by far.
    X = rng.standard_normal((80, 600))
    W = np.zeros((600, 3))
    W[rng.choice(600, 5, replace=False)] = 3.0
    Y = X @ W + 0.1 * rng.standard_normal((80, 3))
    task = rng.integers(0, 3, 80)
    fit = {"X": X, "y": Y[np.arange(80), task], "tasks": task} if own_rows else {"X": X, "y": Y}
    model = MTLRegressor("l21", tol=1e-8).fit(**fit)
    assert model.gap_ <= 1e-8, f"seed {SEED}"
    assert set(np.flatnonzero(W[:, 0])) <= set(np.flatnonzero(np.abs(model.coef_).max(axis=0)))


def test_the_row_step_is_a_minimum(rng):
    for _ in range(20):
        m = int(rng.integers(1, 6))
        v, h, alpha = rng.standard_normal(m) * 3, np.exp(rng.standard_normal(m)), float(np.exp(rng.standard_normal()))
        u = np.empty(m)
        shrink_row(v, h, h.max(), alpha, u)

        def value(u, v=v, h=h, alpha=alpha):
            return 0.5 * h @ u**2 - v @ u + alpha * np.sqrt(u @ u)

        others = [u + 10.0**-k * rng.standard_normal(m) for k in range(6) for _ in range(5)]
        others.append(minimize(value, u + 0.1, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}).x)
        assert value(u) <= min(map(value, others)) + 1e-10 * (1 + abs(value(u))), f"seed {SEED}"


def test_a_warm_start_goes_on_from_where_it_was(rng):
    X, Y = data(rng, d=60)
    for penalty in NORMS:
        model = MTLRegressor(penalty, alpha=0.5, tol=1e-7, warm_start=True).fit(X, Y)
        cold, first = model.n_iter_, model.objective_
        model.fit(X, Y)
        assert model.n_iter_ == 0 < cold
        assert model.objective_ == pytest.approx(first, rel=1e-12)
        assert model.fit(X[:, :50], Y).coef_.shape == (4, 50)  # another shape starts afresh


def test_too_few_iterations_warn(rng):
    X, Y = data(rng, d=60)
    with pytest.warns(ConvergenceWarning, match="MTLRegressor stopped after 1 iterations at a certified relative gap"):
        model = MTLRegressor("trace", tol=1e-12, max_iter=1).fit(X, Y)
    assert model.gap_ > 1e-12


def test_names_and_forms(rng):
    X, Y = data(rng)
    frame = pd.DataFrame(Y, columns=list("abcd"))
    assert list(MTLRegressor().fit(X, frame).task_names_) == list("abcd")
    one = MTLRegressor().fit(X, Y[:, 0])
    assert one.coef_.shape == (8,)
    assert isinstance(one.intercept_, float)
    assert one.predict(X) == pytest.approx(MTLRegressor().fit(X, Y[:, :1]).predict(X)[:, 0])
    Y[:, 1] = np.nan
    with pytest.warns(UserWarning, match="Task 1 has no target in the training data"):
        model = MTLRegressor(tol=1e-9).fit(X, Y)
    assert model.predict(X)[:, 1] == pytest.approx(np.nanmean(Y))
    assert model.coef_[[0, 2, 3]] == pytest.approx(MTLRegressor(tol=1e-9).fit(X, Y[:, [0, 2, 3]]).coef_)


@pytest.mark.parametrize(
    ("parameters", "fit", "message"),
    [
        ({"penalty": "ridge"}, {}, "penalty must be a norm, such as 'l11', 'l21' or 'trace', got 'ridge' instead"),
        ({"alpha": 0.0}, {}, "alpha must be a positive number or 'auto', got 0.0 instead"),
        ({"alpha": "best"}, {}, "alpha must be a positive number or 'auto', got 'best' instead"),
        ({"tol": -1}, {}, "tol must be a positive number"),
        ({}, {"tasks": [0, 1, 2]}, "y must have shape \\(n_samples,\\) where tasks is given"),
        ({}, {"y": [np.nan] * 3}, "y must have at least one target, got only NaN"),
        ({}, {"y": [np.inf, 1, 2]}, "Input y contains infinity"),
    ],
)
def test_errors(parameters, fit, message):
    arguments = {"X": [[0.0], [1.0], [2.0]], "y": [[0.0, 1.0], [1.0, 1.0], [3.0, 2.0]], **fit}
    with pytest.raises(ValueError, match=message):
        MTLRegressor(**parameters).fit(**arguments)


def test_a_model_of_tasks_wants_to_know_the_tasks():
    model = MTLRegressor().fit([[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 2.0], tasks=list("aabb"))
    with pytest.raises(ValueError, match=r"tasks must be among the 2 tasks of the training data, got .*'c'"):
        model.predict([[0.0]], tasks=["c"])
    with pytest.raises(ValueError, match="tasks must be given to score"):
        model.score([[0.0]], [1.0])


@pytest.mark.parametrize("penalty", NORMS)
def test_classification_is_regression_on_signs(rng, penalty):
    X, Y = data(rng)
    labels = (np.median(Y, axis=0) < Y).astype(int)
    classifier = MTLRegressorClassifier(penalty, tol=1e-8).fit(X, labels)
    regressor = MTLRegressor(penalty, tol=1e-8).fit(X, 2.0 * labels - 1.0)
    assert np.array_equal(classifier.coef_, regressor.coef_)
    assert classifier.decision_function(X) == pytest.approx(regressor.predict(X))
    assert np.array_equal(classifier.predict(X), (regressor.predict(X) > 0).astype(int))
    several = np.array(["low", "mid", "top"])[np.digitize(Y[:, 0], np.quantile(Y[:, 0], [0.3, 0.6]))]
    model = MTLRegressorClassifier(penalty).fit(X, several)
    assert np.array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([*map(MTLRegressor, NORMS), *map(MTLRegressorClassifier, NORMS)])
def test_scikit_learn_check(estimator, check):
    check(estimator)
