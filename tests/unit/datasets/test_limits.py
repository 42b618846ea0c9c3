"""What one file may take is checked before it is taken, and can be raised."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from smtl.datasets import DatasetError, limits, read
from smtl.tables.batches import open_batches
from smtl.tables.reading import read_table


def test_a_small_file_cannot_claim_many_columns(tmp_path):
    for name, text in (("e.txt", "1 2000000000 7\n0 0:1\n"), ("s.svm", "0 2000000000:1\n1 3:1\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(DatasetError, match=r"must take at most max_bytes=[0-9,]+ bytes, got 16,000,000,0"):
            read(tmp_path / name)


def test_columns_are_counted_while_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("SMTL_MAX_COLUMNS", "20")
    (tmp_path / "a.arff").write_text(
        "@relation 'r: -C 1'\n" + "".join(f"@attribute a{k} {{0,1}}\n" for k in range(30)) + "@data\n"
    )
    (tmp_path / "c.csv").write_text(",".join(f"label:{k}" for k in range(30)) + "\n" + ",".join("0" * 30) + "\n")
    pq.write_table(pa.table({f"label:{k}": [0] for k in range(30)}), tmp_path / "p.parquet")
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
