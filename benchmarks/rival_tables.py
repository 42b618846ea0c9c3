"""The Markdown tables of `rivals`: values with standard errors, mean ranks, where ours is behind, calibration, seconds.

Conventions: ``rows`` are lines of a store. A cell is the mean over the splits; its error is the standard error of that
mean. Values are per cent. Methods are compared on the splits that both have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
from scipy.stats import rankdata

__all__ = ["mean_ranks", "tables"]

Values: TypeAlias = dict[tuple[str, str], dict[int, float]]  # of a set and a method, a value for each split

MEASURES = {"macro_f1": "Macro F1", "micro_f1": "Micro F1", "auc": "Mean AUC"}
OURS = "SMTLEnsemble"
TITLES = {
    "logistic": "logistic regression",
    "extra-trees": "extra trees",
    "random-forest": "random forest",
    "boomer": "BOOMER",
    "lightgbm": "LightGBM",
    "linear": "SMTLClassifierCV",
    "ensemble": OURS,
}
FORESTS = ("extra-trees", "random-forest")


def tables(rows: list[dict[str, Any]], sets: list[str], methods: list[str]) -> str:
    """Return all tables, with sets and methods in the order given; those that have no rows are left out."""
    there = {row["dataset"] for row in rows}
    sets = [name for name in sets if name in there] + sorted(there - set(sets))
    methods = [method for method in methods if any(row["method"] == method for row in rows)]
    out = []
    for measure, title in MEASURES.items():
        values, columns = of_measure(rows, measure, methods)
        ranks = ranks_line(values, sets, columns)
        out.append(f"### {title}\n\n" + grid(values, sets, columns, mark=np.argmax, last=ranks))
    out.append(f"### {OURS} and the best rival\n\n" + behind(rows, sets, methods))
    out.append("### SMTLClassifierCV less logistic regression\n\n" + linear_and_logistic(rows, sets, methods))
    values, columns = of_calibration(rows, methods)
    text = grid(values, sets, columns, mark=np.argmin, last=means_line(values, sets, columns))
    out.append("### Expected calibration error, 10 bins, all labels pooled\n\n" + text)
    values = collect(rows, "seconds", lambda method: TITLES.get(method, method))
    columns = [TITLES.get(method, method) for method in methods]
    out.append("### CPU seconds of a fit, folds and cuts included\n\n" + grid(values, sets, columns, digits=1, scale=1))
    return "\n\n".join(out)


def collect(rows: Iterable[dict[str, Any]], key: str, column: Callable[[str], str | None]) -> Values:
    """Return one entry of all rows, under the column that a method's name gives."""
    values: Values = {}
    for row in rows:
        title = column(row["method"])
        if title is not None and np.isfinite(row.get(key, np.nan)):
            values.setdefault((row["dataset"], title), {})[row["split"]] = row[key]
    return values


def of_measure(rows: list[dict[str, Any]], measure: str, methods: list[str]) -> tuple[Values, list[str]]:
    """Return values and columns of a measure."""
    return collect(rows, measure, TITLES.get), [TITLES[method] for method in methods if method in TITLES]


def of_calibration(rows: list[dict[str, Any]], methods: list[str]) -> tuple[Values, list[str]]:
    """Return calibration errors, with isotonic forests beside the plain ones."""
    values = collect(rows, "ece", lambda method: TITLES.get(method, method))
    isotonic = collect(rows, "ece_isotonic", lambda m: f"{TITLES[m]}, isotonic" if m in FORESTS else None)
    columns = []
    for method in methods:
        columns += [TITLES.get(method, method)] + [f"{TITLES[method]}, isotonic"] * (method in FORESTS)
    values |= isotonic
    return values, [column for column in columns if any(key[1] == column for key in values)]


def mean_and_error(values: Iterable[float]) -> tuple[float, float]:
    """Return mean and standard error; the latter is NaN for a single value."""
    values = np.array(list(values))
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def in_words(mean: float, error: float, digits: int = 1, sign: str = "") -> str:
    return f"{mean:{sign}.{digits}f}" + ("" if np.isnan(error) else f" ± {error:.{digits}f}")


