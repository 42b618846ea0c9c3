"""The estimators."""

from __future__ import annotations

from smtl.estimators.classifier import SMTLClassifier, critical_C

__all__ = ["SMTLClassifier", "critical_C"]
