"""Multi-label svmlight."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from smtl.datasets import Dataset, DatasetError, read_svmlight, write_svmlight


def make(folder, text):
    path = folder / "data.svm"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_rows(tmp_path):
    data = read_svmlight(make(tmp_path, "5,2 1:0.5 3:-2e1\n\n2 qid:7 2:1 # note\n 1:1 2:0\n1:3\n# all\n7\n"))
    assert data.label_names == ("2", "5", "7")
    assert data.feature_names is None
    np.testing.assert_array_equal(data.X.toarray(), [[0.5, 0, -20], [0, 1, 0], [1, 0, 0], [3, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(data.Y, [[1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]])
    assert data.X.nnz == 5
    assert data.X.format == "csr"


def test_the_base_of_the_indices(tmp_path):
    assert read_svmlight(make(tmp_path, "1 1:1 2:2\n")).X.shape == (1, 2)
    assert read_svmlight(make(tmp_path, "1 0:1 2:2\n")).X.shape == (1, 3)
    assert read_svmlight(make(tmp_path, "1 1:1 2:2\n"), zero_based=True).X.shape == (1, 3)
    assert read_svmlight(make(tmp_path, "# Column indices are zero-based\n1 1:1 2:2\n")).X.shape == (1, 3)
    with pytest.raises(DatasetError, match="line 2, column 3: an index must be from 1 to"):
        read_svmlight(make(tmp_path, "1 1:1\n1 0:1\n"), zero_based=False)


def test_columns_asked_for(tmp_path):
    path = make(tmp_path, "3 2:1\n1,3 1:1\n")
    data = read_svmlight(path, n_features=4, labels=5)
    assert data.X.shape == (2, 4)
    np.testing.assert_array_equal(data.Y, [[0, 0, 0, 1, 0], [0, 1, 0, 1, 0]])
    data = read_svmlight(path, labels=[3, 2, 1])
    np.testing.assert_array_equal(data.Y, [[1, 0, 0], [1, 0, 1]])
    assert data.label_names == ("3", "2", "1")
    with pytest.raises(DatasetError, match="line 2, column 3: a label must be one of those asked for, from 0 to 2"):
        read_svmlight(make(tmp_path, "1 1:1\n1,3 1:1\n"), labels=3)
    path = make(tmp_path, "3 2:1\n1,3 1:1\n")
    with pytest.raises(DatasetError, match="line 1, column 1: a label must be one of those asked for"):
        read_svmlight(path, labels=[1, 2])
    with pytest.raises(DatasetError, match=r"line 1, column 3: an index must be from 0 to 1, got '2' instead"):
        read_svmlight(path, n_features=1)
    with pytest.raises(DatasetError, match="an index must be from 0 to 1, for the index 0 occurs, got 2 instead"):
        read_svmlight(make(tmp_path, "1 0:1\n1 2:1\n"), n_features=2)


def test_sparse_labels(tmp_path):
    path = make(tmp_path, "1,1,0 1:1\n 1:2\n2 1:1\n")
    Y = read_svmlight(path, sparse_labels=True).Y
    assert sp.issparse(Y)
    np.testing.assert_array_equal(Y.toarray(), read_svmlight(path).Y)
    with pytest.raises(DatasetError, match="dense labels must take at most max_bytes=50 bytes, got 300 instead; pass"):
        read_svmlight(path, labels=100, max_bytes=50)
    assert read_svmlight(path, labels=10**9, sparse_labels=True).Y.shape == (3, 10**9)


FAULTS = [
    ("1 1:1\n1 x\n", 2, 3, "an entry must be index:value, got 'x' instead"),
    ("1 1:1\n1 1:x\n", 2, 5, "a value must be a number, got 'x' instead"),
    ("1 1:1\n1 1:\n", 2, 5, "a value must be a number, got '' instead"),
    ("1 1:1\n1 1:2:3 4\n", 2, 5, "a value must be a number, got '2:3' instead"),
    ("1 1:1\n1 1: 2\n", 2, 5, "a value must be a number"),
    ("1 1:1\n1 2:1 2:3\n", 2, 7, "indices of a row must differ, got 2 again"),
    ("1 1:1\n1 -1:1\n", 2, 3, "an entry must be index:value"),
    ("1 1:1\n1 99999999999:1\n", 2, 3, "an index must be from 0 to 2147483647, got '99999999999' instead"),
    ("1 1:1\n1 " + "9" * 5000 + ":1\n", 2, 3, "an index must be"),
    ("1 1:1\n1 1:1_0\n", 2, 5, "a value must be a number, got '1_0' instead"),
    ("1 1:1\n1,a 1:1\n", 2, 3, "labels must be whole numbers with commas between them, got 'a' instead"),
    ("1 1:1\n1,,2 1:1\n", 2, 3, "labels must be whole numbers"),
    ("1 1:1\n1.5 1:1\n", 2, 1, "labels must be whole numbers .* got '1.5' instead"),
    ("1 1:1\n1e400 1:1\n", 2, 1, "labels must be whole numbers"),
    ("1 1:1\n 1, 1:1\n", 2, 1, "labels must begin their line, got a blank before them"),
    ("1 1:1\n1, 2 1:1\n", 2, 3, "labels must be whole numbers"),
    ("# only\n\n", 1, None, "must have rows, got none"),
    ('# smtl {"n_features": -1, "n_labels": 1}\n1 1:1\n', 1, 1, "the comment that write_svmlight wrote is damaged"),
    ('# smtl {"n_features": 1, "n_labels": 1, "label_names": [1]}\n0 1:1\n', 1, 1, "list of 1 names"),
    ('# smtl {"n_features": 1\n1 1:1\n', 1, 1, "the comment that write_svmlight wrote is damaged"),
    ('# smtl {"n_features": 1, "n_labels": 1}\n0 1:1\n0 2:1\n', 3, 3, "an index must be"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), FAULTS)
def test_the_place_of_the_first_fault(tmp_path, text, line, column, message):
    path = make(tmp_path, text)
    with pytest.raises(DatasetError, match=message) as caught:
        read_svmlight(path)
    assert (caught.value.path, caught.value.line, caught.value.column) == (path, line, column)


def test_a_fault_far_down(tmp_path):
    n = 200_000
    with pytest.raises(DatasetError, match="got 'x' instead") as caught:
        read_svmlight(make(tmp_path, "1 1:0.5\n" * n + "1 1:x\n"))
    assert caught.value.line == n + 1


def test_whole_labels_with_a_point(tmp_path):
    assert read_svmlight(make(tmp_path, "1.0,+2 1:1\n-1 1:1\r\n")).label_names == ("-1", "1", "2")


ROWS = st.lists(
    st.tuples(
        st.sets(st.integers(0, 6)),
        st.dictionaries(st.integers(0, 9), st.floats(-1e308, 1e308)),
    ),
    min_size=1,
)


@settings(deadline=None)
@given(ROWS, st.booleans())
def test_against_scikit_learn(tmp_path_factory, rows, zero_based):
    path = tmp_path_factory.mktemp("svm") / "data.svm"
    X = np.zeros((len(rows), 10))
    Y = np.zeros((len(rows), 7), dtype=int)
    for i, (labels, entries) in enumerate(rows):
        Y[i, list(labels)] = 1
        X[i, list(entries)] = list(entries.values())
        if not labels and not X[i].any():
            X[i, 0] = 1  # an empty line is no row to scikit-learn
    dump_svmlight_file(X, sp.csr_matrix(Y), str(path), multilabel=True, zero_based=zero_based, comment="x")
    theirs, labels = load_svmlight_file(str(path), n_features=10, multilabel=True, zero_based=zero_based)
    data = read_svmlight(path, n_features=10, labels=7)
    np.testing.assert_array_equal(data.X.toarray(), theirs.toarray())
    assert [tuple(np.flatnonzero(row)) for row in data.Y] == labels
    # and what we write, they read
    write_svmlight(Dataset(X, Y), path)
    theirs, labels = load_svmlight_file(str(path), n_features=10, multilabel=True, zero_based=False)
    np.testing.assert_array_equal(theirs.toarray(), X)
    assert [tuple(np.flatnonzero(row)) for row in Y] == labels


@settings(deadline=None)
@given(st.lists(st.text("01 ,:.-e2\t", max_size=14), min_size=1, max_size=5))
def test_the_fast_reader_agrees_with_the_exact_one(tmp_path_factory, lines):
    found = []
    for comment in ("", "\n# slow"):
        try:
            data = read_svmlight(make(tmp_path_factory.mktemp("svm"), "1 1:1\n" + "\n".join(lines) + comment))
            X = [array.tolist() for array in (data.X.data, data.X.indices, data.X.indptr)]
            found.append((X, data.X.shape, data.Y.tolist(), data.label_names))
        except DatasetError as error:
            found.append((error.message, error.line, error.column))
    assert found[0] == found[1]


def test_without_a_comment(tmp_path):
    path = tmp_path / "data.svm"
    write_svmlight(Dataset(np.array([[1.0, 0]]), np.array([[1, 0]]), ("a", "b"), ("c", "d")), path, comment=False)
    assert path.read_text() == "0 1:1.0\n"


def test_what_cannot_be_written(tmp_path):
    path = tmp_path / "data.svm"
    with pytest.raises(ValueError, match="svmlight holds labels that are all known, got NaN in Y"):
        write_svmlight(Dataset(np.ones((1, 1)), np.array([[np.nan]])), path)
    with pytest.raises(ValueError, match="got tasks with rows of their own; write CSV"):
        write_svmlight(Dataset(np.ones((1, 1)), np.ones(1), tasks=np.zeros(1)), path)
    with pytest.raises(ValueError, match="svmlight holds rows with features, got X without columns"):
        write_svmlight(Dataset(np.ones((1, 0)), np.ones((1, 1))), path)
    assert list(tmp_path.iterdir()) == []
