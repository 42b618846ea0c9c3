"""What every reader returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features and labels of one file.

    Parameters
    ----------
    X : ndarray or CSR matrix of float64 of shape (n_samples, n_features)
        Features, sparse where the file is sparse. Missing values are NaN.
    Y : ndarray or CSR matrix of shape (n_samples, n_labels), or ndarray of shape (n_samples,) where tasks is given
        Labels 0 and 1: int8, or float64 with NaN where labels are missing.
    feature_names, label_names : tuple of str, optional
        Names of the columns of X and of Y; None where the file has none.
    tasks : ndarray of shape (n_samples,), optional
        Each row's task, where every task has rows of its own.
    name : str, default=""
        The file's name without its suffix.
    weights : ndarray of shape (n_samples,), optional
        What each row counts; None where all count the same.

    Examples
    --------
    >>> import numpy as np
    >>> data = Dataset(np.eye(3), np.array([[1, 0], [0, 1], [1, 1]]), label_names=("red", "green"), name="flags")
    >>> data
    Dataset('flags': 3 rows, 3 features, 2 labels)
    >>> X, Y = data.X, data.Y
    """

    X: Any
    Y: Any
    feature_names: tuple[str, ...] | None = None
    label_names: tuple[str, ...] | None = None
    tasks: npt.NDArray[Any] | None = None
    name: str = ""
    weights: npt.NDArray[np.float64] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        n, d = self.X.shape
        if self.Y.ndim != (2 if self.tasks is None else 1) or self.Y.shape[0] != n:
            form = f"({n}, n_labels)" if self.tasks is None else f"({n},) where tasks is given"
            raise ValueError(f"Y must have shape {form}, got {self.Y.shape} instead.")
        if self.tasks is not None and self.tasks.shape != (n,):
            raise ValueError(f"tasks must have shape ({n},), got {self.tasks.shape} instead.")
        if self.weights is not None and self.weights.shape != (n,):
            raise ValueError(f"weights must have shape ({n},), got {self.weights.shape} instead.")
        object.__setattr__(self, "feature_names", _names("feature_names", self.feature_names, d))
        m = self.Y.shape[1] if self.Y.ndim == 2 else None
        object.__setattr__(self, "label_names", _names("label_names", self.label_names, m))

    def __repr__(self) -> str:
        n, d = self.X.shape
        if self.tasks is None:
            return f"Dataset({self.name!r}: {n} rows, {d} features, {self.Y.shape[1]} labels)"
        return f"Dataset({self.name!r}: {n} rows, {d} features, {len(np.unique(self.tasks))} tasks)"


def _names(what: str, names: Sequence[str] | None, n: int | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    names = tuple(map(str, names))
    if n is not None and len(names) != n:
        raise ValueError(f"{what} must have {n} names, one a column, got {len(names)} instead.")
    return names
