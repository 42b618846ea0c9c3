"""Files as people have them, for tests that go from a file to a model and back.

Each ``write_*`` puts one file into a folder and returns a `TableFile`: where it is, what its cells mean, and which
columns are labels. The labels can be learned from the other columns, so that a test can ask for more than no error.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

TOPICS = ["crash", "refund", "login", "delivery"]
WORDS = {  # what is said of a topic; letters beyond ASCII are in Latin-1
    "crash": ["crashes", "frozen", "abstürzen", "hangs"],
    "refund": ["refund", "überwiesen", "money", "invoice"],
    "login": ["password", "login", "accès", "locked"],
    "delivery": ["parcel", "delivery", "señal", "courier"],
}
FILLERS = ["the", "again", "since", "please", "with", "my", "customer", "Straße", "office", "new"]
SITES = ["Köln", "Lyon", "Porto"]
ENCODINGS = ("cp1252", "utf-8-sig", "utf-16", "utf-8")  # with which Excel writes, by version and by menu


class TableFile(NamedTuple):
    """A file, the table that it stands for, and the names of the label columns (empty where there are none)."""

    path: Path
    table: pd.DataFrame
    labels: list[str]


def small_table(n_rows: int = 240, seed: int = 0) -> pd.DataFrame:
    """Return a table with an id, a date, a text, a site, a category and two numbers with holes; no labels.

    The column ``topics`` has the set of topics of each row: one, two or none. The text has a word of each.
    """
    rng = np.random.default_rng(seed)
    topics = [list(rng.permutation(TOPICS)[:count]) for count in rng.choice(3, size=n_rows, p=[0.1, 0.6, 0.3])]
    subjects = []
    for said in topics:
        words = [WORDS[topic][int(rng.integers(4))] for topic in said]
        words += [FILLERS[k] for k in rng.integers(len(FILLERS), size=4)]
        rng.shuffle(words)
        subjects.append(" ".join(words).capitalize())
    hours = pd.to_timedelta(np.sort(rng.integers(24 * 365, size=n_rows)), unit="h")
    numbers = {"waiting": np.round(rng.lognormal(1.0, 1.0, size=n_rows), 2), "weight": rng.normal(size=n_rows).round(3)}
    return pd.DataFrame(
        {
            "id": [f"T-{number:04d}" for number in range(n_rows)],
            "opened": (pd.Timestamp("2024-01-01") + hours).strftime("%Y-%m-%d %H:%M"),
            "subject": subjects,
            "site": rng.choice(SITES, size=n_rows),
            "category": rng.choice(["app", "web", "shop", "other, unknown"], size=n_rows),
            **{name: np.where(rng.random(n_rows) < 0.1, np.nan, values) for name, values in numbers.items()},
            "topics": topics,
        }
    )


def yes_no_table(n_rows: int = 240, seed: int = 0, missing: float = 0.05) -> pd.DataFrame:
    """Return the small table with the yes/no labels ``urgent`` and ``refund`` in place of the topics."""
    table, rng = small_table(n_rows, seed), np.random.default_rng([seed, 1])
    topics = table.pop("topics")
    waiting = table["waiting"].fillna(table["waiting"].median())
    urgent = topics.map(lambda said: "crash" in said) | (waiting > 8.0)
    for name, yes in (("urgent", urgent), ("refund", topics.map(lambda said: "refund" in said))):
        flipped = yes.to_numpy() ^ (rng.random(n_rows) < 0.03)
        table[name] = np.where(rng.random(n_rows) < missing, None, np.where(flipped, "yes", "no"))
    return table


def write_yes_no(folder: Path, n_rows: int = 240, seed: int = 0) -> TableFile:
    """Two labels of yes and no, some of them missing; CSV in UTF-8."""
    return _csv(folder / "yes_no.csv", yes_no_table(n_rows, seed), ["urgent", "refund"])


def write_tags(folder: Path, n_rows: int = 240, seed: int = 0) -> TableFile:
    """One column of topics with ; between them, empty where there is none."""
    table = small_table(n_rows, seed)
    table["topics"] = table["topics"].map(";".join)
    return _csv(folder / "tags.csv", table, ["topics"])


def write_classes(folder: Path, n_rows: int = 240, seed: int = 0) -> TableFile:
    """One column of classes: a topic a row, or ``none``."""
    table = small_table(n_rows, seed)
    table["topic"] = table.pop("topics").map(lambda said: said[0] if said else "none")
    return _csv(folder / "classes.csv", table, ["topic"])


def write_hospitals(folder: Path, n_rows: int = 300, seed: int = 0) -> TableFile:
    """A column ``hospital`` that says where a patient is, and one yes/no label, which depends on it."""
    rng = np.random.default_rng(seed)
    hospital = rng.choice(["Charité", "St. Mary", "Hôtel-Dieu"], size=n_rows, p=[0.5, 0.3, 0.2])
    age, pressure = rng.integers(20, 90, size=n_rows), rng.normal(120.0, 15.0, size=n_rows).round(1)
    score = (age - 55.0) / 12.0 + (pressure - 120.0) / 15.0 * np.where(hospital == "St. Mary", 1.5, 0.5)
    ill = np.where(score + 0.5 * rng.normal(size=n_rows) > 0.8, "yes", "no")
    sex = rng.choice(["f", "m"], size=n_rows)
    table = pd.DataFrame({"hospital": hospital, "age": age, "pressure": pressure, "sex": sex, "ill": ill})
    return _csv(folder / "hospitals.csv", table, ["ill"])


def write_excel_csv(folder: Path, encoding: str = "cp1252", n_rows: int = 240, seed: int = 0) -> TableFile:
    """What a German Excel exports: semicolons, decimal commas, dates such as 17.03.2024 14:05, CRLF.

    ``encoding`` is one of `ENCODINGS`. UTF-16 and ``utf-8-sig`` begin with a BOM. Excel calls UTF-16 Unicode text, and
    puts tabs between cells.
    """
    table, written = yes_no_table(n_rows, seed), yes_no_table(n_rows, seed)
    written["opened"] = pd.to_datetime(written["opened"]).dt.strftime("%d.%m.%Y %H:%M")
    separator = "\t" if encoding == "utf-16" else ";"
    path = folder / f"excel_{encoding}.csv"
    options = {"sep": separator, "decimal": ",", "encoding": encoding, "lineterminator": "\r\n"}
    written.to_csv(path, index=False, **options)
    return TableFile(path, table, ["urgent", "refund"])


def write_parquet(folder: Path, n_rows: int = 240, seed: int = 0) -> TableFile:
    """Parquet of a data frame from which rows were taken out, so that its index is stored as ``__index_level_0__``."""
    path, table = folder / "indexed.parquet", yes_no_table(2 * n_rows, seed)
    table = table.sample(n_rows, random_state=seed)
    table["opened"] = pd.to_datetime(table["opened"])
    table.to_parquet(path)
    return TableFile(path, table.reset_index(drop=True), ["urgent", "refund"])


def write_json_lines(folder: Path, n_rows: int = 240, seed: int = 0) -> TableFile:
    """One object a line; what is missing is null."""
    path, table = folder / "yes_no.jsonl", yes_no_table(n_rows, seed)
    table.to_json(path, orient="records", lines=True, force_ascii=False)
    return TableFile(path, table, ["urgent", "refund"])


def write_no_header(folder: Path, n_rows: int = 240, seed: int = 0) -> TableFile:
    """The yes/no table without its first line. Columns go by their positions, which are the labels' names here."""
    path, table = folder / "no_header.csv", yes_no_table(n_rows, seed)
    table.to_csv(path, index=False, header=False)
    table.columns = [str(position) for position in range(table.shape[1])]
    return TableFile(path, table, list(table.columns[-2:]))


