"""The heat map of the weights, read back from the axes."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier
from smtl.plotting import WeightsDisplay, plot_weights
from tests.seeds import new_rng

# Of random data little may be learnt.
pytestmark = pytest.mark.filterwarnings("ignore:Task.* all weights zero:UserWarning")


def names(ticks):
    return [label.get_text() for label in ticks]


def test_shows_the_strongest_features_from_the_top():
    coef = new_rng().standard_normal((4, 9))
    display = WeightsDisplay(coef=coef, task_names=["a", "b", "c", "d"]).plot(max_features=5)
    order = sorted(range(9), key=lambda j: -np.sqrt((coef[:, j] ** 2).sum()))[:5]
    np.testing.assert_array_equal(display.image_.get_array(), coef.T[order])
    assert names(display.ax_.get_yticklabels()) == [f"x{j}" for j in order]
    assert names(display.ax_.get_xticklabels()) == ["a", "b", "c", "d"]
    assert display.ax_.get_ylabel() == "feature (strongest, 5 of 9)"
    assert display.colorbar_.ax.get_ylabel() == "weight"


def test_zero_is_the_middle_of_the_colours():
    coef = np.array([[3.0, -1.0], [0.5, 0.0]])
    display = WeightsDisplay(coef=coef).plot()
    assert display.image_.get_clim() == (-3.0, 3.0)
    display = WeightsDisplay(coef=np.zeros((2, 3))).plot()
    assert display.image_.get_clim() == (-1.0, 1.0)
    assert display.ax_.get_ylabel() == "feature (all zero, 3 of 3)"


def test_features_that_are_zero_are_left_out():
    display = WeightsDisplay(coef=[[0.0, 2.0, 0.0, -1.0]]).plot()
    assert names(display.ax_.get_yticklabels()) == ["x1", "x3"]
    assert display.ax_.get_ylabel() == "feature (not zero, 2 of 4)"


def test_of_a_pipeline_with_names():
    pd = pytest.importorskip("pandas")
    rng = new_rng()
    X = pd.DataFrame(rng.standard_normal((60, 4)), columns=["wind", "rain", "sun", "snow"])
    Y = pd.DataFrame((X.to_numpy()[:, :2] > 0).astype(int), columns=["open", "closed"])
    model = make_pipeline(StandardScaler(), SMTLClassifier(C=100.0, ridge=0.1)).fit(X, Y)
    ax = plot_weights(model)
    assert names(ax.get_xticklabels()) == ["open", "closed"]
    order = np.argsort(-np.linalg.norm(model[-1].coef_, axis=0))
    shown = [name for name in X.columns[order] if np.any(model[-1].coef_[:, X.columns == name])]
    assert names(ax.get_yticklabels()) == shown
    assert set(names(plot_weights(model, feature_names=[*"abcd"]).get_yticklabels())) <= set("abcd")


@pytest.mark.parametrize(("m", "d"), [(1, 3), (3, 100), (12, 30), (174, 100)])
@pytest.mark.parametrize(("length", "new"), [(1, True), (60, False)])
def test_names_do_not_collide(collisions, m, d, length, new):
    rng = new_rng()
    display = WeightsDisplay(
        coef=rng.standard_normal((m, d)),
        feature_names=[f"{j} {'f' * length} {j}" for j in range(d)],
        task_names=[f"{i} {'t' * length} {i}" for i in range(m)],
    ).plot(ax=None if new else Figure(layout="constrained").subplots())
    ax = display.ax_
    texts = [*ax.get_xticklabels(), ax.xaxis.label, *ax.get_yticklabels(), ax.yaxis.label]
    assert collisions(display.figure_, texts) == []
    # Each name stands at its own column and row.
    for place, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True):
        assert label.get_text().startswith(f"{int(place)} ")
    for place, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True):
        assert label.get_text().startswith(f"{display.order_[int(place)]} ")
    step = int(np.diff(ax.get_xticks())[0]) if m > 1 else 1
    assert ax.get_xlabel() == ("task" if step == 1 else f"task ({m}, one in {step} named)")
    assert len(ax.get_xticks()) >= min(m, 15)


def test_rejects_no_features():
    with pytest.raises(ValueError, match=r"max_features must be at least 1, got 0 instead"):
        WeightsDisplay(coef=[[1.0]]).plot(max_features=0)
