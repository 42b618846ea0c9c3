"""What a study has found, as figures: who is first, whether the metric pays, what of the paper is reached, how fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smtl.experiments.naming import about
from smtl.experiments.published import (
    PAPER_MEASURES,
    best_smtl,
    paper_dataset,
    paper_seconds,
)
from smtl.experiments.results import Results, sign_of
from smtl.experiments.statistics import Ranks

__all__ = [
    "Duel",
    "Ranking",
    "Reached",
    "Speed",
    "chosen_variant",
    "duels",
    "rank",
    "reached",
    "smtl_variants",
    "speeds",
]

# On which measure a metric that SMTL is trained on is judged: its loss is F1 task by task, and so is macro F1.
_JUDGED_BY = {"auc": "auc", "f1": "macro_f1"}


class Ranking(NamedTuple):
    """Mean ranks by a measure, best first.

    Examples
    --------
    >>> Ranking("auc", ["yeast"], ["br", "lp"], [1.0, 2.0], Ranks([1.0, 2.0], 1.0, 1.0, 1.0, None)).methods[0]
    'br'
    """

    measure: str
    datasets: list[str]
    methods: list[str]
    ranks: list[float]
    tests: Ranks

    @property
    def tested(self) -> bool:
        """Whether there were enough data sets and methods for Friedman's test."""
        return bool(np.isfinite(self.tests.friedman))


def rank(results: Results, measure: str) -> Ranking | None:
    """Rank the methods by a measure over the data sets.

    Parameters
    ----------
    results : Results
        The study.
    measure : str
        One of `MEASURE_TITLES`.

    Returns
    -------
    Ranking or None
        The tests of it are in the order of its methods. None where there is nothing to rank.

    Examples
    --------
    >>> done = {"dataset": "yeast", "split": 0, "status": "done"}
    >>> rows = [done | {"method": "br", "auc": 0.6}, done | {"method": "lp", "auc": 0.7}]
    >>> rank(Results.of(rows), "auc").methods
    ['lp', 'br']
    """
    found = results.ranks(measure)
    if found is None:
        return None
    datasets, methods, tests = found
    order = np.argsort(tests.ranks, kind="stable")
    ranks = tests.ranks[order]
    sorted_tests = Ranks(
        ranks, tests.friedman, tests.iman_davenport, tests.critical_difference, tests.nemenyi[np.ix_(order, order)]
    )
    return Ranking(measure, datasets, [methods[m] for m in order], ranks.tolist(), sorted_tests)


def smtl_variants(results: Results) -> list[str]:
    """Return the SMTL variants of a study.

    Parameters
    ----------
    results : Results
        The study.

    Returns
    -------
    list of str
        Their names, in the order of the tables; only those with a finished run.

    Examples
    --------
    >>> rows = [{"dataset": "yeast", "method": m, "split": 0, "status": "done"} for m in ("br", "smtl-auc-l21")]
    >>> smtl_variants(Results.of(rows))
    ['smtl-auc-l21']
    """
    done = {row["method"] for row in results.rows if row["status"] == "done"}
    families = {method: getattr(about(method), "family", "") for method in results.methods}
    return [method for method in results.methods if method in done and families[method] == "SMTL"]


def chosen_variant(results: Results, measure: str) -> str | None:
    """Return the SMTL variant that is first by a measure in mean rank.

    Parameters
    ----------
    results : Results
        The study.
    measure : str
        The measure.

    Returns
    -------
    str or None
        Its name. Without SMTL the method that is best; None where there is none.

    Examples
    --------
    >>> rows = [
    ...     {"dataset": "yeast", "method": m, "split": 0, "status": "done", "auc": v}
    ...     for m, v in (("br", 0.9), ("smtl-auc-l21", 0.6), ("smtl-f1-l21", 0.7))
    ... ]
    >>> chosen_variant(Results.of(rows), "auc")
    'smtl-f1-l21'
    """
    ours = smtl_variants(results) or results.methods
    ranking = rank(results, measure)
    if ranking and (placed := [method for method in ranking.methods if method in ours]):
        return placed[0]
    # Too little for ranks: who has been on most data sets, and then who is best there.
    mean = sign_of(measure) * results.mean(measure)
    there = {method: column[np.isfinite(column)] for method, column in zip(results.methods, mean.T, strict=True)}
    some = [method for method in ours if len(there[method])]
    return max(some, key=lambda method: (len(there[method]), there[method].mean()), default=None)


class Duel(NamedTuple):
    """SMTL trained on a metric against a method with the same penalty that is not, on one data set.

    Examples
    --------
    >>> Duel("yeast", "l21", "auc", "auc", "MTL-CLS", 0.7, 0.6).won
    True
    """

    dataset: str
    penalty: str
    target: str
    measure: str
    rival: str
    ours: float
    theirs: float

    @property
    def won(self) -> bool:
        """Whether the mean over splits of ours is higher."""
        return self.ours > self.theirs


