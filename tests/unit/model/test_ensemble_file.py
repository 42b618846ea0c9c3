"""An ensemble in a file: the same answers to the last bit, small, and nothing in it that is believed unchecked."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from smtl import SMTLEnsemble
from smtl.ensemble.boosted_trees import BoostedTrees
from smtl.ensemble.forest_arrays import check_nodes, forest_of, packed_forest
from smtl.ensemble.learners.forest import ForestLearner
from smtl.ensemble.presets import PRESETS
from smtl.model import ModelError, load_model, persistence, save_model

X, Y = make_multilabel_classification(120, n_features=8, n_classes=3, random_state=0)
X = X + np.random.default_rng(0).normal(size=X.shape)
HOLES = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
UNLABELLED = np.where(np.random.default_rng(2).random(Y.shape) < 0.1, np.nan, Y)
TASKS = np.array(["north", "south"])[np.arange(120) % 2]
ALL = ["kernel", "linear", "forest", "coarse-forest", "boosting"]
KINDS = {
    "multilabel": (X, Y),
    "holes": (HOLES, UNLABELLED),
    "sparse": (sp.csr_array(np.maximum(X - 3.0, 0.0)), Y),
    "binary": (X, Y[:, 0]),
    "multiclass": (X, np.array(["a", "b", "c"])[Y.argmax(axis=1)]),
    "tasks": (X, Y[:, 0], TASKS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_the_same_to_the_last_bit(tmp_path, kind, monkeypatch):
    monkeypatch.setattr("smtl.ensemble.trained.LEAST_WEIGHT", -1.0)  # all learners stay
    for name in ("forest", "coarse-forest"):
        monkeypatch.setitem(PRESETS["fast"], name, {"n_trees": 10})
    features, labels, *tasks = KINDS[kind]
    model = Pipeline([("classifier", SMTLEnsemble(learners=ALL, preset="fast", cv=2))])
    model.fit(features, labels, **({"classifier__tasks": tasks[0]} if tasks else {}))
    save_model(model, tmp_path / "m.skops")
    same, own = load_model(tmp_path / "m.skops")[-1], model[-1]
    assert {"forest", "boosting", "kernel", "linear"} <= set(same.learners_)
    for method in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(same, method)(features, *tasks), getattr(own, method)(features, *tasks))
    assert same.leaderboard_["learner"].tolist() == own.leaderboard_["learner"].tolist()


@pytest.mark.parametrize("data", [X, HOLES])
def test_packed_trees_answer_as_those_they_were_made_of(data):
    forest = ExtraTreesRegressor(10, min_samples_leaf=2, random_state=0).fit(data, Y)
    packed = packed_forest(forest)
    other = np.random.default_rng(5).normal(size=(500, 8)) * 3.0 + 2.0
    np.testing.assert_array_equal(forest_of(packed).predict(other), forest.predict(other))
    assert packed["positives"].dtype == np.uint8
    odd = forest_of(packed_forest(ExtraTreesRegressor(5, random_state=0).fit(data, Y / 3.0)))
    np.testing.assert_array_equal(
        odd.predict(other), ExtraTreesRegressor(5, random_state=0).fit(data, Y / 3.0).predict(other)
    )


@pytest.mark.parametrize("library", ["sklearn", "lightgbm", "xgboost"])
@pytest.mark.parametrize("data", [X, HOLES, np.where(X > 2.0, X, 0.0)])
def test_boosted_trees_as_arrays(library, data):
    if library == "lightgbm":
        model = pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=15, verbose=-1, n_jobs=1)
    elif library == "xgboost":
        model = pytest.importorskip("xgboost").XGBClassifier(n_estimators=15, n_jobs=1)
    else:
        model = HistGradientBoostingClassifier(max_iter=15)
    model.fit(data, Y[:, 0])
    other = np.where(np.random.default_rng(7).random(X.shape) < 0.1, 0.0, data)
    odds = BoostedTrees(model).decision_function(other)
    np.testing.assert_allclose(
        1.0 / (1.0 + np.exp(-odds)), model.predict_proba(other)[:, 1], rtol=1e-5 if library == "xgboost" else 1e-12
    )
    np.testing.assert_array_equal(BoostedTrees(model).decision_function(sp.csr_array(other)), odds)


def test_boosted_trees_of_xgboost_on_sparse_features():
    model = pytest.importorskip("xgboost").XGBClassifier(n_estimators=15, n_jobs=1)
    data = sp.csr_array(np.where(X > 0.5, X, 0.0))
    odds = BoostedTrees(model.fit(data, Y[:, 0]), sparse=True).decision_function(data)
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(-odds)), model.predict_proba(data)[:, 1], rtol=1e-5)


@pytest.mark.parametrize(
    ("left", "right", "feature"),
    [
        ([0, -1, -1], [2, -1, -1], [0, 0, 0]),  # a circle
        ([1, -1, -1], [9, -1, -1], [0, 0, 0]),  # beyond the end
        ([1, -1, -1], [-1, -1, -1], [0, 0, 0]),  # half a leaf
        ([1, -1, -1], [2, -1, -1], [5, 0, 0]),  # a feature that is not there
        ([1, -1, -1], [2, -1, -1], [-3, 0, 0]),
    ],
)
def test_trees_that_are_none_are_refused(left, right, feature):
    check_nodes(np.array([3]), np.array([1, -1, -1]), np.array([2, -1, -1]), np.zeros(3), 2)
    with pytest.raises(ValueError, match="a tree must be a tree"):
        check_nodes(np.array([3]), np.array(left), np.array(right), np.array(feature), 2)


@pytest.fixture(scope="module")
def forest():
    return SMTLEnsemble(learners=["forest"], preset="fast", cv=2).fit(X, Y)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("left", lambda a: np.where(a > 0, a + 10**6, a)),
        ("right", lambda a: np.where(a > 0, 0, a)),
        ("feature", lambda a: a + 10**6),
        ("threshold", lambda a: a[:-1]),
        ("positives", lambda a: a[:3]),
        ("n_nodes", lambda a: a + 1),
        ("depth", lambda a: a[:1]),
    ],
)
def test_a_file_with_made_up_trees_is_refused(forest, tmp_path, monkeypatch, key, change):
    honest = ForestLearner.__getstate__

    def hostile(self):
        kept = honest(self)
        return {**kept, "_forest": {**kept["_forest"], key: change(kept["_forest"][key])}}

    monkeypatch.setattr(ForestLearner, "__getstate__", hostile)
    with pytest.raises(ModelError, match="cannot be saved: "):
        save_model(forest, tmp_path / "m.skops")
    monkeypatch.setattr(persistence, "_check_whole", lambda model, metadata: None)
    monkeypatch.setattr(persistence, "_built", lambda content: None)
    save_model(forest, tmp_path / "m.skops")
    monkeypatch.undo()
    with pytest.raises(ModelError, match="cannot be used: ValueError"):
        load_model(tmp_path / "m.skops")


def test_learners_of_ones_own_cannot_be_saved(tmp_path):
    model = SMTLEnsemble(learners=[LogisticRegression()], cv=2).fit(X, Y)
    with pytest.raises(ModelError, match=r"learners=.* an ensemble can be saved whose learners are all named"):
        save_model(model, tmp_path / "m.skops")
    assert not (tmp_path / "m.skops").exists()
