"""A certificate is never wrong: what classes declare, where a solver starts from, and what precision the data have."""

import signal
import threading
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from smtl import SMTLClassifier, smtl_path
from smtl.metrics import AUC, F1, ContingencyMetric, FBeta, Log, Metric, get_metric, metric_names
from smtl.penalties import L21, Elastic, Penalty, Ridge, Trace, get_penalty, penalty_names
from smtl.solvers import (
    Certificate,
    FalseCertificateError,
    Problem,
    Start,
    critical_C,
    solve,
    solve_path,
    solver_names,
)
from smtl.tasks import SharedRows
from tests.seeds import new_rng


class Tenth(F1):
    """A tenth of the loss, by the formula alone."""

    def delta(self, tp, fp, fn, tn):
        if tp == 0.0:
            return 0.1 if fn + fp > 0.0 else 0.0
        return 0.1 * (fn + fp) / (2.0 * tp + fn + fp)


class Convex(F1):
    """Convex in fp: what F1 declares does not hold for it."""

    def delta(self, tp, fp, fn, tn):
        return (fn / (tp + fn)) ** 2 + (fp / (fp + tn)) ** 2


def nearly_separable(rng, n=800, d=15, m=3):
    X = rng.standard_normal((n, d))
    Y = np.where(X @ rng.standard_normal((d, m)) + 0.3 * rng.standard_normal((n, m)) > 0, 1, -1).astype(np.int8)
    return X, Y


def small_problem(rng, metric="f1", penalty="l21", with_intercept=False, n=40, d=4, m=2):
    X = rng.standard_normal((n, d))
    Y = np.where(X @ rng.standard_normal((d, m)) + rng.standard_normal((n, m)) > 0, 1, -1).astype(np.int8)
    Y[:2] = [[1], [-1]]
    return Problem(SharedRows(X, Y), get_metric(metric), get_penalty(penalty), with_intercept=with_intercept)


@pytest.mark.parametrize("metric", [Tenth(), Convex()])
def test_a_path_of_a_changed_formula_is_as_true_as_cold_fits(metric):
    X, Y = nearly_separable(new_rng(), n=300, d=8)
    path = smtl_path(X, (Y > 0).astype(int), metric=metric, penalty="l21", Cs=8, tol=1e-3)
    assert np.all(path.dual_bounds <= path.objectives * (1 + 1e-9))
    assert path.gaps.max() <= 1e-3
    for C, objective, bound in zip(path.Cs[2::3], path.objectives[2::3], path.dual_bounds[2::3], strict=True):
        cold = SMTLClassifier(metric, "l21", C=C, tol=1e-4, threshold=0.0).fit(X, (Y > 0).astype(int))
        assert bound <= cold.objective_ * (1 + 1e-9)
        assert cold.dual_bound_ <= objective * (1 + 1e-9)


class AlsoConcave(F1):
    """Says again what is true of its own formula."""

    concave_in_fp = True

    def delta(self, tp, fp, fn, tn):
        return (fn + fp) / (tp + fn + fp) if fn + fp > 0.0 else 0.0


class Formula:
    def delta(self, tp, fp, fn, tn):
        return (fp / (fp + tn)) ** 2


class Mixed(Formula, F1):
    """The formula comes from the side."""


class WithOracle(AUC):
    def oracle(self, scores, y):
        delta, c = super().oracle(scores, y)
        return 2.0 * delta, 2.0 * c


class SquaredHinge(Log):
    @staticmethod
    def loss(margin):
        short = max(0.0, 1.0 - margin)
        return short * short, -2.0 * short


def test_what_a_metric_declares_ends_with_its_formula():
    assert F1.concave_in_fp
    assert F1.convex_in_fn
    assert not Tenth.convex_in_fn
    assert FBeta.concave_in_fp
    assert not Tenth.concave_in_fp
    assert not Mixed.concave_in_fp
    assert AlsoConcave.concave_in_fp
    assert F1.planes is Tenth.planes is ContingencyMetric.planes  # compiled with each one's own formula
    assert WithOracle.planes is Metric.planes
    assert WithOracle.uses_intercept
    assert not AUC.uses_intercept
    assert SquaredHinge.probability is None
    X, Y = nearly_separable(new_rng(), n=50)
    assert not hasattr(SMTLClassifier(SquaredHinge()).fit(X, Y), "predict_proba")
    assert hasattr(SMTLClassifier("log").fit(X, Y), "predict_proba")


