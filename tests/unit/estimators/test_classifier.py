"""SMTLClassifier: forms of data, options, and what it promises about its results."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_multilabel_classification
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from smtl import F1, L21, SMTLClassifier
from smtl.metrics import ContingencyMetric, get_metric
from smtl.penalties import get_penalty
from tests.seeds import new_rng


@pytest.fixture
def multilabel():
    seed = int(new_rng().integers(2**31))
    X, Y = make_multilabel_classification(200, 10, n_classes=4, random_state=seed)
    Y[:2], Y[2:4] = 0, 1  # both classes in every column
    return StandardScaler().fit_transform(X), Y


@pytest.fixture
def own_rows():
    rng = new_rng()
    X = rng.standard_normal((240, 5))
    site = np.array(["north", "south", "west"])[rng.integers(0, 3, 240)]
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.standard_normal(240) > 0.8).astype(int)
    for name in np.unique(site):
        first = np.flatnonzero(site == name)[:8]
        y[first] = [0, 1] * 4
    return X, y, site


def objective(model, X, Y, C):
    """The objective of a fitted multi-label model, from its attributes alone."""
    metric, penalty = get_metric(model.metric), get_penalty(model.penalty, model.ridge)
    scores = X @ model.coef_.T + model.intercept_ + model.thresholds_
    total = penalty.value(model.coef_)
    for i in range(Y.shape[1]):
        delta, c = metric.oracle(scores[:, i], 2 * Y[:, i] - 1)
        total += C * (delta - scores[:, i] @ c)
    return total


@pytest.mark.parametrize("metric", ["f1", "f2", "auc", "auc-labelling", "error", "log", "jaccard", "gmean"])
@pytest.mark.parametrize("penalty", ["l11", "l21", "trace", "ridge"])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_every_combination_reaches_its_gap(multilabel, metric, penalty, ridge):
    X, Y = multilabel
    model = SMTLClassifier(metric, penalty, ridge=ridge, tol=1e-3, threshold=0.25).fit(X[:60], Y[:60])
    assert model.gap_ <= 1e-3
    assert model.dual_bound_ <= model.objective_
    assert model.objective_ == pytest.approx(objective(model, X[:60], Y[:60], model.C_), rel=1e-6)
    np.testing.assert_array_equal(model.thresholds_, 0.25)
    assert model.coef_.shape == (4, 10)
    assert model.predict(X).shape == Y.shape


@pytest.mark.parametrize("metric", ["f1", "auc", "error"])
def test_it_learns_digits(metric):
    X, y = load_digits(return_X_y=True)
    model = make_pipeline(StandardScaler(), SMTLClassifier(metric)).fit(X[:1000], y[:1000])
    assert model.predict(X[1000:]).shape == (797,)
    assert np.mean(model.predict(X[1000:]) == y[1000:]) > 0.85


def test_binary_shapes_and_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["no", "yes"])[(y == 2).astype(int)]
    model = SMTLClassifier().fit(X, names)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.coef_.shape == (1, 4)
    assert model.decision_function(X).shape == (150,)
    np.testing.assert_array_equal(model.predict(X) == "yes", model.decision_function(X) > 0)
    assert f1_score(names, model.predict(X), pos_label="yes") > 0.9


def test_multiclass_is_one_task_a_class():
    X, y = load_iris(return_X_y=True)
    multi = SMTLClassifier("auc", tol=1e-6, C=2.0).fit(X, y)
    single = SMTLClassifier("auc", tol=1e-6, C=2.0).fit(X, np.eye(3, dtype=int)[y])
    assert multi.coef_.shape == (3, 4)
    assert multi.objective_ == pytest.approx(single.objective_, rel=2e-6)
    np.testing.assert_array_equal(multi.predict(X), multi.classes_[multi.decision_function(X).argmax(axis=1)])


def test_nan_is_not_labelled(multilabel):
    """A row without a label for a task is, for that task, as if it were not there."""
    X, Y = multilabel
    holes = Y.astype(float)
    rng = new_rng()
    holes[rng.random(Y.shape) < 0.3] = np.nan
    holes[:4] = Y[:4]
    model = SMTLClassifier("f1", tol=1e-6, C=0.02).fit(X, holes)
    rows, columns = np.nonzero(~np.isnan(holes))
    same = SMTLClassifier("f1", tol=1e-6, C=0.02).fit(X[rows], holes[rows, columns].astype(int), tasks=columns)
    assert model.objective_ == pytest.approx(same.objective_, rel=2e-6)
    score = model.score(X, holes)
    assert score == pytest.approx(
        np.mean([get_metric("f1").score(2 * holes[k, i] - 1, model.decision_function(X)[k, i])
                 for i in range(4) for k in [np.flatnonzero(~np.isnan(holes[:, i]))]])
    )  # fmt: skip


def test_signs_will_do_for_labels(multilabel):
    X, Y = multilabel
    np.testing.assert_array_equal(SMTLClassifier().fit(X, 2 * Y - 1).coef_, SMTLClassifier().fit(X, Y).coef_)
    with pytest.raises(ValueError, match=r"must hold 0 and 1 .* got 0 in row 0"):
        SMTLClassifier().fit(X, np.vstack([np.zeros((1, 4), dtype=int), 2 * Y[1:] - 1]))


def test_own_rows(own_rows):
    X, y, site = own_rows
    model = SMTLClassifier("auc", "trace", tol=1e-5).fit(X, y, tasks=site)
    assert model.task_names_.tolist() == ["north", "south", "west"]
    everywhere, own = model.decision_function(X), model.decision_function(X, tasks=site)
    assert everywhere.shape == (240, 3)
    np.testing.assert_allclose(own, everywhere[np.arange(240), np.unique(site, return_inverse=True)[1]])
    np.testing.assert_array_equal(model.predict(X, tasks=site), (own > 0).astype(int))
    expected = [roc_auc_score(y[site == name], own[site == name]) for name in model.task_names_]
    assert model.score(X, y, tasks=site) == pytest.approx(np.mean(expected))
    sparse = SMTLClassifier("auc", "trace", tol=1e-5).fit(sp.csr_array(X), y, tasks=site)
    assert sparse.objective_ == pytest.approx(model.objective_, rel=2e-5)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_array(X), tasks=site), sparse.decision_function(X, tasks=site), atol=1e-10
    )


def test_own_rows_through_metadata_routing(own_rows):
    X, y, site = own_rows
    with sklearn.config_context(enable_metadata_routing=True):
        request = {"tasks": True}
        model = (
            SMTLClassifier("auc")
            .set_fit_request(**request)
            .set_predict_request(**request)
            .set_decision_function_request(**request)
            .set_score_request(**request)
        )
        pipeline = make_pipeline(StandardScaler(), model)
        pipeline.fit(X, y, tasks=site)
        assert pipeline.predict(X, tasks=site).shape == (240,)
        # scikit-learn 1.7 does not pass what `score` asks for on through a Pipeline.
        scored = pipeline if parse_version(sklearn.__version__) >= parse_version("1.8") else model
        result = cross_validate(scored, X, y, params={"tasks": site}, cv=3, error_score="raise")
        by_hand = [
            clone(scored).fit(X[a], y[a], tasks=site[a]).score(X[b], y[b], tasks=site[b])
            for a, b in StratifiedKFold(3).split(X, y)
        ]
    np.testing.assert_array_equal(result["test_score"], by_hand)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix])
@pytest.mark.parametrize("metric", ["f1", "auc", "log"])
def test_sparse_is_the_same_as_dense(multilabel, form, metric):
    X, Y = multilabel
    X = np.where(np.abs(X) > 0.8, X, 0.0)
    dense = SMTLClassifier(metric, tol=1e-5).fit(X, Y)
    sparse = SMTLClassifier(metric, tol=1e-5).fit(form(X), Y)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=2e-5)
    np.testing.assert_allclose(sparse.decision_function(form(X)), sparse.decision_function(X), atol=1e-10)


def test_sparse_is_not_made_dense(monkeypatch, multilabel):
    X, Y = multilabel
    for name in ["toarray", "todense"]:
        monkeypatch.setattr(sp.csr_array, name, lambda *_: pytest.fail("made dense"))
    SMTLClassifier("auc").fit(sp.csr_array(X), Y).predict(sp.csr_array(X))


def test_float32_is_kept(multilabel):
    X, Y = multilabel
    wide = SMTLClassifier("auc", tol=1e-3).fit(X, Y)
    narrow = SMTLClassifier("auc", tol=1e-3).fit(X.astype(np.float32), Y)
    assert narrow.coef_.dtype == narrow.intercept_.dtype == np.float32
    assert narrow.decision_function(X.astype(np.float32)).dtype == np.float32
    assert narrow.objective_ == pytest.approx(wide.objective_, rel=2e-3)


def test_pandas_names(multilabel):
    X, Y = multilabel
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(10)])
    labels = pd.DataFrame(Y, columns=["jazz", "rock", "folk", "pop"])
    model = SMTLClassifier().fit(frame, labels)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.task_names_.tolist() == ["jazz", "rock", "folk", "pop"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])
    nullable = SMTLClassifier().fit(frame, labels.astype("Int64"))
    np.testing.assert_array_equal(nullable.coef_, model.coef_)


def test_the_threshold_is_folded_in(multilabel):
    X, Y = multilabel
    plain = SMTLClassifier("auc", threshold=0.0).fit(X, Y)
    auto = SMTLClassifier("auc").fit(X, Y)
    np.testing.assert_array_equal(plain.intercept_, 0.0)
    np.testing.assert_allclose(auto.intercept_, -auto.thresholds_)
    np.testing.assert_array_equal(auto.coef_, plain.coef_)
    assert np.any(auto.thresholds_ != 0)
    np.testing.assert_array_equal(auto.predict(X), auto.decision_function(X) > 0)
    zero = SMTLClassifier("f1").fit(X, Y)
    np.testing.assert_array_equal(zero.thresholds_, 0.0)
    tuned = SMTLClassifier("f1", threshold="per-task").fit(X, Y)
    np.testing.assert_allclose(tuned.intercept_ + tuned.thresholds_, zero.intercept_)


def test_a_tuned_threshold_serves_its_metric():
    """On rare positives the cut for F2 flags more than the cut for F0.5, and F1 after AUC beats predicting all."""
    rng = new_rng()
    X = rng.standard_normal((2000, 5))
    y = (X @ [1.0, 1.0, 0, 0, 0] + 0.5 * rng.standard_normal(2000) > 2.0).astype(int)
    models = {name: SMTLClassifier(name, threshold="per-task").fit(X, y) for name in ["f2", "f0.5"]}
    assert models["f2"].predict(X).sum() > models["f0.5"].predict(X).sum()
    model = SMTLClassifier("auc").fit(X[:1000], y[:1000])
    assert f1_score(y[1000:], model.predict(X[1000:])) > 2 * y.mean()


@pytest.mark.parametrize("metric", ["f1", "auc"])
def test_row_order_does_not_matter(multilabel, metric):
    X, Y = multilabel
    order = new_rng().permutation(len(X))
    one, other = (SMTLClassifier(metric, tol=1e-6).fit(*data) for data in [(X, Y), (X[order], Y[order])])
    assert one.objective_ == pytest.approx(other.objective_, rel=2e-6)
    np.testing.assert_allclose(one.thresholds_, other.thresholds_, atol=1e-6)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=0.02 * np.abs(one.coef_).max())


@pytest.mark.parametrize("metric", ["f1", "auc", "log"])
def test_threads_and_repetition(multilabel, metric):
    X, Y = multilabel
    first, second = (SMTLClassifier(metric).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(first.coef_, second.coef_)
    np.testing.assert_array_equal(first.intercept_, second.intercept_)
    for n_jobs in [2, -1]:
        threaded = SMTLClassifier(metric, n_jobs=n_jobs).fit(X, Y)
        assert threaded.objective_ == pytest.approx(first.objective_, rel=1e-3)
        np.testing.assert_allclose(threaded.coef_, first.coef_, atol=1e-6)


def test_warm_start_goes_on(multilabel):
    X, Y = multilabel
    model = SMTLClassifier("auc", warm_start=True, tol=1e-6).fit(X, Y)
    cold, objective_before = model.n_iter_, model.objective_
    model.fit(X, Y)
    assert model.n_iter_ < cold
    assert model.objective_ == pytest.approx(objective_before, rel=2e-6)
    model.set_params(C=model.C_ * 2).fit(X, Y)
    assert model.objective_ == pytest.approx(SMTLClassifier("auc", C=model.C, tol=1e-6).fit(X, Y).objective_, rel=2e-6)
    model.fit(X[:, :3], Y)  # another shape: starts anew
    assert model.coef_.shape == (4, 3)


def test_scikit_learn_companions(multilabel):
    X, Y = multilabel
    model = SMTLClassifier(F1(), L21(), C=0.05)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), model)
    assert cross_val_predict(pipeline, X, Y, cv=3).shape == Y.shape
    search = GridSearchCV(pipeline, {"smtlclassifier__C": [1e-6, 0.05]}, cv=3).fit(X, Y)
    assert search.best_params_["smtlclassifier__C"] == 0.05  # by F1, which weights of zero do badly at
    fitted = clone(model).fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert repr(clone(model)) == "SMTLClassifier(C=0.05, metric=F1(), penalty=L21())"


def test_probabilities(multilabel):
    X, Y = multilabel
    model = SMTLClassifier("log", threshold="per-task").fit(X, Y)
    probability = model.predict_proba(X)
    assert probability.shape == Y.shape
    np.testing.assert_allclose(
        np.log(probability / (1 - probability)), model.decision_function(X) + model.thresholds_, atol=1e-6
    )
    three = SMTLClassifier("log").fit(*load_iris(return_X_y=True)).predict_proba(load_iris().data)
    np.testing.assert_allclose(three.sum(axis=1), 1.0)
    assert not hasattr(SMTLClassifier("f1"), "predict_proba")
    with pytest.raises(AttributeError) as caught:
        SMTLClassifier("f1").predict_proba(X)
    assert "metric='log' has it" in str(caught.value.__cause__)


def test_a_metric_of_ones_own(multilabel):
    class Recallish(ContingencyMetric):
        concave_in_fp = True

        def __init__(self, cost=0.1):
            self.cost = cost

        def delta(self, tp, fp, fn, tn):
            return fn / (tp + fn) + self.cost * fp / (fp + tn)

    X, Y = multilabel
    cheap, dear = (SMTLClassifier(Recallish(cost)).fit(X, Y).predict(X).mean() for cost in [0.01, 3.0])
    assert cheap > dear


def test_verbose_logs(multilabel, caplog):
    with caplog.at_level("INFO", logger="smtl"):
        SMTLClassifier("auc", verbose=1).fit(*multilabel)
    assert "iteration 1: objective" in caplog.text
    assert caplog.records[-1].gap <= 1e-3


def test_a_task_of_its_own_does_not_disturb_the_others(multilabel):
    """With l11 and ridge the tasks do not interact, so they can be fitted together or one by one."""
    X, Y = multilabel
    for penalty in ["l11", "ridge"]:
        together = SMTLClassifier("f1", penalty, C=0.05, tol=1e-7).fit(X, Y)
        alone = [SMTLClassifier("f1", penalty, C=0.05, tol=1e-7).fit(X, Y[:, i]) for i in range(4)]
        assert together.objective_ == pytest.approx(sum(model.objective_ for model in alone), rel=1e-6)


def test_no_warning_on_ordinary_data():
    rng = new_rng()
    X = rng.standard_normal((200, 10))
    scores = X @ rng.standard_normal((10, 4)) + rng.standard_normal((200, 4))
    Y = (scores > np.quantile(scores, [0.5, 0.6, 0.7, 0.8], axis=0).diagonal()).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for metric in ["f1", "auc", "error", "log"]:
            SMTLClassifier(metric).fit(X, Y)
