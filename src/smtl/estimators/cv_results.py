"""The table of what a search has tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from smtl.estimators.points import Point

__all__ = ["results_table"]

KEYS = ("metric", "penalty", "ridge", "C")


def results_table(points: Sequence[Point], candidates: Sequence[tuple[Any, Any, float]]) -> dict[str, Any]:
    """Return a table of points, a row each, in the form of `GridSearchCV`.

    Parameters
    ----------
    points : list of Point
        What was tried.
    candidates : list of (metric, penalty, ridge)
        What the numbers of the points' candidates stand for.

    Returns
    -------
    dict
        Arrays by name; see ``SMTLClassifierCV.cv_results_``.
    """
    table: dict[str, Any] = {}
    for place, key in enumerate(KEYS[:3]):
        values = [candidates[point.candidate][place] for point in points]
        table[f"param_{key}"] = np.array(values) if key == "ridge" else _objects(values)
    table["param_C"] = np.array([point.C for point in points])
    rows = zip(*(table[f"param_{key}"] for key in KEYS), strict=True)
    table["params"] = [dict(zip(KEYS, row, strict=True)) for row in rows]
    scores = np.array([point.scores for point in points])
    for k, of_fold in enumerate(scores.T):
        table[f"split{k}_test_score"] = of_fold
    known = ~np.isnan(scores)
    n_known = np.maximum(known.sum(axis=1), 1)
    means = np.where(known, scores, 0.0).sum(axis=1) / n_known
    spread = np.sqrt(np.where(known, (scores - means[:, None]) ** 2, 0.0).sum(axis=1) / n_known)
    table["mean_test_score"] = np.where(known.any(axis=1), means, np.nan)
    table["std_test_score"] = np.where(known.any(axis=1), spread, np.nan)
    table["rank_test_score"] = rankdata(-np.where(known.any(axis=1), means, -np.inf), method="min").astype(np.int32)
    table["mean_guide"] = np.array([point.mean if np.isfinite(point.mean) else np.nan for point in points])
    table["coarse"] = np.array([point.coarse for point in points])
    table["max_gap"] = np.array([float(np.max(point.gaps)) for point in points])
    table["mean_n_iter"] = np.array([float(np.mean(point.n_iters)) for point in points])
    table["seconds"] = np.array([point.seconds for point in points])
    table["smoothing"] = np.array([np.nan if point.cuts is None else point.cuts.smoothing for point in points])
    return table


def _objects(values: list[Any]) -> npt.NDArray[Any]:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out
