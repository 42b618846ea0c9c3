"""Rows in the shape of `Store.rows`, made by a seed: figures near the paper's, some runs failed or missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from smtl.experiments.methods import method_names
from smtl.experiments.protocol import MEASURES, seed_of
from smtl.experiments.published import paper_value

PAPER_SETS = ["cal500", "segmentation", "optdigits", "mediamill", "tmc2007", "yeast", "scene", "emotions", "flags"]


def made_rows(
    datasets: list[str],
    methods: list[str] | None = None,
    n_splits: int = 3,
    *,
    seed: int = 0,
    failed: float = 0.0,
    missing: float = 0.0,
) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    rows = []
    for dataset in datasets:
        ease = rng.uniform(0.4, 0.8)
        for method in methods or method_names():
            skill, speed = rng.normal(0.0, 0.03), np.exp(rng.normal(0.0, 1.5))
            for split in range(n_splits):
                if rng.random() < missing:
                    continue
                row: dict[str, Any] = {"dataset": dataset, "method": method, "split": split}
                if rng.random() < failed:
                    error = "ValueError: the labels of <task 3> must have two classes & got one."
                    rows.append(row | {"status": "failed", "error": error, "traceback": "Traceback ..."})
                    continue
                for measure in MEASURES:
                    printed = paper_value(dataset, method, measure)
                    centre = printed.mean + 0.01 if printed else ease + skill
                    row[measure] = float(1.0 - abs(1.0 - abs(centre + rng.normal(0.0, 0.01))))  # no ties at the ends
                seconds = float(speed * rng.uniform(0.9, 1.1))
                rows.append(
                    row
                    | {
                        "status": "done",
                        "C": float(10.0 ** rng.uniform(-2, 2)),
                        "gap": 1e-4 if method.startswith("smtl") else None,
                        "fit_seconds": 30.0 * seconds,
                        "train_seconds": seconds,
                        "fit_cpu_seconds": seconds,
                        "predict_seconds": seconds / 100,
                        "seed": seed_of(dataset, split),
                        "n_train": 60,
                        "n_test": 40,
                        "warnings": ["Stopped before the gap was 1e-4."] if rng.random() < 0.05 else [],
                        "versions": {"python": "3.11.2", "smtl": "0.1.0"},
                    }
                )
    return rows
