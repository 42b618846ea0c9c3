"""Metrics: one file each, with the structured hinge loss that training on it minimises."""

from __future__ import annotations

from smtl.metrics.auc import AUC
from smtl.metrics.auc_labelling import AUCLabelling
from smtl.metrics.base import Metric
from smtl.metrics.contingency import ContingencyMetric
from smtl.metrics.error import Error
from smtl.metrics.fbeta import F1, F2, FBeta, FHalf
from smtl.metrics.gmean import GMean
from smtl.metrics.jaccard import Jaccard
from smtl.metrics.log import Log
from smtl.metrics.pointwise import PointwiseMetric
from smtl.registry import import_all, unknown_name

__all__ = [
    "AUC",
    "F1",
    "F2",
    "AUCLabelling",
    "ContingencyMetric",
    "Error",
    "FBeta",
    "FHalf",
    "GMean",
    "Jaccard",
    "Log",
    "Metric",
    "PointwiseMetric",
    "get_metric",
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
    ['auc', 'auc-labelling', 'error', 'f0.5', 'f1', 'f2', 'gmean', 'jaccard', 'log']
    """
    return sorted(Metric.known)


def get_metric(metric: str | Metric) -> Metric:
    """Return the metric of that name, or the metric itself.

    Parameters
    ----------
    metric : str or Metric
        A name, see `metric_names`, or an instance.

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
    if not isinstance(metric, str) or metric not in Metric.known:
        raise unknown_name("metric", metric, Metric.known, "smtl.metrics.Metric")
    found: Metric = Metric.known[metric]()
    return found
