"""An exported ensemble says in onnxruntime what it says in Python, or why it cannot be exported."""

import json
import re
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from smtl import SMTLClassifier, SMTLEnsemble
from smtl.ensemble import boosted_trees, learner_names
from smtl.ensemble.forest_arrays import packed_forest
from smtl.ensemble.learners import boosting
from smtl.ensemble.learners.linear import LinearLearner
from smtl.ensemble.presets import PRESETS
from smtl.model import onnx_graph
from smtl.model.onnx_ensemble import describe_ensemble, onnx_ensemble
from tests.seeds import new_rng

pytest.importorskip("onnx", reason="ONNX files need onnx")
onnxruntime = pytest.importorskip("onnxruntime", reason="ONNX files are run by onnxruntime")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

N = 120
CENTER = np.array([0.0, 1e3, 1e6, -5e-5, 3.0])
SPREAD = np.array([1.0, 10.0, 1.0, 1e-6, 0.0])


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """Leave the presets their learners, and take most of the trees, which only take time."""
    for preset, recipes in list(PRESETS.items()):
        few = {name: {"n_trees": 8} if "forest" in name else options for name, options in recipes.items()}
        monkeypatch.setitem(PRESETS, preset, few)
    monkeypatch.setattr(boosting, "N_TREES", 15)


def made(rng, n=N):
    """Return features with holes, and three labels that depend on them."""
    latent = rng.normal(size=(n, 5))
    Y = latent[:, :3] * latent[:, 1:4] + latent[:, :3] + 0.5 * rng.normal(size=(n, 3)) > 0.2
    X = CENTER + SPREAD * latent
    return np.where(rng.random(X.shape) < 0.1, np.nan, X), Y.astype(float)


def ensemble(preset="fast", **options):
    return SMTLEnsemble(preset=preset, **{"cv": 2, "n_jobs": 1, **options})


def session_of(content):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(content, options)


def assert_same(model, rows, compared_on=None):
    """Scores and probabilities must agree, and labels wherever a score is not zero up to rounding.

    1e-5 is what is promised. A thousandth of it shows whether anything is computed in single precision.
    """
    session = session_of(onnx_ensemble(model, rows=compared_on))
    scores, labels, probabilities = session.run(["scores", "labels", "probabilities"], {"features": rows})
    expected = model.decision_function(rows)
    assert scores.dtype == probabilities.dtype == np.float64
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(probabilities, model.predict_proba(rows), rtol=0, atol=1e-8)
    clear = np.abs(expected.reshape(len(rows), -1)).min(axis=1) > 1e-9
    assert labels.shape == model.predict(rows).shape
    np.testing.assert_array_equal(labels[clear], model.predict(rows)[clear])
    return session


def with_missing_labels(rng, Y):
    return np.where(rng.random(Y.shape) < 0.15, np.nan, Y)


