"""Metrics: one file each, with the structured hinge loss that training on it minimises."""

from __future__ import annotations

from smtl.metrics.ap import AveragePrecision
from smtl.metrics.auc import AUC
from smtl.metrics.auc_labelling import AUCLabelling
from smtl.metrics.balanced_error import BalancedError
from smtl.metrics.base import Metric
from smtl.metrics.contingency import ContingencyMetric
from smtl.metrics.error import Error
from smtl.metrics.fbeta import F1, F2, FBeta, FHalf
from smtl.metrics.gmean import GMean
from smtl.metrics.jaccard import Jaccard
from smtl.metrics.log import Log
from smtl.metrics.mcc import MCC
from smtl.metrics.ndcg import NDCG
from smtl.metrics.pauc import PartialAUC
from smtl.metrics.pointwise import PointwiseMetric
from smtl.metrics.prbep import PRBEP
from smtl.metrics.precision_at_k import PrecisionAtK
from smtl.metrics.ranking import RankingMetric
from smtl.metrics.scorers import get_scorer, get_scorer_names, make_scorer
from smtl.registry import import_all, unknown_name

__all__ = [
    "AUC",
    "F1",
    "F2",
    "MCC",
    "NDCG",
    "PRBEP",
    "AUCLabelling",
    "AveragePrecision",
    "BalancedError",
    "ContingencyMetric",
    "Error",
    "FBeta",
    "FHalf",
    "GMean",
    "Jaccard",
    "Log",
    "Metric",
    "PartialAUC",
    "PointwiseMetric",
    "PrecisionAtK",
    "RankingMetric",
    "get_metric",
    "get_scorer",
    "get_scorer_names",
    "make_scorer",
    "metric_names",
]

import_all(__name__, __path__)


def metric_names() -> list[str]:
    """Return the names of all metrics.

    Returns
    -------
    list of str
        Sorted.

    Examples
    --------
    >>> metric_names()
    ['ap', 'auc', 'auc-labelling', 'balanced-error', 'error', 'f0.5', 'f1', 'f2', 'gmean', 'jaccard', 'log', 'mcc',
     'ndcg', 'pauc', 'prbep', 'precision@k']
    """
    return sorted(Metric.known)


def get_metric(metric: str | Metric) -> Metric:
    """Return the metric of that name, or the metric itself.

    Parameters
    ----------
    metric : str or Metric
        A name, see `metric_names`, in capitals or not; a usual name of one, such as ``"roc_auc"``; or an instance.

    Returns
    -------
    Metric
        The metric.

    Examples
    --------
    >>> get_metric("f1")
    F1()
    """
    if isinstance(metric, Metric):
        return metric
    metric = _usual(metric) if isinstance(metric, str) and metric not in Metric.known else metric
    if not isinstance(metric, str) or metric not in Metric.known:
        raise unknown_name("metric", metric, Metric.known, "smtl.metrics.Metric")
    found: Metric = Metric.known[metric]()
    return found


# What other libraries call our metrics.
_USUAL = {
    "roc_auc": "auc",
    "auroc": "auc",
    "log_loss": "log",
    "logloss": "log",
    "logistic": "log",
    "accuracy": "error",
    "average_precision": "ap",
    "map": "ap",
    "partial_auc": "pauc",
    "balanced_accuracy": "balanced-error",
    "balanced_error": "balanced-error",
    "matthews_corrcoef": "mcc",
    "precision_at_k": "precision@k",
}


def _usual(name: str) -> str:
    """Return our name of a metric that is called otherwise elsewhere."""
    plain = name.strip().lower().replace("-", "_")
    return _USUAL.get(plain, plain if plain in Metric.known else name)
