"""What compiled code is told of a penalty."""

from __future__ import annotations

from smtl.penalties import Penalty
from smtl.registry import unknown_name

__all__ = ["compiled_penalty", "with_values"]


def compiled_penalty(penalty: Penalty) -> tuple[int, float] | None:
    """Return the number of a penalty's norm in compiled code, and the weight of the ridge term beside it.

    Parameters
    ----------
    penalty : Penalty
        The penalty.

    Returns
    -------
    tuple of int and float, or None
        One of the numbers of `smtl.kernels.norms`, and the weight; None if the penalty has no ``kernel``.

    Examples
    --------
    >>> from smtl.penalties import L21, Elastic
    >>> compiled_penalty(Elastic(L21(), ridge=0.5))
    (2, 0.5)
    """
    if penalty.kernel is None:
        return None
    from smtl.kernels import norms

    name, ridge = penalty.kernel
    if name not in norms.NUMBERS:
        raise unknown_name(f"the kernel of {penalty!r}", name, norms.NUMBERS)
    return norms.NUMBERS[name], ridge


def with_values(kind: int) -> bool | None:
    """Return the argument that a compiled function of this name takes for whether it needs singular values.

    The trace norm has compilations of its own, so that the others need not wait for what only it needs.

    Parameters
    ----------
    kind : int
        One of the numbers of `smtl.kernels.norms`.

    Returns
    -------
    bool or None
        True, or None for no.

    Examples
    --------
    >>> from smtl.kernels import norms
    >>> with_values(norms.VALUES), with_values(norms.ENTRIES)
    (True, None)
    """
    from smtl.kernels import norms

    return True if kind == norms.VALUES else None
