"""What a column is taken for."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from smtl.tables.kinds import KINDS, MOST_LEVELS, kind_of
from smtl.tables.numbers import DATES, as_dates, as_numbers, dates_in, written_dates
from smtl.tables.types import trimmed
from smtl.tables.values import MISSING
from tests.seeds import new_rng

N = 120


def column(values, kind=None):
    return pa.chunked_array([pa.array(values, type=kind)])


def kind(values, name="x", kind=None):
    return kind_of(name, column(values, kind)).name


def with_holes(rng, values, words=(None,)):
    """Return values with a missing one here and there, never in the first twenty places."""
    places = rng.choice(np.arange(20, len(values)), 10, replace=False).tolist()
    return [words[k % len(words)] if k in places else value for k, value in enumerate(values)]


def moments(rng, n=N):
    """Return minutes of thirty years. The first is on a day that no month can be."""
    first = datetime.datetime(1995, 1, 28)
    return [first, *(first + datetime.timedelta(minutes=int(k)) for k in rng.integers(1, 15_000_000, n - 1))]


def test_numbers_are_numbers():
    rng = new_rng()
    assert kind(rng.standard_normal(N).tolist()) == "number"
    assert kind(with_holes(rng, rng.standard_normal(N).tolist())) == "number"
    assert kind([*rng.integers(0, 5, N).tolist(), 0, 1]) == "number"
    # All different, and whole, but far apart: prices, or places on a map.
    assert kind((rng.choice(10**6, N, replace=False) * 7).tolist()) == "number"
    assert kind([3, 1, 2]) == "number"  # too few rows to say that they are numbered


@pytest.mark.parametrize("kind_of_number", [pa.int64(), pa.float64()])
def test_row_numbers_are_left_out(kind_of_number):
    rng = new_rng()
    values = (rng.permutation(N) + int(rng.integers(1000))).tolist()
    assert kind_of("x", column(values, kind_of_number)) == ("left out", "row numbers")
    assert kind_of("x", column(with_holes(rng, values), kind_of_number)) == ("left out", "row numbers")


@pytest.mark.parametrize("name", ["__index_level_0__", "Unnamed: 0", "index", "Index", "row_number", "RowNr", "row_no"])
def test_names_that_row_numbers_get_from_what_wrote_the_file(name):
    values = new_rng().choice(10**6, N, replace=False).tolist()
    assert kind_of(name, column(values)) == ("left out", "row numbers")
    assert kind(values, f"{name} of the town") == "number"
    assert kind([0.5 + value for value in values], name) == "number"


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "customerId", "order.key", "Ticket Nr", "uuid", "OrderNo"])
def test_numbers_that_are_ids_by_their_name(name):
    rng = new_rng()
    values = rng.choice(10**9, N, replace=False).tolist()
    assert kind_of(name, column(values)) == ("left out", f"an id: {N} of {N} values differ")
    # The same values often: a shop's number says something about the row.
    assert kind(rng.choice(values[:10], N).tolist(), name) == "number"


@pytest.mark.parametrize("name", ["paid", "grid", "humid", "monkey", "piano", "width"])
def test_names_that_only_end_like_ids(name):
    assert kind(new_rng().choice(10**9, N, replace=False).tolist(), name) == "number"


def test_strings_that_are_ids():
    rng = new_rng()
    values = [f"{prefix}-{k}" for prefix, k in zip(rng.choice(["A", "B"], N), rng.permutation(N), strict=True)]
    assert kind_of("x", column(values)) == ("left out", f"an id: {N} of {N} values differ")
    assert kind_of("x", column(values[:10])) == ("category", "10 values")


@pytest.mark.parametrize("value", [1, 2.5, "red", True, datetime.date(2025, 12, 24)])
def test_constants_are_left_out(value):
    rng = new_rng()
    found = kind_of("x", column(with_holes(rng, [value] * N)))
    assert found.name == "left out"
    assert found.why.startswith(f"constant: {value!r}"[:40])


def test_text_of_one_value_and_blanks_or_missing_words_is_constant():
    assert kind_of("x", column(["red", " red", "NA", "red  "] * 30)) == ("left out", "constant: 'red'")


@pytest.mark.parametrize("values", [[None], ["NA"], sorted(MISSING), [" ", "", None]])
def test_empty_columns_are_left_out(values):
    assert kind_of("x", column(values * 20)) == ("left out", "empty")


@pytest.mark.parametrize(
    "kind_of_values", [pa.null(), pa.float64(), pa.int64(), pa.string(), pa.bool_(), pa.timestamp("us")]
)
def test_nulls_of_any_type_are_empty(kind_of_values):
    assert kind_of("x", column([None] * N, kind_of_values)) == ("left out", "empty")
    assert kind_of("x", pa.chunked_array([], kind_of_values)) == ("left out", "empty")


@pytest.mark.parametrize("form", DATES)
def test_dates_in_every_form(form):
    rng = new_rng()
    texts = with_holes(rng, [moment.strftime(form) for moment in moments(rng)], (None, "NA", " "))
    values = column(texts)
    assert kind_of("x", values) == ("date", f"written like {datetime.datetime(2025, 12, 31, 13, 30).strftime(form)}")
    read, found = as_dates(values)
    assert found == form
    expected = pd.to_datetime(pd.Series(texts).replace({"NA": None, " ": None}), format=form)
    pd.testing.assert_series_equal(
        pd.Series(read.to_pandas()).astype("datetime64[us]"), expected.astype("datetime64[us]"), check_names=False
    )


def test_day_and_month_are_told_apart_by_all_rows():
    early = ["03/04/2025", "05/06/2025"] * 60
    assert as_dates(column(early))[1] == "%m/%d/%Y"
    assert as_dates(column([*early, "28/01/2025"]))[1] == "%d/%m/%Y"  # past the rows that are tried first
    assert as_dates(column([*early, "28/28/2025"])) is None
    assert as_dates(column([*early, "soon"])) is None
    assert dates_in(column(["28/01/2025", "01/28/2025"]), "%d/%m/%Y").is_null().to_pylist() == [False, True]


@pytest.mark.parametrize("kind_of_date", [pa.date32(), pa.timestamp("us"), pa.timestamp("ns", "Europe/Berlin")])
def test_dates_of_a_type(kind_of_date):
    assert kind(moments(new_rng()), kind=kind_of_date) == "date"


@pytest.mark.parametrize("decimal", [".", ","])
def test_numbers_written_as_text(decimal):
    rng = new_rng()
    numbers = np.round(rng.standard_normal(N) * 100, 2)
    texts = with_holes(rng, [f" {value}".replace(".", decimal) for value in numbers], (None, "NA", "-"))
    assert kind_of("x", column(texts)) == ("number", "written as text")
    read = as_numbers(column(texts)).to_pylist()
    expected = [None if text in (None, "NA", "-") else value for text, value in zip(texts, numbers, strict=True)]
    assert read == expected


@pytest.mark.parametrize("odd", ["high", "1.2.3", "1,2.5", "0x10", "1_000", "007", "12 kg"])
def test_one_odd_value_makes_text_of_numbers(odd):
    numbers = [f"{value:.3f}" for value in new_rng().standard_normal(N)]
    assert as_numbers(column(numbers)) is not None
    assert as_numbers(column([*numbers, odd])) is None


def test_codes_with_leading_zeros_are_no_numbers():
    codes = [f"{k:05d}" for k in new_rng().integers(0, 10, N - 2)] + ["00001", "00002"]
    assert kind(codes) == "category"
    assert kind([code[-1] for code in codes]) == "number"
    assert as_numbers(column(["0", "0.5", "-0.25"])).to_pylist() == [0.0, 0.5, -0.25]


@pytest.mark.parametrize(
    "pair", [("yes", "no"), ("Y", "N"), ("True", "FALSE"), ("t", "f"), ("On", "off"), ("Ja", "Nein"), ("oui", "non")]
)
def test_yes_and_no(pair):
    rng = new_rng()
    values = [*pair, *rng.choice(pair, N).tolist()]
    assert kind(values) == "yes/no"
    assert kind(with_holes(rng, values)) == "yes/no"
    assert kind([*values, "perhaps"]) == "category"


def test_truth_values():
    assert kind([True, False, None] * 40) == "yes/no"


def test_few_levels_and_many():
    rng = new_rng()
    few = [f"level {k % MOST_LEVELS}" for k in rng.permutation(3 * MOST_LEVELS)]
    assert kind_of("x", column(few)) == ("category", f"{MOST_LEVELS} values")
    many = [f"level {k % (MOST_LEVELS + 1)}" for k in rng.permutation(3 * MOST_LEVELS + 3)]
    assert kind_of("x", column(many)) == ("strings", f"{MOST_LEVELS + 1} values")
    # Levels of many words are still levels where each has many rows.
    assert kind([f"a level of many words {k % 5}" for k in range(N)]) == "category"


def test_free_text():
    rng = new_rng()
    words = np.array(["printer", "does", "not", "print", "again", "since", "monday", "paper"])
    texts = [" ".join(rng.choice(words, int(k))) + f" {row}" for row, k in enumerate(rng.integers(4, 9, N))]
    found = kind_of("x", column(texts))
    assert found.name == "text"
    mean = np.mean([len(text.split()) for text in texts])
    assert found.why == f"{mean:.0f} words in the mean"
    assert kind(texts[:12]) == "text"  # few rows, none of them twice


@pytest.mark.parametrize(
    ("values", "kind_of_values"),
    [
        ([[1, 2], [3]], pa.list_(pa.int64())),
        ([{"a": 1}, {"a": 2}], pa.struct({"a": pa.int64()})),
        ([b"a", b"b"], pa.binary()),
        ([b"a", b"b"], pa.large_binary()),
        ([b"a", b"b"], pa.binary(1)),
        ([datetime.time(1), datetime.time(2)], pa.time64("us")),
        ([datetime.timedelta(1), datetime.timedelta(2)], pa.duration("us")),
    ],
)
def test_types_that_are_no_features(values, kind_of_values):
    found = kind_of("x", column(values * 20, kind_of_values))
    assert found == ("left out", f"values of type {kind_of_values}, which are no features")


def test_large_strings_are_strings():
    values = ["red", "green", "blue"] * 40
    assert kind_of("x", column(values, pa.large_string())) == kind_of("x", column(values))


def test_every_kind_has_a_name():
    rng = new_rng()
    columns = [
        rng.standard_normal(N).tolist(),
        ["yes", "no"] * 60,
        ["red", "green", "blue"] * 40,
        [f"PX-{k % 60}" for k in range(N)],
        [f"words of a text {k}" for k in range(N)],
        [moment.date() for moment in moments(rng)],
    ]
    assert tuple(map(kind, columns)) == KINDS


def test_missing_words():
    rng = new_rng()
    words = rng.permutation([*sorted(MISSING), "Nano", "none at all", "0"]).tolist()
    texts = [" " * int(k) + word + " " * int(k) for word, k in zip(words, rng.integers(0, 3, len(words)), strict=True)]
    assert trimmed(column(texts)).to_pylist() == [None if word in MISSING else word for word in words]


def test_times_with_a_zone_or_parts_of_a_second_are_dates():
    zoned = ["2025-01-31T10:00:00Z", "2025-02-01T10:30:00+02:00", None]
    values, form = as_dates(column(zoned))
    assert form == ""
    assert [value and value.hour for value in values.to_pylist()] == [10, 8, None]
    assert kind_of("seen", column(["2025-01-31 10:00:00.25", "2025-02-01 10:00:00.5"])).name == "date"


WRITTEN = {  # how a number is written, and what is said of it
    "{:,.2f}": "written as text, with commas between thousands",
    "${:,.2f}": "written as text, with $, with commas between thousands",
    "€ {:.2f}": "written as text, with €",
    "{:.2f} %": "written as text, with %",
    "{:.2f} USD": "written as text, with USD",
    "{:.2f}": "written as text",
}


@pytest.mark.parametrize("form", WRITTEN)
def test_numbers_as_people_write_them(form):
    """They come back to the digit, whatever the sign, the thousands and the decimal sign are."""
    rng = new_rng()
    values = np.round(rng.normal(scale=10.0 ** rng.integers(0, 7, N)), 2) + 0.0
    values[:2] = 1234567.25, -5.5
    texts = [form.format(value) for value in values]
    assert kind_of("x", column(texts)) == ("number", WRITTEN[form])
    np.testing.assert_array_equal(as_numbers(column(texts)).to_numpy(), values)
    swapped = [text.translate(str.maketrans(",.", ".,")) for text in texts]
    np.testing.assert_array_equal(as_numbers(column(swapped)).to_numpy(), values)
    if "," in form:
        for space in "\u00a0\u202f\u2019'":
            apart = [text.replace(",", space) for text in texts]
            np.testing.assert_array_equal(as_numbers(column(apart)).to_numpy(), values)


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1,234", "950"], [1234, 950]),
        (["1,234", "2,5"], [1.234, 2.5]),
        (["0,123", "1,234"], [0.123, 1.234]),
        (["-$5", "$3"], [-5, 3]),
        (["1.234", "2.5"], [1.234, 2.5]),
    ],
)
def test_commas_that_could_be_two_things(texts, numbers):
    assert as_numbers(column(texts)).to_pylist() == numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["$5", "€3"],
        ["1,23,456", "1"],
        ["12:30", "13:45"],
        ["10.0.0.1", "10.0.0.2"],
        ["555-1234", "555-1235"],
        ["12 345", "1 2"],
        ["5%", "12kg"],
        ["3/4", "1/2"],
        ["$007", "$008"],
        ["1,000.5", "2,5"],
    ],
)
def test_what_only_looks_like_numbers(texts):
    assert as_numbers(column(texts)) is None
    assert kind(texts * 60) != "number"


def test_a_few_words_among_numbers_are_missing_values():
    rng = new_rng()
    numbers = [f"{value:.3f}" for value in rng.normal(size=N)]
    places = rng.choice(N, 6, replace=False)
    said = with_words(numbers, places, ["unknown", "tbd"])
    assert kind_of("x", column(said)) == ("number", "written as text; 'tbd' and 'unknown' count as missing")
    # Words with digits may be codes, many words may be values, and so may words among few numbers.
    assert kind(with_words(numbers, places, ["12kg"])) != "number"
    assert kind(with_words(numbers, places, ["a", "b", "c", "d"])) != "number"
    assert kind(with_words(numbers, range(0, N, 5), ["unknown"])) != "number"
    assert kind([*rng.choice(["1", "2", "3"], N), "other"]) == "category"


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%d.%m.%Y %H:%M", "%b %d, %Y"])
def test_a_few_words_among_dates_are_missing_dates(form):
    rng = new_rng()
    times = moments(rng)
    dates = [moment.strftime(form) for moment in times]
    places = rng.choice(np.arange(1, N), int(rng.integers(2, N // 3)), replace=False)
    said = with_words(dates, places, ["tbd", "not yet"])
    found = kind_of("closed", column(said))
    assert found.name == "date"
    assert found.why.endswith("'not yet' and 'tbd' count as missing")
    read = written_dates(column(said))
    assert read.words == ("not yet", "tbd")
    assert np.flatnonzero(np.array(read.values.is_null())).tolist() == sorted(places.tolist())
    expected = [datetime.datetime.strptime(text, form) for k, text in enumerate(dates) if k not in places]
    assert read.values.drop_null().to_pylist() == expected
    # Words with digits may be codes, many words may be values, and so may a word beside one date or two.
    assert kind(with_words(dates, places, ["week 3"])) != "date"
    assert kind(with_words(dates, [1, 2, 3, 4], ["a", "b", "c", "d"])) != "date"
    assert kind(with_words(dates, range(N // 3, N), ["tbd"])) != "date"
    assert kind([*dates[:1] * 100, *dates[1:2] * 100, "never"]) == "category"


def with_words(texts, places, words):
    """Return texts with words in some places, in turn."""
    found = list(texts)
    for k, place in enumerate(places):
        found[place] = words[k % len(words)]
    return found


def test_ids_and_row_numbers_that_are_text():
    order = [f"{k:,}" for k in new_rng().permutation(N) + 5000]
    assert kind_of("x", column(order)) == ("left out", "row numbers")
    far = [f"{k:,}" for k in new_rng().choice(10**9, N, replace=False)]
    assert kind_of("order_id", column(far)) == ("left out", f"an id: {N} of {N} values differ")
    assert kind(far) == "number"
