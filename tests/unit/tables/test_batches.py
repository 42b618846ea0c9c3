"""Tables some thousand rows at a time."""

import bz2
import csv
import datetime
import gzip
import io
import itertools
import json
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from smtl.datasets import DatasetError
from smtl.tables import batches as batches_module
from smtl.tables import cells, inputs
from smtl.tables.batches import open_batches
from smtl.tables.layout import Layout
from smtl.tables.reading import read_table
from tests.seeds import new_rng


def read_all(source, **options):
    with open_batches(source, **options) as batches:
        tables = list(batches)
        assert all(table.num_rows for table in tables)
        return batches.names, batches.layout, pa.concat_tables(tables)


def written(rng, n=300, separator=",", decimal="."):
    """Return a table of numbers with holes, and text, and its bytes as CSV."""
    X = np.round(rng.normal(size=(n, 3)), 4)
    X[rng.random(X.shape) < 0.1] = np.nan
    notes = rng.choice(["a", "b, c", 'd "e"', "f\ng", "", " h "], n)
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator)
    writer.writerow(["x", "note", "y", "z"])
    holes = itertools.cycle(["", "NA", " NULL ", "nan", "NaN", "-", " ?", "NAN", "-nan"])
    for row, note in zip(X, notes, strict=True):
        words = [next(holes) if np.isnan(value) else f"{value}".replace(".", decimal) for value in row]
        writer.writerow([words[0], note, *words[1:]])
    return X, notes, file.getvalue().encode()


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("how", ["path", "stream", "gzip", "bz2", "packed stream"])
def test_csv(tmp_path, monkeypatch, small, how):
    if small:
        monkeypatch.setattr(inputs, "_HEAD", 100)
        monkeypatch.setattr(cells, "_SMALLEST", 200)
        monkeypatch.setattr(cells, "_LARGEST", 200)
        monkeypatch.setattr(batches_module, "_ROWS", 7)
    separator, decimal = [(",", "."), (";", ","), ("\t", ",")][int(new_rng().integers(3))]
    X, notes, content = written(new_rng(), separator=separator, decimal=decimal)
    path = tmp_path / "data.csv"
    path.write_bytes({"gzip": gzip.compress, "bz2": bz2.compress}.get(how, bytes)(content))
    source = {"stream": io.BytesIO(content), "packed stream": io.BytesIO(gzip.compress(content))}.get(how, path)
    # The first line alone does not tell of decimal commas.
    options = {"decimal": decimal} if small else {}
    names, layout, table = read_all(source, numbers=["x", "y", "z", "not there"], **options)
    assert names == ["x", "note", "y", "z"]
    assert layout == Layout("csv", separator, decimal)
    assert table.schema.types == [pa.float64(), pa.string(), pa.float64(), pa.float64()]
    found = table.select(["x", "y", "z"]).to_pandas().to_numpy()
    np.testing.assert_array_equal(found, X)
    assert [column.null_count for column in table.select(["x", "y", "z"]).columns] == np.isnan(X).sum(axis=0).tolist()
    assert table.column("note").to_pylist() == [note or None for note in notes]


@pytest.mark.parametrize("cell", [" nan ", "\tNaN", " -nan", "nan"])
def test_nan_with_blanks_around_it_is_missing(cell):
    _, _, table = read_all(io.BytesIO(f"x,y\n1.5,2\n{cell},3\n".encode()), numbers=["x", "y"], separator=",")
    assert table.to_pydict() == {"x": [1.5, None], "y": [2.0, 3.0]}


def test_what_only_the_library_takes_for_nan_is_no_number():
    with pytest.raises(DatasetError, match=r"line 3.*'x' must be a number, got 'nan\(1\)' instead"):
        read_all(io.BytesIO(b"x,y\n1.5,2\nnan(1),3\n"), numbers=["x"])


