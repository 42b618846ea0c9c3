"""Are the defaults safe where classes overlap? Our models and logistic regression on noisy data, judged on new rows.

    python benchmarks/noise.py --seeds 20 --jobs 2

Three kinds of data, 600 rows to train on and 2,000 to judge on, 20 features: `make_classification` with 30 % of the
labels drawn at random, two classes and five; and eight labels of 4 to 40 % positives that share three directions, with
the same noise. The score is macro F1: the mean over the labels, or the classes; of two classes, the F1 of the second.

Logistic regression has its C and its cuts from 5 folds. Labels and the binary question have one cut each, by the F1 of
the held-out rows. Five classes get the better of two on the rows judged: the most probable class, and the greatest
probability over the cut. The first seed is drawn and printed, so that no figure rests on seeds known beforehand.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before what reads it is imported

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from rival_cuts import cuts_of_labels
from smtl import SMTLClassifier, SMTLClassifierCV, SMTLEnsemble

KINDS = ["binary", "five classes", "eight labels"]
N_TRAIN, N_TEST, N_FEATURES, NOISE = 600, 2000, 20, 0.3
OURS = {
    "SMTLClassifier()": SMTLClassifier,
    "SMTLClassifierCV()": SMTLClassifierCV,
    "SMTLEnsemble()": SMTLEnsemble,
}


def draw(kind: str, seed: int) -> tuple[np.ndarray, ...]:
    """Return features and labels of the rows to train on, and of those to judge on."""
    n = N_TRAIN + N_TEST
    if kind == "eight labels":
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, N_FEATURES))
        B = rng.standard_normal((N_FEATURES, 3)) @ rng.standard_normal((3, 8))
        S = X @ B / np.sqrt(N_FEATURES) + 1.5 * rng.logistic(size=(n, 8))
        shares = np.geomspace(0.04, 0.4, 8)
        Y = np.array([np.quantile(s, 1.0 - share) for s, share in zip(S.T, shares, strict=True)]) < S
        y = np.where(rng.random(Y.shape) < NOISE, rng.random(Y.shape) < shares, Y).astype(int)
    else:
        classes = {"n_classes": 5, "n_clusters_per_class": 1} if kind == "five classes" else {}
        X, y = make_classification(n, N_FEATURES, n_informative=8, flip_y=NOISE, random_state=seed, **classes)
    X = StandardScaler().fit(X[:N_TRAIN]).transform(X)
    return X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:]


def macro_f1(y: np.ndarray, answers: np.ndarray, kind: str) -> float:
    return float(f1_score(y, answers, average="binary" if kind == "binary" else "macro", zero_division=0.0))


def logistic(kind: str, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, seed: int) -> float:
    """Return the score of logistic regression with tuned C and cuts."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    model = LogisticRegressionCV(Cs=10, cv=folds, scoring="neg_log_loss", l1_ratios=(0.0,), use_legacy_attributes=False)
    columns = y.T if y.ndim == 2 else [y]
    held, new = [], []
    for column in columns:
        held.append(cross_val_predict(model, X, column, cv=folds, method="predict_proba"))
        new.append(model.fit(X, column).predict_proba(X_test))
    if kind == "five classes":
        cuts = cuts_of_labels(y[:, None] == np.arange(5), held[0])
        return max(macro_f1(y_test, P.argmax(axis=1), kind) for P in (new[0], new[0] / cuts))
    H, P = (np.column_stack([p[:, 1] for p in both]) for both in (held, new))
    answers = (cuts_of_labels(np.column_stack(columns), H) < P).astype(int)
    return macro_f1(y_test, answers if y.ndim == 2 else answers[:, 0], kind)


def judge(task: tuple[str, int]) -> dict[str, tuple[float, int, float]]:
    """Return of each model its score, how many of its answers are constant, and its seconds."""
    kind, seed = task
    X, y, X_test, y_test = draw(kind, seed)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.process_time()
        value = logistic(kind, X, y, X_test, y_test, seed)
        found["logistic regression"] = value, 0, time.process_time() - started
        for name, make in OURS.items():
            started = time.process_time()
            answers = np.asarray(make().fit(X, y).predict(X_test))
            seconds = time.process_time() - started
            same = sum(len(np.unique(column)) == 1 for column in answers.reshape(len(answers), -1).T)
            found[name] = macro_f1(y_test, answers, kind), same, seconds
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, help="the first seed; drawn and printed if not given")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    args = parser.parse_args()
    first = int(np.random.SeedSequence().entropy % 10**8) if args.first is None else args.first
    print(f"seeds {first} to {first + args.seeds - 1}\n", flush=True)
    print("| data | model | macro F1 | less logistic regression | constant answers | CPU s |")
    print("|---|---|---|---|---|---|", flush=True)
    with ProcessPoolExecutor(args.jobs, get_context("spawn")) as pool:
        for kind in args.kinds:
            runs = list(pool.map(judge, [(kind, first + k) for k in range(args.seeds)]))
            for name in runs[0]:
                score = 100.0 * np.array([run[name][0] for run in runs])
                gain = score - 100.0 * np.array([run["logistic regression"][0] for run in runs])
                error = gain.std(ddof=1) / np.sqrt(len(gain))
                same, seconds = sum(run[name][1] for run in runs), np.mean([run[name][2] for run in runs])
                more = "" if name == "logistic regression" else f"{gain.mean():+.2f} ± {error:.2f}"
                print(f"| {kind} | {name} | {score.mean():.1f} | {more} | {same} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
