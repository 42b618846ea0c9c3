"""Every form of labels against plain Python, cell by cell; errors with their words; forms from hostile files."""

import copy
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import fuzz_labels
from smtl.tables.labels import LabelForm, find_labels
from smtl.tables.values import MISSING
from tests.seeds import new_rng

NAN = float("nan")
YES_NO = [("1", "0"), ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("ja", "nein"), ("oui", "non")]
YES_NO += [("si", "no"), ("sí", "no"), ("on", "off"), ("1", "-1"), ("1.0", "0.0"), ("2", "1"), ("+1", "-1")]


def form_of(cells, **how):
    return find_labels(pa.table({"x": cells}), **(how or {"labels": ["x"]}))


def test_fuzzed_columns():
    rng = new_rng()
    outcomes = [fuzz_labels.case(rng) for _ in range(200)]
    # Most columns are read: a test of refusals only would be none.
    assert outcomes.count("refused") < 140


@pytest.mark.parametrize(("yes", "no"), YES_NO)
def test_known_words_in_any_case(yes, no):
    rng = new_rng()
    truth = np.append(rng.random(30) < 0.7, [True, False])
    ways = [str.upper, str.lower, str.title, lambda word: f"  {word} "]
    cells = [ways[rng.integers(4)](yes if y else no) for y in truth]
    form = form_of(cells)
    np.testing.assert_array_equal(form.read(pa.table({"x": cells}))[:, 0], truth)
    assert form.counts == (truth.sum(),)
    assert form.yes[0].casefold() == yes
    assert form.guessed == (("x",) if yes == "2" else ())


@pytest.mark.parametrize(
    ("cells", "yes", "no", "guessed"),
    [
        ([0, 1, 1], 1, 0, False),
        ([1, 2, 1, 2, 2], 2, 1, True),
        ([-1, 1], 1, -1, False),
        ([0.0, 1.0, None], 1.0, 0.0, False),
        ([0.0, 1.0, NAN], 1.0, 0.0, False),
        ([True, False, None], True, False, False),
        (["spam", "ham", "ham"], "spam", "ham", True),
        (["ham", "spam", "spam"], "ham", "spam", True),
        (["yes", "other", "other", "yes", "yes"], "yes", "other", False),
        (["no", "weak", "weak"], "weak", "no", False),
        (["0", "spam", "spam"], "spam", "0", False),
        (["f", "m", "m"], "f", "m", True),
        (["Y", "y", "Y", "N"], "Y", "N", False),
        (["NO", "NO"], "YES", "NO", False),
        (["Ja"], "Ja", "Nein", False),
        ([0, 0, None], 1, 0, False),
        ([1.0], 1.0, 0.0, False),
        ([True], True, False, False),
        ([False], True, False, False),
        ([10**18, 10**18 + 1], 10**18 + 1, 10**18, True),
        (["0.50", "0.5", "0.25"], "0.50", "0.25", True),
    ],
)
def test_which_value_is_yes(cells, yes, no, guessed):
    form = form_of(cells)
    assert (form.yes, form.no) == ((yes,), (no,))
    assert (type(form.yes[0]), type(form.no[0])) == (type(yes), type(no))
    assert form.guessed == (("x",) if guessed else ())


def test_of_two_unknown_words_the_rarer_is_yes():
    rng = new_rng()
    for _ in range(20):
        one, two = rng.choice(["red", "Blue", "日本", "m", "w"], 2, replace=False)
        n_one, n_two = rng.choice(50, 2, replace=False) + 1
        cells = rng.permutation([one] * n_one + [two] * n_two).tolist()
        form = form_of(cells)
        assert form.yes == (one if n_one < n_two else two,)
        assert form.counts == (min(n_one, n_two),)


def test_yes_as_the_user_says():
    assert form_of(["a", "b", "b"], labels=["x"], yes="B").yes == ("b",)
    assert form_of([0, 1], labels=["x"], yes="0").yes == (0,)
    assert form_of([True, False], labels=["x"], yes={"x": "false"}).yes == (False,)
    # A value that the table does not have takes the type of the other.
    for cells, yes, wanted in [(["n"], " J ", "J"), ([0], "7", 7), ([0.5], "1.5", 1.5), ([True], "false", False)]:
        form = form_of(cells, labels=["x"], yes=yes)
        assert form.yes == (wanted,)
        assert form.counts == (0,)
        assert type(form.yes[0]) is type(form.no[0])
    table = pa.table({"a": ["u", "v", "v"], "b": ["u", "v", "v"]})
    assert find_labels(table, labels=["a", "b"], yes={"a": "v"}).yes == ("v", "u")