def test_the_same_numbers_as_pandas(tmp_path):
    X = new_rng().normal(size=(30_000, 5)) * 10.0 ** new_rng().integers(-300, 300, size=5)
    path = tmp_path / "data.csv"
    pd.DataFrame(X, columns=list("abcde")).to_csv(path, index=False)
    with open_batches(path, numbers="abcde") as batches:
        tables = list(batches)
    assert max(table.num_rows for table in tables) < 10_000 < sum(table.num_rows for table in tables)
    np.testing.assert_array_equal(pa.concat_tables(tables).to_pandas().to_numpy(), X)


@pytest.mark.parametrize(
    ("row", "line", "column", "message"),
    [
        ("1,oops,3", 0, 3, "'b' must be a number, got 'oops' instead"),
        ("1,1_0,3", 0, 3, "'b' must be a number, got '1_0' instead"),
        ('"a\nb", x,3', 1, 5, "'b' must be a number, got ' x' instead"),
        ("1,2", 0, 4, "a row must have 3 cells, as the first has, got 2 instead"),
        ("1,2,3,4", 0, 7, "a row must have 3 cells, as the first has, got 4 instead"),
        ('1,"2"x,3', 0, 3, "a closing quote must be followed by the end of the cell"),
        ('1,"2', 0, 3, "a quote that begins a cell must end"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_the_place_of_a_fault(tmp_path, row, line, column, message, stream):
    n = int(new_rng().integers(1, 60_000))
    content = ("a,b,c\n" + "1,2,3\n" * n + row + "\n1,2,3\n1,x,2,3\n").encode()
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    source = io.BytesIO(content) if stream else path
    with pytest.raises(DatasetError, match=message) as caught:
        read_all(source, numbers=["b"], separator=",")
    assert (caught.value.line, caught.value.column) == (n + 2 + line, column)
    assert caught.value.path == ("standard input" if stream else path)


def test_rows_before_a_fault_come_first(monkeypatch):
    monkeypatch.setattr(cells, "_SMALLEST", 2**18)
    monkeypatch.setattr(cells, "_LARGEST", 2**18)
    n = 1_000_000
    with open_batches(io.BytesIO(b"a\n" + b"1\n" * n + b"x\n"), numbers=["a"]) as batches:
        tables = iter(batches)
        assert sum(next(tables).num_rows for _ in range(30)) > 100_000
        with pytest.raises(DatasetError, match=f"line {n + 2}, column 1: 'a' must be a number, got 'x' instead"):
            list(tables)


def test_no_rows():
    for content, message in ((b"a,b\n", "rows below the header"), (b"", "an empty file"), (b"\n", "must have rows")):
        with pytest.raises(DatasetError, match=message), open_batches(io.BytesIO(content)) as batches:
            list(batches)


class Endless(io.RawIOBase):
    """A table that takes no memory itself."""

    def __init__(self, line, n_bytes):
        self.line, self.left = line, n_bytes

    def read(self, size=-1):
        size = min(size, self.left) // len(self.line) * len(self.line)
        self.left -= size
        return self.line * (size // len(self.line))


def test_memory_is_constant():
    peaks = []
    for n_bytes in (2**25, 2**27):
        before = pa.total_allocated_bytes()
        most = 0
        tracemalloc.start()
        with open_batches(Endless(b"0.5,0.25\n", n_bytes), numbers=["0", "1"], header=False) as batches:
            for table in batches:
                most = max(most, pa.total_allocated_bytes() - before)
                del table
        peaks.append(most + tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 2**24
    assert peaks[1] < 2**27


@pytest.mark.parametrize("stream", [False, True])
def test_parquet(tmp_path, stream):
    rng = new_rng()
    n = 20_000
    table = pa.table(
        {
            "x": rng.normal(size=n),
            "i": pa.array(rng.integers(0, 9, n), pa.int16()),
            "s": rng.choice(["1.5", "NULL", "-2"], n),
            "k": pa.array(rng.choice(["u", "v"], n)).dictionary_encode(),
        }
    )
    path = tmp_path / "data.parquet"
    pq.write_table(table, path)
    source = io.BytesIO(path.read_bytes()) if stream else path
    names, layout, found = read_all(source, numbers=["i", "s"])
    assert (names, layout) == (["x", "i", "s", "k"], Layout("parquet"))
    assert found.schema.types == [pa.float64(), pa.float64(), pa.float64(), pa.string()]
    assert found.column("x").equals(table.column("x"))
    assert found.column("i").to_pylist() == table.column("i").to_pylist()
    numbers = {"1.5": 1.5, "NULL": None, "-2": -2.0}
    assert found.column("s").to_pylist() == [numbers[word.as_py()] for word in table.column("s")]
    with open_batches(path, numbers=["k"]) as batches, pytest.raises(DatasetError, match="row 1, column 'k': must be"):
        list(batches)


def test_parquet_with_a_changed_byte_is_one_table_or_none(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"x": [0.5]}), path)
    whole, n_read, differ = path.read_bytes(), 0, 0
    for at in range(4, len(whole) - 4):
        changed = bytearray(whole)
        changed[at] ^= 2  # of a number, one more or one less
        path.write_bytes(changed)
        counts = []
        for read in (lambda: read_table(path).num_rows, lambda: read_all(path)[2].num_rows):
            try:
                counts.append(read())
            except DatasetError:
                counts.append(None)
        assert counts[0] == counts[1], at
        n_read += counts[0] is not None
        differ += counts[0] is None
    assert n_read > 0
    assert differ > 0


def test_json_lines(monkeypatch):
    monkeypatch.setattr(batches_module, "_ROWS", 2)
    rows = [{"a": 1, "s": "x"}, {"a": "2.5"}, {"a": None, "s": 3, "late": True}, {"a": "NA", "tags": ["u"]}]
    content = "\n".join(map(json.dumps, rows)).encode()
    with open_batches(io.BytesIO(content), numbers=["a"]) as batches:
        assert batches.names == ["a", "s"]
        first, second = batches
    assert first.to_pydict() == {"a": [1.0, 2.5], "s": ["x", None]}
    assert second.to_pydict() == {"a": [None, None], "s": [3, None], "late": [True, None], "tags": [None, ["u"]]}
    for wrong, told in (('"x"', "'x'"), ("1e400", "inf"), ('"-inf"', "'-inf'")):
        more = content + b'\n\n{"a": %b}\n' % wrong.encode()
        with open_batches(io.BytesIO(more), numbers=["a"]) as batches, pytest.raises(DatasetError) as caught:
            list(batches)
        assert caught.value.line == 6
        assert f"'a' must be a finite number, got {told} instead" in str(caught.value)


def test_rows_without_columns_are_rows(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text("{}\n{}\n")
    with open_batches(path) as batches:
        assert sum(table.num_rows for table in batches) == read_table(path).num_rows == 2


def test_excel(tmp_path):
    pytest.importorskip("fastexcel", reason="needs fastexcel")
    openpyxl = pytest.importorskip("openpyxl", reason="needs openpyxl")
    book = openpyxl.Workbook()
    for row in (["x", "day"], [1, datetime.date(2024, 1, 1)], [2, None]):
        book.active.append(row)
    path = tmp_path / "data.xlsx"
    book.save(path)
    for source, form in ((path, None), (io.BytesIO(path.read_bytes()), "excel")):
        names, layout, table = read_all(source, numbers=["x"], form=form)
        assert (names, layout) == (["x", "day"], Layout("excel"))
        assert table.column("x").type == pa.float64()
        assert table.column("x").to_pylist() == [1, 2]


def test_a_form_that_is_unknown():
    with pytest.raises(ValueError, match="form must be one of csv, parquet, jsonl, excel, got 'xml' instead"):
        open_batches(io.BytesIO(b"a\n1\n"), form="xml").__enter__()
