"""MEKA's ARFF."""

import numpy as np
import pytest

from smtl.datasets import DatasetError, format_of, read, read_meka

ATTRIBUTES = "@attribute p {0,1}\n@attribute q {0,1}\n@attribute a real\n@attribute k {b,c}\n@attribute z {0,1}\n"
ROWS = "@data\n1,0,2.5,c,1\n0,1,?,b,0\n"


def make(folder, relation, attributes=ATTRIBUTES, rows=ROWS):
    path = folder / "data.arff"
    path.write_text(f"@relation {relation}\n{attributes}{rows}")
    return path


@pytest.mark.parametrize("relation", ["'music: -C 2'", "'music: -C 2 -split-percentage 50'", "music: -C 2", '"x -c 2"'])
def test_labels_first(tmp_path, relation):
    path = make(tmp_path, relation)
    assert format_of(path) == "meka"
    data = read(path)
    assert data.label_names == ("p", "q")
    assert data.feature_names == ("a", "k=b", "k=c", "z")
    np.testing.assert_array_equal(data.Y, [[1, 0], [0, 1]])
    np.testing.assert_array_equal(data.X, [[2.5, 0, 1, 1], [np.nan, 1, 0, 0]])


def test_labels_last(tmp_path):
    data = read_meka(make(tmp_path, "'music: -C -1'"), nominal="ordinal")
    assert data.label_names == ("z",)
    assert data.feature_names == ("p", "q", "a", "k")
    np.testing.assert_array_equal(data.Y, [[1], [0]])
    np.testing.assert_array_equal(data.X, [[1, 0, 2.5, 1], [0, 1, np.nan, 0]])


def test_sparse(tmp_path):
    data = read_meka(make(tmp_path, "'music: -C 2'", rows="@data\n{0 1,2 3}\n{1 1,4 1}\n"), drop=["k"])
    np.testing.assert_array_equal(data.Y, [[1, 0], [0, 1]])
    np.testing.assert_array_equal(data.X.toarray(), [[3, 0], [0, 1]])


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        ("music", "the relation name must hold -C and the number of labels, got 'music' instead; .* use read_mulan"),
        ("'music: -Clean 2'", "must hold -C"),
        ("'music: -C 2.5'", "must hold -C"),
        ("'music: -C 6'", "from 1 to the number of attributes, 5, or from -5 to -1, got 6 instead"),
        ("'music: -C -6'", "got -6 instead"),
        ("'music: -C 0'", "got 0 instead"),
        ("'music: -C 3'", "'a' must be 0 or 1, got '2.5' instead"),
        ("'music: -C -2'", r"line 5, column 1: label 'k' must have the values \{0,1\}, got 'b,c' instead"),
    ],
)
def test_errors(tmp_path, relation, message):
    with pytest.raises(DatasetError, match=message):
        read_meka(make(tmp_path, relation))


def test_the_line_of_the_relation(tmp_path):
    path = make(tmp_path, "music")
    path.write_text("% about\n\n" + path.read_text())
    with pytest.raises(DatasetError, match="must hold -C") as caught:
        read_meka(path)
    assert (caught.value.line, caught.value.column) == (3, 1)
