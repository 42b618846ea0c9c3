"""Held-out scores against C, read back from the axes."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import F1, SMTLClassifierCV
from smtl.plotting import CVScoreDisplay, plot_cv_scores
from tests.seeds import new_rng

# Of random data little may be learnt.
pytestmark = pytest.mark.filterwarnings("ignore:Task.* all weights zero:UserWarning")


@pytest.fixture(scope="module")
def data():
    rng = new_rng()
    X = rng.standard_normal((90, 6))
    return X, (X[:, :3] + rng.standard_normal((90, 3)) > 0.5).astype(int)


@pytest.fixture(scope="module")
def model(data):
    return SMTLClassifierCV("f1", Cs=6, cv=4, refit=False).fit(*data)


@pytest.fixture
def display():
    """A search of which all is known."""
    return CVScoreDisplay(
        Cs=[0.01, 0.1, 1.0, 10.0],
        scores=[[0.1, 0.62, 0.7, 0.5], [0.3, 0.78, 0.9, 0.5]],
        C=0.1,
        score_name="auc",
        selection="1se",
    )


def band_of(display):
    """Lower and upper edge of the band at each C."""
    points = display.band_.get_paths()[0].vertices
    columns = [points[np.isclose(points[:, 0], C, rtol=1e-9), 1] for C in display.Cs]
    return np.array([(column.min(), column.max()) for column in columns]).T


def test_line_is_the_mean_over_the_folds(model, ax):
    display = CVScoreDisplay.from_estimator(model, ax=ax)
    np.testing.assert_array_equal(display.line_.get_xdata(), model.Cs_)
    np.testing.assert_allclose(display.line_.get_ydata(), model.cv_results_["mean_test_score"])
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_ylabel() == "held-out f1\nmean of 4 folds ± standard error"


@pytest.mark.parametrize("spread", ["se", "std"])
def test_band_is_the_spread_over_the_folds(model, spread, ax):
    display = CVScoreDisplay.from_estimator(model, spread=spread, ax=ax)
    mean, std = model.scores_.mean(axis=0), model.scores_.std(axis=0, ddof=1)
    width = std / 2.0 if spread == "se" else std  # four folds
    np.testing.assert_allclose(band_of(display), [mean - width, mean + width])
    assert CVScoreDisplay.from_estimator(model, spread=None, ax=ax).band_ is None


def test_folds_without_a_score_are_left_out_of_mean_and_spread(ax):
    scores = np.array([[0.2, np.nan, np.nan], [0.4, 0.5, np.nan], [0.6, 0.7, np.nan]])
    display = CVScoreDisplay(Cs=[1.0, 2.0, 4.0], scores=scores, C=2.0).plot(ax=ax)
    np.testing.assert_allclose(display.line_.get_ydata(), [0.4, 0.6, np.nan])
    low, high = band_of(CVScoreDisplay(Cs=[1.0, 2.0], scores=scores[:, :2], C=2.0).plot(ax=ax))
    np.testing.assert_allclose(high - low, [2 * 0.2 / np.sqrt(3.0), 2 * np.sqrt(0.02) / np.sqrt(2.0)])


def test_folds_as_thin_lines(model, ax):
    display = CVScoreDisplay.from_estimator(model, folds=True, ax=ax)
    np.testing.assert_array_equal([line.get_ydata() for line in display.fold_lines_], model.scores_)
    assert CVScoreDisplay.from_estimator(model, ax=ax).fold_lines_ == []


def test_the_chosen_C_is_marked(model, ax):
    display = CVScoreDisplay.from_estimator(model, ax=ax)
    ((C, score),) = display.chosen_.get_xydata()
    assert C == model.C_
    assert score == pytest.approx(model.scores_.mean(axis=0).max())
    assert display.C_label_.get_text() == f"C = {model.C_:.3g}"
    assert display.best_ is None
    assert display.se_line_ is None


def test_one_standard_error(display, ax):
    display.plot(ax=ax)
    np.testing.assert_allclose(display.best_.get_xydata(), [[1.0, 0.8]])
    np.testing.assert_allclose(display.se_line_.get_ydata(), 0.7)  # 0.8 - std([0.7, 0.9]) / sqrt(2) = 0.8 - 0.1
    np.testing.assert_allclose(display.chosen_.get_xydata(), [[0.1, 0.7]])
    assert [label.get_text() for label in display.labels_] == ["best minus std. error"]


def test_the_rule_drawn_is_the_rule_of_the_search(data, ax):
    model = SMTLClassifierCV("f1", Cs=6, cv=4, refit=False, selection="1se").fit(*data)
    display = CVScoreDisplay.from_estimator(model, ax=ax)
    means = display.line_.get_ydata()
    (best,) = display.best_.get_ydata()
    level = display.se_line_.get_ydata()[0]
    assert best == means.max()
    assert model.Cs_[np.flatnonzero(means >= level)[0]] == display.chosen_.get_xdata()[0] == model.C_


def test_all_candidates_have_a_line(data, ax):
    model = SMTLClassifierCV("f1", ["l21", "trace"], ridge=[0.0, 0.5], Cs=3, cv=2, refit=False).fit(*data)
    display = CVScoreDisplay.from_estimator(model, all_candidates=True, ax=ax)
    table = model.cv_results_
    drawn = {display.label: display.line_} | {
        label.get_text(): line
        for line in display.other_lines_
        for label in display.labels_
        if label.get_color() == line.get_color()
    }
    assert set(drawn) == {"l21, ridge 0", "l21, ridge 0.5", "trace, ridge 0", "trace, ridge 0.5"}
    assert display.label == f"{model.penalty_}, ridge {model.ridge_:.3g}"
    for name, line in drawn.items():
        penalty, ridge = name.split(", ridge ")
        rows = (table["param_penalty"] == penalty) & (table["param_ridge"] == float(ridge))
        np.testing.assert_allclose(line.get_xdata(), table["param_C"][rows])
        np.testing.assert_allclose(line.get_ydata(), table["mean_test_score"][rows])
    alone = CVScoreDisplay.from_estimator(model, ax=ax)
    assert alone.other_lines_ == []
    np.testing.assert_array_equal(alone.line_.get_ydata(), display.line_.get_ydata())


@pytest.mark.parametrize(("scoring", "name"), [("f1_micro", "f1_micro"), (F1(), "f1"), ("auc", "auc")])
def test_the_score_has_its_name(data, scoring, name, ax):
    model = SMTLClassifierCV("auc", Cs=2, cv=2, scoring=scoring, refit=False).fit(*data)
    assert plot_cv_scores(model, ax).get_ylabel().startswith(f"held-out {name}\n")


def test_of_a_pipeline_on_axes_of_ones_own(data):
    model = make_pipeline(StandardScaler(), SMTLClassifierCV(Cs=2, cv=2, refit=False)).fit(*data)
    ax = Figure().subplots()
    assert plot_cv_scores(model, ax) is ax
    np.testing.assert_allclose(ax.lines[0].get_ydata(), model[-1].scores_.mean(axis=0))


@pytest.mark.parametrize("chosen", [0, 5, 14])
def test_texts_do_not_collide(collisions, chosen):
    rng = new_rng()
    Cs = np.logspace(-3, 1, 15)
    scores = rng.random((5, 15))
    others = {f"penalty {k}, ridge {k}": (Cs * rng.uniform(0.3, 3.0), np.full(15, 0.5)) for k in range(12)}
    display = CVScoreDisplay(
        Cs=Cs, scores=scores, C=Cs[chosen], selection="1se", label="l21, ridge 0", others=others
    ).plot(folds=True)
    ax = display.ax_
    assert len(display.other_lines_) == 12
    texts = [text for text in ax.texts if text not in display.labels_]
    assert len(texts) == 2
    assert collisions(display.figure_, [*display.labels_, *texts, ax.xaxis.label, ax.yaxis.label]) == []
    # What is written at the chosen C stands below all lines.
    edge = ax.transData.inverted().transform((0.0, texts[0].get_window_extent().y1))[1]
    assert edge < min(line.get_ydata().min() for line in [*display.fold_lines_, display.line_])


def test_rejects_another_spread(display):
    with pytest.raises(ValueError, match=r"spread must be 'se', 'std' or None, got 'var' instead"):
        display.plot(spread="var")


def test_a_race_is_drawn_look_by_look(data, ax):
    raced = SMTLClassifierCV(Cs=8, cv=3, refit=False).fit(*data)
    display = CVScoreDisplay.from_estimator(raced, all_candidates=True, ax=ax)
    assert display.ax_.get_ylabel().startswith("held-out f1\n")
    np.testing.assert_array_equal(display.line_.get_xdata(), raced.Cs_)
    assert len(display.other_lines_) == 5  # the first looks
    assert display.label.endswith("close look")
