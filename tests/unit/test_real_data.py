"""The readers of `real_data`, against the README of the data folder and counts made in the files with awk."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import real_data

needs_data = pytest.mark.skipif(not real_data.available(), reason="needs ../shared/data")

# Rows, features and labels as in the README, but for flags: four of its 19 have 6, 4, 10 and 8 values,
# hence 15 + 28 columns. Positives were counted in the files. mediamill takes long to read: `test_named` looks at it.
EXPECTED = {
    "emotions": (593, 72, 6, 1108),
    "yeast": (2417, 103, 14, 10241),
    "flags": (194, 43, 7, 658),
    "cal500": (502, 68, 174, 13074),
    "scene": (1211 + 1196, 294, 6, 2585),
    "tmc2007": (28596, 500, 22, 61708),
    "segmentation": (210 + 2100, 19, 7, 2310),
    "optdigits": (3823 + 1797, 64, 10, 5620),
}


def values(X):
    return X.data if sparse.issparse(X) else X


def test_names():
    assert set(real_data.NAMES) == {*EXPECTED, "mediamill", "landmine"}
    assert len(real_data.NAMES) == 10


@needs_data
@pytest.mark.parametrize("name", EXPECTED)
def test_shapes_and_values(name):
    X, Y, tasks = real_data.load(name)
    n, d, m, positives = EXPECTED[name]
    assert X.shape == (n, d)
    assert X.dtype == np.float64
    assert sparse.issparse(X) == (name == "tmc2007")
    assert np.isfinite(values(X)).all()
    assert Y.shape == (n, m)
    assert Y.dtype.kind == "i"
    assert set(np.unique(Y)) == {0, 1}
    assert Y.sum() == positives
    assert tasks is None
    assert not values(X).flags.writeable
    assert not Y.flags.writeable
    assert real_data.load(name)[0] is X


@needs_data
def test_landmine():
    X, Y, tasks = real_data.load("landmine")
    assert X.shape == (14820, 9)
    assert np.isfinite(X).all()
    assert Y.shape == tasks.shape == (14820,)
    assert set(np.unique(Y)) == {0, 1}
    assert round(100 * Y.mean(), 1) == 6.1
    np.testing.assert_array_equal(np.unique(tasks), np.arange(29))
    assert (np.diff(tasks) >= 0).all()
    assert (tasks == 0).sum() == 690


@needs_data
def test_labels_come_in_the_order_of_the_xml():
    # Positives of Class1 to Class14, in the ARFF's order; the XML's order is below.
    counts = [762, 1038, 983, 862, 722, 597, 428, 480, 178, 253, 289, 1816, 1799, 34]
    xml = [1, 2, 3, 6, 4, 10, 11, 5, 7, 8, 9, 12, 13, 14]
    _, Y, _ = real_data.load("yeast")
    np.testing.assert_array_equal(Y.sum(axis=0), [counts[i - 1] for i in xml])


@needs_data
def test_flags_first_row():
    # 5,1,648,16,10,2,0,3,5,0,0,0,0,1,0,0,1,0,0 | 1,1,0,1,1,1,0
    X, Y, _ = real_data.load("flags")
    landmass, zone, language, religion = np.eye(6)[4], np.eye(4)[0], np.eye(10)[9], np.eye(8)[2]
    rest = [0, 3, 5, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0]
    np.testing.assert_array_equal(X[0], [*landmass, *zone, 648, 16, *language, *religion, *rest])
    np.testing.assert_array_equal(Y[0], [1, 1, 0, 1, 1, 1, 0])


@needs_data
def test_tmc2007_second_row():
    # {44 1,110 1,227 1,235 1,339 1,350 1,444 1,518 1}; the labels are columns 500 to 521, in order.
    X, Y, _ = real_data.load("tmc2007")
    np.testing.assert_array_equal(X[1].indices, [44, 110, 227, 235, 339, 350, 444])
    np.testing.assert_array_equal(np.flatnonzero(Y[1]), [18])


@needs_data
def test_notes_of_the_readme():
    assert real_data.load("cal500")[1].sum(axis=0).min() == 5
    assert (np.ptp(real_data.load("segmentation")[0], axis=0) == 0).sum() == 1
    for name in ("segmentation", "optdigits"):
        assert (real_data.load(name)[1].sum(axis=1) == 1).all()
    scene = real_data.load("scene")[0]
    train = {row.tobytes() for row in scene[:1211]}
    assert sum(row.tobytes() in train for row in scene[1211:]) == 6


@needs_data
@pytest.mark.parametrize("name", ["yeast", "segmentation", "tmc2007"])
def test_split_scales_by_the_training_part(name):
    X_train, Y_train, X_test, Y_test = real_data.split(name, seed=3)
    n, d, m, positives = EXPECTED[name]
    assert X_train.shape == (round(0.6 * n), d)
    assert X_test.shape == (n - round(0.6 * n), d)
    assert Y_train.sum() + Y_test.sum() == positives
    assert Y_train.shape[1] == Y_test.shape[1] == m
    if sparse.issparse(X_train):
        assert abs(X_train).max() == 1
    else:
        np.testing.assert_allclose(X_train.mean(axis=0), 0, atol=1e-9)
        std = X_train.std(axis=0)
        np.testing.assert_allclose(std[std > 0], 1)
    again = real_data.split(name, seed=3)
    np.testing.assert_array_equal(again[3], Y_test)
    np.testing.assert_array_equal(values(again[0]), values(X_train))
    assert not np.array_equal(real_data.split(name, seed=4)[3], Y_test)


@needs_data
def test_split_keeps_rows_and_labels_together():
    X, Y, _ = real_data.load("yeast")
    X_train, Y_train, X_test, Y_test = real_data.split("yeast", seed=1)
    order = np.random.default_rng(1).permutation(2417)
    np.testing.assert_array_equal(np.vstack([Y_train, Y_test]), Y[order])
    mean, std = X[order[:1450]].mean(axis=0), X[order[:1450]].std(axis=0)
    np.testing.assert_allclose(np.vstack([X_train, X_test]), (X[order] - mean) / std, atol=1e-9)


@needs_data
def test_split_drops_labels_of_one_class():
    _, Y_train, _, Y_test = real_data.split("cal500", train=0.05)
    assert Y_train.shape[1] == Y_test.shape[1] < 174
    assert set(Y_train.min(axis=0)) == {0}
    assert set(Y_train.max(axis=0)) == {1}


def test_errors():
    with pytest.raises(ValueError, match=r"name must be one of emotions, .*landmine, got 'iris' instead"):
        real_data.load("iris")
    with pytest.raises(ValueError, match="tasks share rows, got 'landmine' instead; use load"):
        real_data.split("landmine")


@needs_data
def test_split_refuses_an_empty_part():
    with pytest.raises(ValueError, match=r"train must leave rows on both sides of the split, got 1.0 instead"):
        real_data.split("emotions", train=1.0)


def test_folder_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("SMTL_DATA", str(tmp_path))
    module = runpy.run_path(real_data.__file__)
    assert module["DATA"] == tmp_path
    assert not module["available"]()
    monkeypatch.delenv("SMTL_DATA")
    root = Path(__file__).resolve().parents[2]
    assert runpy.run_path(real_data.__file__)["DATA"] == root.parent / "shared" / "data"
