"""The same tasks with fewer positives: what imbalance does to a method."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["imbalanced", "parse_ratio"]


def parse_ratio(name: str) -> tuple[str, float | None]:
    """Divide the name of a data set from the imbalance that is asked of it.

    Parameters
    ----------
    name : str
        ``"emotions@1:5"``: five negatives for each positive in every task.

    Returns
    -------
    name : str
        The data set.
    ratio : float or None
        Negatives for each positive; None to take the data as they are.

    Examples
    --------
    >>> parse_ratio("emotions@1:5"), parse_ratio("emotions")
    (('emotions', 5.0), ('emotions', None))
    """
    base, at, ratio = name.rpartition("@1:")
    if not at:
        return name, None
    try:
        value = float(ratio)
    except ValueError:
        value = np.nan
    if not (np.isfinite(value) and value > 0.0):
        raise ValueError(f"the imbalance must be a positive number as in 'emotions@1:5', got {name!r} instead.")
    return base, value


def imbalanced(Y: npt.NDArray[Any], ratio: float, seed: int) -> npt.NDArray[np.float64]:
    """Leave every task with so many negatives for each positive, by forgetting labels at random.

    Of each task the most labels are kept that allow the ratio. No row counts twice, so that none can be in a training
    and in a test part.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_tasks)
        Labels 0 and 1.
    ratio : float
        Negatives for each positive.
    seed : int
        For the choice.

    Returns
    -------
    ndarray of float64 of shape (n_samples, n_tasks)
        NaN where a label is forgotten.

    Examples
    --------
    >>> Y = imbalanced(np.array([[1], [1], [1], [0], [0], [0]]), ratio=3.0, seed=0)
    >>> int(np.nansum(Y == 1)), int(np.nansum(Y == 0))
    (1, 3)
    """
    rng = np.random.default_rng(seed)
    out = np.full(Y.shape, np.nan)
    for task, labels in enumerate(Y.T):
        positives, negatives = np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)
        n_pos = int(min(len(positives), len(negatives) / ratio))
        n_neg = min(len(negatives), round(n_pos * ratio))
        out[rng.choice(positives, n_pos, replace=False), task] = 1.0
        out[rng.choice(negatives, n_neg, replace=False), task] = 0.0
    return out
