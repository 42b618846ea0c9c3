"""The data of a study: names before files, seeds from names, and files that stay as they are."""

import numpy as np
import pytest

from smtl.datasets import DatasetError
from smtl.experiments import Run, Store, Study, StudyError, compare, run_one
from smtl.experiments.protocol import seed_of
from smtl.experiments.study_data import load_for_study, name_for_seed

QUICK = Study(cv=2, n_values=2)
KNN = "sklearn.neighbors.KNeighborsClassifier"


def write_table(path, heads, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    Y = (X[:, :2] + rng.normal(size=(60, 2)) > 0.0).astype(int)
    np.savetxt(path, np.column_stack([X, Y]), delimiter=",", header=",".join(heads), comments="")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A file of one's own, in the current folder."""
    write_table(tmp_path / "own.csv", ["a", "b", "c", "label:sad", "label:calm"])
    monkeypatch.chdir(tmp_path)
    load_for_study.cache_clear()  # a path means another file in each test
    yield tmp_path / "own.csv"
    load_for_study.cache_clear()


def test_a_known_name_goes_before_a_file(own):
    own.rename("digits")
    assert load_for_study("digits")[0].shape == (1797, 64)
    assert load_for_study("./digits")[0].shape == (60, 3)
    assert name_for_seed("digits") == name_for_seed("./digits") == "digits"


def test_seeds_do_not_depend_on_how_a_path_is_written(own):
    results = [run_one(QUICK, Run(name, KNN, 1)) for name in ("own.csv", "./own.csv", str(own))]
    assert {result["seed"] for result in results} == {seed_of("own.csv", 1)}
    assert len({result["auc"] for result in results}) == 1


def test_a_file_that_has_changed_is_refused(own):
    before = compare(["own.csv"], [KNN], "study", study=QUICK, n_splits=1)
    assert compare(["own.csv"], [KNN], "study", study=QUICK, n_splits=1) == before
    write_table(own, ["a", "b", "c", "label:sad", "label:calm"], seed=1)
    with pytest.raises(StudyError, match=r"own\.csv must be the file that the study in study began with, got other"):
        compare(["own.csv@1:2"], [KNN], "study", study=QUICK, n_splits=2)
    assert len(compare(["own.csv"], [KNN], "another", study=QUICK, n_splits=1)) == 1


def test_a_store_from_before_there_were_checksums_goes_on_with_its_seeds(own):
    """Its seeds came from the path as it was written."""
    name = "./own.csv"
    settings = {"protocol": "stratified", "cv": 2, "n_values": 2, "train": 0.6}
    with Store("study/runs.sqlite", settings) as store:
        store.finish(Run(name, KNN, 0), {"auc": 0.5, "seed": seed_of(name, 0)})
    for _ in range(2):
        rows = compare([name], [KNN], "study", study=QUICK, n_splits=2)
        assert [row["seed"] for row in rows] == [seed_of(name, 0), seed_of(name, 1)]
    with Store("study/runs.sqlite") as store:
        assert len(store.settings[f"blake2b of {name}"]) == 32
    write_table(own, ["a", "b", "c", "label:sad", "label:calm"], seed=1)
    with pytest.raises(StudyError, match="got other content"):
        compare([name], [KNN], "study", study=QUICK, n_splits=2)


def test_a_name_that_cannot_be_read_fails_by_itself_and_stops_no_later_study(own):
    rows = compare(["own.csv@1:x", "own.csv@1:2"], ["smtl-auc-l21"], "study", study=QUICK, n_splits=1)
    assert {row["dataset"]: row["status"] for row in rows} == {"own.csv@1:2": "done", "own.csv@1:x": "failed"}
    assert rows[0]["seed"] == seed_of("own.csv", 0)
    assert compare(["own.csv"], [KNN], "study", study=QUICK, n_splits=1)[0]["seed"] == seed_of("own.csv", 0)


def test_a_table_without_labels_is_told_how_to_get_them(own):
    write_table("my data.csv", ["a", "b", "c", "sad", "calm"])
    with pytest.raises(DatasetError, match="line 1: label columns of a file to compare on must be called") as caught:
        load_for_study("my data.csv")
    assert "smtl convert 'my data.csv' 'my data-labelled.csv' --labels NAME,NAME" in str(caught.value)
