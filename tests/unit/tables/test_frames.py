"""Data frames of any library as tables of Arrow's."""

import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from smtl.tables.frames import as_table, is_frame
from tests.seeds import new_rng


def test_what_is_a_frame():
    frame = pd.DataFrame({"a": [1]})
    assert is_frame(frame)
    assert is_frame(pa.table({"a": [1]}))
    assert not is_frame(frame["a"])
    assert not is_frame(frame.to_numpy())
    assert not is_frame([[1]])


def test_pandas_without_its_index():
    rng = new_rng()
    numbers = rng.standard_normal(5)
    frame = pd.DataFrame(
        {"x": numbers, "w": pd.Categorical(["a", "b", None, "a", "b"]), 7: [True, False, True, True, False]},
        index=rng.permutation(5),
    )
    table = as_table(frame)
    assert table.column_names == ["x", "w", "7"]
    assert table.to_pydict() == {
        "x": numbers.tolist(),
        "w": ["a", "b", None, "a", "b"],
        "7": [True, False, True, True, False],
    }


def test_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "small": polars.Series([1, None], dtype=polars.UInt8),
            "price": polars.Series([decimal.Decimal("1.50"), None]),
            "level": polars.Series(["a", "b"], dtype=polars.Categorical),
            "x": [float("nan"), 2.0],
        }
    )
    table = as_table(frame)
    assert table.schema.types == [pa.int64(), pa.float64(), pa.string(), pa.float64()]
    assert table.to_pydict() == {"small": [1, None], "price": [1.5, None], "level": ["a", "b"], "x": [None, 2.0]}


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        (pa.int8(), pa.int64()),
        (pa.uint32(), pa.int64()),
        (pa.uint64(), pa.float64()),
        (pa.float16(), pa.float64()),
        (pa.float32(), pa.float64()),
        (pa.decimal128(10, 2), pa.float64()),
    ],
)
def test_numbers_of_any_size(kind, plain):
    values = new_rng().integers(0, 100, 10).tolist()
    table = as_table(pa.table({"x": pa.array(values).cast(pa.float32()).cast(kind)}))
    assert table.column("x").type == plain
    assert table.column("x").to_pylist() == values


def test_whole_numbers_beyond_those_of_a_double():
    table = as_table(pa.table({"hash": pa.array([2**63 + 1, 3], type=pa.uint64())}))
    assert table.column("hash").to_pylist() == [float(2**63 + 1), 3.0]


def test_nan_is_missing_wherever_it_comes_from():
    values = [1.5, float("nan"), 2.5]
    for frame in (pa.table({"x0": values}), pd.DataFrame({"x0": values}), np.array(values)[:, None]):
        assert as_table(frame).column("x0").to_pylist() == [1.5, None, 2.5]


def test_arrays_have_columns_by_number():
    X = new_rng().standard_normal((4, 3))
    table = as_table(X)
    assert table.column_names == ["x0", "x1", "x2"]
    np.testing.assert_array_equal(np.column_stack([column.to_numpy() for column in table.columns]), X)
    mixed = as_table(np.array([[1.5, "a"], [None, 2]], dtype=object))
    assert mixed.to_pydict() == {"x0": [1.5, None], "x1": ["a", "2"]}


def test_mixed_values_of_pandas_are_text():
    frame = pd.DataFrame({"x": [1, "a", None, 2.5]}, dtype=object)
    assert as_table(frame).column("x").to_pylist() == ["1", "a", None, "2.5"]


def test_names_must_differ():
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(ValueError, match="names of columns must differ, got 'a' twice; rename one"):
        as_table(twice)
    with pytest.raises(ValueError, match="names of columns must differ, got '1' twice; rename one"):
        as_table(pd.DataFrame([[1, 2]], columns=[1, "1"]))


@pytest.mark.parametrize("X", [[1, 2], 3.0, "abc"])
def test_what_is_no_table(X):
    with pytest.raises(ValueError, match="X must be a table"):
        as_table(X)


@pytest.mark.parametrize("names", [["a", "b", "a"], ["a", "b", "b"]])
def test_names_that_are_there_twice(names):
    twice = max(names, key=names.count)
    frame = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=names)
    with pytest.raises(ValueError, match=f"^names of columns must differ, got '{twice}' twice; rename one.$"):
        as_table(frame)
    with pytest.raises(ValueError, match=f"got '{twice}' twice; rename one"):
        as_table(pa.table([[1], [2], [3]], names=names))
