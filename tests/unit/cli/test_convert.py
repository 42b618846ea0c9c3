"""`smtl convert` as users run it, on real files."""

import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

import real_data
from smtl.cli import main
from smtl.datasets import load_dataset, read, read_mulan
from tests.seeds import new_rng

needs_data = pytest.mark.skipif(not real_data.available(), reason="needs ../shared/data")


@pytest.fixture
def convert(monkeypatch, capsys, tmp_path):
    """Run the command in this process, which saves the time to start another; return its code and what it printed."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["smtl", "convert", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SMTL_DATA", str(real_data.DATA))
    return run


def same(one, other):
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.Y, other.Y)
    assert one.label_names == other.label_names
    assert one.feature_names == other.feature_names


@needs_data
def test_there_and_back_as_a_process(forked, tmp_path):
    expected = load_dataset("emotions", folder=real_data.DATA, cache=False)
    environment = os.environ | {
        "PYTHONUTF8": "1",
        "SMTL_CACHE": str(tmp_path / "cache"),
        "SMTL_DATA": str(real_data.DATA),
    }
    process = subprocess.run(
        [sys.executable, "-m", "smtl.cli", "convert", "emotions", "emotions.csv.gz"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=300,
        check=False,
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout == "Wrote emotions.csv.gz: 593 rows, 72 features, 6 labels.\n"
    same(read(tmp_path / "emotions.csv.gz"), expected)
    assert forked("convert", "emotions.csv.gz", "again.arff").returncode == 0
    same(read_mulan(tmp_path / "again.arff"), expected)
    process = forked("convert", "emotions.csv.gz", "again.arff", "--last", "0")
    assert process.returncode == 1
    assert process.stderr.count("\n") == 1


@needs_data
def test_options_of_the_readers(convert, tmp_path):
    folder = real_data.DATA
    arff, xml = folder / "flags" / "flags.arff", folder / "flags" / "flags.xml"
    assert convert(arff, "flags.svm", "--xml", xml, "--nominal", "ordinal")[0] == 0
    assert read(tmp_path / "flags.svm").X.shape == (194, 19)
    tra = folder / "optdigits" / "optdigits.tra"
    _, output, _ = convert(tra, "digits.tsv", "--no-header", "--class-column", -1)
    assert output == "Wrote digits.tsv: 3823 rows, 64 features, 10 labels.\n"
    expected = load_dataset("optdigits", folder=folder, cache=False)
    np.testing.assert_array_equal(read(tmp_path / "digits.tsv").Y, expected.Y[:3823])


@needs_data
def test_tasks_are_kept_by_csv_and_refused_by_others(convert, tmp_path):
    expected = load_dataset("landmine", folder=real_data.DATA, cache=False)
    assert convert("landmine", "landmine.csv")[1] == "Wrote landmine.csv: 14820 rows, 9 features, 29 tasks.\n"
    found = read(tmp_path / "landmine.csv")
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.Y, expected.Y)
    np.testing.assert_array_equal(found.tasks, expected.tasks)
    code, _, errors = convert("landmine", "landmine.svm")
    assert code == 1
    assert errors.startswith("Error: svmlight holds labels of shared rows, got tasks")
    assert not (tmp_path / "landmine.svm").exists()


LABELLED = 'x;"a;1";b\n1.5;1;0\nNA;0;1\n'


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--labels", "a;1,b"], ("a;1", "b")),
        (["--labels", '"b"'], ("b",)),
        (["--last", "1"], ("b",)),
        (["--label-prefix", "a;"], ("1",)),
    ],
)
def test_labels_of_a_table(options, names, convert, tmp_path):
    (tmp_path / "small.csv").write_text(LABELLED)
    code, _, errors = convert("small.csv", "small.arff", "--separator", ";", *options)
    assert code == 0, errors
    data = read_mulan(tmp_path / "small.arff")
    assert data.label_names == names
    np.testing.assert_array_equal(data.X[:, 0], [1.5, np.nan])


def test_columns_become_what_they_are_said_to_be(convert, tmp_path):
    rng, n = new_rng(), 60
    words = np.array(["red", "green", "car", "bus"])
    texts = [" ".join(rng.choice(words, 3)) for _ in range(n)]
    prices = rng.integers(1000, 10**6, n) / 100
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.permutation(n) * 7, unit="D")
    table = pd.DataFrame({"size": rng.integers(0, 3, n), "price": [f"${price:,.2f}" for price in prices]})
    table["note"], table["day"], table["code"] = texts, days.strftime("%d.%m.%Y"), rng.permutation(n) + 100
    table["tags"] = np.array(["calm", "sad", "calm;sad"])[np.append([0, 1, 2], rng.integers(0, 3, n - 3))]
    table.loc[5, "price"] = table.loc[7, "day"] = "tbd"
    table.to_csv(tmp_path / "cars.csv", index=False)
    said = ("--number", "price", "--text", "note", "--date", "day", "--category", "size", "--ignore", "code")
    code, _, errors = convert("cars.csv", "out.csv", "--tags", "tags", *said)
    assert (code, errors) == (0, "")
    found = pd.read_csv(tmp_path / "out.csv")
    prices[5] = np.nan
    np.testing.assert_array_equal(found["price"], prices)
    expected = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2).fit(texts)
    names = [f"note: {word}" for word in expected.get_feature_names_out()]
    np.testing.assert_allclose(found[names], expected.transform(texts).toarray(), atol=1e-12)
    trend = ((days - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)).to_numpy().copy()
    trend[7] = np.nan
    np.testing.assert_array_equal(found["day trend"], trend)
    np.testing.assert_array_equal(found["size=1"], table["size"] == 1)
    np.testing.assert_array_equal(found["label:sad"], table["tags"].str.contains("sad"))
    assert not any(name.startswith(("code", "note=", "price=", "day is", "day=")) for name in found)
    assert convert("cars.csv", "b.csv", "--tags", "tags", "--number", "note")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.csv", "out.csv"], 1, "'none.csv' must be a file or a named set, got neither; the sets are .*"),
        (["small.csv", "out.csv"], 1, r"small.csv: label columns must be given, got none; .* --labels .*"),
        (["digits", "out.xlsx"], 1, r"path must end with one of \.arff, \.csv, .* got 'out.xlsx' instead\."),
        (
            ["digits", "none/out.csv"],
            1,
            "cannot write 'none/out.csv': the directory 'none' does not exist; create it, .*",
        ),
        (
            ["small.csv", "./small.csv"],
            1,
            "cannot write 'small.csv': it is read by this command; choose another OUT.",
        ),
        (
            ["small.csv", "out.csv", "--last", "1", "--text", "y"],
            1,
            "small.csv: --text must be one of the columns, got 'y' instead; there are: .*",
        ),
        (
            ["small.csv", "out.csv", "--last", "1", "--date", "x"],
            1,
            "small.csv: column 'x' cannot be taken as date: 'x' must hold dates, got values of type double instead.",
        ),
        (["small.svm", "out.csv", "--last", "1"], 2, "Invalid value: --last does not go with svmlight files.*"),
        (["small.svm", "out.csv", "--labels", "a"], 2, "Invalid value: --labels must be whole numbers where .*"),
        (["small.csv"], 2, "Missing argument .*"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(arguments, code, message, convert, tmp_path):
    (tmp_path / "small.csv").write_text(LABELLED)
    (tmp_path / "small.svm").write_text("0 1:2\n")
    ended, output, errors = convert(*arguments)
    assert (ended, output) == (code, "")
    assert re.fullmatch(f"Error: {message}\n", errors)
    assert {path.name for path in tmp_path.iterdir()} <= {"small.csv", "small.svm"}
    assert (tmp_path / "small.csv").read_text() == LABELLED