def test_an_oracle_of_ones_own_is_the_one_that_is_trained_on():
    rng = new_rng()
    problem = small_problem(rng, "auc")
    twice = Problem(problem.tasks, WithOracle(), problem.penalty)
    assert solve(twice, 1.0, tol=1e-5).certificate.objective == pytest.approx(
        solve(problem, 2.0, tol=1e-5).certificate.objective, rel=2e-5
    )


@pytest.mark.parametrize("base", [L21, Trace, Ridge])
def test_a_penalty_with_another_formula_has_to_say_the_rest(base):
    class TenthOfIt(base):
        def value(self, W):
            return 0.1 * super().value(W)

    assert TenthOfIt.kernel is None
    Z = np.eye(3)
    for ask in [lambda p: p.conjugate(Z), lambda p: p.prox(Z, 1.0), lambda p: p.lower_bound(Z, 1.0)]:
        with pytest.raises(TypeError, match=r"TenthOfIt must define \w+ as well, since it overrides value"):
            ask(TenthOfIt())
    with pytest.raises(TypeError, match="TenthOfIt must define"):
        solve(small_problem(new_rng(), penalty=TenthOfIt()), 10.0)
    with pytest.raises(TypeError, match="TenthOfIt must define"):
        solve(small_problem(new_rng(), penalty=Elastic(TenthOfIt(), 0.5)), 10.0)


def test_a_penalty_that_says_all_of_it_gets_a_bound_of_its_own():
    class TenthOfRidge(Ridge):
        def value(self, W):
            return 0.1 * super().value(W)

        def prox(self, M, step):
            return M / (1.0 + 0.1 * step)

        def conjugate(self, Z):
            return 10.0 * super().conjugate(Z)

    assert TenthOfRidge.lower_bound is Penalty.lower_bound
    problem = small_problem(new_rng(), penalty=TenthOfRidge())
    expected = Problem(problem.tasks, problem.metric, Ridge())
    best, peer = (solve(each, C, tol=1e-6).certificate for each, C in ((problem, 0.1), (expected, 1.0)))
    assert best.objective == pytest.approx(0.1 * peer.objective, rel=2e-6)
    with pytest.raises(ValueError, match="cutting-plane' needs penalty='ridge'"):
        solve(problem, 1.0, "cutting-plane")


def test_a_norm_by_another_spectrum_has_the_bound_of_that_spectrum():
    class Double(Trace):
        def spectrum(self, W):
            return 2.0 * super().spectrum(W)

        def prox(self, M, step):
            return super().prox(M, 2.0 * step)

    W = new_rng().standard_normal((4, 3))
    assert Double().value(W) == pytest.approx(2.0 * Trace().value(W))
    assert Double().dual_norm(W) == pytest.approx(2.0 * Trace().dual_norm(W))  # that of Trace is for its own


def test_a_bound_above_an_objective_raises():
    assert Certificate(objective=1.0, bound=1.0 + 1e-12).gap == 0.0
    with pytest.raises(FalseCertificateError, match=r"The bound 0\.1165 is above the objective 0\.0728"):
        _ = Certificate(objective=0.0728, bound=0.1165).gap
    with pytest.raises(FalseCertificateError):
        _ = Certificate(objective=1.0, bound=1.0 + 1e-7).gap
    with pytest.raises(FalseCertificateError):
        _ = Certificate(objective=0.0, bound=1e-3).gap


class Untrue(F1):
    """Declares what does not hold: its planes are not below its loss."""

    def planes(self, scores, y, ptr, **options):
        delta, c, value = super().planes(scores, y, ptr, **options)
        return delta + 0.2, c, value


@pytest.mark.parametrize("solver", solver_names())
def test_a_solver_says_what_is_needed_to_report_a_false_bound(solver):
    problem = small_problem(new_rng(), Untrue(), "ridge")
    with pytest.raises(FalseCertificateError, match=r"report it.*metric=Untrue\(\), penalty=Ridge\(\), .*C=0\.0001"):
        solve(problem, 1e-4, solver, tol=1e-3, warn=False)