CASES = {
    "fast": lambda rng, Y: (ensemble(), Y, None),
    "balanced, missing labels, corrected": lambda rng, Y: (
        ensemble("balanced", correction=True),
        with_missing_labels(rng, Y),
        None,
    ),
    "best, several classes": lambda rng, Y: (ensemble("best"), 10 * (Y[:, 0] + 2 * Y[:, 1]).astype(int), None),
    "binary text": lambda rng, Y: (ensemble(), np.array(["no", "größer"])[Y[:, 0].astype(int)], None),
    "a task of one class": lambda rng, Y: (ensemble(), np.column_stack([Y, np.ones(N)]), None),
    "one class": lambda rng, Y: (ensemble(learners=["linear"]), np.ones(N), None),
    "tasks, corrected": lambda rng, Y: (
        ensemble(learners=["kernel", "linear", "forest", "boosting"], correction=True),
        Y[:, 0],
        np.array(["a", "b", "c"])[np.arange(N) % 3],
    ),
    "in a pipeline": lambda rng, Y: (
        make_pipeline(StandardScaler(), SimpleImputer(), ensemble(learners=["linear", "forest"])),
        Y,
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_onnx_says_what_the_ensemble_says(case):
    rng = new_rng()
    X, Y = made(rng)
    model, y, tasks = CASES[case](rng, Y)
    model.fit(X, y, **({} if tasks is None else {"tasks": tasks}))
    session = assert_same(model, made(rng)[0])
    shape = model.decision_function(X).shape[1:]
    for n in (0, 1):
        assert session.run(["scores"], {"features": X[:n]})[0].shape == (n, *shape)


@pytest.mark.parametrize("name", [*learner_names(), "scikit-learn's boosting"])
def test_each_learner(name, monkeypatch):
    rng = new_rng()
    X, Y = made(rng)
    if name not in learner_names():
        monkeypatch.setattr(boosting, "find_spec", lambda _: None)
        name = "boosting"
    model = ensemble("best", learners=[name]).fit(X, with_missing_labels(rng, Y))
    assert_same(model, made(rng)[0])
    # Holes where the training data had none.
    whole = np.nan_to_num(X)
    assert_same(ensemble("best", learners=[name]).fit(whole, Y), X)


@pytest.mark.parametrize("name", ["forest", "boosting"])
def test_trees_of_one_leaf(name):
    rng = new_rng()
    X, y = rng.normal(size=(8, 2)), np.arange(8) % 2
    assert_same(ensemble(learners=[name]).fit(X, y), X)


def test_sparse_training_data():
    rng = new_rng()
    X = sp.random(N, 150, density=0.1, random_state=rng, format="csr")
    Y = np.asarray(X[:, :60].sum(axis=1)).reshape(N, 1) + 0.3 * rng.normal(size=(N, 2)) > 3.0
    Y[:2] = [[True, True], [False, False]]
    model = ensemble(learners=["kernel", "linear", "forest", "boosting"]).fit(X, Y.astype(int))
    dense = X.toarray()
    session = session_of(onnx_ensemble(model))
    np.testing.assert_allclose(
        session.run(["scores"], {"features": dense})[0], model.decision_function(X), rtol=0, atol=1e-5
    )
    for one in ("kernel", "linear", "forest"):
        assert_same(ensemble(learners=[one]).fit(X, Y.astype(int)), dense)


def borders(feature, threshold, d):
    """Return rows that lie on a threshold, and as close to it as single and double precision allow."""
    rows = []
    for j, t in zip(feature.tolist(), threshold.tolist(), strict=True):
        single = np.float32(t)
        near = [np.nextafter(single, np.float32(side)) for side in (-np.inf, np.inf)]
        halfway = [(float(single) + float(other)) / 2.0 for other in near]
        for value in (t, single, *near, *halfway, np.nextafter(t, -np.inf), np.nextafter(t, np.inf), np.nan, 0.0):
            row = np.zeros(d)
            row[j] = value
            rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("name", ["forest", "boosting"])
def test_rows_on_the_thresholds_of_trees_agree_to_the_last_bits(name):
    rng = new_rng()
    X = rng.normal(size=(60, 3)) * [1.0, 1e-3, 1e5]
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] * X[:, 2] > 0]).astype(int)
    model = ensemble(learners=[name]).fit(X, Y)
    [learner] = model.learners_.values()
    if name == "forest":
        packed = packed_forest(learner._forest)
        found = [(packed["left"], packed["feature"], packed["threshold"])]
    else:
        found = [(one.left, one.feature, one.threshold) for one in learner._models]
    for left, feature, threshold in found:
        inner = np.flatnonzero(left >= 0)
        some = rng.permutation(inner)[:40]
        rows = borders(feature[some], threshold[some].astype(np.float64), 3)
        [scores] = session_of(onnx_ensemble(model)).run(["scores"], {"features": rows})
        np.testing.assert_allclose(scores, model.decision_function(rows), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("classifier", [LogisticRegression(), GaussianNB(), KNeighborsClassifier()])
def test_classifiers_of_the_users_own(classifier):
    pytest.importorskip("skl2onnx", reason="classifiers of the user's own are converted by skl2onnx")
    rng = new_rng()
    X, Y = made(rng)
    # The neighbours answer for all labels at once.
    labels = Y if isinstance(classifier, KNeighborsClassifier) else with_missing_labels(rng, Y)
    model = ensemble(learners=[classifier], threshold=0.0).fit(X, labels)
    assert_same(model, made(rng)[0], compared_on=X)
    name = type(classifier).__name__
    with pytest.raises(ValueError, match=f"rows must be given for an ensemble with {name}"):
        onnx_ensemble(model)


def test_what_skl2onnx_makes_wrong_is_refused():
    pytest.importorskip("skl2onnx", reason="classifiers of the user's own are converted by skl2onnx")
    rng = new_rng()
    X = rng.normal(1e4, 1.0, size=(60, 3))  # single precision, in which skl2onnx's machine computes, is not enough
    model = ensemble(learners=[SVC(gamma=0.3)]).fit(X, X[:, 0] * X[:, 1] > 1e8)
    with pytest.raises(ValueError, match=r"because what skl2onnx makes of SVC has scores that differ .* and 1e-05 is"):
        onnx_ensemble(model, rows=X)


def test_what_skl2onnx_cannot_convert_is_refused(monkeypatch):
    class Own(LogisticRegression):
        pass

    rng = new_rng()
    X = rng.normal(size=(60, 3))
    model = ensemble(learners=[("mine", Own())]).fit(X, X[:, 0] > 0)
    start = "the ensemble cannot be exported to ONNX, because of its learner 'mine': "
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "skl2onnx", None)
        with pytest.raises(ValueError, match=f"{start}Own needs skl2onnx, which is not installed; run pip install"):
            onnx_ensemble(model, rows=X)
    pytest.importorskip("skl2onnx", reason="classifiers of the user's own are converted by skl2onnx")
    with pytest.raises(ValueError, match=f"{start}skl2onnx cannot convert Own: .*Fit it with other learners"):
        onnx_ensemble(model, rows=X)


