"""Made-up label columns of every kind: each is read as plain Python reads it, cell by cell, or refused with ValueError.

    python benchmarks/fuzz_labels.py [--columns 5000] [--seed N]

Columns have words, numbers, signs, other scripts, nulls, tags with separators, lists, and mixtures of them, in whole
or in chunks. Of each column that is not refused, the reading, the counts, the tags (none may be lost), the reading of
a second column, and the way back through `written` and JSON are compared. A failure is a difference, another exception,
more than ``--seconds`` for one column, or memory that grows by more than ``--megabytes``. Without ``--seed`` the seed
is new. The last line is a summary; the exit code is 1 if there is a failure.
"""

import argparse
import datetime
import json
import re
import resource
import secrets
import sys
import time
import traceback
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from smtl.tables.labels import LabelForm, find_labels

NOT_KNOWN = ["", "?", "-", "NA", "na", "N/A", "n/a", "#N/A", "NULL", "null", "None", "nan", "NaN", "<NA>"]
PAIRS = [
    ("1", "0"),
    ("true", "false"),
    ("yes", "no"),
    ("y", "n"),
    ("t", "f"),
    ("ja", "nein"),
    ("oui", "non"),
    ("si", "no"),
    ("on", "off"),
    ("1", "-1"),
    ("2", "1"),
    ("spam", "ham"),
]
WORDS = [
    "a",
    "b",
    "red",
    "Größe",
    "naïve",
    "日本",
    "ß",
    "SS",
    "a b",
    "a,b",
    "x|",
    "|y",
    "'",
    '"',
    "\\",
    "[a]",
    "[1]",
    "[",
    "\t",
]
WORDS += [
    "\ud7ff",
    "\U0001f600",
    "\u00a0",
    "\u2028",
    "0.5",
    "1.0",
    "01",
    "1e3",
    "-0",
    "inf",
    "1e400",
    "1_0",
    "٣",
    "NA",
    "?",
    "-",
    "",
]
SEPARATORS = [";", "|", ",", "; ", " ; ", ", ", " ", "||", "/", "::", "aa"]


def column(rng: np.random.Generator, kind: str, n: int) -> pa.ChunkedArray:
    """Return a column of one kind, with some nulls, sometimes in chunks or as a dictionary."""
    cells = CELLS[kind](rng, n)
    holes = rng.random(n) < rng.choice([0.0, 0.2])
    cells = [None if hole else cell for cell, hole in zip(cells, holes, strict=True)]
    if kind == "list" and all(cell is None for cell in cells):
        array = pa.array(cells, pa.list_(pa.string()))
    else:
        array = pa.array(cells)
    if pa.types.is_string(array.type) and rng.random() < 0.3:
        array = array.cast(pa.large_string()) if rng.random() < 0.5 else array.dictionary_encode()
    cut = int(rng.integers(n + 1))
    return pa.chunked_array([array[:cut], array[cut:]] if rng.random() < 0.5 else [array])


def yes_no(rng: np.random.Generator, n: int) -> list[Any]:
    yes, no = PAIRS[rng.integers(len(PAIRS))]
    words = [yes, no][: rng.integers(1, 3)] + ["NA"] * (rng.random() < 0.3) + ["maybe"] * (rng.random() < 0.1)
    ways = [str.upper, str.lower, str.capitalize, lambda word: f" {word}\t"]
    return [ways[rng.integers(4)](words[rng.integers(len(words))]) for _ in range(n)]


def few(rng: np.random.Generator, values: list[Any], n: int) -> list[Any]:
    """Return n of a few of the values."""
    chosen = rng.choice(len(values), min(len(values), int(rng.integers(1, 5))), replace=False)
    return [values[i] for i in rng.choice(chosen, n)]


def tag_lists(rng: np.random.Generator, n: int) -> list[list[str]]:
    words = [WORDS[i] for i in rng.choice(len(WORDS), 5, replace=False)]
    return [[words[i] for i in rng.integers(5, size=rng.integers(4))] for _ in range(n)]


