"""Tables as pyarrow's: the same cells as Python's csv module and pandas read, and the types that fit them."""

import bz2
import csv
import datetime
import decimal
import gzip
import io
import json
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtl.datasets import DatasetError
from smtl.tables import cells, inputs
from smtl.tables.reading import read_table
from smtl.tables.values import EMPTY, MISSING
from tests.seeds import new_rng

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=8) | st.sampled_from(
    ["", "1", "1.5", "007", "a,b", 'say "x"', "two\nlines", "two\r\nlines", " x ", "NA", "é", "-", '"', "'"]
)


def make(folder, text, name="data.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def small_blocks(monkeypatch, size=64):
    monkeypatch.setattr(inputs, "_HEAD", 100)
    monkeypatch.setattr(cells, "_SMALLEST", size)
    monkeypatch.setattr(cells, "_LARGEST", size)
    monkeypatch.setattr(cells, "_INNER", 50)
    monkeypatch.setattr(cells, "_INNER_BYTES", 10)


@pytest.mark.parametrize("small", [False, True])
@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=30)),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_the_same_cells_as_the_csv_module(tmp_path_factory, small, rows, separator, quoting, line_end):
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, quoting=quoting, lineterminator=line_end)
    names = [f"c{j}" for j in range(len(rows[0]))]
    writer.writerows([names, *rows])
    path = make(tmp_path_factory.mktemp("table"), file.getvalue())
    with pytest.MonkeyPatch.context() as patch:
        if small:
            small_blocks(patch)
        table = read_table(path, separator=separator, encoding="utf-8", text=names)
    theirs = list(csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=separator))
    assert table.column_names == theirs[0]
    expected = [[None if cell.strip() in EMPTY else cell for cell in row] for row in theirs[1:] if row]
    assert [list(row.values()) for row in table.to_pylist()] == expected


@pytest.mark.parametrize("shift", range(10))
def test_line_ends_within_quotes_stay_wherever_pieces_end(tmp_path, monkeypatch, shift):
    small_blocks(monkeypatch, size=400)
    cells_of = ["x" * shift, *["two\r\nlines"] * 40]
    path = make(tmp_path, "a,b\n" + "".join(f'"{cell}",1\n' for cell in cells_of))
    assert read_table(path, text=["a"]).column("a").to_pylist() == [cells_of[0] or None, *cells_of[1:]]


def test_the_same_numbers_as_float_and_pandas(tmp_path):
    rng = new_rng()
    bits = rng.integers(0, 2**63, size=(200, 3)).view(np.float64)
    X = np.where(np.isfinite(bits), bits, 1.0) * rng.choice([-1, 1], size=bits.shape)
    words = [[repr(value) if k % 2 else f" {value:.5g} " for value in row] for k, row in enumerate(X.tolist())]
    path = make(tmp_path, "a,b,c\n" + "\n".join(",".join(row) for row in words))
    table = read_table(path)
    assert set(table.schema.types) == {pa.float64()}
    found = table.to_pandas().to_numpy()
    np.testing.assert_array_equal(found, [[float(word) for word in row] for row in words])
    np.testing.assert_array_equal(found, pd.read_csv(path).to_numpy())
    # The same with decimal commas.
    path = make(tmp_path, "a;b;c\n" + "\n".join(";".join(row) for row in words).replace(".", ","))
    np.testing.assert_array_equal(read_table(path).to_pandas().to_numpy(), found)