def grid(
    values: Values,
    sets: list[str],
    columns: list[str],
    *,
    mark: Callable[[list[float]], Any] | None = None,
    last: str = "",
    digits: int = 1,
    scale: float = 100.0,
) -> str:
    """Return a table of sets and methods, the best of each row in bold.

    A number in brackets is that of the splits, where others have more.
    """
    lines = ["| set | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    for name in sets:
        here = [values.get((name, column), {}) for column in columns]
        if not any(here):
            continue
        means = [float(np.mean(list(h.values()))) if h else np.nan for h in here]
        best = (
            [column for column, h in zip(columns, here, strict=True) if h][mark([m for m in means if m == m])]
            if mark and sum(map(bool, here)) > 1
            else ""
        )
        most = max(map(len, here))
        cells = []
        for column, h in zip(columns, here, strict=True):
            text = in_words(*mean_and_error(scale * v for v in h.values()), digits) if h else ""
            text = f"**{text}**" if column == best else text
            cells.append(text + (f" ({len(h)})" if 0 < len(h) < most else ""))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines + [last] * bool(last))


def complete(values: Values, sets: list[str], columns: list[str]) -> list[str]:
    """Return the sets on which all methods have the same splits."""
    splits = {name: [frozenset(values.get((name, column), {})) for column in columns] for name in sets}
    return [name for name in sets if splits[name] and splits[name][0] and len(set(splits[name])) == 1]


def mean_ranks(values: Values, sets: list[str], columns: list[str]) -> list[float]:
    """Return each method's rank, 1 for the highest mean, averaged over the sets; ties share their ranks."""
    means = [[np.mean(list(values[name, column].values())) for column in columns] for name in sets]
    return [float(rank) for rank in rankdata(-np.array(means), axis=1).mean(axis=0)]


def ranks_line(values: Values, sets: list[str], columns: list[str]) -> str:
    whole = complete(values, sets, columns)
    if not whole:
        return ""
    ranks = " | ".join(f"{rank:.2f}" for rank in mean_ranks(values, whole, columns))
    return f"| mean rank of {len(whole)} | {ranks} |"


def means_line(values: Values, sets: list[str], columns: list[str]) -> str:
    """Return the means over all sets, of the methods that have every split of them."""
    every = [len({split for c in columns for split in values.get((name, c), {})}) for name in sets]
    cells = []
    for c in columns:
        mine = [values.get((name, c), {}) for name in sets]
        whole = all(len(splits) == n for splits, n in zip(mine, every, strict=True))
        cells.append(f"{100.0 * np.mean([np.mean(list(splits.values())) for splits in mine]):.2f}" if whole else "")
    return f"| mean of {len(sets)} | " + " | ".join(cells) + " |"


def difference(values: Values, name: str, first: str, second: str) -> str:
    """Return the mean of the paired differences of two methods, with its error."""
    a, b = values[name, first], values[name, second]
    both = a.keys() & b.keys()
    return in_words(*mean_and_error(100.0 * (a[k] - b[k]) for k in both), 1, "+") if both else ""


def behind(rows: list[dict[str, Any]], sets: list[str], methods: list[str]) -> str:
    """Return, for each set and measure, the best rival and what ours has more, or less."""
    lines = [f"| set | measure | best rival | its value | {OURS} | difference |", "|---|---|---|---:|---:|---:|"]
    for name in sets:
        for measure, title in MEASURES.items():
            values, columns = of_measure(rows, measure, methods)
            means = {c: float(np.mean(list(values[name, c].values()))) for c in columns if values.get((name, c))}
            ours = means.pop(OURS, None)
            if not means:
                continue
            best = max(means, key=means.__getitem__)
            shown = ["", ""] if ours is None else [f"{100 * ours:.1f}", difference(values, name, OURS, best)]
            lines.append(f"| {name} | {title} | {best} | {100 * means[best]:.1f} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def linear_and_logistic(rows: list[dict[str, Any]], sets: list[str], methods: list[str]) -> str:
    """Return what SMTLClassifierCV has more than logistic regression, or less."""
    first, second = TITLES["linear"], TITLES["logistic"]
    lines = ["| set | " + " | ".join(MEASURES.values()) + " |", "|---|" + "---:|" * len(MEASURES)]
    of = {measure: of_measure(rows, measure, methods)[0] for measure in MEASURES}
    for name in sets:
        if all((name, column) in values for values in of.values() for column in (first, second)):
            lines.append(f"| {name} | " + " | ".join(difference(v, name, first, second) for v in of.values()) + " |")
    if len(lines) == 2:
        return "None of the sets has both."
    return "\n".join(lines)
