"""The sum of many trees for each row: what a boosted model is."""

from __future__ import annotations

import numpy as np
from numba import njit

# Where a value goes that is missing.
MISSING_IS_ZERO, MISSING_HAS_A_SIDE, ZERO_IS_MISSING = 0, 1, 2
_TINY = 1e-35  # LightGBM's zero


@njit(cache=True, nogil=True)
def sum_of_trees(X, first, left, right, feature, threshold, missing, missing_left, value, out):
    """Add to `out` the leaf values of each row, tree by tree.

    Children are numbered inside their tree; a leaf has -1. The arrays must have been checked.
    """
    for i in range(X.shape[0]):
        total = out[i]
        for t in range(len(first)):
            node = first[t]
            while left[node] >= 0:
                x = X[i, feature[node]]
                kind = missing[node]
                if np.isnan(x) and kind == MISSING_IS_ZERO:
                    x = 0.0
                if np.isnan(x) or (kind == ZERO_IS_MISSING and abs(x) <= _TINY):
                    goes_left = missing_left[node] != 0
                else:
                    goes_left = x <= threshold[node]
                node = first[t] + (left[node] if goes_left else right[node])
            total += value[node]
        out[i] = total
