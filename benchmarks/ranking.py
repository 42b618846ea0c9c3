"""Training on the order: what it costs, and where it pays.

    python benchmarks/ranking.py time       # CPU time of a fit beside that of the AUC fit, and growth with the rows
    python benchmarks/ranking.py queries    # SMTLRanker, lambdarank and logistic regression on LightGBM's example
    python benchmarks/ranking.py landmine   # AUC and partial AUC over 29 tasks
    python benchmarks/ranking.py metrics    # trained on the metric, on AUC or on log loss: ten splits of four sets

OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 in the environment, for the times. `queries` needs LightGBM.

`metrics` and `landmine`: ten random splits, 60 % to train on. A quarter of that is held out to choose C, from values
over three decades from each metric's own critical one, for the score that is reported; then the model is fitted to all
of it. All models have the same penalty, features are standardised, scores are means over the tasks. Differences are
paired by split; their errors are those of Nadeau and Bengio (2003), which allow for splits having rows in common.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections import defaultdict

import numpy as np
from sklearn.datasets import load_svmlight_files
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, ndcg_score
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

import real_data
from smtl import SMTLClassifier, SMTLRanker, smtl_path
from smtl.metrics import get_metric

SETS = ("emotions", "scene", "yeast", "landmine")
TARGETS = {"ap": "average precision", "pauc": "partial AUC (0.1)", "precision@k": "precision at 10"}
SPLITS = 10
TRAIN, HELD_OUT = 0.6, 0.25
N_CS, TOL, MAX_ITER = 6, 1e-2, 300


# What a fit costs.


def made(n: int, d: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(n, d)), rng.normal(size=(d, m))
    S = X @ W / np.sqrt(d) + rng.normal(size=(n, m))
    shares = rng.uniform(0.03, 0.3, m)
    return X, np.column_stack([S[:, i] > np.quantile(S[:, i], 1 - share) for i, share in enumerate(shares)]).astype(int)


def seconds(metric: str, X: np.ndarray, Y: np.ndarray, tasks: np.ndarray | None, penalty: str) -> float:
    model = SMTLClassifier(metric, penalty, threshold=0.0)
    started = time.process_time()
    model.fit(X, Y, tasks=tasks)
    return time.process_time() - started


def fastest(metrics: tuple[str, ...], X, Y, tasks, penalty: str, rounds: int) -> np.ndarray:
    """CPU seconds of each metric: the least of several rounds, in turns."""
    return np.min([[seconds(metric, X, Y, tasks, penalty) for metric in metrics] for _ in range(rounds)], axis=0)


def print_times(rounds: int) -> None:
    metrics = ("auc", "ap", "ndcg", "pauc", "precision@k", "prbep")
    fastest(metrics, *made(200, 5, 2, 0), None, "l21", 1)
    print("| data | rows x features, tasks | AUC, s | " + " | ".join(metrics[1:]) + " |")
    print("|---|---|---:|" + "---:|" * (len(metrics) - 1))
    sets = {f"made-up, {n} x {d}": (*made(n, d, 8, n), None) for n, d in ((5000, 20), (20000, 20), (20000, 100))}
    for name in ("emotions", "yeast", "scene", "optdigits", "landmine"):
        X, Y, tasks = real_data.load(name)
        sets[name] = (StandardScaler().fit_transform(X), Y, tasks)
    ratios = []
    for name, (X, Y, tasks) in sets.items():
        found = fastest(metrics, X, Y, tasks, "l21", rounds)
        ratios.append(found[1:] / found[0])
        m = Y.shape[1] if Y.ndim == 2 else len(np.unique(tasks))
        cells = " | ".join(f"{ratio:.2f}" for ratio in ratios[-1])
        print(f"| {name} | {X.shape[0]} x {X.shape[1]}, {m} | {found[0]:.3f} | {cells} |", flush=True)
    print("| geometric mean | | | " + " | ".join(f"{r:.2f}" for r in np.exp(np.log(ratios).mean(axis=0))) + " |\n")
    print("| rows | " + " | ".join(metrics) + " |\n|---:|" + "---:|" * len(metrics))
    X, Y = made(160_000, 20, 4, 1)
    before = None
    for n in (20_000, 40_000, 80_000, 160_000):
        found = np.array([pass_seconds(metric, X[:n], Y[:n], rounds) for metric in metrics])
        grown = (
            ""
            if before is None
            else " | ".join(f"{1e3 * a:.1f} ({a / b:.2f} x)" for a, b in zip(found, before, strict=True))
        )
        print(f"| {n} | {grown or ' | '.join(f'{1e3 * a:.1f}' for a in found)} |", flush=True)
        before = found
    print("\nCPU milliseconds of a pass over made-up data; in brackets, how many times those of half the rows.")


def pass_seconds(metric: str, X: np.ndarray, Y: np.ndarray, rounds: int) -> float:
    """The oracle of all tasks at scores like those of a model, the least of several rounds."""
    scores = np.ascontiguousarray((X @ np.linalg.lstsq(X, Y - Y.mean(axis=0), rcond=None)[0]).T).ravel()
    y, ptr = np.where(Y.T, 1, -1).astype(np.int8).ravel(), np.arange(Y.shape[1] + 1) * len(Y)
    oracle, times = get_metric(metric), []
    for _ in range(3 * rounds):
        started = time.process_time()
        oracle.planes(scores, y, ptr, shift=np.zeros(Y.shape[1]), with_intercept=False, eps=0.0)
        times.append(time.process_time() - started)
    return min(times)


# Queries with grades.


def query_scores(scores: np.ndarray, grade: np.ndarray, query: np.ndarray) -> dict[str, float]:
    """Means over the queries with rows of different relevance."""
    found = defaultdict(list)
    for k in np.unique(query):
        s, g = scores[query == k], grade[query == k]
        if np.ptp(g):
            for at in (5, 10):
                found[f"NDCG@{at}"].append(ndcg_score([2.0**g - 1], [s], k=at))
            found["NDCG"].append(ndcg_score([2.0**g - 1], [s]))
        if 0 < np.sum(g > 0) < len(g):
            found["MAP"].append(average_precision_score(g > 0, s))
    return {name: float(np.mean(values)) for name, values in found.items()}


def best_C(make, Cs, X, grade, query) -> float:
    """The C of the best mean NDCG on five folds of the queries."""
    totals = np.zeros(len(Cs))
    for train, test in GroupKFold(5).split(X, grade, query):
        for j, C in enumerate(Cs):
            scores = make(C, X[train], grade[train], query[train])(X[test])
            totals[j] += query_scores(scores, grade[test], query[test])["NDCG"]
    return float(Cs[totals.argmax()])


def ranker(metric: str):
    def make(C, X, grade, query):
        return SMTLRanker(metric, C=C).fit(X, grade, groups=query).predict

    return make


def logistic(C, X, grade, query):
    return LogisticRegression(C=C, max_iter=2000).fit(X, grade > 0).decision_function


def boosted(X, grade, query, seed: int):
    """Lambdarank with the settings of LightGBM's own example."""
    import lightgbm

    model = lightgbm.LGBMRanker(
        n_estimators=100,
        learning_rate=0.1,
        num_leaves=31,
        subsample=0.9,
        subsample_freq=1,
        min_child_samples=50,
        min_child_weight=5.0,
        random_state=seed,
        n_jobs=1,
        verbose=-1,
    )
    return model.fit(X, grade, group=np.bincount(query)).predict


