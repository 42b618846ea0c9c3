"""Which value of a label column is yes, and which is no."""

from __future__ import annotations

import math
import shlex
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.datasets.errors import shown
from smtl.tables.label_cells import Cells, listed, number_text, text_of
from smtl.tables.tags import looks_like_tags
from smtl.tables.values import MISSING

__all__ = ["KNOWN_NO", "KNOWN_YES", "Word", "YesNo", "read_yes_no", "value_key", "yes_no_of"]

Word: TypeAlias = str | int | float | bool

# Yes and no. A word that stands alone in its column goes with the other of the first pair that has it.
_PAIRS = (
    ("1", "0"),
    ("1", "-1"),
    ("true", "false"),
    ("yes", "no"),
    ("y", "n"),
    ("t", "f"),
    ("on", "off"),
    ("ja", "nein"),
    ("j", "n"),
    ("wahr", "falsch"),
    ("oui", "non"),
    ("vrai", "faux"),
    ("si", "no"),
    ("sí", "no"),
)
KNOWN_YES = frozenset(yes for yes, _ in _PAIRS)
KNOWN_NO = frozenset(no for _, no in _PAIRS)


class YesNo(NamedTuple):
    """What is yes and no in a column, as it is written there, in how many rows, and whether that is a guess."""

    yes: Word
    no: Word
    n_yes: int
    n_missing: int
    guessed: bool


def value_key(value: Any) -> str | None:
    """Return what is the same for all ways to write a value; None if it is not known.

    Examples
    --------
    >>> value_key(" YES "), value_key(1.0), value_key("1.0"), value_key(True), value_key("NA")
    ('yes', '1', '1', 'true', None)
    """
    text = text_of(value)
    if text is None or text in MISSING:
        return None
    return number_text(text) or text.casefold()


def yes_no_of(name: str, cells: Cells, yes: object = None) -> YesNo:
    """Decide which value of a column is yes.

    Parameters
    ----------
    name : str
        The column's name, for errors.
    cells : Cells
        Its distinct values.
    yes : object, optional
        The value that is yes, as it is written in the table. By default known words tell; of two numbers the larger
        one is yes, of two other values the rarer one.

    Returns
    -------
    YesNo
        Both values and their counts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from smtl.tables.label_cells import distinct
    >>> yes_no_of("churned", distinct(pa.chunked_array([["Y", "N", "?", "n"]]), "churned"))
    YesNo(yes='Y', no='N', n_yes=1, n_missing=1, guessed=False)
    """
    words: dict[str, dict[Any, int]] = {}
    for value, count in zip(cells.values, cells.counts.tolist(), strict=True):
        key = value_key(value)
        if isinstance(value, float) and math.isinf(value):
            raise ValueError(f"the label column {shown(name)} must have finite numbers, got {value}; leave it out.")
        if key is not None:
            ways = words.setdefault(key, {})
            word = value.strip() if isinstance(value, str) else value
            ways[word] = ways.get(word, 0) + count
    totals = {key: sum(ways.values()) for key, ways in words.items()}
    written = {key: max(ways, key=lambda word: ways[word]) for key, ways in words.items()}
    asked = None if yes is None else value_key(yes)
    if yes is not None and asked is None:
        raise ValueError(f"yes must be a value of {shown(name)}, got {shown(yes)} instead, which is 'not known'.")
    if len(words) > 2:
        raise ValueError(_too_many(name, cells, written, totals))
    if not words:
        raise ValueError(f"the label column {shown(name)} must have values, got empty cells only; leave it out.")
    if len(words) == 1:
        yes_word, no_word, key = _of_one_word(name, next(iter(written.items())), yes, asked)
        guessed = False
    else:
        key, other, guessed = _of_two_words(name, written, totals, asked)
        yes_word, no_word = written[key], written[other]
    return YesNo(yes_word, no_word, totals.get(key, 0), len(cells.codes) - sum(totals.values()), guessed)


def _of_one_word(name: str, only: tuple[str, Word], yes: Any, asked: str | None) -> tuple[Word, Word, str]:
    """Return yes and no of a column with one value, and the key of yes."""
    key, word = only
    if asked is not None and asked != key:
        return _of_type(word, yes, asked, name), word, asked
    if asked is None and key in KNOWN_NO:
        other = next(yes for yes, no in _PAIRS if no == key)
        return _like(word, other), word, other
    if key in KNOWN_YES:
        return word, _like(word, next(no for yes, no in _PAIRS if yes == key)), key
    raise ValueError(
        f"the label column {shown(name)} must have two values, yes and no, got {shown(word)} only; "
        "leave it out, or write 'no' where it is no: an empty cell is 'not known'."
    )


