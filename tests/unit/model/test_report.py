"""The figures of a model's report, against scikit-learn, SciPy and brute force."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import binomtest
from sklearn.metrics import precision_recall_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from smtl import SMTLClassifier
from smtl.datasets import Dataset
from smtl.datasets.checksum import checksum
from smtl.model.report import write_report
from smtl.model.report.cuts import bins, cut_points
from smtl.model.report.figures import most_cuts
from smtl.model.report.mistakes import explained, surest
from tests.seeds import new_seed

SEED = new_seed()


def songs(n=300, seed=SEED):
    """Labels with holes; one that is never yes, one that nobody knows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    Y = np.column_stack([X[:, 0] + rng.normal(size=n) > 0.5, X[:, 1] - X[:, 2] + rng.normal(size=n) > 0]).astype(float)
    Y = np.column_stack([Y, np.zeros(n), np.full(n, np.nan)])
    Y[rng.random(n) < 0.1, 0] = np.nan
    Y[:2, :2] = [[0, 1], [1, 0]]
    return X, Y


def embedded(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1])


def best_f1(y, scores):
    precision, recall, _ = precision_recall_curve(y, scores)
    return np.max(2 * precision * recall / np.maximum(precision + recall, 1e-300))


@pytest.mark.parametrize("most", [10_000, 40])
def test_cuts_are_those_of_brute_force(most):
    rng = np.random.default_rng(SEED)
    y = np.where(rng.random(400) < 0.2, 1, -1).astype(np.int8)
    scores = np.concatenate([np.round(rng.normal(size=200), 1), rng.normal(size=200)]) * 10.0 ** rng.integers(-6, 6)
    found = cut_points(y, scores, most)
    assert found["all"] == (most > 400)
    cuts = np.array(found["cuts"])
    assert (np.diff(cuts) > 0).all()
    for cut, yes, no in zip(cuts, found["above_yes"], found["above_no"], strict=True):
        assert (yes, no) == (((scores > cut) & (y > 0)).sum(), ((scores > cut) & (y < 0)).sum())
    assert 0.0 in cuts
    assert (found["above_yes"][0], found["above_no"][0]) == ((y > 0).sum(), (y < 0).sum())
    assert (found["above_yes"][-1], found["above_no"][-1]) == (0, 0)
    yes, no = np.array(found["above_yes"]), np.array(found["above_no"])
    assert (2 * yes / ((y > 0).sum() + yes + no)).max() == pytest.approx(best_f1(y > 0, scores))
    if most > 400:
        assert set(scores) <= set(cuts)
    else:
        assert len(cuts) <= most
        assert np.median([len(repr(cut)) for cut in found["cuts"]]) < 12  # short, to keep the page small


def test_bins_hold_every_row_once_with_wilsons_intervals():
    rng = np.random.default_rng(SEED)
    y = np.where(rng.random(500) < 0.3, 1, -1).astype(np.int8)
    scores = np.round(rng.normal(size=500), 1)
    found = bins(y, scores, np.full(500, 0.25))
    assert sum(part["rows"] for part in found) == 500
    assert 5 <= len(found) <= 10
    for part in found:
        inside = (scores >= part["low"]) & (scores <= part["high"])
        assert (part["rows"], part["positives"]) == (inside.sum(), (y[inside] > 0).sum())
        assert part["mean"] == pytest.approx(scores[inside].mean())
        assert part["interval"] == pytest.approx(
            list(binomtest(part["positives"], part["rows"]).proportion_ci(method="wilson")), abs=1e-12
        )
        assert part["expected"] == 0.25
    assert all(a["high"] < b["low"] for a, b in pairwise(found))
    assert len(bins(y, np.zeros(500))) == 1


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_mistakes_add_up_to_their_scores(form):
    X, Y = songs()
    model = make_pipeline(MaxAbsScaler(), SMTLClassifier(penalty="ridge", C=0.5)).fit(X, Y[:, 1])
    scores = model.decision_function(X)
    y = np.where(Y[:, 1] > 0, 1, -1).astype(np.int8)
    wrong = surest(y, scores, scores > 0, 3)
    up = sorted((scores[(y < 0) & (scores > 0)]).tolist(), reverse=True)
    assert scores[wrong["wrong_yes"]].tolist() == up[:3]
    rows = [*wrong["wrong_yes"].tolist(), *wrong["wrong_no"].tolist()]
    coef = model[-1].coef_[0] / model[0].scale_
    for row, (parts, rest) in zip(rows, explained(model, form(X), [(row, 0) for row in rows], 2), strict=True):
        assert sum(value for _, value in parts) + rest == pytest.approx(scores[row])
        assert [j for j, _ in parts] == np.argsort(-np.abs(X[row] * coef))[:2].tolist()


