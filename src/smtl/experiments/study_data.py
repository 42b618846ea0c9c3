"""The data of a study: sets by name and files, what their splits' seeds come from, and that files stay the same."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from functools import lru_cache, partial
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import numpy.typing as npt

from smtl.datasets import DatasetError, dataset_names, load_dataset, read
from smtl.experiments.imbalance import parse_ratio
from smtl.experiments.protocol import matrix_of_labels
from smtl.experiments.store import Store, StudyError

__all__ = ["load_for_study", "name_for_seed", "settle_files"]


def _is_file(name: str) -> bool:
    """Whether a name is that of a file: that of a known set goes before it."""
    return name.partition(":")[0] not in dataset_names() and Path(name).is_file()


@lru_cache(maxsize=2)
def load_for_study(name: str) -> tuple[Any, npt.NDArray[Any]]:
    """Return features and labels of a named set, or of a file.

    Parameters
    ----------
    name : str
        The name or the path. A known name goes before a file that is called the same.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Features; nominal ones as one column a value.
    Y : ndarray of shape (n_samples, n_tasks)
        Labels; NaN where there is none.

    Examples
    --------
    >>> X, Y = load_for_study("digits")
    >>> X.shape, Y.shape
    ((1797, 64), (1797, 10))
    """
    data = _read(name) if _is_file(name) else load_dataset(name, nominal="one-hot")
    return data.X, matrix_of_labels(data)


def _read(name: str) -> Any:
    """Read a file; where it does not say its labels, tell how to make one that does."""
    try:
        return read(name)
    except DatasetError as error:
        # A study has no options of how to read a file, which is what the reader advises.
        if not error.message.startswith("label columns must be given, got none"):
            raise
        path = Path(name)
        made = path.with_name(f"{path.stem.removesuffix('.csv')}-labelled.csv")  # also of a .csv.gz
        command = ["smtl", "convert", name, str(made), "--labels", "NAME,NAME"]
        raise DatasetError(
            "label columns of a file to compare on must be called 'label:NAME', got no such column; make a file that "
            f"has them with: {shlex.join(command)} (or --last NUMBER, --label-prefix TEXT, --class-column NAME).",
            error.path,
            error.line,
        ) from error


def name_for_seed(name: str) -> str:
    """Return what the seeds of a data set's splits come from: the same for a file however its path is written.

    Parameters
    ----------
    name : str
        The name or the path.

    Returns
    -------
    str
        The name of a set; of a file the name without its folder.

    Examples
    --------
    >>> name_for_seed("digits")
    'digits'
    """
    return Path(name).name if _is_file(name) else name


def _whole(dataset: str) -> str:
    """Return a data set's name without the imbalance; one that cannot be read is for its run to complain of."""
    try:
        return parse_ratio(dataset)[0]
    except ValueError:
        return dataset


def settle_files(store: Store, datasets: Iterable[str]) -> dict[str, str]:
    """Refuse files that are not as they were when the study first used them.

    Parameters
    ----------
    store : Store
        The study's; it keeps a checksum of each file.
    datasets : iterable of str
        Names or files, perhaps with an imbalance.

    Returns
    -------
    dict of str to str
        For each of them that is a file, what the seeds of its splits come from.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Store(Path(folder, "runs.sqlite"), {}) as store:
    ...     settle_files(store, ["digits"])
    {}
    """
    begun = {_whole(run.dataset) for run in store.done()}
    names = {}
    for dataset in datasets:
        name = _whole(dataset)
        if not _is_file(name):
            continue
        # Stores that were made before there were checksums have seeds from the path: they are to go on with them.
        names[dataset] = store.keep(f"seeds of {name}", name if name in begun else name_for_seed(name))
        with open(name, "rb") as file:
            now = file_digest(file, partial(blake2b, digest_size=16)).hexdigest()
        then = store.keep(f"blake2b of {name}", now)
        if now != then:
            raise StudyError(
                f"{name} must be the file that the study in {store.path.parent} began with, got other content instead "
                f"(blake2b {now}, and it was {then}). Put the old file back, or give another folder."
            )
    return names
