"""Features of whole tables: the same from every library and every file, and after saving."""

import datetime
import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from smtl import SMTLClassifier
from smtl.model import load_model, save_model
from smtl.tables import TableEncoder
from smtl.tables.batches import open_batches
from smtl.tables.parts import CategoryPart, DatePart, NumberPart, StringsPart, TextPart
from smtl.tables.reading import read_table
from tests.seeds import new_rng

N = 160
READ_AS = {
    "price": "number",
    "floor": "number",
    "premium": "yes/no",
    "colour": "category",
    "code": "category",
    "town": "strings",
    "note": "text",
    "day": "date",
    "seen": "date",
    "ticket": "left out",
    "nothing": "left out",
}


def columns_of(rng, n=N):
    """Return columns of every kind, with holes."""
    words = np.array(["printer", "does", "not", "print", "again", "since", "Monday", "paper", "jam"])
    first = datetime.datetime(2020, 1, 1)
    days = [first + datetime.timedelta(minutes=int(k)) for k in rng.integers(0, 2_000_000, n)]
    price = rng.normal(5, 3, n).round(3)
    columns = {
        "price": [None if hole else value for value, hole in zip(price.tolist(), rng.random(n) < 0.2, strict=True)],
        "floor": rng.integers(0, 9, n).tolist(),
        "premium": [True, False, *rng.choice([True, False], n - 2).tolist()],
        "colour": ["red", "green", None, None, *rng.choice(["red", "green", "blue"], n - 4).tolist()],
        "code": ["007", "008", "019", *rng.choice(["007", "008", "019"], n - 3).tolist()],
        "town": [f"Town-{k % 70}" for k in rng.permutation(n)],
        "note": [" ".join(rng.choice(words, int(k))) + f" {row}" for row, k in enumerate(rng.integers(4, 9, n))],
        "day": [day.date() for day in days],
        "seen": days,
        "ticket": [f"T{k}" for k in rng.permutation(n)],
        "nothing": [None] * n,
    }
    columns["price"][:2] = [None, 1.5]
    return columns


@pytest.fixture
def columns():
    return columns_of(new_rng())


def dense(Z):
    return Z.toarray() if sp.issparse(Z) else np.asarray(Z)


def shuffled(rng, columns):
    return {name: columns[name] for name in rng.permutation(list(columns))}


def test_what_columns_are_read_as(columns):
    encoder = TableEncoder().fit(pd.DataFrame(columns))
    assert {entry["column"]: entry["read_as"] for entry in encoder.columns_} == READ_AS
    assert {entry["column"]: entry["why"] for entry in encoder.columns_}["nothing"] == "empty"
    kinds = [
        NumberPart,
        NumberPart,
        CategoryPart,
        CategoryPart,
        CategoryPart,
        StringsPart,
        TextPart,
        DatePart,
        DatePart,
    ]
    assert [type(part) for part in encoder.parts_] == kinds
    assert encoder.feature_names_in_.tolist() == list(columns)
    assert encoder.n_features_in_ == len(columns)
    assert encoder.sparse_output_


def test_features_are_those_of_the_parts_side_by_side(columns):
    table = pa.table(columns)
    encoder = TableEncoder()
    Z = encoder.fit_transform(table)
    assert sp.issparse(Z)
    names = encoder.get_feature_names_out()
    assert Z.shape == (N, len(names))
    assert sum(entry["features"] for entry in encoder.columns_) == len(names) == len(set(names))
    groups = encoder.groups()
    assert list(itertools.chain(*groups)) == list(range(len(names)))
    for part, group in zip(encoder.parts_, groups, strict=True):
        alone = type(part)(part.name) if part.name != "premium" else CategoryPart("premium", any_case=True)
        expected = dense(alone.fit(table.column(part.name)).transform(table.column(part.name)))
        np.testing.assert_array_equal(dense(Z)[:, group], expected)
        assert names[group].tolist() == alone.names


def test_features_are_dense_without_text(columns):
    few = {name: columns[name] for name in ("price", "colour", "day")}
    Z = TableEncoder().fit_transform(pa.table(few))
    assert isinstance(Z, np.ndarray)


def frames_of(columns):
    yield "pandas", pd.DataFrame(columns)
    yield "pandas with types of Arrow", pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)
    yield "Arrow", pa.table(columns)
    try:
        import polars
    except ImportError:
        return
    yield "Polars", polars.DataFrame(columns)


def test_every_library_and_order_of_columns_gives_the_same_features(columns):
    rng = new_rng()
    other = columns_of(rng, 50)
    reference = TableEncoder().fit(pa.table(columns))
    expected = dense(reference.transform(pa.table(other)))
    for name, frame in frames_of(columns):
        encoder = TableEncoder().fit(frame)
        assert encoder.columns_ == reference.columns_, name
        for there, given in frames_of(shuffled(rng, {**other, "new": [1] * 50})):
            np.testing.assert_allclose(dense(encoder.transform(given)), expected, atol=1e-12, err_msg=f"{name} {there}")


