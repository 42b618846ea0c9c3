"""`smtl fit`: from a file to a saved model, and one line where that cannot be."""

import json
import re
import sys

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import real_data
from smtl import SMTLEnsemble
from smtl.baselines import ThresholdedLogistic
from smtl.datasets import Dataset, load_dataset, read_csv, write_svmlight
from smtl.estimators import SMTLClassifier, SMTLClassifierCV
from smtl.model import load_model, model_metadata
from smtl.model.training import hold_out
from smtl.tables import TableEncoder
from smtl.tables.data import read_table_data

needs_data = pytest.mark.skipif(not real_data.available(), reason="needs ../shared/data")


def test_a_process_trains_saves_and_tells(process, tmp_path):
    done = process("fit", "digits", "--model", "linear", "--C", "auto", "-o", "digits.skops")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    rows = re.findall(r"^ *(\d) +1,797 +(\d+) +([\d.]+) +([\d.]+) +(\S+) +(\d+) *$", done.stdout, re.M)
    data = load_dataset("digits")
    assert [row[0] for row in rows] == list("0123456789")
    assert [int(row[1]) for row in rows] == data.Y.sum(axis=0).tolist()
    model = load_model(tmp_path / "digits.skops")
    assert [type(step).__name__ for _, step in model.steps] == ["SimpleImputer", "StandardScaler", "SMTLClassifier"]
    # The figures are those of the rows that were held out, by scikit-learn's account.
    train, test = hold_out(data, 0.25, seed=0)
    assert len(np.intersect1d(train, test)) == 0
    answers, scores = model.predict(data.X[test]), model.decision_function(data.X[test])
    f1, auc = f1_score(data.Y[test], answers, average=None), roc_auc_score(data.Y[test], scores, average=None)
    assert [row[2] for row in rows] == [f"{value:.3f}" for value in f1]
    assert [row[3] for row in rows] == [f"{value:.3f}" for value in auc]
    sizes = abs(model[-1].coef_)
    assert [int(row[5]) for row in rows] == [np.count_nonzero(size >= 1e-3 * size.max()) for size in sizes]
    assert f"Certified gap:    {model[-1].gap_:.1e}" in done.stdout
    for next_command in ("smtl inspect", "smtl evaluate", "smtl predict"):
        assert f"    {next_command} digits.skops" in done.stdout
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", done.stdout)
    assert list(tmp_path.glob(".*.part")) == []


def by_hand(X):
    """Return features of the songs' beat, key (three levels) and year: filled, scaled, one-hot, holes told."""
    columns = []
    for j in (0, 4):
        mean = np.nanmean(X[:, j])
        filled = np.where(np.isnan(X[:, j]), mean, X[:, j])
        columns.append((filled - mean) / filled.std())
        if np.isnan(X[:, j]).mean() >= 0.01:
            columns.append(np.isnan(X[:, j]))
        if j == 0:
            missing = np.isnan(X[:, 1])
            columns += [np.nan_to_num(X[:, k]) for k in (1, 2, 3)]
            columns += [missing] if missing.mean() >= 0.01 else []
    return np.column_stack(columns).astype(float)


def test_the_model_is_that_of_the_estimators(songs):
    summary = json.loads((songs / "fit.json").read_text())
    model = load_model(songs / "songs.skops")
    data = read_csv(songs / "songs.csv", labels=["calm", "sad"])
    train, _ = hold_out(read_table_data(songs / "songs.csv", labels=["calm", "sad"]), 0.25, seed=0)
    X = by_hand(data.X[train])
    own = SMTLClassifierCV("f1", "l21", Cs=5, cv=3, random_state=0).fit(X, data.Y[train])
    assert summary["training"]["C_used"] == pytest.approx(own.C_, rel=1e-6)
    # Features differ by rounding; either model is within 1e-3 of the optimum, its weights within less.
    assert model[-1].objective_ == pytest.approx(own.objective_, rel=2e-3)
    np.testing.assert_allclose(model[-1].coef_, own.coef_, atol=0.1 * np.abs(own.coef_).max())
    assert summary["training"]["gap"] <= 1e-3
    assert [task["name"] for task in summary["scores"]["tasks"]] == ["calm", "sad"]
    metadata = model_metadata(songs / "songs.skops")
    assert metadata["features"] == ["beat", "key", "year"]
    assert [entry["read_as"] for entry in metadata["table"]] == ["number", "category", "number"]
    assert metadata["tasks"] == model[-1].task_names_.tolist() == ["calm", "sad"]
    assert metadata["training"] == summary["training"]
    assert re.fullmatch(r"[0-9a-f]{16}", metadata["data"]["checksum"])


