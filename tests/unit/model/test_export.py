"""What is exported says what the model says: in onnxruntime, and in the ten lines of Python that the docs have."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import smtl
from smtl import SMTLClassifier, SMTLClassifierCV
from smtl.model import onnx_graph as graphs
from smtl.model.export_json import json_weights
from smtl.model.export_onnx import onnx_graph
from smtl.model.plain import plain_model

DOCS = Path(__file__).resolve().parents[3] / "docs" / "exporting.md"

# Means of up to 1e9 times the spread, spreads over 12 decades, a constant feature.
rng = np.random.default_rng(0)
CENTER = np.array([0.0, 1e3, 1e9, -5e-5, 7e5, 3.0, 1e-7])
SPREAD = np.array([1.0, 1e-3, 1.0, 1e-6, 1e6, 0.0, 1e-2])
LATENT = rng.normal(size=(150, 7))
X = CENTER + SPREAD * LATENT
HOLES = np.where(rng.random(X.shape) < 0.1, np.nan, X)
Y = (LATENT[:, :3] + LATENT[:, 1:4] + 0.5 * rng.normal(size=(150, 3)) > 0.3).astype(int)
CLASS = Y[:, 0] + 2 * Y[:, 1]
TASKS = np.array(["a", "b", "c"])[np.arange(150) % 3]
# Without a scaler, the solver needs features that it can work with.
MILD = LATENT + 3.0


def classifier(**options):
    return SMTLClassifier(C=10.0, tol=1e-2, **options)


def filled(*steps):
    return make_pipeline(SimpleImputer(keep_empty_features=True), *steps)


# Name: model, training features, labels, tasks.
CASES = {
    "multilabel": (filled(StandardScaler(), classifier()), HOLES, Y, None),
    "searched": (filled(StandardScaler(), SMTLClassifierCV(Cs=2, cv=2, tol=1e-2)), HOLES, Y, None),
    "binary": (filled(StandardScaler(), classifier()), HOLES, Y[:, 0], None),
    "binary, given cut": (filled(StandardScaler(), classifier(threshold=0.4)), HOLES, Y[:, 0], None),
    "binary text": (filled(StandardScaler(), classifier()), HOLES, np.array(["no", "größer"])[Y[:, 0]], None),
    "binary objects": (filled(StandardScaler(), classifier()), HOLES, Y[:, 0].astype(str).astype(object), None),
    "binary bool": (filled(StandardScaler(), classifier()), HOLES, Y[:, 0] > 0, None),
    "binary float": (filled(StandardScaler(), classifier()), HOLES, Y[:, 0] * 3.0 - 1.0, None),
    "multiclass": (filled(StandardScaler(), classifier()), HOLES, CLASS * 10, None),
    "multiclass text": (filled(StandardScaler(), classifier()), HOLES, np.array(list("wxyz"))[CLASS], None),
    "tasks": (filled(StandardScaler(), classifier()), HOLES, Y[:, 0], TASKS),
    "bare": (classifier(), MILD, Y, None),
    "single precision": (classifier(), MILD.astype(np.float32), Y, None),
    "filled by another": (make_pipeline(SimpleImputer(strategy="median"), classifier()), MILD, Y, None),
    "largest value": (filled(MaxAbsScaler(), classifier()), MILD, Y, None),
    "spread only": (make_pipeline(StandardScaler(with_mean=False), classifier()), MILD, Y, None),
    "mean only": (make_pipeline(StandardScaler(with_std=False), classifier()), MILD, Y, None),
    "two scalers": (make_pipeline(StandardScaler(), MaxAbsScaler(), StandardScaler(), classifier()), X, Y, None),
    "filled late": (make_pipeline(StandardScaler(), SimpleImputer(strategy="median"), classifier()), HOLES, Y, None),
    "filled twice": (filled(StandardScaler(), SimpleImputer(), classifier()), HOLES, Y, None),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """Return a fitted model, rows to score, what the model says of them, and where its answer is clear."""
    model, features, labels, tasks = CASES[request.param]
    own = {} if tasks is None else {f"{model.steps[-1][0]}__tasks": tasks}
    model.fit(features, labels, **own)
    rows = features[::-1].astype(np.float64)
    scores = model.decision_function(rows)
    # Where a score is zero up to rounding, so may the answer be either.
    clear = np.abs(scores.reshape(len(rows), -1)).min(axis=1) > 1e-9
    assert clear.mean() > 0.9
    return model, rows, scores, model.predict(rows), clear


def assert_same(got, scores, largest):
    """Scores must agree to 1e-5, and to 1e-5 of the largest where all are small."""
    np.testing.assert_allclose(got, scores, rtol=0, atol=1e-5 * min(1.0, np.abs(largest).max()))


def session_of(model, **names):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(onnx_graph(plain_model(model, **names)), options)


def run(session, rows):
    return session.run(["scores", "labels"], {"features": rows})


def documented():
    """Return the functions that the docs have, as they stand there."""
    blocks = re.findall(r"^```python\n(def .*?)^```$", DOCS.read_text(encoding="utf-8"), re.M | re.S)
    found = {}
    for block in blocks:
        exec(compile(block, str(DOCS), "exec"), found)
    assert [len(re.findall(r"^.*\S", block, re.M)) for block in blocks if "scores_of" in block] == [10]
    return found


def weights_of(model, **names):
    def refuse(token):
        raise AssertionError(f"{token} is no JSON")

    return json.loads(json_weights(plain_model(model, **names)), parse_constant=refuse)


def test_onnx_says_what_the_model_says(case):
    model, rows, scores, answers, clear = case
    session = session_of(model)
    got, labels = run(session, rows)
    assert got.shape == scores.shape
    assert labels.shape == answers.shape
    assert_same(got, scores, scores)
    np.testing.assert_array_equal(labels[clear], answers[clear])
    for n in (0, 1):
        few, some = run(session, rows[:n])
        assert (few.shape, some.shape) == ((n, *scores.shape[1:]), (n, *answers.shape[1:]))
        assert_same(few, scores[:n], scores)


def test_the_documented_scorer_says_what_the_model_says(case):
    model, rows, scores, answers, clear = case
    names = [f"f{j}" for j in range(rows.shape[1])]
    scorer, weights = documented(), weights_of(model, feature_names=names)
    order = np.random.default_rng(1).permutation(len(names))
    for k in range(0, len(rows), 3):
        row = {names[j]: None if k % 2 and np.isnan(rows[k, j]) else float(rows[k, j]) for j in order}
        assert_same(scorer["scores_of"](weights, row), np.ravel(scores[k]), scores)
        if clear[k]:
            np.testing.assert_array_equal(np.ravel(scorer["answers_of"](weights, row)), np.ravel(answers[k]))


def test_the_features_are_such_that_single_precision_would_not_do():
    model = CASES["two scalers"][0].fit(X, Y)
    single = model.decision_function(X.astype(np.float32).astype(np.float64))
    scores = model.decision_function(X)
    assert np.abs(single - scores).max() > 0.01 * np.abs(scores).max()


def test_a_mean_of_a_trillion_times_the_spread():
    far = 1e12 + LATENT
    model = filled(StandardScaler(), classifier()).fit(far, Y)
    scores = model.decision_function(far)
    assert_same(run(session_of(model), far)[0], scores, scores)
    scorer, weights = documented(), weights_of(model)
    row = dict(zip(weights["features"], far[0].tolist(), strict=True))
    assert_same(scorer["scores_of"](weights, row), scores[0], scores)


def test_what_is_told_about_a_model():
    features = ["beat", "key=major", "key=minor", "city=a=b", "year", "x", "ä"]
    model = CASES["multilabel"][0].fit(HOLES, Y)
    final = model[-1]
    expected = {
        "smtl": smtl.__version__,
        "kind": "multilabel",
        "metric": "log",
        "penalty": "l21",
        "C": 10.0,
        "features": features,
        "one_hot": {"key": {"major": "key=major", "minor": "key=minor"}, "city": {"a=b": "city=a=b"}},
        "tasks": ["calm", "sad", "loud"],
        "classes": [0, 1],
        "thresholds": final.thresholds_.tolist(),
        "thresholds_in_intercepts": True,
    }
    names = {"feature_names": features, "task_names": ["calm", "sad", "loud"]}
    weights = weights_of(model, **names)
    figures = {"fill", "center", "intercepts", "weights"}
    assert {key: value for key, value in weights.items() if key not in figures} == {
        "format": "smtl weights",
        "version": 1,
        **expected,
    }
    assert weights["fill"] == model[0].statistics_.tolist()
    assert weights["intercepts"] == final.intercept_.tolist()
    meta = session_of(model, **names).get_modelmeta()
    told = meta.custom_metadata_map
    assert {key: told[key] if isinstance(value, str) else json.loads(told[key]) for key, value in expected.items()} == (
        expected
    )
    assert "NaN where one is missing" in meta.description
    # Names that the training data did not have mean nothing, so nothing is read off them.
    assert weights_of(model)["features"] == [f"x{j}" for j in range(7)]
    assert weights_of(model)["one_hot"] == {}


def test_a_table_gives_its_names():
    pandas = pytest.importorskip("pandas")
    model = filled(classifier()).fit(pandas.DataFrame(MILD, columns=list("abcdefg")), Y)
    assert weights_of(model)["features"] == list("abcdefg")


def test_a_model_that_fills_nothing_does_not_guess():
    model = CASES["bare"][0].fit(MILD, Y)
    row = MILD[:1].copy()
    row[0, 2] = np.nan
    session = session_of(model)
    assert np.isnan(run(session, row)[0]).all()
    assert "none may be missing" in session.get_modelmeta().description
    weights = weights_of(model)
    assert weights["fill"] == [None] * 7
    for missing in (None, float("nan")):
        with pytest.raises(TypeError):
            documented()["scores_of"](weights, dict.fromkeys(weights["features"], missing))


REFUSED = {
    "an imputer of -1": make_pipeline(SimpleImputer(missing_values=-1), classifier()),
    "keep_empty_features=True": make_pipeline(SimpleImputer(), StandardScaler(), classifier()),
    "without add_indicator": filled(classifier()).set_params(simpleimputer__add_indicator=True),
}


@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
@pytest.mark.parametrize("words", REFUSED)
def test_what_figures_cannot_say_is_refused(words):
    features = MILD.copy()
    features[:, 0] = np.nan if "empty" in words else features[:, 0]
    features[3, 1] = np.nan if words != "an imputer of -1" else -1
    model = REFUSED[words].fit(features, Y)
    with pytest.raises(ValueError, match=re.escape(words)):
        plain_model(model)


def test_a_scaler_that_clips_is_refused():
    if "clip" not in MaxAbsScaler().get_params():
        pytest.skip("this scikit-learn's MaxAbsScaler does not clip")
    with pytest.raises(ValueError, match="without clip"):
        plain_model(make_pipeline(MaxAbsScaler(clip=True), classifier()).fit(MILD, Y))


def test_other_refusals(monkeypatch):
    model = CASES["bare"][0].fit(MILD, Y)
    with pytest.raises(ValueError, match="got 'a' 2 times"):
        weights_of(model, feature_names=list("abacdef"))
    with pytest.raises(ValueError, match="must have 7 names, got 1"):
        plain_model(model, feature_names=["a"])
    with pytest.raises(TypeError, match="got StandardScaler instead"):
        plain_model(StandardScaler().fit(MILD))
    days = np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")[Y[:, 0]]
    with pytest.raises(ValueError, match="numbers or text"):
        plain_model(classifier().fit(MILD, days))
    with monkeypatch.context() as patch:
        patch.setattr(graphs, "MOST_BYTES", 100)
        with pytest.raises(ValueError, match="100 bytes at the most, and this model needs more; JSON has no limit"):
            onnx_graph(plain_model(model))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match="run pip install onnx"):
        onnx_graph(plain_model(model))
