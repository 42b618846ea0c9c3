"""The multi-label methods of `smtl.baselines` against Mulan, and how long they train.

python benchmarks/baselines.py mulan     # micro and macro F1 on the standard files, as a Markdown table
python benchmarks/baselines.py seconds   # training on 60 % of yeast and cal500, defaults, one thread
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import betaincinv
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import real_data
from smtl.baselines import (
    HOMER,
    MLCSSP,
    AdaBoostMH,
    BinaryRelevance,
    EnsembleOfClassifierChains,
    LabelPowerset,
    RAkEL,
)

# Micro and macro F1 of Mulan on the standard files, with J48 as base (AdaBoostMH: its own stumps).
MULAN = {
    "emotions": {
        "BinaryRelevance": (0.593, 0.590),
        "EnsembleOfClassifierChains": (0.617, 0.597),
        "RAkEL": (0.651, 0.634),
        "HOMER": (0.571, 0.572),
        "AdaBoostMH": (0.135, 0.071),
        "MLCSSP": (0.487, 0.486),
    },
    "flags": {
        "BinaryRelevance": (0.728, 0.658),
        "EnsembleOfClassifierChains": (0.729, 0.627),
        "RAkEL": (0.756, 0.661),
        "HOMER": (0.732, 0.664),
        "AdaBoostMH": (0.684, 0.556),
        "MLCSSP": (0.618, 0.582),
    },
}
METHODS = {
    cls.__name__: cls
    for cls in (BinaryRelevance, LabelPowerset, RAkEL, EnsembleOfClassifierChains, HOMER, AdaBoostMH, MLCSSP)
}
SEEDS = range(10)
# Mulan drew so many of the labels.
N_LABELS = 4


class PrunedTree(DecisionTreeClassifier):
    """A decision tree that is pruned as C4.5's are: what scikit-learn has that is nearest to J48.

    From the bottom up, a subtree becomes a leaf if the leaf's errors, estimated by the upper limit of a binomial
    confidence interval, are not more than those of its leaves. J48 cuts a number only where both sides keep a tenth of
    the node's rows for each class, but at least 2 and at most 25: 6 at the root for flags, 20 for emotions. One number
    for all nodes must do here.
    """

    def __init__(self, confidence: float = 0.25, min_samples_leaf: int = 5, random_state: Any = None) -> None:
        super().__init__(criterion="entropy", min_samples_leaf=min_samples_leaf, random_state=random_state)
        self.confidence = confidence

    def fit(self, X: Any, y: Any) -> PrunedTree:
        super().fit(X, y)
        tree = self.tree_
        n, lefts, rights = tree.n_node_samples, tree.children_left, tree.children_right
        errors = np.round(n * (1.0 - tree.value[:, 0].max(axis=1)))
        estimate = (n * betaincinv(errors + 1.0, n - errors, 1.0 - self.confidence)).tolist()
        pruned = []
        for i in reversed(np.flatnonzero(lefts >= 0).tolist()):  # children come after their parents
            below = estimate[lefts[i]] + estimate[rights[i]]
            # J48's slack: a tenth of an error.
            if estimate[i] <= below + 0.1:
                pruned.append(i)
            else:
                estimate[i] = below
        lefts[pruned] = rights[pruned] = -1
        tree.feature[pruned] = -2
        return self


def with_trees(method: str, seed: int) -> Any:
    """A method with trees as base."""
    if method == "AdaBoostMH":
        return AdaBoostMH()
    options = {"n_labels": N_LABELS} if method == "MLCSSP" else {}
    return METHODS[method](PrunedTree(), random_state=seed, **options)


def with_defaults(method: str, seed: int) -> Any:
    """A method as it comes, on standardised features."""
    return make_pipeline(StandardScaler(), METHODS[method]().set_params(random_state=seed))


def scores(name: str, build: Callable[[str, int], Any], method: str, seeds: Any = SEEDS) -> tuple[float, float]:
    """Micro and macro F1 on the standard test file, mean over seeds. A label without positives counts as 0."""
    X, Y, X_test, Y_test = real_data.standard_split(name)
    seeds = seeds[:1] if method == "AdaBoostMH" else seeds  # nothing is random
    values = []
    for seed in seeds:
        answers = build(method, seed).fit(X, Y).predict(X_test)
        values.append([f1_score(Y_test, answers, average=a, zero_division=0) for a in ("micro", "macro")])
    micro, macro = np.mean(values, axis=0)
    return float(micro), float(macro)


def print_mulan() -> None:
    print("| data | method | ours, trees | Mulan, J48 | ours, defaults |")
    print("|---|---|---|---|---|")
    for name, figures in MULAN.items():
        for method in METHODS:
            cells = [scores(name, with_trees, method), figures.get(method), scores(name, with_defaults, method)]
            words = [f"{cell[0]:.3f} / {cell[1]:.3f}" if cell else "" for cell in cells]
            print(f"| {name} | `{method}` | {' | '.join(words)} |", flush=True)


def print_seconds() -> None:
    AdaBoostMH(2).fit(np.eye(3), np.eye(3, dtype=int))  # compiles
    print("| data | method | CPU seconds to train | to predict | micro / macro F1 |")
    print("|---|---|---|---|---|")
    for name in ("yeast", "cal500"):
        X, Y, X_test, Y_test = real_data.split(name)
        for method, cls in METHODS.items():
            began = time.process_time()
            model = cls(random_state=0).fit(X, Y)
            fitted = time.process_time()
            answers = model.predict(X_test)
            ended = time.process_time()
            f1 = [f1_score(Y_test, answers, average=a, zero_division=0) for a in ("micro", "macro")]
            print(
                f"| {name} | `{method}` | {fitted - began:.1f} | {ended - fitted:.1f} | {f1[0]:.3f} / {f1[1]:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["mulan", "seconds"])
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        print_mulan() if parser.parse_args().what == "mulan" else print_seconds()
