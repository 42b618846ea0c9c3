"""How ADMM adapts its penalty parameter: plain Python, which compiled loops compile."""

from __future__ import annotations

import math

RELAXATION = 1.4  # over-relaxation of the W-step


def is_due(n_iter: int) -> bool:
    """Return whether mu may be changed after so many iterations.

    It is changed ever more rarely, as ADMM is sure to converge only once mu stands still.

    Examples
    --------
    >>> [n for n in range(1, 21) if is_due(n)]
    [3, 5, 10, 15, 20]
    """
    wait = 5 if n_iter <= 50 else 25 if n_iter <= 200 else 100
    return n_iter == 3 or n_iter % wait == 0


def balance(primal: float, dual: float) -> float:
    """Return the factor for mu that evens out the relative residuals (Wohlberg 2017).

    Examples
    --------
    >>> balance(0.4, 0.1)
    2.0
    >>> balance(0.11, 0.1)
    1.0
    """
    factor = min(max(math.sqrt(primal / max(dual, 1e-300)), 0.2), 5.0)
    return factor if abs(math.log(factor)) > 0.4 else 1.0
