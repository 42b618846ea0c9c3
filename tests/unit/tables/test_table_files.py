"""`tests/table_files.py`: each file, read with the right options by pandas, is the table that it stands for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from tests import table_files as files
from tests.seeds import new_seed

PLAIN = [
    files.write_yes_no,
    files.write_tags,
    files.write_classes,
    files.write_hospitals,
    files.write_one_column,
    files.write_one_feature,
]


def assert_same(read, table):
    pd.testing.assert_frame_equal(read.replace("", None), table.replace("", None), check_dtype=False)


@pytest.mark.parametrize("write", PLAIN)
def test_plain_files(tmp_path, write):
    made = write(tmp_path, seed=new_seed())
    assert_same(pd.read_csv(made.path), made.table)
    assert set(made.labels) <= set(made.table.columns)
    for label in made.labels:
        assert made.table[label].value_counts().head(2).min() >= 10


@pytest.mark.parametrize("encoding", files.ENCODINGS)
def test_excel(tmp_path, encoding):
    made = files.write_excel_csv(tmp_path, encoding, seed=new_seed())
    start = made.path.read_bytes()[:3]
    assert start.startswith({"utf-8-sig": b"\xef\xbb\xbf", "utf-16": b"\xff\xfe"}.get(encoding, b"id;"))
    separator = "\t" if encoding == "utf-16" else ";"
    read = pd.read_csv(made.path, sep=separator, decimal=",", encoding=encoding)
    read["opened"] = pd.to_datetime(read["opened"], format="%d.%m.%Y %H:%M").dt.strftime("%Y-%m-%d %H:%M")
    assert_same(read, made.table)
    if encoding == "cp1252":
        with pytest.raises(UnicodeDecodeError):
            made.path.read_text(encoding="utf-8")


def test_parquet_has_an_index_column(tmp_path):
    made = files.write_parquet(tmp_path, seed=new_seed())
    assert "__index_level_0__" in pq.read_schema(made.path).names
    assert_same(pd.read_parquet(made.path).reset_index(drop=True), made.table)


def test_json_lines_no_header_and_latin1(tmp_path):
    made = files.write_json_lines(tmp_path, seed=new_seed())
    assert_same(pd.read_json(made.path, lines=True, dtype=False), made.table)
    made = files.write_no_header(tmp_path, seed=new_seed())
    assert_same(pd.read_csv(made.path, header=None).rename(columns=str), made.table)
    made = files.write_latin1(tmp_path, seed=new_seed())
    assert_same(pd.read_csv(made.path, encoding="latin-1"), made.table)
    with pytest.raises(UnicodeDecodeError):
        made.path.read_text(encoding="utf-8")


def test_wide_and_long(tmp_path):
    wide = files.write_wide(tmp_path, seed=new_seed())
    assert pd.read_csv(wide.path).shape == wide.table.shape == (120, 1000)
    long = files.write_long(tmp_path, seed=new_seed())
    assert_same(pd.read_csv(long.path), long.table)
    assert long.table.shape == (100_000, 3)
    for label in (*wide.labels, *long.labels):
        table = wide.table if label in wide.labels else long.table
        assert 0.05 < np.mean(table[label] == "yes") < 0.8


def test_what_cannot_be_read_as_it_is(tmp_path):
    made = files.write_duplicate_names(tmp_path, seed=new_seed())
    header = made.path.read_text(encoding="utf-8").splitlines()[0].split(",")
    assert header.count("weight") == 2
    assert files.write_empty(tmp_path).path.stat().st_size == 0
    assert len(files.write_header_only(tmp_path).path.read_text(encoding="utf-8").splitlines()) == 1


def test_labels_can_be_learned_from_what_the_files_say(tmp_path):
    made = {write: write(tmp_path, seed=new_seed()) for write in (files.write_yes_no, files.write_tags)}
    made[files.write_classes] = files.write_classes(tmp_path, seed=new_seed())
    for (_, table, labels), yes in zip(made.values(), ("yes", "crash", "crash"), strict=True):
        known = table[table[labels[-1]].notna()]
        y = known[labels[-1]].str.contains(yes).to_numpy()
        model = make_pipeline(CountVectorizer(), LogisticRegression(C=10.0))
        scores = cross_val_predict(model, known["subject"], y, cv=5, method="decision_function")
        assert roc_auc_score(y, scores) > 0.75
    hospitals = files.write_hospitals(tmp_path, seed=new_seed()).table
    y = (hospitals["ill"] == "yes").to_numpy()
    scores = cross_val_predict(LogisticRegression(), hospitals[["age", "pressure"]], y, method="decision_function")
    assert roc_auc_score(y, scores) > 0.75
