"""What the sections of a report are made from, worked out once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from smtl.experiments.findings import Ranking, chosen_variant, rank, smtl_variants
from smtl.experiments.imbalance import parse_ratio
from smtl.experiments.naming import MEASURE_TITLES, about, titles, without_imbalance
from smtl.experiments.published import PAPER_MEASURES
from smtl.experiments.report.html import Names
from smtl.experiments.results import Results, Tested
from smtl.experiments.tables import Table

__all__ = ["Material", "file_name", "gather"]


@dataclass(frozen=True)
class Material:
    """What the sections are made from.

    Attributes
    ----------
    results, imbalance : Results
        The study, and its runs on data made imbalanced.
    names : Names
        Of data sets and methods.
    rankings : dict of str to Ranking
        By measure.
    chosen : dict of str to str
        By measure the method that the others are tested against.
    tests : dict
        By measure and method what `Results.paired` returns.
    settings : mapping
        Of the study.
    command : str
        What made the report.
    tables : list of Table
        Those to be written to files; sections add theirs.

    Examples
    --------
    >>> rows = [{"dataset": "yeast", "method": "br", "split": 0, "status": "done", "auc": 0.6}]
    >>> gather(Results.of(rows)).chosen
    {'auc': 'br'}
    """

    results: Results
    imbalance: Results
    names: Names
    rankings: dict[str, Ranking]
    chosen: dict[str, str]
    tests: dict[tuple[str, str], dict[tuple[str, str], Tested]]
    settings: Mapping[str, Any]
    command: str
    tables: list[Table] = field(default_factory=list)

    def keep(self, table: Table) -> Table:
        """Note that a table is to be written to files.

        Parameters
        ----------
        table : Table
            The table.

        Returns
        -------
        Table
            The same.
        """
        self.tables.append(table)
        return table


def gather(
    results: Results, imbalance: Results | None = None, settings: Mapping[str, Any] | None = None, command: str = ""
) -> Material:
    """Work out what the sections need.

    Parameters
    ----------
    results : Results
        The study; runs on data made imbalanced may be among its rows.
    imbalance : Results, optional
        Such runs from elsewhere.
    settings : mapping, optional
        Of the study.
    command : str, optional
        What makes the report.

    Returns
    -------
    Material
        Rankings and tests done.

    Examples
    --------
    >>> rows = [{"dataset": d, "method": "br", "split": 0, "status": "done"} for d in ("yeast", "yeast@1:5")]
    >>> gather(Results.of(rows)).imbalance.datasets
    ['yeast@1:5']
    """
    results, within = without_imbalance(results)
    if imbalance is not None:
        within = Results.of(
            [*within.rows, *without_imbalance(imbalance)[1].rows], [*within.datasets, *imbalance.datasets]
        )
    rankings = {measure: found for measure in MEASURE_TITLES if (found := rank(results, measure))}
    chosen = {measure: best for measure in PAPER_MEASURES if (best := chosen_variant(results, measure))}
    tests = {}
    for measure, best in chosen.items():
        there = np.atleast_1d(np.isfinite(results.mean(measure)).any(axis=0))
        # Those that one may ask about: SMTL, and what the user has brought along.
        own = [method for method in results.methods if about(method) is None]
        for method in dict.fromkeys([*(smtl_variants(results) or [best]), *own]):
            if there[results.methods.index(method)]:
                tests[measure, method] = results.paired(measure, method)
    return Material(results, within, _names(results, within), rankings, chosen, tests, settings or {}, command)


def _names(results: Results, imbalance: Results) -> Names:
    """Name the data sets and methods of both parts; an imbalanced set goes by the name of the whole one."""
    bases = _without(results.datasets, (parse_ratio(dataset)[0] for dataset in imbalance.datasets))
    methods = _without(results.methods, imbalance.methods)
    everything = Results([], [*results.datasets, *bases], [*results.methods, *methods], 0)
    return Names(titles(everything), everything.datasets, everything.methods)


def _without(there: Iterable[str], names: Iterable[str]) -> list[str]:
    known = set(there)
    return [name for name in dict.fromkeys(names) if name not in known]


def file_name(*parts: str) -> str:
    """Return a name for a file that every system takes.

    Parameters
    ----------
    *parts : str
        Of what it is.

    Returns
    -------
    str
        Small letters, digits and hyphens.

    Examples
    --------
    >>> file_name("results", "../Songs & more.arff")
    'results-songs-more-arff'
    """
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") or "x" for part in parts)
