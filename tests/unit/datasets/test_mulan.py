"""Mulan's ARFF and XML."""

import io

import numpy as np
import pytest
import scipy.io.arff
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from smtl.datasets import Dataset, DatasetError, read_mulan, write_mulan

XML = "<labels>\n<label name='y'/>\n</labels>"


def make(folder, text, xml=XML, encoding="utf-8"):
    path = folder / "data.arff"
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    path.with_suffix(".xml").write_text(xml, encoding="utf-8")
    return path


def header(*attributes):
    return "@relation r\n" + "".join(f"@attribute {attribute}\n" for attribute in attributes) + "@data\n"


A_Y = header("a numeric", "y {0,1}")  # four lines; the data begin on line 5


def test_labels_come_in_the_order_of_the_xml(tmp_path):
    path = make(
        tmp_path,
        header("q {0,1}", "a real", "p {0,1}", "b integer", "r {0,1}") + "1,0.5,0,7,1\n0,-1e-3,1,8,1\n",
        "<labels><label name='p'><label name='r'/></label><label name='q'/></labels>",
    )
    data = read_mulan(path)
    assert data.label_names == ("p", "r", "q")
    assert data.feature_names == ("a", "b")
    assert data.name == "data"
    np.testing.assert_array_equal(data.Y, [[0, 1, 1], [1, 1, 0]])
    np.testing.assert_array_equal(data.X, [[0.5, 7], [-1e-3, 8]])
    assert data.Y.dtype == np.int8
    assert data.X.dtype == np.float64


NOMINAL = header("size {small, 'very big', \"a,b\"}", "y {0,1}", "flag {1,0}") + "'very big',1,0\n'a,b',0,1\n?,1,?\n"


def test_nominal_features(tmp_path):
    path = make(tmp_path, NOMINAL)
    data = read_mulan(path)
    assert data.feature_names == ("size=small", "size=very big", "size=a,b", "flag")
    np.testing.assert_array_equal(data.X, [[0, 1, 0, 0], [0, 0, 1, 1], [np.nan] * 4])
    data = read_mulan(path, nominal="ordinal")
    assert data.feature_names == ("size", "flag")
    np.testing.assert_array_equal(data.X, [[1, 0], [2, 1], [np.nan, np.nan]])
    with pytest.raises(ValueError, match="nominal must be 'one-hot' or 'ordinal', got 'binary' instead"):
        read_mulan(path, nominal="binary")


def test_what_a_sparse_row_leaves_out_is_the_first_value(tmp_path):
    # Weka's rule, by which a left-out value of {1,0} is 1.
    rows = "{0 big,1 1}\n{}\n{ 3 2.5 , 2 0 }\n{0 ?,1 ?,3 ?}\n"
    path = make(tmp_path, header("size {small,big}", "y {0,1}", "flag {1,0}", "x real") + rows)
    data = read_mulan(path)
    assert sp.issparse(data.X)
    assert data.X.format == "csr"
    nan = np.nan
    np.testing.assert_array_equal(data.X.toarray(), [[0, 1, 1, 0], [1, 0, 1, 0], [1, 0, 0, 2.5], [nan, nan, 1, nan]])
    np.testing.assert_array_equal(data.Y, [[1], [0], [0], [nan]])
    ordinal = read_mulan(path, nominal="ordinal").X
    np.testing.assert_array_equal(ordinal.toarray(), [[1, 1, 0], [0, 1, 0], [0, 0, 2.5], [nan, 1, nan]])
    assert ordinal.nnz == 7


def test_missing_labels_make_Y_float(tmp_path):
    data = read_mulan(make(tmp_path, A_Y + "1,?\n?,1\n"))
    np.testing.assert_array_equal(data.Y, [[np.nan], [1]])
    np.testing.assert_array_equal(data.X, [[1], [np.nan]])


