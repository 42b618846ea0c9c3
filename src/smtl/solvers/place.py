"""A place where a pass was done, as those see it who say where to pass next."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Place"]

Float: TypeAlias = npt.NDArray[np.float64]


class Place(NamedTuple):
    """Weights, and what a pass has told of them.

    Attributes
    ----------
    W : ndarray of shape (n_tasks, n_features)
        The weights.
    intercept : ndarray of shape (n_tasks,)
        Their best intercepts.
    loss : ndarray of shape (n_tasks,)
        The losses.
    gradient : ndarray of shape (n_tasks, n_features)
        The gradient of C times the losses.
    objective : float
        The objective.
    """

    W: Float
    intercept: Float
    loss: Float
    gradient: Float
    objective: float
    gap: float
