"""Whatever there are several of is found by location: a file in a package is all that a new one takes."""

import importlib
import pkgutil
import sys
import textwrap

import numpy as np
import pytest

import smtl.baselines
import smtl.datasets.formats
import smtl.ensemble.learners
import smtl.experiments.methods
import smtl.metrics
import smtl.penalties
import smtl.solvers
import smtl.solvers.proposers
from smtl import SMTLClassifier, SMTLEnsemble
from smtl.baselines import Baseline, baseline_names
from smtl.datasets import Format, format_of, read, write
from smtl.ensemble.learners import Learner, learner_names
from smtl.experiments import Method, Run, Study, get_method, method_names, run_one
from smtl.metrics import Metric, metric_names
from smtl.penalties import Penalty, penalty_names
from smtl.solvers import Problem, Solver, solve, solver_names
from smtl.solvers.proposers import Proposer
from smtl.tasks import SharedRows
from tests.seeds import new_rng

PACKAGES = {
    smtl.metrics: Metric,
    smtl.penalties: Penalty,
    smtl.solvers: Solver,
    smtl.solvers.proposers: Proposer,
    smtl.datasets.formats: Format,
    smtl.baselines: Baseline,
    smtl.ensemble.learners: Learner,
    smtl.experiments.methods: Method,
}

FILES = {
    "__init__": """
        from smtl.registry import import_all

        import_all(__name__, __path__)
        """,
    "metric": """
        from smtl.metrics import ContingencyMetric

        class Misses(ContingencyMetric):
            name = "misses-and-half-the-alarms"
            concave_in_fp = True

            def delta(self, tp, fp, fn, tn):
                return (fn + 0.5 * fp) / (tp + fn)
        """,
    "penalty": """
        import numpy as np
        from smtl.penalties import Penalty

        class DoubleRidge(Penalty):
            name = "double-ridge"

            def value(self, W):
                return float(np.sum(W**2))

            def prox(self, M, step):
                return M / (1.0 + 2.0 * step)

            def conjugate(self, Z):
                return 0.25 * float(np.sum(Z**2))
        """,
    "solver": """
        from smtl.solvers import Solver

        class Twice(Solver):
            name = "twice"

            def run(self, problem, C, start, stopping):
                first = Solver.known["bundle"]().run(problem, C, start, stopping._replace(tol=0.1))
                return Solver.known["bundle"]().run(problem, C, first.start, stopping)
        """,
    "proposer": """
        from smtl.solvers.proposers import Proposer

        class Back(Proposer):
            name, order = "back-to-the-best", 1
            asked = 0

            @classmethod
            def suits(cls, problem, costs, tol):
                return tol == 0.03

            def propose(self, state):
                Back.asked += 1
                return None if state.n_iter > 2 else state.certificate.W
        """,
    "file_format": """
        from pathlib import Path

        import numpy as np
        from smtl.datasets import Dataset, Format

        class Signs(Format):
            name, title, order = "signs", "lines of numbers and signs", 1
            written = (".signs",)

            def begins(self, beginning):
                return beginning.words.startswith("#signs")

            def read(self, path):
                rows = [line.split() for line in Path(path).read_text().splitlines()[1:]]
                X = np.array([[float(word) for word in row[:-1]] for row in rows])
                return Dataset(X, np.array([[sign == "+" for sign in row[-1]] for row in rows], dtype=np.int8))

            def write(self, data, path):
                rows = [
                    " ".join([*map(repr, map(float, x)), "".join("+" if label else "-" for label in y)])
                    for x, y in zip(data.X, data.Y)
                ]
                Path(path).write_text("\\n".join(["#signs", *rows]) + "\\n")
        """,
    "baseline": """
        from sklearn.neighbors import KNeighborsClassifier
        from smtl.baselines import Baseline

        class Nearest(KNeighborsClassifier, Baseline):
            name = "nearest"
        """,
    "learner": """
        import numpy as np
        from smtl.ensemble import Learner

        class Centroids(Learner):
            name = "centroids"

            def fit(self, X, targets):
                self.apart = np.array([X[y == 1].mean(axis=0) - X[y == -1].mean(axis=0) for y in targets.Y.T])

            def decision_function(self, X, task=None):
                return X @ self.apart.T
        """,
    "method": """
        from smtl.experiments import Method

        class FiveNearest(Method):
            name, title, about = "five-nearest", "5-NN", "the five nearest rows"

            def make(self, search):
                from sklearn.neighbors import KNeighborsClassifier

                return KNeighborsClassifier(5)
        """,
}


