"""The squared loss with the norms of the paper."""

from __future__ import annotations

from typing import Any

from smtl.experiments.methods.base import GAP, Method, Search
from smtl.experiments.methods.searching import grid, searched

__all__ = ["RegL11", "RegL21", "RegTrace"]


class _Squared(Method):
    """The squared loss, with alpha chosen by macro F1."""

    family = "MTL-REG"

    @property
    def title(self) -> str:
        return f"MTL-REG {self.penalty}"

    @property
    def about(self) -> str:
        return f"squared loss, {self.penalty}; alpha from 1e-4 to 1, at most 12 values, chosen by macro F1; cut at 0"

    def make(self, search: Search) -> Any:
        from smtl.baselines import MTLRegressorClassifier

        model = MTLRegressorClassifier(self.penalty, tol=GAP)
        return searched(model, "alpha", grid(1.0, 1e-4, min(search.n_values, 12)), search)


class RegL21(_Squared):
    """Squared loss with l21."""

    name, penalty, order = "mtl-reg-l21", "l21", 13


class RegL11(_Squared):
    """Squared loss with l11."""

    name, penalty, order = "mtl-reg-l11", "l11", 23


class RegTrace(_Squared):
    """Squared loss with the trace norm."""

    name, penalty, order = "mtl-reg-trace", "trace", 33