@pytest.mark.parametrize(
    ("words", "kind", "values"),
    [
        (["1", "-2", " 3 "], pa.int64(), [1, -2, 3]),
        (["9223372036854775807"], pa.int64(), [2**63 - 1]),
        (["9223372036854775808"], pa.float64(), [2.0**63]),
        (["1", "2.5", "-1e-3", ".5", "5.", "+7"], pa.float64(), [1, 2.5, -1e-3, 0.5, 5, 7]),
        (["1", "inf", "-Infinity"], pa.float64(), [1, np.inf, -np.inf]),
        (["1.5", "nan", "NAN", "-nan"], pa.float64(), [1.5, None, None, None]),
        (["007", "8"], pa.string(), ["007", "8"]),
        (["007", "8.5"], pa.string(), ["007", "8.5"]),
        (["-01"], pa.string(), ["-01"]),
        (["00"], pa.string(), ["00"]),
        (["0", "0.5", "00.5", "0e0"], pa.float64(), [0, 0.5, 0.5, 0]),
        (["1_000"], pa.string(), ["1_000"]),
        (["0x10"], pa.string(), ["0x10"]),
        (["nan(1)", "1"], pa.string(), ["nan(1)", "1"]),
        (["\u0661"], pa.string(), ["\u0661"]),
        (["1 000"], pa.string(), ["1 000"]),
        (["1e400"], pa.float64(), [np.inf]),
        (["true", "FALSE", "True", ""], pa.bool_(), [True, False, True, None]),
        (["true", "1"], pa.string(), ["true", "1"]),
        (["yes", "no"], pa.string(), ["yes", "no"]),
        (["2024-02-29", "NULL"], pa.date32(), [datetime.date(2024, 2, 29), None]),
        (["2024-02-30"], pa.string(), ["2024-02-30"]),
        (["01.02.2024"], pa.string(), ["01.02.2024"]),
        (["20240229"], pa.int64(), [20240229]),
        (["2024-02-29", "2024-02-29 12:30"], pa.timestamp("us"), [datetime.datetime(2024, 2, 29), None]),
        (["2024-02-29T12:30:01.5"], pa.timestamp("us"), [datetime.datetime(2024, 2, 29, 12, 30, 1, 500_000)]),
        (["2024-02-29T12:30:00+02:00"], pa.timestamp("us", "UTC"), None),
        (["", " ", "NULL", "?"], pa.null(), [None] * 4),
        (["a", " b ", "-", " n/a "], pa.string(), ["a", " b ", None, None]),
    ],
)
def test_types(tmp_path, words, kind, values):
    path = make(tmp_path, "a,b\n" + "".join(f"{word},1\n" for word in words))
    column = read_table(path).column("a")
    assert column.type == kind
    if values is not None:
        found = column.to_pylist()
        assert [a for a, b in zip(found, values, strict=True) if b is not None] == [b for b in values if b is not None]
        assert kind == pa.timestamp("us") or [a is None for a in found] == [b is None for b in values]


@pytest.mark.parametrize("word", sorted(MISSING))
def test_missing_words(tmp_path, word):
    table = read_table(make(tmp_path, f"a,b,c\n1,x,{word}\n {word} ,{word},u\n"), text=["c"])
    assert table.to_pydict() == {"a": [1, None], "b": ["x", None], "c": [None if word in EMPTY else word, "u"]}


