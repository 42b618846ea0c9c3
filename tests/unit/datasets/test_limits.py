"""What one file may take is checked before it is taken, and can be raised."""

import gzip
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from smtl.datasets import DatasetError, limits, read
from smtl.tables.batches import open_batches
from smtl.tables.data import read_table_data
from smtl.tables.reading import read_table


def test_a_small_file_cannot_claim_many_columns(tmp_path):
    for name, text in (("e.txt", "1 2000000000 7\n0 0:1\n"), ("s.svm", "0 2000000000:1\n1 3:1\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(DatasetError, match=r"must take at most max_bytes=[0-9,]+ bytes, got 16,000,000,0"):
            read(tmp_path / name)


def test_tags_and_classes_are_counted_before_there_is_a_label_for_each(tmp_path, monkeypatch):
    """A short file with a word of its own in each row would be labels of rows x rows."""
    n = 8_000
    (tmp_path / "a.csv").write_text("x,word\n" + "".join(f"{k},{'t'}{k // 2};u{k}\n" for k in range(n)))
    for option, what in (("tags", "one label for each tag"), ("class_column", "one label for each class")):
        with pytest.raises(DatasetError, match=f"{what} must take at most max_bytes="):
            read_table_data(tmp_path / "a.csv", **{option: "word"})
    monkeypatch.setenv("SMTL_MAX_BYTES", "2e9")
    assert read_table_data(tmp_path / "a.csv", tags="word").Y.shape == (n, n + n // 2)


MEMORY = """
from smtl.tables.reading import read_table
def most():  # not ru_maxrss, which a process has from the one that started it
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
read_table("one.csv")
before = most()
read_table("many.csv")
print(most() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is told in kB on Linux")
def test_a_column_of_a_table_takes_little_memory(tmp_path):
    """It was 20 kB: each column had the words for missing values to itself."""
    n = 10_000
    for name, columns in (("one.csv", 1), ("many.csv", n)):
        head = ",".join(f"c{k}" for k in range(columns))
        (tmp_path / name).write_text(f"{head}\n" + 2 * (",".join("0" * columns) + "\n"))
    done = subprocess.run([sys.executable, "-c", MEMORY], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert float(done.stdout) / n < 12.0  # kB


def test_columns_are_counted_while_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("SMTL_MAX_COLUMNS", "20")
    (tmp_path / "a.arff").write_text(
        "@relation 'r: -C 1'\n" + "".join(f"@attribute a{k} {{0,1}}\n" for k in range(30)) + "@data\n"
    )
    (tmp_path / "c.csv").write_text(",".join(f"label:{k}" for k in range(30)) + "\n" + ",".join("0" * 30) + "\n")
    pq.write_table(pa.table({f"label:{k}": [0] for k in range(30)}), tmp_path / "p.parquet")
    many = subprocess.run(
        [sys.executable, "-m", "smtl.cli", "datasets", "show", str(tmp_path / "a.arff")], capture_output=True, text=True
    )
    assert "Error: " in many.stderr
    assert "unexpected" not in many.stderr
    for name in ("a.arff", "c.csv", "p.parquet"):
        with pytest.raises(DatasetError, match="a table must have at most max_columns=20 columns"):
            read(tmp_path / name)
    monkeypatch.setenv("SMTL_MAX_COLUMNS", "31")
    assert read(tmp_path / "c.csv").Y.shape == (1, 30)


def test_text_that_unpacks_to_far_more_is_not_read_for_long(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "_FREE_TEXT", 2**16)
    with gzip.open(tmp_path / "a.csv.gz", "wb") as file:
        file.write(b"x,label:y\n" + b"0,1\n" * 500_000)
    with pytest.raises(DatasetError, match="the decompressed text must have at most"):
        read(tmp_path / "a.csv.gz")
    monkeypatch.setenv("SMTL_MAX_BYTES", "1e9")
    assert read(tmp_path / "a.csv.gz").X.shape == (500_000, 1)
    monkeypatch.setenv("SMTL_MAX_SECONDS", "1e-9")
    with pytest.raises(DatasetError, match="reading must take at most max_seconds="):
        read(tmp_path / "a.csv.gz")


def test_parquet_cannot_grow_without_limit(tmp_path):
    """Columns of one value take nothing in the file; nor does text that all rows share."""
    n = 2_000_000
    many = pa.table({f"x{k}": np.zeros(n) for k in range(40)} | {"label:y": np.zeros(n, dtype=int)})
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, dtype=np.int32)), pa.array(["x" * 1_000_000]))
    for name, table, what in (("many", many, "the table"), ("text", pa.table({"t": text, "label:y": [0] * n}), "text")):
        path = tmp_path / f"{name}.parquet"
        pq.write_table(table, path)
        assert path.stat().st_size < 600_000
        for reader in (read, read_table):
            with pytest.raises(DatasetError, match=f"{what} must take at most max_bytes=[0-9,]+ bytes"):
                reader(path)
    with pytest.raises(DatasetError, match="the text of some rows must take"), open_batches(path) as batches:
        list(batches)


def test_cells_of_a_sheet_that_lie_far_apart(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("fastexcel")
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1000000"] = "x", 1
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(DatasetError, match="the sheet must take at most"):
        read_table(tmp_path / "a.xlsx")


@pytest.mark.parametrize("text", ["many", "-1", "nan", "0"])
def test_a_limit_that_is_no_number_is_told(text, monkeypatch, tmp_path):
    monkeypatch.setenv("SMTL_MAX_BYTES", text)
    (tmp_path / "a.csv").write_text("x,label:y\n1,0\n")
    with pytest.raises(ValueError, match=f"SMTL_MAX_BYTES must be a positive number, got '{text}'"):
        read(tmp_path / "a.csv")