def test_an_ensemble_is_the_default_and_stands_beside_rivals(command, songs, tmp_path):
    code, output, error = command(
        "fit", songs / "songs.csv", "--labels", "calm,sad", "--preset", "fast", "--cv", "3", "--json", "-o", "e.skops"
    )
    assert (code, error) == (0, "")
    summary, model = json.loads(output), load_model(tmp_path / "e.skops")
    assert [type(step) for _, step in model.steps] == [TableEncoder, SMTLEnsemble]
    data = read_table_data(songs / "songs.csv", labels=["calm", "sad"])
    train, test = hold_out(data, 0.25, seed=0)
    X = model[0].transform(data.X)
    plain = read_csv(songs / "songs.csv", labels=["calm", "sad"]).X
    np.testing.assert_allclose(X[train], by_hand(plain[train]), atol=1e-9)
    own = SMTLEnsemble(preset="fast", cv=3, random_state=0, n_jobs=1).fit(X[train], data.Y[train])
    np.testing.assert_array_equal(model.predict_proba(data.X), own.predict_proba(X))
    # Figures by scikit-learn's account, ours and those of logistic regression.
    f1 = f1_score(data.Y[test], own.predict(X[test]), average=None)
    assert [task["f1"] for task in summary["scores"]["tasks"]] == pytest.approx(f1)
    cuts = 1.0 / (1.0 + np.exp(-own.thresholds_))
    assert [task["cut"] for task in summary["scores"]["tasks"]] == pytest.approx(cuts)
    clean = make_pipeline(SimpleImputer(), StandardScaler(), ThresholdedLogistic([0.01, 0.1, 1.0, 10.0], cv=3))
    auc = roc_auc_score(data.Y[test], clean.fit(X[train], data.Y[train]).decision_function(X[test]), average=None)
    rivals = summary["scores"]["rivals"]
    assert [task["auc"] for task in rivals["logistic"]["tasks"]] == pytest.approx(auc)
    assert set(rivals) == {"logistic", "forest"}
    assert {one["name"] for one in summary["training"]["learners"]} == {"kernel", "linear", "forest"}


def test_an_ensemble_in_words(command, songs):
    arguments = ("fit", songs / "songs.csv", "--labels", "calm,sad", "--preset", "fast", "--cv", "2")
    code, output, error = command(*arguments)
    assert (code, error) == (0, "")
    assert re.search(r"F1 +F1 +F1 +AUC +AUC +AUC *\n.*smtl +logistic +forest +smtl +logistic +forest +Cut", output)
    assert len(re.findall(r"^ *(?:calm|sad) +\d+(?: +[01]\.\d{3}){6} +0\.\d\d *$", output, re.M)) == 2
    tables = [line for line in output.partition("Trained on")[0].splitlines() if not line.startswith(("Read:", "Lab"))]
    assert max(map(len, tables)) <= 80
    for name in ("Learners", "Correction", "Tested on", "Micro F1", "Model"):
        assert f"\n{name}:" in output
    code, output, _ = command(*arguments, "--no-compare", "--test-size", "0.5")
    assert code == 0
    assert "logistic" not in output


def test_options_of_the_other_kind_of_model(fails):
    for option in (("--metric", "f1"), ("--penalty", "l21"), ("--C", "1"), ("--values", "3"), ("--no-scale",)):
        assert "goes with --model linear" in fails("fit", "digits", *option, code=2)
    assert "goes with --model ensemble" in fails("fit", "digits", "--model", "linear", "--preset", "fast", code=2)
    assert "--model must be one of ensemble, linear" in fails("fit", "digits", "--model", "tree", code=2)
    assert "--preset must be one of fast, balanced, best" in fails("fit", "digits", "--preset", "slow", code=2)


