"""How evenly folds spread the labels, and how long that takes: smtl.model_selection against iterative-stratification.

    pip install iterative-stratification
    python benchmarks/splitters.py            # all sets
    python benchmarks/splitters.py emotions   # some of them

For each set and seed: the mean over labels and folds of the distance between the share of positives in the fold and in
the whole, in per cent, its largest value, and CPU time. Of sets with groups (made of neighbouring rows), how many
groups are split, and the same measure beside scikit-learn's StratifiedGroupKFold on the label powerset.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold as Peer
from sklearn.model_selection import StratifiedGroupKFold

import real_data
from smtl.model_selection import MultilabelStratifiedGroupKFold, MultilabelStratifiedKFold

N_FOLDS, N_SEEDS = 5, 5


def deviations(Y: np.ndarray, folds: list[np.ndarray]) -> np.ndarray:
    """Return the distances of the shares of positives, in per cent, of shape (n_folds, n_labels)."""
    return 100.0 * np.abs(np.array([Y[test].mean(axis=0) for test in folds]) - Y.mean(axis=0))


def timed(splitter: object, X: np.ndarray, Y: np.ndarray, groups: np.ndarray | None = None) -> tuple[list, float]:
    started = time.process_time()
    folds = [test for _, test in splitter.split(X, Y, groups)]
    return folds, time.process_time() - started


def by_powerset(X: np.ndarray, Y: np.ndarray, groups: np.ndarray, options: dict) -> list | None:
    """Return scikit-learn's folds with the combinations of labels as classes; None where it refuses them."""
    powerset = np.unique(Y, axis=0, return_inverse=True)[1].ravel()
    try:
        return timed(StratifiedGroupKFold(N_FOLDS, **options), X, powerset, groups)[0]
    except ValueError:  # no combination is there often enough
        return None


def main(names: list[str]) -> None:
    print(
        "set          ours: mean, largest (%)   peer: mean, largest (%)   CPU ours/peer   groups: ours, peer (%)  split"
    )
    ratios = []
    for name in names:
        _, Y, tasks = real_data.load(name)
        if tasks is not None:
            continue
        X = np.zeros((len(Y), 1))
        groups = np.arange(len(Y)) // 7
        timed(MultilabelStratifiedKFold(N_FOLDS), X, Y)  # what compiles does so here
        timed(MultilabelStratifiedGroupKFold(N_FOLDS), X, Y, groups)
        rows = []
        for seed in range(N_SEEDS):
            options = {"shuffle": True, "random_state": seed}
            ours, t_ours = timed(MultilabelStratifiedKFold(N_FOLDS, **options), X, Y)
            peer, t_peer = timed(Peer(N_FOLDS, **options), X, Y)
            kept, _ = timed(MultilabelStratifiedGroupKFold(N_FOLDS, **options), X, Y, groups)
            known = by_powerset(X, Y, groups, options)
            a, b = deviations(Y, ours), deviations(Y, peer)
            n_split = sum(len(np.unique(groups[test])) for test in kept) - len(np.unique(groups))
            together = deviations(Y, kept).mean(), np.nan if known is None else deviations(Y, known).mean(), n_split
            rows.append([a.mean(), a.max(), b.mean(), b.max(), t_ours / t_peer, *together])
        mean = np.mean(rows, axis=0)
        even = mean[0] / mean[2] if mean[2] > 0.0 else 1.0 + mean[0]  # nothing is to be gained where both are perfect
        ratios.append((even, mean[4]))
        print(
            f"{name:12} {mean[0]:8.4f} {mean[1]:6.3f} {mean[2]:8.4f} {mean[3]:6.3f} {mean[4]:15.4f} "
            f"{mean[5]:20.4f} {mean[6]:7.4f} {mean[7]:4.0f}",
            flush=True,
        )
    evenness, seconds = np.exp(np.mean(np.log(ratios), axis=0))
    print(f"geometric means of ours/peer: mean distance {evenness:.3f}, CPU {seconds:.4f}")


if __name__ == "__main__":
    main(sys.argv[1:] or list(real_data.NAMES))