def other_problems(rng, problem, C):
    """Problems of the same shape, and values of C, that differ in one thing each."""
    X, Y = problem.tasks.X, problem.tasks.y.reshape(problem.shape[0], -1).T
    tasks, metric, penalty = problem.tasks, problem.metric, problem.penalty
    return {
        "metric": (Problem(tasks, get_metric("error"), penalty), C),
        "penalty": (Problem(tasks, metric, get_penalty("trace")), C),
        "C": (Problem(tasks, metric, penalty), 0.01 * C),
        "labels": (Problem(SharedRows(X, -Y), metric, penalty), C),
        "features": (Problem(SharedRows(1e-3 * X[::-1], Y), metric, penalty), C),
        "intercept": (Problem(tasks, metric, penalty, with_intercept=True), C),
        "offset": (Problem(tasks, metric, penalty, offset=rng.normal(size=Y.size)), C),
    }


@pytest.mark.parametrize("solver", ["auto", "bundle", "cutting-plane", "paper"])
@pytest.mark.parametrize("what", ["metric", "penalty", "C", "labels", "features", "intercept", "offset"])
def test_a_start_from_another_problem_changes_nothing_but_time(what, solver):
    rng = new_rng()
    problem, C = small_problem(rng, penalty="ridge" if solver == "cutting-plane" else "l21"), 10.0
    other, other_C = other_problems(rng, problem, C)[what]
    if solver == "cutting-plane" and what == "penalty":
        pytest.skip("it takes one penalty only")
    if solver == "paper":
        C = other_C = 0.5
    start = solve(problem, C, solver, tol=1e-2, warn=False).start
    warm, cold = (solve(other, other_C, solver, tol=1e-2, max_iter=3000, start=s).certificate for s in (start, None))
    assert warm.gap <= 1e-2
    assert cold.bound <= warm.objective * (1 + 1e-9)
    assert warm.bound <= cold.objective * (1 + 1e-9)


def test_a_start_of_a_problem_that_was_changed_is_of_another_problem():
    problem = small_problem(new_rng(), FBeta(beta=1.0))
    start = solve(problem, 10.0, tol=1e-4).start
    problem.metric.beta = 3.0
    warm, cold = (solve(problem, 10.0, tol=1e-3, start=each).certificate for each in (start, None))
    assert max(warm.bound, cold.bound) <= min(warm.objective, cold.objective) * (1 + 1e-9)
    start = solve(problem, 10.0, tol=1e-4).start
    problem.metric = get_metric("error")
    warm, cold = (solve(problem, 10.0, tol=1e-3, start=each).certificate for each in (start, None))
    assert max(warm.bound, cold.bound) <= min(warm.objective, cold.objective) * (1 + 1e-9)


def test_a_start_of_another_shape_or_without_numbers_is_refused():
    problem, wider = small_problem(new_rng()), small_problem(new_rng(), d=5)
    with pytest.raises(ValueError, match=r"start must have weights and multipliers of shape \(2, 5\)"):
        solve(wider, 10.0, start=solve(problem, 10.0, tol=0.1).start)
    nothing = np.zeros((2, 4))
    with pytest.raises(ValueError, match="start must have finite weights"):
        solve(problem, 10.0, start=Start(nothing + np.nan, nothing, np.zeros(2)))


def test_planes_are_kept_for_the_same_losses():
    rng = new_rng()
    X, Y = nearly_separable(rng)
    problem = Problem(SharedRows(X, Y), F1(), L21())
    C = 10 * critical_C(problem)
    first = solve(problem, C, tol=1e-3)
    again = solve(Problem(problem.tasks, problem.metric, L21()), C, tol=1e-3, start=first.start)
    assert again.history["bound"][0] >= first.certificate.bound * (1 - 1e-9)
    elsewhere = solve(Problem(SharedRows(X, Y), problem.metric, L21()), C, tol=1e-3, start=first.start)
    assert elsewhere.history["bound"][0] < first.certificate.bound


