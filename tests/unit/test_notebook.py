"""What a notebook shows of a fitted model: figures that are those of the model, and no code from names."""

import importlib
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier, SMTLClassifierCV, SMTLEnsemble, SMTLRanker, smtl_path
from smtl.model import load_model, save_model
from smtl.notebook import Table, facts, html_table
from tests.seeds import new_rng


class Rows(HTMLParser):
    """The text of a table's cells, row after row."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.inside = [], False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.inside = tag in ("td", "th")

    def handle_endtag(self, tag):
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += data


def draw():
    seed = int(new_rng().integers(2**31))
    return make_multilabel_classification(150, n_features=8, n_classes=3, random_state=seed)


def shown_below(model):
    """The table that is below scikit-learn's own."""
    html = model._repr_html_()
    assert "sk-top-container" in html
    return dict(row for row in Rows(html[html.rindex("</body>") :]).rows if len(row) == 2)


def test_a_search_shows_what_it_chose():
    X, Y = draw()
    model = SMTLClassifierCV("auc", ["l21", "trace"], Cs=4, cv=3)
    assert facts(model) == {}
    assert "<table" not in model._repr_html_()[model._repr_html_().rindex("</body>") :]
    model.fit(X, Y)
    told = shown_below(model)
    assert told["Chosen"] == f"penalty {model.penalty_}, metric auc, C = {model.C_:.4g}"
    results = model.cv_results_
    chosen = (results["param_C"] == model.C_) & (results["param_penalty"] == model.penalty_)
    assert told["Held-out score"].endswith(f"{results['mean_test_score'][chosen][0]:.4f}")
    assert f"{model.gap_:.1e}" in told["Gap"]
    assert told["Tasks"] == "0, 1, 2"


@pytest.mark.filterwarnings("ignore")
def test_tasks_that_a_warning_was_about_are_named():
    X, Y = draw()
    model = SMTLClassifier("f1", C=1e-6, threshold=0.0).fit(X, Y)
    assert len(model.null_tasks_)
    assert shown_below(model)["Same answer for all"] == ", ".join(map(str, model.null_tasks_))


def test_an_ensemble_shows_its_learners(tmp_path):
    X, Y = draw()
    model = SMTLEnsemble(preset="fast", cv=3).fit(X, Y)
    assert f"{model.score_:.4f}" in shown_below(model)["Held-out score"]
    board = model.leaderboard_
    rows = Rows(board._repr_html_()).rows
    assert rows[0] == ["learner", "score", "weight", "seconds"]
    assert [row[0] for row in rows[1:]] == board["learner"].tolist()
    assert np.array([row[2] for row in rows[1:]], float) == pytest.approx(board["weight"], rel=1e-3)
    assert repr(board).splitlines()[1].split()[0] == board["learner"][0]
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops").leaderboard_
    assert repr(loaded) == repr(board)


def test_rankers_and_paths():
    X, Y = draw()
    ranker = SMTLRanker().fit(X, Y[:, 0], groups=np.arange(150) // 10)
    assert f"C = {ranker.C_:.4g}" in shown_below(ranker)["Chosen"]
    path = smtl_path(X, Y, metric="auc", Cs=5)
    rows = Rows(path._repr_html_()).rows[1:]
    assert [float(row[0]) for row in rows] == pytest.approx(path.Cs.tolist(), rel=1e-3)
    assert [int(row[1]) for row in rows] == [np.any(coef != 0, axis=0).sum() for coef in path.coefs]


def test_names_are_no_html():
    X, Y = draw()
    names = np.array(["<script>alert(1)</script>", "b", "c"])
    model = clone(SMTLClassifier("auc")).fit(X, Y)
    model.task_names_ = names
    assert "<script>alert" not in facts(model)["Tasks"]
    assert "<script>alert" not in Table({"learner": names[:1]})._repr_html_()
    assert "and 70 more" in html_table(["x"], [[k] for k in range(100)])


def public_estimators():
    """Return the estimators that a user can name: full names as in the API reference, and classes."""
    for package in ("estimators", "ensemble", "tables", "baselines", "dask"):
        module = importlib.import_module(f"smtl.{package}")
        for name in module.__all__:
            kind = getattr(module, name)
            if isinstance(kind, type) and issubclass(kind, BaseEstimator):
                yield f"smtl.{package}.{name}", kind


@pytest.mark.parametrize(("name", "kind"), list(public_estimators()))
def test_an_estimator_links_to_its_page(name, kind, monkeypatch):
    monkeypatch.setenv("SMTL_DOCS", "https://docs.example/")
    assert f'href="https://docs.example/api/generated/{name}.html"' in kind()._repr_html_()
    monkeypatch.delenv("SMTL_DOCS")
    assert "/api/generated/" not in kind()._repr_html_()


def test_links_stay_with_whom_they_belong(monkeypatch):
    monkeypatch.setenv("SMTL_DOCS", 'file:///docs"onclick="alert(1)')

    class Own(SMTLClassifier):
        pass

    assert "/api/generated/" not in Own()._repr_html_()
    html = make_pipeline(StandardScaler(), SMTLClassifier())._repr_html_()
    assert "/smtl.estimators.SMTLClassifier.html" in html
    assert "generated/sklearn.preprocessing.StandardScaler.html" in html
    assert '"onclick="' not in html