def test_missing_words_are_not_known():
    cells = [*sorted(MISSING), None, "yes", "no"]
    table = pa.table({"x": cells})
    Y = form_of(cells).read(table)
    assert Y.dtype == np.float64
    np.testing.assert_array_equal(Y[:, 0], [*[NAN] * (len(MISSING) + 1), 1, 0])
    assert form_of(cells).missing == (len(MISSING) + 1,)
    assert form_of(cells, class_column="x").read(table).tolist() == [*[None] * (len(MISSING) + 1), "yes", "no"]


def test_columns_by_prefix_and_from_the_end():
    table = pa.table({"label:a": [0, 1], "age": [3, 4], "label:b": ["J", "N"], "c": [1, 0]})
    form = find_labels(table, prefix="label:")
    assert (form.columns, form.names) == (("label:a", "label:b"), ("a", "b"))
    np.testing.assert_array_equal(form.read(table), [[0, 1], [1, 0]])
    assert form.written(np.array([[1, 0]])) == {"label:a": [1], "label:b": ["N"]}
    assert find_labels(table, last=2).columns == ("label:b", "c")


@pytest.mark.parametrize(
    ("cells", "how", "wanted"),
    [
        (["a;b", "b", "", "NA", None], {}, [[1, 1], [0, 1], [0, 0], [NAN, NAN], [NAN, NAN]]),
        (["a ;  b", ";a;;a;", " ", "?"], {}, [[1, 1], [1, 0], [0, 0], [NAN, NAN]]),
        (["a|b", "b|"], {}, [[1, 1], [0, 1]]),
        (["a, b", "b"], {}, [[1, 1], [0, 1]]),
        (['["a", "b"]', "[]", "", "null"], {}, [[1, 1], [0, 0], [0, 0], [NAN, NAN]]),
        (["['a', 'b']", "[]", "['b',]"], {}, [[1, 1], [0, 0], [0, 1]]),
        ([["a", "b"], [], None, ["b", None, "b "]], {}, [[1, 1], [0, 0], [NAN, NAN], [0, 1]]),
        (["a b", "b"], {"tag_separator": " "}, [[1, 1], [0, 1]]),
        (["1,2", "2"], {}, [[1, 1], [0, 1]]),
        ([[1, 2], [2]], {}, [[1, 1], [0, 1]]),
        ([3, 4, 3], {}, [[1, 0], [0, 1], [1, 0]]),
        (["NA;DE", "NA;", "NA"], {}, [[1, 1], [0, 1], [NAN, NAN]]),
    ],
)
def test_tags(cells, how, wanted):
    form = form_of(cells, tags="x", **how)
    Y = form.read(pa.table({"x": cells}))
    np.testing.assert_array_equal(Y, wanted)
    assert Y.dtype == (np.int8 if np.isfinite(wanted).all() else np.float64)


def test_commas_inside_tags():
    cells = ["Ford, H.; Benz, C.", "Benz, C.", "Ford, H.; Benz, C.", "Ford, H."]
    assert form_of(cells, tags="x").names == ("Benz, C.", "Ford, H.")


