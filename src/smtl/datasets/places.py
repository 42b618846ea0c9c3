"""Where data can be: folders of the user's, and the files that installed packages carry."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from smtl.datasets.known import NamedSet, Reader
from smtl.extras import of_extra

__all__ = ["Found", "cache_folder", "data_folder", "files_in", "how_to_get", "look"]

_PACKED = ("", ".gz", ".bz2")


class Found(NamedTuple):
    """Where a set was found.

    Attributes
    ----------
    where : str
        The place, in a word or two.
    paths : tuple of Path
        Its files, none where a package's code is asked.
    read : callable
        Reads them.
    """

    where: str
    paths: tuple[Path, ...]
    read: Reader


def data_folder() -> Path | None:
    """Return the folder that the environment variable ``SMTL_DATA`` names, None if it names none.

    Examples
    --------
    >>> import os
    >>> os.environ.get("SMTL_DATA") is None or data_folder() == Path(os.environ["SMTL_DATA"]).expanduser()
    True
    """
    named = os.environ.get("SMTL_DATA")
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """Return the user's cache folder for smtl; the environment variable ``SMTL_CACHE`` names another.

    Examples
    --------
    >>> cache_folder().name == "smtl" or "SMTL_CACHE" in os.environ
    True
    """
    with of_extra("tables", "data sets by name"):
        import platformdirs

    named = os.environ.get("SMTL_CACHE")
    return Path(named).expanduser() if named else Path(platformdirs.user_cache_dir("smtl", appauthor=False))


def files_in(folder: Path, known: NamedSet) -> tuple[Path, ...] | None:
    """Return the files of a set in a folder, or in a folder of its own in there; None if they are not all there.

    Parameters
    ----------
    folder : Path
        The folder.
    known : NamedSet
        The set.

    Returns
    -------
    tuple of Path or None
        The files, in the order in which they are to be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from smtl.datasets.known import SETS
    >>> with TemporaryDirectory() as folder:
    ...     Path(folder, "yeast").mkdir()
    ...     Path(folder, "yeast", "yeast.arff.gz").touch()
    ...     nothing_yet = files_in(Path(folder), SETS["yeast"])
    ...     Path(folder, "yeast", "yeast.xml").touch()
    ...     [path.name for path in files_in(Path(folder), SETS["yeast"])]
    ['yeast.arff.gz', 'yeast.xml']
    >>> nothing_yet
    """
    for names in known.files:
        for place in (*(folder / own for own in known.folders), folder):
            paths = tuple(path for name in names for path in _packed(place / name))
            if len(paths) == len(names):
                return paths
    return None


def _packed(path: Path) -> Iterator[Path]:
    """Return the file, or one that is compressed, or one that no longer is; at most one."""
    plain = path.with_suffix("") if path.suffix in _PACKED else path
    for candidate in (path, *(plain.with_name(plain.name + suffix) for suffix in _PACKED)):
        if candidate.is_file():
            yield candidate
            return


def look(known: NamedSet, folder: str | PathLike[str] | None = None) -> tuple[Found | None, list[str]]:
    """Look for a set on this machine.

    Parameters
    ----------
    known : NamedSet
        The set.
    folder : path-like, optional
        Where to look first, instead of in ``SMTL_DATA``.

    Returns
    -------
    found : Found or None
        Where it is.
    looked : list of str
        The places looked in before, and what they lack.

    Examples
    --------
    >>> from smtl.datasets.known import SETS
    >>> found, looked = look(SETS["digits"])
    >>> found.where
    'scikit-learn'
    """
    looked: list[str] = []
    if known.read is not None:
        wanted = " or ".join(" and ".join(names) for names in known.files)
        own = f"{known.folders[0]}{os.sep}" if known.folders else ""
        given = data_folder() if folder is None else Path(folder)
        for where, place in (
            ("SMTL_DATA" if folder is None else "folder", given),
            ("the cache folder", cache_folder()),
        ):
            if place is None:
                looked.append(f"{where}: not set")
                continue
            paths = files_in(place, known)
            if paths is not None:
                return Found(where, paths, known.read), looked
            lack = f"has no {wanted}, nor has {own}" if place.is_dir() else "is no folder"
            looked.append(f"{where}: {place} {lack}")
    if known.carried is None:
        looked.append("installed packages: none carries it")
        return None, looked
    package, file = known.carried.package, known.carried.file
    if file is None:
        return Found({"sklearn": "scikit-learn"}.get(package, package), (), known.carried.read), looked
    path = _carried(package, file)
    if path is not None:
        return Found(package, (path,), known.carried.read), looked
    looked.append(f"installed packages: {package}, which carries it, is not installed, or too old to have {file}")
    return None, looked


def _carried(package: str, file: str) -> Path | None:
    """Return a package's file; the package is not imported for it."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        path = Path(folder, file)
        if path.is_file():
            return path
    return None


def how_to_get(known: NamedSet) -> str:
    """Return how to put a set where it will be found.

    Parameters
    ----------
    known : NamedSet
        The set.

    Returns
    -------
    str
        One sentence.

    Examples
    --------
    >>> from smtl.datasets.known import SETS
    >>> how_to_get(SETS["landmine"])
    'Get LandmineData.mat (its authors, Xue, Liao, Carin and Krishnapuram) and put it into ...'
    """
    files = known.files[0]
    also = f"; or run pip install {known.carried.package}" if known.carried is not None else ""
    return (
        f"Get {' and '.join(files)} ({known.origin}) and put {'them' if len(files) > 1 else 'it'} into "
        f"{cache_folder() / known.folders[0]}, or into a folder that the environment variable SMTL_DATA names{also}."
    )
