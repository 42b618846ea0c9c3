"""Folders and packages that data are looked for in."""

from pathlib import Path

import platformdirs
import pytest

from smtl.datasets.known import SETS
from smtl.datasets.places import cache_folder, data_folder, files_in, look


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, tmp_path):
    monkeypatch.setenv("SMTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SMTL_DATA", raising=False)


def touch(*paths):
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_folders_of_the_environment(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "cache"
    assert data_folder() is None
    monkeypatch.setenv("SMTL_DATA", "~/data")
    assert data_folder() == Path.home() / "data"
    monkeypatch.setenv("SMTL_DATA", "")
    assert data_folder() is None
    monkeypatch.delenv("SMTL_CACHE")
    assert cache_folder() == Path(platformdirs.user_cache_dir("smtl", appauthor=False))


@pytest.mark.parametrize("name", [name for name in SETS if SETS[name].files])
@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2"])
def test_every_layout_is_found(name, suffix, tmp_path):
    known = SETS[name]
    for number, names in enumerate(known.files):
        for folder in (*known.folders, ""):
            place = tmp_path / f"{number} {folder}"
            paths = [place / folder / (file.removesuffix(".bz2") + suffix) for file in names]
            touch(*paths)
            assert list(files_in(place, known)) == paths
            paths[0].unlink()
            assert files_in(place, known) is None


def test_a_folder_of_the_sets_own_comes_first(tmp_path):
    flat = [tmp_path / name for name in ("yeast.arff", "yeast.xml")]
    own = [tmp_path / "yeast" / name for name in ("yeast.arff", "yeast.xml")]
    touch(*flat)
    assert list(files_in(tmp_path, SETS["yeast"])) == flat
    touch(*own)
    assert list(files_in(tmp_path, SETS["yeast"])) == own


def test_parts_do_not_come_from_two_places(tmp_path):
    touch(tmp_path / "scene-train.arff", tmp_path / "scene.xml", tmp_path / "scene" / "scene-test.arff")
    assert files_in(tmp_path, SETS["scene"]) is None


def test_order_of_the_places(monkeypatch, tmp_path):
    known = SETS["emotions"]
    assert look(known)[0] is None
    for where in ("cache", "data", "given"):
        touch(tmp_path / where / "emotions.arff", tmp_path / where / "emotions.xml")
    assert look(known)[0].where == "the cache folder"
    monkeypatch.setenv("SMTL_DATA", str(tmp_path / "data"))
    found, looked = look(known)
    assert (found.where, found.paths[0], looked) == ("SMTL_DATA", tmp_path / "data" / "emotions.arff", [])
    found, _ = look(known, tmp_path / "given")
    assert (found.where, found.paths[0]) == ("folder", tmp_path / "given" / "emotions.arff")
    found, looked = look(known, tmp_path / "elsewhere")
    assert found.where == "the cache folder"
    assert looked == [f"folder: {tmp_path / 'elsewhere'} is no folder"]
    assert look(SETS["digits"])[0].where == "scikit-learn"


def test_a_package_without_the_file_is_told(tmp_path, monkeypatch):
    (tmp_path / "site" / "river").mkdir(parents=True)
    (tmp_path / "site" / "river" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "site")
    found, looked = look(SETS["yeast"])
    assert found is None
    assert looked[-1] == (
        "installed packages: river, which carries it, is not installed, or too old to have datasets/yeast.csv.gz"
    )
