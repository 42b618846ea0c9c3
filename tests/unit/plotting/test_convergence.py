"""Objective, bound and gap, read back from the lines."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier, SMTLClassifierCV
from smtl.plotting import ConvergenceDisplay, plot_convergence
from tests.seeds import new_rng

# Of random data little may be learnt.
pytestmark = pytest.mark.filterwarnings("ignore:Task.* all weights zero:UserWarning")


@pytest.fixture(scope="module")
def data():
    rng = new_rng()
    X = rng.standard_normal((80, 6))
    return X, (X[:, :3] + rng.standard_normal((80, 3)) > 0.5).astype(int)


@pytest.fixture(scope="module")
def model(data):
    return SMTLClassifier(tol=1e-3).fit(*data)


@pytest.mark.parametrize("x", ["seconds", "passes"])
def test_lines_are_the_history(model, x, ax):
    display = ConvergenceDisplay.from_estimator(model, x=x, ax=ax)
    history = model.history_
    best = [min(history["objective"][: k + 1]) for k in range(len(history["objective"]))]
    best[-1] = model.objective_
    for line, values in [(display.objective_line_, best), (display.bound_line_, history["bound"])]:
        np.testing.assert_array_equal(line.get_xdata(), history[x])
        np.testing.assert_allclose(line.get_ydata(), values, rtol=1e-12)
        assert line.get_drawstyle() == "steps-post"
    assert display.objective_line_.get_ydata()[-1] == model.objective_
    assert display.bound_line_.get_ydata()[-1] == model.dual_bound_


def test_the_area_between_is_shaded(model, ax):
    display = ConvergenceDisplay.from_estimator(model, x="passes", ax=ax)
    inside = display.area_.get_paths()[0]
    x = display.bound_line_.get_xdata()
    k = len(x) // 2
    low, high = display.bound_line_.get_ydata()[k], display.objective_line_.get_ydata()[k]
    middle = x[k] + 0.5 * (x[k + 1] - x[k])
    assert inside.contains_point((middle, 0.5 * (low + high)))
    assert not inside.contains_point((middle, high + 0.1 * (high - low)))
    assert not inside.contains_point((middle, low - 0.1 * (high - low)))


def test_the_last_values_are_written(model, collisions):
    display = ConvergenceDisplay.from_estimator(model)
    bound, gap, objective = (label.get_text() for label in display.labels_)
    assert float(objective.removeprefix("objective ")) == pytest.approx(model.objective_, rel=1e-4)
    assert float(bound.removeprefix("bound ")) == pytest.approx(model.dual_bound_, rel=1e-4)
    assert float(gap.removeprefix("gap ").removesuffix(" %")) == pytest.approx(100 * model.gap_, rel=0.05)
    assert collisions(display.figure_, [*display.labels_, display.ax_.xaxis.label, display.ax_.yaxis.label]) == []


def test_a_high_start_does_not_flatten_the_rest(ax):
    display = ConvergenceDisplay(objective=[1e6, 2.0, 1.0], bound=[0, 0.5, 0.9], seconds=[1, 2, 3], passes=[1, 2, 3])
    low, high = display.plot(ax=ax).ax_.get_ylim()
    assert -0.5 < low <= 0.0
    assert 2.0 <= high <= 3.0


def test_gap_on_a_logarithmic_axis(model, collisions):
    display = ConvergenceDisplay.from_estimator(model, kind="gap", x="passes")
    assert display.ax_.get_yscale() == "log"
    best = np.minimum.accumulate(model.history_["objective"])
    best[-1] = model.objective_
    np.testing.assert_allclose(display.gap_line_.get_ydata(), (best - model.history_["bound"]) / best, rtol=1e-9)
    assert display.gap_line_.get_ydata()[-1] == pytest.approx(model.gap_)
    np.testing.assert_array_equal(display.tol_line_.get_ydata(), [1e-3, 1e-3])
    assert [label.get_text() for label in display.labels_][1] == "tol 0.1 %"
    assert collisions(display.figure_, display.labels_) == []


def test_a_gap_of_zero_can_be_drawn(collisions):
    display = ConvergenceDisplay(objective=[2.0, 1.0], bound=[1.0, 1.0], seconds=[1, 2], passes=[1, 2], tol=1e-3)
    display.plot(kind="gap")
    np.testing.assert_array_equal(display.gap_line_.get_ydata(), [0.5, np.nan])
    assert display.labels_[0].get_text() == "gap 0 %"
    assert collisions(display.figure_, display.labels_) == []


def test_where_all_is_one_the_bound_is_below(collisions):
    display = ConvergenceDisplay(objective=[1.0, 1.0], bound=[1.0, 1.0], seconds=[1, 2], passes=[1, 2]).plot()
    assert [label.get_text() for label in display.labels_] == ["bound 1.0000", "gap 0 %", "objective 1.0000"]
    assert np.all(np.diff([label.get_position()[1] for label in display.labels_]) > 0)
    assert collisions(display.figure_, display.labels_) == []


def test_one_iteration_and_axes_of_ones_own():
    ax = Figure().subplots()
    display = ConvergenceDisplay(objective=[2.0], bound=[1.0], seconds=[0.0], passes=[1])
    assert display.plot(ax=ax).ax_ is ax
    assert display.figure_ is ax.figure


def test_of_a_pipeline_and_of_a_search(data, ax):
    X, Y = data
    model = make_pipeline(StandardScaler(), SMTLClassifierCV(Cs=2, cv=2)).fit(X, Y)
    bound = plot_convergence(model, ax, x="passes").lines[1]
    np.testing.assert_allclose(bound.get_ydata(), model[-1].history_["bound"])
    with pytest.raises(ValueError, match=r"SMTLClassifierCV with refit=True"):
        plot_convergence(SMTLClassifierCV(Cs=2, cv=2, refit=False).fit(X, Y))


def test_rejects_what_it_does_not_know(model):
    with pytest.raises(ValueError, match=r"x must be 'seconds' or 'passes', got 'hours' instead"):
        plot_convergence(model, x="hours")
    with pytest.raises(ValueError, match=r"kind must be 'objective' or 'gap', got 'log' instead"):
        plot_convergence(model, kind="log")


@pytest.mark.filterwarnings("ignore:Task 1.0 has only one class")
def test_a_fit_without_iterations_has_no_picture():
    model = SMTLClassifier().fit(np.eye(3), np.ones(3))
    with pytest.raises(ValueError, match=r"history_ must have at least one iteration, got none instead"):
        plot_convergence(model)
