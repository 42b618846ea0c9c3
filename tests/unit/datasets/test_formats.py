"""Which format a file is in, and which a suffix asks for."""

import bz2

import numpy as np
import pytest

from smtl.datasets import Dataset, DatasetError, format_of, read, write

ARFF = b"% about\n@RELATION 'r'\n@attribute a real\n@attribute y {0,1}\n@data\n1,0\n"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.arff", ARFF, "mulan"),
        ("a.txt", ARFF, "mulan"),
        ("a.arff", ARFF.replace(b"'r'", b"'r: -C 1'"), "meka"),
        ("a", ARFF.replace(b"'r'", b"'r: -C -1'"), "meka"),
        ("a.arff.bz2", bz2.compress(ARFF), "mulan"),
        ("a.svm", b"1 1:1\n", "svmlight"),
        ("a.svm", b"1\n", "svmlight"),
        ("a.libsvm.bz2", bz2.compress(b"1 1:1\n"), "svmlight"),
        ("a.txt", b"# note\n1,3 1:1 2:5\n", "svmlight"),
        ("a", b" 1:1 2:5\n", "svmlight"),
        ("a.txt", b"-1 qid:3 1:1 # x\n", "svmlight"),
        ("a.txt", b"2 3 4\n0,1 1:1\n", "extreme"),
        ("a.svm", b"2 3 4\r\n0,1 1:1\r\n", "extreme"),
        ("a.csv", b"a,b\n1,2\n", "csv"),
        ("a.tsv", b"a\tb\n1\t2\n", "csv"),
        ("a.data", b"a,b\n1,2\n", "csv"),
        ("a.data", b"a,b:c\n1,2\n", "csv"),
        ("a.txt", b"a;b\n1,5;2\n", "csv"),
        ("a.txt", b"a\tb\n1\t2\n", "csv"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "csv"),
        ("a.jsonl", b'{"a": 1}\n', "jsonl"),
        ("a.txt", b'{"a": 1}\n', "jsonl"),
        ("a.xlsx", b"PK\x03\x04", "excel"),
        ("a.dat", b"PAR1....PAR1", "parquet"),
        ("a.dat", b"MATLAB 5.0 MAT-file", "matlab"),
    ],
)
def test_format_of(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_bytes(content)
    assert format_of(path) == expected


@pytest.mark.parametrize("content", [b"hello\n", b"\x00\x01\x02", b"\n\n", b"1 2\n"])
def test_no_known_format(tmp_path, content):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(
        DatasetError, match=r"line 1, column 1: must be of a known format \(Excel, .*MEKA, Mulan, .*, CSV\)"
    ):
        read(path)


def test_options_reach_the_reader(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,0\n")
    assert read(path, last=1).label_names == ("b",)
    with pytest.raises(TypeError, match="n_features"):
        read(path, n_features=3)


@pytest.mark.parametrize("suffix", [".arff", ".svm", ".svmlight", ".libsvm", ".csv", ".tsv"])
@pytest.mark.parametrize("packed", ["", ".gz", ".bz2"])
def test_write_by_suffix(tmp_path, suffix, packed):
    data = Dataset(np.array([[0.1, 2], [3, 0]]), np.array([[1, 0], [0, 1]]), ("a", "b"), ("p", "q"))
    path = tmp_path / f"data{suffix.upper()}{packed}"
    write(data, path)
    again = read(path)
    X = again.X if suffix in (".arff", ".csv", ".tsv") else again.X.toarray()
    np.testing.assert_array_equal(X, data.X)
    np.testing.assert_array_equal(again.Y, data.Y)
    assert (again.feature_names, again.label_names, again.name) == (("a", "b"), ("p", "q"), "data")
    assert path.read_bytes()[:2] == {"": path.read_bytes()[:2], ".gz": b"\x1f\x8b", ".bz2": b"BZ"}[packed]


def test_json_lines_and_excel(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('{"a": 0.5, "k": "x", "label:y": true}\n{"k": "z", "label:y": false}\n')
    book = pytest.importorskip("openpyxl", reason="needs openpyxl").Workbook()
    for row in (["a", "k", "label:y"], [0.5, "x", 1], [None, "z", 0]):
        book.active.append(row)
    book.save(tmp_path / "data.xlsx")
    for data in (read(path), read(tmp_path / "data.xlsx")):
        assert (data.feature_names, data.label_names) == (("a", "k=x", "k=z"), ("y",))
        np.testing.assert_array_equal(data.X, [[0.5, 1, 0], [np.nan, 0, 1]])
        np.testing.assert_array_equal(data.Y, [[1], [0]])


def test_an_unknown_suffix(tmp_path):
    with pytest.raises(
        ValueError, match=r"path must end with one of .arff, .csv, .libsvm, .*got '.*a.parquet' instead"
    ):
        write(Dataset(np.eye(2), np.eye(2)), tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []
