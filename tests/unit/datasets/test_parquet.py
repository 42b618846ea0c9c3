"""Parquet."""

import pickle
import sys

import numpy as np
import pytest

from smtl.datasets import DatasetError, format_of, read, read_parquet

pa = pytest.importorskip("pyarrow", reason="needs pyarrow", exc_type=ImportError)
pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")

COLUMNS = {
    "a": [0.5, None, 2.0],
    "i": pa.array([1, 2, None], pa.int16()),
    "k": pa.array(["x", "y", None]).dictionary_encode(),
    "f": [True, False, None],
    "p": [1, 0, 1],
    "q": [True, False, None],
}


def make(folder, columns=COLUMNS, **options):
    path = folder / "data.parquet"
    pq.write_table(pa.table(columns), path, **options)
    return path


@pytest.mark.parametrize("options", [{"labels": ["p", "q"]}, {"last": 2}, {"labels": [-2, "q"]}])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_columns(tmp_path, options, compression):
    path = make(tmp_path, compression=compression, row_group_size=2)
    assert format_of(path) == "parquet"
    data = read(path, **options)
    nan = np.nan
    assert data.feature_names == ("a", "i", "k=x", "k=y", "f")
    np.testing.assert_array_equal(data.X, [[0.5, 1, 1, 0, 1], [nan, 2, 0, 1, 0], [2, nan, nan, nan, nan]])
    np.testing.assert_array_equal(data.Y, [[1, 1], [0, 0], [1, nan]])
    assert data.label_names == ("p", "q")


def test_columns_to_leave_out(tmp_path):
    path = make(tmp_path, {"a": [1.0, 2.0], "notes": [["x"], []], "y": [0, 1]})
    data = read_parquet(path, labels=["y"], ignore=["notes"])
    assert data.feature_names == ("a",)
    np.testing.assert_array_equal(data.X, [[1], [2]])
    with pytest.raises(DatasetError, match="ignore must name features, got 'y' instead, which is a label"):
        read_parquet(path, labels=["y"], ignore=["y"])


def test_prefix_classes_and_tasks(tmp_path):
    path = make(tmp_path, {"x": [1, 2], "label:y": [0, 1], "site": ["b", "a"]})
    data = read_parquet(path, tasks="site")
    assert data.label_names == ("y",)
    assert data.tasks.tolist() == ["b", "a"]
    assert data.Y.tolist() == [0, 1]
    data = read_parquet(make(tmp_path, {"x": [1, 2, 3], "c": [10, 9, 10]}), class_column="c")
    assert data.label_names == ("9", "10")
    np.testing.assert_array_equal(data.Y, [[0, 1], [1, 0], [0, 1]])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [[1], [2]], "label:y": [0, 1]}, "column 'x' must be numeric or strings, got type list"),
        ({"x": [b"a", b"b"], "label:y": [0, 1]}, "column 'x' must be numeric or strings, got type binary"),
        ({"x": [{"a": 1}] * 2, "label:y": [0, 1]}, "column 'x' must be numeric or strings, got type struct"),
        ({"x": [1, 2], "label:y": [0, 2]}, "row 2, column 'label:y': must be 0 or 1, got 2 instead"),
        ({"x": [1, 2], "label:y": ["no", "yes"]}, "row 1, column 'label:y': must be 0 or 1, got 'no' instead"),
        ({"x": [1, 2], "label:y": [0, 1], "task:": ["a", None]}, "row 2, column 'task:': must be a task, got None"),
        ({"x": [1, 2]}, "label columns must be given, got none"),
        ({"x": pa.array([], pa.int8()), "label:y": pa.array([], pa.int8())}, "must have rows, got none"),
    ],
)
def test_faults(tmp_path, columns, message):
    with pytest.raises(DatasetError, match=message):
        read_parquet(make(tmp_path, columns))


def test_a_column_of_pickles_stays_closed(tmp_path):
    class Trap:
        def __reduce__(self):
            return sys.exit, ("unpickled",)

    with pytest.raises(DatasetError, match="got type binary"):
        read_parquet(make(tmp_path, {"x": [pickle.dumps(Trap())], "label:y": [1]}))


def test_a_file_that_is_cut_short_or_another(tmp_path):
    path = make(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    with pytest.raises(DatasetError, match="must be a whole Parquet file, got a damaged one"):
        read_parquet(path, last=1)
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(DatasetError, match="must be a Parquet file, which begins with PAR1, got another file"):
        read_parquet(path, last=1)


def test_a_limit(tmp_path):
    path = make(tmp_path, {"x": np.zeros(100_000), "label:y": np.zeros(100_000, dtype=np.int8)})
    with pytest.raises(DatasetError, match="the table must take at most max_bytes=1,000,000 bytes, got 1,600,000"):
        read_parquet(path, max_bytes=1_000_000)
    assert read_parquet(path).X.shape == (100_000, 1)
