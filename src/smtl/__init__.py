"""Multi-task and multi-label learning that trains on the metric you are judged by, to a certified optimum."""

from __future__ import annotations

import importlib
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smtl.ensemble import SMTLEnsemble
    from smtl.estimators import SMTLClassifier, SMTLClassifierCV, SMTLPath, SMTLRanker, calibrate, smtl_path
    from smtl.metrics import (
        AUC,
        F1,
        F2,
        MCC,
        NDCG,
        PRBEP,
        AUCLabelling,
        AveragePrecision,
        BalancedError,
        Error,
        FBeta,
        FHalf,
        GMean,
        Jaccard,
        Log,
        PartialAUC,
        PrecisionAtK,
    )
    from smtl.model import load_model, save_model
    from smtl.penalties import L11, L21, Elastic, Ridge, Trace

__all__ = [
    "AUC",
    "F1",
    "F2",
    "L11",
    "L21",
    "MCC",
    "NDCG",
    "PRBEP",
    "AUCLabelling",
    "AveragePrecision",
    "BalancedError",
    "Elastic",
    "Error",
    "FBeta",
    "FHalf",
    "GMean",
    "Jaccard",
    "Log",
    "PartialAUC",
    "PrecisionAtK",
    "Ridge",
    "SMTLClassifier",
    "SMTLClassifierCV",
    "SMTLEnsemble",
    "SMTLPath",
    "SMTLRanker",
    "Trace",
    "calibrate",
    "load_model",
    "save_model",
    "smtl_path",
]

__version__ = version("smtl")

_PACKAGES = ("estimators", "metrics", "penalties", "model", "ensemble")


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: ``smtl --help`` needs none, and scikit-learn takes a second."""
    if name in __all__:
        for package in _PACKAGES:
            module = importlib.import_module(f"smtl.{package}")
            if name in module.__all__:
                value = globals()[name] = getattr(module, name)
                return value
    raise AttributeError(f"module 'smtl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
