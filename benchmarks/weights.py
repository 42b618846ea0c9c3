"""What weights of rows cost: the time of an iteration with them, as a multiple of one without.

OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/weights.py
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from smtl import SMTLClassifier

ROWS, FEATURES, TASKS, ROUNDS = 5_000, 50, 6, 5
METRICS = ("log", "error", "auc", "pauc", "prbep", "precision@k", "jaccard", "f1", "ndcg", "ap")


def seconds(metric: str, X: np.ndarray, Y: np.ndarray, all_weights: list[np.ndarray | None]) -> np.ndarray:
    """Return the CPU time of an iteration with each of these weights, the least of some rounds, in turns."""
    found = np.full((ROUNDS, len(all_weights)), np.inf)
    for times in found:
        for k, weights in enumerate(all_weights):
            model, begun = SMTLClassifier(metric, threshold=0.0), time.process_time()
            model.fit(X, Y, sample_weight=weights)
            times[k] = (time.process_time() - begun) / max(model.n_iter_, 1)
    return found.min(axis=0)


def main() -> None:
    """Print a row a metric."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, FEATURES))
    Y = (X @ rng.standard_normal((FEATURES, TASKS)) + 4.0 * rng.standard_normal((ROWS, TASKS)) > 3.0).astype(int)
    weights = {
        "all weights 1": np.ones(ROWS),
        "1, 2 or 3": rng.integers(1, 4, ROWS).astype(float),
        "between 0 and 2": rng.uniform(0.0, 2.0, ROWS),
    }
    print("| metric |", " | ".join(weights), "|")
    for metric in METRICS:
        SMTLClassifier(metric, threshold=0.0).fit(X[:200], Y[:200], sample_weight=weights["1, 2 or 3"][:200])  # compile
        SMTLClassifier(metric, threshold=0.0).fit(X[:200], Y[:200])
        plain, *others = seconds(metric, X, Y, [None, *weights.values()])
        ratios = [found / plain for found in others]
        print(f"| {metric} |", " | ".join(f"{ratio:.2f}" for ratio in ratios), "|", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
