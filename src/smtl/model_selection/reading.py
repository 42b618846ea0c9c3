"""What a splitter is given: labels in any form."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _num_samples

from smtl.estimators.targets import Targets, read_targets

__all__ = ["targets_to_split"]


def targets_to_split(X: Any, y: Any) -> Targets:
    """Return labels of any form, or raise ValueError.

    Parameters
    ----------
    X : array-like with n_samples rows
        Only its length is looked at.
    y : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Classes; or a matrix of 0 and 1, NaN where a row is not labelled.

    Returns
    -------
    Targets
        One task a column, or a class.

    Examples
    --------
    >>> targets_to_split(["a", "b"], [0, 1]).kind
    'binary'
    """
    if y is None:
        raise ValueError("y must be given: the labels say how rows are to be split, got None instead.")
    rows = np.zeros((_num_samples(X), 1))
    check_consistent_length(rows, y)
    return read_targets(rows, y)
