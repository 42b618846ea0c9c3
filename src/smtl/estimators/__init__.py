"""The estimators."""

from __future__ import annotations

from smtl.estimators.classifier import SMTLClassifier

__all__ = ["SMTLClassifier"]