@needs_data
def test_real_sets_with_every_kind_of_labels(command, monkeypatch, tmp_path):
    monkeypatch.setenv("SMTL_DATA", str(real_data.DATA))
    for name, options in {"flags": (), "landmine": ("--metric", "auc", "--penalty", "trace")}.items():
        code, output, error = command(
            "fit", name, "--model", "linear", "--C", "auto", *options, "-o", "m.skops", "--json"
        )
        assert code == 0, error
        summary = json.loads(output)
        data = load_dataset(name, folder=real_data.DATA)
        assert summary["data"]["rows"] == data.X.shape[0]
        assert len(summary["scores"]["tasks"]) == (data.Y.shape[1] if data.tasks is None else len(set(data.tasks)))
        assert summary["training"]["gap"] <= 1e-3
        model = load_model(tmp_path / "m.skops")
        assert model[-1]._kind == ("multilabel" if data.tasks is None else "tasks")


def test_sparse_data_options_and_a_threshold(command, tmp_path):
    rng = np.random.default_rng(0)
    import scipy.sparse as sp

    X = sp.random(120, 30, density=0.2, format="csr", random_state=0)
    Y = (X @ rng.normal(size=(30, 2)) > 0.1).astype(int)
    write_svmlight(Dataset(X, Y), tmp_path / "data.svm")
    code, output, error = command(
        "fit",
        "data.svm",
        "--model",
        "linear",
        "--C",
        "0.5",
        "--threshold",
        "0.01",
        "--test-size",
        "0",
        "--no-scale",
        "--json",
    )
    assert code == 0, error
    summary = json.loads(output)
    assert (summary["training"]["C_used"], summary["training"]["test_rows"]) == (0.5, 0)
    assert summary["scores"]["tasks"][0]["f1"] is None
    model = load_model(tmp_path / "model.skops")
    assert [name for name, _ in model.steps] == ["impute", "classifier"]
    assert model[-1].thresholds_.tolist() == [0.01, 0.01]
    assert isinstance(model[-1], SMTLClassifier)
    code, _, error = command("fit", "data.svm", "--model", "linear", "--C", "auto")
    assert code == 0, error
    assert type(load_model(tmp_path / "model.skops")[1]).__name__ == "MaxAbsScaler"


def test_columns_that_are_no_features(command, fails, songs, tmp_path):
    path = songs / "songs.csv"
    arguments = ("fit", path, "--label-columns", "calm,sad", "--model", "linear", "--C", "auto")
    assert command(*arguments, "--ignore", "key")[0] == 0
    columns = {entry["column"]: entry["read_as"] for entry in model_metadata(tmp_path / "model.skops")["table"]}
    assert columns == {"beat": "number", "key": "left out", "year": "number"}
    assert "--ignore must be one of the columns, got 'kez' instead; did you mean 'key'" in fails(
        *arguments, "--ignore", "kez"
    )


def test_numbers_that_are_names(command, fails, songs, tmp_path):
    lines = (songs / "songs.csv").read_text().splitlines()
    lines = [f"{line},{'site' if i == 0 else 'x' if i == 1 else i % 3}" for i, line in enumerate(lines)]
    (tmp_path / "sites.csv").write_text("\n".join(lines) + "\n")
    arguments = ("fit", "sites.csv", "--labels", "calm,sad", "--model", "linear", "--C", "auto")
    assert "'site' must hold numbers" in fails(*arguments, "--number", "site")
    for more in ((), ("--categorical", "site")):
        assert command(*arguments, *more)[0] == 0
        features = load_model(tmp_path / "model.skops")[0].get_feature_names_out()
        assert [name for name in features if name.startswith("site")] == ["site=0", "site=1", "site=2", "site=x"]
    for name in ("evaluate", "report", "predict"):
        code, output, error = command(name, "model.skops", "sites.csv")
        assert (code, error) == (0, ""), (name, output)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--labels calm,sad (the last 2 columns have yes/no values)"),
        (("--labels", "clam"), "--labels must be one of the columns, got 'clam' instead"),
        (("--class-column", "clam"), "--class-column must be one of the columns, got 'clam' instead"),
        (("--last", "1", "--task-column", "site"), "--task-column must be one of the columns, got 'site' instead"),
        (("--last", "1", "--categorical", "site"), "--category must be one of the columns, got 'site' instead"),
        (("--last", "9"), "--last must be from 1 to the number of columns, 5, got 9 instead"),
        (("--last", "1", "--labels", "sad"), "one of --labels, --label-prefix, --last, --class-column and --tags, got"),
    ],
)
def test_errors_name_options(fails, songs, options, words):
    assert words in fails("fit", songs / "songs.csv", *options)


