"""`smtl demo` as users run it: a process with its output, its picture and its exit code."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier
from smtl.cli._progress import fraction_done
from smtl.cli.demo import _check_beside
from smtl.datasets import read
from smtl.model import save_model
from smtl.model.persistence import read_model

FORCING = ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS")


def smtl(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key not in FORCING}
    return subprocess.run(
        [sys.executable, "-m", "smtl.cli", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment | {"PYTHONUTF8": "1"},
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    folder = tmp_path_factory.mktemp("demo")
    return smtl("demo", folder=folder), folder


METHODS = ["smtl", "logistic regression", "random forest", "gradient boosting"]


def figures(output: str) -> tuple[np.ndarray, np.ndarray]:
    """Return F1 of the ten digits, a column a method, and the means."""
    rows = re.findall(r"^ +(\d|Mean F1) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) *$", output, re.M)
    assert [row[0] for row in rows] == [*"0123456789", "Mean F1"]
    table = np.array([row[1:] for row in rows], dtype=float)
    return table[:-1], table[-1]


def test_succeeds_without_a_word_on_stderr(run):
    process, _ = run
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""


def test_columns_of_the_others_are_those_of_scikit_learn(run):
    X, digit = load_digits(return_X_y=True)
    X, X_test, digit, digit_test = train_test_split(X, digit, train_size=0.6, stratify=digit, random_state=0)
    table, mean = figures(run[0].stdout)
    for column, model in {
        1: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        2: RandomForestClassifier(random_state=0),
    }.items():
        f1 = f1_score(digit_test, model.fit(X, digit).predict(X_test), average=None)
        np.testing.assert_allclose(table[:, column], f1, atol=5.1e-4)
        assert mean[column] == pytest.approx(f1.mean(), abs=5.1e-4)


def test_says_honestly_who_is_ahead(run):
    table, mean = figures(run[0].stdout)
    np.testing.assert_allclose(mean, table.mean(axis=0), atol=1.1e-3)
    ahead = re.search(r"^Ahead on mean F1: (.*?) \(", run[0].stdout, re.M)[1]
    assert ahead == " and ".join(name for name, value in zip(METHODS, mean, strict=True) if value == mean.max())


def test_figures_in_the_readme_are_those_of_the_command(run):
    readme = (Path(__file__).resolve().parents[3] / "README.md").read_text(encoding="utf-8")
    told = re.search(r"mean F1 of ([\d.]+),\s+against\s+([\d.]+)\s+.*?([\d.]+)\s+.*?([\d.]+)\s", readme, re.S).groups()
    _, mean = figures(run[0].stdout)
    assert mean[0] > mean[1:].max()
    # Another BLAS, or another version of scikit-learn, may answer a few rows differently.
    np.testing.assert_allclose(mean, np.array(told, dtype=float), atol=6e-3)


def test_preset_and_seed_are_those_that_were_given(command, monkeypatch):
    import smtl.cli.demo as module

    made, rows = {}, []
    models_of = module._models

    def models(*given, **options):
        made.update(models_of(*given, **options))
        return made

    def first_fit(model, data, train, test):
        rows.extend([train, test])
        raise RuntimeError("no fit")

    monkeypatch.setattr(module, "_models", models)
    monkeypatch.setattr(module, "_run", first_fit)
    code, _, error = command("demo", "--seed", "1", "--preset", "fast")
    assert code == 1
    assert "no fit" in error
    digit = load_digits().target
    wanted = train_test_split(np.arange(len(digit)), train_size=0.6, stratify=digit, random_state=1)
    np.testing.assert_array_equal(np.concatenate(rows), np.concatenate(wanted))
    assert made["smtl"][-1].preset == "fast"
    assert {model.random_state for model in (made["smtl"][-1], *(made[name] for name in METHODS[2:]))} == {1}


def test_draws_a_png_of_sensible_size(run):
    process, folder = run
    assert re.search(r"^Picture: +smtl-demo\.png$", process.stdout, re.M)
    content = (folder / "smtl-demo.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")
    assert 800 <= width <= 2000
    assert 350 <= height <= 1500
    assert 20_000 < len(content) < 150_000


def test_has_no_control_characters_when_piped(run):
    process, _ = run
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", process.stdout + process.stderr)


def test_the_model_and_the_page_are_those_of_the_table(run):
    process, folder = run
    names = dict(re.findall(r"^(Model|Rows not trained on|Page about it): +(\S+)$", process.stdout, re.M))
    model, metadata = read_model(folder / names["Model"])
    rest = read(folder / names["Rows not trained on"])
    _, mean = figures(process.stdout)
    digit = rest.Y.argmax(axis=1)
    assert f1_score(digit, model.predict(rest.X), average="macro") == pytest.approx(mean[0], abs=5.1e-4)
    assert metadata["scores"]["macro"]["f1"] == pytest.approx(mean[0], abs=5.1e-4)
    page = (folder / names["Page about it"]).read_text(encoding="utf-8")
    assert f"{mean[0]:.3f}" in page
    assert "<script src" not in page


def test_next_steps_work(run):
    process, folder = run
    commands = re.findall(r"^ {4}smtl (\S.*)$", process.stdout, re.M)
    assert [command.split()[0] for command in commands] == ["evaluate", "inspect", "fit"]
    found = smtl(*shlex.split(commands[0]), "--json", folder=folder)
    assert json.loads(found.stdout)["macro"]["f1"] == pytest.approx(figures(process.stdout)[1][0], abs=5.1e-4)


@pytest.mark.parametrize(
    ("out", "problem"),
    [
        ("missing/demo.png", "the directory 'missing' does not exist; create it, or choose another with --out."),
        ("file/demo.png", "'file' is not a directory."),
        ("folder.png", "it is a directory."),
        ("demo.txt", "the name must end in .png, .pdf or .svg."),
    ],
)
def test_unwritable_out_is_one_line_and_no_training(out, problem, forked, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder.png").mkdir()
    process = forked("demo", "--out", out)
    assert process.returncode == 1
    assert process.stderr == f"Error: cannot write {out!r}: {problem}\n"
    assert process.stdout == ""


@pytest.mark.parametrize("suffix", [".csv", ".html", ".skops"])
def test_files_of_others_are_not_replaced(suffix, fails, tmp_path):
    path = tmp_path / f"songs{suffix}"
    path.write_text("mine\n")
    told = fails("demo", "--out", "songs.png")
    assert told == f"Error: 'songs{suffix}' is there, and not from a run of smtl demo; choose another with --out.\n"
    assert path.read_text() == "mine\n"
    assert [path] == list(tmp_path.glob("songs*"))


def test_files_of_a_model_of_other_data_are_not_replaced(songs, fails, tmp_path):
    save_model(
        SMTLClassifier().fit([[0.0], [1.0], [3.0]], [0, 0, 1]), tmp_path / "mine.skops"
    )  # nothing is known of it
    for path in (songs / "songs.skops", tmp_path / "mine.skops"):
        told = fails("demo", "--out", path.with_suffix(".png"))
        assert f"{path.name}' is there, and not from a run of smtl demo" in told


def test_its_own_files_are_replaced(run):
    _, folder = run
    _check_beside(folder / "smtl-demo.png")


@pytest.mark.parametrize(
    "arguments", [["demmo"], ["demo", "--no-such"], ["demo", "--seed", "-1"], ["demo", "--preset", "slow"]]
)
def test_wrong_usage_is_one_line_with_code_2(arguments, forked):
    process = forked(*arguments)
    assert process.returncode == 2
    assert process.stderr.startswith("Error: ")
    assert process.stderr.count("\n") == 1


def test_help_is_short_and_imports_no_plotting(tmp_path):
    process = smtl("--help", folder=tmp_path)
    assert process.returncode == 0
    assert "demo" in process.stdout
    assert process.stdout.count("\n") <= 24
    probe = "import sys, smtl.cli.demo; sys.exit(any(m in sys.modules for m in ('matplotlib', 'numba')))"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


def test_version(tmp_path):
    import smtl as package

    assert smtl("--version", folder=tmp_path).stdout == f"smtl {package.__version__}\n"


def test_bar_is_logarithmic():
    assert fraction_done(1.0, 1e-3) == 0.0
    assert fraction_done(float("nan"), 1e-3) == 0.0
    assert fraction_done(1e-1, 1e-3) == pytest.approx(1 / 3)
    assert fraction_done(1e-3, 1e-3) == 1.0
