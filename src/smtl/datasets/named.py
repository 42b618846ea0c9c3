"""Data sets by name: found, checked, and kept for the next time."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from http.client import HTTPException
from os import PathLike

from smtl.datasets import cache as parsed
from smtl.datasets.checksum import checksum
from smtl.datasets.dataset import Dataset
from smtl.datasets.elsewhere import fetch, of_a_bunch
from smtl.datasets.errors import DatasetError
from smtl.datasets.known import SETS, Content, NamedSet
from smtl.datasets.nominal import Nominal, check_nominal
from smtl.datasets.parts import arranged
from smtl.datasets.places import how_to_get, look
from smtl.datasets.variants import subset
from smtl.registry import unknown_name

__all__ = ["asked_for", "dataset_names", "load_dataset"]


def dataset_names() -> list[str]:
    """Return the names that `load_dataset` knows.

    Returns
    -------
    list of str
        The names, without variants.

    Examples
    --------
    >>> dataset_names()
    ['emotions', 'yeast', 'flags', 'cal500', 'segmentation', 'optdigits', 'mediamill', 'tmc2007', 'scene',
     'landmine', 'digits']
    """
    return list(SETS)


def load_dataset(
    name: str,
    *,
    variant: str | None = None,
    nominal: Nominal = "ordinal",
    folder: str | PathLike[str] | None = None,
    cache: bool = True,
    download: bool = True,
) -> Dataset:
    """Return a data set by its name.

    It is looked for in the folder that the environment variable ``SMTL_DATA`` names, in the user's cache folder, in
    installed packages, and on OpenML, in this order. What is found must have the shape and the content that the set
    is known to have; another file of the same name is refused. Training and test files are joined, the training rows
    first. A column of classes becomes one 0/1 label for each class.

    Parameters
    ----------
    name : str
        One of `dataset_names`; a variant may stand behind a colon, as in ``"mediamill:paper"``.
    variant : str, optional
        A fixed part: ``"paper"`` is 10,000 rows of mediamill (12 labels) or of tmc2007 (6 labels), drawn by
        ``np.random.default_rng(0)``, and the most frequent labels of the whole set.
    nominal : {"ordinal", "one-hot"}, default="ordinal"
        Whether a nominal feature becomes one column with the value's position, which gives the published number of
        features, or one 0/1 column for each of its values, which is what a linear model needs. Of all sets, only flags
        has such features.
    folder : path-like, optional
        Where to look first, instead of in ``SMTL_DATA``.
    cache : bool, default=True
        Whether to keep the arrays in the user's cache folder, and to take them from there as long as the files stay
        the same.
    download : bool, default=True
        Whether OpenML may be asked for what is not on this machine.

    Returns
    -------
    Dataset
        Features and labels.

    Raises
    ------
    FileNotFoundError
        With all places that were looked in, and how to put the data there.
    DatasetError
        If a file is damaged, or is not what its name says.

    Examples
    --------
    >>> data = load_dataset("digits")
    >>> data
    Dataset('digits': 1797 rows, 64 features, 10 labels)
    >>> data.label_names[:3], data.Y[:3].argmax(axis=1)
    (('0', '1', '2'), array([0, 1, 2]))
    """
    known, variant = asked_for(name, variant)
    check_nominal(nominal)
    data = _whole(known, nominal, folder, cache, download)
    if variant is None:
        return data
    content = known.variants[variant]
    part = subset(data, content.rows, content.tasks)
    if checksum(part) != content.checksum:
        raise DatasetError(
            f"its rows must be in the published order for the variant {variant!r}, got them in another; get the "
            "published files.",
            known.name,
        )
    return part


def asked_for(name: str, variant: str | None = None) -> tuple[NamedSet, str | None]:
    """Return the set, and the variant, that are asked for by a name and perhaps a variant.

    Parameters
    ----------
    name : str
        The name, perhaps with the variant behind a colon.
    variant : str, optional
        The variant.

    Returns
    -------
    known : NamedSet
        The set.
    variant : str or None
        The variant.

    Examples
    --------
    >>> known, variant = asked_for("tmc2007:paper")
    >>> known.name, variant
    ('tmc2007', 'paper')
    """
    base, colon, suffix = name.partition(":")
    if base not in SETS:
        raise unknown_name("name", name, dataset_names())
    if colon and variant not in (None, suffix):
        raise ValueError(f"variant must be that of the name, {suffix!r}, or None, got {variant!r} instead.")
    variant = suffix if colon else variant
    variants = SETS[base].variants
    if variant is not None and variant not in variants:
        there = f"one of {', '.join(map(repr, variants))} or None" if variants else f"None, for {base} has no variants"
        raise ValueError(f"variant must be {there}, got {variant!r} instead.")
    return SETS[base], variant


def _whole(
    known: NamedSet, nominal: Nominal, folder: str | PathLike[str] | None, cache: bool, download: bool
) -> Dataset:
    found, looked = look(known, folder)
    content = known.holds(nominal)
    if found is None:
        return _downloaded(known, content, looked, download)
    entry = parsed.entry_of(known.name, nominal, content.checksum, found.paths) if cache and found.paths else None
    data = parsed.load(entry) if entry is not None else None
    if data is None:
        source = ", ".join(map(str, found.paths)) or found.where
        data = _checked(lambda: found.read(found.paths, nominal), known, content, source)
        if entry is not None:
            parsed.save(entry, data)
    return data


def _downloaded(known: NamedSet, content: Content, looked: list[str], download: bool) -> Dataset:
    """Return OpenML's copy, or tell where the set was looked for in vain."""
    cause: Exception | None = None
    if known.openml is None:
        looked.append("OpenML: no copy is known there")
    elif not download:
        looked.append(f"OpenML: not asked for data set {known.openml}, because of download=False")
    else:
        # An error is told by what is raised here, not by warnings about retries besides.
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                bunch = fetch(known.openml)
        except (OSError, ValueError, HTTPException) as error:
            cause = error
            looked.append(f"OpenML: data set {known.openml} could not be fetched ({error})")
        else:
            source = f"OpenML's data set {known.openml}"
            return _checked(lambda: of_a_bunch(bunch, known.labels or ()), known, content, source)
    lines = "\n".join(f"- {line}" for line in looked)
    raise FileNotFoundError(f"{known.name} was not found. Looked in:\n{lines}\n{how_to_get(known)}") from cause


def _checked(read: Callable[[], Dataset], known: NamedSet, content: Content, source: str) -> Dataset:
    """Return what is read, with its columns in order, if it is the set that it should be."""
    try:
        data = arranged(read(), known.name, known.labels, known.features)
    except DatasetError:
        raise
    except ValueError as error:
        raise DatasetError(f"must be {known.name}: {error}; get the published file.", source) from error
    _check(data, content, known.name, source)
    return data


def _check(data: Dataset, content: Content, name: str, source: str) -> None:
    n_tasks = data.Y.shape[1] if data.tasks is None else len(set(data.tasks.tolist()))
    expected, got = (content.rows, content.features, content.tasks), (*data.X.shape, n_tasks)
    if got != expected:
        raise DatasetError(f"must be {name}: {_shape(expected)}, got {_shape(got)}; get the published file.", source)
    found = checksum(data)
    if found != content.checksum:
        raise DatasetError(
            f"must be {name}, with the checksum {content.checksum}, got other values in the same shape (checksum "
            f"{found}); get the published file.",
            source,
        )


def _shape(shape: tuple[int, int, int]) -> str:
    return "{:,} rows, {:,} features, {:,} tasks".format(*shape)
