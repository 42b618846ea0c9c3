"""Which rule for the cuts is best? All of them on the same held-out scores, judged on new rows.

    python benchmarks/cuts.py --repeats 3

The scores are those of `SMTLEnsemble(preset="fast")`. The data are none that the README or `rivals` report: generated
ones of several sizes, and, where the real data are (``SMTL_DATA``), small parts of mediamill and tmc2007 with labels
other than those of the paper's subsets. 60 % of the rows train. Macro F1 and micro F1, per cent, mean of the repeats.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before what reads it is imported

import numpy as np
from scipy import sparse
from sklearn.datasets import make_multilabel_classification

import real_data
from smtl import SMTLEnsemble
from smtl.datasets import load_dataset
from smtl.ensemble.judging import Judge
from smtl.experiments.protocol import measures, split

RULES = ["auto", "expected", "per-task", "shared", "smoothed", "calibrated", "cardinality"]
SIZES = [(300, 20, 6), (500, 30, 8), (800, 40, 10), (1500, 60, 14)]  # rows, features, labels
PARTS = [("mediamill", 12, 600, 14), ("mediamill", 12, 1500, 20), ("tmc2007", 6, 800, 10), ("tmc2007", 6, 2000, 12)]


def sets(seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, features and labels of each set."""
    rng = np.random.default_rng(seed)
    for n, d, m in SIZES:
        Z = rng.normal(size=(n, 5))  # a few directions decide, not quite linearly
        X = np.tanh(Z @ rng.normal(size=(5, d))) + 0.5 * rng.normal(size=(n, d))
        S = Z @ rng.normal(size=(5, m)) + Z[:, :2] ** 2 @ rng.normal(size=(2, m)) + 1.5 * rng.logistic(size=(n, m))
        cuts = [np.quantile(s, q) for s, q in zip(S.T, rng.uniform(0.5, 0.95, m), strict=True)]
        yield f"directions, {n} x {d} x {m}", X, (np.array(cuts) < S).astype(int)
        X, Y = make_multilabel_classification(n, d, n_classes=m, n_labels=3, random_state=seed)
        yield f"make_multilabel_classification, {n} x {d} x {m}", X, Y
    for name, n_common, n, m in PARTS if real_data.DATA.is_dir() else []:
        data = load_dataset(name)
        Y = data.Y.toarray() if sparse.issparse(data.Y) else np.asarray(data.Y)
        Y = Y[:, np.argsort(-Y.mean(axis=0), kind="stable")[n_common:]]
        rows = rng.choice(len(Y), n, replace=False)
        share = Y[rows].mean(axis=0)
        kept = rng.permutation(np.flatnonzero((share > 0.01) & (share < 0.4)))[:m]
        yield f"{name}, {n} rows, {len(kept)} other labels", data.X[rows], Y[rows][:, kept].astype(int)


def judge(X: np.ndarray, Y: np.ndarray, seed: int) -> dict[tuple[str, str], float]:
    """Return macro and micro F1 of each rule on rows not trained on."""
    parts = split(X, Y, seed)
    model, kept = SMTLEnsemble(preset="fast", random_state=seed), {}
    put_together = model._put_together
    model._put_together = lambda *given: kept.setdefault("held", put_together(*given))
    model.fit(parts.X, parts.Y)
    odds, found = model.decision_function(parts.X_test) + model.thresholds_, {}
    for rule in RULES:
        for measure, scoring in (("macro_f1", "f1_macro"), ("micro_f1", "f1_micro")):
            cuts = Judge(scoring, rule, kept["held"]).cuts(kept["held"])
            found[rule, measure] = measures(parts.Y_test, odds, odds > cuts.location + cuts.cut)[measure]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if real_data.DATA.is_dir():
        os.environ.setdefault("SMTL_DATA", str(real_data.DATA))
    table: dict[str, list[dict[tuple[str, str], float]]] = {}
    for seed in range(args.first, args.first + args.repeats):
        for name, X, Y in sets(seed):
            table.setdefault(name, []).append(judge(X, Y, seed))
    print("| set | " + " | ".join(RULES) + " |\n|---|" + "---:|" * len(RULES))
    total = np.zeros((2, len(RULES)))
    for name, found in table.items():
        values = 100 * np.array(
            [[np.mean([f[r, key] for f in found]) for r in RULES] for key in ("macro_f1", "micro_f1")]
        )
        total += values / len(table)
        print(f"| {name} | " + " | ".join(f"{a:.1f} / {b:.1f}" for a, b in values.T) + " |", flush=True)
    print("| mean | " + " | ".join(f"{a:.2f} / {b:.2f}" for a, b in total.T) + " |")


if __name__ == "__main__":
    main()
