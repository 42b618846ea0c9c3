"""Precision-recall curves with their cuts, against scikit-learn's metrics of the predictions."""

import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    precision_recall_curve,
    precision_score,
    recall_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier
from smtl.plotting import PrecisionRecallCutDisplay, plot_precision_recall
from tests.seeds import new_rng

# Of random data little may be learnt.
pytestmark = pytest.mark.filterwarnings("ignore:Task.* all weights zero:UserWarning")

SITES = np.array(["north", "south", "west"])


def binary(rng, X):
    return (X[:, 0] + rng.standard_normal(len(X)) > 0.3).astype(int), None


def multiclass(rng, X):
    return np.array(["a", "b", "c"])[np.argmax(X[:, :3] + rng.standard_normal((len(X), 3)), axis=1)], None


def multilabel(rng, X):
    Y = (X[:, :4] + rng.standard_normal((len(X), 4)) > 0.3).astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    return Y, None


def own_rows(rng, X):
    return binary(rng, X)[0], SITES[np.arange(len(X)) % 3]


def expected(model, X, y, tasks):
    """Name, labels, scores and answers of each task, written out for each form by itself."""
    if tasks is not None:
        scores, answers = model.decision_function(X, tasks=tasks), model.predict(X, tasks=tasks)
        return [(name, y[tasks == name], scores[tasks == name], answers[tasks == name]) for name in SITES]
    scores = model.decision_function(X)
    if y.ndim == 2:
        rows = ~np.isnan(y)
        answers = model.predict(X)
        return [(str(i), y[r, i], scores[r, i], answers[r, i]) for i, r in enumerate(rows.T)]
    if scores.ndim == 2:
        return [(name, y == name, scores[:, k], scores[:, k] > 0) for k, name in enumerate("abc")]
    return [("1", y, scores, model.predict(X))]


@pytest.mark.parametrize("form", [binary, multiclass, multilabel, own_rows])
def test_curves_dots_and_legend(form):
    rng = new_rng()
    X = rng.standard_normal((160, 6))
    y, tasks = form(rng, X)
    model = SMTLClassifier(C=1.0, tol=1e-2).fit(X, y, tasks=tasks)
    display = PrecisionRecallCutDisplay.from_estimator(model, X, y, tasks)
    texts = [text.get_text() for text in display.legend_.get_texts()]
    questions = expected(model, X, y, tasks)
    assert len(display.lines_) == len(display.dots_) == len(questions) == len(texts) - 1
    for (name, labels, scores, answers), line, dot, text in zip(
        questions, display.lines_, display.dots_, texts, strict=False
    ):
        precision, recall, _ = precision_recall_curve(labels, scores)
        np.testing.assert_allclose(line.get_ydata(), precision)
        np.testing.assert_allclose(line.get_xdata(), recall)
        (point,) = dot.get_xydata()
        assert point[0] == pytest.approx(recall_score(labels, answers))
        if np.any(answers):
            assert point[1] == pytest.approx(precision_score(labels, answers))
        assert np.abs(line.get_xydata() - point).max(axis=1).min() < 1e-12, "the dot is on the curve"
        f1, average = f1_score(labels, answers), average_precision_score(labels, scores)
        shown = re.fullmatch(r"F1 (\d\.\d\d), AP (\d\.\d\d): (.*)", text)
        # Half of a hundredth is rounded up or down as rounding errors have it.
        assert [float(shown[1]), float(shown[2])] == pytest.approx([f1, average], abs=0.5e-2 + 1e-12)
        assert shown[3] == str(name)
        assert dot.get_color() == line.get_color()


def test_a_pipeline_gives_the_same():
    rng = new_rng()
    X = rng.standard_normal((90, 4)) * [1.0, 5.0, 0.2, 1.0] + 3.0
    y, sites = own_rows(rng, (X - 3.0) / [1.0, 5.0, 0.2, 1.0])
    scaler = StandardScaler().fit(X)
    for tasks in (None, sites):
        inner = SMTLClassifier(C=1.0, tol=1e-2).fit(scaler.transform(X), y, tasks=tasks)
        model = make_pipeline(StandardScaler(), SMTLClassifier(C=1.0, tol=1e-2))
        model.fit(X, y, **({} if tasks is None else {"smtlclassifier__tasks": tasks}))
        got, want = (
            plot_precision_recall(model, X, y, tasks),
            plot_precision_recall(inner, scaler.transform(X), y, tasks),
        )
        assert len(got.lines) == len(want.lines)
        for a, b in zip(got.lines, want.lines, strict=True):
            np.testing.assert_allclose(a.get_xydata(), b.get_xydata())


def test_lines_of_equal_f1():
    display = PrecisionRecallCutDisplay(
        precision=[[0.5, 1.0]], recall=[[1.0, 0.0]], average_precision=[0.5], cuts=[[1.0, 0.5]], names=["a"]
    ).plot()
    grey = [line for line in display.ax_.lines if line not in (*display.lines_, *display.dots_)]
    for f1, line in zip((0.2, 0.4, 0.6, 0.8), grey, strict=True):
        recall, precision = line.get_data()
        np.testing.assert_allclose(2 * precision * recall / (precision + recall), f1)
        assert precision.max() == pytest.approx(1.0)
        assert recall.max() == pytest.approx(1.0)


