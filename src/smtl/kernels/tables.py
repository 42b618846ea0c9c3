"""A loss that is a function of the contingency table, for many tables of one task."""

from __future__ import annotations

from numba import float64, njit, types

# Delta(tp, fp, fn, tn), called through a pointer, so that one compiled loop serves every formula.
FORMULA = types.FunctionType(float64(float64, float64, float64, float64))


@njit(types.void(FORMULA, float64[::1], float64[::1], float64, float64, float64[::1]), cache=True, nogil=True)
def losses(formula, tp, fp, n_pos, n_neg, out):
    """Write the loss of each pair of true and false positives into ``out``."""
    for k in range(len(tp)):
        out[k] = formula(tp[k], fp[k], n_pos - tp[k], n_neg - fp[k])