def test_the_page_is_small_and_tells_what_it_leaves_out(tmp_path):
    n, m = 3000, 60
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n, 8))
    Y = (X @ rng.normal(size=(8, m)) + rng.normal(size=(n, m)) > 1).astype(int)
    model = SMTLClassifier("error", "ridge", C=1.0, tol=0.1).fit(X[:200], Y[:200])
    write_report(model, Dataset(X, Y), tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 12.0 * m * most_cuts(m) + 1e6
    assert all(
        len(task["cuts"]) <= most_cuts(m) < n and not task["all"]
        for task in embedded(tmp_path / "report.html")["tasks"]
    )
    assert most_cuts(100) * 100 <= 100_000


@pytest.mark.parametrize("single", [False, True])
def test_a_model_without_names_takes_labels_by_position(tmp_path, single):
    X, Y = songs()
    Y = Y[:, :1] if single else Y[:, :2]
    rows = ~np.isnan(Y[:, 0])
    names = ("calm", "sad")[: Y.shape[1]]
    model = SMTLClassifier(penalty="ridge").fit(X[rows], Y[rows][:, 0] if single else Y[rows])
    data = Dataset(X[rows], Y[rows], tuple("abcdef"), names)
    found = write_report(model, data, tmp_path / "report.html")
    assert [task["name"] for task in found["tasks"]] == list(names)
    assert [task["positives"] for task in found["tasks"]] == Y[rows].sum(axis=0).tolist()
    with pytest.raises(ValueError, match=rf"there must be {len(names)} labels, as the model has, got 3 instead"):
        write_report(model, Dataset(X, songs()[1][:, :3], None, ("c", "s", "n")), tmp_path / "report.html")


def test_ignored_columns_do_not_hide_the_training_data(tmp_path):
    X, Y = songs()
    model = SMTLClassifier(penalty="ridge").fit(X, Y[:, 1])
    metadata = {"data": {"checksum": checksum(Dataset(X, Y[:, [1]]))}}
    more = Dataset(np.column_stack([X, np.eye(300)[:, :2]]), Y[:, [1]], (*"abcdef", "id=r0", "id=r1"))
    for data, ignored in ((Dataset(X, Y[:, [1]]), ["id"]), (more, ["id"])):
        found = write_report(model, data, tmp_path / "report.html", metadata=metadata, ignored=ignored)
        assert found["training_data"]


def test_bad_input_is_told(tmp_path):
    X, Y = songs()
    model = SMTLClassifier(penalty="ridge").fit(X, Y[:, 1])
    data = Dataset(X, Y[:, [1]])
    with pytest.raises(ValueError, match="row_names must have 300 names, one a row, got 2 instead"):
        write_report(model, data, tmp_path / "report.html", row_names=["a", "b"])
    with pytest.raises(ValueError, match="must have rows, got none"):
        write_report(model, Dataset(X[:0], Y[:0, [1]]), tmp_path / "report.html")
    with pytest.raises(ValueError, match="a weight for each of the 7 features, got 6 instead"):
        write_report(model, data, tmp_path / "report.html", metadata={"features": list("abcdefg")})
    assert list(tmp_path.iterdir()) == []
