"""The rows of a store as tables: data sets x methods x splits."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.experiments.methods import method_names
from smtl.experiments.protocol import MEASURES
from smtl.experiments.statistics import Paired, Ranks, holm, mean_ranks, paired_tests
from smtl.formulas import as_text

__all__ = ["Results", "Tested", "rows_as_csv", "sign_of"]

Float: TypeAlias = npt.NDArray[np.float64]


def rows_as_csv(rows: Iterable[dict[str, Any]]) -> str:
    """Return the rows of a store as CSV, a line a run with all that is recorded of it.

    Parameters
    ----------
    rows : iterable of dict
        As `Store.rows` returns them.

    Returns
    -------
    str
        What is a list or a dictionary is JSON. Traces of errors are left out: they are long, and have paths in them.

    Examples
    --------
    >>> print(rows_as_csv([{"dataset": "yeast", "method": "br", "split": 0, "status": "done", "C": [0.1, 1.0]}]))
    dataset,method,split,status,C
    yeast,br,0,done,"[0.1, 1.0]"
    """
    rows = list(rows)
    keys = list(dict.fromkeys(key for row in rows for key in row if key != "traceback"))
    out = io.StringIO()
    writer = csv.DictWriter(out, keys, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: json.dumps(v) if isinstance(v, list | dict) else as_text(v) for key, v in row.items()})
    return out.getvalue().rstrip("\n")


def sign_of(measure: str) -> int:
    """Return 1 where more of a measure is better, -1 where less is.

    Parameters
    ----------
    measure : str
        One of `MEASURES`, or seconds.

    Returns
    -------
    int
        1 or -1.

    Examples
    --------
    >>> sign_of("auc"), sign_of("fit_seconds")
    (1, -1)
    """
    return MEASURES.get(measure, -1)


class Tested(NamedTuple):
    """The paired tests of two methods on one data set, with p-values after Holm's correction.

    Attributes
    ----------
    test : Paired
        The tests.
    t_test, wilcoxon, corrected : float
        Its p-values, after the correction.
    """

    test: Paired
    t_test: float
    wilcoxon: float
    corrected: float


@dataclass(frozen=True)
class Results:
    """What a study has found so far.

    Attributes
    ----------
    rows : list of dict
        As `Store.rows` returns them.
    datasets, methods : list of str
        In the order of the tables: data sets as given, methods as in `method_names`, others behind them.
    n_splits : int
        How many splits there are of the data set that has most.

    Examples
    --------
    >>> rows = [
    ...     {"dataset": "yeast", "method": "br", "split": k, "status": "done", "auc": 0.6 + 0.1 * k} for k in range(2)
    ... ]
    >>> results = Results.of(rows)
    >>> results.values("auc").shape
    (1, 1, 2)
    >>> results.mean("auc").round(2)
    array([[0.65]])
    """

    rows: list[dict[str, Any]]
    datasets: list[str]
    methods: list[str]
    n_splits: int

    @classmethod
    def of(cls, rows: Iterable[dict[str, Any]], datasets: Sequence[str] = ()) -> Results:
        """Sort rows into tables.

        Parameters
        ----------
        rows : iterable of dict
            As `Store.rows` returns them.
        datasets : sequence of str, optional
            The order of data sets; others come behind, by name.

        Returns
        -------
        Results
            The tables.
        """
        rows = list(rows)
        order = {name: place for place, name in enumerate(datasets)}
        known = {name: place for place, name in enumerate(method_names())}
        found = sorted({row["dataset"] for row in rows}, key=lambda name: (order.get(name, len(order)), name))
        methods = sorted({row["method"] for row in rows}, key=lambda name: (known.get(name, len(known)), name))
        return cls(rows, found, methods, max((row["split"] + 1 for row in rows), default=0))

    def values(self, measure: str) -> Float:
        """Return a measure of all runs.

        Parameters
        ----------
        measure : str
            A key of the rows with a number.

        Returns
        -------
        ndarray of shape (n_datasets, n_methods, n_splits)
            NaN where there is no run, or a failed one.
        """
        out = np.full((len(self.datasets), len(self.methods), self.n_splits), np.nan)
        d = {name: place for place, name in enumerate(self.datasets)}
        m = {name: place for place, name in enumerate(self.methods)}
        for row in self.rows:
            value = row.get(measure)
            if row["status"] == "done" and isinstance(value, int | float):
                out[d[row["dataset"]], m[row["method"]], row["split"]] = value
        return out

    def mean(self, measure: str) -> Float:
        """Return the means over splits.

        Parameters
        ----------
        measure : str
            A key of the rows with a number.

        Returns
        -------
        ndarray of shape (n_datasets, n_methods)
            NaN where nothing has been run.
        """
        return _over_splits(np.mean, self.values(measure))

    def counts(self, measure: str) -> npt.NDArray[np.int64]:
        """Return over how many splits the means are.

        Parameters
        ----------
        measure : str
            A key of the rows with a number.

        Returns
        -------
        ndarray of int of shape (n_datasets, n_methods)
            Splits with a figure.
        """
        n: npt.NDArray[np.int64] = np.isfinite(self.values(measure)).sum(axis=2)
        return n

    def std(self, measure: str) -> Float:
        """Return the standard deviations over splits.

        Parameters
        ----------
        measure : str
            A key of the rows with a number.

        Returns
        -------
        ndarray of shape (n_datasets, n_methods)
            With n - 1 below; NaN where there are fewer than two runs.
        """
        return _over_splits(lambda values: values.std(ddof=1), self.values(measure), least=2)

    def failures(self) -> list[dict[str, Any]]:
        """Return the rows of runs that have failed.

        Returns
        -------
        list of dict
            With their ``error``.
        """
        return [row for row in self.rows if row["status"] == "failed"]

    def paired(self, measure: str, ours: str) -> dict[tuple[str, str], Tested]:
        """Test one method against every other on each data set.

        Parameters
        ----------
        measure : str
            One of `MEASURES`.
        ours : str
            The method.

        Returns
        -------
        dict of (dataset, method) to Tested
            The tests, and the p-values after Holm's correction for the methods that ours meets on that data set.
            The difference is turned so that more is better for ours. Only splits that both have count.
        """
        values = sign_of(measure) * self.values(measure)
        mine = self.methods.index(ours)
        test_to_train = _over_splits(np.mean, self.values("n_test") / self.values("n_train"))[:, mine]
        out = {}
        for d, dataset in enumerate(self.datasets):
            tests = {}
            for m, method in enumerate(self.methods):
                both = np.isfinite(values[d, mine]) & np.isfinite(values[d, m])
                if m != mine and both.any():
                    tests[method] = paired_tests(values[d, mine, both], values[d, m, both], test_to_train[d])
            holms = [holm([getattr(test, name) for test in tests.values()]).tolist() for name in Tested._fields[1:]]
            for method, test, *ps in zip(tests, tests.values(), *holms, strict=True):
                out[dataset, method] = Tested(test, *ps)
        return out

    def ranks(self, measure: str, alpha: float = 0.05) -> tuple[list[str], list[str], Ranks] | None:
        """Rank the methods over the data sets.

        Parameters
        ----------
        measure : str
            One of `MEASURES`, or seconds.
        alpha : float, default=0.05
            The level of the critical difference.

        Returns
        -------
        datasets, methods : list of str
            Those of the ranking: methods that have a result on most data sets, and the data sets where they all have
            one on the same split. Only such splits count: a mean over others would be another measure.
        ranks : Ranks
            Mean ranks and tests. None instead of all three where there are no two methods to rank.
        """
        values = sign_of(measure) * self.values(measure)
        there = np.isfinite(values)
        methods = np.flatnonzero(there.any(axis=2).sum(axis=0) * 2 > len(self.datasets))
        shared = np.all(there[:, methods], axis=1)
        means = _over_splits(np.mean, np.where(shared[:, None, :], values, np.nan))
        datasets = np.flatnonzero(shared.any(axis=1))
        if len(methods) < 2 or len(datasets) == 0:
            return None
        return (
            [self.datasets[d] for d in datasets],
            [self.methods[m] for m in methods],
            mean_ranks(means[np.ix_(datasets, methods)], alpha),
        )


def _over_splits(function: Callable[[Float], Any], values: Float, least: int = 1) -> Float:
    """Apply a function to what each method has on each data set; NaN where that is less than the least number."""
    out = np.full(values.shape[:2], np.nan)
    for place in np.ndindex(*out.shape):
        finite = values[place][np.isfinite(values[place])]
        if len(finite) >= least:
            out[place] = function(finite)
    return out
