"""Features of one column, against scikit-learn's transformers and pandas' dates."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from smtl.tables.numbers import DATES
from smtl.tables.parts import LEAST_ROWS, CategoryPart, DatePart, NumberPart, StringsPart, TextPart, part_of
from tests.seeds import new_rng

N = 150
WORDS = ["printer", "paper", "Monday", "jam", "the", "a", "again", "straße", "x1", "can't", "no", "-"]


def column(values, kind=None, pieces=1):
    """Return values as Arrow has them, in several pieces."""
    array = pa.array(values, type=kind)
    ends = np.linspace(0, len(array), pieces + 1).astype(int)
    return pa.chunked_array([array[a:b] for a, b in itertools.pairwise(ends)], type=array.type)


def dense(Z):
    return Z.toarray() if sp.issparse(Z) else Z


def with_holes(rng, values, share=0.2):
    return [None if hole else value for value, hole in zip(values, rng.random(len(values)) < share, strict=True)]


def as_scikit_learn(train, test):
    """Return numbers, filled and scaled, and which are missing, by scikit-learn."""
    train, test = (np.array(values, dtype=float)[:, None] for values in (train, test))
    scaled = make_pipeline(SimpleImputer(strategy="mean"), StandardScaler()).fit(train)
    missing = MissingIndicator(features="all").fit(train)
    return np.hstack([scaled.transform(test), missing.transform(test)])


def test_numbers_are_filled_and_scaled_as_scikit_learn_does():
    rng = new_rng()
    train = [None, *with_holes(rng, (rng.normal(5, 3, N)).tolist()), None, 2.0]
    test = [*with_holes(rng, rng.normal(0, 9, N).tolist()), None, 1.0]
    part = NumberPart("x").fit(column(train, pieces=3))
    assert part.names == ["x", "x is missing"]
    np.testing.assert_allclose(part.transform(column(test, pieces=2)), as_scikit_learn(train, test), atol=1e-12)


def test_whole_numbers_and_numbers_as_text_are_treated_alike():
    rng = new_rng()
    values = with_holes(rng, rng.integers(-50, 50, N).tolist())
    expected = as_scikit_learn(values, values)
    texts = [None if value is None else f" {value},0" for value in values]
    for given in (column(values, pa.int64()), column(values, pa.float64()), column(texts)):
        part = NumberPart("x").fit(given)
        for other in (column(values, pa.int64()), column(texts), column(values, pa.float64())):
            np.testing.assert_allclose(part.transform(other), expected, atol=1e-12)
    assert NumberPart("x").fit(column(texts)).from_text
    assert not NumberPart("x").fit(column(values)).from_text


def test_numbers_stay_as_they_were_written_in_training():
    """What 1,500 is, is told by the training data, and not by the one row that is new."""
    thousands = NumberPart("x").fit(column(["1,234", "950", "20"]))
    decimals = NumberPart("x").fit(column(["1,234", "9,5", "20,25"]))
    for part, value in ((thousands, 1500.0), (decimals, 1.5)):
        np.testing.assert_allclose(part.transform(column(["1,500"])), [[(value - part.mean) / part.spread]])
    per_cent = NumberPart("x").fit(column(["5%", "12.5 %"]))
    np.testing.assert_array_equal(per_cent.transform(column(["7"])), per_cent.transform(column(["7%"])))
    with pytest.raises(ValueError, match=r"'x' must hold numbers, as in training, got '\$7' instead\."):
        per_cent.transform(column(["8%", "$7", "9"]))


def test_words_among_numbers_are_missing_and_told():
    texts = [f"{k}.5" for k in range(40)]
    part = NumberPart("x").fit(column([*texts, "unknown"]))
    assert part.names == ["x", "x is missing"]
    np.testing.assert_array_equal(part.transform(column(["unknown"])), [[0.0, 1.0]])
    assert part.transform(column(["1.5", "unknown", "later", "2.5", "3.5", "4"]))[:3, 1].tolist() == [0.0, 1.0, 1.0]
    assert part.new(column(["unknown", "later", "3", "later", "4", "5"])) == {"later": 2}
    with pytest.raises(ValueError, match="'x' must hold numbers, as in training, got '3kg' instead"):
        part.transform(column(["1", "2", "3kg"]))
    # In training there was none, but numbers were text: some word stood in other rows of the file.
    assert NumberPart("x").fit(column(texts)).transform(column(["0.5", "unknown"]))[1, 0] == 0.0


def test_few_missing_numbers_have_no_feature_of_their_own():
    values = new_rng().standard_normal(N).tolist()
    part = NumberPart("x").fit(column([*values, None]))
    assert part.names == ["x"]
    np.testing.assert_array_equal(part.transform(column([None, part.mean])), [[0.0], [0.0]])
    # From one in a hundred on they have.
    assert NumberPart("x").fit(column([*values, None, None])).names == ["x", "x is missing"]


def test_constant_numbers_are_zeros():
    part = NumberPart("x").fit(column([3.0] * 5))
    np.testing.assert_array_equal(part.transform(column([3.0, 4.0])), [[0.0], [1.0]])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["1.5", "high"], "'x' must hold numbers, as in training, got 'high' instead."),
        ([float("inf")], "'x' must hold finite numbers"),
        (["inf"], "'x' must hold finite numbers"),
        ([[1.0]], "'x' must hold numbers, as in training, got values of type list"),
        ([pd.Timestamp(2025, 1, 1)], "'x' must hold numbers, as in training, got values of type timestamp"),
    ],
)
def test_what_is_no_number(values, words):
    part = NumberPart("x").fit(column([1.0, 2.0]))
    with pytest.raises(ValueError, match=words):
        part.transform(column(values))


def test_categories_are_one_hot_as_scikit_learn_has_them():
    rng = new_rng()
    levels = ["red", "Red", "green", "light blue", "ü"]
    train = [*levels, *rng.choice(levels, N).tolist()]
    test = [*rng.choice([*levels, "new", "RED"], N).tolist(), "new"]
    part = CategoryPart("colour").fit(column(train, pieces=4))
    oracle = OneHotEncoder(handle_unknown="ignore").fit(np.array(train, dtype=object)[:, None])
    assert part.levels == oracle.categories_[0].tolist()
    assert part.names == [f"colour={level}" for level in part.levels]
    expected = oracle.transform(np.array(test, dtype=object)[:, None]).toarray()
    np.testing.assert_array_equal(part.transform(column(test, pieces=3)).toarray(), expected)
    assert part.new(column(test)) == {word: test.count(word) for word in set(test) - set(levels)}


def test_missing_categories_are_a_level_by_themselves():
    rng = new_rng()
    levels = ["red", "green", "blue"]
    train = [*levels, None, *with_holes(rng, rng.choice(levels, N).tolist())]
    part = CategoryPart("colour").fit(column(train))
    as_a_word = np.array([value or "~" for value in train], dtype=object)[:, None]  # sorted behind all letters
    expected = OneHotEncoder(sparse_output=False).fit_transform(as_a_word)
    np.testing.assert_array_equal(dense(part.transform(column(train))), expected)
    assert part.names[-1] == "colour is missing"
    words = ["NA" if value is None else f" {value} " for value in train]
    np.testing.assert_array_equal(dense(part.transform(column(words))), expected)


def test_two_levels_are_one_feature_unless_some_are_missing():
    train = ["no", "yes", "yes"]
    oracle = OneHotEncoder(drop="if_binary", sparse_output=False)
    expected = oracle.fit_transform(np.array(train, dtype=object)[:, None])
    part = CategoryPart("x").fit(column(train))
    assert part.names == ["x=yes"]
    np.testing.assert_array_equal(dense(part.transform(column(train))), expected)
    assert CategoryPart("x").fit(column([*train, None])).names == ["x=no", "x=yes", "x is missing"]


def test_yes_and_no_in_any_case():
    part = part_of("yes/no", "x").fit(column(["Yes", "no", "YES", "No"]))
    np.testing.assert_array_equal(dense(part.transform(column(["yes", "NO", "yEs", " yes "]))), [[1], [0], [1], [1]])


@pytest.mark.parametrize("kind", ["yes/no", "category"])
def test_truth_values_are_what_a_file_writes_for_them(kind):
    truths = new_rng().permutation([True] * 5 + [False] * 5).tolist()
    part = part_of(kind, "x").fit(column(truths))
    expected = np.array(truths, dtype=float)[:, None]
    for given in (truths, [str(value) for value in truths], [str(value).upper() for value in truths]):
        np.testing.assert_array_equal(dense(part.transform(column(given))), expected)


def test_numbers_as_categories_have_the_same_levels_however_they_are_written():
    rng = new_rng()
    values = [1, 2, 30, *rng.choice([1, 2, 30], N).tolist()]
    expected = OneHotEncoder(sparse_output=False).fit_transform(np.array(values)[:, None])
    part = CategoryPart("x").fit(column(values))
    assert part.levels == ["1", "2", "30"]
    for given in (values, [float(value) for value in values], [str(value) for value in values]):
        np.testing.assert_array_equal(dense(part.transform(column(given))), expected)
    np.testing.assert_array_equal(dense(part.transform(column([f"{value}.0" for value in values]))), expected)
    assert CategoryPart("x").fit(column([*map(float, values), None])).levels == part.levels


def texts_of(rng, n=N):
    return [" ".join(rng.choice(WORDS, int(k))) for k in rng.integers(1, 9, n)]


def test_text_is_what_tf_idf_makes_of_it():
    rng = new_rng()
    train, test = texts_of(rng), [*texts_of(rng), "words that nobody has ever seen", ""]
    part = TextPart("note").fit(column(train, pieces=3))
    # A dash alone stands for a missing value.
    train, test = ([text if text != "-" else "" for text in texts] for texts in (train, test))
    oracle = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2, token_pattern=r"\b\w+\b").fit(train)
    assert part.names == [f"note: {word}" for word in oracle.get_feature_names_out()]
    assert dict(zip(part.words, range(len(part.words)), strict=True)) == oracle.vocabulary_
    np.testing.assert_allclose(part.transform(column(test)).toarray(), oracle.transform(test).toarray(), atol=1e-14)


def test_tf_idf_by_hand():
    texts = ["red car", "red red bus", "green bus", "boat"]
    part = TextPart("x").fit(column(texts))
    assert part.words == ["bus", "red"]  # those in two rows or more
    idf = np.log(5 / 3) + 1.0
    # How often a word is there counts by its logarithm; a row has length 1.
    raw = np.array([[0, 1], [1, 1 + np.log(2)], [1, 0], [0, 0]]) * idf
    expected = raw / np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(part.transform(column(texts)).toarray(), expected, atol=1e-14)


def test_missing_text_has_no_words():
    rng = new_rng()
    part = TextPart("x").fit(column([*texts_of(rng), None, "NA"]))
    assert part.transform(column([None, "NA", " ", ""])).nnz == 0
    assert part.transform(column([None] * 3, pa.string())).shape == (3, len(part.names))


def test_text_without_a_word_in_two_rows_has_all_its_words():
    part = TextPart("x").fit(column(["red car", "green bus", "boat"]))
    assert part.words == ["boat", "bus", "car", "green", "green bus", "red", "red car"]
    assert part.transform(column(["red boat"])).nnz == 2


def test_text_without_words_has_no_features():
    part = TextPart("x").fit(column(["!", "? !", "..."]))
    assert part.transform(column(["red", "!"])).shape == (2, len(part.names)) == (2, 0)


def test_text_is_the_same_after_pickling_and_does_not_carry_the_vectorizer():
    texts = texts_of(new_rng())
    part = TextPart("x").fit(column(texts))
    before = part.transform(column(texts))
    assert set(part.__getstate__()) == {"name", "words", "idf", "names"}
    after = pickle.loads(pickle.dumps(part)).transform(column(texts))
    assert abs(before - after).max() == 0.0


def test_strings_are_their_frequent_values_and_their_pieces():
    rng = new_rng()
    often = [f"PX-{k}" for k in range(30)]
    train = rng.permutation([*often * LEAST_ROWS, *(f"QY-{k}" for k in range(40))]).tolist()
    test = [*rng.choice(train, N).tolist(), "PX-new", "QY-1"]
    part = StringsPart("code").fit(column(train))
    levels = OneHotEncoder(categories=[sorted(often)], handle_unknown="ignore", sparse_output=False)
    pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4), sublinear_tf=True, min_df=2).fit(train)
    expected = np.hstack(
        [
            levels.fit(np.array(often, dtype=object)[:, None]).transform(np.array(test, dtype=object)[:, None]),
            pieces.transform(test).toarray(),
        ]
    )
    assert part.names == [f"code={v}" for v in sorted(often)] + [f"code: {p}" for p in pieces.get_feature_names_out()]
    np.testing.assert_allclose(part.transform(column(test)).toarray(), expected, atol=1e-14)


def drawn_times(rng, n=N):
    """Return whole minutes of thirty years; the first on a day that no month can be."""
    minutes = np.concatenate([[27 * 1440], rng.integers(0, 15_000_000, n - 1)])
    return pd.Series(pd.Timestamp(1995, 1, 1) + pd.to_timedelta(minutes, unit="min"))


def by_pandas(times):
    """Return what pandas says of times, part by part."""
    at = times.dt
    hour = at.hour + at.minute / 60
    angles = {"year": at.day_of_year / 365.25, "week": at.day_of_week / 7, "day": hour / 24}
    out = {
        "trend": (times - pd.Timestamp(1970, 1, 1)) / pd.Timedelta(days=1),
        "year": at.year,
        "month": at.month,
        "day of month": at.day,
        "weekday": at.day_of_week,
        "hour": hour,
    }
    for part, share in angles.items():
        out[f"in the {part} (sin)"] = np.sin(2 * np.pi * share)
        out[f"in the {part} (cos)"] = np.cos(2 * np.pi * share)
    return pd.DataFrame(out).astype(float)


def test_dates_have_the_parts_that_pandas_gives_them():
    rng = new_rng()
    train, test = drawn_times(rng), drawn_times(rng)
    part = DatePart("day").fit(column(train.tolist(), pieces=2))
    expected = by_pandas(train)
    assert part.names == [f"day {name}" for name in expected.columns]
    scaler = StandardScaler().fit(expected.to_numpy())
    np.testing.assert_allclose(
        part.transform(column(test.tolist())), scaler.transform(by_pandas(test).to_numpy()), atol=1e-9
    )


@pytest.mark.parametrize("form", DATES)
def test_dates_of_every_form(form):
    rng = new_rng()
    times = drawn_times(rng)
    texts = times.dt.strftime(form)
    times = pd.to_datetime(texts, format=form)
    expected = by_pandas(times)
    expected = expected.loc[:, np.ptp(expected.to_numpy(), axis=0) > 0]
    part = DatePart("day").fit(column(texts.tolist()))
    assert part.form == form
    assert part.names == [f"day {name}" for name in expected.columns]
    scaled = StandardScaler().fit_transform(expected.to_numpy())
    np.testing.assert_allclose(part.transform(column(texts.tolist())), scaled, atol=1e-9)
    # The same times in another form, or of a type, are the same features.
    np.testing.assert_allclose(part.transform(column(times.tolist(), pa.timestamp("us"))), scaled, atol=1e-9)
    iso = times.dt.strftime("%Y-%m-%d %H:%M:%S").tolist()
    np.testing.assert_allclose(part.transform(column(iso)), scaled, atol=1e-9)


def test_parts_that_do_not_differ_are_no_features():
    days = pd.Series(pd.date_range("2024-03-01", periods=20))
    part = DatePart("day").fit(column([day.date() for day in days]))
    kept = by_pandas(days)
    assert part.names == [f"day {name}" for name in kept.columns[np.ptp(kept.to_numpy(), axis=0) > 0]]
    assert "day hour" not in part.names
    assert "day year" not in part.names


def test_a_missing_date_stands_at_the_mean():
    rng = new_rng()
    times = drawn_times(rng).tolist()
    part = DatePart("day").fit(column([*times, None]))
    np.testing.assert_allclose(part.transform(column(times)).mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_array_equal(part.transform(column([None, None], pa.timestamp("us"))), np.zeros((2, 12)))
    np.testing.assert_array_equal(part.transform(column(["NA", None])), np.zeros((2, 12)))


def test_words_among_dates_are_missing_dates():
    rng = new_rng()
    times = drawn_times(rng)
    places = rng.choice(np.arange(1, N), N // 10, replace=False)
    texts = times.dt.strftime("%d.%m.%Y %H:%M")
    texts[places] = rng.choice(["tbd", "unknown"], len(places))
    part = DatePart("day").fit(column(texts.tolist()))
    known = by_pandas(times.drop(places))
    assert part.names == [*(f"day {name}" for name in known.columns), "day is missing"]
    expected = np.zeros((N, len(part.names)))
    expected[:, :-1] = StandardScaler().fit(known.to_numpy()).transform(by_pandas(times).to_numpy())
    expected[places] = [0.0] * (len(part.names) - 1) + [1.0]
    np.testing.assert_allclose(part.transform(column(texts.tolist())), expected, atol=1e-9)
    center, scale = part.affine()
    assert len(center) == len(scale) == len(part.names)
    # Other words are missing dates, too, and are told of.
    new = texts.replace({"tbd": "in May"}).tolist()
    np.testing.assert_allclose(part.transform(column(new)), expected, atol=1e-9)
    assert part.new(column(texts.tolist())) == {}
    assert part.new(column(new)) == ({"in May": new.count("in May")} if "in May" in new else {})


def test_times_with_a_zone_are_those_of_utc_also_in_text():
    times = drawn_times(new_rng()).dt.tz_localize("UTC")
    part = DatePart("x").fit(column(times.tolist(), pa.timestamp("us", "UTC")))
    expected = StandardScaler().fit_transform(by_pandas(times.dt.tz_localize(None)))
    texts = [time.tz_convert("Etc/GMT-3").isoformat() for time in times]
    assert texts[0].endswith("+03:00")
    for given in (times.tolist(), texts, [time.strftime("%Y-%m-%dT%H:%M:%SZ") for time in times]):
        np.testing.assert_allclose(part.transform(column(given)), expected, atol=1e-9)


def test_one_date_only_says_nothing_but_is_taken():
    part = DatePart("x").fit(column(["2025-12-24"] * 3))
    np.testing.assert_array_equal(part.transform(column(["2025-12-24", "2025-12-25"])), [[0.0], [1.0]])


def test_what_is_no_date():
    with pytest.raises(ValueError, match=r"'x' must hold dates of one form, such as 2025-12-24 or 24\.12\.2025"):
        DatePart("x").fit(column(["2025-12-24", "soon"]))
    with pytest.raises(ValueError, match="'x' must hold dates, got values of type double instead"):
        DatePart("x").fit(column([1.5, 2.5]))
    part = DatePart("x").fit(column(["2025-12-24", "2026-01-31"]))
    with pytest.raises(ValueError, match="'x' must hold dates, as in training, got 'week 3' instead"):
        part.transform(column(["2025-12-24", "week 3"]))


PARTS = {
    "number": lambda rng: with_holes(rng, rng.normal(5, 3, N).tolist()),
    "yes/no": lambda rng: ["yes", "no", *rng.choice(["yes", "no"], N).tolist()],
    "category": lambda rng: ["red", "green", *with_holes(rng, rng.choice(["red", "green", "blue"], N).tolist())],
    "strings": lambda rng: [f"PX-{k}" for k in rng.integers(0, 60, N)],
    "text": texts_of,
    "date": lambda rng: drawn_times(rng).tolist(),
}


@pytest.mark.parametrize("kind", PARTS)
def test_every_part_has_names_scales_and_values_that_it_makes_up(kind):
    values = column(PARTS[kind](new_rng()))
    part = part_of(kind, "x").fit(values)
    n = len(part.names)
    center, scale = part.affine()
    assert center.shape == scale.shape == (n,)
    assert np.all(scale > 0)
    assert len(set(part.names)) == n
    assert all(name.startswith("x") for name in part.names)
    rows = part.made_up(7)
    assert rows.equals(part.made_up(7))
    features = dense(part.transform(pa.chunked_array([rows])))
    assert features.shape == (7, n)
    assert np.isfinite(features).all()
    assert len(np.unique(features, axis=0)) > 1  # they differ, or a changed model could go unseen
