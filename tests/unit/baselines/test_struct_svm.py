"""StructSVM against its own problem solved by other means, and what the linear methods have in common."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from smtl import AUC, F1, Error, Ridge, SMTLClassifier
from smtl.baselines import MTLClassifier, MTLRegressorClassifier, StructSVM, ThresholdedLogistic
from smtl.solvers import Problem, solve, solve_path
from smtl.tasks import SharedRows
from tests.seeds import new_rng

SEED = int(new_rng().integers(2**32))


def small_problem(n, d, m):
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, d))
    Y = (X @ rng.standard_normal((d, m)) + rng.standard_normal((n, m)) > 0.5).astype(int)
    Y[0], Y[1] = 1, 0  # both classes everywhere
    return X, Y


def all_planes(metric, X, y):
    """Offsets and slopes of every candidate answer."""
    pos, neg = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    if isinstance(metric, AUC):
        pairs = [(p, q) for p in pos for q in neg]
        planes = []
        for swapped in product([0, 1], repeat=len(pairs)):
            c = np.zeros(len(y))
            for (p, q), is_swapped in zip(pairs, swapped, strict=True):
                c[p] += is_swapped / len(pairs)
                c[q] -= is_swapped / len(pairs)
            planes.append((np.mean(swapped), X.T @ c))
        return planes
    planes = []
    for answer in product([-1, 1], repeat=len(y)):
        other = np.array(answer)
        tp, fp = np.sum((y > 0) & (other > 0)), np.sum((y < 0) & (other > 0))
        loss = 2 * np.sum(y != other) if isinstance(metric, Error) else 1 - 2 * tp / (len(pos) + tp + fp)
        planes.append((loss, X.T @ (y - other)))
    return planes


def objective(planes, C, w):
    return 0.5 * w @ w + C * max(delta - w @ g for delta, g in planes)


def other_weights(planes, C):
    """Weights from sequential quadratic programming with all constraints: mostly the optimum, to many digits."""
    delta, G = np.array([plane[0] for plane in planes]), np.array([plane[1] for plane in planes])
    d = G.shape[1]
    done = minimize(
        lambda v: 0.5 * v[:d] @ v[:d] + C * v[d],
        np.append(np.zeros(d), delta.max()),
        jac=lambda v: np.append(v[:d], C),
        constraints={
            "type": "ineq",
            "fun": lambda v: v[d] + G @ v[:d] - delta,
            "jac": lambda v: np.column_stack([G, np.ones(len(G))]),
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-13},
    )
    return done.x[:d]


@pytest.mark.parametrize("metric", [F1(), AUC(), Error()], ids=repr)
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_the_optimum_over_all_answers(metric, C):
    X, Y = small_problem(6, 2, 2)
    model = StructSVM(metric, C=C, fit_intercept=False, threshold=0.0, tol=1e-7).fit(X, Y)
    planes = [all_planes(metric, X, y) for y in 2 * Y.T - 1]
    ours = sum(objective(of_task, C, w) for of_task, w in zip(planes, model.coef_, strict=True))
    other = sum(objective(of_task, C, other_weights(of_task, C)) for of_task in planes)
    assert model.objective_ == pytest.approx(ours, rel=1e-12), f"seed {SEED}"
    assert model.dual_bound_ <= other
    assert model.objective_ <= other * (1 + 1e-7)
    assert model.gap_ <= 1e-7


@pytest.mark.parametrize("solver", ["cutting-plane", "bundle"])
def test_the_error_is_a_linear_support_vector_machine(solver):
    X, Y = small_problem(80, 5, 3)
    ours = StructSVM("error", C=0.3, fit_intercept=False, tol=1e-6, max_iter=20_000, solver=solver).fit(X, Y)
    objective = 0.0
    for y in 2 * Y.T - 1:
        peer = LinearSVC(loss="hinge", C=0.6, fit_intercept=False, tol=1e-8, max_iter=10**6).fit(X, y)
        hinge = np.maximum(0, 1 - y * peer.decision_function(X)).sum()
        objective += 0.5 * peer.coef_[0] @ peer.coef_[0] + 0.6 * hinge
    assert ours.objective_ == pytest.approx(objective, rel=1e-4), f"seed {SEED}"
    assert ours.dual_bound_ <= objective


@pytest.mark.parametrize("metric", ["f1", "auc", "error", "log"])
def test_the_two_solvers_agree_and_tasks_are_apart(metric):
    X, Y = small_problem(60, 4, 3)
    options = {"C": 0.5, "tol": 1e-5, "threshold": 0.0}
    together = StructSVM(metric, **options).fit(X, Y)
    by_bundle = StructSVM(metric, solver="bundle", **options).fit(X, Y)
    assert together.objective_ == pytest.approx(by_bundle.objective_, rel=2e-5), f"seed {SEED}"
    alone = [StructSVM(metric, **options).fit(X, y) for y in Y.T]
    assert together.objective_ == pytest.approx(sum(model.objective_ for model in alone), rel=2e-5)
    # Each task has the gap by itself, and the ridge makes its weights unique: |w - w*|^2 / 2 is at most the gap.
    for row, model in zip(together.coef_, alone, strict=True):
        assert np.linalg.norm(row - model.coef_[0]) <= 2 * np.sqrt(2 * 1e-5 * model.objective_)


def test_the_trade_off_of_svm_perf():
    # SVM-perf: losses in per cent, y = +-50/n, for F1; the same problem as ours with w / (2 n) for weights.
    X, Y = small_problem(6, 2, 1)
    y, n, c = 2 * Y[:, 0] - 1, len(X), 0.7
    w = np.random.default_rng(SEED).standard_normal(2)
    planes = all_planes(F1(), X, y)
    theirs = 0.5 * w @ w + c * max(100 * delta - 50 / n * w @ g for delta, g in planes)
    v = w / (2 * n)
    ours = 0.5 * v @ v + 25 * c / n**2 * max(delta - v @ g for delta, g in planes)
    assert theirs == pytest.approx(4 * n**2 * ours)


@pytest.mark.parametrize("metric", [F1(), Error()], ids=repr)
def test_a_path_finds_what_single_fits_find(metric):
    X, Y = small_problem(60, 4, 3)
    tasks = SharedRows(X, (2 * Y - 1).astype(np.int8))
    Cs = [0.01, 0.1, 1.0]
    path = solve_path(Problem(tasks, metric, Ridge(), with_intercept=True), Cs, "cutting-plane", tol=1e-6)
    for C, solution in zip(Cs, path, strict=True):
        cold = solve(Problem(tasks, metric, Ridge(), with_intercept=True), C, "cutting-plane", tol=1e-6)
        assert solution.converged
        assert solution.certificate.objective == pytest.approx(cold.certificate.objective, rel=2e-6), f"seed {SEED}"


def test_the_cutting_plane_solver_says_what_it_needs():
    X, Y = small_problem(20, 3, 2)
    with pytest.raises(ValueError, match=r"needs penalty='ridge', .* got L21\(\) instead; solver='bundle' takes any"):
        SMTLClassifier(solver="cutting-plane").fit(X, Y)


LINEAR = [
    StructSVM(),
    StructSVM("auc"),
    MTLClassifier(),
    MTLRegressorClassifier(),
    MTLRegressorClassifier("trace"),
    ThresholdedLogistic(Cs=[0.1, 1.0], cv=3),
]


@pytest.mark.parametrize("model", LINEAR, ids=repr)
class TestLinearMethods:
    def data(self):
        X, Y = make_multilabel_classification(120, n_features=8, n_classes=4, random_state=SEED)
        Y[0], Y[1] = 1, 0
        return (X - X.mean(axis=0)) / X.std(axis=0), Y

    def test_permuted_labels_permute_the_scores(self, model):
        X, Y = self.data()
        model = clone(model)
        order = np.array([2, 0, 3, 1])
        if isinstance(model, ThresholdedLogistic):
            halves = np.arange(120) % 2 == 0
            model.set_params(cv=[(halves, ~halves), (~halves, halves)])
        else:
            model.set_params(tol=1e-6)
        if isinstance(model, StructSVM):
            model.set_params(threshold=0.0)
        scores = model.fit(X, Y).decision_function(X)
        permuted = model.fit(X, Y[:, order]).decision_function(X)
        size = np.abs(scores).max()
        assert np.abs(scores[:, order] - permuted).max() <= 0.02 * size, f"seed {SEED}"

    def test_sparse_features_and_holes_and_one_class(self, model):
        X, Y = self.data()
        model = clone(model)
        holes = np.where(np.random.default_rng(SEED).random(Y.shape) < 0.1, np.nan, Y)
        holes[:2] = Y[:2]
        holes = np.column_stack([holes, np.ones(len(Y)), np.full(len(Y), np.nan)])
        with pytest.warns(UserWarning, match="Tasks 4, 5 .* only one class"):
            dense = model.fit(X, holes).decision_function(X)
        with pytest.warns(UserWarning, match="Tasks 4, 5 .* only one class"):
            sparse = model.fit(sp.csr_array(X), holes).decision_function(sp.csr_array(X))
        assert dense == pytest.approx(sparse, rel=1e-3, abs=0.02 * np.abs(dense).max()), f"seed {SEED}"
        assert np.array_equal(model.predict(X)[:, 4:], np.tile([1, 0], (len(X), 1)))

    def test_own_rows_and_row_order(self, model):
        X, Y = self.data()
        task = np.arange(120) % 3
        model = clone(model).fit(X, Y[:, 0], tasks=task)
        answers = model.predict(X, tasks=task)
        everything = model.decision_function(X)
        assert everything.shape == (120, 3)
        assert model.decision_function(X, tasks=task) == pytest.approx(everything[np.arange(120), task])
        assert np.array_equal(model.predict(X[::-1], tasks=task[::-1]), answers[::-1])


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [StructSVM("f1", tol=1e-6), StructSVM("auc", threshold=0.0, tol=1e-9), MTLClassifier("ridge", tol=1e-9)],
    # One class gets a ten-millionth of the weight of the other.
    expected_failed_checks=lambda estimator: (
        {"check_class_weight_classifiers": "the weight of a class cancels in AUC, and no cut is chosen"}
        if estimator.metric == "auc"
        else {}
    ),
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
