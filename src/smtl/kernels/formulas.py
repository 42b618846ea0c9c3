"""Formulas that compiled loops call without knowing them: what a penalty's prox and dual norm are.

A formula is a plain function on a matrix, compiled when it is first needed. A loop is given its address. So a loop is
compiled once for all penalties, a penalty of a user's own among them, and calls cost nothing. numba has functions as
arguments, too, but looks at them for 50 microseconds a call.

Conventions
-----------
- A *shrink* overwrites a float64 matrix in C order, of shape (n_tasks, n_features), by its prox for a step.
- A *size* returns a number for such a matrix: the dual norm.
- A formula must not raise: what is raised cannot be handed on, and its value is then 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import cfunc, njit, types
from numba.core.cgutils import ir
from numba.extending import intrinsic

MATRIX = types.Array(types.float64, 2, "C")
SHRINK = types.void(MATRIX, types.float64)
SIZE = types.float64(MATRIX)

_COMPILED: dict[Callable[..., Any], Any] = {}


def address(formula: Callable[..., Any] | None, signature: Any) -> int:
    """Return where the compiled form of a formula is; 0 for none."""
    if formula is None:
        return 0
    if formula not in _COMPILED:
        _COMPILED[formula] = cfunc(signature, cache=True)(formula)
    return int(_COMPILED[formula].address)


def _call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the machine code of a call: the first argument is the address, the rest is handed on."""
    place, *rest = arguments
    result = context.get_value_type(signature.return_type)
    function = ir.FunctionType(result, [context.get_value_type(kind) for kind in signature.args[1:]])
    return builder.call(builder.inttoptr(place, function.as_pointer()), rest)


@intrinsic
def shrink(typing, place, W, step):
    """Call the shrink at this address."""
    return types.void(types.int64, *SHRINK.args), _call


@intrinsic
def size(typing, place, Z):
    """Call the size at this address."""
    return types.float64(types.int64, *SIZE.args), _call


@njit(cache=True, nogil=True)
def apply_shrink(place, W, step):
    """Call a shrink from Python."""
    shrink(place, W, step)


@njit(cache=True, nogil=True)
def apply_size(place, Z):
    """Call a size from Python."""
    return size(place, Z)