def print_queries() -> None:
    folder = real_data.DATA / "lambdarank"
    X, y, X_test, y_test = load_svmlight_files([folder / f"rank.{part}" for part in ("train", "test")])
    sizes = [np.loadtxt(folder / f"rank.{part}.query", dtype=int) for part in ("train", "test")]
    query, query_test = (np.repeat(np.arange(len(part)), part) for part in sizes)
    grade, grade_test = y.astype(int), y_test.astype(int)
    found, Cs = {}, np.logspace(-2, 3, 11)
    for metric in ("ndcg", "ap", "auc"):
        C = best_C(ranker(metric), Cs, X, grade, query)
        found[f'`SMTLRanker("{metric}")`, linear'] = [ranker(metric)(C, X, grade, query)(X_test)]
    C = best_C(logistic, Cs, X, grade, query)
    found["logistic regression on grade > 0, linear"] = [logistic(C, X, grade, query)(X_test)]
    trees = "LightGBM's lambdarank, trees (mean of 5 seeds)"
    found[trees] = [boosted(X, grade, query, seed)(X_test) for seed in range(5)]
    columns = ("NDCG@5", "NDCG@10", "NDCG", "MAP")
    print("| model | " + " | ".join(columns) + " |\n|---|" + "---:|" * len(columns))
    for name, runs in found.items():
        values = [query_scores(scores, grade_test, query_test) for scores in runs]
        print(f"| {name} | " + " | ".join(f"{np.mean([v[c] for v in values]):.3f}" for c in columns) + " |")