@pytest.mark.parametrize(
    "text",
    [
        A_Y + "1.5,0\n-2,1\n",
        A_Y + "1.5,0\n-2,1",
        (A_Y + "1.5,0\n-2,1\n").replace("\n", "\r\n"),
        "\ufeff" + A_Y + "1.5,0\n-2,1\n",
        A_Y + " 1.5 ,\t0 \n\n\t-2,1\t\n",
        A_Y + "1.5 0\n-2\t1\n",
        A_Y + "% note\n1.5,0 % why\n-2,1%\n",
        A_Y + "'1.5',\"0\"\n-2,1\n",
        A_Y + "1.5,0,{2}\n-2,1 {0.5}\n",
        A_Y.replace("@", "@").upper().replace("A NUMERIC", "a NUMERIC").replace("Y {", "y {") + "1.5,0\n-2,1\n",
        A_Y.replace("y {0,1}", "y{ 0 , 1 }  % label") + "+1.5,0\n-2.0e0,1\n",
        A_Y.replace("y {0,1}", "'y' {'0',\"1\"}") + "15E-1,0\n-2,1\n",
        A_Y.replace("y {0,1}", "y numeric") + "1.5,0.0\n-2,1\n",
        "% about\n\n" + A_Y.replace("@attribute a", "% more\n \t@Attribute\ta") + "1.5,0\n-2,1\n",
        A_Y.replace("@relation r", "@relation a name: with blanks") + "1.5,0\n-2,1\n",
    ],
)
def test_forms_of_the_same_file(tmp_path, text):
    data = read_mulan(make(tmp_path, text))
    np.testing.assert_array_equal(data.X, [[1.5], [-2]])
    np.testing.assert_array_equal(data.Y, [[0], [1]])
    assert data.feature_names == ("a",)


def test_names_with_quotes_commas_escapes_and_latin_1(tmp_path):
    text = header(r"'d\'e, \"f\"' numeric", "don't numeric", r'"g\\\n\u00e9" real', "na\xefve{0,1}", "y {0,1}")
    data = read_mulan(make(tmp_path, text + "1,2,3,1,0\n", encoding="latin-1"))
    assert data.feature_names == ('d\'e, "f"', "don't", "g\\\né", "naïve")
    np.testing.assert_array_equal(data.X, [[1, 2, 3, 1]])


def test_attributes_of_other_types_can_be_dropped(tmp_path):
    text = header("id string", "a numeric", "day date 'yyyy-MM-dd'", "y {0,1}") + "'x, 1',2,2001-02-03,1\n"
    path = make(tmp_path, text)
    message = r"data.arff, line 2, column 1: attribute 'id' must be numeric or nominal, got type string .* pass drop="
    with pytest.raises(DatasetError, match=message):
        read_mulan(path)
    assert read_mulan(path, drop=["id", "day"]).feature_names == ("a",)
    with pytest.raises(ValueError, match="drop must name attributes"):
        read_mulan(path, drop=["ID"])


