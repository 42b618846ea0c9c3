"""From files as people have them to answers, a page and back: every command, on real files, in processes."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smtl.model import load_model, model_metadata
from tests import table_files
from tests.seeds import new_rng

# What each file is written by, and the options that it needs.
FILES = {
    "yes_no": ("--labels", "urgent,refund"),
    "tags": ("--tags", "topics"),
    "classes": ("--class-column", "topic"),
    "hospitals": ("--labels", "ill", "--task-column", "hospital"),
    "excel_csv": ("--labels", "urgent,refund"),
    "parquet": ("--labels", "urgent,refund"),
    "json_lines": ("--labels", "urgent,refund"),
    "no_header": ("--no-header", "--last", "2"),
    "latin1": ("--labels", "urgent,remboursé"),
    "wide": ("--labels", "left,right"),
    "one_feature": ("--labels", "refund"),
}


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("kind", FILES)
def test_the_whole_way(kind, forked, tmp_path):
    seed = int(new_rng().integers(2**31))
    file = getattr(table_files, f"write_{kind}")(tmp_path, seed=seed)
    options = FILES[kind]
    layout = options if "--no-header" in options else ()
    fit = ("fit", file.path, *options, "--preset", "fast", "--cv", "3", "--no-compare", "-o", "model.skops")
    use = [
        ("predict", "model.skops", file.path, *layout, "-o", "answers.csv", "--what", "all"),
        ("evaluate", "model.skops", file.path, *layout, "--bootstrap", "20", "--json"),
        ("inspect", "model.skops", *(() if kind == "wide" else (file.path, *layout)), "--json"),
        ("report", "model.skops", file.path, *layout, "-o", "report.html"),
    ]
    found = [forked(*command) for command in (fit, *use)]
    for command, done in zip([fit, *use], found, strict=True):
        assert (done.returncode, done.stderr) == (0, ""), (command, done.stderr)
    answers, labels = rows_of(tmp_path / "answers.csv"), [name for name in file.labels if name in file.table]
    assert len(answers) == len(file.table)
    for name in labels if kind != "hospitals" else ["ill"]:
        words = {word for cell in file.table[name].dropna() for word in str(cell).split(";")}
        assert {word for row in answers for word in row[name].split(";")} <= words | {""}, name
        known = file.table[name].notna().to_numpy()
        right = np.mean([row[name] == str(cell) for row, cell in zip(answers, file.table[name], strict=True)])
        common = file.table[name][known].value_counts(normalize=True).iloc[0]
        assert right > 0.9 * common * known.mean(), (name, right, common)
    judged = json.loads(found[2].stdout)
    assert judged["macro"]["auc"] > 0.6
    told = json.loads(found[3].stdout)
    columns = {entry["column"]: entry for entry in told["columns"]}
    assert set(columns) == set(file.table.columns) - set(labels) - {"hospital"} | {
        name for name in columns if name.startswith("__index")
    }
    assert all((entry["features"] == 0) == (entry["read_as"] == "left out") for entry in columns.values())
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    used = next(name for name, entry in columns.items() if entry["features"])
    assert used in page
    assert 'id="columns"' in page


def test_many_rows_of_one_text(forked, tmp_path):
    file = table_files.write_long(tmp_path)  # 100,000 rows
    options = ("--labels", ",".join(file.labels), "--model", "linear", "--metric", "log", "--penalty", "ridge")
    kept = "model-test.csv"
    done = [
        forked("fit", file.path, *options, "--C", "1", "--test-size", "0.05", "-o", "model.skops"),
        forked("predict", "model.skops", file.path, "-o", "answers.csv"),
        forked("evaluate", "model.skops", kept, "--bootstrap", "0", "--json"),
        forked("inspect", "model.skops", kept),
        forked("report", "model.skops", kept, "-o", "report.html"),
    ]
    assert [(one.returncode, one.stderr) for one in done] == [(0, "")] * 5
    assert json.loads(done[2].stdout)["macro"]["auc"] > 0.8
    with open(tmp_path / "answers.csv") as answers:
        assert sum(1 for _ in answers) == 100_001


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("one_column", "there must be at least one feature, got none"),
        ("duplicate_names", "line 1: names of columns must differ, got 'weight' twice; rename one."),
        ("empty", "must have data, got an empty file instead"),
        ("header_only", "must have rows below the header, got none"),
    ],
)
def test_files_that_cannot_be_learnt_from(kind, words, command, tmp_path):
    file = getattr(table_files, f"write_{kind}")(tmp_path)
    code, output, error = command("fit", file.path, "--labels", "urgent")
    assert (code, output) == (1, "")
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "model.skops").exists()


def test_one_answer_a_row_with_its_probability(command, tmp_path):
    file = table_files.write_classes(tmp_path, n_rows=150)
    fit = ("fit", file.path, "--class-column", "topic", "--preset", "fast", "--cv", "2", "--no-compare")
    code, output, _ = command(*fit)
    assert code == 0
    assert "the class of the highest probability" in output
    assert "Cut" not in output + command("inspect", "model.skops")[1]
    assert load_model(tmp_path / "model.skops")[-1]._kind == "multiclass"
    assert command("predict", "model.skops", file.path, "--what", "all", "-o", "a.csv")[0] == 0
    classes = sorted(set(file.table["topic"]))
    for row in rows_of(tmp_path / "a.csv"):
        shares = [float(row[f"probability:{name}"]) for name in classes]
        assert sum(shares) == pytest.approx(1.0)
        assert row["topic"] in classes


def test_the_same_model_says_the_same_of_every_kind_of_table(command, tmp_path):
    rng = new_rng()
    file = table_files.write_yes_no(tmp_path, n_rows=160, seed=int(rng.integers(2**31)))
    fit = ("fit", file.path, "--labels", "urgent,refund", "--preset", "fast", "--cv", "2", "--no-compare")
    assert command(*fit)[0] == 0
    table = pd.read_csv(file.path)
    table = table[rng.permutation(table.columns)]
    table.to_csv(tmp_path / "other.csv", sep=";", decimal=",", index=False, encoding="utf-16")
    table.to_parquet(tmp_path / "other.parquet")
    table.to_json(tmp_path / "other.jsonl", orient="records", lines=True)
    expected = command("predict", "model.skops", file.path, "--what", "scores")
    assert expected[0] == 0
    for name in ("other.csv", "other.parquet", "other.jsonl"):
        assert command("predict", "model.skops", name, "--what", "scores") == expected, name
    model = load_model(tmp_path / "model.skops")
    scores = np.array([[float(cell) for cell in line.split(",")] for line in expected[1].splitlines()[1:]])
    np.testing.assert_array_equal(model.decision_function(table), scores)
    polars = pytest.importorskip("polars")
    np.testing.assert_array_equal(model.decision_function(polars.from_pandas(table)), scores)


def test_columns_that_are_missing_new_or_odd(command, tmp_path):
    file = table_files.write_yes_no(tmp_path, n_rows=120)
    fit = ("fit", file.path, "--labels", "urgent,refund", "--preset", "fast", "--cv", "2", "--no-compare")
    assert command(*fit)[0] == 0
    table = pd.read_csv(file.path)
    table.drop(columns="weight").assign(colour="red").to_csv(tmp_path / "other.csv", index=False)
    code, output, error = command("predict", "model.skops", "other.csv", "--keep", "id,colour")
    assert code == 0
    assert "Warning: column 'weight' is missing, and taken as missing values." in error
    assert output.splitlines()[0] == "id,colour,urgent,refund"
    empty = table.assign(weight=np.nan)
    empty.to_csv(tmp_path / "empty.csv", index=False)
    assert (
        command("predict", "model.skops", "empty.csv", "--keep", "id")[1]
        == command("predict", "model.skops", "other.csv", "--keep", "id")[1]
    )
    code, _, error = command("predict", "model.skops", "other.csv", "--strict")
    assert code == 1
    assert "'weight'" in error
    assert (
        "Note: column 'colour' is not in the training data, and passed over."
        in command("predict", "model.skops", "other.csv")[2]
    )
    table.astype({"weight": object}).assign(weight="heavy").to_csv(tmp_path / "odd.csv", index=False)
    code, _, error = command("predict", "model.skops", "odd.csv")
    assert code == 1
    assert "odd.csv, line 2" in error
    assert "'weight' must be a number, got 'heavy' instead" in error


def test_the_rows_of_the_test_are_kept_as_they_came(command, tmp_path):
    for kind, options in {"tags": ("--tags", "topics"), "parquet": ("--labels", "urgent,refund")}.items():
        file = getattr(table_files, f"write_{kind}")(tmp_path, n_rows=120)
        fit = ("fit", file.path, *options, "--preset", "fast", "--cv", "2", "--no-compare", "-o", f"{kind}.skops")
        code, output, _ = command(*fit, "--json")
        assert code == 0
        kept = Path(json.loads(output)["test_rows"])
        rows = pd.read_csv(kept, keep_default_na=False) if kept.suffix == ".csv" else pd.read_parquet(kept)
        assert len(rows) == 30
        every = {row["id"]: row for row in file.table.to_dict("records")}
        for row in rows.to_dict("records"):
            for name in file.labels:
                then, now = ("" if pd.isna(cell) else str(cell) for cell in (every[row["id"]][name], row[name]))
                assert set(then.split(";")) == set(now.split(";"))
        code, output, error = command("evaluate", f"{kind}.skops", kept, "--bootstrap", "0", "--json")
        assert (code, error) == (0, "")
        tested = model_metadata(tmp_path / f"{kind}.skops")["scores"]["macro"]["f1"]
        assert json.loads(output)["macro"]["f1"] == pytest.approx(tested)


def test_no_file_of_the_users_is_written_over(command, tmp_path):
    file = table_files.write_yes_no(tmp_path, n_rows=120)
    fit = ("--labels", "urgent,refund", "--model", "linear", "--C", "auto", "--json")
    (tmp_path / "model-test.csv").write_text("mine")
    kept = [json.loads(command("fit", file.path, *fit)[1])["test_rows"] for _ in range(2)]
    assert kept == ["model-test-2.csv"] * 2  # the second time it is the model's own, and is written anew
    assert (tmp_path / "model-test.csv").read_text() == "mine"
    before = (tmp_path / "model-test-2.csv").read_text()
    assert json.loads(command("fit", "model-test-2.csv", *fit)[1])["test_rows"] == "model-test-3.csv"
    assert (tmp_path / "model-test-2.csv").read_text() == before


def test_what_to_type_where_nothing_is_said(fails, tmp_path):
    table_files.write_yes_no(tmp_path)
    told = (
        "yes_no.csv: label columns must be given, got none; add what fits: --labels urgent,refund (the last 2 columns"
    )
    assert told in fails("fit", "yes_no.csv")
    table_files.write_tags(tmp_path)
    assert "--tags topics" in fails("fit", "tags.csv")
    assert "did you mean 'urgent'" in fails("fit", "yes_no.csv", "--labels", "urgnt")


def test_a_first_line_of_values_is_told(fails, command, tmp_path):
    file = table_files.write_no_header(tmp_path, n_rows=120, seed=int(new_rng().integers(2**31)))
    file.table.iloc[0, -2:] = ["yes", "no"]
    file.table.to_csv(file.path, index=False, header=False)
    hint = r"Line 1 was taken for names of columns, '20[-0-9 :.]*' among them; if it has values, pass --no-header\."
    assert re.search(hint, fails("fit", file.path))
    assert re.search(hint, fails("fit", file.path, "--class-column", "2"))
    text = file.path.read_text(encoding="utf-8")
    file.path.write_text("1.5,1.5,no\n2.5,1.0,yes\n")
    assert "got '1.5' twice; rename one, or pass --no-header if the line has values." in fails("fit", file.path)
    file.path.write_text(text, encoding="utf-8")
    fit = ("fit", file.path, "--last", "1", "--model", "linear", "--C", "auto", "--test-size", "0")
    code, _, errors = command(*fit)
    assert code == 0
    assert "Warning: line 1 was taken for names of columns, '20" in errors
    assert "add --no-header" not in command(*fit, "--no-header")[2]
    assert "if the data have no names of columns, add --no-header." in fails("predict", "model.skops", file.path)
    assert command("predict", "model.skops", file.path, "--no-header")[0] == 0


def test_lines_before_a_table_are_told(fails, command, tmp_path):
    file = table_files.write_yes_no(tmp_path, n_rows=60, seed=int(new_rng().integers(2**31)))
    n = int(new_rng().integers(1, 6))
    (tmp_path / "title.csv").write_text("Export of May\n" + "\n" * (n - 1) + file.path.read_text(encoding="utf-8"))
    told = fails("fit", "title.csv", "--labels", "urgent")
    assert "a row must have 1 cell, as the first has, got 9 instead." in told
    assert f"line {n + 1}, " in told
    assert f"If the table begins in this line, pass --skip {n}." in told
    fit = ("fit", "title.csv", "--labels", "urgent", "--skip", n, "--model", "linear", "--C", "auto")
    assert command(*fit)[0] == 0


def test_what_is_no_column_of_tags(fails, tmp_path):
    file = table_files.write_yes_no(tmp_path, seed=int(new_rng().integers(2**31)))
    told = fails("fit", file.path, "--tags", "id")
    assert "tags must be in several rows each, got 240 different ones in 240 rows of 'id', such as 'T-0000'" in told
    assert "name another column, or give --tag-separator." in told


def test_many_columns_of_a_kind_are_one_line(command, tmp_path):
    file = table_files.write_wide(tmp_path, n_columns=70, n_rows=100, seed=int(new_rng().integers(2**31)))
    file.table.insert(30, "colour", ["red", "blue"] * 50)
    file.table.insert(31, "shop", ["Rome", "Oslo"] * 50)
    file.table.to_csv(file.path, index=False)
    code, output, _ = command("fit", file.path, "--labels", "left,right", "--model", "linear", "--C", "auto")
    assert code == 0
    lines = [re.split("  +", line.strip()) for line in output.splitlines()]
    assert ["x0 to x29 (30 columns)", "number", "30"] in lines
    assert ["colour to shop (2 columns)", "category", "2", "2 values"] in lines
    assert ["x30 to x67 (38 columns)", "number", "38"] in lines


@pytest.mark.parametrize(
    "kind", [("--model", "linear", "--metric", "log", "--C", "1"), ("--preset", "fast", "--cv", "2")]
)
def test_words_are_told_by_the_column_that_they_are_in(kind, command, tmp_path):
    """Words that alone decide a label are told as such, and not those that other labels rest on."""
    rng, n = new_rng(), 400
    texts = np.array([" ".join(rng.choice(["sun", "rain", "wind", "fog", "sky", "tree"], 4)) for _ in range(n)])
    notes = np.array([" ".join(rng.choice(["cat", "dog", "cow", "hen", "owl", "ant"], 4)) for _ in range(n)])
    warm = np.char.find(texts, "sun") >= 0
    table = pd.DataFrame({"sky": texts, "farm": notes, "size": rng.normal(size=n)})
    table["warm"] = np.where(warm, "yes", "no")
    table["mice"] = np.where(np.char.find(notes, "cat") >= 0, "no", "yes")
    table.to_csv(tmp_path / "days.csv", index=False)
    assert command("fit", "days.csv", "--labels", "warm,mice", *kind)[0] == 0
    code, output, _ = command("inspect", "model.skops", "--json", "--top", "3")
    assert code == 0
    found = {(one["task"], one["column"]): one for one in json.loads(output)["words"]}
    shares = {one["name"]: one["weight"] for one in json.loads(output).get("learners", ())}
    assert command("report", "model.skops", "model-test.csv", "-o", "a.html")[0] == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    told = command("inspect", "model.skops", "model-test.csv")[1]
    assert "where the column is shuffled" in told
    assert "3 columns, shuffled among" in told
    if shares and not shares["linear"]:
        assert (found, "Words for yes" in told, "Words for yes" in page) == ({}, False, False)
        return
    assert set(found) == {(task, column) for task in ("warm", "mice") for column in ("sky", "farm")}
    assert found["warm", "sky"]["yes"][0]["word"] == "sun"
    assert found["mice", "farm"]["no"][0]["word"] == "cat"
    assert all(word["weight"] > 0 for one in found.values() for word in one["yes"])
    assert all(word["weight"] < 0 for one in found.values() for word in one["no"])
    assert "Words for yes" in page
    assert "Words for yes" in told
