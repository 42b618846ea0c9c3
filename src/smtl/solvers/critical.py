"""The value of C around which the weights stop being zero: the data's own scale for C."""

from __future__ import annotations

import numpy as np

from smtl.solvers.seam import Trainable

__all__ = ["critical_C"]


def critical_C(problem: Trainable) -> float:
    r"""Return the value of C around which W = 0 stops being optimal.

    With the planes at W = 0, of slopes G and offsets d, it is the t that maximises
    :math:`t \sum_i d_i - \Omega^*(tG)`. For a norm that is :math:`1/\Omega^\circ(G)`: below it, W = 0 is optimal.

    Parameters
    ----------
    problem : Trainable
        The problem.

    Returns
    -------
    float
        Positive; infinite where the planes have no slope, so that W = 0 is optimal for every C.

    Examples
    --------
    >>> from smtl.metrics import AUC
    >>> from smtl.penalties import L11
    >>> from smtl.solvers import Problem
    >>> from smtl.tasks import SharedRows
    >>> X = np.array([[4.0], [0.0]])
    >>> critical_C(Problem(SharedRows(X, np.array([[1], [-1]], dtype=np.int8)), AUC(), L11()))
    0.25
    """
    _, delta, G, _ = problem.one_pass(np.zeros(problem.shape), np.zeros(problem.shape[0]))
    largest = float(np.abs(G).max(initial=0.0))
    if largest == 0.0:
        return np.inf
    # On a scale where the slopes are about 1, a t of 1e9 is beyond any maximum.
    top = 1e9 / largest
    _, scale = problem.penalty.lower_bound(top * G, top * float(delta.sum()))
    return float(f"{scale * top:.12g}")
