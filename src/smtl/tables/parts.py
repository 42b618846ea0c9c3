"""What becomes of a column: one small class a kind, fitted to a column of Arrow's, giving features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from smtl.tables.numbers import DATES, as_numbers, dates_in, written_dates
from smtl.tables.types import trimmed, truths_of
from smtl.tables.written import Style, in_other_style, in_style, without_words, words_in, written_numbers

__all__ = ["CategoryPart", "DatePart", "NumberPart", "StringsPart", "TextPart", "part_of"]

Float: TypeAlias = npt.NDArray[np.float64]

MISSING_FROM = 0.01  # share of missing values from which on a feature says that a value is missing
LEAST_ROWS = 5  # rows that a level of many must have to be a feature of its own
MOST_WORDS = 20_000  # words, or pieces of words, that are features
_DAY = 86_400.0


class NumberPart:
    """Numbers: missing ones take the mean, all are brought to variance 1.

    Where some are missing, a second feature says so.

    Parameters
    ----------
    name : str
        The column.

    Examples
    --------
    >>> part = NumberPart("beat").fit(pa.chunked_array([[1.0, None, 3.0]]))
    >>> part.names
    ['beat', 'beat is missing']
    >>> part.transform(pa.chunked_array([[1.0, None]]))
    array([[-1.22474487,  0.        ],
           [ 0.        ,  1.        ]])
    """

    style: Sequence[str] | None = None  # how numbers were written, where they were text

    def __init__(self, name: str) -> None:
        self.name = name

    def fit(self, column: pa.ChunkedArray) -> NumberPart:
        """Learn how numbers are written, mean and spread."""
        self.from_text = _is_text(column) or pa.types.is_boolean(column.type)
        written = written_numbers(column) if _is_text(column) else None
        self.style = None if written is None else list(written.style)
        self.words = [] if written is None else list(written.words)
        values = self._values(column)
        known = values[~np.isnan(values)]
        self.mean, spread = float(known.mean()), float(known.std())
        # Of all rows, the missing ones among them, which stand at the mean.
        spread *= np.sqrt(len(known) / len(values))
        self.spread = spread if spread > 0 and np.isfinite(spread) else 1.0
        self.tells_missing = bool(len(known) <= (1.0 - MISSING_FROM) * len(values))
        self.names = [self.name, f"{self.name} is missing"][: 1 + self.tells_missing]
        return self

    def transform(self, column: pa.ChunkedArray) -> Float:
        """Return features."""
        values = self._values(column)
        scaled = values - self.mean
        scaled /= self.spread
        if not self.tells_missing and np.isfinite(scaled.sum()):
            return scaled[:, None]
        missing = np.isnan(scaled)
        scaled[missing] = 0.0
        return np.column_stack([scaled, missing]) if self.tells_missing else scaled[:, None]

    def new(self, column: pa.ChunkedArray) -> dict[str, int]:
        """Return words in the place of numbers that the training data did not have, and in how many rows they are."""
        if self.style is None or not _is_text(column) or in_style(column, Style(*self.style)) is not None:
            return {}
        return {word: n for word, n in words_in(column).items() if word not in self.words}

    def raw(self, column: pa.ChunkedArray) -> tuple[Float, list[str]]:
        """Return the numbers as they are, NaN where they are missing, and the name."""
        return self._values(column)[:, None], [self.name]

    def _values(self, column: pa.ChunkedArray) -> Float:
        """Return a column as floats; of text as it was written in training, words among the numbers as missing."""
        if self.style is not None and _is_text(column):
            style = Style(*self.style)
            found = in_style(column, style)
            if found is None:
                cells = without_words(column, [*self.words, *words_in(column)])
                found = in_style(cells, style)
                found = in_other_style(cells, style.sign) if found is None else found
            if found is None:
                raise _no_number(column, self.name, style.sign)
            column = found
        return _numbers(column, self.name)

    def affine(self) -> tuple[Float, Float]:
        """Return what is taken off each feature, and what the rest is divided by."""
        n = len(self.names) - 1
        return np.array([self.mean] + [0.0] * n), np.array([self.spread] + [1.0] * n)

    @staticmethod
    def floats(column: pa.ChunkedArray, name: str) -> Float:
        """Return a column as floats, NaN where they are missing."""
        return _numbers(column, name)

    def made_up(self, n_rows: int) -> pa.Array:
        """Return values such as those of the training data."""
        return pa.array(self.mean + self.spread * np.sin(1.0 + np.arange(n_rows)))


class CategoryPart:
    """Categories: a feature a level, 0 or 1. A level that is new, or missing, has none of them.

    Parameters
    ----------
    name : str
        The column.
    least : int, default=1
        Rows that a level must have.
    any_case : bool, default=False
        Whether capital letters make no difference.

    Examples
    --------
    >>> part = CategoryPart("key").fit(pa.chunked_array([["minor", "major", None]]))
    >>> part.names
    ['key=major', 'key=minor', 'key is missing']
    >>> part.transform(pa.chunked_array([["minor", "dorian", None]])).toarray()
    array([[0., 1., 0.],
           [0., 0., 0.],
           [0., 0., 1.]])
    """

    def __init__(self, name: str, least: int = 1, any_case: bool = False) -> None:
        self.name, self.least, self.any_case = name, least, any_case

    def fit(self, column: pa.ChunkedArray) -> CategoryPart:
        """Learn the levels."""
        self.of_numbers = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
        self.any_case = self.any_case or pa.types.is_boolean(column.type)  # True in a file is true here
        texts = self._texts(column)
        counts = pc.value_counts(texts.drop_null())
        values, n = counts.field("values").to_pylist(), counts.field("counts").to_numpy(zero_copy_only=False)
        self.levels = sorted(value for value, k in zip(values, n, strict=True) if k >= self.least)
        if len(self.levels) == len(values) == 2 and texts.null_count == 0:
            self.levels = self.levels[1:]  # the other one is its opposite
        self.tells_missing = bool(texts.null_count >= MISSING_FROM * len(texts) and texts.null_count)
        self.names = [f"{self.name}={level}" for level in self.levels]
        self.names += [f"{self.name} is missing"] * self.tells_missing
        self.known = sorted(values)
        return self

    def transform(self, column: pa.ChunkedArray) -> Any:
        """Return features."""
        texts = self._texts(column)
        place = pc.index_in(texts, value_set=pa.array(self.levels, type=texts.type))
        codes = place.fill_null(-1).to_numpy().astype(np.int64)
        if self.tells_missing:
            codes[texts.is_null().to_numpy()] = len(self.levels)
        rows = np.flatnonzero(codes >= 0)
        return sp.csr_matrix((np.ones(len(rows)), (rows, codes[rows])), shape=(len(texts), len(self.names)))

    def new(self, column: pa.ChunkedArray) -> dict[str, int]:
        """Return levels that the training data did not have, and in how many rows they are."""
        texts = self._texts(column).drop_null()
        unknown = texts.filter(pc.invert(pc.is_in(texts, value_set=pa.array(self.known, type=texts.type))))
        counts = pc.value_counts(unknown)
        return dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))

    def affine(self) -> tuple[Float, Float]:
        """Return what is taken off each feature, and what the rest is divided by."""
        return np.zeros(len(self.names)), np.ones(len(self.names))

    def made_up(self, n_rows: int) -> pa.Array:
        """Return values such as those of the training data."""
        return pa.array([self.known[k % len(self.known)] for k in range(n_rows)])

    def _texts(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        if self.of_numbers and _is_text(column):  # 3 and 3.0 are the same level
            column = column if (numbers := as_numbers(column)) is None else numbers
        texts = _texts(column)
        return pc.utf8_lower(texts) if self.any_case else texts


class DatePart:
    """Dates: the trend, parts of the calendar and of the clock, and these as places on a circle.

    Where some are missing, one more feature says so.

    Parameters
    ----------
    name : str
        The column.

    Examples
    --------
    >>> part = DatePart("day").fit(pa.chunked_array([["2025-01-31", "2025-02-28", "2026-02-01"]]))
    >>> part.names[:3]
    ['day trend', 'day year', 'day month']
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def fit(self, column: pa.ChunkedArray) -> DatePart:
        """Learn which parts differ between rows, and their scale."""
        self.form, self.words = "", []
        if _is_text(column):
            read = written_dates(column)
            if read is None:
                raise ValueError(f"{self.name!r} must hold dates of one form, such as 2025-12-24 or 24.12.2025.")
            self.form, self.words = read.form, list(read.words)
        found = self._raw(column)
        known = ~np.isnan(found["trend"])
        self.kept = [part for part, values in found.items() if np.ptp(values[known]) > 0] or ["trend"]
        self.tells_missing = bool(known.sum() <= (1.0 - MISSING_FROM) * len(known))
        self.names = [f"{self.name} {part}" for part in self.kept] + [f"{self.name} is missing"] * self.tells_missing
        values = np.column_stack([found[part][known] for part in self.kept])
        self.mean, spread = values.mean(axis=0), values.std(axis=0)
        self.spread = np.where(spread > 0, spread, 1.0)
        return self

    def transform(self, column: pa.ChunkedArray) -> Float:
        """Return features; a date that is missing stands at the mean."""
        found = self._raw(column)
        values = np.column_stack([found[part] for part in self.kept])
        scaled = np.asarray(np.nan_to_num((values - self.mean) / self.spread))
        return np.column_stack([scaled, np.isnan(found["trend"])]) if self.tells_missing else scaled

    def new(self, column: pa.ChunkedArray) -> dict[str, int]:
        """Return words in the place of dates that the training data did not have, and in how many rows they are."""
        if not _is_text(column):
            return {}
        return {word: n for word, n in words_in(column).items() if word not in self.words}

    def affine(self) -> tuple[Float, Float]:
        """Return what is taken off each feature, and what the rest is divided by."""
        n = len(self.names) - len(self.kept)
        return np.append(self.mean, [0.0] * n), np.append(self.spread, [1.0] * n)

    def made_up(self, n_rows: int) -> pa.Array:
        """Return values such as those of the training data."""
        return pa.array([(1_000_000 + 12_345_678 * k) * 1_000_000 for k in range(n_rows)], type=pa.timestamp("us"))

    def raw(self, column: pa.ChunkedArray) -> tuple[Float, list[str]]:
        """Return the parts that differ as they are, NaN where the date is missing, and their names."""
        found = self._raw(column)
        return np.column_stack([found[part] for part in self.kept]), self.names[: len(self.kept)]

    def _raw(self, column: pa.ChunkedArray) -> dict[str, Float]:
        times = self._times(column)
        seconds = _floats(pc.divide(pc.cast(times, pa.int64()).cast(pa.float64()), 1e6))
        hour = _floats(pc.hour(times)) + _floats(pc.minute(times)) / 60.0
        month, weekday = _floats(pc.month(times)), _floats(pc.day_of_week(times))
        found = {"trend": seconds / _DAY, "year": _floats(pc.year(times)), "month": month}
        found |= {"day of month": _floats(pc.day(times)), "weekday": weekday, "hour": hour}
        for part, values, length in (
            ("year", _floats(pc.day_of_year(times)), 365.25),
            ("week", weekday, 7.0),
            ("day", hour, 24.0),
        ):
            angle = 2.0 * np.pi * values / length
            found |= {f"in the {part} (sin)": np.sin(angle), f"in the {part} (cos)": np.cos(angle)}
        return found

    def _times(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        if not _is_text(column):
            times = column.cast(pa.timestamp("us"), safe=False) if pa.types.is_temporal(column.type) else None
            if times is None:
                raise ValueError(f"{self.name!r} must hold dates, got values of type {column.type} instead.")
            return times
        texts = without_words(column, [*self.words, *words_in(column)])
        # What Arrow reads as a date by itself, without a time zone or with one.
        for kind in () if self.form else (pa.timestamp("us"), pa.timestamp("us", "UTC")):
            try:
                return texts.cast(kind).cast(pa.timestamp("us"))
            except pa.ArrowInvalid:
                pass
        times = pa.chunked_array([pa.nulls(len(texts), pa.timestamp("us"))])
        for form in filter(None, (self.form, *DATES)):
            if times.null_count == texts.null_count:
                break
            times = pc.coalesce(times, dates_in(texts, form))
        if times.null_count > texts.null_count:
            wrong = texts.filter(pc.and_(pc.is_null(times), pc.is_valid(texts)))[0].as_py()
            raise ValueError(f"{self.name!r} must hold dates, as in training, got {wrong!r} instead.")
        return times


class TextPart:
    """Text: the words and pairs of words in it, by TF-IDF.

    Parameters
    ----------
    name : str
        The column.

    Examples
    --------
    >>> part = TextPart("title").fit(pa.chunked_array([["the red car", "the red bus", None]]))
    >>> part.names
    ['title: red', 'title: the', 'title: the red']
    """

    analyzer, ngrams = "word", (1, 2)

    def __init__(self, name: str) -> None:
        self.name = name

    def fit(self, column: pa.ChunkedArray) -> TextPart:
        """Learn the words."""
        texts = _texts(column).fill_null("").to_pylist()
        self.words, self.idf = self._words(texts, 2 if len(texts) > 2 else 1)
        if not self.words:  # no word is in two rows
            self.words, self.idf = self._words(texts, 1)
        self.names = [f"{self.name}: {word}" for word in self.words]
        return self

    def transform(self, column: pa.ChunkedArray) -> Any:
        """Return features."""
        if not self.words:
            return sp.csr_matrix((len(column), 0))
        if "_fitted" not in self.__dict__:
            self._fitted = self._vectorizer(vocabulary=self.words)
            self._fitted.idf_ = self.idf
        return self._fitted.transform(_texts(column).fill_null("").to_pylist())

    def raw(self, column: pa.ChunkedArray) -> tuple[Any, list[str]]:
        """Return features, which are not scaled, and their names."""
        return self.transform(column), self.names

    def affine(self) -> tuple[Float, Float]:
        """Return what is taken off each feature, and what the rest is divided by."""
        return np.zeros(len(self.names)), np.ones(len(self.names))

    def made_up(self, n_rows: int) -> pa.Array:
        """Return values such as those of the training data."""
        return pa.array([" ".join(self.words[k :: max(1, len(self.words) // 3)]) for k in range(n_rows)])

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_fitted"}

    def _words(self, texts: list[str], min_df: int) -> tuple[list[str], Float]:
        """Return the words that are in so many rows, and how rare they are."""
        vectorizer = self._vectorizer(min_df=min_df, max_features=MOST_WORDS)
        try:
            vectorizer.fit(texts)
        except ValueError:  # there are none
            return [], np.zeros(0)
        return [str(word) for word in vectorizer.get_feature_names_out()], np.asarray(vectorizer.idf_)

    def _vectorizer(self, **options: Any) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        pattern = r"(?u)\b\w+\b" if self.analyzer == "word" else None
        return TfidfVectorizer(
            analyzer=self.analyzer, ngram_range=self.ngrams, sublinear_tf=True, token_pattern=pattern, **options
        )


class StringsPart(TextPart):
    """Short strings of many values: frequent ones as categories, and pieces of all of them by TF-IDF.

    Parameters
    ----------
    name : str
        The column.

    Examples
    --------
    >>> part = StringsPart("code").fit(pa.chunked_array([["PX-1"] * 5 + ["PX-2"]]))
    >>> part.names[0]
    'code=PX-1'
    """

    analyzer, ngrams = "char_wb", (3, 4)

    def fit(self, column: pa.ChunkedArray) -> StringsPart:
        """Learn the frequent values, and the pieces of all."""
        super().fit(column)
        self.frequent = CategoryPart(self.name, LEAST_ROWS).fit(column)
        self.names = self.frequent.names + self.names
        return self

    def transform(self, column: pa.ChunkedArray) -> Any:
        """Return features."""
        return sp.hstack([self.frequent.transform(column), super().transform(column)], format="csr")


def part_of(kind: str, name: str) -> Any:
    """Return what makes features of a column of a kind.

    Examples
    --------
    >>> part_of("yes/no", "premium").name
    'premium'
    """
    if kind == "yes/no":
        return CategoryPart(name, any_case=True)
    parts = {
        "number": NumberPart,
        "category": CategoryPart,
        "strings": StringsPart,
        "text": TextPart,
        "date": DatePart,
    }
    return parts[kind](name)


def _is_text(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def _floats(column: pa.ChunkedArray) -> Float:
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)


def _numbers(column: pa.ChunkedArray, name: str) -> Float:
    """Return a column as floats, NaN where they are missing."""
    if _is_text(column):
        found = as_numbers(column)
        if found is None and (truths := truths_of(trimmed(column))) is not None:
            found = truths.cast(pa.int8())
        if found is None and column.null_count < len(column) and len(trimmed(column).drop_null()):
            raise _no_number(column, name)
        column = pa.chunked_array([pa.nulls(len(column), pa.float64())]) if found is None else found
    elif pa.types.is_temporal(column.type) or pa.types.is_nested(column.type):
        raise ValueError(f"{name!r} must hold numbers, as in training, got values of type {column.type} instead.")
    if column.type != pa.float64():
        column = column.cast(pa.float64(), safe=False)
    values: Float = column.to_numpy()
    # One sum tells that all are finite; only where it is not, each is looked at.
    if not np.isfinite(values.sum()) and np.isinf(values).any():
        raise ValueError(f"{name!r} must hold finite numbers (or missing ones), got an infinite one.")
    return values


def _no_number(column: pa.ChunkedArray, name: str, sign: str = "") -> ValueError:
    some = trimmed(column).drop_null()
    odd = (value for value in some.to_pylist() if in_other_style(pa.chunked_array([[value]]), sign) is None)
    wrong = next(odd, some[0].as_py())
    return ValueError(f"{name!r} must hold numbers, as in training, got {wrong!r} instead.")


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as text: whole numbers without a point, truth values in small letters, missing words as null."""
    if pa.types.is_floating(column.type):
        some = column.drop_null()
        if pc.all(pc.equal(some, pc.floor(some))).as_py() is not False and not pc.any(pc.is_inf(some)).as_py():
            column = column.cast(pa.int64(), safe=False) if column.null_count == 0 else _whole(column)
    texts = column.cast(pa.string()) if not _is_text(column) else column
    return trimmed(texts)


def _whole(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(pc.is_valid(column), column.fill_null(0.0), pa.scalar(None, pa.float64())).cast(pa.int64())
