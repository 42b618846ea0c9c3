"""One-vs-rest logistic regression, with C and thresholds chosen."""

from __future__ import annotations

from typing import Any

from smtl.experiments.methods.base import TOL, Method, Search
from smtl.experiments.methods.searching import grid

__all__ = ["ThresholdedLogistic"]


class ThresholdedLogistic(Method):
    """Logistic regression with thresholds."""

    name, title, order = "thresholded-logistic", "Logistic + thresholds", 48
    about = "one-vs-rest logistic regression; C from 1e-4 to 1e4 and thresholds by cross-validation"

    def make(self, search: Search) -> Any:  # noqa: D102
        from smtl import baselines

        Cs = search.n_values if search.n_values > 1 else grid(1e-4, 1e4, 1)
        return baselines.ThresholdedLogistic(Cs=Cs, cv=search.cv, tol=TOL, random_state=search.seed)