def _of_two_words(
    name: str, written: dict[str, Word], totals: dict[str, int], asked: str | None
) -> tuple[str, str, bool]:
    """Return the keys of yes and no, and whether that is a guess."""
    one, two = sorted(written, key=lambda key: (totals[key], key))
    if asked is not None:
        if asked not in written:
            raise ValueError(
                f"yes must be a value of {shown(name)}, got {shown(asked)} instead; "
                f"its values are {listed(list(written.values()))}."
            )
        return asked, two if asked == one else one, False
    if number_text(one) is not None and number_text(two) is not None:
        low, high = sorted((one, two), key=Decimal)
        return high, low, high not in KNOWN_YES
    known = [key for key in (one, two) if key in KNOWN_YES | KNOWN_NO]
    # One letter alone tells nothing: "f" goes with "t", but with "m" as well.
    if len(known) == 1 and len(known[0]) == 1 and known[0].isalpha():
        return one, two, True
    for key, other in ((one, two), (two, one)):
        if (key in KNOWN_YES and other not in KNOWN_YES) or (other in KNOWN_NO and key not in KNOWN_NO):
            return key, other, False
    if known:
        raise ValueError(
            f"the values of the label column {shown(name)} must be yes and no, got {listed(list(written.values()))} "
            "instead, which mean the same; say which one is yes with --yes."
        )
    return one, two, True


def _like(word: Word, other: str) -> Word:
    """Return the other word in the type and case of a word."""
    if isinstance(word, bool):
        return not word
    if not isinstance(word, str):
        return type(word)(other)
    return other.upper() if word.isupper() else other.capitalize() if word[:1].isupper() else other


def _of_type(word: Word, yes: Any, asked: str, name: str) -> Word:
    """Return the yes that the user gave in the type of a column that has none."""
    if isinstance(word, str):
        return str(yes).strip()
    if isinstance(word, bool) and asked in ("true", "false"):
        return not word
    if not isinstance(word, bool) and number_text(asked) is not None:
        number = float(asked)
        return int(number) if number.is_integer() and isinstance(word, int) else number
    raise ValueError(f"yes must be like the values of {shown(name)}, got {shown(yes)} instead; they are {shown(word)}.")


def _too_many(name: str, cells: Cells, written: dict[str, Word], totals: dict[str, int]) -> str:
    """Return the message for a column with more than two values."""
    often = sorted(written, key=lambda key: -totals[key])
    values = listed([written[key] for key in often])
    option = shlex.quote(name)
    if looks_like_tags(cells):
        advice = f"if its cells are tags, use --tags {option}"
    elif written.keys() & KNOWN_YES and written.keys() & KNOWN_NO:
        advice = f"leave cells empty where it is not known, or use --class-column {option} if these are classes"
    elif 2 * len(totals) <= sum(totals.values()):
        advice = f"if each row has one of these classes, use --class-column {option}"
    else:
        advice = "it looks like no label; name other columns"
    return f"the label column {shown(name)} must have two values, yes and no, got {len(totals)} ({values}); {advice}."


def read_yes_no(name: str, cells: Cells, yes: Word, no: Word) -> npt.NDArray[np.int8]:
    """Return 1 for yes, 0 for no and -1 for "not known" in each row.

    Parameters
    ----------
    name : str
        The column's name, for the error.
    cells : Cells
        Its distinct values.
    yes, no : str, int, float or bool
        How they are written.

    Returns
    -------
    ndarray of shape (n_rows,)
        The labels.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from smtl.tables.label_cells import distinct
    >>> read_yes_no("churned", distinct(pa.chunked_array([["y", "N", None]]), "churned"), "Y", "N")
    array([ 1,  0, -1], dtype=int8)
    """
    meaning: dict[str | None, int] = {None: -1, value_key(yes): 1, value_key(no): 0}
    # One more entry: the code -1 of nulls takes the last one.
    found = np.full(len(cells.values) + 1, -1, dtype=np.int8)
    for i, value in enumerate(cells.values):
        key = value_key(value)
        if key not in meaning:
            row = int(np.argmax(cells.codes == i)) + 1
            raise ValueError(
                f"{shown(name)}, row {row}: a label must be {shown(yes)} or {shown(no)}, as in the training data, "
                f"got {shown(value)} instead; write it so, or leave the cell empty."
            )
        found[i] = meaning[key]
    return found[cells.codes]
