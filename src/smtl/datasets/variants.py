"""Parts of a data set by a fixed rule: rows drawn with a fixed seed, and the most frequent labels."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from smtl.datasets.dataset import Dataset

__all__ = ["subset"]


def subset(data: Dataset, n_rows: int, n_labels: int) -> Dataset:
    """Return some rows and the most frequent labels.

    The rows are drawn without replacement by ``np.random.default_rng(0)`` and keep their order. The labels are those
    with the most positives in the whole set, of equals the earlier ones, and keep their order, too.

    Parameters
    ----------
    data : Dataset
        The whole set, whose tasks share rows.
    n_rows, n_labels : int
        How many rows and labels to keep.

    Returns
    -------
    Dataset
        The part.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 1]])
    >>> part = subset(Dataset(np.arange(3.0)[:, None], Y, label_names=("a", "b", "c")), 2, 2)
    >>> part.label_names
    ('a', 'c')
    >>> part.X.shape
    (2, 1)
    """
    rows = np.sort(np.random.default_rng(0).choice(data.X.shape[0], n_rows, replace=False))
    positives = np.asarray(data.Y.sum(axis=0)).ravel()
    labels = np.sort(np.argsort(-positives, kind="stable")[:n_labels])
    Y = data.Y[rows][:, labels]
    names = data.label_names and tuple(data.label_names[k] for k in labels)
    return Dataset(
        data.X[rows], Y if sp.issparse(Y) else np.ascontiguousarray(Y), data.feature_names, names, name=data.name
    )
