"""`--weight-column`: a row of weight k is k equal rows, in training and in what is told of a model."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from smtl.model import load_model, model_metadata
from tests.seeds import new_rng

LINEAR = ("--model", "linear", "--metric", "log", "--C", "0.5", "--threshold", "0", "--test-size", "0", "--json")


@pytest.fixture
def visits(tmp_path):
    """Return a table with a column of weights, and the same with repeated rows."""
    rng = new_rng()
    frame = pd.DataFrame(rng.standard_normal((120, 3)).round(3), columns=["age", "dose", "pulse"])
    frame["ill"] = (frame["age"] + frame["dose"] + rng.standard_normal(120) > 0).astype(int)
    frame["times"] = np.where(np.arange(120) % 10 < 2, 0, rng.integers(1, 4, 120))
    frame.to_csv(tmp_path / "visits.csv", index=False)
    repeated = frame.loc[frame.index.repeat(frame["times"])].drop(columns="times")
    repeated.to_csv(tmp_path / "repeated.csv", index=False)
    return frame, repeated


def test_weights_are_repeated_rows(command, visits):
    frame = visits[0]
    # Numbers of a table are put on one scale by its rows, whatever they weigh: the models are nearly the same.
    fit = ("fit", "--labels", "ill", *LINEAR)
    code, _, error = command(*fit, "visits.csv", "--weight-column", "times", "-o", "weighted.skops")
    assert (code, error) == (0, "")
    assert command(*fit, "repeated.csv", "-o", "repeated.skops")[::2] == (0, "")
    weighted, plain = load_model("weighted.skops"), load_model("repeated.skops")
    assert "times" not in model_metadata("weighted.skops")["features"]
    scores = (model.decision_function(frame[["age", "dose", "pulse"]]) for model in (weighted, plain))
    assert np.corrcoef(*scores)[0, 1] > 0.99
    # Of the same model, figures of the weighted table are those of the repeated one.
    by_weight = command("evaluate", "weighted.skops", "visits.csv", "--weight-column", "times", "--json")
    by_rows = command("evaluate", "weighted.skops", "repeated.csv", "--json", "--bootstrap", "0")
    assert (by_weight[0], by_weight[2], by_rows[0]) == (0, "", 0)
    got, wanted = json.loads(by_weight[1]), json.loads(by_rows[1])
    for measure in ("precision", "recall", "f1", "auc"):
        assert got["macro"][measure] == pytest.approx(wanted["macro"][measure], abs=1e-12)
        low, high = got["macro"][f"{measure}_interval"]
        assert 0.0 <= low <= got["macro"][measure] <= high <= 1.0
    # Where no weights are asked for, the column is known and passed over.
    assert command("evaluate", "weighted.skops", "visits.csv", "--bootstrap", "0")[2] == ""


@pytest.mark.parametrize("model", [("--model", "linear", "--C", "auto"), ("--preset", "fast", "--cv", "2")])
def test_what_fit_tells_to_do_next_works(command, visits, model):
    code, output, error = command("fit", "visits.csv", "--labels", "ill", "--weight-column", "times", *model)
    assert (code, error) == (0, "")
    assert "column times, in training and in the scores above" in output
    told = output.partition("Next:\n")[2].splitlines()
    assert any("--weight-column times" in line for line in told)
    for line in told[:3]:
        code, _, error = command(*shlex.split(line)[1:])
        assert (code, error) == (0, ""), line


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (
            ["1", "-2.5", "3"],
            "row 2, column 'times': must be a weight, a number that is not negative, got -2.5 instead",
        ),
        (["1", "", "3"], "row 2, column 'times': must be a weight, a number that is not negative, got nothing instead"),
        (["1", "many", "3"], "column 'times' must hold weights, which are numbers, got type string instead"),
        (["0", "0", "0"], "column 'times' must have a positive weight, got only zeros instead"),
    ],
)
def test_what_is_no_weight(fails, tmp_path, cells, words):
    rows = "".join(f"{k},{k % 2},{cell}\n" for k, cell in enumerate(cells))
    (tmp_path / "few.csv").write_text("beat,calm,times\n" + rows)
    assert words in fails("fit", "few.csv", "--labels", "calm", "--weight-column", "times")


def test_where_there_are_no_weights(fails, visits, tmp_path):
    fit = ("fit", "visits.csv", "--labels", "ill")
    assert "--weight-column must be one of the columns, got 'time' instead; did you mean 'times'" in fails(
        *fit, "--weight-column", "time"
    )
    assert "--weight-column must name a column of weights" in fails(*fit, "--weight-column", "ill")
    assert "--ignore must name features, got 'times' instead, which is the weights" in fails(
        *fit, "--weight-column", "times", "--ignore", "times"
    )
    assert "--weight-column does not go with the named set digits" in fails(
        "fit", "digits", "--weight-column", "times", code=2
    )
    (tmp_path / "folder").mkdir()
    visits[0].to_parquet(tmp_path / "folder" / "part.parquet")
    assert "--weight-column do not go with folders" in fails(
        "fit", "folder", "--labels", "ill", "--weight-column", "times", code=2
    )


@pytest.mark.parametrize(("heavy", "light"), [(1e308, 1e308), (1e-320, 1e-320), (1.0, 0.0)])
def test_weights_with_which_nothing_can_be_learnt(command, tmp_path, heavy, light):
    rows = "".join(f"{k % 7}.5,{k % 2},{heavy if k == 0 else light}\n" for k in range(40))
    (tmp_path / "odd.csv").write_text(f"age,ill,times\n{rows}")
    fit = ("fit", "odd.csv", "--labels", "ill", "--model", "linear", "--C", "1", "--weight-column", "times")
    code, _, error = command(*fit, "-o", "odd.skops")
    assert code == 1
    assert "sample_weight must have a finite sum" in error if heavy > 1 else "nothing can be learnt" in error
    assert error.splitlines()[-1].startswith("Error: ")
    assert not (tmp_path / "odd.skops").exists()