FAULTS = [
    # dense rows
    (A_Y + "1,0\n1\n", 6, 2, "a row must have 2 values, got 1 instead"),
    (A_Y + "1,0\n1,0,1\n", 6, 5, "a row must have 2 values, got more"),
    (A_Y + "1,0\nx,0\n", 6, 1, "'a' must be a number, got 'x' instead"),
    (A_Y + "1,0\n\n% note\n 1_0,0\n", 8, 2, "'a' must be a number, got '1_0' instead"),
    (A_Y + "1,0\n1, 2\n", 6, 4, "'y' must be one of its values {0,1}, got '2' instead"),
    (A_Y + "1,0\n1,\n", 6, 3, "a value must stand here, got the end of the line instead"),
    (A_Y + "1,0\n,1\n", 6, 1, "a value must stand here, got ',' instead; a missing value is a question mark"),
    (A_Y + "1,0\n'1,0\n", 6, 1, 'a quote must be closed on its line, got "\'1,0" instead'),
    (A_Y + "'1'0\n", 5, 4, "a comma must stand here, got '0' instead"),
    (A_Y + "\u0661,0\n", 5, 1, "'a' must be a number"),
    (A_Y + "1,0,{x}\n", 5, 5, "a row must end here, got '{x}' instead"),
    (A_Y + "1,0,{2},1\n", 5, 9, "a row must have 2 values, got more"),
    (A_Y + "1,0\n{0 1}\n", 6, 1, "a row must have 2 values, got more"),
    (A_Y + "1,0\n1,'?'\n", 6, 3, "got '[?]' instead"),
    (A_Y.replace("y {0,1}", "y real") + "1,0\n1,2\n", 6, 3, "'y' must be 0 or 1, got '2' instead"),
    # sparse rows
    (A_Y + "{0 1}\n{2 1}\n", 6, 2, "an index must be from 0 to 1, got '2' instead"),
    (A_Y + "{0 1}\n{-1 1}\n", 6, 2, "an index must be from 0 to 1, got '-1' instead"),
    (A_Y + "{0 1}\n{0 1,0 1}\n", 6, 6, "indices of a row must differ, got 0 again"),
    (A_Y + "{0 1}\n{0 1, 1 3}\n", 6, 9, "'y' must be one of its values {0,1}, got '3' instead"),
    (A_Y + "{0 1}\n{0 1 1 1}\n", 6, 6, "a comma or a closing brace must stand here, got '1 1}' instead"),
    (A_Y + "{0 1}\n{0 1\n", 6, 5, "a comma or a closing brace must stand here, got '' instead"),
    (A_Y + "{0 1}\n{0}\n", 6, 3, "a value must stand here, got '}' instead"),
    (A_Y + "{0 1}\n1,1\n", 6, 1, "a row of a sparse file must begin with a brace, got '1,1' instead"),
    (A_Y + "{0 1} x\n", 5, 7, "a row must end here, got 'x' instead"),
    (A_Y + "{1 2 3, 0}\n", 5, 4, "got '2' instead"),  # four tokens in two entries, but not two and two
    # above the data
    ("1,2\n", 1, 1, "must begin with @relation, @attribute or %, got '1,2' instead"),
    (A_Y.replace("@data\n", ""), 3, None, "must have a line @data, got none; the file is cut short"),
    ("@relation r\n@data\n1\n", 2, 1, "@data must come behind at least one @attribute"),
    (A_Y, 4, None, "must have rows below @data, got none"),
    (header("a numeric", "y {0,1}", "a real") + "1,0,1\n", 4, 1, "must differ, got 'a' again, which line 2 has"),
    (header("a {b,c,b}", "y {0,1}") + "b,0\n", 2, 19, "values of 'a' must differ, got 'b' again"),
    (header("a {b,c", "y {0,1}") + "b,0\n", 2, 18, "the values of 'a' must end with a brace"),
    (header("a {}", "y {0,1}") + "b,0\n", 2, 15, "'a' must have at least one value"),
    (header("a number", "y {0,1}") + "b,0\n", 2, 14, "must be numeric, real, integer, string, .* got 'number' instead"),
    (header("a", "y {0,1}") + "b,0\n", 2, 13, "the attribute's type must stand here, got the end of the line"),
    (header("a real", "y {no,yes}") + "1,no\n", 3, 1, "label 'y' must have the values {0,1}, got 'no,yes' instead"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), FAULTS)
def test_the_place_of_the_first_fault(tmp_path, text, line, column, message):
    path = make(tmp_path, text)
    with pytest.raises(DatasetError, match=message.replace("{", r"\{")) as caught:
        read_mulan(path)
    assert (caught.value.path, caught.value.line, caught.value.column) == (path, line, column)
    assert str(caught.value).startswith(f"{path}, line {line}")


@pytest.mark.parametrize(("row", "fault"), [("0.25,0", "0.25,x"), ("{0 0.25}", "{0 x}")])
def test_a_fault_far_down(tmp_path, row, fault):
    # Blocks end at about 1 MB: the fault is in a later one.
    n = 250_000
    path = make(tmp_path, A_Y + f"{row}\n" * n + fault)
    with pytest.raises(DatasetError, match="got 'x' instead") as caught:
        read_mulan(path)
    assert caught.value.line == 5 + n


