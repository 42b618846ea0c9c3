"""The extreme-classification text format."""

import numpy as np
import pytest
import scipy.sparse as sp

from smtl.datasets import DatasetError, format_of, read_extreme


def make(folder, text):
    path = folder / "train.txt"
    path.write_text(text)
    return path


def test_rows(tmp_path):
    path = make(tmp_path, "4 3 5\n0,4 0:1.5 2:2\n\n 1:0.5\n2\n")
    assert format_of(path) == "extreme"
    data = read_extreme(path)
    np.testing.assert_array_equal(data.X.toarray(), [[1.5, 0, 2], [0, 0, 0], [0, 0.5, 0], [0, 0, 0]])
    np.testing.assert_array_equal(data.Y, [[1, 0, 0, 0, 1], [0] * 5, [0] * 5, [0, 0, 1, 0, 0]])
    assert data.feature_names is None
    assert data.label_names is None
    assert sp.issparse(read_extreme(path, sparse_labels=True, max_bytes=2 * 10**10).Y)


def test_many_labels(tmp_path):
    path = make(tmp_path, "2 3 2000000000\n1999999999 0:1\n5 1:1\n")
    with pytest.raises(DatasetError, match=r"must take at most max_bytes=1,000,000,000 bytes, got 16,000,000,000"):
        read_extreme(path, max_bytes=10**9)
    Y = read_extreme(path, sparse_labels=True, max_bytes=2 * 10**10).Y
    assert Y.shape == (2, 2_000_000_000)
    np.testing.assert_array_equal(Y.indices, [1999999999, 5])


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("1 1:1\n", 1, 1, "the first line must be n d m, .* got '1 1:1' instead; .* use read_svmlight"),
        ("0 1 1\n", 1, 1, "the first line must be n d m"),
        ("99999999999 1 1\n", 1, 1, "the first line must be n d m"),
        ("1 99999999999 1\n0 0:1", 1, 1, "the first line must be n d m"),
        ("3 2 2\n0 0:1\n1 1:1\n", 3, None, "there must be 3 rows, as the header says, got 2 instead; the file is cut"),
        ("1 2 2\n0 0:1\n1 1:1\n", 3, None, "there must be 1 rows, as the header says, got more instead"),
        ("1 2 2", 1, None, "there must be 1 rows, as the header says, got 0 instead"),
        ("2 2 2\n0 0:1\n1 2:1\n", 3, 3, "an index must be from 0 to 1, got '2' instead"),
        ("2 2 2\n0 0:1\n2 1:1\n", 3, 1, "a label must be one of those asked for, from 0 to 1, got 2 instead"),
        ("1 2 0\n1 1:1\n", 2, 1, "a label must be one of those asked for, none, got 1 instead"),
    ],
)
def test_faults(tmp_path, text, line, column, message):
    with pytest.raises(DatasetError, match=message) as caught:
        read_extreme(make(tmp_path, text))
    assert (caught.value.line, caught.value.column) == (line, column)