def test_errors_are_one_line(fails, songs, tmp_path):
    one_class = tmp_path / "one.csv"
    one_class.write_text("a,label:x\n" + "".join(f"{i},1\n" for i in range(9)))
    (tmp_path / "none.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "nan.csv").write_text("a,label:x\n1,\n2,?\n")
    (tmp_path / "inf.csv").write_text("a,b,label:x\n1,1,0\n2,inf,1\n3,2,0\n")
    (tmp_path / "text.csv").write_text("just some words\nand more\n")
    (tmp_path / "data.pickle").write_bytes(b"\x80\x04]\x94.")
    old = b"an old model"
    (tmp_path / "model.skops").write_bytes(old)
    for source, words in {
        "missing.csv": "must be a file or a named set, got neither",
        "none.csv": "label columns must be given, got none",
        "one.csv": "must have rows of both classes, 0 and 1, got none; the only label is 1 in all rows",
        "nan.csv": "the label column 'label:x' must have values, got empty cells only",
        "inf.csv": "inf.csv: row 2, column 'b': must be finite (or missing), got inf instead",
        "text.csv": "must",
        "data.pickle": "got a pickle instead",
        tmp_path: "got a directory instead",
    }.items():
        assert words in fails("fit", source), source
    songs_csv = songs / "songs.csv"
    assert "labels must be one of the columns, got 'clam'" in fails("fit", songs_csv, "--labels", "clam")
    assert "it is a directory" in fails("fit", "digits", "-o", tmp_path)
    assert "does not exist; create it" in fails("fit", "digits", "-o", tmp_path / "no" / "m.skops")
    assert "f1" in fails("fit", "digits", "--metric", "f3", code=2)
    assert "--C must be cv, auto or a positive number" in fails("fit", "digits", "--C", "-1", code=2)
    assert "--cv goes with --C cv" in fails("fit", "digits", "--model", "linear", "--C", "auto", "--cv", "3", code=2)
    assert "--nominal ordinal" in fails("fit", songs_csv, "--nominal", "ordinal", code=2)
    assert "must leave rows on both sides" in fails("fit", songs_csv, "--labels", "calm", "--test-size", "0.001")
    assert (tmp_path / "model.skops").read_bytes() == old
    assert list(tmp_path.glob(".*.part")) == []


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
def test_a_full_disk_leaves_the_old_model(forked, songs, tmp_path):
    (tmp_path / "model.skops").write_bytes(b"an old model")
    done = forked(
        *("fit", songs / "songs.csv", "--labels", "calm,sad", "--model", "linear", "--C", "auto"),
        file_size=4096,
    )
    assert done.returncode == 1, done.stdout
    assert done.stderr.splitlines()[-1].startswith("Error: cannot write 'model.skops': File too large")
    assert (tmp_path / "model.skops").read_bytes() == b"an old model"
    assert list(tmp_path.glob(".*.part")) == []


def test_cuts_with_conditions_and_probabilities(command, songs, tmp_path):
    table = [str(songs / "songs.csv"), "--labels", "calm,sad"]
    code, output, error = command(
        "fit", *table, "--model", "linear", "--C", "0.5", "--test-size", "0", "-o", "floor.skops",
        "--threshold", "recall>=0.8", "--calibration", "isotonic", "--metric", "auc", "--json",
    )  # fmt: skip
    assert code == 0, error
    assert json.loads(output)["training"]["threshold"] == "recall>=0.8"
    model = load_model(tmp_path / "floor.skops")[-1]
    assert (model.threshold, model.calibration) == ("recall>=0.8", "isotonic")
    assert command("fit", *table, "--model", "linear", "--C", "0.5", "--test-size", "0", "--costs", "5:1")[0] == 0
    assert load_model(tmp_path / "model.skops")[-1].costs == (5.0, 1.0)
    for option, wrong, message in (
        ("--threshold", "recall>=2", "--threshold must have a recall between 0 and 1"),
        ("--costs", "5", "--costs must be two positive numbers, such as 5:1"),
    ):
        code, _, error = command("fit", *table, option, wrong)
        assert code == 2
        assert message in " ".join(error.split())
