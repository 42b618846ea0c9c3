"""Labels in the forms that people have them in: what is missing, what is unknown, what is no label at all."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from smtl import SMTLClassifier
from smtl.estimators.held_out import own_scores
from smtl.estimators.targets import read_labels
from tests.seeds import new_rng

TEXTS = ["a", "b", None] * 40


@pytest.fixture
def X():
    return new_rng().standard_normal((120, 3))


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["a", "b", np.nan] * 40, ["a", "b"]),
        (TEXTS, ["a", "b"]),
        (np.array(TEXTS, dtype=object), ["a", "b"]),
        (pd.Series(TEXTS), ["a", "b"]),
        (pd.Series(TEXTS, dtype="category"), ["a", "b"]),
        (pd.Series(TEXTS, dtype="string"), ["a", "b"]),
        (pd.Series([True, False, None] * 40), [False, True]),
        (pd.Series([True, False, None] * 40, dtype="boolean"), [False, True]),
        (pd.Series([1, 0, None] * 40, dtype="Int64"), [0, 1]),
        ([1, 0, None] * 40, [0, 1]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_missing_is_no_class(X, y, classes):
    # To a small gap: what a pass costs, rows without labels included, may change the course of the solver.
    model = SMTLClassifier("auc", tol=1e-7).fit(X, y)
    assert model.classes_.tolist() == classes
    there = np.tile([True, True, False], 40)
    plain = np.array(classes)[[1, 0] * 40] if classes != ["a", "b"] else np.array(["a", "b"] * 40)
    same = SMTLClassifier("auc", tol=1e-7, C=model.C_).fit(X[there], plain)
    assert pytest.approx(SMTLClassifier("auc").fit(X[there], plain).C_) == model.C_
    assert model.objective_ == pytest.approx(same.objective_, rel=2e-7)
    assert model.score(X, y) == pytest.approx(same.score(X[there], plain), abs=1e-2)


def test_a_table_with_missing_labels(X):
    table = pd.DataFrame({"u": pd.array([1, 0, None] * 40, dtype="Int64"), "v": pd.array([0, 1, 1] * 40)})
    model = SMTLClassifier("auc").fit(X, table)
    plain = table.astype(float).to_numpy()
    np.testing.assert_array_equal(model.coef_, SMTLClassifier("auc").fit(X, plain).coef_)
    assert model.score(X, table) == model.score(X, plain)


def test_only_texts_that_are_there_remain_texts():
    values, labelled = read_labels(["a", "nan"])
    assert values.dtype.kind == "U"
    assert labelled.all()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros((120, 0)), r"y must have a column for each task, got shape \(120, 0\)"),
        ([None] * 120, "y must have at least one label, got only NaN"),
        (np.array(["a", 1] * 60, dtype=object), "y must hold labels of one kind, got int and str"),
    ],
)
def test_what_cannot_be_labels(X, y, message):
    with pytest.raises(ValueError, match=message):
        SMTLClassifier().fit(X, y)


@pytest.mark.parametrize("missing", [np.nan, None])
def test_every_row_must_have_a_task(X, missing):
    with pytest.raises(ValueError, match=r"tasks must name a task for every row, got .* in row 7 instead"):
        SMTLClassifier().fit(X, X[:, 0] > 0, tasks=[1] * 7 + [missing] + [2] * 112)


def test_classes_that_fit_has_not_seen(X):
    y = (X[:, 0] > 0).astype(int)
    y[:2] = 0, 1
    model = SMTLClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"y must hold the classes of the training data, 0, 1, got '0', '1' instead"):
        model.score(X, y.astype(str))
    with pytest.warns(UserWarning, match="got 2 as well"):
        model.score(X, y + 1)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(X, y[:60])
    several = SMTLClassifier().fit(X, np.column_stack([y, 1 - y, y]))
    with pytest.raises(ValueError, match="y must have 3 columns, one a task, got 2 instead"):
        several.score(X, np.column_stack([y, y]))


def test_probabilities_where_there_is_nothing_to_learn(X):
    y = np.arange(120) % 2
    model = SMTLClassifier("log").fit(X, np.column_stack([y, np.zeros(120), np.ones(120), np.full(120, np.nan)]))
    assert model.predict_proba(X)[:, 1:] == pytest.approx(np.tile([0.5 / 121, 120.5 / 121, 0.5], (120, 1)))
    assert model.predict(X)[:, 1:].tolist() == [[0, 1, 0]] * 120
    one = SMTLClassifier("log").fit(X, np.zeros(120))
    np.testing.assert_array_equal(one.predict_proba(X), np.ones((120, 1)))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_scores_of_each_rows_own_task(X, form):
    rng = new_rng()
    coef, task = rng.standard_normal((5, 3)), rng.integers(0, 5, 120)
    np.testing.assert_allclose(own_scores(form(X), coef, task), np.sum(X * coef[task], axis=1))
    assert own_scores(form(X)[:0], coef, task[:0]).shape == (0,)
