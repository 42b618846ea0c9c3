"""`smtl evaluate`: scikit-learn's figures, with intervals, on data that are matched by name."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

import real_data
from smtl.datasets import load_dataset
from smtl.model import load_model

needs_data = pytest.mark.skipif(not real_data.available(), reason="needs ../shared/data")


def test_a_process_says_what_scikit_learn_says(forked, songs):
    done = forked("evaluate", songs / "songs.skops", songs / "songs.csv", "--json", "--bootstrap", 200)
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    frame = pd.read_csv(songs / "songs.csv")
    truth, model = frame[["calm", "sad"]].to_numpy(), load_model(songs / "songs.skops")
    answers, scores = model.predict(frame), model.decision_function(frame)
    expected = {
        "precision": precision_score(truth, answers, average=None),
        "recall": recall_score(truth, answers, average=None),
        "f1": f1_score(truth, answers, average=None),
        "auc": roc_auc_score(truth, scores, average=None),
    }
    assert [task["name"] for task in result["tasks"]] == ["calm", "sad"]
    for measure, values in expected.items():
        assert [task[measure] for task in result["tasks"]] == pytest.approx(values)
        assert result["macro"][measure] == pytest.approx(values.mean())
        for entry in (*result["tasks"], result["macro"]):
            low, high = entry[f"{measure}_interval"]
            assert 0 <= low <= entry[measure] <= high <= 1
    assert result["micro"]["f1"] == pytest.approx(f1_score(truth, answers, average="micro"))
    assert result["training_data"] is True


def test_a_table_that_fits_a_terminal(command, songs):
    code, output, error = command("evaluate", songs / "songs.skops", songs / "songs.csv", "--bootstrap", "50")
    assert (code, error) == (0, "")
    lines = output.splitlines()
    assert max(map(len, lines[:10])) <= 80
    assert any(line.split()[0] == "calm" and line.count("(") == 2 for line in lines if line.split())
    assert "These are the data that the model was made of: 150 of the rows" in output
    again = command("evaluate", songs / "songs.skops", songs / "songs.csv", "--bootstrap", "50")[1]
    assert again == output


@needs_data
def test_tasks_with_their_own_rows(command, monkeypatch):
    monkeypatch.setenv("SMTL_DATA", str(real_data.DATA))
    fit = (
        "fit",
        "landmine",
        "--model",
        "linear",
        "--C",
        "auto",
        "--metric",
        "auc",
        "--penalty",
        "trace",
        "-o",
        "m.skops",
    )
    assert command(*fit)[0] == 0
    code, output, error = command("evaluate", "m.skops", "landmine", "--json", "--bootstrap", "20")
    assert code == 0, error
    result = json.loads(output)
    data = load_dataset("landmine", folder=real_data.DATA)
    scores = load_model("m.skops").decision_function(data.X)
    for i, task in enumerate(result["tasks"]):
        rows = data.tasks == int(task["name"])
        assert task["rows"] == rows.sum()
        assert task["auc"] == pytest.approx(roc_auc_score(data.Y[rows], scores[rows, i]))


@pytest.mark.parametrize("name", ["evaluate", "report"])
def test_values_that_are_new_are_told(command, songs, tmp_path, name):
    lines = (songs / "songs.csv").read_text().splitlines()
    n = sum("minor" in line for line in lines)
    (tmp_path / "new.csv").write_text("\n".join(lines).replace('"minor"', "lydian") + "\n")
    code, _, error = command(name, songs / "songs.skops", "new.csv")
    assert code == 0
    assert error == (
        f"Warning: column 'key' has values that the training data did not have, in {n} rows: 'lydian'; they count as "
        "none of the known values.\n"
    )


def test_a_missing_column_is_told_and_taken_as_missing_values(command, fails, songs, tmp_path):
    model, frame = songs / "songs.skops", pd.read_csv(songs / "songs.csv")
    frame.rename(columns={"beat": "baet"}).to_csv(tmp_path / "wrong.csv", index=False)
    code, output, error = command("evaluate", model, "wrong.csv", "--json", "--bootstrap", "0")
    assert code == 0
    assert error == (
        "Warning: column 'beat' is missing, and taken as missing values.\n"
        "Note: column 'baet' is not in the training data, and passed over.\n"
    )
    result, truth = json.loads(output), frame[["calm", "sad"]].to_numpy()
    scores = load_model(model).decision_function(frame.assign(beat=np.nan))
    expected = roc_auc_score(truth, scores, average=None)
    assert [task["auc"] for task in result["tasks"]] == pytest.approx(expected)
    assert result["training_data"] is False
    line = fails("evaluate", model, "wrong.csv", "--strict")
    assert "column 'beat' is missing; column 'baet' is not in the training data" in line


def test_errors_are_one_line(fails, songs, tmp_path):
    model = songs / "songs.skops"
    text = (songs / "songs.csv").read_text()
    (tmp_path / "other.csv").write_text(text.replace("calm", "clam", 1))
    (tmp_path / "far.csv").write_text(text.replace("calm", "quiet", 1))
    line = fails("evaluate", model, "other.csv")
    assert "other.csv: a label column must be in the table, got 'calm' instead; did you mean 'clam'?" in line
    assert "got 'calm' instead; there are: 'beat', 'key', 'year', 'quiet', 'sad'." in fails(
        "evaluate", model, "far.csv"
    )
    line = fails("evaluate", model, "other.csv", "--labels", "clam,sad")
    assert "the labels must be those of the model; 'calm' is missing, there are: clam, sad" in line
    assert "must be a file or a named set" in fails("evaluate", model, "missing.csv")
    line = fails("evaluate", model, "digits")
    assert (
        "digits: the columns must be those of the training data, but columns 'beat', 'key', 'year' are missing" in line
    )
