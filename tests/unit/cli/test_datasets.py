"""`smtl datasets` as users run it: lists, tables, pictures, and one line where something is wrong."""

import json
import re
import shutil
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import real_data
from smtl.cli import main
from smtl.cli._labels import count
from smtl.cli._labels_figure import draw_labels
from smtl.datasets import Dataset, dataset_names, load_dataset

needs_data = pytest.mark.skipif(not real_data.available(), reason="needs ../shared/data")
FORCING = ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "SMTL_DATA")


@pytest.fixture
def smtl(forked, tmp_path):
    """Run a command with folders of its own for the cache and OpenML's, so that nothing of the user's is touched."""

    def run(*arguments, **environment):
        return forked(*arguments, environment={"SCIKIT_LEARN_DATA": tmp_path / "openml"} | environment)

    return run


@pytest.fixture
def here(monkeypatch, capsys, tmp_path):
    """Run a command in this process, which saves the time to start another."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["smtl", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SMTL_DATA", raising=False)
    return run


def png_size(path):
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")


def test_lists_all_sets_and_how_to_get_them(smtl, tmp_path):
    process = smtl("datasets")
    assert process.returncode == 0
    assert process.stderr == ""
    rows = re.findall(
        r"^ *([\w:]+) +([\d,]+) +([\d,]+) +(\d+) +([\d.]+) % +(\S+ / \S+) +(\S.*?) *$", process.stdout, re.M
    )
    assert [row[0] for row in rows] == [
        *dataset_names()[:7],
        "mediamill:paper",
        "tmc2007",
        "tmc2007:paper",
        *dataset_names()[8:],
    ]
    table = {row[0]: row[1:] for row in rows}
    assert table["emotions"] == ("593", "72", "6", "31.1", "2.48 / 3.01", "OpenML 41465")
    assert table["mediamill"] == ("43,907", "120", "101", "4.3", "140 / 1,415", "not here")
    assert table["landmine"][3] == "6.1"
    assert table["digits"][-1] == "scikit-learn"
    assert max(len(line) for line in process.stdout.splitlines()[:18]) <= 80
    assert f"flags: Get flags.arff and flags.xml (Mulan, mulan.sourceforge.net) and put them into {tmp_path}" in (
        process.stdout
    )
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", process.stdout)
    assert list(tmp_path.iterdir()) == []


@needs_data
def test_lists_as_json_where_they_are(here, monkeypatch):
    monkeypatch.setenv("SMTL_DATA", str(real_data.DATA))
    _, output, _ = here("datasets", "--json")
    entries = {entry["name"]: entry for entry in json.loads(output)}
    assert {name for name, entry in entries.items() if entry["found"] == "SMTL_DATA"} == set(entries) - {"digits"}
    assert entries["scene"]["files"] == [
        str(real_data.DATA / "scene" / name) for name in ("scene-train.arff", "scene-test.arff", "scene.xml")
    ]
    assert entries["scene"]["get"] is None
    assert (entries["tmc2007:paper"]["rows"], entries["tmc2007:paper"]["tasks"]) == (10_000, 6)


@needs_data
def test_shows_a_table_and_a_picture(smtl, tmp_path):
    process = smtl("datasets", "show", "emotions", SMTL_DATA=str(real_data.DATA))
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""
    rows = re.findall(r"^ *([\w-]+) +(\d+) +([\d.]+) % +([\d.]+) +(█+) *$", process.stdout, re.M)
    data = load_dataset("emotions", folder=real_data.DATA, cache=False)
    assert [row[0] for row in rows] == list(data.label_names)
    positives = data.Y.sum(axis=0)
    for row, n in zip(rows, positives, strict=True):
        assert row[1:] == (
            str(n),
            f"{100 * n / 593:.1f}",
            f"{(593 - n) / n:.3g}",
            "█" * round(16 * n / positives.max()),
        )
    for line in ("Rows:             593", "Labels per row:   1.87", "Picture:          smtl-emotions.png"):
        assert line in process.stdout.splitlines()
    width, height = png_size(tmp_path / "smtl-emotions.png")
    assert 800 <= width <= 2000
    assert 350 <= height <= 1500


@needs_data
def test_shows_a_file_as_json(here, tmp_path):
    path = real_data.DATA / "segment" / "segmentation.data"
    _, output, _ = here("datasets", "show", path, "--json", "--skip", 5, "--no-header", "--class-column", 0)
    shown = json.loads(output)
    assert (shown["rows"], shown["features"], shown["tasks"]) == (210, 19, 7)
    assert [label["positives"] for label in shown["labels"]] == [30] * 7
    assert [label["imbalance"] for label in shown["labels"]] == [6.0] * 7
    assert shown["labels"][5]["name"] == "SKY"
    assert shown["picture"] is None
    assert not list(tmp_path.glob("*.png"))


def test_any_number_of_labels_is_shown(here, tmp_path):
    n = 30_000
    (tmp_path / "many.txt").write_text(f"3 4 {n}\n0,{n - 1} 0:1 3:2.5\n{n - 1} 1:0.5\n2 2:1\n")
    code, output, _ = here("datasets", "show", "many.txt", "--out", "many.svg")
    assert code == 0
    lines = output.splitlines()
    assert len(lines) < 1020
    assert any(re.match(rf"^ *{n - 1} +2 +66.7 % +0.5 ", line) for line in lines), "the most frequent is shown"
    assert "These are the most frequent; 29,000 more labels: --json has them all." in lines
    assert (tmp_path / "many.svg").stat().st_size < 10**6
    _, output, _ = here("datasets", "show", "many.txt", "--json")
    shown = json.loads(output)
    assert [label["positives"] for label in shown["labels"]] == [1, 0, 1, *[0] * (n - 4), 2]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["show", "irys"], 1, r"'irys' must be a file or a named set, got neither; the sets are emotions, yeast, .*"),
        (["show", "flags"], 1, r"flags was not found. Looked in: - SMTL_DATA: not set - the cache folder: .*"),
        (["show", "yeast:paper"], 1, "variant must be None, for yeast has no variants, got 'paper' instead."),
        (["show", "digits", "--last", "2"], 2, r"Invalid value: --last does not go with the named set digits. .*"),
        (["show", "digits", "--out", "picture.txt"], 1, "cannot write 'picture.txt': the name must end in .*"),
        (["show", "bad.csv", "--last", "1"], 1, r"bad.csv, line 3, column 5: a row must have 2 cells, .*"),
        (["show"], 2, r"Missing argument .*"),
        (["shaw"], 2, r"No such command .*"),
    ],
)
def test_errors_are_one_line(arguments, code, message, here, tmp_path):
    (tmp_path / "bad.csv").write_text("a,b\n1,0\n2,1,3\n")
    ended, output, errors = here("datasets", *arguments)
    assert (ended, output) == (code, "")
    assert errors.count("\n") == 1
    assert re.fullmatch(f"Error: {message}\n", errors)


@needs_data
def test_a_wrong_file_is_refused_by_name(smtl, tmp_path):
    for part in ("arff", "xml"):
        shutil.copy(real_data.DATA / "flags" / f"flags.{part}", tmp_path)
    shutil.copyfile(real_data.DATA / "flags" / "flags-train.arff", tmp_path / "flags.arff")
    process = smtl("datasets", "show", "flags", SMTL_DATA=str(tmp_path))
    assert process.returncode == 1
    assert re.fullmatch(r"Error: \S+flags.arff, .* must be flags: 194 rows, .*, got 129 rows, .*\n", process.stderr)


def test_counts_are_those_of_plain_loops():
    rng = np.random.default_rng(0)
    Y = rng.choice([0.0, 1.0, np.nan], p=[0.6, 0.3, 0.1], size=(50, 4))
    counts = count(Dataset(np.zeros((50, 1)), Y))
    for k in range(4):
        known = [y for y in Y[:, k] if y == y]
        assert counts.positives[k] == sum(known)
        assert counts.known[k] == len(known)
    together = counts.together(np.array([2, 0, 3]))
    for i, a in enumerate((2, 0, 3)):
        for j, b in enumerate((2, 0, 3)):
            both = sum(1 for row in Y if row[a] == 1 and row[b] == 1)
            assert together[i, j] == pytest.approx(both / counts.positives[a])
    whole = (np.nan_to_num(Y) == 1).astype(np.int8)
    sparse, dense = (count(Dataset(np.zeros((50, 1)), labels)) for labels in (sp.csr_matrix(whole), whole))
    np.testing.assert_array_equal(sparse.positives, dense.positives)
    np.testing.assert_array_equal(sparse.together(np.arange(4)), dense.together(np.arange(4)))


@pytest.mark.parametrize(
    "Y",
    [
        np.zeros((5, 3), dtype=np.int8),
        np.ones((5, 1), dtype=np.int8),
        np.full((5, 2), np.nan),
        np.eye(40, dtype=np.int8),
        np.zeros((3, 40), dtype=np.int8),
        sp.csr_matrix(np.eye(35, dtype=np.int8)),
    ],
)
def test_odd_labels_can_be_drawn(Y, tmp_path):
    names = tuple(f"$label_{k}$ with a name that is long {k}" for k in range(Y.shape[1]))
    draw_labels(tmp_path / "odd.png", "a $ title", count(Dataset(np.zeros((Y.shape[0], 1)), Y, label_names=names)))
    assert png_size(tmp_path / "odd.png")[0] >= 700
