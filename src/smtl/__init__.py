"""Multi-task and multi-label learning that trains on the metric you are judged by, to a certified optimum."""

from __future__ import annotations

from importlib.metadata import version

from smtl.estimators import SMTLClassifier, SMTLClassifierCV, SMTLPath, smtl_path
from smtl.metrics import AUC, F1, F2, AUCLabelling, Error, FBeta, FHalf, GMean, Jaccard, Log
from smtl.penalties import L11, L21, Elastic, Ridge, Trace

__all__ = [
    "AUC",
    "F1",
    "F2",
    "L11",
    "L21",
    "AUCLabelling",
    "Elastic",
    "Error",
    "FBeta",
    "FHalf",
    "GMean",
    "Jaccard",
    "Log",
    "Ridge",
    "SMTLClassifier",
    "SMTLClassifierCV",
    "SMTLPath",
    "Trace",
    "smtl_path",
]

__version__ = version("smtl")
