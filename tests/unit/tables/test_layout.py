"""How a table is written down."""

import bz2
import codecs
import csv
import gzip
import io
import pickle

import numpy as np
import pytest

from smtl.datasets import DatasetError
from smtl.tables.layout import Layout, find_layout
from tests.seeds import new_rng


def make(folder, text, name="data.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_separators(tmp_path, separator, pack):
    rng = new_rng()
    n_columns = int(rng.integers(2, 6))
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator)
    writer.writerow([f"name {j}" for j in range(n_columns)])
    others = [other for other in ",;\t|" if other != separator]
    for _ in range(20):
        words = rng.choice(["x", "say: a", '"', "line\nend", "1.5", *(f"a{other}b" for other in others)], n_columns)
        writer.writerow(list(words))
    found = find_layout(make(tmp_path, pack(file.getvalue().encode())))
    assert found == Layout("csv", separator)


@pytest.mark.parametrize(
    ("text", "separator", "decimal"),
    [
        ("a;b\n1,5;2\n3;4\n", ";", ","),
        ("1,5;2,5\n3,5;4,5\n", ";", ","),
        ("a\tb\n-0,5\t1e3\n", "\t", ","),
        ("a;b\n1,5;2.5\n", ";", "."),
        ("a;b\n1,500;2,000\n", ";", "."),
        ("a;b\n1,500;0,25\n", ";", ","),
        ("a,b\n1.5,x;y\n2,u;v\n", ",", "."),
        ('a,b\n"1,5","2,5"\n', ",", "."),
        ("a\n1\n2\n", ",", "."),
        ("a;b;c\n1;2\n1;2;3\n", ";", "."),
    ],
)
def test_separators_beside_decimal_signs(tmp_path, text, separator, decimal):
    found = find_layout(make(tmp_path, text))
    assert (found.separator, found.decimal) == (separator, decimal)


@pytest.mark.parametrize(
    ("encoding", "mark", "found"),
    [
        ("utf-8", b"", "utf-8"),
        ("utf-8", codecs.BOM_UTF8, "utf-8"),
        ("utf-16-le", codecs.BOM_UTF16_LE, "utf-16"),
        ("utf-16-be", codecs.BOM_UTF16_BE, "utf-16"),
        ("cp1252", b"", "cp1252"),
    ],
)
def test_encodings(tmp_path, encoding, mark, found):
    path = make(tmp_path, mark + "größe;köln\n1,5;€\n".encode(encoding))
    assert find_layout(path) == Layout("csv", ";", ",", found)


def test_a_character_that_is_cut_where_the_first_part_ends(tmp_path):
    path = make(tmp_path, "a,b\n" + "é,1\n" * 100_000)
    for shift in range(3):
        path.write_bytes(b"x" * shift + path.read_bytes())
        assert find_layout(path).encoding == "utf-8"


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("a.jsonl", b'{"a": 1}\n', "jsonl"),
        ("a.ndjson.gz", gzip.compress(b'{"a": 1}\n', mtime=0), "jsonl"),
        ("a.txt", b' \n{"a": 1}\n', "jsonl"),
        ("a.csv", b"{a},b\n1,2\n", "csv"),
        ("a.dat", b"PAR1...", "parquet"),
        ("a.xlsx", b"PK\x03\x04...", "excel"),
        ("a.xlsx", b"a,b\n1,2\n", "csv"),
    ],
)
def test_forms(tmp_path, name, content, form):
    assert find_layout(make(tmp_path, content, name)).form == form


def test_what_is_said_comes_first(tmp_path):
    path = make(tmp_path, "about\na;b\n1,5;2\n")
    found = find_layout(path, separator=",", decimal=".", encoding="latin-1", header=False, skip=1)
    assert found == Layout("csv", ",", ".", "iso8859-1", False, 1)
    assert find_layout(path, skip=1) == Layout("csv", ";", ",", skip=1)
    assert find_layout(path, encoding="utf-8-sig").encoding == "utf-8"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": ";;"}, "separator must be one ASCII character"),
        ({"separator": "é"}, "separator must be one ASCII character"),
        ({"separator": "."}, "no letter, digit, quote, line end, point"),
        ({"decimal": "x"}, "decimal must be '.' or ',', got 'x' instead"),
        ({"decimal": ",", "separator": ","}, "separator and decimal must differ"),
        ({"encoding": "utf-9"}, "encoding must be one that Python knows, got 'utf-9' instead"),
        ({"skip": -1}, "skip must be 0 or more, got -1 instead"),
    ],
)
def test_options_that_are_wrong(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        find_layout(make(tmp_path, "a,b\n1,2\n"), **options)


def test_files_that_are_refused(tmp_path):
    with pytest.raises(DatasetError, match="must have data, got an empty file instead"):
        find_layout(make(tmp_path, b""))
    with pytest.raises(DatasetError, match="got a pickle instead, which is not read"):
        find_layout(make(tmp_path, pickle.dumps([1])))
    with pytest.raises(DatasetError, match="got a zip archive instead, which is not read"):
        find_layout(make(tmp_path, b"PK\x03\x04"))
    with pytest.raises(DatasetError, match="the compressed stream is cut short or damaged"):
        find_layout(make(tmp_path, gzip.compress(new_rng().bytes(1000))[:-300]))
    with pytest.raises(DatasetError, match="must be a file, got a directory instead"):
        find_layout(tmp_path)


def test_words():
    assert Layout("csv").in_words() == "CSV with commas between cells, UTF-8 text, names in line 1"
    assert Layout("csv", "|", header=False, skip=3, encoding="utf-16").in_words() == (
        "CSV with | between cells, UTF-16 text, no names, rows from line 4 on"
    )
    assert Layout("jsonl").in_words() == "JSON lines, UTF-8 text"
    assert Layout("excel", skip=1).in_words() == "Excel, first sheet, names in line 2"


def test_numbers_without_names(tmp_path):
    rng = new_rng()
    X = np.round(rng.normal(size=(30, 4)), 3)
    for separator, decimal in ((";", ","), ("\t", ","), (",", "."), (";", ".")):
        lines = (separator.join(f"{value:.3f}".replace(".", decimal) for value in row) for row in X)
        found = find_layout(make(tmp_path, "\n".join(lines)), header=False)
        assert (found.separator, found.decimal) == (separator, decimal)
