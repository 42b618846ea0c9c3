"""Penalties on the weights of all tasks, one to a file.

A new file in this folder, with a subclass of `Penalty` that sets ``name``, is all that a new penalty takes.
"""

from __future__ import annotations

import math

import numpy as np

from smtl.penalties.base import Norm, Penalty
from smtl.penalties.elastic import Elastic
from smtl.penalties.kernel import Kernel
from smtl.penalties.l11 import L11
from smtl.penalties.l21 import L21
from smtl.penalties.ridge import Ridge
from smtl.penalties.trace import Trace
from smtl.registry import import_all, unknown_name

__all__ = ["L11", "L21", "Elastic", "Kernel", "Norm", "Penalty", "Ridge", "Trace", "get_penalty", "penalty_names"]

import_all(__name__, __path__)


def get_penalty(penalty: str | Penalty, ridge: float = 0.0) -> Penalty:
    r"""Return the penalty of that name, with a ridge term if one is asked for.

    Parameters
    ----------
    penalty : str or Penalty
        One of `penalty_names`, or an instance, which is returned as it is.
    ridge : float, default=0.0
        Where positive, :math:`\tfrac{\rho}{2} \|W\|_F^2` with this :math:`\rho` is added: see `Elastic`.

    Returns
    -------
    Penalty
        The penalty.

    Examples
    --------
    >>> get_penalty("l21")
    L21()
    >>> get_penalty("trace", ridge=0.1)
    Elastic(penalty=Trace(), ridge=0.1)
    """
    if not (isinstance(ridge, int | float | np.integer | np.floating) and math.isfinite(ridge) and ridge >= 0.0):
        raise ValueError(f"ridge must be a finite number >= 0, got {ridge!r} instead.")
    if isinstance(penalty, str) and penalty in Penalty.known:
        penalty = Penalty.known[penalty]()
    if not isinstance(penalty, Penalty):
        raise unknown_name("penalty", penalty, Penalty.known, "smtl.penalties.Penalty")
    return Elastic(penalty, ridge) if ridge > 0.0 else penalty


def penalty_names() -> list[str]:
    """Return the names that `get_penalty` knows.

    Returns
    -------
    list of str
        Sorted.

    Examples
    --------
    >>> "l21" in penalty_names()
    True
    """
    return sorted(Penalty.known)