def test_other_refusals(monkeypatch):
    rng = new_rng()
    X, Y = made(rng)
    model = ensemble(learners=["linear"]).fit(X, Y)
    with pytest.raises(TypeError, match="must be an SMTLEnsemble, got SMTLClassifier instead"):
        onnx_ensemble(SMTLClassifier(tol=0.1).fit(np.nan_to_num(X), Y))
    with pytest.raises(ValueError, match="feature_names must have 5 names, got 1 instead"):
        describe_ensemble(model, feature_names=["a"])
    with pytest.raises(ValueError, match=re.escape("learner 'linear': its training data were of type float32")):
        onnx_ensemble(ensemble(learners=["linear"]).fit(X.astype(np.float32), Y))
    with monkeypatch.context() as patch:
        patch.setattr(onnx_graph, "MOST_BYTES", 100)
        with pytest.raises(ValueError, match="100 bytes at the most, and this model needs more; train with --preset"):
            onnx_ensemble(model)
    with monkeypatch.context() as patch:
        patch.setattr(model, "predict", lambda rows: np.full((len(rows), 3), 2))
        with pytest.raises(ValueError, match=f"the graph gives {3 * N} other answers than the model"):
            onnx_ensemble(model, rows=X)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match="run pip install onnx"):
        onnx_ensemble(model)


def test_a_learner_that_nobody_knows_is_named():
    class Mean(LinearLearner):  # not its parent, whose operators are known
        def decision_function(self, X, task=None):
            return X[:, :1]

    rng = new_rng()
    X, Y = made(rng)
    model = ensemble(learners=["linear"]).fit(X, Y)
    model.learners_, model.weights_ = {"mean": Mean()}, {"mean": 1.0}
    with pytest.raises(ValueError, match="learner 'mean': smtl has no ONNX operators for Mean"):
        onnx_ensemble(model)


def test_trees_that_take_zero_for_missing_are_refused():
    rng = new_rng()
    X, Y = made(rng)
    model = ensemble(learners=["boosting"]).fit(X, Y)
    trees = model.learners_["boosting"]._models[0]
    trees.missing[:] = boosted_trees.MISSING["Zero"]
    with pytest.raises(ValueError, match="learner 'boosting': its trees take 0 for a missing value"):
        onnx_ensemble(model)


def test_what_is_told_about_an_ensemble():
    rng = new_rng()
    X, Y = made(rng)
    model = ensemble(learners=["linear", "forest"]).fit(X, Y)
    names = {"feature_names": ["beat", "key=major", "key=minor", "year", "x"], "task_names": ["calm", "sad", "loud"]}
    meta = session_of(onnx_ensemble(model, describe_ensemble(model, **names))).get_modelmeta()
    told = meta.custom_metadata_map
    assert told["kind"] == "multilabel"
    assert json.loads(told["features"]) == names["feature_names"]
    assert json.loads(told["one_hot"]) == {"key": {"major": "key=major", "minor": "key=minor"}}
    assert json.loads(told["tasks"]) == names["task_names"]
    assert json.loads(told["thresholds"]) == model.thresholds_.tolist()
    weights = json.loads(told["learners"])
    assert weights == {name: model.weights_[name] for name in model.learners_}
    assert "NaN where one is missing" in meta.description