@pytest.fixture(scope="module")
def added(tmp_path_factory):
    """A package with one of each; what it has registered goes when the tests end."""
    folder = tmp_path_factory.mktemp("one_of_each")
    package = folder / "one_of_each"
    package.mkdir()
    for name, text in FILES.items():
        (package / f"{name}.py").write_text(textwrap.dedent(text))
    with pytest.MonkeyPatch.context() as patch:
        for kind in PACKAGES.values():
            patch.setattr(kind, "known", dict(kind.known))
        patch.syspath_prepend(str(folder))
        importlib.invalidate_caches()
        yield importlib.import_module("one_of_each")


@pytest.fixture(scope="module")
def data():
    rng = new_rng()
    X = rng.standard_normal((80, 4))
    Y = (X @ rng.standard_normal((4, 3)) + 0.5 * rng.standard_normal((80, 3)) > 0).astype(int)
    Y[:8], Y[8:16] = 1, 0
    return X, Y


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_module_of_a_package_is_imported_with_it(package):
    modules = {f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__)}
    assert modules <= set(sys.modules)
    assert modules & {kind.__module__ for kind in PACKAGES[package].known.values()}


def test_metrics_and_penalties(added, data):
    assert "misses-and-half-the-alarms" in metric_names()
    assert "double-ridge" in penalty_names()
    X, Y = data
    model = SMTLClassifier("misses-and-half-the-alarms", "double-ridge", C=1.0, threshold=0.0, tol=1e-4).fit(X, Y)
    assert 0.0 <= model.gap_ <= 1e-4
    half = SMTLClassifier("misses-and-half-the-alarms", "ridge", C=0.5, threshold=0.0, tol=1e-4).fit(X, Y)
    assert model.objective_ == pytest.approx(2.0 * half.objective_, rel=3e-4)  # |W|^2 + G = 2 (|W|^2 / 2 + G / 2)


def test_solvers_and_proposers(added, data):
    assert "twice" in solver_names()
    X, Y = data
    labels = np.where(Y > 0, 1, -1).astype(np.int8)
    problem = Problem(SharedRows(X, labels), smtl.metrics.get_metric("auc"), smtl.penalties.get_penalty("l21"))
    twice, usual = (solve(problem, 1.0, tol=1e-4, solver=name) for name in ("twice", "bundle"))
    assert twice.converged
    assert twice.certificate.objective == pytest.approx(usual.certificate.objective, rel=2e-4)
    assert solve(problem, 1.0, tol=0.03, solver="bundle").converged
    assert Proposer.known["back-to-the-best"].asked > 0


def test_formats(added, data, tmp_path):
    X, Y = data
    write(smtl.datasets.Dataset(X, Y), tmp_path / "small.signs")
    assert format_of(tmp_path / "small.signs") == "signs"
    again = read(tmp_path / "small.signs")
    np.testing.assert_array_equal(again.X, X)
    np.testing.assert_array_equal(again.Y, Y)


def test_learners(added, data):
    assert "centroids" in learner_names()
    X, Y = data
    model = SMTLEnsemble(learners=["centroids"], cv=2).fit(X, Y)
    assert model.predict(X).shape == Y.shape


def test_baselines_and_methods_of_a_comparison(added):
    assert "nearest" in baseline_names()
    assert method_names()[-1] == "five-nearest"
    study = Study(cv=2, n_values=2)
    by_name, with_defaults = (run_one(study, Run("digits", name, 0)) for name in ("five-nearest", "nearest"))
    assert by_name["macro_f1"] == with_defaults["macro_f1"] > 0.9  # five neighbours are the default, too
    assert get_method("nearest").title == "Nearest"
