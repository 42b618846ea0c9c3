"""The tables of how a study went: times, imbalance, settings, warnings, failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from smtl.experiments.findings import Speed
from smtl.experiments.imbalance import parse_ratio
from smtl.experiments.naming import MEASURE_TITLES, about
from smtl.experiments.published import PAPER_MEASURES
from smtl.experiments.report.material import file_name
from smtl.experiments.report.study_tables import over_fewer
from smtl.experiments.results import Results
from smtl.experiments.tables import NOTHING, Cell, Column, Row, Table, number, percent, seconds

__all__ = [
    "failures_table",
    "imbalance_tables",
    "methods_table",
    "runs_table",
    "time_table",
    "warnings_table",
]


def time_table(found: Iterable[Speed], dataset: str, name: Mapping[str, str], file: str) -> Table:
    """Return the training times on a data set beside those that the paper prints.

    Parameters
    ----------
    found : iterable of Speed
        Of all data sets.
    dataset : str
        The data set.
    name : mapping
        Titles of data sets and methods.
    file : str
        The name of its files.

    Returns
    -------
    Table
        A row a method.

    Examples
    --------
    >>> found = [Speed("optdigits", "br", 2.0, 30.0, 20.852, 1.0)]
    >>> table = time_table(found, "optdigits", {"optdigits": "Optdigits", "br": "BR"}, "time-optdigits")
    >>> [cell.text for cell in table.rows[0].cells]
    ['BR', '2.00', '30.0', '20.9', '10.4', '1.00']
    """
    columns = [
        Column("Method", "method", text=True),
        Column("seconds", "seconds"),
        Column("with search", "searched_seconds"),
        Column("paper", "paper_seconds"),
        Column("times faster", "factor"),
        Column("times BR", "to_br"),
    ]
    rows = []
    for speed in found:
        if speed.dataset == dataset:
            values = (speed.seconds, speed.searched, speed.paper, speed.factor, speed.to_br)
            rows.append(
                Row(
                    [Cell(name[speed.method], speed.method), *(Cell(seconds(value), value) for value in values)],
                    method=speed.method,
                )
            )
    return Table(file, f"{name[dataset]}: seconds of training a split", columns, rows)


def imbalance_tables(results: Results, name: Mapping[str, str]) -> dict[tuple[str, str], Table]:
    """Return what imbalance does to each method.

    Parameters
    ----------
    results : Results
        Runs on data sets such as ``"emotions@1:5"``.
    name : mapping
        Titles of data sets, without the imbalance, and of methods.

    Returns
    -------
    dict of (str, str) to Table
        By data set and measure, a row a method and a column a ratio, where there is any figure.

    Examples
    --------
    >>> done = {"method": "br", "split": 0, "status": "done"}
    >>> rows = [done | {"dataset": f"emotions@1:{ratio}", "auc": 0.8 - ratio / 100} for ratio in (1, 5)]
    >>> table = imbalance_tables(Results.of(rows), {"emotions": "Emotions", "br": "BR"})["emotions", "auc"]
    >>> [cell.text for cell in table.rows[0].cells]
    ['BR', '79.00', '75.00']
    """
    ratios: dict[str, dict[float, int]] = {}
    for d, dataset in enumerate(results.datasets):
        base, ratio = parse_ratio(dataset)
        if ratio is not None:
            ratios.setdefault(base, {})[ratio] = d
    out = {}
    for base, places in ratios.items():
        for measure in PAPER_MEASURES:
            means, stds, counts = results.mean(measure), results.std(measure), results.counts(measure)
            columns = [Column("Method", "method", text=True)]
            columns += [Column(f"1:{ratio:g}", f"1:{ratio:g}", spread=True) for ratio in sorted(places)]
            rows = []
            for m, method in enumerate(results.methods):
                cells = [Cell(name[method], method)]
                for ratio in sorted(places):
                    d = places[ratio]
                    mean, std, n = float(means[d, m]), float(stds[d, m]), int(counts[d, m])
                    note = over_fewer(n, int(counts[d].max())) if n else ""
                    value, spread = (None if np.isnan(figure) else figure for figure in (mean, std))
                    cells.append(Cell(percent(mean, std), value, spread, note=note))
                if any(cell.value is not None for cell in cells[1:]):
                    rows.append(Row(cells, method=method))
            if rows:
                title = name.get(base, base)
                file = file_name("imbalance", title, measure)
                caption = f"{title}: {MEASURE_TITLES[measure]} by positives to negatives, mean ± standard deviation"
                out[base, measure] = Table(file, caption, columns, rows)
    return out


def methods_table(results: Results, name: Mapping[str, str]) -> Table:
    """Return how each method is set, what it chose, and how sure it is of its optimum.

    Parameters
    ----------
    results : Results
        The study.
    name : mapping
        Titles of methods.

    Returns
    -------
    Table
        A row a method.

    Examples
    --------
    >>> rows = [{"dataset": "yeast", "method": "br", "split": 0, "status": "done", "C": 0.1, "gap": None}]
    >>> [cell.text for cell in methods_table(Results.of(rows), {"br": "BR"}).rows[0].cells][3:]
    ['0.1', '–']
    """
    columns = [
        Column("Method", "title", text=True),
        Column("Name", "method", text=True),
        Column("Settings", "settings", text=True),
        Column("Chosen (C, alpha or rounds)", "chosen", text=True),
        Column("Largest gap", "gap"),
    ]
    rows = []
    for method in results.methods:
        known = about(method)
        done = [row for row in results.rows if row["method"] == method and row["status"] == "done"]
        chosen = [
            value for row in done for value in np.atleast_1d(row.get("C", np.nan)) if isinstance(value, float | int)
        ]
        gaps = [row["gap"] for row in done if isinstance(row.get("gap"), float | int)]
        low, high = (f"{pick(chosen):.3g}" for pick in (min, max)) if chosen else (NOTHING, NOTHING)
        cells = [
            Cell(name[method]),
            Cell(method),
            Cell(known.about if known else "an estimator by its import path, with its defaults"),
            Cell(low if low == high else f"{low} to {high}"),
            Cell(f"{max(gaps):.1e}" if gaps else number(None), max(gaps, default=None)),
        ]
        rows.append(Row(cells, method=method))
    return Table("methods", "Methods and their settings", columns, rows)


def runs_table(results: Results, name: Mapping[str, str]) -> Table:
    """Return the splits of each data set and their seeds.

    Parameters
    ----------
    results : Results
        The study.
    name : mapping
        Titles of data sets.

    Returns
    -------
    Table
        A row a data set.

    Examples
    --------
    >>> row = {"dataset": "yeast", "method": "br", "split": 0, "status": "done", "seed": 7, "n_train": 6, "n_test": 4}
    >>> rows = [row]
    >>> [cell.text for cell in runs_table(Results.of(rows), {"yeast": "Yeast"}).rows[0].cells]
    ['Yeast', 'yeast', '1', '0', '6', '4', '7']
    """
    columns = [
        Column("Data set", "title", text=True),
        Column("Name", "dataset", text=True),
        Column("done", "done"),
        Column("failed", "failed"),
        Column("training rows", "n_train"),
        Column("test rows", "n_test"),
        Column("Seeds, split by split", "seeds", text=True),
    ]
    rows = []
    for dataset in results.datasets:
        mine = [row for row in results.rows if row["dataset"] == dataset]
        seeds = {row["split"]: row["seed"] for row in mine if "seed" in row}
        failed = sum(row["status"] == "failed" for row in mine)
        cells = [
            Cell(name[dataset]),
            Cell(dataset),
            Cell(str(len(mine) - failed)),
            Cell(str(failed)),
            *(Cell(_span(row[key] for row in mine if key in row)) for key in ("n_train", "n_test")),
            Cell(", ".join(str(seeds[split]) for split in sorted(seeds)) or number(None)),
        ]
        rows.append(Row(cells, dataset))
    return Table("runs", "Data sets, splits and seeds", columns, rows)


def _span(values: Iterable[Any]) -> str:
    found = sorted(set(values))
    if not found:
        return number(None)
    return str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}"


def warnings_table(results: Results, name: Mapping[str, str]) -> Table | None:
    """Return the warnings of the runs, each once for each method.

    Parameters
    ----------
    results : Results
        The study.
    name : mapping
        Titles of data sets and methods.

    Returns
    -------
    Table or None
        None if there are none.

    Examples
    --------
    >>> rows = [{"dataset": "yeast", "method": "br", "split": 0, "status": "done", "warnings": ["did not converge"]}]
    >>> [cell.text for cell in warnings_table(Results.of(rows), {"yeast": "Yeast", "br": "BR"}).rows[0].cells]
    ['BR', 'did not converge', '1', 'Yeast']
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for row in results.rows:
        for message in row.get("warnings") or []:
            groups.setdefault((row["method"], str(message)), []).append(row["dataset"])
    columns = [
        Column("Method", "method", text=True),
        Column("Warning", "warning", text=True),
        Column("runs", "runs"),
        Column("Data sets", "datasets", text=True),
    ]
    rows = []
    for (method, message), where in groups.items():
        sets = ", ".join(name[dataset] for dataset in results.datasets if dataset in where)
        rows.append(Row([Cell(name[method], method), Cell(message), Cell(str(len(where))), Cell(sets)], method=method))
    return Table("warnings", "Warnings", columns, rows) if rows else None


