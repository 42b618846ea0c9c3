"""Likely labels of tables as people have them: what to type, in which order, and that it can be read."""

import shlex

import pyarrow as pa
import pytest

from smtl.tables.labels import find_labels
from smtl.tables.suggesting import suggest_labels
from tests.seeds import new_rng

N = 60


def parts():
    """Return columns of every kind by a short name."""
    rng = new_rng()
    topics = ["sport", "politics", "weather", "film"]
    return {
        "number": rng.normal(size=N).tolist(),
        "0/1": [0, 1, *rng.integers(0, 2, N - 2).tolist()],
        "yes/no": ["yes", "no", *rng.choice(["yes", "no"], N - 2).tolist()],
        "two": ["won", "lost", *rng.choice(["won", "lost"], N - 2).tolist()],
        "few tags": ["a", "b", "a;b", "b;a", *rng.choice(["a", "b", ""], N - 4).tolist()],
        "names": [f"{word}, {k}" for k, word in enumerate(["red", "blue"] * (N // 2))],
        "steps": (rng.integers(0, 9, N) / 2 + 0.25).tolist(),
        "classes": ["cat", "dog", *rng.choice(["cat", "dog", "eel"], N - 2).tolist()],
        "tags": ["sport;film", *[";".join(rng.choice(topics, rng.integers(1, 4))) for _ in range(N - 1)]],
        "lists": [rng.choice(topics, rng.integers(1, 4)).tolist() for _ in range(N)],
        "text": [f"Well, I paid {i} times, and no one said a word, not even {i * i}." for i in range(N)],
        "id": [f"T-{i}" for i in range(N)],
    }


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        ("age=number,label:a=0/1,label:b=yes/no", ["--labels label:a,label:b"]),
        ("label_late fee=0/1,age=number", ["--labels 'label_late fee'"]),
        ("age=number,y=0/1", ["--labels y"]),
        ("age=number,target=classes", ["--class-column target"]),
        ("age=number,species=classes", ["--class-column species"]),
        ("age=number,topics=tags,text=text,id=id", ["--tags topics"]),
        ("age=number,topics=lists", ["--tags topics"]),
        ("age=number,won=0/1,lost=yes/no", ["--labels won,lost"]),
        ("is_new=0/1,age=number,species=classes", ["--class-column species", "--labels is_new"]),
        ("label_x=0/1,age=number,tags=tags,type=classes", ["--labels label_x", "--tags tags", "--class-column type"]),
        ("age=number,id=id,text=text", []),
        ("a=0/1,b=0/1", []),
        ("colour=classes,age=number", []),
        ("age=number,colour=classes", ["--class-column colour"]),
        ("age=number,state=two,end=two", ["--labels state,end"]),
        ("age=number,paid=0/1,end=two", ["--labels paid,end"]),
        ("age=number,said=few tags", ["--tags said"]),
        ("age=number,name=names", []),
        ("age=number,size=steps", []),
    ],
)  # fmt: skip
def test_suggestions(columns, wanted):
    of = parts()
    table = pa.table({name: of[kind] for name, kind in (column.split("=") for column in columns.split(","))})
    found = suggest_labels(table)
    assert [one.options for one in found] == wanted
    for options, why in found:
        assert why
        what, value = shlex.split(options)
        how = {
            "--labels": {"labels": value.split(",")},
            "--tags": {"tags": value},
            "--class-column": {"class_column": value},
        }
        assert find_labels(table, **how[what]).rows == N


def test_features_are_not_labels():
    of = parts()
    table = pa.table({"age": of["number"], "a": of["0/1"], "topics": of["tags"], "b": of["0/1"]})
    assert [one.options for one in suggest_labels(table)] == ["--tags topics", "--labels b"]
    assert [one.options for one in suggest_labels(table, ["topics"])] == ["--labels b"]


def test_many_columns_and_commas():
    of = parts()
    many = {f"label:{i}" + "," * (i == 3): of["0/1"] for i in range(30)}
    first = suggest_labels(pa.table({**many, "age": of["number"]}))[0]
    assert first.options == "--label-prefix label:"
    assert first.why == "30 columns are called label"
    assert suggest_labels(pa.table({"age": of["number"], **many}))[0].options == "--last 30"
    # There is no way to name this one.
    assert suggest_labels(pa.table({"is_a,b": of["0/1"], "is_c": of["number"]})) == []


def test_a_rare_value_beyond_the_first_rows(monkeypatch):
    """What a look at some rows suggests is tried on all."""
    monkeypatch.setattr("smtl.tables.suggesting._ROWS", 10)
    assert suggest_labels(pa.table({"age": [1.5] * 20, "paid": [0, 1] * 9 + [0, 7]})) == []
    assert suggest_labels(pa.table({"age": [1.5] * 20, "paid": [0] * 19 + [1]}))[0].options == "--labels paid"