def test_tags_that_end_like_the_separator():
    form = form_of(["x|", "y||z"], tags="x", tag_separator="||")
    assert form.names == ("x|", "y", "z")
    assert form.read(pa.table(form.written([[1, 1, 0], [1, 0, 1]]))).tolist() == [[1, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize("separator", [";", "|", ",", "; ", " | ", None, "json", "python", "list"])
def test_random_tags_and_the_way_back(separator):
    rng = new_rng()
    names = np.array(["a", "b c", "NA", "ü", "10", "9", "x'y", "["])
    Y = (rng.random((60, 8)) < 0.3).astype(np.int8)
    Y[0] = 1
    rows = [names[rng.permutation(np.flatnonzero(row))].tolist() for row in Y]
    write = {"json": json.dumps, "python": repr, "list": list}.get(separator, (separator or ";").join)
    cells = [write(row) for row in rows]
    # One tag "NA" and nothing else in a text is "not known".
    known = np.array([cell != "NA" for cell in cells])
    how = {"tag_separator": ";"} if separator is None else {}
    form = form_of(cells, tags="x", **how)
    order = [form.names.index(name) for name in names]
    found = form.read(pa.table({"x": cells}))[:, order]
    np.testing.assert_array_equal(found[known], Y[known])
    assert np.isnan(found[~known].astype(float)).all()
    # All answers come back, "NA" alone as well.
    answers = np.vstack([np.eye(8, dtype=np.int8), rng.integers(0, 2, (50, 8))])
    np.testing.assert_array_equal(form.read(fuzz_labels.table_of(form, answers)), answers)
    assert form.written(np.full((1, 8), NAN)) == {"x": [None]}


def test_columns_and_classes_and_their_way_back():
    rng = new_rng()
    table = pa.table({"a": ["Y", "N"], "b": [2, 1], "c": [True, False], "d": [1.0, 0.0], "e": ["x", "x"]})
    form = find_labels(table, labels=["a", "b", "c", "d"])
    answers = rng.integers(0, 2, (40, 4))
    written = form.written(answers)
    assert [type(cells[0]) for cells in written.values()] == [str, int, bool, float]
    np.testing.assert_array_equal(form.read(pa.table(written)), answers)
    with_holes = np.where(rng.random((40, 4)) < 0.2, np.nan, answers)
    with_holes[0] = np.nan
    np.testing.assert_array_equal(form.read(pa.table(form.written(with_holes))), with_holes)
    form = form_of(["b", None, "a", "c"], class_column="x")
    answers = rng.choice(["a", "b", "c"], 40)
    assert form.read(pa.table(form.written(answers))).tolist() == answers.tolist()
    assert form.written(np.array(["a", None], dtype=object)) == {"x": ["a", None]}


def test_classes_as_text():
    for cells, names in [
        ([10, 9, None], ("9", "10")),
        ([3.0, 0.5, NAN], ("0.5", "3")),
        ([True, False], ("false", "true")),
        ([" b", "B", "b"], ("B", "b")),
    ]:
        assert form_of(cells, class_column="x").names == names
    form = form_of(["1.0", "2.5", "x"], class_column="x")
    assert form.read(pa.table({"x": [1.0, 2.5]})).tolist() == ["1.0", "2.5"]


def test_files(tmp_path):
    """CSV and Parquet as pyarrow reads them: an empty cell of tags is none of them."""
    (tmp_path / "t.csv").write_text("n,topics,kind,late,paid\n1,a;b,1,true,1\n2,,2,false,\n3,NA,,,0\n")
    table = pa.csv.read_csv(tmp_path / "t.csv")
    np.testing.assert_array_equal(find_labels(table, tags="topics").read(table), [[1, 1], [0, 0], [NAN, NAN]])
    assert find_labels(table, class_column="kind").read(table).tolist() == ["1", "2", None]
    form = find_labels(table, last=2)
    np.testing.assert_array_equal(form.read(table), [[1, 1], [0, NAN], [NAN, 0]])
    pa.parquet.write_table(pa.table(form.written([[1, 0], [0, 1]])), tmp_path / "t.parquet")
    np.testing.assert_array_equal(form.read(pa.parquet.read_table(tmp_path / "t.parquet")), [[1, 0], [0, 1]])


def test_new_data():
    form = form_of(["Y", "N"], labels=["x"])
    with pytest.raises(ValueError, match=r"^'x', row 3: a label must be 'Y' or 'N', .* got 'maybe' instead"):
        form.read(pa.table({"x": ["y", None, "maybe"]}))
    tags = form_of(["a;b", "b"], tags="x")
    new = pa.table({"x": ["b;z;z", "z;a", "q"]})
    assert tags.read(new).tolist() == [[0, 1], [1, 0], [0, 0]]
    assert tags.unknown(new) == {"z": 2, "q": 1}
    classes = form_of([1, 2], class_column="x")
    new = pa.table({"x": [2, 7, None, 7, 8]})
    assert classes.read(new).tolist() == ["2", None, None, None, None]
    assert classes.unknown(new) == {"7": 2, "8": 1}
    with pytest.raises(ValueError, match=r"^'x', row 2: tags must be a list such as \[\"a\", \"b\"\], got 'a' instead"):
        form_of(['["a"]'], tags="x").read(pa.table({"x": ["[]", "a"]}))


def test_notes():
    cells = ["Y"] * 312 + ["N"] * 1674 + ["?"] * 14
    assert form_of(cells).notes() == ["'x': yes is 'Y' (312 of 2,000 rows), no is 'N'; not known in 14 rows"]
    guess = "; a guess, since it is the {} value: --yes says otherwise"
    assert form_of(["m", "w", "w"]).notes() == ["'x': yes is 'm' (1 of 3 rows), no is 'w'" + guess.format("rarer")]
    assert form_of([1, 2, 2]).notes() == ["'x': yes is 2 (2 of 3 rows), no is 1" + guess.format("larger")]
    tags = form_of(["a; b", "b", None], tags="x")
    assert tags.notes() == ["'x': 2 tags separated by '; ', 'b' (2 of 3 rows), 'a' (1); not known in 1 row"]
    classes = form_of(list("abcabcddefgg"), class_column="x")
    assert classes.notes() == ["'x': 7 classes, 'a' (2 of 12 rows), 'b' (2), 'c' (2), 'd' (2), 'g' (2), ..."]
    (note,) = form_of([f"n{i}" for i in range(30)], class_column="x").notes()
    assert note.endswith("; so many classes may be names of the rows and no labels")


@pytest.mark.parametrize(
    ("cells", "how", "words"),
    [
        (["a", "b", "c"] * 3, {"labels": ["x"]}, r"'x' must have two values, yes and no, got 3 \('a', 'b', 'c'\); .*"
         r"use --class-column x\."),
        (["a;b", "b;c", "a;c", "c"], {"labels": ["x"]}, r"got 4 .* use --tags x\."),
        (["yes", "no", "unknown"], {"labels": ["x"]}, "leave cells empty where it is not known"),
        ([0.1, 0.2, 0.3], {"labels": ["x"]}, "it looks like no label"),
        (["x", "x", None], {"labels": ["x"]}, "got 'x' only; .* an empty cell is 'not known'"),
        ([7, 7], {"labels": ["x"]}, "got 7 only"),
        ([None, None], {"labels": ["x"]}, "must have values, got empty cells only"),
        (["yes", "true"], {"labels": ["x"]}, "got 'yes', 'true' instead, which mean the same; .* --yes"),
        (["a", "b"], {"labels": ["x"], "yes": "c"}, "yes must be a value of 'x', got 'c' instead; .* 'a', 'b'"),
        (["a", "b"], {"labels": ["x"], "yes": {"z": "c"}}, "yes must be of label columns, got 'z'"),
        ([0], {"labels": ["x"], "yes": "J"}, "yes must be like the values of 'x', got 'J'"),
        ([[0], [1]], {"labels": ["x"]}, "got lists; use --tags x"),
        ([["a"], ["b"]], {"class_column": "x"}, "got lists; use --tags x"),
        (["a", "b"], {"labels": ["X "]}, "got 'X ' instead; did you mean 'x'"),
        (["a", "b"], {"labels": ["other"]}, "got 'other' instead; there are: 'x'"),
        (["a", "b"], {"labels": "x"}, "labels must be a list of names"),
        (["a", "b"], {"labels": ["x", "x"]}, "label columns must differ"),
        (["a", "b"], {"labels": []}, "labels must be a list of names"),
        (["a", "b"], {"last": 2}, "last must be from 1 to the number of columns, 1, got 2"),
        (["a", "b"], {"prefix": "label:"}, "must begin with 'label:', got none"),
        (["a", "b"], {}, "one of labels, prefix, last, class_column, tags, got none"),
        (["a", "b"], {"tags": "x", "last": 1}, "got last and tags"),
        (["a", "b"], {"class_column": "x", "tag_separator": ";"}, "tag_separator goes with tags"),
        (["a", "b"], {"tags": "x", "yes": "a"}, "yes goes with yes/no columns"),
        (["a", "b"], {"tags": "x", "tag_separator": ""}, "tag_separator must be one or more characters"),
        (["", None], {"tags": "x"}, "must have tags, got empty cells only"),
        (['["a"]', '["b"]', "c"], {"tags": "x"}, "must be lists in all cells if they are in most, got 'c'"),
        (["a", "a"], {"class_column": "x"}, "must have two classes or more, got 'a'"),
    ],
)  # fmt: skip
def test_errors(cells, how, words):
    with pytest.raises(ValueError, match=words):
        find_labels(pa.table({"x": cells}), **how)


def test_two_columns_of_one_name():
    table = pa.table([pa.array([0, 1]), pa.array([1, 0])], names=["x", "x"])
    for how in ({"labels": ["x"]}, {"class_column": "x"}, {"tags": "x"}, {"prefix": "x"}, {"last": 2}):
        with pytest.raises(ValueError, match="differ"):
            find_labels(table, **how)


def test_answers_that_are_none():
    form = form_of(["a;b"], tags="x")
    for answers in ([[0, 2]], [[0]], [0, 1]):
        with pytest.raises(ValueError, match=r"answers must be 0 or 1, of shape \(n_rows, 2\)"):
            form.written(answers)
    form = form_of(["a", "b"], class_column="x")
    with pytest.raises(ValueError, match="must be classes of the form, got 'c' instead; they are 'a', 'b'"):
        form.written(["a", "c"])
    with pytest.raises(ValueError, match="must be classes, of shape"):
        form.written([["a"]])


FORMS = [
    form_of(["Y", "N"]),
    form_of([0.0, 1.0]),
    form_of(["m", "w"]),
    form_of(["a; b", "c"], tags="x"),
    form_of([["a"]], tags="x"),
    form_of(["a", "b"], class_column="x"),
]


@pytest.mark.parametrize("form", FORMS, ids=[f"{form.kind}-{i}" for i, form in enumerate(FORMS)])
def test_forms_in_files(form):
    plain = json.loads(json.dumps(form.to_json(), allow_nan=False))
    assert LabelForm.from_json(plain) == form
    for key in plain:
        without = {other: value for other, value in plain.items() if other != key}
        with pytest.raises(ValueError, match="the form of labels must"):
            LabelForm.from_json(without)
        for wrong in (1.5, -1, True, {}, [[]], [None], ["\ud800"], [NAN], [{}], ["x", "x", "x"], 2**70, "zzz", "NA"):
            # Any text is a separator, and text may be a word for yes or no.
            if (key == "separator" and isinstance(wrong, str)) and form.cells == "text" and form.kind == "tags":
                continue
            hostile = copy.deepcopy(plain) | {key: wrong}
            with pytest.raises(ValueError, match="the form of labels must"):
                LabelForm.from_json(hostile)
    for hostile in (None, [], "x", 3, {**plain, "more": 1}):
        with pytest.raises(ValueError, match="the form of labels must"):
            LabelForm.from_json(hostile)


def test_hostile_words_and_names():
    columns, _, _, tags, _, classes = (form.to_json() for form in FORMS)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    for hostile in (
        {**columns, "yes": ["n"]},
        {**columns, "yes": ["NA"]},
        {**columns, "yes": [float("inf")]},
        {**columns, "yes": [[]]},
        {**columns, "columns": ["x", "y"]},
        {**columns, "rows": 1, "counts": [2]},
        {**columns, "guessed": ["y"]},
        {**columns, "separator": ";"},
        {**tags, "separator": None},
        {**tags, "separator": ""},
        {**tags, "names": ["a;", "b", "c"]},
        {**tags, "names": [" a", "b", "c"]},
        {**tags, "names": ["", "b", "c"]},
        {**tags, "yes": ["a"]},
        {**classes, "names": ["NA", "b"]},
        {**classes, "names": ["b"], "counts": [1]},
        {**classes, "names": deep},
        {**classes, "names": []},
    ):
        with pytest.raises(ValueError, match="the form of labels must"):
            LabelForm.from_json(hostile)
