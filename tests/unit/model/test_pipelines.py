"""Pipelines of scikit-learn, skrub and smtl on data frames: saved, loaded, judged, reported on."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from smtl import SMTLClassifier, SMTLEnsemble
from smtl.model import ModelError, load_model, save_model
from smtl.model.report import write_report
from smtl.tables import TableEncoder
from tests.seeds import new_rng


@pytest.fixture
def frame():
    """Return a data frame of a number with holes, a category and a text, and two labels."""
    rng = new_rng()
    n = 160
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "kind": rng.choice(["a", "b", "c"], size=n),
            "said": [" ".join(rng.choice(["red", "car", "bus", "slow", "fast"], 4)) for _ in range(n)],
        }
    )
    big = np.nan_to_num(X["size"].to_numpy()) + (X["kind"] == "b") > 0.3
    red = X["said"].str.contains("red") & (rng.random(n) < 0.9)
    return X, pd.DataFrame({"big": big.astype(int), "red": red.astype(int)})


def by_hand():
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["size"]),
            ("kinds", OneHotEncoder(handle_unknown="ignore"), ["kind"]),
            ("words", TfidfVectorizer(), "said"),
        ]
    )


def by_skrub():
    skrub = pytest.importorskip("skrub")
    return make_pipeline(skrub.TableVectorizer(), SimpleImputer(), StandardScaler())


@pytest.mark.parametrize("columns", [by_hand, by_skrub, TableEncoder])
@pytest.mark.parametrize("classifier", [SMTLClassifier(), SMTLEnsemble(preset="fast", cv=2)])
def test_files_reports_and_commands(columns, classifier, frame, tmp_path, command_here):
    X, Y = frame
    before = columns()
    steps = [step for _, step in before.steps] if hasattr(before, "steps") else [before]
    model = make_pipeline(*steps, classifier).fit(X, Y)
    save_model(model, tmp_path / "model.skops")
    same = load_model(tmp_path / "model.skops")
    np.testing.assert_allclose(same.decision_function(X), model.decision_function(X), rtol=1e-12)
    found = write_report(same, (X, Y), tmp_path / "report.html")
    auc = roc_auc_score(Y, model.decision_function(X), average=None)
    assert [task["auc"] for task in found["tasks"]] == pytest.approx(auc)
    assert [task["name"] for task in found["tasks"]] == ["big", "red"]
    pd.concat([X, Y], axis=1).to_csv(tmp_path / "data.csv", index=False)
    code, output, error = command_here("evaluate", "model.skops", "data.csv", "--bootstrap", "0", "--json")
    assert (code, error) == (0, "")
    assert [task["auc"] for task in json.loads(output)["tasks"]] == pytest.approx(auc)
    code, output, error = command_here("predict", "model.skops", "data.csv", "--keep", "kind")
    assert code == 0, error
    rows = [line.split(",") for line in output.splitlines()]
    assert rows[0] == ["kind", "big", "red"]
    np.testing.assert_array_equal(np.array(rows[1:])[:, 1:].astype(int), model.predict(X))
    assert command_here("inspect", "model.skops", "data.csv")[0] == 0


# skrub makes float32, of which ensembles are not exported.
@pytest.mark.parametrize(
    ("columns", "classifier"),
    [(by_hand, SMTLClassifier()), (by_skrub, SMTLClassifier()), (by_hand, SMTLEnsemble(preset="fast", cv=2))],
)
def test_exported_models_take_what_the_columns_become(columns, classifier, frame, tmp_path, command_here):
    onnxruntime = pytest.importorskip("onnxruntime")
    X, Y = frame
    before = columns()
    steps = [step for _, step in before.steps] if hasattr(before, "steps") else [before]
    model = make_pipeline(*steps, classifier).fit(X, Y)
    save_model(model, tmp_path / "model.skops")
    code, _, error = command_here("export", "model.skops", "--to", "onnx")
    assert (code, error) == (0, "")
    features = model[0].transform(X)
    features = np.asarray(features.toarray() if hasattr(features, "toarray") else features, dtype=float)
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    (scores,) = session.run(["scores"], {"features": features})
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-5)
    names = json.loads(session.get_modelmeta().custom_metadata_map["features"])
    assert names == model[0].get_feature_names_out().tolist()


def test_steps_that_no_file_can_say_are_one_line(frame, tmp_path, command_here):
    X, Y = frame
    model = make_pipeline(by_hand(), TruncatedSVD(3), SMTLClassifier()).fit(X, Y)
    save_model(model, tmp_path / "model.skops")
    code, output, error = command_here("export", "model.skops", "--to", "onnx")
    assert (code, output) == (1, "")
    assert "model.skops: a step must be SimpleImputer, StandardScaler or MaxAbsScaler, got TruncatedSVD" in error
    assert error.count("\n") == 1


def test_functions_are_refused(frame, tmp_path):
    X, Y = frame
    model = make_pipeline(FunctionTransformer(_size), SMTLClassifier()).fit(X, Y)
    with pytest.raises(ModelError, match="cannot be saved"):
        save_model(model, tmp_path / "model.skops")
    words = ColumnTransformer([("words", TfidfVectorizer(tokenizer=str.split, token_pattern=None), "said")])
    model = make_pipeline(words, SMTLClassifier()).fit(X, Y)
    with pytest.raises(ModelError, match="cannot be saved"):
        save_model(model, tmp_path / "model.skops")
    assert not (tmp_path / "model.skops").exists()


def _size(X):
    return X[["size"]].fillna(0.0).to_numpy()


@pytest.fixture
def command_here(monkeypatch, capsys, tmp_path):
    """Run a command in this process; return its exit code and what it printed."""
    import sys

    from smtl.cli import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["smtl", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    return run