def joined(rng: np.random.Generator, n: int) -> list[str]:
    separator = SEPARATORS[rng.integers(len(SEPARATORS))]
    return [separator.join(tags) for tags in tag_lists(rng, n)]


CELLS: dict[str, Any] = {
    "yes/no": yes_no,
    "words": lambda rng, n: few(rng, WORDS, n),
    "integers": lambda rng, n: few(rng, [0, 1, -1, 2, 3, 10**18, 10**18 + 1], n),
    "numbers": lambda rng, n: few(rng, [0.0, 1.0, -0.0, 0.5, 2.0, float("nan"), float("inf"), 1e300], n),
    "booleans": lambda rng, n: few(rng, [True, False], n),
    "dates": lambda rng, n: few(rng, [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], n),
    "nothing": lambda rng, n: [None] * n,
    "joined": joined,
    "JSON": lambda rng, n: [json.dumps(tags) for tags in tag_lists(rng, n)],
    "Python": lambda rng, n: [repr(tags) for tags in tag_lists(rng, n)],
    "list": lambda rng, n: tag_lists(rng, n),
    "mixed": lambda rng, n: [joined(rng, 1)[0] if rng.random() < 0.5 else yes_no(rng, 1)[0] for _ in range(n)],
}


def cells_of(column: pa.ChunkedArray) -> list[Any]:
    """Return the cells as plain Python has them."""
    cells = column.to_pylist()
    return [str(cell) if isinstance(cell, datetime.date) else cell for cell in cells]


def text(cell: Any) -> str | None:
    """Return a cell as text; None if it is null or NaN."""
    if cell is None or cell != cell:
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return f"{cell + 0.0:.0f}".replace("-0", "0") if cell == 0 else f"{cell:.0f}"
    return str(cell).strip()


def known_text(cell: Any) -> str | None:
    found = text(cell)
    return None if found in NOT_KNOWN else found


def same_word(one: str, two: str) -> bool:
    """Return whether two texts are the same but for case, or the same number."""
    if all(re.fullmatch(r"[+-]?[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?|[+-]?[0-9]+\.", word.lower()) for word in (one, two)):
        return Fraction(one) == Fraction(two)
    return one.casefold() == two.casefold()


def tags_of(cell: Any, form: LabelForm) -> list[str] | None:
    """Return the tags of a cell; None if they are not known."""
    if isinstance(cell, str) and cell.strip() == "":
        return []
    if isinstance(cell, list):
        items = cell
    elif known_text(cell) is None:
        return None
    elif form.separator is not None:
        items = text(cell).split(form.separator.strip() or form.separator)
    else:
        # Of our own making. Python reads JSON, too, unless there are escapes of signs beyond 16 bits.
        items = json.loads(cell) if "\\ud83d" in cell else eval(cell)
    return [tag for tag in ("" if item is None else str(item).strip() for item in items) if tag]


def class_of(cell: Any, form: LabelForm) -> str | None:
    """Return the class of a cell; a number is also the class that was typed otherwise, such as "1.0" for 1."""
    found = known_text(cell)
    if found is None or found in form.names:
        return found
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool) and abs(cell) != float("inf")
    return next((name for name in form.names if is_number and same_word(name, found)), None)


def plain_reading(form: LabelForm, table: pa.Table) -> np.ndarray:
    """Read labels cell by cell; KeyError for a value that is neither yes nor no."""
    if form.kind == "class":
        return np.array([class_of(cell, form) for cell in cells_of(table[form.columns[0]])], dtype=object)
    Y = np.full((table.num_rows, len(form.names)), np.nan)
    if form.kind == "tags":
        for row, cell in enumerate(cells_of(table[form.columns[0]])):
            tags = tags_of(cell, form)
            if tags is not None:
                Y[row] = [name in tags for name in form.names]
        return Y
    for j, name in enumerate(form.columns):
        for row, cell in enumerate(cells_of(table[name])):
            word = known_text(cell)
            if word is not None:
                is_yes, is_no = (same_word(word, text(other)) for other in (form.yes[j], form.no[j]))
                if is_yes == is_no:
                    raise KeyError(word)
                Y[row, j] = is_yes
    return Y


