"""Labels that keep clear of one another, names that fit, and what importing costs."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from smtl import SMTLClassifier, SMTLClassifierCV
from smtl.plotting import (
    plot_convergence,
    plot_cv_scores,
    plot_path,
    plot_precision_recall,
    plot_weights,
)
from smtl.plotting._names import name_of, names_of_features, shorten, shorten_all
from smtl.plotting._parts import spread
from tests.seeds import new_rng

# Of random data little may be learnt.
pytestmark = pytest.mark.filterwarnings("ignore:Task.* all weights zero:UserWarning")


def test_spread_is_the_nearest_that_keeps_the_distance():
    rng = new_rng()
    x = rng.uniform(0.0, 1.0, 6)
    placed = spread(x, 0.15, 0.0, 1.0)
    order = np.argsort(x)
    best = minimize(
        lambda z: np.sum((z - x[order]) ** 2),
        np.linspace(0.0, 1.0, 6),
        jac=lambda z: 2.0 * (z - x[order]),
        bounds=[(0.0, 1.0)] * 6,
        constraints={"type": "ineq", "fun": lambda z: np.diff(z) - 0.15},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    np.testing.assert_allclose(placed[order], best.x, atol=1e-4)


def test_spread_leaves_what_is_apart_where_it_is():
    x = np.array([0.9, 0.1, 0.5])
    np.testing.assert_allclose(spread(x, 0.2, 0.0, 1.0), x)


def test_spread_keeps_the_distance_where_there_is_no_room():
    placed = spread(np.full(5, 0.5), 0.5, 0.0, 1.0)
    assert np.diff(np.sort(placed)).min() >= 0.5 - 1e-12


def test_a_long_name_keeps_its_ends():
    short = shorten("mean of the spectral centroid\nover all windows")
    assert len(short) == 24
    assert short.startswith("mean of")
    assert short.endswith("windows")
    assert shorten("price in $") == r"price in \$"


def test_names_that_differ_in_the_middle_stay_different():
    names = [f"spectral_centroid_{i}_mean_over_all_the_windows" for i in range(12)]
    short = shorten_all(names)
    assert len(set(short)) == 12
    assert max(map(len, short)) <= 24
    assert shorten_all(["a", "b", "a"]) == ["a", "b", "a"]


def test_name_of_metrics_and_scorers():
    from sklearn.metrics import f1_score, make_scorer

    from smtl import F1, FBeta

    assert name_of("auc") == "auc"
    assert name_of(F1()) == "f1"
    assert name_of(FBeta(3.0)) == "FBeta(beta=3.0)"
    assert name_of(f1_score) == "f1_score"
    assert name_of(make_scorer(f1_score)).startswith("make_scorer(f1_score")


def test_feature_names_come_through_a_pipeline():
    pd = pytest.importorskip("pandas")
    rng = new_rng()
    X = pd.DataFrame(rng.standard_normal((30, 3)), columns=["wind", "rain", "sun"])
    y = np.arange(30) % 2
    last = SMTLClassifier(tol=0.1)
    assert names_of_features(make_pipeline(StandardScaler(), last).fit(X, y), 3) == ["wind", "rain", "sun"]
    assert names_of_features(make_pipeline(PCA(2), last).fit(X, y), 2) == ["pca0", "pca1"]
    assert names_of_features(make_pipeline(last).fit(X, y), 3) == ["wind", "rain", "sun"]
    # A function does not name what it returns.
    nameless = make_pipeline(StandardScaler(), FunctionTransformer(np.abs), last).fit(X.to_numpy(), y)
    assert names_of_features(nameless, 3) == ["x0", "x1", "x2"]


def test_unfitted_estimators_are_told_so():
    from sklearn.exceptions import NotFittedError

    X, y = np.eye(4), [0, 1, 0, 1]
    for model in (SMTLClassifier(), make_pipeline(StandardScaler(), SMTLClassifier())):
        for draw in (plot_convergence, plot_weights, plot_cv_scores):
            with pytest.raises(NotFittedError):
                draw(model)
        for draw in (plot_path, plot_precision_recall):
            with pytest.raises(NotFittedError):
                draw(model, X, y)
    with pytest.raises(NotFittedError):
        plot_cv_scores(SMTLClassifierCV())


def test_what_is_missing_is_named():
    from sklearn.tree import DecisionTreeClassifier

    X, y = np.eye(4), [0, 1, 0, 1]
    tree = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"must have coef_, got DecisionTreeClassifier without coef_ instead"):
        plot_weights(tree)
    with pytest.raises(ValueError, match=r"without decision_function instead"):
        plot_precision_recall(tree, X, y)
    with pytest.raises(ValueError, match=r"without history_, objective_, dual_bound_ instead. Give a fitted SMTL"):
        plot_convergence(tree)
    with pytest.raises(
        ValueError, match=r"got SMTLClassifier without Cs_, scores_ instead. Give a fitted SMTLClassifierCV"
    ):
        plot_cv_scores(SMTLClassifier(tol=0.1).fit(X, y))
    with pytest.raises(ValueError, match=r"without coef_, C_, metric, penalty instead"):
        plot_path(tree, X, y)


DRAW = """
import sys
import smtl.plotting
assert "matplotlib" not in sys.modules
from matplotlib.figure import Figure
display = smtl.plotting.WeightsDisplay(coef=[[1.0, -1.0]])
ax = Figure().subplots()
assert display.plot(ax=ax).ax_ is ax
assert display.figure_ is ax.figure
assert "matplotlib.pyplot" not in sys.modules
"""


def test_matplotlib_is_imported_late_and_pyplot_only_for_new_figures():
    process = subprocess.run([sys.executable, "-c", DRAW], capture_output=True, text=True, check=False, timeout=300)
    assert process.returncode == 0, process.stderr
