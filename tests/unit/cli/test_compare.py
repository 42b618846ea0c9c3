"""``smtl compare`` and ``smtl reproduce`` as subprocesses: they run, are killed, go on, and say what is wrong."""

import csv
import os
import random
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp

from smtl.cli import _study_tables
from smtl.cli._study import chosen_methods
from smtl.experiments import Run, Store, method_names
from smtl.experiments.protocol import MEASURES
from tests.seeds import new_rng
from tests.table_files import write_yes_no

STUDY = [
    "--methods",
    "smtl-auc-l21",
    "sklearn.neighbors.KNeighborsClassifier",
    "--splits",
    "3",
    "--cv",
    "2",
    "--values",
    "2",
]


def smtl(*words, **environment):
    command = [sys.executable, "-m", "smtl.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, timeout=300)


def figures(folder):
    with Store(folder / "runs.sqlite") as store:
        return [[row.get(key) for key in ("dataset", "method", "split", *MEASURES)] for row in store.rows()]


def test_compare_writes_runs_report_and_tables_and_survives(forked, tmp_path):
    done = smtl("compare", "digits", *STUDY, "--jobs", 2, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "6 runs" in done.stdout
    assert "6 of 6" in done.stderr
    rows = figures(tmp_path)
    assert len(rows) == 6
    assert (tmp_path / "report.html").stat().st_size > 10_000
    mean = np.mean([row[3] for row in rows if row[1] == "smtl-auc-l21"])
    cells = [cell for path in (tmp_path / "tables").glob("*.csv") for row in csv.reader(path.open()) for cell in row]
    numbers = [float(cell) for cell in cells if cell.replace(".", "", 1).isdigit()]
    assert any(
        number == pytest.approx(mean, abs=1e-4) or number == pytest.approx(100 * mean, abs=1e-2) for number in numbers
    )
    again = forked("compare", "digits", *STUDY, "--out", tmp_path)
    assert again.returncode == 0
    assert " of 6:" not in again.stderr  # nothing left to do
    other = forked("compare", "digits", *STUDY[:-1], 3, "--out", tmp_path)
    assert other.returncode == 1
    assert "n_values=2, got n_values=3" in other.stderr
    if os.name == "posix":  # killed at a random moment, it ends with the same table
        words = ["compare", "digits", *STUDY, "--out", str(tmp_path / "war")]
        command = [sys.executable, "-m", "smtl.cli", *words]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(1.0, 4.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert forked(*words).returncode == 0
        assert figures(tmp_path / "war") == rows


def test_methods_by_name_family_and_path():
    assert chosen_methods([]) == chosen_methods(["all"]) == method_names()
    assert len(chosen_methods(["smtl", "mtl-cls"])) == 9
    assert chosen_methods(["br,br", "sklearn.tree.DecisionTreeClassifier"]) == [
        "br",
        "sklearn.tree.DecisionTreeClassifier",
    ]


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["compare", "digits", "--methods", "smtl-f1-l22"], 1, "smtl-f1-l22"),
        (["compare", "no-such-set"], 1, "no-such-set"),
        (["compare", "--methods", "br", "smtl"], 1, "Which data?"),
        (["compare", "--methods", "br", "no-such-set"], 1, "no-such-set"),
        (["compare"], 2, "DATA"),
        (["compare", "digits", "--splits", "0"], 2, "splits"),
        (["compare", "digits", "--protocol", "random"], 2, "protocol must be"),
    ],
)
def test_errors_are_one_line(forked, tmp_path, words, code, text):
    done = forked(*words, *(["--out", tmp_path / "out"] if len(words) > 1 else []))
    assert done.returncode == code
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_store_that_cannot_be_read_is_told_from_another_file(fails, tmp_path):
    (tmp_path / "a.csv").write_text("x,label:y\n" + "1,0\n2,1\n" * 9)
    store, words = tmp_path / "study" / "runs.sqlite", ("compare", "a.csv", "--methods", "br", "--out", "study")
    with Store(store, {"cv": 5}) as made:
        made.finish(made.claim([Run("a", "br", 0)]), {"auc": 0.5})
    content = store.read_bytes()
    store.write_bytes(content[:100] + b"\x7f" * (len(content) - 100))
    told = fails(*words)
    assert "cannot read 'study/runs.sqlite': database disk image is malformed. If the same command fails again" in told
    store.write_bytes(b"\x7f" * 5000)
    assert "study/runs.sqlite must be a store of runs, got another file instead" in fails(*words)


def test_a_method_in_the_current_folder_on_a_table_of_ones_own(forked, tmp_path):
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=(60, 3)), rng.integers(2, size=(60, 2))])
    np.savetxt(tmp_path / "own.csv", table, delimiter=",", header="a,b,c,sad,calm", comments="")
    (tmp_path / "mymodel.py").write_text("from sklearn.neighbors import KNeighborsClassifier as Mine\n")
    words = ["--methods", "mymodel.Mine", "--splits", 1, "--out", tmp_path / "out"]
    told = forked("compare", "own.csv", *words)
    assert told.returncode == 1
    assert "label columns must be given" in told.stderr
    assert "--labels sad,calm" in told.stderr
    done = forked("compare", "own.csv", *words, "--labels", "sad,calm")
    assert done.returncode == 0, done.stderr
    assert [row[1] for row in figures(tmp_path / "out")] == ["mymodel.Mine"]
    assert re.search(r"own\.parquet +Mean F1 +Micro F1 +Mean AUC", done.stdout)
    assert re.search(r"^ mymodel\.Mine +0\.\d{3}", done.stdout, re.M)


def test_a_table_of_text_with_missing_labels(forked, tmp_path):
    write_yes_no(tmp_path, n_rows=120)
    done = forked(
        "compare", "yes_no.csv", "--labels", "urgent,refund", "--methods", "smtl-auc-l21,lp", "--splits", 1, "--cv", 2,
        "--values", 3, "--out", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Left out, because labels are missing: lp." in done.stderr
    assert "left out: id" in done.stderr
    assert {row[1] for row in figures(tmp_path / "out")} == {"smtl-auc-l21"}


def test_reproduce_says_which_data_are_missing(forked, tmp_path):
    own = dict.fromkeys(("SMTL_DATA", "SMTL_CACHE", "HOME"), tmp_path)
    done = forked("reproduce", "--quick", "--out", tmp_path / "out", environment=own)
    assert done.returncode == 1
    assert "flags" in done.stderr
    assert "--skip-missing" in done.stderr


def test_text_stays_as_it_is_unless_it_has_many_words(monkeypatch):
    rng = new_rng()
    X = sp.random_array((60, 30), density=0.05, rng=rng, format="csr").toarray()
    X[:, 7] = rng.normal(size=60)
    names = [f"word {j}" for j in range(30)]
    found, told = _study_tables._dense(sp.csr_array(X), names)
    np.testing.assert_array_equal(found, X)
    assert told == names
    monkeypatch.setattr(_study_tables, "DIRECTIONS", 4)
    found, told = _study_tables._dense(sp.csr_array(X), names)
    often = np.flatnonzero((X != 0).mean(axis=0) >= _study_tables.FREQUENT)
    np.testing.assert_array_equal(found[:, : len(often)], X[:, often])
    assert told == [*(names[j] for j in often), "text 1", "text 2", "text 3", "text 4"]
    rest = np.delete(X, often, axis=1)
    most = np.sum(np.linalg.svd(rest, compute_uv=False)[:4] ** 2)  # that four directions can hold
    assert 0.95 * most < np.sum(found[:, len(often) :] ** 2) < 1.0001 * most