def write_latin1(folder: Path, n_rows: int = 240, seed: int = 0) -> TableFile:
    """The yes/no table in Latin-1, with names of columns beyond ASCII."""
    table = yes_no_table(n_rows, seed).rename(columns={"weight": "Größe", "refund": "remboursé"})
    return _csv(folder / "latin1.csv", table, ["urgent", "remboursé"], encoding="latin-1")


def write_wide(folder: Path, n_columns: int = 1000, n_rows: int = 120, seed: int = 0) -> TableFile:
    """Many columns of numbers, of which three matter, and two labels among ``n_columns`` in all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns - 2)).round(4)
    table = pd.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])
    table["left"] = np.where(X[:, 0] + X[:, 1] > 0.3, "yes", "no")
    table["right"] = np.where(X[:, 2] - X[:, 1] > 0.6, "yes", "no")
    return _csv(folder / "wide.csv", table, ["left", "right"])


def write_one_column(folder: Path, n_rows: int = 240, seed: int = 0) -> TableFile:
    """Nothing but the label: there is nothing to learn from."""
    return _csv(folder / "one_column.csv", yes_no_table(n_rows, seed, missing=0.0)[["urgent"]], ["urgent"])


def write_one_feature(folder: Path, n_rows: int = 240, seed: int = 0) -> TableFile:
    """One text and one label."""
    table = yes_no_table(n_rows, seed, missing=0.0)[["subject", "refund"]]
    return _csv(folder / "one_feature.csv", table, ["refund"])


def write_long(folder: Path, n_rows: int = 100_000, seed: int = 0) -> TableFile:
    """Many rows of one text column, with two labels."""
    rng = np.random.default_rng(seed)
    topics = [*WORDS["crash"], *WORDS["refund"]]
    words = np.array([*FILLERS, *topics, *(f"word{number}" for number in range(500))])  # the frequent ones first
    said = (rng.zipf(1.3, size=(n_rows, 6)) - 1) % len(words)
    texts = pd.Series(words[said[:, 0]])
    for column in said.T[1:]:
        texts = texts.str.cat(words[column], sep=" ")
    crash, refund = (np.isin(words[said], WORDS[topic]).any(axis=1) for topic in ("crash", "refund"))
    flips = rng.random((2, n_rows)) < 0.03
    table = pd.DataFrame({"text": texts})
    table["crash"] = np.where(crash ^ flips[0], "yes", "no")
    table["refund"] = np.where(refund ^ flips[1], "yes", "no")
    return _csv(folder / "long.csv", table, ["crash", "refund"])


def write_duplicate_names(folder: Path, n_rows: int = 240, seed: int = 0) -> TableFile:
    """Two columns of numbers, both called ``weight``."""
    table = yes_no_table(n_rows, seed).rename(columns={"waiting": "weight"})
    return _csv(folder / "duplicate_names.csv", table, ["urgent", "refund"])


def write_empty(folder: Path) -> TableFile:
    """A file without a byte."""
    path = folder / "empty.csv"
    path.write_bytes(b"")
    return TableFile(path, pd.DataFrame(), [])


def write_header_only(folder: Path) -> TableFile:
    """Names of columns, and no row."""
    return _csv(folder / "header_only.csv", yes_no_table(1).iloc[:0], ["urgent", "refund"])


def _csv(path: Path, table: pd.DataFrame, labels: list[str], encoding: str = "utf-8") -> TableFile:
    table.to_csv(path, index=False, encoding=encoding)
    return TableFile(path, table, labels)
