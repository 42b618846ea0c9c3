"""CSV."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtl.datasets import Dataset, DatasetError, read, read_csv, write_csv
from smtl.tables import cells as table_cells
from smtl.tables import inputs
from tests.seeds import new_rng

TABLE = "a,k,p,q\n1.5,x,1,0\n,y,0,1\n-2e3,x,true,False\n"


def make(folder, text, name="data.csv"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def small_blocks(monkeypatch):
    monkeypatch.setattr(inputs, "_HEAD", 100)
    monkeypatch.setattr(table_cells, "_SMALLEST", 64)
    monkeypatch.setattr(table_cells, "_LARGEST", 64)


@pytest.mark.parametrize(
    "options", [{"labels": ["p", "q"]}, {"labels": [2, -1]}, {"last": 2}, {"labels": ("p", 3), "categorical": ["k"]}]
)
def test_label_columns(tmp_path, options):
    data = read_csv(make(tmp_path, TABLE), **options)
    assert data.label_names == ("p", "q")
    assert data.feature_names == ("a", "k=x", "k=y")
    np.testing.assert_array_equal(data.X, [[1.5, 1, 0], [np.nan, 0, 1], [-2000, 1, 0]])
    np.testing.assert_array_equal(data.Y, [[1, 0], [0, 1], [1, 0]])
    assert data.Y.dtype == np.int8


def test_a_prefix_is_taken_off(tmp_path):
    path = make(tmp_path, TABLE.replace("p,q", "is p,is q"))
    assert read_csv(path, prefix="is ").label_names == ("p", "q")
    path = make(tmp_path, TABLE.replace("p,q", "label:p,label:q"))
    assert read(path).label_names == ("p", "q")


def test_the_order_of_labels_is_the_callers(tmp_path):
    data = read_csv(make(tmp_path, TABLE), labels=["q", "p"], nominal="ordinal")
    np.testing.assert_array_equal(data.Y, [[0, 1], [1, 0], [0, 1]])
    np.testing.assert_array_equal(data.X, [[1.5, 0], [np.nan, 1], [-2000, 0]])


@pytest.mark.parametrize(("classes", "order"), [("b,a,c", "abc"), ("10,9,2", ["2", "9", "10"]), ("1,x,0.5", "01x")])
def test_a_column_of_classes(tmp_path, classes, order):
    values = classes.split(",")
    path = make(tmp_path, "".join(f"{value},{i}\n" for i, value in enumerate([*values, values[0]])))
    data = read_csv(path, header=False, class_column=0)
    expected = sorted(values, key=float) if order == ["2", "9", "10"] else sorted(values)
    assert data.label_names == tuple(expected)
    assert data.feature_names is None
    np.testing.assert_array_equal(data.Y, [[int(name == value) for name in expected] for value in [*values, values[0]]])
    np.testing.assert_array_equal(data.X.ravel(), [0, 1, 2, 3])


def test_a_column_of_tasks(tmp_path):
    path = make(tmp_path, "x,y,site\n1,0,10\n2,1,9\n3,,10\n")
    data = read_csv(path, labels=["y"], tasks="site")
    np.testing.assert_array_equal(data.tasks, [10, 9, 10])
    np.testing.assert_array_equal(data.Y, [0, 1, np.nan])
    assert data.X.shape == (3, 1)
    with pytest.raises(DatasetError, match="there must be one label column where a column says the task, got 2"):
        read_csv(path, labels=["x", "y"], tasks="site")
    with pytest.raises(DatasetError, match="line 3, column 5: 'site' must be a task, got '' instead"):
        read_csv(make(tmp_path, "x,y,site\n1,0,a\n2,1,\n"), labels=["y"], tasks="site")


@pytest.mark.parametrize(
    "text",
    [
        TABLE.replace("\n", "\r\n"),
        "\ufeff" + TABLE,
        TABLE + "\n\n",
        TABLE.removesuffix("\n"),
        TABLE.replace(",", ", "),
        TABLE.replace("x", '"x"').replace("1.5", '"1.5"').replace("a,k", '"a","k"'),
        TABLE.replace("\n,", "\n?,").replace("-2e3", "-2000.0"),
        TABLE.replace("\n,", "\nNA,"),
    ],
)
def test_forms_of_the_same_file(tmp_path, text):
    data = read_csv(make(tmp_path, text), last=2)
    assert data.feature_names == ("a", "k=x", "k=y")
    np.testing.assert_array_equal(data.X, [[1.5, 1, 0], [np.nan, 0, 1], [-2000, 1, 0]])
    np.testing.assert_array_equal(data.Y, [[1, 0], [0, 1], [1, 0]])


def test_quoted_commas_newlines_and_latin_1(tmp_path):
    text = 'n\xefve,"b, ""c""\nd",label:y\n1,"x,\ny",0\n2,z,1\n'
    data = read_csv(make(tmp_path, text.encode("latin-1")))
    assert data.feature_names == ("nïve", 'b, "c"\nd=x,\ny', 'b, "c"\nd=z')
    np.testing.assert_array_equal(data.X, [[1, 1, 0], [2, 0, 1]])


def test_separators_and_lines_to_skip(tmp_path):
    path = make(tmp_path, ";; about\n\na;label:b\n1;0\n")
    assert read_csv(path, separator=";", skip=2).X.tolist() == [[1]]
    assert read(make(tmp_path, "a\tlabel:b\n1\t0\n", "data.tsv")).X.tolist() == [[1]]


def test_layouts_are_found(tmp_path):
    path = make(tmp_path, "größe;k;label:b\n1,5;x,y;0\n-2;z;1\n".encode("cp1252"))
    data = read_csv(path)
    assert data.feature_names == ("größe", "k=x,y", "k=z")
    np.testing.assert_array_equal(data.X, [[1.5, 1, 0], [-2, 0, 1]])
    assert read_csv(path, encoding="latin-1", decimal=".", categorical=[0]).feature_names[0] == "größe=-2"
    path = make(tmp_path, "größe;label:b\n1.5;0\n-2,0;1\n".encode("cp1252"))
    with pytest.raises(DatasetError, match="line 3, column 1: 'größe' must be a number, got '-2,0' instead"):
        read_csv(path, decimal=".")


def test_nominal_columns_that_begin_with_a_number(tmp_path):
    path = make(tmp_path, "k,label:y\n1,0\nA,1\n")
    with pytest.raises(DatasetError, match=r"line 3, column 1: 'k' must be a number, got 'A' instead; .*categorical="):
        read_csv(path)
    assert read_csv(path, categorical=["k"]).feature_names == ("k=1", "k=A")


@pytest.mark.parametrize("text", ["NULL", "null", "None", "N/A", "n/a", "na", "nan", "NaN", "#N/A", "-", " NULL "])
def test_what_stands_for_a_missing_value(tmp_path, text):
    path = make(tmp_path, f"a,k,label:y\n{text},{text},0\n2,p,{text}\n{text},q,1\n")
    data = read_csv(path)
    assert data.feature_names == ("a", "k=p", "k=q")
    nan = np.nan
    np.testing.assert_array_equal(data.X, [[nan, nan, nan], [2, 1, 0], [nan, 0, 1]])
    np.testing.assert_array_equal(data.Y, [[0], [nan], [1]])
    # Classes and tasks are called what users like.
    assert text.strip() in read_csv(make(tmp_path, f"a,c\n1,{text}\n2,x\n"), class_column="c").label_names
    assert text.strip() in read_csv(make(tmp_path, f"a,task:,label:y\n1,{text},1\n2,x,0\n")).tasks


@pytest.mark.parametrize("n_missing", [0, 100])
def test_numbers_below_something_else_are_no_nominal_column(tmp_path, monkeypatch, n_missing):
    small_blocks(monkeypatch)
    rng = new_rng()
    values = ["oops", *(f"{value:.3f}" for value in rng.normal(size=300)), "oops"]
    path = make(tmp_path, "b,k,label:y\n" + "1,,0\n" * n_missing + "".join(f"1,{cell},0\n" for cell in values))
    line = 2 + n_missing
    with pytest.raises(DatasetError, match=rf"line {line}, column 3: 'k' must be a number, got 'oops' .*categorical="):
        read_csv(path)
    assert "k=oops" in read_csv(path, categorical=["k"]).feature_names
    assert read_csv(path, ignore=["k"]).feature_names == ("b",)


def test_nominal_columns_with_some_numbers(tmp_path):
    path = make(tmp_path, "k,label:y\nS,0\n38,1\nM,1\n40,0\nL,0\n")
    assert read_csv(path).feature_names == ("k=38", "k=40", "k=L", "k=M", "k=S")


def test_columns_to_leave_out(tmp_path):
    path = make(tmp_path, "a,id,b,label:y\n1,7,2,0\n3,r,4,1\n")
    data = read_csv(path, ignore=["id"])
    assert data.feature_names == ("a", "b")
    np.testing.assert_array_equal(data.X, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(read_csv(path, ignore=[0, 1]).X, [[2], [4]])
    with pytest.raises(DatasetError, match="ignore must be one of the columns, got 'c' instead; there are: a, id, b"):
        read_csv(path, ignore=["c"])
    with pytest.raises(DatasetError, match="ignore must name features, got 'label:y' instead, which is a label"):
        read_csv(path, ignore=["label:y"])


def test_a_late_first_value_decides(tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    n = 300  # rows of several batches
    path = make(tmp_path, "k,label:y\n" + ",0\n" * n + "b,1\na,0\n")
    data = read_csv(path)
    assert data.feature_names == ("k=a", "k=b")
    assert np.isnan(data.X[:n]).all()
    np.testing.assert_array_equal(data.X[n:], [[0, 1], [1, 0]])


FAULTS = [
    ("a,label:y\n1,0\n1\n", 3, 2, "a row must have 2 cells, as the first has, got 1 instead"),
    ("a,label:y\n1,0\n1,0,5\n", 3, 5, "a row must have 2 cells, as the first has, got 3 instead"),
    ("a,label:y\n1,0\nx,0\n1,1\n", 3, 1, "'a' must be a number, got 'x' instead"),
    ("a,label:y\n1,0\nx,0\n1\n", 4, 2, "a row must have 2 cells"),  # the shape of all rows comes before their cells
    ("a,label:y\n1,0\n 1_0,0\n", 3, 2, "'a' must be a number, got '1_0' instead"),
    ("a,label:y\n1,0\n1,2\n", 3, 3, "'label:y' must be 0 or 1, got '2' instead"),
    ("a,label:y\n1,0\n1,no\nx,1\n", 3, 3, "'label:y' must be 0 or 1, got 'no' instead"),
    ('a,b,label:y\n1,"p\nq",0\n2,"p, q",7\n', 4, 10, "got '7' instead"),
    ('a,b,label:y\n1,"p\nq",5\n', 3, 4, "got '5' instead"),
    ('a,label:y\n1,"0\n1,1\n', 2, 3, "a quote that begins a cell must end, got the end of the file before"),
    ('a,label:y\n1,0\n1,"0"x\n', 3, 3, "a closing quote must be followed by the end of the cell, got more text"),
    ("a,label:y\n", 1, None, "must have rows below the header, got none"),
    ("\n\n", 2, None, "must have rows, got none"),
    ("a,a,label:y\n1,2,0\n", 1, None, "names of columns must differ, got 'a' twice"),
    ("a,y\n1,0\n", 1, None, "label columns must be given, got none: no column begins with 'label:'; pass labels="),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), FAULTS)
def test_the_place_of_the_first_fault(tmp_path, text, line, column, message):
    path = make(tmp_path, text)
    with pytest.raises(DatasetError, match=message) as caught:
        read_csv(path)
    assert (caught.value.path, caught.value.line, caught.value.column) == (path, line, column)


def test_a_fault_far_down(tmp_path):
    n = 200_000
    with pytest.raises(DatasetError, match="got 'x' instead") as caught:
        read_csv(make(tmp_path, "a,b,label:y\n" + "0.5,0.25,1\n" * n + "0.5,x,1\n"))
    assert (caught.value.line, caught.value.column) == (n + 2, 5)


def test_a_choice_of_columns_that_is_wrong(tmp_path):
    path = make(tmp_path, TABLE)
    with pytest.raises(ValueError, match="one of labels, prefix, last and class_column, got more than one"):
        read_csv(path, last=1, labels=["p"])
    with pytest.raises(DatasetError, match="labels must be one of the columns, got 'z' instead; there are: a, k, p, q"):
        read_csv(path, labels=["z"])
    with pytest.raises(DatasetError, match="last must be from 1 to the number of columns, 4, got 5 instead"):
        read_csv(path, last=5)
    with pytest.raises(DatasetError, match="got one of them twice"):
        read_csv(path, labels=["p", 2])
    with pytest.raises(DatasetError, match="class_column must be one of the columns, got 9 instead"):
        read_csv(path, class_column=9)
    with pytest.raises(DatasetError, match="categorical must be one of the columns, got 'K' instead"):
        read_csv(path, last=1, categorical=["K"])
    with pytest.raises(DatasetError, match="line 3: label columns must be given"):
        read_csv(make(tmp_path, "about\n\n" + TABLE), skip=2)


def test_values_that_would_not_fit(tmp_path):
    path = make(tmp_path, "k,label:y\n" + "".join(f"v{i},0\n" for i in range(1000)))
    with pytest.raises(DatasetError, match="nominal features, one-hot, must take at most max_bytes=1,000,000 bytes"):
        read_csv(path, max_bytes=1_000_000)


@settings(deadline=None)
@given(st.lists(st.tuples(*2 * [st.floats(allow_infinity=False)], st.integers(0, 1)), min_size=1))
def test_what_pandas_writes(tmp_path_factory, rows):
    table = pd.DataFrame(rows, columns=["a", "b", "y"])
    file = io.StringIO()
    table.to_csv(file, index=False)
    data = read_csv(make(tmp_path_factory.mktemp("csv"), file.getvalue()), labels=["y"])
    np.testing.assert_array_equal(data.X, table[["a", "b"]].to_numpy(float))
    np.testing.assert_array_equal(data.Y, table[["y"]])


def test_what_cannot_be_written(tmp_path):
    path = tmp_path / "data.csv"
    X, Y = np.ones((1, 2)), np.ones((1, 1))
    with pytest.raises(ValueError, match="names of columns must differ to be written, got 'a' twice"):
        write_csv(Dataset(X, Y, ("a", "a"), ("b",)), path)
    with pytest.raises(ValueError, match="nor begin with 'label:', got 'label:a' instead; rename it"):
        write_csv(Dataset(X, Y, ("label:a", "b"), ("b",)), path)
    write_csv(Dataset(X, Y, ("label:a", "b"), ("b",)), path, prefix="is:")
    assert read_csv(path, prefix="is:").feature_names == ("label:a", "b")
