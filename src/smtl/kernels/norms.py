"""The norms that compiled loops ask for, with their prox and dual norm, on weights with one row a task.

The formulas are those of `smtl.penalties`. Singular values take long to compile: a function that may need them has an
argument ``with_values``, and where it is None, not even that branch is compiled.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# What the penalty makes sparse: nothing, entries (l11), features (l21), or singular values (trace).
NOTHING, ENTRIES, FEATURES, VALUES = 0, 1, 2, 3
NUMBERS = {"nothing": NOTHING, "entries": ENTRIES, "features": FEATURES, "values": VALUES}


@njit(cache=True, nogil=True)
def shrink_entries(W, step):
    """Overwrite ``W`` by its prox of the entrywise norm."""
    w = W.ravel()
    for k in range(len(w)):
        w[k] -= min(max(w[k], -step), step)


@njit(cache=True, nogil=True)
def shrink_features(W, step):
    """Overwrite ``W`` by its prox of the row norm; a feature is a column here."""
    kept = np.zeros(W.shape[1])
    for i in range(W.shape[0]):
        for f in range(W.shape[1]):
            kept[f] += W[i, f] * W[i, f]
    for f in range(len(kept)):
        kept[f] = 1.0 - step / max(np.sqrt(kept[f]), step)
    for i in range(W.shape[0]):
        for f in range(W.shape[1]):
            W[i, f] *= kept[f]


@njit(cache=True, nogil=True)
def shrink_values(W, step):
    """Overwrite ``W`` by its prox of the trace norm."""
    wide = W.shape[0] <= W.shape[1]
    n = min(W.shape)
    A = np.empty((n, max(W.shape)))  # W or its transpose
    largest = 0.0
    for j in range(n):
        for k in range(A.shape[1]):
            A[j, k] = W[j, k] if wide else W[k, j]
            largest = max(largest, abs(A[j, k]))
    if largest == 0.0:
        return
    for j in range(n):
        for k in range(A.shape[1]):
            A[j, k] /= largest  # so that no square overflows or vanishes
    squares, V = np.linalg.eigh(np.dot(A, A.T))
    kept = np.empty((n, n))
    step /= largest
    for k in range(n):
        # At or below the threshold the ratio is exactly 1.
        factor = 1.0 - step / np.sqrt(max(squares[k], step * step))
        for j in range(n):
            kept[j, k] = V[j, k] * factor * largest
    A = np.dot(np.dot(kept, V.T), A)
    for j in range(n):
        for k in range(A.shape[1]):
            if wide:
                W[j, k] = A[j, k]
            else:
                W[k, j] = A[j, k]


@njit(cache=True, nogil=True)
def shrink(kind, with_values, W, step):
    """Overwrite ``W`` by its prox of the norm of that kind."""
    if kind == ENTRIES:
        shrink_entries(W, step)
    elif kind == FEATURES:
        shrink_features(W, step)
    elif with_values is not None:
        shrink_values(W, step)
    elif kind == VALUES:
        raise ValueError("with_values must be True for singular values, got None instead.")


@njit(cache=True, nogil=True, fastmath=True)
def feature_squares(W):
    """Return the sum of squares of each column."""
    squares = np.zeros(W.shape[1])
    for i in range(W.shape[0]):
        for f in range(W.shape[1]):
            squares[f] += W[i, f] * W[i, f]
    return squares


@njit(cache=True, nogil=True)
def singular_values(W):
    """Return the singular values in ascending order, small ones to half of the digits: they are roots of squares."""
    A = np.ascontiguousarray(W if W.shape[0] <= W.shape[1] else W.T)
    largest = 0.0
    for a in A.ravel():
        largest = max(largest, abs(a))
    if largest == 0.0:
        return np.zeros(len(A))
    A = A / largest  # so that no square overflows or vanishes
    return largest * np.sqrt(np.maximum(np.linalg.eigvalsh(np.dot(A, A.T)), 0.0))


@njit(cache=True, nogil=True)
def value(kind, with_values, W):
    """Return the norm."""
    total = 0.0
    if kind == ENTRIES:
        for w in W.ravel():
            total += abs(w)
    elif kind == FEATURES:
        for square in feature_squares(W):
            total += np.sqrt(square)
    elif with_values is not None:
        total = singular_values(W).sum()
    elif kind == VALUES:
        raise ValueError("with_values must be True for singular values, got None instead.")
    return total


@njit(cache=True, nogil=True)
def dual_norm(kind, with_values, Z):
    """Return the dual norm: the largest of what the norm is the sum of."""
    largest = 0.0
    if kind == ENTRIES:
        for z in Z.ravel():
            largest = max(largest, abs(z))
    elif kind == FEATURES:
        for square in feature_squares(Z):
            largest = max(largest, square)
        largest = np.sqrt(largest)
    elif with_values is not None:
        largest = singular_values(Z)[-1]
    elif kind == VALUES:
        raise ValueError("with_values must be True for singular values, got None instead.")
    return largest
