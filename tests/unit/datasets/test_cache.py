"""The parsed arrays: used while the files stay the same, and never in the way."""

import os
import pickle
import shutil

import numpy as np
import pytest
import scipy.sparse as sp

import real_data
from smtl.datasets import Dataset, load_dataset
from smtl.datasets.cache import entry_of, load, save

needs_data = pytest.mark.skipif(not real_data.available(), reason="needs ../shared/data")


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("SMTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SMTL_DATA", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("1,2\n")
    return path


@pytest.fixture
def flags(tmp_path):
    """The files of flags, in a folder of their own, with an odd name."""
    folder = tmp_path / "dätä"
    folder.mkdir()
    for file in ("flags.arff", "flags.xml"):
        shutil.copy(real_data.DATA / "flags" / file, folder)
    return folder


X = np.array([[0.5, np.nan, -0.0], [0.0, 1e300, 2.0]])
SETS = [
    Dataset(X, np.array([[0, 1], [1, 1]], dtype=np.int8), ("a", "b, c", "ü'\"\\"), ("", "日本"), name="odd"),
    Dataset(sp.csr_matrix(X), np.array([[np.nan], [1.0]])),
    Dataset(X, np.array([0, 1], dtype=np.int8), tasks=np.array([3, 1]), label_names=("y",)),
    Dataset(X, np.array([0.0, 1.0]), tasks=np.array(["north", "süd"])),
    Dataset(np.empty((2, 0)), np.empty((2, 0), dtype=np.int8), (), ()),
]


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


@pytest.mark.parametrize("data", SETS)
def test_comes_back_as_it_was(data, source):
    entry = entry_of("small", "ordinal", "0", [source])
    assert load(entry) is None
    save(entry, data)
    again = load(entry)
    assert type(again.X) is type(data.X)
    for one, other in ((again.X, data.X), (again.Y, data.Y)):
        np.testing.assert_array_equal(dense(one), dense(other))
        assert one.dtype == other.dtype
    assert (again.tasks is None) == (data.tasks is None)
    if data.tasks is not None:
        np.testing.assert_array_equal(again.tasks, data.tasks)
        assert again.tasks.dtype == data.tasks.dtype
    assert (again.feature_names, again.label_names) == (data.feature_names, data.label_names)
    assert again.name == data.name
    assert [path.name for path in entry.path.parent.iterdir()] == [entry.path.name]


def test_is_of_no_use_for_anything_else(source, tmp_path):
    entry = entry_of("small", "ordinal", "0", [source])
    save(entry, SETS[0])
    others = [("tiny", "ordinal", "0"), ("small", "one-hot", "0"), ("small", "ordinal", "1")]
    for other in others:
        assert load(entry_of(*other, [source])) is None
    state = source.stat()
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert load(entry_of("small", "ordinal", "0", [source])) is None
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert load(entry_of("small", "ordinal", "0", [source])) is not None
    source.write_text("1,2\n3,4\n")
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))
    changed = entry_of("small", "ordinal", "0", [source])
    assert load(changed) is None
    # It takes the place of the old one: the folder does not grow.
    save(changed, SETS[1])
    assert len(list(entry.path.parent.iterdir())) == 1
    shutil.copy2(source, tmp_path / "copy.csv")
    assert load(entry_of("small", "ordinal", "0", [tmp_path / "copy.csv"])) is None


def test_damaged_files_are_passed_over(source):
    entry = entry_of("small", "ordinal", "0", [source])
    save(entry, SETS[0])
    whole = entry.path.read_bytes()
    for size in range(0, len(whole), 7):
        entry.path.write_bytes(whole[:size])
        assert load(entry) is None
    rng = np.random.default_rng(0)
    for _ in range(200):
        changed = bytearray(whole)
        changed[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        entry.path.write_bytes(changed)
        found = load(entry)  # a bit that does not count may be the one that changed
        if found is not None:
            np.testing.assert_array_equal(found.X, SETS[0].X)
            np.testing.assert_array_equal(found.Y, SETS[0].Y)


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_nothing_is_unpickled(source, tmp_path):
    entry = entry_of("small", "ordinal", "0", [source])
    mark = tmp_path / "unpickled"
    pickle.loads(pickle.dumps(Bomb(mark))).close()
    mark.unlink()
    entry.path.parent.mkdir(parents=True)
    objects = np.array([Bomb(mark)], dtype=object)
    np.savez(entry.path, stamp=np.array(entry.stamp), name=np.array(""), X=objects, Y=objects)
    assert load(entry) is None
    entry.path.write_bytes(pickle.dumps(Bomb(mark)))
    assert load(entry) is None
    np.savez(entry.path, stamp=np.array(entry.stamp))
    assert load(entry) is None
    assert not mark.exists()


@needs_data
def test_the_second_load_does_not_read_the_files(flags, cache):
    first = load_dataset("flags", folder=flags)
    assert len(list((cache / "parsed").iterdir())) == 1
    path = flags / "flags.arff"
    state, text = path.stat(), path.read_bytes()
    path.write_bytes(b"x" * state.st_size)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    again = load_dataset("flags", folder=flags)
    np.testing.assert_array_equal(again.X, first.X)
    np.testing.assert_array_equal(again.Y, first.Y)
    assert (again.feature_names, again.label_names) == (first.feature_names, first.label_names)
    with pytest.raises(ValueError, match=r"flags\.arff"):
        load_dataset("flags", folder=flags, cache=False)
    # Nor does it hide that they changed.
    path.write_bytes(text.replace(b"648,16", b"649,16", 1))
    with pytest.raises(ValueError, match="must be flags, with the checksum"):
        load_dataset("flags", folder=flags)


@needs_data
def test_a_damaged_entry_is_made_anew(flags, cache):
    load_dataset("flags", folder=flags)
    (path,) = (cache / "parsed").iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert load_dataset("flags", folder=flags).X.shape == (194, 19)
    with np.load(path, allow_pickle=False) as file:
        assert file["X"].shape == (194, 19)


@needs_data
def test_the_forms_of_nominal_features_do_not_mix(flags, cache):
    for _ in range(2):
        assert load_dataset("flags", folder=flags).X.shape[1] == 19
        assert load_dataset("flags", folder=flags, nominal="one-hot").X.shape[1] == 43
    assert len(list((cache / "parsed").iterdir())) == 2


@needs_data
def test_a_folder_that_cannot_be_written_to_is_no_error(flags, cache, monkeypatch):
    cache.write_text("a file stands where the folder would be")
    assert load_dataset("flags", folder=flags).X.shape == (194, 19)
    monkeypatch.setenv("SMTL_CACHE", os.devnull)
    assert load_dataset("flags", folder=flags).X.shape == (194, 19)


@needs_data
def test_without_a_cache_nothing_is_written(flags, cache):
    load_dataset("flags", folder=flags, cache=False)
    assert not cache.exists()
