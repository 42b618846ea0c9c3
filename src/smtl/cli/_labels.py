"""Counts of labels: how many rows have each, and which come together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from smtl.datasets import Dataset

__all__ = ["LabelCounts", "count", "ratio_text"]

Float: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LabelCounts:
    """What is known of each label, or of each task that has rows of its own.

    Attributes
    ----------
    names : list of str
        Their names.
    positives, known : ndarray of shape (n_labels,)
        How many rows have the label, and of how many it is known whether they have it.
    Y : ndarray or CSR matrix, optional
        The labels, if tasks share rows.
    """

    names: list[str]
    positives: npt.NDArray[np.int64]
    known: npt.NDArray[np.int64]
    Y: Any = None

    @property
    def share(self) -> Float:
        """The share of positives; NaN where nothing is known."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.positives / self.known)

    @property
    def imbalance(self) -> Float:
        """Negatives for each positive; infinite where there are none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self.known - self.positives) / self.positives)

    def together(self, chosen: npt.NDArray[np.intp]) -> Float:
        """Return, in row i and column j, the share of the rows with label i that have label j as well."""
        part = self.Y[:, chosen]
        Y = part.astype(np.float64) if not isinstance(part, np.ndarray) else np.nan_to_num(part.astype(np.float64))
        both = Y.T @ Y
        both = both if isinstance(both, np.ndarray) else both.toarray()
        with np.errstate(invalid="ignore"):
            return np.asarray(both / np.diag(both)[:, None])


def count(data: Dataset) -> LabelCounts:
    """Count the labels of a data set.

    Parameters
    ----------
    data : Dataset
        The data set.

    Returns
    -------
    LabelCounts
        One entry a label or task.

    Examples
    --------
    >>> from smtl.datasets import Dataset
    >>> counts = count(Dataset(np.zeros((4, 1)), np.array([[1, 0], [1, 1], [0, 1], [1, 0]])))
    >>> counts.names, counts.positives, counts.share, counts.imbalance
    (['0', '1'], array([3, 2]), array([0.75, 0.5 ]), array([0.33333333, 1.        ]))
    >>> counts.together(np.array([0, 1]))
    array([[1.        , 0.33333333],
           [0.5       , 1.        ]])
    """
    if data.tasks is not None:
        tasks, place = np.unique(data.tasks, return_inverse=True)
        known = np.bincount(place, weights=~np.isnan(data.Y), minlength=len(tasks))
        positives = np.bincount(place, weights=np.nan_to_num(data.Y), minlength=len(tasks))
        return LabelCounts([str(task) for task in tasks.tolist()], _whole(positives), _whole(known))
    n, m = data.Y.shape
    names = list(data.label_names or map(str, range(m)))
    if not isinstance(data.Y, np.ndarray):
        return LabelCounts(names, _whole(data.Y.sum(axis=0)), np.full(m, n), data.Y)
    return LabelCounts(names, _whole(np.nansum(data.Y, axis=0)), _whole((~np.isnan(data.Y)).sum(axis=0)), data.Y)


def _whole(counts: Any) -> npt.NDArray[np.int64]:
    return np.rint(np.asarray(counts, dtype=np.float64)).astype(np.int64).ravel()


def ratio_text(ratio: float) -> str:
    """Return a ratio with three digits, or whole if it is large.

    Examples
    --------
    >>> ratio_text(2.4783), ratio_text(1415.35)
    ('2.48', '1,415')
    """
    return f"{ratio:.3g}" if ratio < 1000 else f"{ratio:,.0f}"
