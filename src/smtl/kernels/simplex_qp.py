r"""The small quadratic program of the W-step, over the simplex."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def maximise(gram, scale, linear, alpha, n, tol, max_iter, gradient):
    r"""Maximise :math:`\ell'\alpha - \tfrac{1}{2} s\, \alpha' K \alpha` over the simplex, from ``alpha``, in place.

    Weight is moved between two planes at a time: to the one of the largest gradient, from the one that then gains
    most (the exact gain of the clipped step, so second-order information picks the pair). It stops when no pair's
    gradients differ by more than ``tol``, which bounds the distance to the maximum by ``tol``.
    """
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += gram[i, j] * alpha[j]
        gradient[i] = linear[i] - scale * total
    for _ in range(max_iter):
        up = 0
        for k in range(1, n):
            if gradient[k] > gradient[up]:
                up = k
        down = -1
        best = 0.0
        lowest = gradient[up]
        for k in range(n):
            if alpha[k] > 0.0:
                slope = gradient[up] - gradient[k]
                lowest = min(lowest, gradient[k])
                if slope > 0.0:
                    curvature = scale * (gram[up, up] + gram[k, k] - 2.0 * gram[up, k])
                    if slope < alpha[k] * curvature:
                        gain = slope * slope / curvature
                    else:
                        gain = alpha[k] * (2.0 * slope - alpha[k] * curvature)
                    if gain > best:
                        best = gain
                        down = k
        if down < 0 or gradient[up] - lowest <= tol:
            return
        slope = gradient[up] - gradient[down]
        curvature = scale * (gram[up, up] + gram[down, down] - 2.0 * gram[up, down])
        step = alpha[down]
        if slope < step * curvature:
            step = slope / curvature
            alpha[down] -= step
        else:
            alpha[down] = 0.0
        alpha[up] += step
        move = step * scale
        for k in range(n):
            gradient[k] -= move * (gram[k, up] - gram[k, down])
