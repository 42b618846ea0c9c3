"""Structured losses of AUC and F1 with the norms of the paper, and the struct SVM: C along a path."""

from __future__ import annotations

from typing import Any

from smtl.estimators import SMTLClassifierCV
from smtl.experiments.methods.base import GAP, PASSES, Method, Search

__all__ = ["AUCL11", "AUCL21", "F1L11", "F1L21", "AUCTrace", "F1Trace", "StructSVM"]

_WORDS = {"auc": "AUC", "f1": "F1"}
_CUT = {"auc": "smoothed thresholds for F1 from held-out scores", "f1": "cut at 0"}


class _Structured(Method):
    """A structured loss, with C chosen by its metric."""

    family = "SMTL"

    @property
    def title(self) -> str:
        return f"SMTL({_WORDS[self.target]}) {self.penalty}"

    @property
    def about(self) -> str:
        word = _WORDS[self.target]
        return (
            f"structured loss of {word}, {self.penalty}; C from the critical one on, over up to three decades, chosen "
            f"by {word}; {_CUT[self.target]}"
        )

    def make(self, search: Search) -> Any:
        # Training on F1 puts the cut where F1 is best; training on AUC leaves it open.
        return SMTLClassifierCV(
            self.target,
            self.penalty,
            Cs=search.n_values,
            cv=search.cv,
            threshold=0.0 if self.target == "f1" else "smoothed",
            tol=GAP,
            max_iter=PASSES,
            random_state=search.seed,
        )


class AUCL21(_Structured):
    """AUC with l21."""

    name, target, penalty, order = "smtl-auc-l21", "auc", "l21", 10


class F1L21(_Structured):
    """F1 with l21."""

    name, target, penalty, order = "smtl-f1-l21", "f1", "l21", 11


class AUCL11(_Structured):
    """AUC with l11."""

    name, target, penalty, order = "smtl-auc-l11", "auc", "l11", 20


class F1L11(_Structured):
    """F1 with l11."""

    name, target, penalty, order = "smtl-f1-l11", "f1", "l11", 21


class AUCTrace(_Structured):
    """AUC with the trace norm."""

    name, target, penalty, order = "smtl-auc-trace", "auc", "trace", 30


class F1Trace(_Structured):
    """F1 with the trace norm."""

    name, target, penalty, order = "smtl-f1-trace", "f1", "trace", 31


class StructSVM(_Structured):
    """F1 with ridge: each task by itself."""

    name, target, penalty, order = "struct-svm", "f1", "ridge", 40
    family = "other"
    title = "StructSVM"
    about = "structured loss of F1, ridge, each task by itself; C as for SMTL(F1); cut at 0"
