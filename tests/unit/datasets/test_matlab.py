"""MATLAB files: what SciPy writes is read, and read as SciPy reads it."""

import io
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from smtl.datasets import DatasetError, format_of, read, read_matlab
from smtl.datasets.mat5 import read_cells


def cells(*contents):
    array = np.empty(len(contents), dtype=object)
    for t, content in enumerate(contents):
        array[t] = content
    return array


def make(folder, compress=False, **variables):
    path = folder / "data.mat"
    scipy.io.savemat(path, variables, do_compression=compress)
    return path


X = cells(np.array([[1.5, 2], [3, 4]]), np.array([[5, 6.0]]))


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("sign", [0, -1])
def test_tasks(tmp_path, compress, sign):
    y = cells(np.array([[1], [sign]]), np.array([[1]], dtype=np.uint8))
    path = make(tmp_path, compress, feature=X, label=y, note="text", other=np.eye(3), s={"a": 1})
    assert format_of(path) == "matlab"
    data = read(path)
    np.testing.assert_array_equal(data.X, [[1.5, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(data.Y, [1, 0, 1])
    np.testing.assert_array_equal(data.tasks, [0, 0, 1])
    assert data.Y.dtype == np.int8
    assert data.X.dtype == np.float64


def test_sparse_cells_and_missing_labels(tmp_path):
    y = cells(np.array([np.nan, 1]), sp.csc_matrix([[1]]))
    path = make(tmp_path, X=cells(sp.csc_matrix(X[0]), sp.csc_matrix(X[1])), Y=y)
    data = read_matlab(path)
    assert data.X.format == "csr"
    np.testing.assert_array_equal(data.X.toarray(), [[1.5, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(data.Y, [np.nan, 1, 1])


def test_names_choose(tmp_path):
    y, z = cells([[1], [0]], [[1]]), cells([[0], [0]], [[1]])
    path = make(tmp_path, X=X, y=y, z=z)
    with pytest.raises(DatasetError, match="got 2 pairs that fit among the cell arrays X, y, z; pass features= and"):
        read_matlab(path)
    np.testing.assert_array_equal(read_matlab(path, labels="z").Y, [0, 0, 1])
    np.testing.assert_array_equal(read_matlab(path, features="X", labels="y").Y, [1, 0, 1])
    with pytest.raises(DatasetError, match="'w' must be a cell array of the file, whose cell arrays are: X, y, z"):
        read_matlab(path, labels="w")


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"X": np.eye(2)}, "got 0 pairs that fit among the cell arrays none; pass"),
        ({"X": X, "y": cells([[1], [0]])}, "X and y must have a cell for each task, got 2 and 1 cells"),
        ({"X": X, "y": cells([[1], [2]], [[1]])}, r"labels in y\{1\} must be 0 and 1, or -1 and 1, got 2.0 instead"),
        ({"X": X, "y": cells([[1], [0]], [[0.5]])}, r"labels in y\{2\} must be 0 and 1, or -1 and 1, got 0.5"),
        ({"X": cells(np.eye(3)), "y": cells([[0], [1], [-1]])}, "got -1 and 0 instead"),
        ({"X": X, "y": cells([[1]], [[1]])}, r"y\{1\} must have 2 labels, one for each row, got the shape \(1, 1\)"),
        ({"X": X, "y": cells("ab", [[1]])}, r"y\{1\} must be a matrix of real numbers"),
        ({"X": X, "y": cells([[1j], [0]], [[1]])}, r"y\{1\} must be a matrix of real numbers"),
        ({"X": cells(np.eye(2), np.ones((1, 3))), "y": cells([[1], [0]], [[1]])}, r"X\{2\} must have 2 columns"),
    ],
)
def test_faults(tmp_path, variables, message):
    path = make(tmp_path, **variables)
    with pytest.raises(DatasetError, match=message):
        read_matlab(path, **({"features": "X", "labels": "y"} if "y" in variables else {}))


def test_other_versions(tmp_path):
    path = tmp_path / "data.mat"
    scipy.io.savemat(path, {"X": np.eye(2)}, format="4")
    with pytest.raises(DatasetError, match=r"must be a MATLAB file of version 5 to 7.2, got another file instead"):
        read_matlab(path)
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    with pytest.raises(DatasetError, match=r"got 7.3 \(HDF5\) instead; save it with -v7"):
        read_matlab(path)
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(200))
    with pytest.raises(DatasetError, match="got an HDF5 file instead"):
        read(path)


def test_a_bomb(tmp_path):
    path = make(tmp_path, X=X, y=cells([[1], [0]], [[1]]))
    bomb = zlib.compress(bytes(50_000_000))
    path.write_bytes(path.read_bytes() + (15).to_bytes(4, "little") + len(bomb).to_bytes(4, "little") + bomb)
    with pytest.raises(
        DatasetError, match="the decompressed file must have at most max_bytes=10,000,000 bytes, got more"
    ):
        read_matlab(path, max_bytes=10_000_000)


def test_a_sparse_matrix_of_many_rows_is_refused_before_it_is_made(tmp_path):
    huge = sp.csc_matrix(([1.0], ([0], [0])), shape=(2**31 - 1, 1))
    with pytest.raises(DatasetError, match="rows and labels must take at most max_bytes"):
        read_matlab(make(tmp_path, X=cells(huge), y=cells(huge)), features="X", labels="y")


def test_every_cut_is_an_error(tmp_path):
    path = make(tmp_path, X=X, y=cells([[1], [0]], [[1]]))
    content = path.read_bytes()
    for n in range(1, len(content)):
        path.write_bytes(content[:n])
        with pytest.raises(DatasetError):
            read_matlab(path)


NUMBERS = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int8, np.uint16, np.int32, np.int64, np.bool_]),
    hnp.array_shapes(min_dims=2, max_dims=3, min_side=0, max_side=4),
)


@settings(deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=4), st.booleans(), st.booleans())
def test_cells_against_scipy(tmp_path_factory, contents, compress, sparse):
    path = tmp_path_factory.mktemp("mat") / "data.mat"
    if sparse:
        contents = [sp.csc_matrix(c.astype(float)) if c.ndim == 2 and c.size else c for c in contents]
    scipy.io.savemat(path, {"c": cells(*contents), "other": "x"}, do_compression=compress)
    theirs = scipy.io.loadmat(io.BytesIO(path.read_bytes()))["c"].ravel()
    found = read_cells(path)
    assert list(found) == ["c"]
    for a, b in zip(found["c"], theirs, strict=True):
        assert sp.issparse(a) == sp.issparse(b)
        np.testing.assert_array_equal(a.toarray() if sp.issparse(a) else a, b.toarray() if sp.issparse(b) else b)