@pytest.mark.parametrize(("separator", "decimal"), [(",", "."), (";", ",")])
def test_files_give_the_same_features(tmp_path, columns, separator, decimal):
    path = tmp_path / "table.csv"
    pd.DataFrame(columns).to_csv(path, index=False, sep=separator, decimal=decimal)
    table = read_table(path)
    encoder = TableEncoder().fit(table)
    expected = dense(TableEncoder().fit(pa.table(columns)).transform(pa.table(columns)))
    assert {entry["column"]: entry["read_as"] for entry in encoder.columns_} == READ_AS
    np.testing.assert_allclose(dense(encoder.transform(table)), expected, atol=1e-12)
    assert encoder.number_columns() == ["price", "floor"]
    # In pieces, columns are text, but for those that are known to be numbers.
    for numbers in ((), encoder.number_columns()):
        with open_batches(path, numbers=numbers) as batches:
            pieces = [
                dense(encoder.transform(piece.slice(start, 40))) for piece in batches for start in range(0, N, 40)
            ]
        np.testing.assert_allclose(np.vstack(pieces), expected, atol=1e-12)


@pytest.mark.parametrize("name", [name for name, kind in READ_AS.items() if kind != "left out"])
def test_a_missing_column_is_a_column_of_missing_values(columns, name):
    encoder = TableEncoder().fit(pa.table(columns))
    table = pa.table(columns)
    holes = pa.nulls(N, table.column(name).type)
    expected = encoder.transform(table.set_column(table.column_names.index(name), name, holes))
    with pytest.warns(UserWarning, match=f"Columns are missing, and taken as missing values: '{name}'"):
        found = encoder.transform(table.drop_columns([name]))
    np.testing.assert_array_equal(dense(found), dense(expected))


def test_columns_that_were_left_out_may_be_missing(columns, recwarn):
    encoder = TableEncoder().fit(pa.table(columns))
    used = pa.table(columns).drop_columns(["ticket", "nothing"])
    np.testing.assert_array_equal(dense(encoder.transform(used)), dense(encoder.transform(pa.table(columns))))
    assert not [warning for warning in recwarn if "missing" in str(warning.message)]


def test_a_table_without_any_of_the_columns(columns):
    encoder = TableEncoder().fit(pa.table(columns))
    with pytest.raises(ValueError, match="X must have columns of the training data, such as 'price', got none"):
        encoder.transform(pa.table({"other": [1.0]}))


def test_new_levels_count_as_none_of_the_known(columns):
    encoder = TableEncoder().fit(pa.table(columns))
    table = {name: values[:6] for name, values in columns.items()}
    table["colour"] = ["mauve", "ochre", "mauve", "red", None, "teal"]
    group = next(g for g, part in zip(encoder.groups(), encoder.parts_, strict=True) if part.name == "colour")
    features = dense(encoder.transform(pa.table(table)))[:, group]
    np.testing.assert_array_equal(features.sum(axis=1), [0, 0, 0, 1, 1, 0])
    assert encoder.new_levels(pa.table(table)) == {"colour": {"mauve": 2, "ochre": 1, "teal": 1}}
    assert encoder.new_values(pd.DataFrame(table)) == [
        "column 'colour' has values that the training data did not have, in 4 rows: 'mauve', 'ochre', 'teal'; they "
        "count as none of the known values."
    ]
    assert encoder.new_values(pd.DataFrame(columns)) == []


@pytest.mark.parametrize("text", [True, False])
def test_features_before_they_are_scaled(columns, text):
    table = pa.table(columns)
    table = table if text else table.drop_columns(["note", "town"])
    encoder = TableEncoder().fit(table)
    center, scale = encoder.affine()
    raw = encoder.unscaled(table)
    assert sp.issparse(raw) == text
    np.testing.assert_allclose((dense(raw) - center) / scale, dense(encoder.transform(table)), atol=1e-9)
    # A number is what it was; a missing one is the mean of the others.
    price = pd.Series(columns["price"], dtype=float)
    np.testing.assert_allclose(dense(raw)[:, 0], price.fillna(price.mean()), atol=1e-12)
    year = encoder.get_feature_names_out().tolist().index("day year")
    np.testing.assert_allclose(dense(raw)[:, year], [day.year for day in columns["day"]], atol=1e-9)


def test_rows_that_are_made_up(columns):
    encoder = TableEncoder().fit(pa.table(columns))
    rows = encoder.made_up(9)
    assert rows.equals(encoder.made_up(9))
    assert rows.column_names == [part.name for part in encoder.parts_]
    features = dense(encoder.transform(rows))
    assert features.shape == (9, len(encoder.get_feature_names_out()))
    assert len(np.unique(features, axis=0)) == 9