def random_display(rng, m):
    curves = [np.sort(rng.random((2, 20)), axis=1) for _ in range(m)]
    return PrecisionRecallCutDisplay(
        precision=[p for p, _ in curves],
        recall=[r[::-1] for _, r in curves],
        average_precision=rng.random(m),
        cuts=rng.random((m, 2)),
        names=[f"_a long name with {i} in $ in the middle of it" for i in range(m)],
    )


def test_of_many_tasks_the_worst_are_shown(collisions):
    rng = new_rng()
    display = random_display(rng, 174).plot()
    f1 = [2 * p * r / (p + r) for r, p in display.cuts]
    assert display.shown_ == sorted(range(174), key=f1.__getitem__)[:8]
    assert display.legend_.get_title().get_text() == "8 of 174 tasks, lowest F1 first"
    written = [float(re.match(r"F1 (\S+),", text.get_text())[1]) for text in display.legend_.get_texts()[:-1]]
    np.testing.assert_allclose(written, np.sort(f1)[:8], atol=0.005 + 1e-9)
    texts = [*display.legend_.get_texts(), *display.ax_.texts, display.ax_.xaxis.label]
    assert collisions(display.figure_, texts) == []
    assert len(display.plot(max_tasks=3).lines_) == 3


def test_tasks_can_be_named():
    display = random_display(new_rng(), 12)
    display.names = [*"abcdefghijkl"]
    assert display.plot(tasks_shown=["k", "b"]).shown_ == [10, 1]
    assert display.legend_.get_title().get_text() == "2 of 12 tasks"
    assert [text.get_text()[-3:] for text in display.legend_.get_texts()[:-1]] == [": k", ": b"]
    with pytest.raises(ValueError, match=r"tasks_shown must be names of tasks .* got 'z' instead; there are a, b"):
        display.plot(tasks_shown=["z"])


def test_a_model_that_never_says_yes_has_its_dot_at_the_end_of_the_curve():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = SMTLClassifier(threshold=100.0).fit(X, [0, 0, 1, 1])
    display = PrecisionRecallCutDisplay.from_estimator(model, X, [0, 0, 1, 1])
    np.testing.assert_array_equal(display.dots_[0].get_xydata(), [[0.0, 1.0]])
    assert display.f1[0] == 0.0


def test_tasks_with_one_class_are_left_out():
    rng = new_rng()
    X = rng.standard_normal((60, 4))
    Y = (X[:, :3] > 0).astype(float)
    model = SMTLClassifier(tol=0.1).fit(X, Y)
    Y[:, 0], Y[:, 1] = np.nan, 1.0
    assert PrecisionRecallCutDisplay.from_estimator(model, X, Y).names == ["2"]
    with pytest.raises(ValueError, match=r"y must have labels of both classes for at least one task"):
        plot_precision_recall(model, X, np.ones((60, 3)))


def test_rejects_data_of_another_form():
    rng = new_rng()
    X = rng.standard_normal((60, 4))
    y, sites = own_rows(rng, X)
    model = SMTLClassifier(tol=0.1).fit(X, y, tasks=sites)
    with pytest.raises(ValueError, match=r"tasks must be given for a model that was fitted with tasks, got None"):
        plot_precision_recall(model, X, y)
    model = SMTLClassifier(tol=0.1).fit(X, (X[:, :3] > 0).astype(int))
    with pytest.raises(ValueError, match=r"y must have a column for each of 3 tasks, got 2 instead"):
        plot_precision_recall(model, X, (X[:, :2] > 0).astype(int))
    with pytest.raises(ValueError, match=r"max_tasks must be at least 1, got 0 instead"):
        plot_precision_recall(model, X, (X[:, :3] > 0).astype(int), max_tasks=0)


def test_a_rival_can_be_drawn_beside_it():
    rng = new_rng()
    X = rng.standard_normal((60, 4))
    y, _ = binary(rng, X)
    rival = LogisticRegression().fit(X, y)
    display = PrecisionRecallCutDisplay.from_estimator(rival, X, y)
    assert display.f1[0] == pytest.approx(f1_score(y, rival.predict(X)))


def test_rows_without_a_label_do_not_count():
    rng = new_rng()
    X = rng.standard_normal((60, 4))
    y = binary(rng, X)[0].astype(float)
    sites = SITES[np.arange(60) % 3]
    for tasks in (None, sites):
        model = SMTLClassifier(tol=0.1, C=1.0).fit(X, y, tasks=tasks)
        partly, rows = y.copy(), np.arange(60) < 45
        partly[~rows] = np.nan
        got = PrecisionRecallCutDisplay.from_estimator(model, X, partly, tasks)
        want = PrecisionRecallCutDisplay.from_estimator(model, X[rows], y[rows], None if tasks is None else tasks[rows])
        np.testing.assert_array_equal(got.cuts, want.cuts)
        for a, b in zip(got.precision, want.precision, strict=True):
            np.testing.assert_array_equal(a, b)
