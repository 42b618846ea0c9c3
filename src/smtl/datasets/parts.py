"""Data sets that come in pieces: parts to be joined, and columns to be put in order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError, shown

__all__ = ["arranged", "joined", "key"]


def joined(parts: Sequence[Dataset], paths: Sequence[Path]) -> Dataset:
    """Return the rows of all parts, one part after another.

    Parameters
    ----------
    parts : sequence of Dataset
        With the same columns.
    paths : sequence of Path
        Their files, for the error.

    Returns
    -------
    Dataset
        All rows.

    Examples
    --------
    >>> import numpy as np
    >>> part = Dataset(np.eye(2), np.eye(2))
    >>> joined([part, part], [Path("train.svm"), Path("test.svm")])
    Dataset('': 4 rows, 2 features, 2 labels)
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    for part, path in zip(parts, paths, strict=True):
        same = part.label_names == first.label_names and part.feature_names == first.feature_names
        if not same or (part.X.shape[1], part.Y.shape[1]) != (first.X.shape[1], first.Y.shape[1]):
            raise DatasetError(f"must have the features and labels of {paths[0]}, got others; get both anew.", path)
    X = sp.vstack([part.X for part in parts], format="csr") if sp.issparse(first.X) else np.vstack([p.X for p in parts])
    return Dataset(X, np.vstack([part.Y for part in parts]), first.feature_names, first.label_names, name=first.name)


def arranged(data: Dataset, name: str, labels: Sequence[str] | None, features: Sequence[str] | None) -> Dataset:
    """Return a data set under its name, its labels in the usual order and under their usual names.

    Sources write names differently: ``sad-lonely`` and ``sad.lonely``, ``SKY`` and ``sky`` are the same here.

    Parameters
    ----------
    data : Dataset
        As it was read.
    name : str
        The name of the set.
    labels, features : sequence of str, optional
        The usual names; None for those of the source.

    Returns
    -------
    Dataset
        With its columns in order.

    Examples
    --------
    >>> import numpy as np
    >>> data = arranged(Dataset(np.eye(2), np.eye(2), label_names=("SAD", "calm")), "music", ["calm", "sad"], None)
    >>> data.label_names, data.Y
    (('calm', 'sad'), array([[0., 1.],
           [1., 0.]]))
    """
    Y, label_names = data.Y, data.label_names
    if labels is not None and label_names is not None:
        position = {key(label): k for k, label in enumerate(label_names)}
        if set(position) != set(map(key, labels)):
            raise ValueError(
                f"its labels must be {', '.join(labels)}, got {shown(', '.join(label_names), 200)[1:-1]} instead"
            )
        order = [position[key(label)] for label in labels]
        Y, label_names = (Y if order == list(range(len(order))) else Y[:, order]), tuple(labels)
    X = data.X if sp.issparse(data.X) else np.ascontiguousarray(data.X)
    feature_names = data.feature_names
    if features is not None and len(features) == X.shape[1]:
        feature_names = tuple(features)
    return Dataset(X, Y, feature_names, label_names, data.tasks, name)


def key(name: str) -> str:
    """Return what two spellings of a name have in common: letters, without their case, and digits."""
    return "".join(filter(str.isalnum, name)).casefold()
