"""The estimators."""

from __future__ import annotations

from smtl.estimators.classifier import SMTLClassifier
from smtl.estimators.cv import SMTLClassifierCV
from smtl.estimators.path import SMTLPath, smtl_path

__all__ = ["SMTLClassifier", "SMTLClassifierCV", "SMTLPath", "smtl_path"]