def at_the_weights(model, X, Y):
    """The objective, from the returned weights and intercepts alone."""
    total = get_penalty(model.penalty, model.ridge).value(model.coef_.astype(np.float64))
    for i in range(Y.shape[1]):
        s, y = X @ model.coef_[i] + model.intercept_[i], np.where(Y[:, i] > 0, 1, -1)
        delta, c = get_metric(model.metric).oracle(s, y)
        total += model.C_ * (delta - s @ c)
    return total


@pytest.mark.parametrize("repeat", range(6))
@pytest.mark.filterwarnings("ignore:Task")
def test_a_warm_start_ends_where_a_cold_one_does_whatever_has_changed(repeat):
    rng = new_rng()

    def data():
        X = rng.standard_normal((60, 5)) * 10 ** rng.uniform(-2, 2)
        return X, (X @ rng.standard_normal((5, 3)) + X.std() * rng.standard_normal((60, 3)) > 0).astype(int)

    choices = {
        "metric": lambda: str(rng.choice(metric_names())),
        "penalty": lambda: str(rng.choice(penalty_names())),
        "fit_intercept": lambda: bool(rng.random() < 0.5),
        "C": lambda: "auto" if rng.random() < 0.3 else float(10 ** rng.uniform(-2, 3)),
    }
    X, Y = data()
    model = SMTLClassifier(warm_start=True, threshold=0.0)
    for _ in range(8):
        model.set_params(**{name: draw() for name, draw in choices.items() if rng.random() < 0.5})
        if rng.random() < 0.3:
            X, Y = data()
        model.fit(X, Y)
        cold = SMTLClassifier(**{**model.get_params(), "warm_start": False}).fit(X, Y)
        assert model.gap_ <= 1e-3
        assert model.objective_ == pytest.approx(cold.objective_, rel=1.1e-3)
        assert at_the_weights(model, X, Y) == pytest.approx(model.objective_, rel=1e-7)


@pytest.mark.parametrize("change", [{"fit_intercept": False}, {"metric": "auc"}])
def test_no_intercept_is_left_where_there_is_none(change):
    X, Y = nearly_separable(new_rng(), n=100, d=5)
    model = SMTLClassifier("f1", warm_start=True, threshold=0.0).fit(X + 1.0, Y)
    assert model.intercept_.all()
    model.set_params(**change).fit(X + 1.0, Y)
    assert not model.intercept_.any()


@pytest.mark.parametrize("penalty", ["trace", "l21"])
@pytest.mark.parametrize("tol", [1e-5, 1e-6])
@pytest.mark.filterwarnings("ignore:Task")
def test_float32_is_as_exact_as_float64(penalty, tol):
    rng = new_rng()
    X, Y = rng.standard_normal((40, 6)).astype(np.float32), (rng.random((40, 3)) < 0.4).astype(int)
    Y[:2] = [[1], [0]]
    narrow, wide = (
        SMTLClassifier("f1", penalty, C=100.0, tol=tol, max_iter=2000).fit(x, Y) for x in (X, X.astype(np.float64))
    )
    assert narrow.gap_ <= tol
    assert narrow.objective_ == pytest.approx(wide.objective_, rel=2 * tol)
    assert narrow.dual_bound_ <= wide.objective_ * (1 + 1e-12)
    assert narrow.coef_.dtype == np.float32


@pytest.mark.parametrize("metric", ["jaccard", "f1", "f2", "auc-labelling", "error"])
def test_more_features_than_rows_at_a_large_c_does_not_stall(metric):
    """No intercept, l11, hundreds to thousands of times the critical C: weights at the corners of a polytope."""
    rng = new_rng()
    for _ in range(10):
        n = int(rng.integers(5, 15))
        problem = small_problem(rng, metric, "l11", n=n, d=int(rng.integers(n + 1, 3 * n)), m=int(rng.integers(1, 4)))
        C = critical_C(problem) * 10 ** rng.uniform(2, 4)
        assert solve(problem, C, tol=1e-3, max_iter=3000).converged


