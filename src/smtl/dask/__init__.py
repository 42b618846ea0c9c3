"""The classifiers for data past one machine: Dask collections, and folders of Parquet larger than memory."""

from __future__ import annotations

from smtl.dask.estimators import SMTLClassifier, SMTLClassifierCV
from smtl.parts.errors import ClusterError, SourceChangedError

__all__ = ["ClusterError", "SMTLClassifier", "SMTLClassifierCV", "SourceChangedError"]
