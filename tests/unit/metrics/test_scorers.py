"""Scorers that pass over missing labels, against scikit-learn's where none is missing, and by hand where some are."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer as known_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier, SMTLClassifierCV, SMTLEnsemble
from smtl.baselines import (
    HOMER,
    AdaBoostMH,
    BinaryRelevance,
    EnsembleOfClassifierChains,
    LabelPowerset,
    MTLClassifier,
    RAkEL,
    StructSVM,
    ThresholdedLogistic,
)
from smtl.metrics import Metric, get_scorer, get_scorer_names, make_scorer
from smtl.model_selection import MultilabelStratifiedKFold
from tests.seeds import new_rng, new_seed

pytestmark = pytest.mark.filterwarnings("ignore:Task", "ignore:The best C", "ignore:lbfgs")


def draw(n=150):
    X, Y = make_multilabel_classification(n, 6, n_classes=3, random_state=new_seed())
    Y[:10], Y[10:20] = 0, 1  # both classes in every column
    return X + new_rng().normal(scale=0.1, size=X.shape), Y


MODELS = [
    OneVsRestClassifier(LogisticRegression(max_iter=1000)),
    RandomForestClassifier(10, random_state=0),
    KNeighborsClassifier(5),
    SMTLClassifier("log", threshold=0.0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("ours", "known"),
    [
        ("f1_macro", "f1_macro"),
        ("f1_micro", "f1_micro"),
        ("jaccard_macro", "jaccard_macro"),
        ("jaccard_micro", "jaccard_micro"),
        ("roc_auc", "roc_auc"),
    ],
)
def test_where_nothing_is_missing_it_is_scikit_learns(model, ours, known):
    X, Y = draw()
    fitted = clone(model).fit(X[:100], Y[:100])
    if known == "roc_auc" and isinstance(model, RandomForestClassifier | KNeighborsClassifier):
        pytest.skip("scikit-learn's scorer does not take their lists of probabilities in all versions")
    rest = np.r_[0:20, 100:150]
    assert get_scorer(ours)(fitted, X[rest], Y[rest]) == pytest.approx(known_scorer(known)(fitted, X[rest], Y[rest]))


@pytest.mark.parametrize(("ours", "known"), [("f1", "f1"), ("roc_auc", "roc_auc"), ("neg_log_loss", "neg_log_loss")])
def test_a_vector_of_two_classes(ours, known):
    X, Y = draw()
    y = np.where(Y[:, 0] > 0, 1, 0)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    assert get_scorer(ours)(model, X, y) == pytest.approx(known_scorer(known)(model, X, y), rel=1e-6)


def test_several_classes_are_each_against_the_rest():
    X, Y = draw()
    y = np.array(["a", "b", "c"])[Y[:, :2].sum(axis=1)]
    model = LogisticRegression(max_iter=1000).fit(X, y)
    assert get_scorer("f1_macro")(model, X, y) == pytest.approx(known_scorer("f1_macro")(model, X, y))


@pytest.mark.parametrize("name", ["f1_macro", "f1_micro", "roc_auc", "neg_log_loss"])
def test_a_missing_label_does_not_count(name):
    X, Y = draw()
    model = SMTLClassifier("log").fit(X, Y)
    holes = np.where(new_rng().random(Y.shape) < 0.3, np.nan, Y)
    columns = [~np.isnan(column) for column in holes.T]
    if name == "f1_micro":
        said, truth = model.predict(X)[~np.isnan(holes)], Y[~np.isnan(holes)]
        expected = 2.0 * np.sum(said * truth) / (np.sum(said) + np.sum(truth))
    else:
        plain = {"f1_macro": "f1", "roc_auc": "roc_auc", "neg_log_loss": "neg_log_loss"}[name]

        class Column:
            classes_, _estimator_type = np.array([0, 1]), "classifier"

            def __init__(self, i):
                self.i = i

            def fit(self):
                pass

            def __sklearn_is_fitted__(self):
                return True

            def __sklearn_tags__(self):
                return LogisticRegression().__sklearn_tags__()

            def predict(self, X):
                return model.predict(X)[:, self.i]

            def decision_function(self, X):
                return model.decision_function(X)[:, self.i]

            def predict_proba(self, X):
                yes = model.predict_proba(X)[:, self.i]
                return np.column_stack([1.0 - yes, yes])

        expected = np.mean([known_scorer(plain)(Column(i), X[k], Y[k, i]) for i, k in enumerate(columns)])
    assert get_scorer(name)(model, X, holes) == pytest.approx(expected, rel=1e-6)


def test_searches_of_scikit_learn_and_of_smtl_take_them():
    X, Y = draw(120)
    holes = np.where(new_rng().random(Y.shape) < 0.1, np.nan, Y.astype(float))
    scorer, folds = get_scorer("f1_macro"), MultilabelStratifiedKFold(3)
    model = make_pipeline(StandardScaler(), SMTLClassifier("auc"))
    search = GridSearchCV(model, {"smtlclassifier__C": [0.1, 1.0]}, scoring=scorer, cv=folds, error_score="raise")
    search.fit(X, holes)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    scores = cross_val_score(model, X, holes, scoring=make_scorer("f2", average="micro"), cv=KFold(3))
    assert np.isfinite(scores).all()
    ours = [SMTLClassifierCV("auc", Cs=3, cv=3, scoring=s).fit(X, holes).scores_ for s in (scorer, "f1_macro")]
    np.testing.assert_array_equal(*ours)


def halves(rng, n):
    """Weights, some of them zero."""
    return rng.integers(0, 5, n) / 2.0


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_weighted_scores_are_scikit_learns(model):
    X, Y = draw()
    fitted, weights = clone(model).fit(X, Y), halves(new_rng(), len(X))
    weights[:20] += 0.5  # both classes
    names = ["f1_macro", "f1_micro", "jaccard_macro", "jaccard_micro"]
    if hasattr(model, "decision_function"):  # lists of probabilities are not for its scorers in all versions
        names += ["roc_auc", "average_precision"]
    for name in names:
        expected = known_scorer(name)(fitted, X, Y, sample_weight=weights)
        assert get_scorer(name)(fitted, X, Y, sample_weight=weights) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["f1", "roc_auc", "average_precision", "neg_log_loss"])
def test_weighted_scores_of_two_classes_are_scikit_learns(name):
    X, Y = draw()
    model, weights = LogisticRegression(max_iter=1000).fit(X, Y[:, 0]), halves(new_rng(), len(X))
    weights[:20] += 0.5
    expected = known_scorer(name)(model, X, Y[:, 0], sample_weight=weights)
    assert get_scorer(name)(model, X, Y[:, 0], sample_weight=weights) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", get_scorer_names())
def test_a_weight_is_that_many_rows_with_missing_labels_too(name):
    X, Y = draw()
    holes = np.where(new_rng().random(Y.shape) < 0.2, np.nan, Y)
    times = new_rng().integers(0, 4, len(X))
    times[:20] += 1
    model, scorer = SMTLClassifier("log", C=1.0).fit(X, Y), get_scorer(name)
    expected = scorer(model, X.repeat(times, axis=0), holes.repeat(times, axis=0))
    assert scorer(model, X, holes, sample_weight=times) == pytest.approx(expected, nan_ok=True)


ROUTED = [
    SMTLClassifier("f1", C=0.5, threshold=0.0),
    SMTLClassifierCV("auc", Cs=[0.1, 1.0], cv=2, threshold=0.0, random_state=0),
    SMTLEnsemble(learners=["linear", ("bayes", GaussianNB())], cv=2, correction=False, random_state=0),
    ThresholdedLogistic([0.1, 1.0], cv=2, random_state=0),
    StructSVM(C=0.1),
    MTLClassifier(C=0.1),
    BinaryRelevance(),
    EnsembleOfClassifierChains(n_estimators=2, random_state=0),
    LabelPowerset(),
    RAkEL(k=2, n_estimators=2, random_state=0),
    HOMER(random_state=0),
    AdaBoostMH(5),
]


@pytest.mark.parametrize("model", ROUTED, ids=lambda model: type(model).__name__)
def test_weights_are_routed_to_fits_and_scores(model):
    """As many names of weights as there are receivers: a fit gets those for fits, a score those for scores."""
    X, Y = draw(90)
    rng = new_rng()
    for_fit, for_score = rng.integers(1, 3, len(X)), rng.integers(1, 4, len(X))
    folds = list(KFold(2, shuffle=True, random_state=0).split(X))
    with config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(sample_weight="for_fit")
        scorers = {
            name: get_scorer(name).set_score_request(sample_weight=given)
            for name, given in (("f1_macro", "for_score"), ("f1_micro", False))
        }
        given = {"for_fit": for_fit, "for_score": for_score}
        options = {"scoring": scorers, "cv": folds, "error_score": "raise"}
        found = cross_validate(asking, X, Y, params=given, **options)
        search = GridSearchCV(asking, {}, refit=False, **options).fit(X, Y, **given)
    for k, (train, test) in enumerate(folds):
        fitted = clone(model).fit(X[train], Y[train], sample_weight=for_fit[train])
        for name, weights in (("f1_macro", for_score[test]), ("f1_micro", None)):
            expected = get_scorer(name)(fitted, X[test], Y[test], sample_weight=weights)
            assert found[f"test_{name}"][k] == pytest.approx(expected, abs=1e-9)
            assert search.cv_results_[f"split{k}_test_{name}"][0] == pytest.approx(expected, abs=1e-9)


def test_weights_that_nobody_has_asked_for_are_an_error():
    X, Y = draw(60)
    with config_context(enable_metadata_routing=True):
        model = SMTLClassifier("log").set_fit_request(sample_weight=True)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            cross_validate(model, X, Y, scoring=get_scorer("f1_macro"), params={"sample_weight": np.ones(len(X))})


def test_a_search_hands_weights_on_where_there_is_no_routing():
    X, Y = draw(60)
    weights = new_rng().integers(1, 4, len(X))
    folds, scorer = list(KFold(2).split(X)), get_scorer("f1_macro")
    model = SMTLClassifier("log", C=0.5, threshold=0.0)
    search = GridSearchCV(model, {"C": [0.5]}, scoring=scorer, cv=folds).fit(X, Y, sample_weight=weights)
    for k, (train, test) in enumerate(folds):
        fitted = clone(model).fit(X[train], Y[train], sample_weight=weights[train])
        expected = scorer(fitted, X[test], Y[test], sample_weight=weights[test])
        assert search.cv_results_[f"split{k}_test_score"][0] == pytest.approx(expected)


def test_names_are_those_of_all_metrics():
    assert set(Metric.known) <= set(get_scorer_names())
    for name in get_scorer_names():
        assert get_scorer(name).metric.name in (name, name.rpartition("_")[0], "auc", "log", "ap")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: get_scorer("f1_makro"), "scoring must be one of .* got 'f1_makro' instead; did you mean 'f1_macro'?"),
        (lambda: make_scorer("f1", average="mean"), "average must be 'macro' or 'micro', got 'mean' instead."),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
