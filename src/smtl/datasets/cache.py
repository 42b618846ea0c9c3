"""Arrays of files that were read before: reading them again takes a fraction of the time.

One entry for a set, a form of its nominal features, and a place. It holds what its source files were like, their
sizes and times, and is made anew when they change.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from smtl.datasets.dataset import Dataset
from smtl.datasets.places import cache_folder
from smtl.whole_file import whole_file

__all__ = ["Entry", "entry_of", "load", "save"]

_VERSION = 1


class Entry(NamedTuple):
    """A file of the cache, and what must be written in it for it to be of use."""

    path: Path
    stamp: str


def entry_of(name: str, nominal: str, checksum: str, sources: Sequence[Path]) -> Entry:
    """Return the cache's entry for a set that was, or is to be, read from files.

    Parameters
    ----------
    name, nominal : str
        The set, and the form of its nominal features.
    checksum : str
        What the content must be.
    sources : sequence of Path
        The files.

    Returns
    -------
    Entry
        Which need not exist.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Path(folder, "small.csv").touch()
    ...     entry = entry_of("small", "ordinal", "0", [Path(folder, "small.csv")])
    >>> entry.path.parent.name, entry.path.name.startswith("small-ordinal-")
    ('parsed', True)
    """
    places = [os.path.realpath(source) for source in sources]
    states = [os.stat(place) for place in places]
    files = [f"{place} {state.st_size} {state.st_mtime_ns}" for place, state in zip(places, states, strict=True)]
    place = blake2b("\0".join(places).encode(errors="surrogatepass"), digest_size=8).hexdigest()
    stamp = blake2b("\0".join([str(_VERSION), name, nominal, checksum, *files]).encode(errors="surrogatepass"))
    return Entry(cache_folder() / "parsed" / f"{name}-{nominal}-{place}.npz", stamp.hexdigest())


def load(entry: Entry) -> Dataset | None:
    """Return what an entry holds; None if there is none, or if it is out of date, damaged or foreign.

    Parameters
    ----------
    entry : Entry
        The entry.

    Returns
    -------
    Dataset or None
        As it was saved.
    """
    # Whatever is wrong with a file, the set can be read from its source.
    try:
        with np.load(entry.path, allow_pickle=False) as file:
            if file["stamp"].item() != entry.stamp:
                return None
            found = {key: file[key] for key in file.files}
        Y, tasks = found["Y"], found.get("tasks")
        X: Any = found.get("X")
        if X is None:
            X = sp.csr_matrix((found["data"], found["indices"], found["indptr"]), shape=tuple(found["shape"].tolist()))
        names = {key: tuple(found[key].tolist()) for key in ("feature_names", "label_names") if key in found}
        features, labels = names.get("feature_names"), names.get("label_names")
        return Dataset(X, Y, features, labels, tasks, found["name"].item())
    except Exception:
        return None


def save(entry: Entry, data: Dataset) -> None:
    """Write an entry, as a whole or not at all; a folder that cannot be written to is no error.

    Parameters
    ----------
    entry : Entry
        The entry.
    data : Dataset
        What it is to hold.
    """
    arrays: dict[str, Any] = {"stamp": np.array(entry.stamp), "name": np.array(data.name), "Y": data.Y}
    if sp.issparse(data.X):
        arrays |= {"data": data.X.data, "indices": data.X.indices, "indptr": data.X.indptr, "shape": data.X.shape}
    else:
        arrays["X"] = data.X
    if data.tasks is not None:
        arrays["tasks"] = data.tasks
    for key, names in (("feature_names", data.feature_names), ("label_names", data.label_names)):
        if names is not None:
            arrays[key] = np.array(names, dtype=np.str_)
    with suppress(OSError):
        entry.path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(entry.path) as part, open(part, "xb") as file:
            np.savez(file, **arrays)
