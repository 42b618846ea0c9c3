"""The regularisation path, read back from the lines."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier, SMTLClassifierCV, smtl_path
from smtl.plotting import PathDisplay, plot_path
from tests.seeds import new_rng

# Of random data little may be learnt.
pytestmark = pytest.mark.filterwarnings("ignore:Task.* all weights zero:UserWarning")


def norms_of(path):
    return np.sqrt((path.coefs**2).sum(axis=1))


@pytest.fixture(scope="module")
def data():
    rng = new_rng()
    X = rng.standard_normal((80, 12))
    return X, (X[:, :3] + rng.standard_normal((80, 3)) > 0.5).astype(int)


@pytest.fixture(scope="module")
def path(data):
    return smtl_path(*data, Cs=6, tol=1e-2)


def check_lines(display, Cs, norms):
    """All features have their line, the strongest at the last C with a colour and a name."""
    ranked = sorted(range(norms.shape[1]), key=lambda j: -norms[-1, j])
    named = [j for j in ranked[: len(display.lines_)] if norms[-1, j] > 0]
    assert sorted(display.strongest_) == sorted(named)
    for j, line in zip(display.strongest_, display.lines_, strict=True):
        np.testing.assert_allclose(line.get_xydata(), np.column_stack([Cs, norms[:, j]]))
    rest = np.setdiff1d(np.arange(norms.shape[1]), named)
    drawn = sorted(np.array(segment)[:, 1].tolist() for segment in display.others_.get_segments())
    np.testing.assert_allclose(drawn, sorted(norms[:, j].tolist() for j in rest))


def test_lines_are_norms_over_the_tasks(path, ax):
    names = [f"feature {j}" for j in range(12)]
    display = PathDisplay.from_path(path, feature_names=names, n_named=4, ax=ax)
    check_lines(display, path.Cs, norms_of(path))
    assert [label.get_text() for label in display.labels_] == [names[j] for j in display.strongest_]
    assert [label.get_color() for label in display.labels_] == [line.get_color() for line in display.lines_]
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_ylabel() == "2-norm of weights over 3 tasks"
    assert display.C_label_ is None


def test_descending_values_of_C_are_the_same_picture(path, ax):
    display = PathDisplay(Cs=path.Cs[::-1], coefs=path.coefs[::-1]).plot(ax=ax)
    check_lines(display, path.Cs, norms_of(path))


def test_features_that_never_enter_have_no_name(ax):
    coefs = np.zeros((3, 2, 5))
    coefs[:, :, 3] = [[0.0, 0.0], [1.0, 1.0], [3.0, 4.0]]
    display = PathDisplay(Cs=[0.1, 1.0, 10.0], coefs=coefs).plot(ax=ax)
    assert [label.get_text() for label in display.labels_] == ["x3"]
    np.testing.assert_allclose(display.lines_[0].get_ydata(), [0.0, np.sqrt(2.0), 5.0])
    assert len(display.others_.get_segments()) == 4


def test_the_chosen_C_is_marked(path, ax):
    display = PathDisplay.from_path(path, C=path.Cs[3], ax=ax)
    vertical = [line for line in display.ax_.lines if line not in display.lines_]
    np.testing.assert_allclose(vertical[0].get_xdata(), path.Cs[3])
    assert display.C_label_.get_text() == f"C = {path.Cs[3]:.3g}"


def test_of_an_estimator_is_the_path_of_its_parameters(data, ax):
    X, Y = data
    model = SMTLClassifier("auc", "trace", ridge=0.1, C=0.5, tol=1e-2, threshold=0.0, fit_intercept=False)
    model.fit(X, Y)
    display = PathDisplay.from_estimator(model, X, Y, Cs=[0.1, 1.0], ax=ax)
    path = smtl_path(X, Y, metric="auc", penalty="trace", ridge=0.1, Cs=[0.1, 1.0], fit_intercept=False, tol=1e-2)
    check_lines(display, [0.1, 1.0], norms_of(path))
    assert display.C_label_.get_text() == "C = 0.5"
    ax = plot_path(model, X, Y, Cs=[0.1, 1.0])
    np.testing.assert_allclose(ax.lines[0].get_xydata(), display.lines_[0].get_xydata())


def test_of_a_search_in_a_pipeline(data, ax):
    pd = pytest.importorskip("pandas")
    X, Y = data
    frame = pd.DataFrame(X * np.arange(1, 13) + 2.0, columns=[f"f{j}" for j in range(12)])
    search = SMTLClassifierCV("f1", ["trace", "l21"], ridge=[0.0, 0.2], Cs=2, cv=2, tol=1e-2)
    model = make_pipeline(StandardScaler(), search).fit(frame, Y)
    last = model[-1]
    display = PathDisplay.from_estimator(model, frame, Y, Cs=3, ax=ax)
    scaled = StandardScaler().fit_transform(frame)
    path = smtl_path(scaled, Y, penalty=last.penalty_, ridge=last.ridge_, Cs=3, tol=1e-2)
    check_lines(display, path.Cs, norms_of(path))
    assert {label.get_text() for label in display.labels_} <= set(frame.columns)
    assert display.C == last.C_


def test_tasks_with_their_own_rows(data, ax):
    X, Y = data
    sites = np.arange(80) % 2
    model = SMTLClassifier("f1", tol=1e-2).fit(X, Y[:, 0], tasks=sites)
    display = PathDisplay.from_estimator(model, X, Y[:, 0], tasks=sites, Cs=2, ax=ax)
    path = smtl_path(X, Y[:, 0], tasks=sites, Cs=2, tol=1e-2)
    check_lines(display, path.Cs, norms_of(path))


@pytest.mark.parametrize(("length", "new"), [(2, False), (60, True)])
def test_labels_keep_clear_of_one_another(collisions, new, length):
    rng = new_rng()
    m, d = rng.integers(1, 5), 100
    coefs = np.cumsum(rng.standard_normal((8, m, d)), axis=0)
    coefs[:, :, 1:6] = coefs[:, :, :1] = 10.0 * np.arange(1, 9)[:, None, None]  # six that end at one point
    display = PathDisplay(
        Cs=np.logspace(-3, 2, 8), coefs=coefs, feature_names=[f"{j} {'name' * length} {j}" for j in range(d)], C=0.2
    ).plot(ax=None if new else Figure(layout="constrained").subplots(), n_named=14)
    assert len(display.labels_) == 14
    ax = display.ax_
    assert collisions(display.figure_, [*display.labels_, display.C_label_, ax.xaxis.label]) == []
    left = ax.get_window_extent().x1
    assert all(label.get_window_extent().x1 > left for label in display.labels_)
    # They stand in the order of the lines.
    heights = np.array([label.get_position()[1] for label in display.labels_])
    ends = display.norms[-1, display.strongest_]
    for i in range(14):
        assert np.all(heights[i] > heights[ends < ends[i]])