def test_columns_are_what_the_user_says(columns):
    said = {"number": ["premium"], "category": ["floor"], "text": ["town"], "date": ["seen"], "ignore": "price"}
    encoder = TableEncoder(**said).fit(pa.table(columns))
    entries = {entry["column"]: entry for entry in encoder.columns_}
    told = {"premium": "number", "floor": "category", "town": "text", "seen": "date", "price": "left out"}
    assert {name: entries[name]["read_as"] for name in told} == told
    assert all(entries[name]["why"] == "as told" for name in told)
    assert encoder.get_feature_names_out()[:2].tolist() == ["floor=0", "floor=1"]
    # An id is used if one says so.
    names = TableEncoder(category=["ticket"]).fit(pa.table(columns)).get_feature_names_out().tolist()
    assert {f"ticket=T{k}" for k in range(N)} <= set(names)


@pytest.mark.parametrize("option", ["number", "category", "text", "date"])
def test_an_empty_column_is_left_out_whatever_one_says(columns, option):
    encoder = TableEncoder(**{option: ["nothing"]}).fit(pa.table(columns))
    assert encoder.columns_[-1] == {"column": "nothing", "read_as": "left out", "features": 0, "why": "empty"}


@pytest.mark.parametrize("option", ["number", "category", "text", "date", "ignore"])
def test_names_that_are_no_columns(columns, option):
    words = f"{option} must name columns of the table, got 'coluor' instead.*did you mean 'colour'"
    with pytest.raises(ValueError, match=words):
        TableEncoder(**{option: ["coluor"]}).fit(pa.table(columns))


def test_two_things_said_of_a_column(columns):
    with pytest.raises(ValueError, match="a column must be said to be one thing, got two for 'floor'"):
        TableEncoder(number=["floor"], text=["floor"]).fit(pa.table(columns))


@pytest.mark.parametrize(
    ("option", "name", "words"),
    [
        ("number", "colour", "column 'colour' cannot be taken as number: 'colour' must hold numbers"),
        ("date", "price", "column 'price' cannot be taken as date: 'price' must hold dates"),
        ("date", "colour", "column 'colour' cannot be taken as date: 'colour' must hold dates of one form"),
    ],
)
def test_what_a_column_cannot_be(columns, option, name, words):
    with pytest.raises(ValueError, match=words):
        TableEncoder(**{option: [name]}).fit(pa.table(columns))


def test_tables_that_have_nothing(columns):
    with pytest.raises(ValueError, match="X must have rows"):
        TableEncoder().fit(pa.table(columns).slice(0, 0))
    with pytest.raises(ValueError, match=r"at least one column that is a feature, got none .*'nothing': empty"):
        TableEncoder().fit(pa.table({"nothing": columns["nothing"]}))


def test_parameters_and_clones(columns):
    encoder = TableEncoder(number=["floor"], ignore=["note"])
    with pytest.raises(NotFittedError):
        encoder.transform(pa.table(columns))
    encoder.fit(pa.table(columns))
    assert encoder.get_params() == {"number": ["floor"], "category": (), "text": (), "date": (), "ignore": ["note"]}
    other = clone(encoder)
    assert other.get_params() == encoder.get_params()
    assert not hasattr(other, "parts_")
    np.testing.assert_array_equal(
        dense(other.fit_transform(pa.table(columns))), dense(encoder.transform(pa.table(columns)))
    )


def test_saved_encoders_give_the_same_features(tmp_path, columns):
    rng = new_rng()
    frame = pd.DataFrame(columns)
    Y = np.column_stack([frame["price"].fillna(5.0) > 5.0, frame["colour"] == "red"]).astype(int)
    Y[:5], Y[5:10] = 0, 1
    model = make_pipeline(TableEncoder(ignore=["seen"]), SMTLClassifier(tol=1e-2)).fit(frame, Y)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    other = pd.DataFrame(columns_of(rng, 60))
    before, after = model[0], loaded[0]
    assert after.columns_ == before.columns_
    assert after.get_params() == before.get_params()
    np.testing.assert_array_equal(dense(after.transform(other)), dense(before.transform(other)))
    np.testing.assert_array_equal(after.get_feature_names_out(), before.get_feature_names_out())
    np.testing.assert_array_equal(loaded.decision_function(other), model.decision_function(other))


def test_text_without_words_is_left_out():
    table = pa.table({"signs": ["!", "? !", "..."], "weight": [1.0, 2.0, 4.0]})
    encoder = TableEncoder(text=["signs"]).fit(table)
    assert encoder.columns_[0] == {"column": "signs", "read_as": "left out", "features": 0, "why": "has no words"}
    assert encoder.transform(table).shape == (3, 1)
    assert not encoder.sparse_output_


def test_truth_values_that_are_to_be_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("paid,weight\nTrue,1\nFalse,2\n,4\nTrue,3\n")
    table = read_table(tmp_path / "a.csv")
    encoder = TableEncoder(number=["paid"]).fit(table)
    with open_batches(tmp_path / "a.csv", numbers=encoder.number_columns()) as batches:
        np.testing.assert_array_equal(encoder.transform(next(iter(batches))), encoder.transform(table))