def test_one_odd_cell_far_down_makes_text(tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    rng = new_rng()
    words = [str(value) for value in rng.normal(size=500)]
    words[int(rng.integers(500))] = "oops"
    column = read_table(make(tmp_path, "a,b\n" + "".join(f"{word},1\n" for word in words))).column("a")
    assert column.to_pylist() == words


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed_and_limited(tmp_path, pack):
    path = make(tmp_path, pack(b"a,b\n" + b"1,2\n" * 100_000), "data.csv.gz")
    assert read_table(path).num_rows == 100_000
    with pytest.raises(DatasetError, match="the decompressed text must have at most max_bytes=1,000 bytes, got more"):
        read_table(path, max_bytes=1000)
    with pytest.raises(DatasetError, match="the compressed stream is cut short or damaged"):
        read_table(make(tmp_path, path.read_bytes()[:-10]))


def test_encodings(tmp_path):
    text = "größe,b\n€,“x”\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        assert read_table(make(tmp_path, text.encode(encoding))).to_pydict() == {"größe": ["€"], "b": ["“x”"]}
    # Any byte can be read.
    table = read_table(make(tmp_path, b"a,b\n" + bytes(range(128, 256)) + b",1\n"))
    assert len(table.column("a")[0].as_py()) == 128
    # A file that is UTF-8 in its first part, and not further down.
    content = b"a,b\n" + "é,1\n".encode() * 100_000 + "é,2\n".encode("latin-1")
    assert set(read_table(make(tmp_path, content)).column("a").to_pylist()) == {"é"}
    with pytest.raises(DatasetError, match="line 100002: must be text in utf-8, got byte 0xe9; pass another encoding"):
        read_table(make(tmp_path, content), encoding="utf-8")


def test_names(tmp_path):
    table = read_table(make(tmp_path, '"",a , " b ",\n1,2,3,4\n'))
    assert table.column_names == ["Unnamed: 0", "a", " b ", "Unnamed: 3"]
    table = read_table(make(tmp_path, "1,2\n3,4\n"), header=False)
    assert table.to_pydict() == {"0": [1, 3], "1": [2, 4]}
    table = read_table(make(tmp_path, 'about "this\n\n"x\ny",b\n1,2\n'), skip=1)
    assert table.to_pydict() == {"x\ny": [1], "b": [2]}


def test_chosen_columns(tmp_path):
    path = make(tmp_path, "a,b,c\n1,x,\n2,y,z\n")
    assert read_table(path, columns=["c", "a"]).to_pydict() == {"c": [None, "z"], "a": [1, 2]}
    assert read_table(path, columns=[]).num_columns == 0
    assert read_table(path, text=["a"]).column("a").to_pylist() == ["1", "2"]
    with pytest.raises(DatasetError, match="columns must name columns of the table, got 'd' instead; there are: a, b"):
        read_table(path, columns=["d"])
    with pytest.raises(DatasetError, match="text must name columns of the table, got 'd' instead"):
        read_table(path, text=["d"])


def test_blanks_around_quotes(tmp_path):
    path = make(tmp_path, 'a,b,c\n "1" , "x, y" ,z\n2,"u, ""v"" , ""w""",   q\n')
    assert read_table(path).to_pydict() == {"a": [1, 2], "b": ["x, y", 'u, "v" , "w"'], "c": ["z", "   q"]}


def test_a_cell_longer_than_a_block(tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    long = "x\n" * 500 + '""' * 500
    table = read_table(make(tmp_path, f'a,b\n1,"{long}"\n2,{"y" * 5000}\n3,z\n'))
    assert table.column("b").to_pylist() == [long.replace('""', '"'), "y" * 5000, "z"]


FAULTS = [
    ("", None, None, "must have data, got an empty file instead"),
    ("\n\n", 2, None, "must have rows, got none"),
    ("a,b\n", 1, None, "must have rows below the header, got none"),
    ("\n\na,b\n\n\n", 3, None, "must have rows below the header, got none"),
    ("a,b,a\n1,2,3\n", 1, None, "names of columns must differ, got 'a' twice; rename one"),
    ("a,b\n1,2\n1\n", 3, 2, "a row must have 2 cells, as the first has, got 1 instead"),
    ("a,b\n1,2\n1,2,3\n", 3, 5, "a row must have 2 cells, as the first has, got 3 instead"),
    ('a,b\n1,"2\n\n3"\n\n"x\ny",2,3\n', 7, 6, "got 3 instead"),
    ("a,b\r\n1,2\r\n\r\n1,2,3\r\n", 4, 5, "got 3 instead"),
    ("é,b\né,é,é\n", 2, 5, "got 3 instead"),
    ('a,b\n1,"x\n2,3\n', 2, 3, "a quote that begins a cell must end, got the end of the file before"),
    ('a,b\n1,"x\ny"z\n2,3\n', 2, 3, "a closing quote must be followed by the end of the cell, got more text"),
]


# Faults that have a column can stand further down, too.
PLACES = [(*fault, n) for n in (0, 200) for fault in FAULTS if n == 0 or fault[2] is not None]


@pytest.mark.parametrize(("text", "line", "column", "message", "n_before"), PLACES)
def test_the_place_of_a_fault(tmp_path, monkeypatch, text, line, column, message, n_before):
    small_blocks(monkeypatch)
    first, end, rest = text.partition("\n")
    more = end.join(['1,"2"', '"1",2'] * (n_before // 2))
    path = make(tmp_path, first + end + (more + end if more else "") + rest)
    with pytest.raises(DatasetError, match=message) as caught:
        read_table(path, separator=",")
    expected = None if line is None else line + n_before
    assert (caught.value.path, caught.value.line, caught.value.column) == (path, expected, column)


def test_parquet(tmp_path):
    columns = {
        "k": pa.array(["x", None, "y"]).dictionary_encode(),
        "d": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3.50")]),
        "s": pa.array(["a", "b", None], pa.large_string()),
        "tags": pa.array([["a", "b"], [], None], pa.large_list(pa.large_string())),
        "i": pa.array([1, 2, None], pa.int16()),
        "t": pa.array([datetime.date(2024, 1, 1)] * 3),
    }
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table(columns), path)
    table = read_table(path)
    kinds = [pa.string(), pa.float64(), pa.string(), pa.list_(pa.string()), pa.int16(), pa.date32()]
    assert table.schema.types == kinds
    assert table.column("d").to_pylist() == [1.25, None, -3.5]
    assert table.column("tags").to_pylist() == [["a", "b"], [], None]
    assert read_table(path, columns=["s", "i"]).to_pydict() == {"s": ["a", "b", None], "i": [1, 2, None]}
    with pytest.raises(DatasetError, match="the table must take at most max_bytes=10 bytes"):
        read_table(path, max_bytes=10)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DatasetError, match="must be a whole Parquet file, got a damaged one"):
        read_table(path)


def test_json_lines(tmp_path):
    rows = [
        {
            "a": 1,
            "b": 1,
            "t": True,
            "s": "007",
            "tags": ["x", "y"],
            "mixed": 1,
            "day": "2024-01-01",
            "in": {"u": 1},
        },
        {"a": 2.5, "b": 2, "t": None, "s": "x", "tags": [], "mixed": "one", "late": 1},
    ]
    path = make(tmp_path, "".join(json.dumps(row) + "\n\n" for row in rows), "data.jsonl")
    table = read_table(path)
    assert table.column_names == ["a", "b", "t", "s", "tags", "mixed", "day", "in", "late"]
    assert table.to_pydict() == {
        "a": [1.0, 2.5],
        "b": [1, 2],
        "t": [True, None],
        "s": ["007", "x"],
        "tags": [["x", "y"], []],
        "mixed": ["1", "one"],
        "day": [datetime.date(2024, 1, 1), None],
        "in": ['{"u": 1}', None],
        "late": [None, 1],
    }
    assert table.schema.field("b").type == pa.int64()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"a": 1}\n\n[1]\n', 3, "a line must be a JSON object, got \\[1\\] instead"),
        ('{"a": 1}\n{"a": }\n', 2, "a line must be a JSON object, got a fault: Expecting value"),
        ('{"a": 1}\nx\n', 2, "a line must be a JSON object, got a fault"),
        ('{"a": ' + "[" * 100_000 + "\n", 1, "a line must be a JSON object, got a fault"),
        ('{"a": "b"}\n{"a": "\\ud800"}\n', 2, "'a' must be text that can be written as UTF-8"),
        ("\n\n", 1, "must have rows, got none"),
    ],
)
def test_faults_of_json_lines(tmp_path, text, line, message):
    with pytest.raises(DatasetError, match=message) as caught:
        read_table(make(tmp_path, text, "data.jsonl"))
    assert caught.value.line == line


