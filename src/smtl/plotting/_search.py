"""What a search over C has found: scores over the folds, and the combinations that were tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from smtl.plotting._names import name_of
from smtl.plotting._parts import Float

__all__ = ["candidates", "over_folds"]


def over_folds(scores: Float) -> tuple[Float, Float, Float]:
    """Return mean, standard deviation and standard error of the mean over the folds that have a score."""
    known = ~np.isnan(scores)
    n = known.sum(axis=0)
    means = np.where(n > 0, np.nansum(scores, axis=0) / np.maximum(n, 1), np.nan)
    std = np.sqrt(np.nansum((scores - means) ** 2, axis=0) / np.maximum(n - 1, 1))
    return means, std, std / np.sqrt(np.maximum(n, 1))


def candidates(results: Mapping[str, Any]) -> Iterator[tuple[str, Float, Float]]:
    """Yield name, values of C and mean scores of each metric, penalty and ridge; the name tells what differs."""
    given = [f"param_{name}" for name in ("metric", "penalty", "ridge") if f"param_{name}" in results]
    columns = [[name_of(v) if key != "param_ridge" else f"ridge {v:.3g}" for v in results[key]] for key in given]
    if np.any(results.get("coarse", False)):
        columns.append(["first look" if coarse else "close look" for coarse in results["coarse"]])
    columns = [column for column in columns if len(set(column)) > 1]
    names = np.array([", ".join(row) for row in zip(*columns, strict=True)] or [""] * len(results["param_C"]))
    Cs, means = np.asarray(results["param_C"], dtype=float), np.asarray(results["mean_test_score"], dtype=float)
    for name in dict.fromkeys(names.tolist()):
        rows = np.flatnonzero(names == name)
        rows = rows[np.argsort(Cs[rows], kind="stable")]
        yield name, Cs[rows], means[rows]
