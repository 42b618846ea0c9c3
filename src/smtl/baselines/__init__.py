"""The methods that smtl is compared with, one to a file, with the manners of scikit-learn's estimators.

A new file in this folder, with a subclass of `Baseline` that sets ``name``, is all that a new one takes.
"""

from __future__ import annotations

from smtl.baselines.adaboost_mh import AdaBoostMH
from smtl.baselines.base import Baseline, baseline_names
from smtl.baselines.binary_relevance import BinaryRelevance
from smtl.baselines.classifier_chains import EnsembleOfClassifierChains
from smtl.baselines.homer import HOMER
from smtl.baselines.label_powerset import LabelPowerset
from smtl.baselines.mlcssp import MLCSSP
from smtl.baselines.mtl_classifier import MTLClassifier
from smtl.baselines.mtl_regressor import MTLRegressor, MTLRegressorClassifier
from smtl.baselines.rakel import RAkEL
from smtl.baselines.struct_svm import StructSVM
from smtl.baselines.thresholded_logistic import ThresholdedLogistic
from smtl.registry import import_all

__all__ = [
    "HOMER",
    "MLCSSP",
    "AdaBoostMH",
    "Baseline",
    "BinaryRelevance",
    "EnsembleOfClassifierChains",
    "LabelPowerset",
    "MTLClassifier",
    "MTLRegressor",
    "MTLRegressorClassifier",
    "RAkEL",
    "StructSVM",
    "ThresholdedLogistic",
    "baseline_names",
]

import_all(__name__, __path__)
