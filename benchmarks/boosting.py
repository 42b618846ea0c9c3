"""Does the trial of `preset="balanced"` take boosting in where it pays? What it says, beside what boosting brings.

    python benchmarks/boosting.py --repeats 2

The data are those of `cuts`, none of which the README or `rivals` report, and others: labels that are rules (each a sum
of products of two thresholds), classes that are clusters, and two sets of scikit-learn's. A row of the table: the gain
of the trial, in log loss, as a share of the log loss of constant answers and in standard errors; then macro F1, mean
AUC and CPU seconds without boosting and with it, on rows not trained on.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before what reads it is imported

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.preprocessing import scale

import cuts
import real_data
from smtl import SMTLEnsemble
from smtl.ensemble import ensemble
from smtl.ensemble.trial import Gain
from smtl.experiments.protocol import measures, split

SIZES = [(600, 15, 4), (1500, 25, 6)]  # rows, features, labels


def rules(rng: np.random.Generator, n: int, d: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features, and labels each of which is a noisy sum of three products of two thresholds."""
    X = rng.normal(size=(n, d))
    S = 0.5 * rng.logistic(size=(n, m))
    for s in S.T:
        for pair in rng.choice(d, (3, 2), replace=False):
            s += 2.0 * (X[:, pair] > rng.normal(scale=0.5, size=2)).all(axis=1)
    levels = [np.quantile(s, q) for s, q in zip(S.T, rng.uniform(0.6, 0.9, m), strict=True)]
    return X, (np.array(levels) < S).astype(int)


def sets(seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, features and labels of each set."""
    rng = np.random.default_rng(seed)
    for n, d, m in SIZES:
        yield f"rules, {n} x {d} x {m}", *rules(rng, n, d, m)
        X, y = make_classification(n, d, n_informative=10, n_classes=m, flip_y=0.05, random_state=seed)
        yield f"clusters, {n} x {d} x {m}", X, np.eye(m, dtype=int)[y]
    for name, load in (("breast cancer", load_breast_cancer), ("wine", load_wine)):
        X, y = load(return_X_y=True)
        yield name, scale(X), np.eye(y.max() + 1, dtype=int)[y]
    yield from cuts.sets(seed)


def judge(X: np.ndarray, Y: np.ndarray, seed: int) -> tuple[Gain, list[float]]:
    """Return the gain of the trial, and macro F1, AUC and seconds without boosting and with it."""
    parts, gains, found = split(X, Y, seed), [], []
    held_trial = ensemble.gain_of
    for taken in (False, True):

        def decided(*given, taken=taken):
            gains.append(held_trial(*given))
            return gains[-1]._replace(log_loss=np.inf if taken else 0.0)

        ensemble.gain_of = decided
        before = time.process_time()
        try:
            model = SMTLEnsemble(random_state=seed).fit(parts.X, parts.Y)
        finally:
            ensemble.gain_of = held_trial
        seconds = time.process_time() - before
        scores = np.asarray(model.decision_function(parts.X_test))
        reached = measures(parts.Y_test, scores, scores > 0)
        found += [100 * reached["macro_f1"], 100 * reached["auc"], seconds]
    return gains[0], found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--first", type=int, default=3000, help="the first seed")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if real_data.DATA.is_dir():
        os.environ.setdefault("SMTL_DATA", str(real_data.DATA))
    judge(*next(iter(sets(0)))[1:], 0)  # compiles
    print("| set | gain | errors | joins | without | with |\n|---|---:|---:|---|---:|---:|")
    for seed in range(args.first, args.first + args.repeats):
        for name, X, Y in sets(seed):
            gain, (f1, auc, cpu, f1_with, auc_with, cpu_with) = judge(X, Y, seed)
            print(
                f"| {name} | {gain.log_loss / gain.constant:.3f} | {gain.log_loss / max(gain.error, 1e-12):.1f} "
                f"| {'yes' if gain.is_worth_it else 'no'} | {f1:.1f} / {auc:.1f} / {cpu:.0f} s "
                f"| {f1_with:.1f} / {auc_with:.1f} / {cpu_with:.0f} s |",
                flush=True,
            )


if __name__ == "__main__":
    main()