def duels(results: Results) -> list[Duel]:
    """Compare SMTL with MTL-CLS and MTL-REG of the same penalty on the metric that SMTL is trained on.

    Parameters
    ----------
    results : Results
        The study.

    Returns
    -------
    list of Duel
        By penalty, metric, data set and rival, where both have finished runs; means over the splits that both have.

    Examples
    --------
    >>> rows = [
    ...     {"dataset": "yeast", "method": m, "split": 0, "status": "done", "auc": v}
    ...     for m, v in (("smtl-auc-l21", 0.7), ("mtl-cls-l21", 0.6))
    ... ]
    >>> [duel.won for duel in duels(Results.of(rows))]
    [True]
    """
    known = {method: found for method in results.methods if (found := about(method))}
    values = {measure: results.values(measure) for measure in _JUDGED_BY.values()}
    out = []
    for ours, method in known.items():
        if method.family != "SMTL":
            continue
        measure = _JUDGED_BY[method.target]
        for d, dataset in enumerate(results.datasets):
            for theirs, rival in known.items():
                if rival.family not in ("MTL-CLS", "MTL-REG") or rival.penalty != method.penalty:
                    continue
                a, b = (values[measure][d, results.methods.index(name)] for name in (ours, theirs))
                both = np.isfinite(a) & np.isfinite(b)
                if both.any():
                    means = float(a[both].mean()), float(b[both].mean())
                    out.append(Duel(dataset, method.penalty, method.target, measure, rival.family, *means))
    return out


class Reached(NamedTuple):
    """The best SMTL variant of ours beside the best of the paper, on one data set by one measure.

    Examples
    --------
    >>> Reached("yeast", "auc", 0.7, "smtl-auc-l21", 0.68).reached
    True
    """

    dataset: str
    measure: str
    ours: float
    method: str
    paper: float

    @property
    def reached(self) -> bool:
        """Whether ours is at least the paper's."""
        return self.ours >= self.paper


def reached(results: Results) -> list[Reached]:
    """Compare the best SMTL variant with the best of the paper's, cell by cell.

    Parameters
    ----------
    results : Results
        The study.

    Returns
    -------
    list of Reached
        For the paper's data sets and measures. The best is one of those variants that have most splits.

    Examples
    --------
    >>> rows = [{"dataset": "yeast", "method": "smtl-auc-l21", "split": 0, "status": "done", "auc": 0.9}]
    >>> reached(Results.of(rows))[0].reached
    True
    """
    ours = smtl_variants(results)
    columns = [results.methods.index(method) for method in ours]
    out = []
    for measure in PAPER_MEASURES:
        mean, counts = results.mean(measure), results.counts(measure)
        for d, dataset in enumerate(results.datasets):
            paper = best_smtl(dataset, measure)
            n = counts[d, columns]
            values = np.where(n == n.max(initial=0), mean[d, columns], np.nan)
            if paper is not None and np.isfinite(values).any():
                best = int(np.nanargmax(values))
                out.append(Reached(dataset, measure, float(values[best]), ours[best], paper))
    return sorted(out, key=lambda cell: results.datasets.index(cell.dataset))


class Speed(NamedTuple):
    """How long a method trains on a data set: with what it has chosen, and with its search for that.

    Examples
    --------
    >>> Speed("optdigits", "br", 2.0, 30.0, 20.852, 1.0).factor
    10.426
    """

    dataset: str
    method: str
    seconds: float
    searched: float
    paper: float | None
    to_br: float | None

    @property
    def factor(self) -> float | None:
        """How many times faster than in the paper."""
        return None if self.paper is None else self.paper / self.seconds


def speeds(results: Results) -> list[Speed]:
    """Return the training times: on the data sets of the paper's time table, or on all if there are none of those.

    Parameters
    ----------
    results : Results
        The study.

    Returns
    -------
    list of Speed
        Means over splits; beside them the ratio of training to that of BR on the splits that both have.

    Examples
    --------
    >>> times = {"train_seconds": 2.0, "fit_seconds": 30.0}
    >>> rows = [{"dataset": "optdigits", "method": "br", "split": 0, "status": "done", **times}]
    >>> speeds(Results.of(rows))[0].factor
    10.426
    """
    values, searched = results.values("train_seconds"), results.mean("fit_seconds")
    timed = [d for d, name in enumerate(results.datasets) if paper_seconds(name, "br") is not None]
    out = []
    for d in timed or range(len(results.datasets)):
        for m, method in enumerate(results.methods):
            known = np.isfinite(values[d, m])
            if not known.any():
                continue
            to_br = None
            if "br" in results.methods:
                theirs = values[d, results.methods.index("br")]
                both = known & np.isfinite(theirs)
                if both.any() and theirs[both].sum() > 0.0:
                    to_br = float(values[d, m, both].sum() / theirs[both].sum())
            seconds = max(float(values[d, m, known].mean()), 1e-9)
            dataset = results.datasets[d]
            paper = paper_seconds(dataset, method)
            out.append(Speed(dataset, method, seconds, float(searched[d, m]), paper, to_br))
    order = ["optdigits", "emotions", "segmentation"]
    return sorted(out, key=lambda speed: order.index(name) if (name := paper_dataset(speed.dataset)) in order else 3)