def failures_table(results: Results, name: Mapping[str, str]) -> Table | None:
    """Return the runs that have failed.

    Parameters
    ----------
    results : Results
        The study.
    name : mapping
        Titles of data sets and methods.

    Returns
    -------
    Table or None
        A row a data set, method and error, with the splits; None if there are none.

    Examples
    --------
    >>> rows = [{"dataset": "yeast", "method": "br", "split": k, "status": "failed", "error": "No."} for k in (0, 1)]
    >>> [cell.text for cell in failures_table(Results.of(rows), {"yeast": "Yeast", "br": "BR"}).rows[0].cells]
    ['Yeast', 'BR', '0, 1', 'No.']
    """
    groups: dict[tuple[str, str, str], list[int]] = {}
    for row in results.failures():
        groups.setdefault((row["dataset"], row["method"], str(row.get("error", "unknown"))), []).append(row["split"])
    columns = [
        Column("Data set", "dataset", text=True),
        Column("Method", "method", text=True),
        Column("splits", "splits", text=True),
        Column("Error", "error", text=True),
    ]
    rows = [
        Row(
            [Cell(name[dataset], dataset), Cell(name[method], method), Cell(", ".join(map(str, splits))), Cell(error)],
            dataset,
            method,
        )
        for (dataset, method, error), splits in groups.items()
    ]
    return Table("failures", "Failed runs", columns, rows) if rows else None
