"""What is written reads back identically: values to the last bit, names to the last character."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from smtl.datasets import (
    Dataset,
    read,
    read_csv,
    read_mulan,
    read_svmlight,
    write,
    write_csv,
    write_mulan,
    write_svmlight,
)

ODD = st.text("ab'\"\\,;%{}[]?:# \t\n\r=-@&<>|\u00e9\u2028\x85\ufeff\U0001f600", max_size=6)
NAME = st.one_of(ODD, st.text(st.characters(exclude_categories=["Cs"]), max_size=5))
# XML has no control characters.
XML_NAME = st.one_of(ODD, st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), max_size=5))
# Infinite numbers are refused by readers.
FLOATS = st.floats(allow_infinity=False)
VALUES = st.one_of(FLOATS, st.sampled_from([0.0, -0.0, 1.0, 1e-320, 0.1, np.nan, 2.0**60]))


@st.composite
def data_sets(draw, label_name=NAME, missing=True, sparse=None, least=0):
    n, d, m = draw(st.integers(1, 6)), draw(st.integers(least, 4)), draw(st.integers(1, 4))
    X = draw(hnp.arrays(np.float64, (n, d), elements=VALUES))
    Y = draw(hnp.arrays(np.int8, (n, m), elements=st.integers(0, 1)))
    if missing and draw(st.booleans()):
        gone = draw(hnp.arrays(np.bool_, (n, m)))
        gone[0, 0] = True
        Y = np.where(gone, np.nan, Y)
    names = draw(st.lists(NAME, min_size=d, max_size=d, unique=True))
    labels = draw(st.lists(label_name.filter(lambda name: name not in names), min_size=m, max_size=m, unique=True))
    if sparse if sparse is not None else draw(st.booleans()):
        X = sp.csr_matrix(np.where(X == 0, 0.0, X))
    return Dataset(X, Y, tuple(names), tuple(labels))


def assert_same(one, other, dense=False):
    assert one.feature_names == other.feature_names
    assert one.label_names == other.label_names
    assert one.X.dtype == np.float64
    if dense:
        other_X = other.X.toarray() if sp.issparse(other.X) else other.X
        assert one.X.tobytes() == other_X.tobytes() or same_bits(one.X, other_X)
    elif sp.issparse(other.X):
        assert sp.issparse(one.X)
        assert one.X.shape == other.X.shape
        np.testing.assert_array_equal(one.X.indptr, other.X.indptr)
        np.testing.assert_array_equal(one.X.indices, other.X.indices)
        assert same_bits(one.X.data, other.X.data)
    else:
        assert same_bits(one.X, other.X)
    assert one.Y.dtype == other.Y.dtype
    np.testing.assert_array_equal(one.Y, other.Y)


def same_bits(a, b):
    """Equal to the last bit, the sign of zero included; a NaN is a NaN."""
    gone = np.isnan(a)
    return a.shape == b.shape and np.array_equal(gone, np.isnan(b)) and a[~gone].tobytes() == b[~gone].tobytes()


@settings(deadline=None)
@given(data_sets(label_name=XML_NAME))
def test_mulan(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("mulan") / "data.arff"
    write_mulan(data, path)
    assert_same(read_mulan(path), data)
    assert_same(read(path), data)


@settings(deadline=None)
@given(data_sets(missing=False, sparse=True, least=1))
def test_svmlight(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("svmlight") / "data.svm"
    write_svmlight(data, path)
    assert_same(read_svmlight(path), data)
    assert_same(read(path), data)


@settings(deadline=None)
@given(data_sets(sparse=False), st.sampled_from([",", ";", "\t"]))
def test_csv(tmp_path_factory, data, separator):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    if any(name == "task:" or name.startswith("label:") for name in data.feature_names or ()):
        return
    write_csv(data, path, separator=separator)
    assert_same(read_csv(path, separator=separator), data)
    m = data.Y.shape[1]
    write_csv(data, path, separator=separator, prefix="is: ")
    assert_same(read_csv(path, separator=separator, prefix="is: "), data)
    names = read_csv(path, separator=separator, last=m).label_names
    assert names == tuple(f"is: {name}" for name in data.label_names or ())


@settings(deadline=None)
@given(data_sets(sparse=True))
def test_csv_makes_a_sparse_matrix_dense(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    write_csv(data, path)
    assert_same(read_csv(path), data, dense=True)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_csv_with_tasks(tmp_path_factory, data):
    n = data.draw(st.integers(1, 5))
    task = st.one_of(st.integers(-9, 9), st.text("ab,\" '", min_size=1, max_size=3).map(lambda text: f"t{text}t"))
    tasks = np.array(data.draw(st.lists(task, min_size=n, max_size=n)))
    Y = np.array(data.draw(st.lists(st.sampled_from([0, 1, np.nan]), min_size=n, max_size=n)))
    made = Dataset(np.arange(2.0 * n).reshape(n, 2), Y, ("a", "b"), ("y",), tasks)
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    write_csv(made, path)
    again = read(path)
    np.testing.assert_array_equal(again.tasks, tasks)
    np.testing.assert_array_equal(again.Y, Y)
    np.testing.assert_array_equal(again.X, made.X)
    assert again.label_names == ("y",)


@pytest.mark.parametrize("suffix", [".arff", ".svm", ".csv"])
def test_rows_without_labels_or_features_stay(tmp_path, suffix):
    X = sp.csr_matrix(np.array([[0, 0, 0], [0, 1.5, 0], [0, 0, 0], [0, 0, 0]]))
    Y = np.array([[0, 0], [0, 0], [1, 0], [0, 0]], dtype=np.int8)
    path = tmp_path / f"data{suffix}"
    write(Dataset(X, Y, ("a", "b", "c"), ("p", "q")), path)
    data = read(path)
    np.testing.assert_array_equal(data.Y, Y)
    np.testing.assert_array_equal(data.X.toarray() if sp.issparse(data.X) else data.X, X.toarray())


@pytest.mark.parametrize("suffix", [".arff", ".svm", ".csv"])
def test_explicit_zeros_and_duplicate_entries(tmp_path, suffix):
    X = sp.csr_matrix((np.array([1.0, 0.0, 2.0, 3.0]), np.array([2, 1, 0, 0]), np.array([0, 2, 4])), shape=(2, 3))
    path = tmp_path / f"data{suffix}"
    write(Dataset(X, sp.csr_matrix(np.array([[1], [0]]))), path)
    data = read(path)
    np.testing.assert_array_equal(data.X.toarray() if sp.issparse(data.X) else data.X, [[0, 0, 1], [5, 0, 0]])
    np.testing.assert_array_equal(data.Y, [[1], [0]])


@pytest.mark.parametrize("suffix", [".arff", ".csv"])
def test_names_where_there_are_none(tmp_path, suffix):
    write(Dataset(np.eye(2), np.eye(2)), tmp_path / f"data{suffix}")
    data = read(tmp_path / f"data{suffix}")
    assert data.feature_names == ("x0", "x1")
    assert data.label_names == ("label0", "label1")


def test_many_rows(tmp_path):
    # Rows are written in parts of 1024, and read in blocks of about 1 MB.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 30))
    sparse = sp.csr_matrix(np.where(X > 1, X, 0.0))
    Y = rng.integers(0, 2, size=(5000, 3)).astype(np.int8)
    for features, suffix in [(X, ".arff"), (sparse, ".arff"), (sparse, ".svm"), (X, ".csv.gz")]:
        made = Dataset(features, Y, tuple(f"x{j}" for j in range(30)), ("a", "b", "c"))
        write(made, tmp_path / f"data{suffix}")
        assert_same(read(tmp_path / f"data{suffix}"), made)
