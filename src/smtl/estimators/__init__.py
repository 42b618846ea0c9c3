"""The estimators."""

from __future__ import annotations

from smtl.estimators.calibrating import Calibrator, calibrate
from smtl.estimators.classifier import SMTLClassifier
from smtl.estimators.cv import SMTLClassifierCV
from smtl.estimators.path import SMTLPath, smtl_path
from smtl.estimators.ranker import SMTLRanker

__all__ = ["Calibrator", "SMTLClassifier", "SMTLClassifierCV", "SMTLPath", "SMTLRanker", "calibrate", "smtl_path"]