def test_excel(tmp_path):
    pytest.importorskip("fastexcel", reason="needs fastexcel")
    openpyxl = pytest.importorskip("openpyxl", reason="needs openpyxl")
    rng = new_rng()
    X = np.round(rng.normal(size=(50, 2)), 6)
    book = openpyxl.Workbook()
    book.active.append(["x", None, "code", "mixed", "day"])
    for k, (a, b) in enumerate(X.tolist()):
        book.active.append([a, b, f"00{k}", k if k % 2 else "odd", datetime.date(2024, 1, 1)])
    book.create_sheet("other").append(["no"])
    path = tmp_path / "data.xlsx"
    book.save(path)
    table = read_table(path)
    assert table.column_names == ["x", "Unnamed: 1", "code", "mixed", "day"]
    np.testing.assert_array_equal(table.select([0, 1]).to_pandas().to_numpy(), X)
    assert table.column("code").to_pylist() == [f"00{k}" for k in range(50)]
    assert table.column("mixed").to_pylist() == [str(k) if k % 2 else "odd" for k in range(50)]
    assert read_table(path, header=False).column_names == list("01234")
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(DatasetError, match="must be a whole Excel file, got a damaged one"):
        read_table(path)


def test_excel_without_fastexcel(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(ImportError, match=r"Excel files need fastexcel, .*pip install smtl\[excel\]"):
        read_table(make(tmp_path, b"PK\x03\x04", "data.xlsx"))