def test_an_interrupted_refit_leaves_the_model_as_it_was():
    X, Y = nearly_separable(new_rng(), n=2000, d=40, m=8)
    model = SMTLClassifier("f1", tol=1e-2).fit(X, Y)
    before = dict(vars(model))
    model.set_params(C=1e6, tol=1e-12, max_iter=10**6)
    timer = threading.Timer(1.0, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :30], Y)
    assert time.perf_counter() - started < 60.0
    for name, value in before.items():
        if name.endswith("_"):
            assert getattr(model, name) is value
    assert {name for name in vars(model) if name.endswith("_")} == {name for name in before if name.endswith("_")}
    assert model.predict(X).shape == Y.shape


@pytest.mark.parametrize("solver", solver_names())
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_iter": 0}, "max_iter must be a positive integer, got 0 instead"),
        ({"max_iter": 1.5}, "max_iter must be a positive integer, got 1.5 instead"),
        ({"tol": 0.0}, "tol must be a positive number, got 0.0 instead"),
        ({"tol": np.nan}, "tol must be a positive number, got nan instead"),
    ],
)
def test_a_solver_that_could_not_stop_does_not_begin(solver, options, said):
    with pytest.raises(ValueError, match=said):
        solve(small_problem(new_rng(), penalty="ridge"), 10.0, solver, **options)


@pytest.mark.parametrize("solver", solver_names())
def test_a_single_iteration_is_enough_for_a_true_bound(solver):
    problem = small_problem(new_rng(), penalty="ridge")
    with pytest.warns(ConvergenceWarning):
        first = solve(problem, 10.0, solver, tol=1e-9, max_iter=1).certificate
    assert 0.0 <= first.bound <= solve(problem, 10.0, tol=1e-6).certificate.objective <= first.objective * (1 + 1e-6)


@pytest.mark.parametrize("C", [-1.0, 0.0, np.inf, np.nan, "10", None])
def test_C_must_be_a_positive_number(C):
    with pytest.raises(ValueError, match=r"C must be a positive number, got .* instead"):
        solve(small_problem(new_rng()), C)


class Weighted(ContingencyMetric):
    """Uses an attribute of the class and one of the instance."""

    weight = 0.25

    def __init__(self, power=2.0):
        self.power = power

    def delta(self, tp, fp, fn, tn):
        return self.weight * (fn / (tp + fn)) ** self.power + (fp / (fp + tn))


class Wordy(ContingencyMetric):
    words = "three"

    def delta(self, tp, fp, fn, tn):
        return len(self.words) * fp


class WordyLoss(Log):
    @staticmethod
    def loss(margin):
        return {"value": margin}["value"], "no slope"


def test_a_formula_may_use_attributes_of_its_class():
    X, Y = nearly_separable(new_rng(), n=100)
    assert SMTLClassifier(Weighted(), tol=1e-3).fit(X, Y).gap_ <= 1e-3
    y, s = np.array([1, 1, -1, -1]), np.array([-1.0, 1.0, 1.0, -1.0])
    assert Weighted().score(y, s) == pytest.approx(1 - (0.25 * 0.25 + 0.5))


@pytest.mark.parametrize(("metric", "what"), [(Wordy(), "delta of Wordy"), (WordyLoss(), "loss of WordyLoss")])
def test_a_formula_that_cannot_be_compiled_says_so_in_plain_words(metric, what):
    X, Y = nearly_separable(new_rng(), n=30)
    with pytest.raises(ValueError, match=rf"{what}\(\) must be plain arithmetic .* What numba says of it"):
        SMTLClassifier(metric).fit(X, Y)


def test_a_path_is_not_disturbed_by_what_came_before():
    """Planes of a path serve the next path on the same data, with another penalty."""
    problem = small_problem(new_rng(), with_intercept=True)
    Cs = critical_C(problem) * np.array([2.0, 20.0, 200.0])
    last = list(solve_path(problem, Cs, tol=1e-3))[-1]
    problem.penalty = Trace()
    for warm, C in zip(solve_path(problem, Cs, tol=1e-3, start=last.start), Cs, strict=True):
        cold = solve(Problem(problem.tasks, problem.metric, Trace(), with_intercept=True), C, tol=1e-3).certificate
        assert warm.certificate.bound <= cold.objective * (1 + 1e-9)
        assert cold.bound <= warm.certificate.objective * (1 + 1e-9)
