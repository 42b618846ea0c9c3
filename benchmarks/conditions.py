"""Whether cuts with conditions hold on new rows as promised: many random splits of large real sets.

    python benchmarks/conditions.py                      # mediamill, tmc2007, optdigits; 200 splits of each
    python benchmarks/conditions.py --splits 20 optdigits

Each split trains on 1,500 rows, with threshold="recall>=0.8" or "precision>=0.8", and counts on all the other rows, for
each of the ten commonest labels, whether the floor is kept there. Labels for which the fit says that it cannot promise
are left out. p is the chance of so few or fewer if each label kept its floor with a probability of 95 % (one-sided
binomial test). The other rows are a sample, too, so that a true recall just above the floor may be counted as below it:
"within chance" counts those as kept that are not below the floor by more than a binomial test at 5 % allows.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from scipy import sparse
from scipy.stats import binom
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import real_data
from smtl import SMTLClassifier, SMTLClassifierCV
from smtl.estimators.rules import CONFIDENCE, parse_rule

N_ROWS, N_LABELS = 1500, 10  # to train on; the commonest
MODELS = {
    "auc": lambda rule, seed: SMTLClassifier("auc", "ridge", threshold=rule, tol=1e-2, random_state=seed),
    "log": lambda rule, seed: SMTLClassifier("log", "ridge", threshold=rule, tol=1e-2, random_state=seed),
    "cv": lambda rule, seed: SMTLClassifierCV("log", "ridge", Cs=5, threshold=rule, tol=1e-2, random_state=seed),
}


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--rules", nargs="*", default=["recall>=0.8", "precision>=0.8"])
    parser.add_argument("--models", nargs="*", default=["auc", "log", "cv"])
    options = parser.parse_args()
    print("set        model    rule             kept    of  share       p   within chance   mean", flush=True)
    for name in options.sets or ["mediamill", "tmc2007", "optdigits"]:
        X, Y, _ = real_data.load(name)
        Y = Y[:, np.argsort(-Y.sum(axis=0), kind="stable")[:N_LABELS]]
        X = (MaxAbsScaler() if sparse.issparse(X) else StandardScaler()).fit_transform(X)
        for model in options.models:
            for rule in options.rules:
                report(name, X, Y, model, rule, options.splits)


def report(name: str, X: np.ndarray, Y: np.ndarray, model: str, rule: str, n_splits: int) -> None:
    floor, of_recall = parse_rule(rule).floor, rule.startswith("recall")
    kept, nearly, reached = [], [], []
    for seed in range(n_splits):
        order = np.random.default_rng(seed).permutation(len(Y))
        train, test = order[:N_ROWS], order[N_ROWS:]
        fitted = MODELS[model](rule, seed).fit(X[train], Y[train])
        promised = ~np.isin(np.arange(Y.shape[1]), fitted.unpromised_tasks_)
        said, truth = fitted.predict(X[test]) > 0, Y[test] > 0
        hits, of = (said & truth).sum(axis=0)[promised], (truth if of_recall else said).sum(axis=0)[promised]
        reached += (hits / np.maximum(of, 1)).tolist()
        kept += (hits >= floor * of).tolist()
        nearly += (binom.cdf(hits, of, floor) > 0.05).tolist()
    p = binom.cdf(sum(kept), len(kept), CONFIDENCE)
    print(
        f"{name:10} {model:8} {rule:15} {sum(kept):5} {len(kept):5} {np.mean(kept):6.3f} {p:7.2g} "
        f"{np.mean(nearly):15.3f} {np.mean(reached):6.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