XML_FAULTS = [
    ("<labels><label name='y'/>", 1, 26, "must be well-formed XML, got a fault: no element found"),
    ("<labels>\n  <label name='z'/>\n</labels>", 2, 3, "label 'z' must be an attribute of data.arff, got none"),
    ("<labels>\n<label name='y'/><label name='y'/></labels>", 2, 18, "names of labels must differ, got 'y' again"),
    ("<labels><label/></labels>", 1, 9, "a <label> must have a name"),
    ("<labels></labels>", None, None, "the XML must name at least one label"),
    ("<html><label name='y'/></html>", 1, 1, "the XML's first element must be <labels>, got <html> instead"),
    ("label y", 1, 1, "must be well-formed XML"),
    ("<?xml version='1.0' encoding='no-such'?><labels/>", 1, 1, "must be well-formed XML"),
    ("<!DOCTYPE l [<!ENTITY a 'y'>]><labels><label name='&a;'/></labels>", None, None, "must not declare entities"),
    ("<!DOCTYPE l [<!ENTITY a SYSTEM 'x'>]><labels>&a;</labels>", None, None, "must not declare entities"),
    ("<!DOCTYPE l [<!ENTITY % a SYSTEM 'x'> %a;]><labels/>", None, None, "must not declare entities"),
]


@pytest.mark.parametrize(("xml", "line", "column", "message"), XML_FAULTS)
def test_the_xml(tmp_path, xml, line, column, message):
    path = make(tmp_path, A_Y + "1,0\n", xml)
    with pytest.raises(DatasetError, match=message) as caught:
        read_mulan(path)
    assert (caught.value.path, caught.value.line, caught.value.column) == (path.with_suffix(".xml"), line, column)


def test_entities_do_not_expand(tmp_path):
    levels = "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 10))
    xml = f"<!DOCTYPE l [<!ENTITY a0 'ha'>{levels}]><labels><label name='&a9;'/></labels>"
    with pytest.raises(DatasetError, match="must not declare entities or refer to other files, got EntitiesForbidden"):
        read_mulan(make(tmp_path, A_Y + "1,0\n", xml))


def test_where_the_xml_is_looked_for(tmp_path):
    data = tmp_path / "birds-train.arff"
    data.write_text(A_Y + "1,0\n")
    with pytest.raises(
        DatasetError, match=r"birds-train.xml or .*birds.xml, or the only one in the folder, got 0 there"
    ):
        read_mulan(data)
    (tmp_path / "other.xml").write_text(XML)
    assert read_mulan(data).label_names == ("y",)
    (tmp_path / "another.xml").write_text(XML)
    with pytest.raises(DatasetError, match="got 2 there; pass xml="):
        read_mulan(data)
    assert read_mulan(data, tmp_path / "other.xml").label_names == ("y",)
    (tmp_path / "birds.xml").write_text("<labels><label name='a'/></labels>")
    assert read_mulan(data).label_names == ("a",)
    assert read_mulan(data.rename(tmp_path / "birds_TEST.arff")).label_names == ("a",)


VALUE = st.one_of(st.floats(-1e308, 1e308), st.integers(-5, 5).map(float), st.none())


def numbers(rows):
    return [[np.nan if value is None else value for value in row] for row in rows]


@settings(deadline=None)
@given(st.lists(st.tuples(VALUE, VALUE, st.sampled_from("01?"), st.sampled_from(["p", "q r", "s'", None])), min_size=1))
def test_against_liac_arff(tmp_path_factory, rows):
    arff = pytest.importorskip("arff", reason="needs liac-arff")
    rows = [(*row[:2], None if row[2] == "?" else row[2], row[3]) for row in rows]
    attributes = [("a", "REAL"), ("b", "REAL"), ("y", ["0", "1"]), ("c", ["p", "q r", "s'"])]
    text = arff.dumps({"relation": "r", "attributes": attributes, "data": rows, "description": ""})
    path = make(tmp_path_factory.mktemp("arff"), text)
    data = read_mulan(path, nominal="ordinal")
    again = arff.loads(text)["data"]
    np.testing.assert_array_equal(data.X[:, :2], numbers([row[:2] for row in again]))
    codes = [[{"p": 0, "q r": 1, "s'": 2}.get(row[3], np.nan)] for row in again]
    np.testing.assert_array_equal(data.X[:, 2:], codes)
    np.testing.assert_array_equal(data.Y, [[np.nan if row[2] is None else int(row[2])] for row in again])


