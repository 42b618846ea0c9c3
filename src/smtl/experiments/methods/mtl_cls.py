"""The hinge loss with the norms of the paper: C along a path."""

from __future__ import annotations

from typing import Any

from smtl.estimators import SMTLClassifierCV
from smtl.experiments.methods.base import GAP, PASSES, Method, Search

__all__ = ["ClsL11", "ClsL21", "ClsTrace"]


class _Hinge(Method):
    """The hinge loss, with C chosen by macro F1."""

    family = "MTL-CLS"

    @property
    def title(self) -> str:
        return f"MTL-CLS {self.penalty}"

    @property
    def about(self) -> str:
        return (
            f"hinge loss, {self.penalty}; C from the critical one on, over up to three decades, chosen by macro F1; "
            "cut at 0"
        )

    def make(self, search: Search) -> Any:
        return SMTLClassifierCV(
            "error",
            self.penalty,
            Cs=search.n_values,
            cv=search.cv,
            scoring="f1_macro",
            threshold=0.0,
            tol=GAP,
            max_iter=PASSES,
            random_state=search.seed,
        )


class ClsL21(_Hinge):
    """Hinge loss with l21."""

    name, penalty, order = "mtl-cls-l21", "l21", 12


class ClsL11(_Hinge):
    """Hinge loss with l11."""

    name, penalty, order = "mtl-cls-l11", "l11", 22


class ClsTrace(_Hinge):
    """Hinge loss with the trace norm."""

    name, penalty, order = "mtl-cls-trace", "trace", 32
