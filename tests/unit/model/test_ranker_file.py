"""Rankers as files; and parameters of weights in the files of classifiers."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier, SMTLClassifierCV, SMTLRanker, load_model, save_model
from smtl.metrics import PartialAUC
from smtl.model import ModelError, model_metadata
from tests.seeds import new_rng


def queries(rng):
    X = rng.standard_normal((60, 4))
    grade = np.clip(np.round(X[:, 0] + rng.standard_normal(60)), 0, 3).astype(int)
    return X, grade, np.repeat(np.arange(6), 10)


@pytest.mark.parametrize(
    "ranker",
    [SMTLRanker(), SMTLRanker("ap", "l11", C=2.0, relevant=2, gain="linear"), SMTLRanker(PartialAUC(0.3), ridge=0.5)],
    ids=repr,
)
def test_a_ranker_comes_back(ranker, tmp_path):
    X, grade, query = queries(new_rng())
    ranker.fit(X, grade, groups=query)
    save_model(ranker, tmp_path / "ranker.skops", metadata={"training": {"rows": 60}})
    same = load_model(tmp_path / "ranker.skops")
    np.testing.assert_array_equal(same.predict(X), ranker.predict(X))
    assert same.score(X, grade, groups=query) == ranker.score(X, grade, groups=query)
    assert vars(same).keys() == vars(ranker).keys()
    assert (same.gap_, same.C_, same.n_groups_, same.n_iter_) == (
        ranker.gap_,
        ranker.C_,
        ranker.n_groups_,
        ranker.n_iter_,
    )
    found = model_metadata(tmp_path / "ranker.skops")
    assert (found["kind"], found["tasks"], found["features"]) == ("ranking", ["score"], ["x0", "x1", "x2", "x3"])
    same.fit(X, grade, groups=query)  # it is whole: it can be fitted again
    np.testing.assert_array_equal(same.coef_, ranker.coef_)


@pytest.mark.filterwarnings("ignore")
def test_in_a_pipeline_and_without_an_order_to_learn(tmp_path):
    X, grade, query = queries(new_rng())
    pipeline = make_pipeline(StandardScaler(), SMTLRanker()).fit(X, grade, smtlranker__groups=query)
    save_model(pipeline, tmp_path / "pipeline.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "pipeline.skops").predict(X), pipeline.predict(X))
    nothing = SMTLRanker().fit(X, np.zeros(60), groups=query)
    save_model(nothing, tmp_path / "nothing.skops")
    assert not load_model(tmp_path / "nothing.skops").predict(X).any()


def test_a_ranker_that_is_odd_is_refused(tmp_path):
    X, grade, query = queries(new_rng())
    ranker = SMTLRanker().fit(X, grade, groups=query)
    ranker.n_groups_ = -1
    with pytest.raises(ModelError, match="n_groups_ of its SMTLRanker must be a whole number"):
        save_model(ranker, tmp_path / "ranker.skops")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("weights", [{"class_weight": {0: 1.0, 1: 2.5}}, {"class_weight": [{1: 2.0}, None]}])
@pytest.mark.parametrize("estimator", [SMTLClassifier("f1", C=1.0), SMTLClassifierCV("log", Cs=2, cv=2)], ids=repr)
def test_weights_of_classes_and_tasks_come_back(estimator, weights, tmp_path):
    X, grade, _ = queries(new_rng())
    Y = np.column_stack([grade > 0, grade > 1]).astype(int)
    model = estimator.set_params(task_weight={1: 2.0}, **weights).fit(X, Y, sample_weight=np.arange(60) % 3)
    save_model(model, tmp_path / "model.skops")
    same = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
    assert same.get_params()["class_weight"] == weights["class_weight"]
    assert same.get_params()["task_weight"] == {1: 2.0}
