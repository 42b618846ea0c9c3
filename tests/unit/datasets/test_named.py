"""The named sets: where they are found, that they are what they should be, and what is said where they are not."""

import gzip
import os
import re
import shutil
import sys
import zipfile
from urllib.error import URLError

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.datasets
from sklearn.utils import Bunch

import real_data
from smtl.datasets import Dataset, DatasetError, dataset_names, load_dataset, write_csv, write_mulan
from smtl.datasets.known import SETS

needs_data = pytest.mark.skipif(not real_data.available(), reason="needs ../shared/data")
DATA = real_data.DATA
# As Mulan's list of data sets gives them; one of seven and of ten classes.
DENSITIES = {
    "emotions": 0.311,
    "yeast": 0.303,
    "flags": 0.485,
    "cal500": 0.150,
    "scene": 0.179,
    "tmc2007": 0.098,
    "mediamill": 0.043,
    "segmentation": 0.143,
    "optdigits": 0.1,
    "landmine": 0.061,
}
FOLDERS = {"segmentation": "segment", "tmc2007": "tmc2007-500"}


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory):
    """A cache folder that the slow sets are parsed into once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, tmp_path):
    monkeypatch.setenv("SMTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SMTL_DATA", raising=False)


@pytest.fixture
def fetched(monkeypatch):
    """Put a stub in the place of OpenML; what it returns, or raises, is to be set."""

    class Stub:
        calls = []
        result = URLError("no network")

        def __call__(self, **options):
            self.calls.append(options)
            if isinstance(self.result, Exception):
                raise self.result
            return self.result

    stub = Stub()
    stub.calls = []
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", stub)
    return stub


def readme_shape(name):
    """Return rows, features and tasks from the table in the README of the data folder."""
    folder = FOLDERS.get(name, name)
    row = re.search(rf"^\| {re.escape(folder)} \|.*$", (DATA / "README.md").read_text(encoding="utf-8"), re.M)[0]
    if name == "landmine":
        tasks, rows, features = re.search(r"(\d+) tasks, (\d+) x (\d+)", row).groups()
    else:
        rows, features, tasks = re.search(r"\| ([\d +]+) x (\d+), (\d+)", row).groups()
    return sum(map(int, rows.split("+"))), int(features), int(tasks)


@needs_data
@pytest.mark.parametrize("name", DENSITIES)
def test_shapes_and_densities_are_the_published_ones(name, shared_cache, monkeypatch):
    monkeypatch.setenv("SMTL_CACHE", str(shared_cache))
    data = load_dataset(name, folder=DATA)
    m = data.Y.shape[1] if data.tasks is None else len(np.unique(data.tasks))
    assert (*data.X.shape, m) == readme_shape(name)
    assert round(float(data.Y.mean()), 3) == DENSITIES[name]
    assert set(np.unique(data.Y)) == {0, 1}
    assert data.name == name
    assert sp.issparse(data.X) == (name == "tmc2007")
    assert data.Y.dtype == np.int8
    assert data.X.dtype == np.float64
    if name == "mediamill":  # too large to be read twice
        assert (data.Y.sum(), (data.Y.sum(axis=1) == 0).sum()) == (192118, 1730)


@needs_data
@pytest.mark.parametrize("name", dataset_names())
def test_figures_of_the_table_are_those_of_the_data(name, shared_cache, monkeypatch):
    monkeypatch.setenv("SMTL_CACHE", str(shared_cache))
    known = SETS[name]
    for variant in (None, *known.variants):
        content = known.variants[variant] if variant else known.content
        data = load_dataset(name, variant=variant, folder=DATA)
        columns = data.Y.T if data.tasks is None else [data.Y[data.tasks == task] for task in np.unique(data.tasks)]
        ratios = [(len(y) - y.sum()) / y.sum() for y in columns]
        assert content.positives == data.Y.sum()
        assert content.density == pytest.approx(data.Y.mean())
        assert content.imbalance == pytest.approx(np.median(ratios), abs=5.1e-3)
        assert content.worst == pytest.approx(np.max(ratios), abs=5.1e-3)


def test_digits_are_always_there(fetched):
    data = load_dataset("digits", download=False)
    X, digit = sklearn.datasets.load_digits(return_X_y=True)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.Y.argmax(axis=1), digit)
    assert data.label_names == tuple("0123456789")
    assert (data.Y.sum(axis=1) == 1).all()
    assert fetched.calls == []


@needs_data
def test_yeast_has_the_order_of_its_xml():
    names = re.findall(r'name="(\w+)"', (DATA / "yeast" / "yeast.xml").read_text())
    text = (DATA / "yeast" / "yeast.arff").read_text().splitlines()
    columns = [line.split()[1] for line in text if line.lower().startswith("@attribute")]
    rows = [line.split(",") for line in text[text.index("@data") + 1 :] if line]
    data = load_dataset("yeast", folder=DATA)
    assert data.label_names == tuple(names)
    assert names != sorted(names, key=columns.index)
    for name, column in zip(names, data.Y.T, strict=True):
        np.testing.assert_array_equal(column, [int(row[columns.index(name)]) for row in rows])


@needs_data
@pytest.mark.parametrize(
    ("name", "parts", "skipped"),
    [
        ("segmentation", ("segmentation.data", "segmentation.test"), 5),
        ("optdigits", ("optdigits.tra", "optdigits.tes"), 0),
    ],
)
def test_parts_are_joined_in_order(name, parts, skipped):
    folder = DATA / FOLDERS.get(name, name)
    rows = [line.split(",") for part in parts for line in (folder / part).read_text().splitlines()[skipped:]]
    data = load_dataset(name, folder=DATA)
    column = 0 if name == "segmentation" else -1
    assert [data.label_names[k] for k in data.Y.argmax(axis=1)] == [row.pop(column) for row in rows]
    np.testing.assert_array_equal(data.X, np.array(rows, dtype=float))


@needs_data
def test_training_rows_of_scene_come_first():
    data = load_dataset("scene", folder=DATA)
    X_train, Y_train, X_test, Y_test = real_data.standard_split("scene")
    np.testing.assert_array_equal(data.X, np.vstack([X_train, X_test]))
    np.testing.assert_array_equal(data.Y, np.vstack([Y_train, Y_test]))


@needs_data
def test_nominal_features_are_ordinal_or_one_hot():
    ordinal, one_hot = (load_dataset("flags", nominal=form, folder=DATA).X for form in ("ordinal", "one-hot"))
    assert ordinal.shape == (194, 19)
    # Four of the features have 6, 4, 10 and 8 values.
    assert one_hot.shape == (194, 15 + 28)
    np.testing.assert_array_equal(one_hot[:, :6], np.eye(6)[ordinal[:, 0].astype(int)])
    with pytest.raises(ValueError, match="nominal must be 'one-hot' or 'ordinal', got 'hash' instead"):
        load_dataset("flags", nominal="hash", folder=DATA)


@needs_data
@pytest.mark.parametrize(("name", "m"), [("mediamill", 12), ("tmc2007", 6)])
def test_the_papers_part_follows_its_rule(name, m, shared_cache, monkeypatch):
    monkeypatch.setenv("SMTL_CACHE", str(shared_cache))
    whole, part = load_dataset(name, folder=DATA), load_dataset(f"{name}:paper", folder=DATA)
    rows = sorted(np.random.default_rng(0).choice(len(whole.Y), 10_000, replace=False))
    counts = whole.Y.sum(axis=0).tolist()
    ranked = sorted(range(len(counts)), key=lambda k: (-counts[k], k))
    labels = sorted(ranked[:m])
    assert part.X.shape == (10_000, whole.X.shape[1])
    np.testing.assert_array_equal(part.Y, whole.Y[rows][:, labels])
    assert (whole.X[rows] != part.X).sum() == 0
    if whole.label_names:
        assert part.label_names == tuple(whole.label_names[k] for k in labels)


@needs_data
def test_a_variant_wants_the_published_order(tmp_path):
    lines = (DATA / "tmc2007-500" / "tmc2007-500.arff").read_text().splitlines()
    at = [line.lower() for line in lines].index("@data") + 1
    rows = [line for line in lines[at:] if line]
    (tmp_path / "tmc2007-500.arff").write_text("\n".join([*lines[:at], *rows[::-1]]))
    shutil.copy(DATA / "tmc2007-500" / "tmc2007-500.xml", tmp_path)
    assert load_dataset("tmc2007", folder=tmp_path).X.shape == (28596, 500)
    with pytest.raises(DatasetError, match="tmc2007: its rows must be in the published order for the variant 'paper'"):
        load_dataset("tmc2007:paper", folder=tmp_path)


@needs_data
@pytest.mark.parametrize("flat", [False, True])
def test_the_folder_of_the_environment_comes_before_the_cache_folder(flat, monkeypatch, tmp_path):
    place = tmp_path / "data" if flat else tmp_path / "data" / "emotions"
    place.mkdir(parents=True)
    cached = tmp_path / "cache" / "emotions"
    cached.mkdir(parents=True)
    for file in ("emotions.arff", "emotions.xml"):
        shutil.copy(DATA / "emotions" / file, cached)
    expected = load_dataset("emotions", download=False)
    assert expected.X.shape == (593, 72)
    # What stands in the first place is not passed over, be it wrong.
    for file in ("emotions.arff", "emotions.xml"):
        shutil.copy(DATA / "emotions" / file, place)
    shutil.copyfile(DATA / "emotions" / "emotions-train.arff", place / "emotions.arff")
    monkeypatch.setenv("SMTL_DATA", str(tmp_path / "data"))
    message = (
        f"^{re.escape(str(place / 'emotions.arff'))}, .*emotions.xml: must be emotions: 593 rows, 72 features, "
        "6 tasks, got 391 rows, 72 features, 6 tasks; get the published file.$"
    )
    with pytest.raises(DatasetError, match=message):
        load_dataset("emotions", download=False)
    (place / "emotions.arff").unlink()
    with gzip.open(place / "emotions.arff.gz", "wb") as file:
        file.write((DATA / "emotions" / "emotions.arff").read_bytes())
    np.testing.assert_array_equal(load_dataset("emotions").X, expected.X)


@needs_data
def test_other_content_of_the_same_shape_is_refused(tmp_path):
    data = load_dataset("flags", folder=DATA)
    shutil.copy(DATA / "flags" / "flags.xml", tmp_path)
    text = (DATA / "flags" / "flags.arff").read_text()
    (tmp_path / "flags.arff").write_text(text.replace("648,16", "649,16", 1))
    with pytest.raises(DatasetError, match=r"flags.arff.*must be flags, with the checksum \w{16}, got other values"):
        load_dataset("flags", folder=tmp_path)
    (tmp_path / "flags.arff").write_text(text)
    np.testing.assert_array_equal(load_dataset("flags", folder=tmp_path).X, data.X)


@needs_data
def test_another_labels_file_is_refused(tmp_path):
    shutil.copy(DATA / "emotions" / "emotions.arff", tmp_path)
    text = (DATA / "emotions" / "emotions.xml").read_text()
    (tmp_path / "emotions.xml").write_text(text.replace('<label name="quiet-still"></label>', ""))
    with pytest.raises(DatasetError, match=r"emotions.xml: must be emotions: its labels must be amazed-suprised, "):
        load_dataset("emotions", folder=tmp_path)


@needs_data
def test_scene_in_one_file(tmp_path):
    data = load_dataset("scene", folder=DATA)
    write_mulan(data, tmp_path / "scene.arff")
    again = load_dataset("scene", folder=tmp_path)
    np.testing.assert_array_equal(again.X, data.X)
    np.testing.assert_array_equal(again.Y, data.Y)


@pytest.fixture
def river(tmp_path, monkeypatch):
    """A package of that name, which must not be imported."""
    monkeypatch.delitem(sys.modules, "river", raising=False)
    package = tmp_path / "site" / "river"
    (package / "datasets").mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.setattr(sys, "path", [str(package.parent), *sys.path])
    return package / "datasets"


@needs_data
def test_yeast_is_found_in_river(river):
    data = load_dataset("yeast", folder=DATA)
    order = sorted(range(14), key=lambda k: int(data.label_names[k].removeprefix("Class")))
    labels = tuple(data.label_names[k] for k in order)
    table = Dataset(data.X, data.Y[:, order], data.feature_names, labels)
    write_csv(table, river / "yeast.csv.gz", prefix="")
    found = load_dataset("yeast", download=False)
    np.testing.assert_array_equal(found.X, data.X)
    np.testing.assert_array_equal(found.Y, data.Y)
    assert found.label_names == data.label_names
    assert "river" not in sys.modules


@needs_data
def test_segmentation_is_found_in_river(river):
    # Its table is shuffled, lacks the constant feature, and misses some numbers by their last bit.
    data = load_dataset("segmentation", folder=DATA)
    order = np.random.default_rng(0).permutation(2310)
    X = np.delete(data.X[order], 2, axis=1)
    X = np.where((np.arange(18) % 3 == 0) & (X != 0), np.nextafter(X, np.inf), X)
    classes = [data.label_names[k].lower() for k in data.Y[order].argmax(axis=1)]
    lines = [",".join([*map(repr, row), kind]) for row, kind in zip(X.tolist(), classes, strict=True)]
    header = ",".join([*(name for name in data.feature_names if name != "region-pixel-count"), "category"])
    with zipfile.ZipFile(river / "segment.csv.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("segment.csv.zip", "\n".join([header, *lines]))
    found = load_dataset("segmentation", download=False)
    np.testing.assert_array_equal(found.X, data.X[order])
    np.testing.assert_array_equal(found.Y, data.Y[order])
    assert found.label_names == data.label_names
    assert found.feature_names == data.feature_names


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"a,b\n1,2\n"])
def test_a_damaged_archive_is_refused(river, content):
    (river / "segment.csv.zip").write_bytes(content)
    with pytest.raises(DatasetError, match=r"segment.csv.zip: must be a zip archive of one table"):
        load_dataset("segmentation", download=False)


def test_an_archive_that_grows_without_end_is_refused(river):
    with zipfile.ZipFile(river / "segment.csv.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("segment.csv", bytes(2**26 + 1))
    with pytest.raises(DatasetError, match=r"must have at most 67,108,864 bytes, got more"):
        load_dataset("segmentation", download=False)


def test_what_is_nowhere_is_told_with_all_places(fetched, monkeypatch, tmp_path):
    monkeypatch.setenv("SMTL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError) as caught:
        load_dataset("emotions")
    text = str(caught.value)
    for expected in (
        "emotions was not found. Looked in:",
        f"- SMTL_DATA: {tmp_path / 'nowhere'} is no folder",
        f"- the cache folder: {tmp_path / 'cache'}",
        "- installed packages: none carries it",
        "- OpenML: data set 41465 could not be fetched (<urlopen error no network>)",
        f"Get emotions.arff and emotions.xml (Mulan, mulan.sourceforge.net) and put them into "
        f"{tmp_path / 'cache' / 'emotions'}, or into a folder that the environment variable SMTL_DATA names.",
    ):
        assert expected in text
    assert len(fetched.calls) == 1


def test_nothing_is_fetched_against_the_users_will(fetched):
    with pytest.raises(FileNotFoundError, match="- OpenML: not asked for data set 41473, because of download=False"):
        load_dataset("yeast", download=False)
    with pytest.raises(FileNotFoundError, match="- OpenML: no copy is known there"):
        load_dataset("mediamill")
    assert fetched.calls == []


def bunch_of(data, categories, codes, names):
    """Return what scikit-learn makes of a set: all columns in one array, nominal ones as positions."""
    return Bunch(data=np.hstack([data.X, codes]), feature_names=[*data.feature_names, *names], categories=categories)


@needs_data
def test_labels_from_openml_go_by_their_names(fetched):
    data = load_dataset("emotions", folder=DATA)
    names = [name.replace("-", ".") for name in data.label_names][::-1]
    categories = {name: ["TRUE", "FALSE"] if k % 2 else ["FALSE", "TRUE"] for k, name in enumerate(names)}
    codes = np.column_stack([(y == (k % 2 == 0)).astype(float) for k, y in enumerate(data.Y.T[::-1])])
    fetched.result = bunch_of(data, categories, codes, names)
    found = load_dataset("emotions")
    np.testing.assert_array_equal(found.X, data.X)
    np.testing.assert_array_equal(found.Y, data.Y)
    assert found.label_names == data.label_names
    (call,) = fetched.calls
    wanted = {"data_id": 41465, "as_frame": False, "target_column": None, "parser": "liac-arff"}
    assert call.items() >= wanted.items()


@needs_data
def test_classes_from_openml_become_labels(fetched):
    data = load_dataset("segmentation", folder=DATA)
    classes = [name.lower() for name in data.label_names][::-1]
    codes = 6.0 - data.Y.argmax(axis=1)[:, None]
    fetched.result = bunch_of(data, {"class": classes}, codes, ["class"])
    np.testing.assert_array_equal(load_dataset("segmentation").Y, data.Y)
    fetched.result.data[0, 0] += 1.0
    with pytest.raises(DatasetError, match="OpenML's data set 36: must be segmentation, with the checksum"):
        load_dataset("segmentation")
    fetched.result.categories = {"class": [*classes[1:], "other"]}
    with pytest.raises(DatasetError, match="OpenML's data set 36: must be segmentation: must have one column with the"):
        load_dataset("segmentation")


@pytest.mark.parametrize(
    ("name", "variant", "message"),
    [
        ("iris", None, r"name must be one of 'cal500', .*'yeast', got 'iris' instead"),
        ("yeast", "paper", "variant must be None, for yeast has no variants, got 'paper' instead"),
        ("mediamill:small", None, "variant must be one of 'paper' or None, got 'small' instead"),
        ("mediamill:paper", "small", "variant must be that of the name, 'paper', or None, got 'small' instead"),
    ],
)
def test_unknown_names_list_the_known(name, variant, message):
    with pytest.raises(ValueError, match=message):
        load_dataset(name, variant=variant)


def test_the_users_own_cache_is_not_touched(tmp_path):
    assert os.environ["SMTL_CACHE"] == str(tmp_path / "cache")
    load_dataset("digits")
    assert not (tmp_path / "cache").exists()
