"""The files of ../shared/data: shapes, densities and values, against its README and counts made with awk."""

import numpy as np
import pytest
import scipy.io
import scipy.io.arff
import scipy.sparse as sp

import real_data
from smtl.datasets import read, read_csv, read_matlab, read_mulan

pytestmark = pytest.mark.skipif(not real_data.available(), reason="needs ../shared/data")

# Rows, features (as they are, and one-hot), labels, and positives, which awk counted in the files.
ARFF = {
    "emotions/emotions": (593, 72, 72, 6, 1108),
    "emotions/emotions-train": (391, 72, 72, 6, None),
    "emotions/emotions-test": (202, 72, 72, 6, None),
    "yeast/yeast": (2417, 103, 103, 14, 10241),
    "flags/flags": (194, 19, 43, 7, 658),
    "flags/flags-train": (129, 19, 43, 7, None),
    "flags/flags-test": (65, 19, 43, 7, None),
    "cal500/cal500": (502, 68, 68, 174, 13074),
    "scene/scene-train": (1211, 294, 294, 6, None),
    "scene/scene-test": (1196, 294, 294, 6, None),
    "tmc2007-500/tmc2007-500": (28596, 500, 500, 22, 61708),
}


@pytest.mark.parametrize("name", ARFF)
def test_arff(name):
    n, d, one_hot, m, positives = ARFF[name]
    path = real_data.DATA / f"{name}.arff"
    data = read(path)
    assert data.X.shape == (n, one_hot)
    assert read_mulan(path, nominal="ordinal").X.shape == (n, d)
    assert data.Y.shape == (n, m)
    assert data.Y.dtype == np.int8
    assert len(set(data.label_names)) == m
    assert sp.issparse(data.X) == name.startswith("tmc")
    assert positives is None or data.Y.sum() == positives


@pytest.mark.parametrize("name", [name for name in ARFF if not name.startswith("tmc")])
def test_dense_arff_against_scipy(name):
    path = real_data.DATA / f"{name}.arff"
    data = read_mulan(path, nominal="ordinal")
    table, about = scipy.io.arff.loadarff(path)
    for attribute, ours in [
        *zip(data.feature_names, data.X.T, strict=True),
        *zip(data.label_names, data.Y.T, strict=True),
    ]:
        kind, values = about[attribute]
        theirs = table[attribute]
        if kind == "nominal":
            theirs = [values.index(value.decode()) for value in theirs]
        np.testing.assert_array_equal(ours, theirs)
    assert len(about.names()) == data.X.shape[1] + data.Y.shape[1]


def test_sparse_arff_against_liac_arff():
    arff = pytest.importorskip("arff", reason="needs liac-arff")
    path = real_data.DATA / "tmc2007-500/tmc2007-500.arff"
    with open(path) as file:
        found = arff.load(file, return_type=arff.LOD)
    data = read(path)
    names = [name for name, _ in found["attributes"]]
    assert names == [*data.feature_names, *data.label_names]
    table = sp.csr_matrix(sp.hstack([data.X, sp.csr_matrix(data.Y)]))
    table.sort_indices()
    assert [sorted(row) for row in found["data"]] == [
        row.tolist() for row in np.split(table.indices, table.indptr[1:-1])
    ]
    assert {value for row in found["data"] for value in row.values()} == {"1"}
    assert set(table.data) == {1}


def test_the_order_of_yeasts_labels():
    names = read(real_data.DATA / "yeast/yeast.arff").label_names
    assert names == tuple(f"Class{i}" for i in (1, 2, 3, 6, 4, 10, 11, 5, 7, 8, 9, 12, 13, 14))


def test_classes_in_csv():
    for name, options in (
        ("segment/segmentation.data", {"skip": 5, "class_column": 0}),
        ("segment/segmentation.test", {"skip": 5, "class_column": 0}),
        ("optdigits/optdigits.tra", {"class_column": -1}),
        ("optdigits/optdigits.tes", {"class_column": -1}),
    ):
        data = read_csv(real_data.DATA / name, header=False, **options)
        n = {"data": 210, "test": 2100, "tra": 3823, "tes": 1797}[name.rpartition(".")[2]]
        assert data.X.shape == (n, 19 if "segment" in name else 64)
        assert data.Y.shape == (n, 7 if "segment" in name else 10)
        np.testing.assert_array_equal(data.Y.sum(axis=1), 1)
        table = np.loadtxt(real_data.DATA / name, dtype=str, delimiter=",", skiprows=options.get("skip", 0))
        j = options["class_column"]
        np.testing.assert_array_equal(data.X, np.delete(table, j, axis=1).astype(float))
        np.testing.assert_array_equal(np.array(data.label_names)[data.Y.argmax(axis=1)], table[:, j])
    assert data.label_names == tuple("0123456789")


def test_landmine():
    path = real_data.DATA / "landmine/LandmineData.mat"
    data = read_matlab(path)
    assert data.X.shape == (14820, 9)
    assert round(100 * data.Y.mean(), 1) == 6.1
    np.testing.assert_array_equal(np.unique(data.tasks), np.arange(29))
    theirs = scipy.io.loadmat(path)
    np.testing.assert_array_equal(data.X, np.vstack(list(theirs["feature"][0])))
    np.testing.assert_array_equal(data.Y, np.concatenate(list(theirs["label"][0])).ravel())
    np.testing.assert_array_equal(np.bincount(data.tasks), [len(cell) for cell in theirs["label"][0]])