# Trained on one metric, judged by another.


def halves(n: int, share: float, seed: int, strata: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two parts; where strata are given, each of them is divided so."""
    order = np.random.default_rng(seed).permutation(n)
    strata = np.zeros(n, dtype=int) if strata is None else strata
    first = np.zeros(n, dtype=bool)
    for k in np.unique(strata):
        rows = order[strata[order] == k]
        first[rows[: round(share * len(rows))]] = True
    return np.flatnonzero(first), np.flatnonzero(~first)


def scores_by(coef, X, Y, tasks) -> dict[str, float]:
    """The mean over the tasks of every metric that is judged by."""
    found = defaultdict(list)
    for i, w in enumerate(coef):
        rows = np.arange(len(X)) if tasks is None else np.flatnonzero(tasks == i)
        y, s = np.where(Y[rows] if tasks is not None else Y[:, i], 1, -1), X[rows] @ w
        if np.ptp(y):
            for name in (*TARGETS, "auc"):
                found[name].append(get_metric(name).score(y, s))
    return {name: float(np.mean(values)) for name, values in found.items()}


def trained_on(metric: str, penalty: str, X, Y, tasks, seed: int) -> dict[str, float]:
    """Scores on the test part of what is trained on a metric, C chosen for each of the scores."""

    def part(rows):
        return scaler.transform(X[rows]), Y[rows], None if tasks is None else tasks[rows]

    def path(rows, Cs):
        scaled, labels, own = part(rows)
        options = {"metric": metric, "penalty": penalty, "tol": TOL, "max_iter": MAX_ITER}
        return smtl_path(scaled, labels, tasks=own, Cs=Cs, **options)

    strata = None if tasks is None else 2 * tasks + Y
    train, test = halves(len(X), TRAIN, seed, strata)
    first, second = halves(len(train), 1 - HELD_OUT, seed, None if strata is None else strata[train])
    scaler = StandardScaler().fit(X[train])
    tried = path(train[first], N_CS)
    held_out = [scores_by(coef, *part(train[second])) for coef in tried.coefs]
    final = [scores_by(coef, *part(test)) for coef in path(train, tried.Cs).coefs]
    return {name: final[int(np.argmax([scores[name] for scores in held_out]))][name] for name in held_out[0]}


def difference(ours: list[float], others: list[float]) -> str:
    """The mean difference in points, and its error by Nadeau and Bengio."""
    gap = 100 * (np.array(ours) - others)
    error = gap.std(ddof=1) * np.sqrt(1 / len(gap) + (1 - TRAIN) / TRAIN)
    return f"{gap.mean():+.2f} ± {error:.2f}"


def print_metrics(penalty: str) -> None:
    print("| set | judged by | trained on it | on AUC | on log loss | it - AUC | it - log loss |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name in SETS:
        X, Y, tasks = real_data.load(name)
        found = {
            metric: [trained_on(metric, penalty, X, Y, tasks, seed) for seed in range(SPLITS)]
            for metric in (*TARGETS, "auc", "log")
        }
        for target, words in TARGETS.items():
            it, auc, log = ([run[target] for run in found[metric]] for metric in (target, "auc", "log"))
            means = " | ".join(f"{100 * np.mean(values):.1f}" for values in (it, auc, log))
            print(f"| {name} | {words} | {means} | {difference(it, auc)} | {difference(it, log)} |", flush=True)


def print_landmine() -> None:
    X, Y, tasks = real_data.load("landmine")
    print("| trained on | penalty | AUC | partial AUC (0.1) |\n|---|---|---:|---:|")
    for metric, penalty in itertools.product(("auc", "pauc", "ap", "log"), ("trace", "ridge")):
        runs = [trained_on(metric, penalty, X, Y, tasks, seed) for seed in range(SPLITS)]
        cells = []
        for target in ("auc", "pauc"):
            values = 100 * np.array([run[target] for run in runs])
            cells.append(f"{values.mean():.1f} ± {values.std(ddof=1) / np.sqrt(SPLITS):.1f}")
        print(f"| {metric} | {penalty} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["time", "queries", "landmine", "metrics"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--penalty", default="ridge", help="for metrics")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.what == "time":
        print_times(args.rounds)
    elif args.what == "queries":
        print_queries()
    elif args.what == "landmine":
        print_landmine()
    else:
        print_metrics(args.penalty)


if __name__ == "__main__":
    main()
