"""Columns that are no features: what `smtl fit --ignore` leaves out, the other commands pass over."""

import json
import shlex

import pytest

from smtl.model import model_metadata
from smtl.model.persistence import read_model, save_model

FAST = ("--labels", "calm,sad", "--model", "linear", "--C", "auto")


@pytest.fixture
def named(command, songs, tmp_path):
    """Train on songs with an id, which is ignored; return the rows."""
    lines = (songs / "songs.csv").read_text().splitlines()
    # Numbers and words, as no other column may have them.
    rows = [f"{cell},{line}" for cell, line in zip(["id", "r0", *map(str, range(199))], lines, strict=True)]
    (tmp_path / "named.csv").write_text("\n".join(rows) + "\n")
    code, output, error = command("fit", "named.csv", *FAST, "--ignore", "id", "-o", "named.skops")
    assert (code, error) == (0, "")
    (tmp_path / "fit.txt").write_text(output)
    return rows


def test_the_commands_that_fit_tells_of_work(command, named, tmp_path):
    assert model_metadata(tmp_path / "named.skops")["columns"]["ignored"] == ["id"]
    told = (tmp_path / "fit.txt").read_text().partition("Next:\n")[2].splitlines()
    assert [shlex.split(line)[1] for line in told] == ["inspect", "evaluate", "predict", "report"]
    for line in told:
        code, _, error = command(*shlex.split(line)[1:])
        assert (code, error) == (0, "")
    # They are told for the rows of the test, which have all columns: the id among them, and the labels.
    tested = (tmp_path / "named-test.csv").read_text().splitlines()
    assert all("named-test.csv" in line for line in told[1:])
    assert (tmp_path / "answers.csv").read_text().count("\n") == len(tested) == 51
    assert [cell.strip('"') for cell in tested[0].split(",")] == ["id", "beat", "key", "year", "calm", "sad"]
    ids = [line.partition(",")[0].strip('"') for line in tested[1:]]
    assert len(set(ids)) == 50
    assert set(ids) <= {row.partition(",")[0] for row in named[1:]}


def test_data_without_the_ignored_column_do_as_well(command, songs, named):
    answers = [command("predict", "named.skops", path)[1] for path in ("named.csv", songs / "songs.csv")]
    assert answers[0] == answers[1]
    assert command("evaluate", "named.skops", songs / "songs.csv", "--bootstrap", "0")[0] == 0


@pytest.mark.parametrize("options", [(), ("--ignore", "id")])
def test_the_training_data_are_known_again(command, named, options):
    _, output, _ = command("evaluate", "named.skops", "named.csv", "--bootstrap", "0", *options)
    assert "These are the data that the model was made of: 150 of the rows" in output
    _, output, _ = command("report", "named.skops", "named.csv", "--json", *options)
    assert json.loads(output)["training_data"] is True


@pytest.mark.parametrize("option", ["--ignore", "--id"])
def test_a_column_that_the_training_data_did_not_have(command, songs, named, option):
    _, output, error = command("report", songs / "songs.skops", "named.csv", option, "id", "--json")
    assert error == ""
    assert json.loads(output)["training_data"] is True


def test_files_that_say_nothing_of_ignored_columns_load(command, named, songs, tmp_path):
    model, metadata = read_model(tmp_path / "named.skops")
    del metadata["columns"]["ignored"]
    names = {"feature_names": metadata["features"], "task_names": metadata["tasks"]}
    save_model(model, tmp_path / "old.skops", **names, metadata=metadata)
    assert command("evaluate", "old.skops", songs / "songs.csv", "--bootstrap", "0")[0] == 0
    assert command("evaluate", "old.skops", "named.csv", "--bootstrap", "0", "--ignore", "id")[0] == 0
    save_model(model, tmp_path / "python.skops", **names)
    assert command("evaluate", "python.skops", "named.csv", "--labels", "calm,sad", "--ignore", "id")[0] == 0
    answers = [command("predict", name, "named.csv", "--ignore", "id") for name in ("python.skops", "named.skops")]
    assert answers[0] == answers[1]
    assert answers[0][0] == 0
    # A column that is missing is told of such a model as well.
    rows = [line.split(",", 2)[2] for line in named]
    (tmp_path / "fewer.csv").write_text("\n".join(rows) + "\n")
    code, _, error = command("predict", "python.skops", "fewer.csv")
    assert (code, error) == (0, "Warning: column 'beat' is missing, and taken as missing values.\n")


def test_a_column_of_many_names_is_not_made_one_hot(command, tmp_path):
    n = 30_000  # one-hot, 7 GB
    (tmp_path / "long.csv").write_text("id,a,label:y\n" + "".join(f"r{i},{i % 7},{i % 7 // 4}\n" for i in range(n)))
    assert command("fit", "long.csv", "--model", "linear", "--C", "0.01", "--ignore", "id")[0] == 0
    assert command("evaluate", "model.skops", "long.csv", "--bootstrap", "0")[0] == 0


@pytest.mark.parametrize("name", ["evaluate", "report", "predict"])
def test_an_unknown_column_is_named_and_passed_over(command, songs, tmp_path, name):
    lines = (songs / "songs.csv").read_text().splitlines()
    (tmp_path / "songs.csv").write_text("\n".join(lines) + "\n")
    rows = [f"id,{lines[0]}", *(f"r{i},{line}" for i, line in enumerate(lines[1:]))]
    (tmp_path / "ids.csv").write_text("\n".join(rows) + "\n")
    code, expected, error = command(name, songs / "songs.skops", "songs.csv", "--json")
    assert (code, error) == (0, "")
    code, output, error = command(name, songs / "songs.skops", "ids.csv", "--json")
    assert (code, error) == (0, "Note: column 'id' is not in the training data, and passed over.\n")
    if name == "predict":
        assert output == expected
    else:
        differ = {"data", "bytes"}
        told, without = ({k: v for k, v in json.loads(text).items() if k not in differ} for text in (output, expected))
        assert told == without
    # Who says that it is no feature is not told.
    assert command(name, songs / "songs.skops", "ids.csv", "--json", "--ignore", "id") == (0, output, "")


@pytest.mark.parametrize("column", ["beat", "key"])
@pytest.mark.parametrize("name", ["evaluate", "report", "predict"])
def test_what_the_model_needs_cannot_be_ignored(fails, songs, name, column):
    line = fails(name, songs / "songs.skops", songs / "songs.csv", "--ignore", f"id,{column}")
    assert f"--ignore must name columns that the model does not need; '{column}' is a feature of the model" in line


def test_labels_cannot_be_ignored_where_they_are_needed(command, fails, songs):
    arguments = (songs / "songs.skops", songs / "songs.csv", "--ignore", "sad")
    for name in ("evaluate", "report"):
        assert "'sad' is a label of the model" in fails(name, *arguments)
    assert command("predict", *arguments)[0] == 0
    assert "--ignore must name features, got 'sad' instead" in fails(
        "fit", songs / "songs.csv", *FAST, "--ignore", "sad"
    )
