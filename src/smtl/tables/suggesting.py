"""Likely label columns of a table, where nobody has said which they are."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import pyarrow as pa

from smtl.tables.label_cells import Cells, distinct, is_list
from smtl.tables.labels import find_labels
from smtl.tables.tags import looks_like_tags
from smtl.tables.values import MISSING
from smtl.tables.yes_no import KNOWN_NO, KNOWN_YES, value_key

__all__ = ["Suggestion", "suggest_labels"]

_ROWS = 20_000  # rows that are looked at first; what they suggest is then tried on all rows
_MOST = 3  # suggestions
_MANY = 8  # columns that are still named one by one
_CLASSES = 50  # classes of a column that is not called so by its name
_LABEL = re.compile(r"labels?[:_. -].*", re.IGNORECASE)
_TARGET = re.compile(r"target.*|y|y[_.]?[0-9]+|labels?|outcome", re.IGNORECASE)
_CLASS = re.compile(r"class|category|label|target|species|type|status", re.IGNORECASE)
_TAGS = re.compile(r"tags?|topics?|labels?|genres?|keywords?|categories", re.IGNORECASE)
_QUESTION = re.compile(r"(is|has)_.*|.*_flag", re.IGNORECASE)


class Suggestion(NamedTuple):
    """What to type, and a short sentence that says why."""

    options: str
    why: str


class _Candidate(NamedTuple):
    """A suggestion before it is tried: how good it is, what `find_labels` takes, and why."""

    score: int
    reading: dict[str, Any]
    why: str


def suggest_labels(table: pa.Table, features_hint: Collection[str] | None = None) -> list[Suggestion]:
    """Return likely label columns, the best first.

    Parameters
    ----------
    table : Table
        The table.
    features_hint : collection of str, optional
        Columns that are features for sure.

    Returns
    -------
    list of Suggestion
        Three at the most. Each can be read by `find_labels`.

    Examples
    --------
    >>> table = pa.table({"topics": ["a;b", "b;a", "a"], "age": [3, 4, 2], "lost card": [0, 1, 1], "fraud": [0, 0, 1]})
    >>> for options, why in suggest_labels(table):
    ...     print(options, why, sep="    ")
    --tags topics    'topics' has several tags in a cell
    --labels 'lost card,fraud'    the last 2 columns have yes/no values
    """
    hint = frozenset(features_hint or ())
    head = table.slice(0, _ROWS)
    once = [name for name, n in Counter(table.column_names).items() if n == 1 and name not in hint]
    cells: dict[str, Cells | None] = {}
    for name in once:
        with suppress(ValueError):  # of values that are no text, number or yes/no
            cells[name] = None if is_list(head[name]) else distinct(head[name], name)
    found = sorted(_candidates(table.column_names, cells), key=lambda one: -one.score)
    suggestions: list[Suggestion] = []
    for candidate in found:
        options = _options(candidate.reading, table.column_names)
        if options is None or any(options == other.options for other in suggestions):
            continue
        try:
            # Tags are read whatever they are; of a yes/no column one row can be a third value.
            find_labels(head if "tags" in candidate.reading else table, **candidate.reading)
        except ValueError:
            continue
        suggestions.append(Suggestion(options, candidate.why))
        if len(suggestions) == _MOST:
            break
    return suggestions


def _candidates(columns: Sequence[str], cells: dict[str, Cells | None]) -> Iterator[_Candidate]:
    """Return what may be labels; a score is 100 for what is called so, and less for what only looks so."""
    yes_no = [name for name, of_name in cells.items() if of_name is not None and _is_yes_no(of_name)]
    for pattern, score, why in (
        (_LABEL, 100, "called label"),
        (_TARGET, 90, "called like a target"),
        (_QUESTION, 50, "called like a question, with yes/no values"),
    ):
        named = [name for name in yes_no if pattern.fullmatch(name.strip())]
        if named:
            yield _Candidate(score, {"labels": named}, f"{_columns(named)} {why}")
    run = _run_at_the_end(columns, yes_no)
    if run:
        what = f"the last {len(run)} columns have" if len(run) > 1 else f"the last column, {run[0]!r}, has"
        yield _Candidate(70 if len(run) > 1 else 55, {"labels": run}, f"{what} yes/no values")
    yield from _at_the_end(columns, cells, yes_no)
    for name, of_name in cells.items():
        if name in yes_no:
            continue
        if of_name is None or looks_like_tags(of_name):
            score = 85 if _TAGS.fullmatch(name.strip()) else 72
            yield _Candidate(score, {"tags": name}, f"{name!r} has several tags in a cell")
        elif _is_class(of_name) and (_CLASS.fullmatch(name.strip()) or _TARGET.fullmatch(name.strip())):
            at_end = name == columns[-1]
            why = f"{name!r} is called like a class" + (" and is the last column" if at_end else "")
            yield _Candidate(80 if at_end else 45, {"class_column": name}, why)


def _at_the_end(columns: Sequence[str], cells: dict[str, Cells | None], yes_no: Sequence[str]) -> Iterator[_Candidate]:
    """Return what stands where labels often do: columns of two values, or one of a few classes."""
    two = [name for name, of_name in cells.items() if of_name is not None and _n_values(of_name) == 2]
    run = _run_at_the_end(columns, two)
    if run and not set(run) <= set(yes_no):
        what = f"the last {len(run)} columns have" if len(run) > 1 else f"the last column, {run[0]!r}, has"
        yield _Candidate(40, {"labels": run}, f"{what} two values")
    last = cells.get(columns[-1]) if len(columns) > 1 else None
    if last is None or not _is_class(last) or looks_like_tags(last):
        return
    whole = all(not isinstance(value, float) or value.is_integer() for value in last.values)
    if whole and _n_values(last) > 2:
        what = f"the last column, {columns[-1]!r}, has {_n_values(last)} values"
        yield _Candidate(30, {"class_column": columns[-1]}, what)


def _columns(names: Sequence[str]) -> str:
    return f"{len(names)} columns are" if len(names) > 1 else f"{names[0]!r} is"


def _is_yes_no(cells: Cells) -> bool:
    """Return whether all values are known words for yes and no."""
    keys = {value_key(value) for value in cells.values[:100]} - {None}
    return len(cells.values) <= 100 and 0 < len(keys) <= 2 and keys <= KNOWN_YES | KNOWN_NO


def _is_class(cells: Cells) -> bool:
    """Return whether there are few values, each of them several times in the mean."""
    n = _n_values(cells)
    return 2 <= n <= _CLASSES and 2 * n <= len(cells.codes)


def _n_values(cells: Cells) -> int:
    return len({text for text in cells.texts if text is not None and text not in MISSING})


def _run_at_the_end(columns: Sequence[str], yes_no: Sequence[str]) -> list[str]:
    """Return the yes/no columns at the end of the table; if all columns are so, features are among them: none."""
    n = 0
    while n < len(columns) and columns[-1 - n] in yes_no:
        n += 1
    return list(columns[len(columns) - n :]) if n < len(columns) else []


def _options(reading: dict[str, Any], columns: Sequence[str]) -> str | None:
    """Return what to type on the command line; None if names have commas and there is no other way."""
    (what, value), *_ = reading.items()
    if what != "labels":
        return f"--{what.replace('_', '-')} {shlex.quote(value)}"
    if len(value) <= _MANY and not any("," in name for name in value):
        return f"--labels {shlex.quote(','.join(value))}"
    if value == list(columns[-len(value) :]):
        return f"--last {len(value)}"
    prefix = re.match(r"[^:_. -]*[:_. -]", value[0])
    if prefix and value == [name for name in columns if name.startswith(prefix[0])]:
        return f"--label-prefix {shlex.quote(prefix[0])}"
    return None if any("," in name for name in value) else f"--labels {shlex.quote(','.join(value))}"
