"""Checks for what users write themselves."""

from smtl.testing.metrics import check_metric
from smtl.testing.penalties import check_penalty

__all__ = ["check_metric", "check_penalty"]