@settings(deadline=None)
@given(st.lists(st.tuples(VALUE, VALUE, st.sampled_from("01")), min_size=1))
def test_against_scipy(tmp_path_factory, rows):
    lines = ["".join(["?," if value is None else f"{value!r}," for value in row[:2]]) + row[2] for row in rows]
    text = header("a numeric", "b numeric", "y {0,1}") + "\n".join(lines) + "\n"
    table, _ = scipy.io.arff.loadarff(io.StringIO(text))
    data = read_mulan(make(tmp_path_factory.mktemp("arff"), text))
    np.testing.assert_array_equal(data.X, np.column_stack([table["a"], table["b"]]))
    np.testing.assert_array_equal(data.Y.ravel(), table["y"].astype(int))


@settings(deadline=None)
@given(st.data())
def test_the_fast_reader_agrees_with_the_exact_one(tmp_path_factory, data):
    """A comment sends all lines to the exact reader; what both say of a file, be it valid or not, is the same."""
    text = st.text("01 ,?.{}-e2x\t", max_size=12)
    row = st.one_of(text, st.sampled_from(["1,0,b", " 1, 0,c", "2.5,1,?", "?,?,b"]))
    entry = st.one_of(st.text("01 ,{}?2", max_size=6), st.sampled_from(["0 1.5", "1 1", " 2 c", "0 ?"]))
    sparse = st.lists(entry, max_size=3).map(lambda entries: f"{{{','.join(entries)}}}")
    lines = "\n".join(data.draw(st.lists(data.draw(st.sampled_from([row, sparse])), min_size=1, max_size=6)))
    folder = tmp_path_factory.mktemp("arff")
    found = []
    for comment in ("", "\n% slow"):
        try:
            result = read_mulan(make(folder, header("a real", "y {0,1}", "k {b,c}") + lines + comment))
            X = result.X.toarray() if sp.issparse(result.X) else result.X
            found.append((X.tobytes(), result.Y.tobytes(), sp.issparse(result.X)))
        except DatasetError as error:
            found.append(str(error))
    assert found[0] == found[1]


def test_what_cannot_be_written(tmp_path):
    path = tmp_path / "data.arff"
    X, Y = np.ones((1, 1)), np.ones((1, 1))
    with pytest.raises(ValueError, match="names of features and labels must differ to be written, got 'a' twice"):
        write_mulan(Dataset(X, Y, ("a",), ("a",)), path)
    with pytest.raises(ValueError, match=r"characters that XML can hold, got 'a\\x00' instead"):
        write_mulan(Dataset(X, Y, ("a",), ("a\0",)), path)
    with pytest.raises(ValueError, match="got tasks with rows of their own; write CSV"):
        write_mulan(Dataset(X, Y[:, 0], tasks=np.zeros(1)), path)
    with pytest.raises(ValueError, match="xml must be another file"):
        write_mulan(Dataset(X, Y), path, path)
    assert list(tmp_path.iterdir()) == []


def test_labels_that_would_not_fit(tmp_path):
    path = make(tmp_path, A_Y + "{0 1}\n" * 100)
    with pytest.raises(DatasetError, match="max_bytes"):
        read_mulan(path, max_bytes=99)


def test_one_hot_features_that_would_not_fit(tmp_path):
    values = ",".join(f"v{i}" for i in range(1000))
    path = make(tmp_path, header(f"k {{{values}}}", "y {0,1}") + "v1,0\n" * 1000)
    with pytest.raises(DatasetError, match="nominal features, one-hot, must take at most max_bytes=1,000,000 bytes"):
        read_mulan(path, max_bytes=1_000_000)
    assert read_mulan(path, max_bytes=1_000_000, nominal="ordinal").X.shape == (1000, 1)