def assert_same(found: np.ndarray, wanted: np.ndarray) -> None:
    if wanted.dtype == object:
        assert found.tolist() == wanted.tolist(), (found, wanted)
    else:
        assert found.dtype == (np.float64 if np.isnan(wanted).any() else np.int8)
        np.testing.assert_array_equal(found, wanted)


def table_of(form: LabelForm, Y: Any) -> pa.Table:
    """Return answers as a table again."""
    return pa.table(form.written(Y))


def check(form: LabelForm, table: pa.Table) -> None:
    """Compare what a form does to the table that it was found in."""
    wanted = plain_reading(form, table)
    found = form.read(table)
    assert_same(found, wanted)
    assert form.unknown(table) == {}, "a tag or class is lost"
    assert form.rows == table.num_rows
    if form.kind == "class":
        assert dict(zip(form.names, form.counts, strict=True)) == Counter(x for x in wanted if x is not None)
        n_missing = [sum(x is None for x in wanted)]
    else:
        assert list(form.counts) == np.nansum(wanted, axis=0).tolist()
        n_missing = np.isnan(wanted).sum(axis=0).tolist()[: len(form.columns)]
    assert list(form.missing) == n_missing
    assert len(form.notes()) == len(form.columns)
    assert_same(form.read(table_of(form, found)), wanted)
    again = LabelForm.from_json(json.loads(json.dumps(form.to_json())))
    assert again == form
    if form.kind == "tags":
        every = {tag for cell in cells_of(table[form.columns[0]]) for tag in tags_of(cell, form) or ()}
        assert set(form.names) == every, "a tag is lost"


def case(rng: np.random.Generator) -> str:
    """Check one column, and return what became of it."""
    kind = str(rng.choice(list(CELLS)))
    table = pa.table({"x": column(rng, kind, int(rng.integers(25)))})
    how: dict[str, Any] = [{"labels": ["x"]}, {"class_column": "x"}, {"tags": "x"}][rng.integers(3)]
    if "labels" in how and rng.random() < 0.2:
        how["yes"] = str(rng.choice([word for pair in PAIRS for word in pair]))
    if "tags" in how and rng.random() < 0.2:
        how["tag_separator"] = str(rng.choice(SEPARATORS))
    try:
        form = find_labels(table, **how)
    except ValueError:
        return "refused"
    check(form, table)
    # New data of the same kind, or of another.
    kind = kind if rng.random() < 0.8 else str(rng.choice(list(CELLS)))
    new = pa.table({"x": column(rng, kind, int(rng.integers(25)))})
    try:
        found = form.read(new)
    except ValueError:
        return "read, new data refused"
    # What else may be a list, such as "[1]", is left to the reader.
    if form.kind != "tags" or form.separator is not None or kind in ("JSON", "Python", "list"):
        assert_same(found, plain_reading(form, new))
    return "read"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--start", type=int, default=0, help="the number of the first column")
    parser.add_argument("--seconds", type=float, default=10.0, help="the most time for one column")
    parser.add_argument("--megabytes", type=int, default=1500, help="the most memory for one column")
    arguments = parser.parse_args()
    seed = secrets.randbits(32) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    outcomes: Counter[str] = Counter()
    slowest = largest = 0.0
    for i in range(arguments.start, arguments.start + arguments.columns):
        before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
        try:
            end = case(np.random.default_rng([seed, i]))
        except Exception:
            end = "failed"
            print(f"  column {i}: {traceback.format_exc()[-1000:]}", flush=True)
        took = time.perf_counter() - begin
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        if took > arguments.seconds or grown > arguments.megabytes:
            end = "failed"
            print(f"  column {i}: {took:.1f} s, {grown:.0f} MB", flush=True)
        slowest, largest = max(slowest, took), max(largest, grown)
        outcomes[end] += 1
    counts = ", ".join(f"{n} {end}" for end, n in outcomes.most_common())
    print(f"{arguments.columns} columns: {counts}; slowest {slowest:.2f} s, memory {largest:.0f} MB (seed {seed})")
    return int(outcomes["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
