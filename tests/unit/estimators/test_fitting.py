"""One fit checks its data once, starts where it can, and takes no part of X out as a whole."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier, SMTLClassifierCV
from smtl.estimators import checks, fitting, held_out
from smtl.estimators.held_out import own_scores, row_scores
from tests.seeds import new_rng, new_seed

pytestmark = pytest.mark.filterwarnings("ignore:Task")


def draw(n=150):
    X, Y = make_multilabel_classification(n, 8, n_classes=3, random_state=new_seed())
    Y[:10], Y[10:20] = 0, 1  # both classes in every column
    return StandardScaler().fit_transform(X), Y


@pytest.mark.parametrize("form", ["dense", "fortran", "float32", "csr", "csc"])
def test_scores_of_some_rows_are_those_of_all(form, monkeypatch):
    monkeypatch.setattr(held_out, "BLOCK", 20)  # a few rows at a time
    rng = new_rng()
    X, coef = rng.standard_normal((40, 6)), rng.standard_normal((3, 6))
    rows, task = rng.permutation(40)[:17], rng.integers(3, size=17)
    make = {"dense": np.array, "fortran": np.asfortranarray, "float32": np.float32}.get(form) or getattr(
        sp, f"{form}_array"
    )
    np.testing.assert_allclose(row_scores(make(X), coef, rows), X[rows] @ coef.T, rtol=1e-5, atol=1e-5)
    expected = np.einsum("ij,ij->i", X[rows], coef[task])
    np.testing.assert_allclose(own_scores(make(X), coef, task, rows), expected, rtol=1e-5, atol=1e-5)


def test_the_search_checks_its_data_once_and_ends_from_the_mean_of_its_models(monkeypatch):
    checked, starts = [], []
    for name in ("validate_data", "read_targets"):
        plain = getattr(checks, name)
        monkeypatch.setattr(checks, name, lambda *a, _p=plain, _n=name, **k: checked.append(_n) or _p(*a, **k))
    plain_solve = fitting.solve
    monkeypatch.setattr(fitting, "solve", lambda *a, **k: starts.append(k["start"]) or plain_solve(*a, **k))
    X, Y = draw()
    means = SMTLClassifierCV("log", "ridge", Cs=4, cv=3, refit=False).fit(X, Y)
    assert starts == []
    model = SMTLClassifierCV("log", "ridge", Cs=4, cv=3).fit(X, Y)
    assert checked == ["validate_data", "read_targets"] * 2
    assert len(starts) == 1
    np.testing.assert_allclose(np.sort(np.abs(starts[0].S).ravel()), np.sort(np.abs(means.coef_).ravel()))
    alone = SMTLClassifier("log", "ridge", C=model.C_, threshold=0.0).fit(X, Y)
    assert model.objective_ <= alone.objective_ * (1.0 + 1e-3)
    assert alone.objective_ <= model.objective_ * (1.0 + 1e-3)


@pytest.mark.parametrize("metric", ["auc", "log"])
def test_folds_side_by_side_choose_the_same_cuts(metric):
    X, Y = draw()
    one, three = (SMTLClassifier(metric, threshold="per-task", n_jobs=n).fit(X, Y) for n in (1, 3))
    np.testing.assert_array_equal(one.thresholds_, three.thresholds_)


def test_a_scorer_may_ask_a_folds_model_about_other_rows():
    """What is known of the held-out rows must not be given for others."""
    X, Y = draw()
    seen = []

    def scorer(model, X, Y):
        whole, turned = model.predict(X), model.predict(X[::-1])
        np.testing.assert_array_equal(turned[::-1], whole)
        np.testing.assert_array_equal(model.predict(X.copy()), whole)
        seen.append(len(X))
        return f1_score(Y, whole, average="macro", zero_division=0)

    SMTLClassifierCV("log", "ridge", Cs=3, cv=3, scoring=scorer).fit(X, Y)
    assert set(np.cumsum(seen[:3])) >= {len(X)}
