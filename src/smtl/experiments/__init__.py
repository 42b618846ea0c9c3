"""Comparisons of methods on data sets: one protocol, a store that survives, statistics, a report."""

from __future__ import annotations

from smtl.experiments.methods import Method, Search, get_method, method_names
from smtl.experiments.protocol import TaskFolds, measures, split
from smtl.experiments.report import write_report
from smtl.experiments.results import Results
from smtl.experiments.runner import Study, compare, run_one
from smtl.experiments.statistics import Paired, Ranks, critical_difference, holm, mean_ranks, paired_tests
from smtl.experiments.store import Run, Store, StudyError

__all__ = [
    "Method",
    "Paired",
    "Ranks",
    "Results",
    "Run",
    "Search",
    "Store",
    "Study",
    "StudyError",
    "TaskFolds",
    "compare",
    "critical_difference",
    "get_method",
    "holm",
    "mean_ranks",
    "measures",
    "method_names",
    "paired_tests",
    "run_one",
    "split",
    "write_report",
]
